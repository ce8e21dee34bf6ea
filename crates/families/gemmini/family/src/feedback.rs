//! What the counters of a timed call say about the kernel.

use crate::platform::GemminiPlatform;
use crate::profile::{LineCycles, Profile};
use crate::texts::TEXTS;
use autocomp_bare_metal::{Kernel, RankedCall};
use autocomp_core::{Cost, Feedback, LineCost, SourceLocation};
use autocomp_eval::Paragraph;
use autocomp_gemmini::timing::{IdleReason, PcCycles};
use std::collections::BTreeMap;

/// Lines reported, dearest first.
const MAX_LINES: usize = 8;

/// Share of all cycles from which on a reason for idling is named.
const WORTH_NAMING: f64 = 0.05;
/// Instructions of the core that are never taken for products of its own.
const MOST_BESIDE: u64 = 20_000;

/// Returns feedback for a call, from the counters of the timing engine that its session
/// holds since before that call.
pub(super) fn feedback(call: &mut RankedCall<'_, '_, GemminiPlatform>) -> Feedback {
    let (session, report, counts) = (&mut *call.session, call.report, call.counts);
    let (evaluator, kernel) = (call.trial.evaluator, call.trial.kernel);
    let (ideal, problem) = (evaluator.ideal_cycles(), evaluator.problem());
    let program = session.program();
    let accelerator = session.unit();
    let config = accelerator.functional().config();
    let (spad_rows, acc_rows) = (config.spad_rows(), config.acc_rows());
    let [spad_used, acc_used] = counts.rows_used();
    let done = &counts.statistics;
    let moved = done.dma_read_bytes + done.dma_written_bytes;
    let mut counters = BTreeMap::new();
    let mut count = |name: &str, value: f64| {
        counters.insert(name.to_owned(), value);
    };
    count("instructions", report.instructions as f64);
    count("issue_cycles", report.issue_cycles as f64);
    count("commands", done.commands.iter().sum::<u64>() as f64);
    count("macs_useful", done.macs_useful as f64);
    count("macs_issued", done.macs_issued as f64);
    let macs = problem.work.macs.max(1);
    let share = match report.instructions < macs.max(MOST_BESIDE) {
        true => done.macs_useful as f64 / macs as f64,
        // The core may have computed everything, and the array something that nobody reads.
        false => 0.0,
    };
    count(Feedback::TRANSLATED, 100.0 * share.min(1.0));
    count("bytes_read", done.dma_read_bytes as f64);
    count("bytes_written", done.dma_written_bytes as f64);
    count("bytes_minimum", problem.work.bytes as f64);
    count("scratchpad_rows_used", spad_used as f64);
    count("scratchpad_rows", f64::from(spad_rows));
    count("accumulator_rows_used", acc_used as f64);
    count("accumulator_rows", f64::from(acc_rows));

    let cycles = report.cycles.max(1) as f64;
    let percent = |share: f64, digits: usize| format!("{:.digits$}", 100.0 * share);
    let mut said = TEXTS.sentences.paragraph();
    said.say(
        "cycles",
        &[
            ("cycles", &report.cycles),
            ("percent", &percent(ideal as f64 / cycles, 1)),
        ],
    );
    let mut lines = Vec::new();
    if let Some(engine) = accelerator.timing() {
        let stats = engine.stats();
        count("array_busy_cycles", stats.array_busy as f64);
        count("array_full_cycles", stats.array_full as f64);
        count("bank_conflict_cycles", stats.bank_conflict as f64);
        count("core_blocked_cycles", stats.core_blocked as f64);
        count("fence_cycles", stats.fence as f64);
        for (reason, idle) in IdleReason::ALL.into_iter().zip(stats.idle) {
            count(&format!("idle_{}_cycles", name(reason)), idle as f64);
        }
        describe_time(
            &mut said,
            stats.array_busy,
            &stats.idle,
            stats.bank_conflict,
            cycles,
        );
        lines = line_costs(&stats.by_pc(), |pc| kernel.location(program, pc));
    }
    let name = if 0 < moved { "moved" } else { "nothing_moved" };
    let least = problem.work.bytes.max(1);
    said.say(
        name,
        &[
            ("bytes", &moved),
            ("times", &format!("{:.1}", moved as f64 / least as f64)),
            ("least", &least),
            ("spad_used", &spad_used),
            ("spad_rows", &spad_rows),
            ("acc_used", &acc_used),
            ("acc_rows", &acc_rows),
        ],
    );
    Feedback {
        bottleneck: said.text(),
        counters,
        lines,
    }
}

/// Puts what a profile knows in place of what counters alone can tell.
pub(super) fn refine(feedback: &mut Feedback, profile: &Profile, kernel: Kernel<'_>) {
    feedback.bottleneck.clone_from(&profile.bottleneck);
    for it in &profile.causes {
        let name = format!("{}_cycles", it.cause.name().replace('-', "_"));
        feedback.counters.insert(name, it.cycles as f64);
    }
    for buffer in &profile.buffers {
        let moved = buffer.bytes_in + buffer.bytes_out;
        let name = format!("bytes_moved_{}", buffer.buffer);
        feedback.counters.insert(name, moved as f64);
    }
    let charged = |line: &LineCycles| {
        let (cause, _) = line.causes.iter().max_by_key(|(_, cycles)| **cycles)?;
        Some(LineCost {
            location: SourceLocation {
                file: kernel.file.to_owned(),
                line: line.line?,
                column: None,
            },
            cost: Cost::cycles(line.cycles),
            cause: cause.name().to_owned(),
        })
    };
    feedback.lines = profile
        .lines
        .iter()
        .filter_map(charged)
        .take(MAX_LINES)
        .collect();
}

fn describe_time(
    said: &mut Paragraph<'_>,
    busy: u64,
    idle: &[u64; 9],
    bank_conflict: u64,
    cycles: f64,
) {
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    said.say("array", &[("percent", &percent(busy as f64 / cycles))]);
    let mut reasons: Vec<(u64, &str)> = IdleReason::ALL
        .into_iter()
        .zip(idle)
        .map(|(reason, idle)| (*idle, explanation(reason)))
        .collect();
    reasons.push((bank_conflict, TEXTS.idle.of("bank_conflict")));
    reasons.sort_by_key(|(idle, _)| std::cmp::Reverse(*idle));
    for (place, (idle, why)) in reasons.iter().take(2).enumerate() {
        let share = *idle as f64 / cycles;
        if share < WORTH_NAMING {
            break;
        }
        let name = ["first_reason", "second_reason"][place];
        said.say(name, &[("percent", &percent(share)), ("why", &why)]);
    }
}

fn name(reason: IdleReason) -> &'static str {
    match reason {
        IdleReason::Core => "core",
        IdleReason::LoadEntries => "load_entries",
        IdleReason::StoreEntries => "store_entries",
        IdleReason::ExecuteEntries => "execute_entries",
        IdleReason::Load => "load",
        IdleReason::Store => "store",
        IdleReason::Dependency => "dependency",
        IdleReason::ConfigDrain => "config_drain",
        IdleReason::Latency => "latency",
    }
}

fn explanation(reason: IdleReason) -> &'static str {
    TEXTS.idle.of(name(reason))
}

/// Sums up the cycles of instructions by kernel line.
fn line_costs(
    by_pc: &[(u64, PcCycles)],
    locate: impl Fn(u64) -> Option<SourceLocation>,
) -> Vec<LineCost> {
    let mut by_line: BTreeMap<SourceLocation, [u64; 3]> = BTreeMap::new();
    for (pc, cost) in by_pc {
        if let Some(location) = locate(*pc) {
            let sums = by_line.entry(location).or_default();
            for (sum, cycles) in
                sums.iter_mut()
                    .zip([cost.array, cost.bank_conflict, cost.idle_caused])
            {
                *sum += cycles;
            }
        }
    }
    let mut lines: Vec<LineCost> = by_line
        .into_iter()
        .map(|(location, sums)| {
            let causes = ["mesh", "bank-conflict", "wait"];
            let cause = (0..3)
                .max_by_key(|idx| (sums[*idx], 3 - idx))
                .map_or("mesh", |idx| causes[idx]);
            LineCost {
                location,
                cost: Cost::cycles(sums.iter().sum()),
                cause: cause.to_owned(),
            }
        })
        .filter(|line| 0 < line.cost.value)
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.cost));
    lines.truncate(MAX_LINES);
    lines
}
