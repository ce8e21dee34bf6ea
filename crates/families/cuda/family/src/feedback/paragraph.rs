//! What limits a call, in sentences.

use super::Timed;
use super::words::{LAUNCH, source_name};
use crate::texts::TEXTS;
use autocomp_cuda_sim::machine::Launch;
use autocomp_cuda_sim::timing::Estimate;
use autocomp_eval::text::grouped;
use std::fmt::Write;

/// Launches that are told of one by one.
const MOST_LAUNCHES: usize = 6;
/// Parts of a launch that are told of.
const MOST_PARTS: usize = 4;
/// Share of the longest part below which a part is not told of.
const LEAST_PART: f64 = 0.1;

fn whole(ns: f64) -> String {
    grouped(ns.round() as u64)
}

/// Makes what models and people are told first.
pub(super) fn summary(timed: &Timed) -> String {
    let Some(dearest) = timed.dearest() else {
        return String::new();
    };
    let mut sentences = vec![limit(timed, dearest), launching(timed), caches(timed)];
    if let Some((without, ns)) = timed.without.first() {
        sentences.push(format!("It would take {} ns {without}.", whole(*ns)));
    }
    sentences.join(" ")
}

/// Says what limits the dearest launch, and what helps.
fn limit(timed: &Timed, (launch, estimate): &(Launch, Estimate)) -> String {
    let mut text = format!(
        "`{}` takes {} of {} ns.",
        source_name(&launch.kernel),
        whole(estimate.ns),
        whole(timed.ns),
    );
    let mut parts: Vec<(&str, f64)> = estimate.parts.iter().map(|it| (it.name, it.ns)).collect();
    // The launch comes before all that goes on beside each other.
    if estimate.ns < 2.0 * estimate.launch_ns {
        parts.insert(0, (LAUNCH, estimate.launch_ns));
    }
    let Some((first, ns)) = parts.first() else {
        return text;
    };
    let _ = write!(
        text,
        " What limits it most is {} ({} ns by itself)",
        TEXTS.parts.of(first).words,
        whole(*ns)
    );
    if let Some((second, _)) = parts.get(1).filter(|it| 0.5 * ns < it.1) {
        let _ = write!(text, "; then {}", TEXTS.parts.of(second).words);
    }
    let _ = write!(text, ". What helps: {}.", TEXTS.parts.of(first).remedy);
    text
}

/// Says what launches cost however little they do.
fn launching(timed: &Timed) -> String {
    let (_, transfers) = timed.transfers;
    let what = match transfers {
        0 => "launch",
        _ => "launch, cudaMemset and cudaMemcpy",
    };
    format!(
        "Each {what} costs {} ns however little it does: {} ns of all.",
        whole(timed.launch_ns),
        whole(timed.launching_ns())
    )
}

/// Says what is in the caches when a call begins.
fn caches(timed: &Timed) -> String {
    let mib = timed.l2_mib;
    match timed.is_warm {
        true => format!(
            "The same call was made before, and the L2 ({mib} MiB) holds what it can of all buffers."
        ),
        false => format!(
            "A call begins with nothing of its buffers in the L2 ({mib} MiB); what a launch has read or written, later ones find there, as far as it fits."
        ),
    }
}

/// Tells of each launch: its shape, how full the GPU is, the parts of its time.
pub(super) fn launches(timed: &Timed) -> String {
    let mut order: Vec<usize> = (0..timed.launches.len()).collect();
    order.sort_by(|a, b| timed.launches[*b].1.ns.total_cmp(&timed.launches[*a].1.ns));
    order.truncate(MOST_LAUNCHES);
    order.sort_unstable();
    let told: Vec<String> = order.iter().map(|at| one(&timed.launches[*at])).collect();
    let mut text = format!(
        "Launches, with the time that each part would take by itself: {}",
        told.join("; ")
    );
    let others = (0..timed.launches.len()).filter(|it| !order.contains(it));
    let others: Vec<f64> = others.map(|it| timed.launches[it].1.ns).collect();
    if !others.is_empty() {
        let _ = write!(
            text,
            "; {} more {} ns",
            others.len(),
            whole(others.iter().sum())
        );
    }
    let (transfers_ns, transfers) = timed.transfers;
    if transfers != 0 {
        let _ = write!(
            text,
            "; cudaMemset and cudaMemcpy {} ns",
            whole(transfers_ns)
        );
    }
    text.push('.');
    text
}

fn one((launch, estimate): &(Launch, Estimate)) -> String {
    let longest = estimate.parts.first().map_or(0.0, |it| it.ns);
    let parts = estimate
        .parts
        .iter()
        .filter(|it| LEAST_PART * longest < it.ns)
        .take(MOST_PARTS)
        .map(|it| format!("{} {}", it.name, whole(it.ns)));
    let parts: Vec<String> = parts.collect();
    let blocks = match launch.blocks() {
        1 => "1 block".to_owned(),
        blocks => format!("{} blocks", grouped(blocks)),
    };
    format!(
        "`{}` {} ns ({blocks} of {} threads, {} at once on an SM that could hold {}: {})",
        source_name(&launch.kernel),
        whole(estimate.ns),
        launch.threads(),
        estimate.blocks_at_once(),
        estimate.resident_blocks,
        parts.join(", ")
    )
}
