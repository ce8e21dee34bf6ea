//! The critical path: from the last result back through what each instruction waited for.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::timing::Timeline;
use crate::trace::Engine;

/// Time on the critical path by engine, line and instruction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Engine.
    pub engine: Engine,
    /// Line of the kernel.
    pub line: u32,
    /// Instruction.
    pub operation: String,
    /// Microseconds of the path in which it ran or its result travelled.
    pub running_us: f64,
    /// Microseconds of the path in which it was ready but its engine, queue or accumulator was
    /// not free.
    pub queued_us: f64,
}

pub(super) fn path(timeline: &Timeline) -> Vec<Step> {
    let mut steps: BTreeMap<(Engine, u32, &'static str), (f64, f64)> = BTreeMap::new();
    let last = timeline
        .slots
        .iter()
        .enumerate()
        .max_by(|a, b| a.1.done.total_cmp(&b.1.done).then(b.0.cmp(&a.0)));
    let mut at = last.map(|(position, _)| position);
    let mut until = last.map_or(0.0, |(_, slot)| slot.done);
    let mut left = timeline.slots.len();
    while let Some(position) = at {
        let (slot, instruction) = (&timeline.slots[position], &timeline.instructions[position]);
        let before = slot.blocker.map(|b| b as usize);
        let ready = before.map_or(0.0, |b| timeline.slots[b].done.min(slot.start));
        let entry = steps
            .entry((slot.engine, instruction.line, instruction.operation.name()))
            .or_default();
        entry.0 += (until - slot.start).max(0.0);
        entry.1 += (slot.start - ready).max(0.0);
        until = ready;
        left = left.saturating_sub(1);
        at = if left == 0 { None } else { before };
    }
    let mut steps: Vec<Step> = steps
        .into_iter()
        .map(|((engine, line, operation), (running, queued))| Step {
            engine,
            line,
            operation: operation.to_owned(),
            running_us: running / 1000.0,
            queued_us: queued / 1000.0,
        })
        .collect();
    steps.sort_by(|a, b| (b.running_us + b.queued_us).total_cmp(&(a.running_us + a.queued_us)));
    steps.truncate(10);
    steps
}
