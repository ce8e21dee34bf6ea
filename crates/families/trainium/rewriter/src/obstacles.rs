//! What keeps a kernel from becoming faster: which work decides how long it takes, what was looked
//! for there, and what came of it.

use std::collections::BTreeMap;

use autocomp_trainium_sim::timing::{Passes, Timeline, time};
use autocomp_trainium_sim::trace::Engine;

use super::check::run;
use super::proposal::{Problem, Singles};

/// Lines that are told of one by one.
const LINES: usize = 3;
/// Share of the time between its first and its last instruction for which an engine that sets the
/// pace may rest.
const RESTING: f64 = 0.1;
/// Longest part of a line that is quoted.
const QUOTED: usize = 60;

/// Returns what keeps a kernel from becoming faster, one sentence without a full stop each; nothing
/// where it does not run without data.
pub(super) fn obstacles(problem: &Problem, text: &str) -> Vec<String> {
    let Ok(singles) = problem.plain_and_singles(text) else {
        return Vec::new();
    };
    let Some(evaluation) = run(&singles.plain.source, problem) else {
        return Vec::new();
    };
    let passes = Passes::of(&evaluation);
    let timeline = time(&evaluation.trace, &problem.machine, passes);
    let Some(pace) = Pace::of(&timeline, problem.machine.launch_ns) else {
        return Vec::new();
    };
    let mut told = vec![pace.sentence()];
    let lines = pace.lines(&timeline).into_iter().take(LINES);
    told.extend(lines.map(|(line, nanoseconds)| {
        format!(
            "{} takes {:.1} us of {}: {}",
            place(text, &singles.plain.source, line),
            nanoseconds / 1e3,
            pace.name(),
            tried(&singles, line)
        )
    }));
    if problem.refuses_narrow_types() {
        told.push("products keep their type: with operands in a narrower one, the results of the problem's own kernel are further off on its data than three quarters of the tolerance".to_owned());
    }
    told
}

/// A line of the plain form of a kernel, by its number where that is the same in the kernel.
fn place(text: &str, plain: &str, line: usize) -> String {
    let of = |text: &str| text.lines().nth(line - 1).map(|it| it.trim().to_owned());
    let code = of(plain).unwrap_or_default();
    let quoted = match code.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("`{}…`", &code[..end]),
        None => format!("`{code}`"),
    };
    match of(text) == Some(code) {
        true => format!("line {line} ({quoted})"),
        false => quoted,
    }
}

/// What was tried at a line, and what came of it.
fn tried(singles: &Singles, line: usize) -> String {
    let estimate = |it: f64| it / singles.plain.estimate;
    let mut best = BTreeMap::<&str, f64>::new();
    for single in &singles.found {
        let last = single.steps.last().filter(|it| it.line == line);
        if let Some(step) = last {
            let kind = best.entry(&step.transformation).or_insert(f64::INFINITY);
            *kind = kind.min(estimate(single.estimate));
        }
    }
    if best.is_empty() {
        return "no kind of change applies there that the device would take".to_owned();
    }
    let mut best: Vec<_> = best.into_iter().collect();
    best.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(b.0)));
    let best: Vec<String> = best
        .into_iter()
        .map(|(kind, ratio)| format!("{kind} ({ratio:.2})"))
        .collect();
    format!(
        "changes that apply there, with how many times as long each is estimated to take: {}",
        best.join(", ")
    )
}

/// The engine that has most to do, and how it spends the time of the kernel, in nanoseconds.
struct Pace {
    engine: Engine,
    total: f64,
    launch: f64,
    before: f64,
    busy: f64,
    resting: f64,
    behind: f64,
}

impl Pace {
    fn of(timeline: &Timeline, launch: f64) -> Option<Self> {
        let slots = &timeline.slots;
        let busy = |engine: Engine| match engine {
            Engine::Dma => timeline.any_queue_busy,
            _ => {
                let own = slots.iter().filter(|it| it.engine == engine);
                own.map(|it| it.released - it.start).sum()
            }
        };
        let engines = Engine::ALL.iter().map(|it| (*it, busy(*it)));
        let (engine, busy) = engines.max_by(|a, b| a.1.total_cmp(&b.1))?;
        let own = || slots.iter().filter(|it| it.engine == engine);
        let first = own().map(|it| it.start).min_by(f64::total_cmp)?;
        let last = own().map(|it| it.released).max_by(f64::total_cmp)?;
        let end = timeline.latency_ns - launch;
        Some(Self {
            engine,
            total: timeline.latency_ns,
            launch,
            before: first,
            busy,
            resting: (last - first - busy).max(0.0),
            behind: (end - last).max(0.0),
        })
    }

    fn name(&self) -> String {
        match self.engine {
            Engine::Dma => "the transfers".to_owned(),
            other => format!("the {} engine", other.name()),
        }
    }

    fn sentence(&self) -> String {
        let us = |it: f64| format!("{:.1}", it / 1e3);
        let what = match self.resting <= RESTING * (self.busy + self.resting) {
            true => {
                "only less of that work, or work that begins earlier on a part of what is loaded, would make the kernel faster"
            }
            false => "what it waits for there decides how long the kernel takes",
        };
        let has = match self.engine {
            Engine::Dma => "have",
            _ => "has",
        };
        format!(
            "{} {has} most to do: of {} us, {} start a kernel, {} pass before their first work, {} are work, {} waits between and {} pass behind their last work; {what}",
            self.name(),
            us(self.total),
            us(self.launch),
            us(self.before),
            us(self.busy),
            us(self.resting),
            us(self.behind),
        )
    }

    /// The lines that keep it busy, with their nanoseconds, the longest first.
    fn lines(&self, timeline: &Timeline) -> Vec<(usize, f64)> {
        let mut lines = BTreeMap::<u32, f64>::new();
        let mut all = 0.0;
        for it in timeline
            .scheduled()
            .filter(|it| it.slot.engine == self.engine)
        {
            let nanoseconds = it.slot.released - it.slot.start;
            *lines.entry(it.line).or_default() += nanoseconds;
            all += nanoseconds;
        }
        // Transfers go on side by side.
        let share = self.busy / all;
        let lines = lines.into_iter().filter(|it| 0 < it.0);
        let mut lines: Vec<(usize, f64)> = lines
            .map(|(line, nanoseconds)| (line as usize, nanoseconds * share))
            .collect();
        lines.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        lines
    }
}
