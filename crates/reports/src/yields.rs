//! What was tried and what came of it, by menu item or by proposer.

use crate::kernels::Kernel;
use autocomp_core::{Outcome, Usage};
use serde::Serialize;
use std::collections::BTreeMap;

/// What came of kernels of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Yield {
    /// The menu item or the proposer.
    pub name: String,
    /// Kernels evaluated.
    pub kernels: u32,
    /// Of these, those that were right.
    pub right: u32,
    /// Of these, those that cost less than the kernel that they were made from, by more
    /// than the spread of both.
    pub faster: u32,
    /// Steps on the way to the best kernel.
    pub in_chain: u32,
    /// By what factor these steps made it faster, together.
    pub factor: f64,
    /// The largest gain over a parent.
    pub best_gain: Option<f64>,
    /// What calls of models used for the kernels; calls for a plan count once for each
    /// kernel of it.
    pub usage: Usage,
}

/// Sums up kernels by what `name` says of them, most kernels first.
pub(crate) fn yields(kernels: &[Kernel], name: impl Fn(&Kernel) -> Option<&str>) -> Vec<Yield> {
    let mut yields: BTreeMap<&str, Yield> = BTreeMap::new();
    for kernel in kernels {
        let Some(name) = name(kernel) else { continue };
        let it = yields.entry(name).or_insert_with(|| Yield {
            name: name.to_owned(),
            factor: 1.0,
            ..Yield::default()
        });
        it.kernels += 1;
        it.right += u32::from(kernel.outcome.is_right());
        it.usage.add(&kernel.usage);
        let before = kernel.parent.and_then(|parent| kernels[parent].cost);
        let is_faster = kernel
            .cost
            .zip(before)
            .is_some_and(|(cost, before)| cost.beats(before));
        it.faster += u32::from(is_faster);
        if let Some(gain) = kernel.gain {
            it.best_gain = Some(it.best_gain.map_or(gain, |best| best.max(gain)));
            if kernel.in_chain {
                it.in_chain += 1;
                it.factor *= gain;
            }
        }
    }
    let mut yields: Vec<Yield> = yields.into_values().collect();
    yields.sort_by(|a, b| b.kernels.cmp(&a.kernels).then(a.name.cmp(&b.name)));
    yields
}

/// What a worker on another machine has done for a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkerShare {
    /// Its name, and where it measured, if it did: `desk on lab/0`.
    pub worker: String,
    /// Kernels evaluated.
    pub kernels: u32,
    /// Of these, those that were right.
    pub right: u32,
    /// Of these, those that could not be judged.
    pub faults: u32,
    /// Seconds that the evaluations took, without the way there and back.
    pub wall_s: f64,
}

/// Sums up kernels by the workers that evaluated them, most kernels first; none where all were
/// evaluated on this machine.
pub(crate) fn worker_shares(kernels: &[Kernel]) -> Vec<WorkerShare> {
    let mut shares: BTreeMap<String, WorkerShare> = BTreeMap::new();
    for kernel in kernels {
        let Some(worker) = &kernel.evaluation.worker else {
            continue;
        };
        let name = match &kernel.evaluation.device {
            Some(device) => format!("{worker} on {device}"),
            None => worker.clone(),
        };
        let it = shares.entry(name.clone()).or_insert_with(|| WorkerShare {
            worker: name,
            ..WorkerShare::default()
        });
        it.kernels += 1;
        it.right += u32::from(kernel.outcome.is_right());
        it.faults += u32::from(kernel.outcome == Outcome::Fault);
        let tiers = kernel.evaluation.tiers.iter();
        it.wall_s += tiers.map(|it| it.wall_ns.0 as f64 / 1e9).sum::<f64>();
    }
    let mut shares: Vec<WorkerShare> = shares.into_values().collect();
    shares.sort_by(|a, b| b.kernels.cmp(&a.kernels).then(a.worker.cmp(&b.worker)));
    shares
}
