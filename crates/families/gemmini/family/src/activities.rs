//! What a timeline shows of a recorded call.

use super::attribution::{Segment, joined};
use super::profiling::Lines;
use crate::tracks;
use autocomp_bare_metal::CoreTally;
use autocomp_eval::timeline::{Activity, Counter, Timeline};
use autocomp_gemmini::timing::{Action, Recording, Unit};
use std::collections::BTreeMap;

/// Makes the timeline of a call that began in cycle `start`. `buffer_at` gives
/// the name of the buffer at an address.
pub(super) fn timeline<'n>(
    recording: &Recording,
    segments: &[Segment],
    tally: Option<&CoreTally>,
    start: u64,
    lines: &mut Lines<'_>,
    buffer_at: impl Fn(u64) -> &'n str,
) -> Timeline {
    let mut activities = Vec::new();
    let between = |track, name, from: u64, until: u64| {
        let cycles = until.saturating_sub(from.max(start));
        Activity::new(track, name, from.saturating_sub(start), cycles)
    };
    for segment in segments {
        let name = segment.cause.name();
        let line = segment.pc.and_then(|pc| lines.of(pc));
        let waiting = segment.waiting.and_then(|pc| lines.of(pc));
        activities.push(Activity {
            line,
            holds_up: waiting.filter(|waiting| Some(*waiting) != line),
            ..between(tracks::CAUSE, name, segment.start, segment.end)
        });
    }
    for operation in &recording.operations {
        let name = match (operation.rows, operation.computes) {
            (0, _) => "configure",
            (_, true) => "multiply",
            (_, false) => "preload",
        };
        activities.push(Activity {
            line: lines.of(operation.pc),
            ..between(tracks::ARRAY, name, operation.start, operation.end())
        });
    }
    for command in &recording.commands {
        let (track, way) = match command.unit {
            Unit::Load => (tracks::LOAD, "in"),
            Unit::Store => (tracks::STORE, "out"),
            Unit::Execute => continue,
        };
        let Action::Move { address, bytes, .. } = command.action else {
            continue;
        };
        let what = match bytes {
            0 => "zeros",
            _ => buffer_at(address),
        };
        activities.push(Activity {
            name: format!("move {way} {what}").into(),
            line: lines.of(command.pc),
            bytes: Some(u64::from(bytes)),
            ..between(track, "", command.issued(), command.completed())
        });
    }
    for (track, name, spans) in [
        (tracks::PORT, "bytes arrive", &recording.arriving),
        (tracks::OUTER, "read", &recording.outer),
    ] {
        for span in joined(spans.iter().map(|it| (it.start, it.end))) {
            activities.push(between(track, name, span.start, span.end));
        }
    }
    for fence in &recording.fences {
        activities.push(Activity {
            line: lines.of(fence.pc),
            ..between(tracks::CORE_WAIT, "fence", fence.start, fence.end)
        });
    }
    for miss in &recording.misses {
        let name = if miss.fetch { "code miss" } else { "data miss" };
        activities.push(between(tracks::CORE_WAIT, name, miss.start, miss.end));
    }
    if let Some(tally) = tally {
        activities.extend(core(tally, start, lines));
    }
    let named = activities.iter().filter_map(|it| it.line);
    let mut texts = BTreeMap::new();
    for line in named {
        texts.entry(line).or_insert_with(|| lines.text(line));
    }
    Timeline {
        unit: "cycle",
        activities,
        counters: station(recording, start),
        texts,
    }
}

/// Returns what the core executes: neighbouring blocks of the same lines are
/// one activity, unless it waits in only one of them.
fn core(tally: &CoreTally, start: u64, lines: &mut Lines<'_>) -> Vec<Activity> {
    let mut activities: Vec<Activity> = Vec::new();
    let mut before = None;
    for step in tally.course() {
        let ends = [lines.of(step.first), lines.of(step.last)];
        // Nothing is known about where in a block the core waited.
        let waiting = step.end - step.start <= 2 * step.waits;
        let at = step.start.saturating_sub(start);
        let kind = Some((ends, waiting));
        match activities.last_mut() {
            Some(last) if before == kind && last.start + last.duration == at => {
                last.duration += step.end - step.start;
                last.waits = last.waits.map(|waits| waits + step.waits);
            }
            _ => {
                let place = match ends {
                    [Some(first), Some(last)] if first != last => {
                        format!("lines {} to {}", first.min(last), first.max(last))
                    }
                    [Some(line), _] | [None, Some(line)] => format!("line {line}"),
                    [None, None] => "outside the kernel's lines".to_owned(),
                };
                let waits = if waiting { ", waiting" } else { "" };
                let name = format!("{place}{waits}");
                activities.push(Activity {
                    line: ends[0].or(ends[1]),
                    waits: Some(step.waits),
                    ..Activity::new(tracks::CORE, name, at, step.end - step.start)
                });
            }
        }
        before = kind;
    }
    activities
}

/// Returns the entries of the reservation station in use.
fn station(recording: &Recording, start: u64) -> Vec<Counter> {
    let counters = [
        ("array", Unit::Execute),
        ("load", Unit::Load),
        ("store", Unit::Store),
    ];
    let counter = |(of, unit)| {
        let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
        for command in recording.commands.iter().filter(|it| it.unit == unit) {
            *changes.entry(command.allocated).or_default() += 1;
            *changes.entry(command.completed()).or_default() -= 1;
        }
        let mut now = 0i64;
        let steps = changes.into_iter().map(|(cycle, change)| {
            now += change;
            (cycle.saturating_sub(start), now.max(0).unsigned_abs())
        });
        Counter::new(of, "entries in use", steps.collect())
    };
    counters.map(counter).into()
}
