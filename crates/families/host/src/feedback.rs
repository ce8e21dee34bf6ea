//! What is told about where a kernel's time goes.

use crate::bench::HostBench;
use crate::innermost_loops::{InnermostLoop, innermost_loops};
use crate::throughput::{self, Throughput};
use autocomp_core::Feedback;
use autocomp_eval::EvalError;
use minijinja::{Environment, context};
use std::collections::BTreeMap;
use std::path::Path;

const TEMPLATE: &str = include_str!("../templates/feedback.jinja");
/// Lines of a loop that people are shown.
const LISTED: usize = 60;
/// Loops that are told of.
pub(crate) const MOST_LOOPS: usize = 6;

/// What is known about a kernel's time.
#[derive(Clone, Debug)]
pub(crate) struct Findings {
    pub feedback: Feedback,
    pub loops: Vec<InnermostLoop>,
    pub throughput: Option<Throughput>,
}

/// Looks at a kernel whose calls take `call_ns`.
///
/// # Errors
/// [`EvalError::Environment`] if the machine does not allow to compile.
pub(crate) fn look(
    bench: &HostBench,
    source: &str,
    call_ns: f64,
    analyst: Option<&Path>,
    counted: &Result<Vec<(&'static str, f64)>, String>,
) -> Result<Findings, EvalError> {
    let problem = bench.problem();
    let assembly = bench.builder().assembly(source)?;
    let loops = assembly.map_or_else(Vec::new, |text| innermost_loops(&text, &problem.entry));
    // Cycles of one loop among several would pass for those of the kernel.
    let only = match loops.as_slice() {
        [only] => Some(only),
        _ => None,
    };
    let throughput = only.zip(analyst).and_then(|(found, analyst)| {
        throughput::analyse(analyst, &found.text, &bench.machine.architecture)
    });
    let (macs, bytes) = (problem.work.macs as f64, problem.work.bytes as f64);
    let peak_macs = bench.peak_macs_per_ns();
    let peak_bytes = bench.peaks().bytes_per_ns;
    let (compute, traffic) = (macs / peak_macs, bytes / peak_bytes);
    let percent = 100.0 * compute.max(traffic) / call_ns;
    let machine_width = 32 * bench.machine.lanes;
    let rounded = |value: f64| (value * 10.0).round() / 10.0;
    let shown = loops.iter().take(MOST_LOOPS).map(|found| {
        let throughput = throughput.as_ref();
        context! {
            line => found.line,
            instructions => found.instructions,
            arithmetic => found.arithmetic,
            loads => found.loads,
            stores => found.stores,
            shuffles => found.shuffles,
            scalar => found.scalar,
            spills => found.spills,
            calls => found.calls,
            width => found.width,
            analyst => throughput.map(|it| it.analyst.clone()),
            throughput => throughput.map(|it| it.block),
            cycles => throughput.map(|it| rounded(it.cycles)),
            latency_bound => throughput.is_some_and(|it| 1.3 * it.block < it.cycles),
        }
    });
    let shown: Vec<_> = shown.collect();
    let events: BTreeMap<&str, f64> = counted.iter().flatten().copied().collect();
    let event = |name: &str| events.get(name).copied();
    let per = |part: &str, whole: &str, times: f64| {
        let whole = event(whole).filter(|it| 0.0 < *it)?;
        Some(rounded(times * event(part)? / whole))
    };
    let shown_events = context! {
        instructions_per_cycle => per("instructions", "cycles", 1.0),
        instructions_per_mac => (0.0 < macs).then(|| event("instructions").map(|it| (1000.0 * it / macs).round() / 1000.0)).flatten(),
        cache_misses => event("cache_misses"),
        misses_per_thousand => per("cache_misses", "instructions", 1000.0),
        branch_misses => per("branch_misses", "instructions", 1000.0),
        reason => counted.as_ref().err(),
    };
    let mut environment = Environment::new();
    environment.set_undefined_behavior(minijinja::UndefinedBehavior::Strict);
    let bottleneck = environment
        .render_str(
            TEMPLATE,
            context! {
                us => rounded(call_ns / 1000.0),
                percent_of_peak => rounded(percent),
                macs => problem.work.macs,
                bytes => problem.work.bytes,
                macs_per_ns => rounded(macs / call_ns),
                peak_macs_per_ns => rounded(peak_macs),
                bytes_per_ns => rounded(bytes / call_ns),
                peak_bytes_per_ns => rounded(peak_bytes),
                bound => if traffic < compute { "compute" } else { "memory" },
                machine_width => machine_width,
                loops => shown,
                n_loops => loops.len(),
                events => shown_events,
            },
        )
        .map_err(|error| EvalError::Fault(format!("the feedback's template: {error}")))?;
    let mut counters = BTreeMap::from([
        ("macs_per_ns".to_owned(), macs / call_ns),
        ("peak_macs_per_ns".to_owned(), peak_macs),
        ("bytes_per_ns".to_owned(), bytes / call_ns),
        ("peak_bytes_per_ns".to_owned(), peak_bytes),
        ("percent_of_peak".to_owned(), percent),
    ]);
    if let Some(found) = only {
        counters.insert("loop_instructions".into(), found.instructions as f64);
        counters.insert("loop_vector_bits".into(), f64::from(found.width));
        counters.insert("loop_spills".into(), found.spills as f64);
    }
    if let Some(found) = &throughput {
        counters.insert("loop_cycles_at_best".into(), found.block);
        counters.insert("loop_cycles".into(), found.cycles);
    }
    for (name, count) in &events {
        counters.insert(format!("counted_{name}"), *count);
    }
    Ok(Findings {
        feedback: Feedback {
            bottleneck: bottleneck.trim().replace('\n', ""),
            counters,
            lines: Vec::new(),
        },
        loops,
        throughput,
    })
}

/// Returns the instructions of a loop as people are shown them.
pub(crate) fn listing(found: &InnermostLoop) -> String {
    let mut text: String = found
        .text
        .lines()
        .take(LISTED)
        .map(|line| format!("  {}\n", line.replace('\t', " ")))
        .collect();
    let more = found.instructions.saturating_sub(LISTED);
    if 0 < more {
        text += &format!("  … and {more} more\n");
    }
    text
}

/// Breaks a paragraph into lines of at most 96 characters.
pub(crate) fn wrapped(paragraph: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in paragraph.split_whitespace() {
        let width = word.chars().count();
        if 0 < column && 96 < column + 1 + width {
            text.push('\n');
            column = 0;
        }
        if 0 < column {
            text.push(' ');
            column += 1;
        }
        text += word;
        column += width;
    }
    text.push('\n');
    text
}
