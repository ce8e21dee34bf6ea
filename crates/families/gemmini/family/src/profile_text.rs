//! A profile as people read it on a terminal of 100 columns.

use crate::profile::{Cause, LineCycles, LocalRows, Profile};
use autocomp_eval::profile::Section;
use autocomp_eval::text::{grouped, table, wrapped};

/// Columns used at most.
const WIDTH: usize = 96;

/// Lines shown in a table.
const LINES_SHOWN: usize = 12;

/// Waits shown.
const WAITS_SHOWN: usize = 6;

/// Characters of a bar that stands for all cycles.
const BAR: usize = 12;

/// Lines that take less than this share of the cycles are not shown.
const MIN_SHARE: f64 = 0.005;

/// Returns the text of a profile in sections.
pub(crate) fn sections(profile: &Profile) -> Vec<Section> {
    let mut page = Page::default();
    page.say(&wrapped(&profile.bottleneck, WIDTH, ""));
    let all = profile.cycles.max(1);
    causes(&mut page, profile);
    experiments(&mut page, profile);
    lines(&mut page, profile);
    let waits = profile.waits.iter();
    let rows = waits.filter(|it| it.line != it.on_line).take(WAITS_SHOWN);
    let rows = rows.map(|wait| {
        vec![
            format!("  line {}", wait.line),
            format!("waits for line {}", wait.on_line),
            grouped(wait.cycles),
            percent(wait.cycles, all),
            wait.cause.name().to_owned(),
        ]
    });
    page.section("longest waits", rows.collect(), &[2, 3]);
    station(&mut page, profile);
    let rows = profile.units.iter().map(|unit| {
        let what = match unit.unit {
            "core" => "instructions",
            "port-in" | "port-out" => "beats",
            "outer-memory" | "l2-trackers" => "lines of 64 bytes",
            _ => "commands",
        };
        vec![
            format!("  {}", unit.unit),
            format!("{:.1} %", 100.0 * unit.occupancy),
            bar(unit.occupancy),
            grouped(unit.commands),
            what.to_owned(),
            unit.mean_entries.map_or_else(String::new, |mean| {
                format!("{mean:.1} station entries in use")
            }),
        ]
    });
    page.section("units busy", rows.collect(), &[1, 3]);
    core(&mut page, profile);
    page.heading("local memory in use over time");
    page.say(&rows_over_time("scratchpad", &profile.scratchpad));
    page.say(&rows_over_time("accumulator", &profile.accumulator));
    buffers(&mut page, profile);
    memory(&mut page, profile);
    if 0 < profile.unrecorded_commands {
        let commands = grouped(profile.unrecorded_commands);
        page.say(&format!(
            "\n{commands} commands came after the recording was full; what they did is not in these tables\n"
        ));
    }
    page.0
}

/// The text so far.
#[derive(Default)]
struct Page(Vec<Section>);

impl Page {
    fn heading(&mut self, title: &str) {
        self.0.push(Section {
            title: Some(title.to_owned()),
            text: String::new(),
        });
    }

    /// Adds text to the section that is open.
    fn say(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(section) => section.text += text,
            None => self.0.push(Section {
                title: None,
                text: text.to_owned(),
            }),
        }
    }

    /// Adds a table, unless it is empty; what goes beyond the page is cut off.
    fn section(&mut self, title: &str, rows: Vec<Vec<String>>, right: &[usize]) {
        if rows.is_empty() {
            return;
        }
        self.heading(title);
        let mut text = String::new();
        for line in table(&rows, right).lines() {
            if line.chars().count() <= WIDTH {
                text += line;
            } else {
                text.extend(line.chars().take(WIDTH - 1));
                text.push('…');
            }
            text.push('\n');
        }
        self.say(&text);
    }
}

fn percent(part: u64, all: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / all as f64)
}

fn line_number(line: Option<u32>) -> String {
    line.map_or_else(|| "  -".to_owned(), |line| format!("  {line}"))
}

/// Returns a bar for a share of 0 to 1; anything above 0 shows.
fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (8 * BAR) as f64).round() as usize;
    let eighths = if 0.0 < share { eighths.max(1) } else { 0 };
    let mut text = "█".repeat(eighths / 8);
    text.extend(['▏', '▎', '▍', '▌', '▋', '▊', '▉'].get((eighths % 8).wrapping_sub(1)));
    text
}

fn causes(page: &mut Page, profile: &Profile) {
    let all = profile.cycles.max(1);
    let shown = |it: &&crate::profile::CauseCycles| 0 < it.cycles || it.absent_because.is_some();
    let mut rows: Vec<Vec<String>> = profile
        .causes
        .iter()
        .filter(shown)
        .map(|it| {
            vec![
                format!("  {}", it.cause.name()),
                grouped(it.cycles),
                percent(it.cycles, all),
                bar(it.share),
                match it.absent_because {
                    Some(_) => "none: machine mode translates no addresses".to_owned(),
                    None => it.cause.summary().to_owned(),
                },
            ]
        })
        .collect();
    rows.push(vec![
        "  total".to_owned(),
        grouped(profile.cycles),
        percent(profile.cycles, all),
    ]);
    page.section("cycles by cause", rows, &[1, 2]);
    let none: Vec<&str> = profile
        .causes
        .iter()
        .filter(|it| !shown(it) && it.cause != Cause::Unrecorded)
        .map(|it| it.cause.name())
        .collect();
    if !none.is_empty() {
        let text = format!("no cycles: {}", none.join(", "));
        page.say(&wrapped(&text, WIDTH, "  "));
    }
}

fn experiments(page: &mut Page, profile: &Profile) {
    let rows = profile.what_if.iter().map(|it| {
        let change = it.cycles as f64 / profile.cycles.max(1) as f64 - 1.0;
        vec![
            format!("  {}", it.without.name()),
            grouped(it.cycles),
            format!("{:+.1} %", 100.0 * change),
            format!("with {}", it.without.machine()),
        ]
    });
    page.section("what if (simulated)", rows.collect(), &[1, 2]);
}

/// Shows lines with their texts, and below each what its cycles are spent on.
fn lines(page: &mut Page, profile: &Profile) {
    let all = profile.cycles.max(1);
    let worth_it = |line: &&LineCycles| MIN_SHARE <= line.cycles as f64 / all as f64;
    let shown = profile.lines.iter().filter(worth_it).take(LINES_SHOWN);
    let shown: Vec<&LineCycles> = shown.collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for line in &shown {
        rows.push(vec![
            line_number(line.line),
            grouped(line.cycles),
            percent(line.cycles, all),
            match line.line {
                Some(_) => line.text.clone(),
                None => "(no line of the kernel)".to_owned(),
            },
        ]);
        let causes = vec![
            String::new(),
            String::new(),
            String::new(),
            top_causes(line, all),
        ];
        rows.push(causes);
    }
    page.section("cycles by line", rows, &[0, 1, 2]);
    let rest: u64 = profile.lines.iter().map(|it| it.cycles).sum::<u64>()
        - shown.iter().map(|it| it.cycles).sum::<u64>();
    let more = profile.lines.len() - shown.len();
    if 0 < more {
        page.say(&format!("  {more} more with {} cycles\n", grouped(rest)));
    }
}

/// Returns the causes of a line that matter, most first.
fn top_causes(line: &LineCycles, all: u64) -> String {
    let mut causes: Vec<_> = line.causes.iter().collect();
    causes.sort_by_key(|(_, cycles)| std::cmp::Reverse(**cycles));
    let least = 0.02 * line.cycles as f64;
    let shown = causes
        .iter()
        .filter(|(_, cycles)| least <= **cycles as f64)
        .take(3)
        .map(|(cause, cycles)| {
            let share = 100.0 * **cycles as f64 / all as f64;
            format!("{} {share:.1} %", cause.name())
        });
    format!("  {}", shown.collect::<Vec<_>>().join(", "))
}

fn station(page: &mut Page, profile: &Profile) {
    let line = |line: Option<u32>| line.map_or_else(|| "-".to_owned(), |line| line.to_string());
    let rows = profile.station.iter().map(|full| {
        let reason = match full.on_line {
            Some(on_line) if full.working_cycles < full.waiting_cycles => {
                format!("the oldest entry waits for line {on_line}")
            }
            _ => "the oldest entry is under way".to_owned(),
        };
        vec![
            format!("  {}", full.unit),
            grouped(full.cycles),
            percent(full.cycles, profile.cycles.max(1)),
            format!("line {} finds no entry", line(full.line)),
            reason,
        ]
    });
    page.section(
        "reservation station full (the array may work meanwhile)",
        rows.collect(),
        &[1, 2],
    );
}

fn core(page: &mut Page, profile: &Profile) {
    let core = &profile.core;
    let issue = core.issue_cycles.max(1);
    let header = ["  line", "instructions", "issue cycles", "", "waits", ""].map(str::to_owned);
    let min = MIN_SHARE * issue as f64;
    let lines = core.lines.iter();
    let shown = lines.filter(|it| min <= it.issue_cycles as f64);
    let rows: Vec<Vec<String>> = shown
        .take(LINES_SHOWN)
        .map(|it| {
            vec![
                line_number(it.line),
                grouped(it.instructions),
                grouped(it.issue_cycles),
                percent(it.issue_cycles, issue),
                grouped(it.wait_cycles),
                it.text.clone(),
            ]
        })
        .collect();
    if !rows.is_empty() {
        let rows = [header.to_vec()].into_iter().chain(rows).collect();
        page.section("core, by line", rows, &[0, 1, 2, 3, 4]);
    } else {
        page.heading("core");
    }
    let text = format!(
        "{} of {} cycles waiting for the accelerator's queue, {} in fences, {} for data and {} for \
         code ({} cache misses served by the L2, {} behind it), {} mispredictions",
        grouped(core.accelerator_wait_cycles),
        grouped(core.issue_cycles),
        grouped(core.fence_wait_cycles),
        grouped(core.data_miss_cycles),
        grouped(core.fetch_miss_cycles),
        grouped(core.misses_in_l2),
        grouped(core.misses_behind_l2),
        grouped(core.mispredictions),
    );
    page.say(&wrapped(&text, WIDTH, "  "));
}

fn rows_over_time(name: &str, rows: &LocalRows) -> String {
    let most = rows.over_time.iter().copied().max().unwrap_or(0).max(1);
    let steps = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let curve: String = rows
        .over_time
        .iter()
        .map(|count| match count {
            0 => ' ',
            _ => steps[(count * 8).div_ceil(most) as usize - 1],
        })
        .collect();
    let peak = rows
        .peak
        .map_or_else(String::new, |peak| format!(", {} at once", grouped(peak)));
    format!(
        "  {name:11} {} of {} rows touched{peak}\n  {:11} |{curve}|\n",
        grouped(rows.used),
        grouped(rows.size),
        "",
    )
}

fn buffers(page: &mut Page, profile: &Profile) {
    let header = [
        "  buffer",
        "bytes in",
        "bytes out",
        "least",
        "times",
        "reuse",
        "possible",
        "",
    ];
    let header = header.map(str::to_owned).to_vec();
    let factor = |factor: Option<f64>| factor.map_or_else(String::new, |it| format!("{it:.0}"));
    let rows = profile.buffers.iter().map(|buffer| {
        vec![
            format!("  {}", buffer.buffer),
            grouped(buffer.bytes_in),
            grouped(buffer.bytes_out),
            grouped(buffer.minimum),
            buffer
                .times
                .map_or_else(String::new, |times| format!("{times:.2}")),
            factor(buffer.reuse),
            factor(buffer.reuse_possible),
            buffer
                .line
                .map_or_else(String::new, |line| format!("line {line}")),
        ]
    });
    page.section(
        "traffic (reuse: multiplications per element moved)",
        [header].into_iter().chain(rows).collect(),
        &[1, 2, 3, 4, 5, 6],
    );
}

fn memory(page: &mut Page, profile: &Profile) {
    let (memory, roofline) = (&profile.memory, &profile.roofline);
    let requests = memory.l2_hits + memory.l2_misses;
    let text = format!(
        "L2: {} of {} requests of the accelerator hit ({}); {} lines read and {} written behind it; \
         {} lines taken back from the core's cache",
        grouped(memory.l2_hits),
        grouped(requests),
        percent(memory.l2_hits, requests.max(1)),
        grouped(memory.lines_read),
        grouped(memory.lines_written),
        grouped(memory.probes),
    );
    page.say(&wrapped(&text, WIDTH, "  "));
    let bound = if roofline.is_memory_bound() {
        "left of the ridge: memory-bound"
    } else {
        "right of the ridge: compute-bound"
    };
    page.heading("roofline");
    let text = match roofline.macs_per_byte {
        Some(intensity) => format!(
            "{intensity:.1} MACs per byte, ridge at {:.1} ({bound}); {:.1} MACs per cycle of {:.1} attainable with this traffic",
            roofline.ridge, roofline.macs_per_cycle, roofline.attainable
        ),
        None => format!(
            "the accelerator moves no bytes; {:.1} MACs per cycle of {:.1} at peak",
            roofline.macs_per_cycle, roofline.attainable
        ),
    };
    page.say(&wrapped(&text, WIDTH, "  "));
}
