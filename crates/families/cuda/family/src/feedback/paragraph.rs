//! What limits a call, in sentences that are data.

use super::Timed;
use super::words::{LAUNCH, source_name};
use crate::texts::TEXTS;
use autocomp_cuda_sim::machine::Launch;
use autocomp_cuda_sim::timing::Estimate;
use autocomp_eval::Paragraph;
use autocomp_eval::text::grouped;
use std::fmt::Display;

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
    let mut told = TEXTS.sentences.paragraph();
    limit(&mut told, timed, dearest);
    let (_, transfers) = timed.transfers;
    let launching = match transfers {
        0 => "launching",
        _ => "launching-and-copies",
    };
    let (each, all) = (whole(timed.launch_ns), whole(timed.launching_ns()));
    told.say(launching, &[("each", &each), ("all", &all)]);
    let caches = match timed.is_warm {
        true => "warm-caches",
        false => "cold-caches",
    };
    told.say(caches, &[("mib", &timed.l2_mib)]);
    if let Some((cost, ns)) = timed.without.first() {
        told.say("gain", &[("ns", &whole(*ns)), ("cost", cost)]);
    }
    told.text()
}

/// Says what limits the dearest launch, and what helps.
fn limit(told: &mut Paragraph<'_>, timed: &Timed, (launch, estimate): &(Launch, Estimate)) {
    let values: [(&str, &dyn Display); 3] = [
        ("kernel", &source_name(&launch.kernel)),
        ("ns", &whole(estimate.ns)),
        ("all", &whole(timed.ns)),
    ];
    told.say("dearest", &values);
    let mut parts: Vec<(&str, f64)> = estimate.parts.iter().map(|it| (it.name, it.ns)).collect();
    // The launch comes before all that goes on beside each other.
    if estimate.ns < 2.0 * estimate.launch_ns {
        parts.insert(0, (LAUNCH, estimate.launch_ns));
    }
    let Some((first, ns)) = parts.first() else {
        return;
    };
    let second = parts.get(1).filter(|it| 0.5 * ns < it.1).map(|it| it.0);
    let limit = if second.is_some() { "limits" } else { "limit" };
    let values: [(&str, &dyn Display); 4] = [
        ("first", &TEXTS.parts.of(first).words),
        ("ns", &whole(*ns)),
        ("second", &TEXTS.parts.of(second.unwrap_or_default()).words),
        ("remedy", &TEXTS.parts.of(first).remedy),
    ];
    told.say(limit, &values);
}

/// Tells of each launch: its shape, how full the GPU is, the parts of its time.
pub(super) fn launches(timed: &Timed) -> String {
    let mut order: Vec<usize> = (0..timed.launches.len()).collect();
    order.sort_by(|a, b| timed.launches[*b].1.ns.total_cmp(&timed.launches[*a].1.ns));
    order.truncate(MOST_LAUNCHES);
    order.sort_unstable();
    let mut told: Vec<String> = order.iter().map(|at| one(&timed.launches[*at])).collect();
    let sentences = &TEXTS.sentences;
    let others = (0..timed.launches.len()).filter(|it| !order.contains(it));
    let others: Vec<f64> = others.map(|it| timed.launches[it].1.ns).collect();
    if !others.is_empty() {
        let ns = whole(others.iter().sum());
        let values: [(&str, &dyn Display); 2] = [("count", &others.len()), ("ns", &ns)];
        told.push(sentences.filled("more-launches", &values));
    }
    let (ns, transfers) = timed.transfers;
    if transfers != 0 {
        told.push(sentences.filled("copies", &[("ns", &whole(ns))]));
    }
    sentences.filled("launches", &[("launches", &told.join("; "))])
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
    let name = match launch.blocks() {
        1 => "launch-of-one-block",
        _ => "launch",
    };
    let values: [(&str, &dyn Display); 7] = [
        ("kernel", &source_name(&launch.kernel)),
        ("ns", &whole(estimate.ns)),
        ("blocks", &grouped(launch.blocks())),
        ("threads", &launch.threads()),
        ("at_once", &estimate.blocks_at_once()),
        ("most", &estimate.resident_blocks),
        ("parts", &parts.join(", ")),
    ];
    TEXTS.sentences.filled(name, &values)
}
