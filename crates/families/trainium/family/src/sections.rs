//! A profile as text: what limits the kernel, engines and their lines, traffic, memory over time,
//! the critical path.

use crate::cost::Timed;
use std::fmt::Write as _;

use autocomp_eval::profile::Section;
use autocomp_eval::text;

use autocomp_trainium_sim::feedback::{MemorySample, Report};

/// Levels of a chart, from nothing to all.
const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Bytes of the accumulators in each partition.
const PSUM_BYTES: u64 = 16384;
/// Lines told for each engine.
const MOST_LINES: usize = 5;

pub(super) fn sections(timed: &Timed, source: &str, sbuf_bytes: u64) -> Vec<Section> {
    let report = &timed.report;
    let titled = |title: &str, text: String| Section {
        title: Some(title.to_owned()),
        text,
    };
    let mut sections = vec![
        Section {
            title: None,
            text: text::wrapped(&timed.summary, 96, ""),
        },
        titled(
            "engines, and the lines that keep them busy",
            engines(report, source),
        ),
        titled("main memory", traffic(report)),
    ];
    if !report.memory.is_empty() {
        sections.push(titled(
            "on-chip memory over time",
            memory(report, sbuf_bytes),
        ));
    }
    if !report.critical_path.is_empty() {
        sections.push(titled("critical path", path(report, source)));
    }
    sections
}

/// The text of a line, shortened.
fn quoted(source: &str, line: u32) -> String {
    let text = source
        .lines()
        .nth((line as usize).wrapping_sub(1))
        .unwrap_or_default()
        .trim();
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short + "…"
    } else {
        short
    }
}

// Writing to a string cannot fail.
fn engines(report: &Report, source: &str) -> String {
    let mut out = String::new();
    for engine in report.engines.iter().filter(|it| 0 < it.instructions) {
        let _ = writeln!(
            out,
            "  {:<8} {:>10.1} us  {:>5.1} % active, {} instructions of {:.0} elements, {:.0} % of the work is fixed cost",
            engine.engine.name(),
            engine.active_us,
            engine.active_time_percent,
            engine.instructions,
            engine.mean_elements,
            engine.overhead_percent
        );
        let [begin, middle, end] = engine.idle_us;
        let _ = writeln!(
            out,
            "    idle {begin:.1} us before its first instruction, {middle:.1} us between, {end:.1} us after its last"
        );
        let own = report
            .lines
            .iter()
            .filter(|line| line.engine == engine.engine);
        for line in own.take(MOST_LINES) {
            let _ = writeln!(
                out,
                "    line {:>4} {:>8.1} us  {} x {}  `{}`",
                line.line,
                line.active_us,
                line.instructions,
                line.operation,
                quoted(source, line.line)
            );
        }
    }
    out
}

fn traffic(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "  {} bytes read, {} written; {} are compulsory, {} for lack of room on the chip; {:.0} GB/s",
        report.hbm_read_bytes,
        report.hbm_write_bytes,
        report.compulsory_bytes,
        report.spill_reload_bytes,
        report.hbm_bandwidth
    );
    for tensor in &report.traffic {
        let _ = writeln!(
            out,
            "  {:<12} {:>12} bytes  read {:>12} ({:.1} times)  written {:>12}",
            tensor.tensor, tensor.bytes, tensor.read, tensor.reload_factor, tensor.written
        );
    }
    out
}

fn memory(report: &Report, sbuf_bytes: u64) -> String {
    let chart = |bytes: fn(&MemorySample) -> u64, all: u64| -> String {
        let level = |sample| (bytes(sample) * 8).div_ceil(all.max(1)).min(8) as usize;
        report
            .memory
            .iter()
            .map(|sample| LEVELS[level(sample)])
            .collect()
    };
    let most = |bytes: fn(&MemorySample) -> u64| report.memory.iter().map(bytes).max().unwrap_or(0);
    let mut out = String::new();
    let sbuf = most(|it| it.sbuf_bytes);
    let psum = most(|it| it.psum_bytes);
    let _ = writeln!(
        out,
        "  SBUF |{}| at most {sbuf} of {sbuf_bytes} bytes in each partition",
        chart(|it| it.sbuf_bytes, sbuf_bytes)
    );
    let _ = writeln!(
        out,
        "  PSUM |{}| at most {psum} of {PSUM_BYTES}",
        chart(|it| it.psum_bytes, PSUM_BYTES)
    );
    let _ = writeln!(out, "        0 to {:.1} us", report.total_time_us);
    out
}

fn path(report: &Report, source: &str) -> String {
    let mut out = String::new();
    for step in &report.critical_path {
        let _ = writeln!(
            out,
            "  {:>8.1} us running {:>8.1} us waiting  line {:>4}  {} on {}  `{}`",
            step.running_us,
            step.queued_us,
            step.line,
            step.operation,
            step.engine.name(),
            quoted(source, step.line)
        );
        if let Some(wait) = step.longest_wait.as_ref().filter(|it| 0.05 <= it.us) {
            let _ = writeln!(out, "{:29}longest wait: {}", "", wait.told());
        }
    }
    out
}
