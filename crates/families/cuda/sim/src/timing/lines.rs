//! Which lines of the source the time of a launch is put down to.

use super::counts::LineCounts;
use super::estimate::Estimate;
use std::collections::BTreeMap;

/// Returns what a part of the time is shared out among lines by; nothing where no line is to
/// blame.
fn measure(part: &str) -> Option<fn(&LineCounts) -> f64> {
    Some(match part {
        "issue" => |it| it.pipes.issue,
        "fma" => |it| it.pipes.fma,
        "alu" => |it| it.pipes.alu + it.pipes.add,
        "int" => |it| it.pipes.int,
        "special" => |it| it.pipes.special,
        "double" => |it| it.pipes.double,
        "tensor" => |it| it.pipes.tensor,
        "shared" => |it| it.shared,
        "l1" => |it| it.sectors,
        "latency" => |it| it.waits,
        "alone" => |it| it.alone,
        "l2" => |it| it.l2_reads,
        "l2_writes" => |it| it.l2_writes,
        "atomics" => |it| it.atomic_ns,
        "dram" => |it| it.l2_reads + it.l2_writes,
        _ => return None,
    })
}

impl Estimate {
    /// Returns the nanoseconds of each line of the source: of the time between begin and end of
    /// the launch, the share of each part goes to lines as they had to do with it. All together
    /// are no more than that time; what no line owns is left out.
    #[must_use]
    pub fn line_ns(&self) -> BTreeMap<u32, f64> {
        let mut lines = BTreeMap::new();
        let is_apart = self
            .parts
            .iter()
            .any(|it| it.name == "alone" && 0.0 < it.share);
        for part in &self.parts {
            let Some(measure) = measure(part.name) else {
                continue;
            };
            let measure = |it: &LineCounts| match part.name {
                // What one block waits for alone is another part.
                "latency" if is_apart => (it.waits - it.alone).max(0.0),
                _ => measure(it),
            };
            let all: f64 = self.counts.lines.values().map(measure).sum();
            if all <= 0.0 {
                continue;
            }
            let ns = part.share * (self.ns - self.launch_ns);
            for (line, counts) in self.counts.lines.iter().filter(|(line, _)| **line != 0) {
                *lines.entry(*line).or_default() += ns * measure(counts) / all;
            }
        }
        lines
    }
}
