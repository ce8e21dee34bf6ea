//! Schedules that are worth a try, the most promising first.

use crate::change::Change;
use crate::nest::Nest;
use crate::program::Program;
use crate::schedule::{Part, Schedule};

/// Ways of one launch that are proposed, at most.
const MOST: usize = 48;
/// What a launch as it is written is taken to need, in times of the best estimate.
const AS_WRITTEN: f64 = 3.0;

/// What a GPU has, as far as schedules depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuResources {
    /// Multiprocessors.
    pub sms: f64,
    /// Clock in GHz.
    pub clock_ghz: f64,
    /// Bytes of the memory of the device in a nanosecond.
    pub dram_bytes_per_ns: f64,
    /// Bytes of the L2 of the device in a nanosecond.
    pub l2_bytes_per_ns: f64,
    /// Nanoseconds of a launch.
    pub launch_ns: f64,
    /// Multiply-adds of halves of a multiprocessor in a cycle.
    pub tensor_macs: f64,
    /// Bytes of shared memory that a block may have.
    pub most_shared_bytes: i64,
    /// Bytes of shared memory that a block may have without asking for more.
    pub shared_bytes: i64,
    /// Elements of the buffers that the host function is given, in their order.
    pub extents: Vec<i64>,
}

/// A schedule that is worth a try.
#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    pub schedule: Schedule,
    pub score: f64,
    pub changes: Vec<Change>,
    pub text: String,
}

impl Proposal {
    /// Returns the items of the menu that name what changes.
    pub(crate) fn ids(&self) -> impl Iterator<Item = &'static str> + use<> {
        let ids: Vec<&str> = self.changes.iter().map(|it| it.id()).collect();
        ids.into_iter()
    }
}

/// Ways of one launch with their estimates, the best first.
fn ranked(nest: &Nest, machine: &GpuResources) -> Vec<(f64, Part)> {
    let all = Part::all(nest, machine);
    let mut found: Vec<(f64, Part)> = all
        .into_iter()
        .map(|it| (it.estimate(nest, machine), it))
        .collect();
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

fn as_written(program: &Program) -> Schedule {
    Schedule {
        launches: program.launches().iter().map(|_| Part::AsWritten).collect(),
    }
}

/// Returns every schedule in which one launch is carried out in another way than it is written.
pub(crate) fn every(program: &Program, machine: &GpuResources) -> Vec<Schedule> {
    let plain = as_written(program);
    let mut found = Vec::new();
    for (at, (_, nest)) in program.launches().into_iter().enumerate() {
        let Ok(nest) = nest else {
            continue;
        };
        for (_, part) in ranked(nest, machine) {
            let mut schedule = plain.clone();
            schedule.launches[at] = part;
            found.push(schedule);
        }
    }
    found
}

/// Returns the schedules that are worth a try.
pub(crate) fn proposals(
    program: &Program,
    current: Option<&Schedule>,
    machine: &GpuResources,
) -> Vec<Proposal> {
    let launches = program.launches();
    let current = current.cloned().unwrap_or_else(|| as_written(program));
    let ways: Vec<Vec<(f64, Part)>> = launches
        .iter()
        .map(|(_, nest)| {
            nest.as_ref()
                .map_or_else(|_| Vec::new(), |it| ranked(it, machine))
        })
        .collect();
    let costs: Vec<f64> = ways
        .iter()
        .zip(&current.launches)
        .map(|(ways, part)| {
            let best = ways.first().map_or(machine.launch_ns, |it| it.0);
            let own = ways.iter().find(|it| it.1 == *part);
            own.map_or(best * AS_WRITTEN, |it| it.0)
        })
        .collect();
    let total: f64 = costs.iter().sum();
    let mut found = Vec::new();
    let mut add = |schedule: Schedule, cost: f64| {
        if schedule == current {
            return;
        }
        let (mut changes, mut sentences): (Vec<Change>, Vec<String>) = (Vec::new(), Vec::new());
        for (at, (part, before)) in schedule.launches.iter().zip(&current.launches).enumerate() {
            let (of, Ok(nest)) = &launches[at] else {
                continue;
            };
            if part == before {
                continue;
            }
            let mut said = part.changes(before, nest);
            if *before == Part::AsWritten && 1 < of.len() {
                said.insert(
                    0,
                    (Change::FuseLaunches, "Put the launches together.".into()),
                );
            }
            let words: Vec<String> = said.iter().map(|it| it.1.clone()).collect();
            sentences.push(format!("In `{}`: {}", nest.kernel, words.join(" ")));
            for (change, _) in said {
                if !changes.contains(&change) {
                    changes.push(change);
                }
            }
        }
        found.push(Proposal {
            schedule,
            score: cost.max(1.0).ln(),
            changes,
            text: sentences.join("\n"),
        });
    };
    for (at, ways) in ways.iter().enumerate() {
        for (cost, part) in ways.iter().take(MOST) {
            let mut schedule = current.clone();
            schedule.launches[at] = part.clone();
            add(schedule, total - costs[at] + cost);
        }
    }
    // All launches at once.
    if 1 < launches.len() {
        for rank in 0..MOST / 4 {
            let mut schedule = current.clone();
            let mut cost = 0.0;
            for (at, ways) in ways.iter().enumerate() {
                match ways.get(rank.min(ways.len().saturating_sub(1))) {
                    Some((own, part)) => {
                        schedule.launches[at] = part.clone();
                        cost += own;
                    }
                    None => cost += costs[at],
                }
            }
            add(schedule, cost);
        }
    }
    found
}
