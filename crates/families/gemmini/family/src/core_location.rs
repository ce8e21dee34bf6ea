//! Where the core was while a command was not sent.

use super::attribution::Segment;
use crate::cause::Cause;
use autocomp_bare_metal::{CoreTally, InstructionKind, instructions};
use autocomp_riscv::Memory;
use std::collections::HashMap;

/// Charges cycles in which a command was not sent to what the core executed
/// then: commands are seen `delay` cycles after they were sent.
pub(super) fn locate(
    tally: &CoreTally,
    segments: Vec<Segment>,
    delay: u64,
    memory: &Memory,
) -> Vec<Segment> {
    let course = tally.course();
    let mut known: HashMap<(u64, u64), Vec<(u64, InstructionKind)>> = HashMap::new();
    let mut located: Vec<Segment> = Vec::with_capacity(segments.len());
    for segment in segments {
        let kind = match segment.cause {
            Cause::CoreIssue => None,
            Cause::CacheMiss => Some(InstructionKind::Memory),
            _ => {
                located.push(segment);
                continue;
            }
        };
        let waiting = segment.waiting.or(segment.pc);
        let mut at = segment.start;
        while at < segment.end {
            let now = at.saturating_sub(delay);
            let place = course.partition_point(|step| step.end <= now);
            let Some(step) = course.get(place).filter(|step| step.start <= now) else {
                let next = course.get(place).map_or(u64::MAX, |it| it.start + delay);
                let end = segment.end.min(next.max(at + 1));
                let start = std::mem::replace(&mut at, end);
                located.push(Segment {
                    start,
                    end,
                    ..segment
                });
                continue;
            };
            let code = known
                .entry((step.first, step.last))
                .or_insert_with(|| instructions(memory, step.first, step.last));
            let some: Vec<u64> = code
                .iter()
                .filter(|it| kind.is_none_or(|kind| kind == it.1))
                .map(|it| it.0)
                .collect();
            let among: Vec<u64> = match some.is_empty() {
                true => code.iter().map(|it| it.0).collect(),
                false => some,
            };
            // Instructions are taken to share the block's cycles evenly.
            let (n, cycles) = (among.len().max(1) as u64, step.end - step.start);
            let idx = (now - step.start) * n / cycles;
            let next = step.start + ((idx + 1) * cycles).div_ceil(n) + delay;
            let end = segment.end.min(next.max(at + 1));
            let pc = among.get(idx as usize).copied().or(segment.pc);
            let start = std::mem::replace(&mut at, end);
            located.push(Segment {
                start,
                end,
                cause: segment.cause,
                pc,
                waiting: waiting.filter(|waiting| Some(*waiting) != pc),
            });
        }
    }
    located
}
