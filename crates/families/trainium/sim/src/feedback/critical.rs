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
    /// The longest of these waits, if there was one.
    pub longest_wait: Option<Wait>,
}

/// One wait of an instruction that was ready.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wait {
    /// Microseconds that it took.
    pub us: f64,
    /// Which of the instruction's runs waited, from 1, and how many runs there are.
    pub run: (u32, u32),
    /// Lines of what its engine, or the queues, did meanwhile, with microseconds; at most two, the
    /// longest first.
    pub behind: Vec<(u32, f64)>,
    /// Whether it was for room in PSUM most of the time.
    pub for_room: bool,
}

/// Most lines that a wait is told to be behind.
const BEHIND: usize = 2;

/// What is known of an engine, line and instruction on the path.
#[derive(Default)]
struct Sum {
    running: f64,
    queued: f64,
    /// Position, beginning and end of the longest wait.
    longest: Option<(usize, f64, f64)>,
}

pub(super) fn path(timeline: &Timeline) -> Vec<Step> {
    let mut steps: BTreeMap<(Engine, u32, &'static str), Sum> = BTreeMap::new();
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
        entry.running += (until - slot.start).max(0.0);
        let wait = (slot.start - ready).max(0.0);
        entry.queued += wait;
        if entry.longest.map_or(0.0, |it| it.2 - it.1) < wait {
            entry.longest = Some((position, ready, slot.start));
        }
        until = ready;
        left = left.saturating_sub(1);
        at = if left == 0 { None } else { before };
    }
    let mut steps: Vec<Step> = steps
        .into_iter()
        .map(|((engine, line, operation), sum)| Step {
            engine,
            line,
            operation: operation.to_owned(),
            running_us: sum.running / 1000.0,
            queued_us: sum.queued / 1000.0,
            longest_wait: sum.longest.map(|it| wait(timeline, it)),
        })
        .collect();
    steps.sort_by(|a, b| (b.running_us + b.queued_us).total_cmp(&(a.running_us + a.queued_us)));
    steps.truncate(10);
    steps
}

/// What went on while the instruction at a position waited from one time to another.
fn wait(timeline: &Timeline, (position, from, to): (usize, f64, f64)) -> Wait {
    let own = &timeline.instructions[position];
    let engine = timeline.slots[position].engine;
    let (mut before, mut runs) = (0, 0);
    let mut behind: BTreeMap<u32, f64> = BTreeMap::new();
    for (at, (other, slot)) in timeline
        .instructions
        .iter()
        .zip(&timeline.slots)
        .enumerate()
    {
        if slot.engine != engine {
            continue;
        }
        if other.line == own.line && other.operation == own.operation {
            runs += 1;
            before += u32::from(at < position);
        }
        let meanwhile = slot.released.min(to) - slot.start.max(from);
        if at != position && 0.0 < meanwhile {
            *behind.entry(other.line).or_default() += meanwhile / 1000.0;
        }
    }
    let busy: f64 = behind.values().sum();
    let us = (to - from) / 1000.0;
    let mut behind: Vec<(u32, f64)> = behind.into_iter().collect();
    behind.sort_by(|a, b| b.1.total_cmp(&a.1));
    behind.truncate(BEHIND);
    Wait {
        us,
        run: (before + 1, runs),
        behind,
        for_room: timeline.slots[position].takes_bank && busy < us / 2.0,
    }
}

impl Wait {
    /// The wait in words.
    #[must_use]
    pub fn told(&self) -> String {
        let behind: Vec<String> = self
            .behind
            .iter()
            .map(|(line, us)| format!("line {line} ({us:.1} us)"))
            .collect();
        let behind = match behind.is_empty() {
            _ if self.for_room => {
                "for room in PSUM, which earlier tiles held until they were read".to_owned()
            }
            true => "while its engine did nothing".to_owned(),
            false => format!("behind {}", behind.join(" and ")),
        };
        let (run, runs) = self.run;
        format!("{:.1} us before run {run} of {runs}, {behind}", self.us)
    }
}
