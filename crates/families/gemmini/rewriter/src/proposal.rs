//! Finds the schedules of what a kernel computes, and ranks them.

use crate::chain;
use crate::graph::Chain;
use crate::lift::Lifted;
use crate::limits::HardwareLimits;
use crate::schedule::{self, Schedule};
use autocomp_core::KindOfChange;

/// The name of a kernel scheduled anew, in scripts and tables.
pub(crate) const RESCHEDULE: &str = "reschedule";

/// Schedules of matrix products, convolutions and additions.
pub(crate) const SCHEDULES: KindOfChange = KindOfChange {
    name: RESCHEDULE,
    menu_items: &["hardware-loop", "change-tiling"],
    does: "writes what the kernel computes anew, with the loops of the hardware",
};

/// Schedules of chains of small products.
pub(crate) const CHAINS: KindOfChange = KindOfChange {
    name: RESCHEDULE,
    menu_items: &["less-data-movement", "merge-operations", "use-accelerator"],
    does: "writes a chain of small products anew, in tiles that stay in local memory",
};
/// How much worse each schedule is taken to be than the one that is ranked
/// before it, as the natural logarithm of cycles: bounds are often too far or too close.
const RANK: f64 = 0.004;

/// One way to schedule a kernel anew.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The numbers of the schedule.
    pub parameters: Vec<i64>,
    /// The schedule in words.
    pub text: String,
    /// Menu items that it carries out, the best fitting first.
    pub menu_items: &'static [&'static str],
    /// Whether it differs little from the schedule that the kernel has.
    pub is_near: bool,
    /// What proposals are ranked by, low is good.
    pub score: f64,
}

/// Returns the schedules of what a kernel computes, the most promising first.
pub(crate) fn reschedules(lifted: &Lifted, limits: &HardwareLimits) -> Vec<Proposal> {
    let schedules = schedule::schedules(lifted, limits);
    let is_near = |parameters: &[i64]| schedule::is_near(lifted, parameters, limits);
    ranked(schedules, SCHEDULES, &is_near)
}

/// Returns the schedules of a chain of small products, the most promising first.
pub(crate) fn chains(chain: &Chain, limits: &HardwareLimits) -> Vec<Proposal> {
    let schedules = chain::schedules(chain, limits);
    ranked(schedules, CHAINS, &|_| false)
}

fn ranked(
    schedules: Vec<Schedule>,
    kind: KindOfChange,
    is_near: &dyn Fn(&[i64]) -> bool,
) -> Vec<Proposal> {
    let schedules = schedules.into_iter().enumerate();
    schedules
        .map(|(rank, schedule)| Proposal {
            is_near: is_near(&schedule.parameters),
            parameters: schedule.parameters,
            text: schedule.text,
            menu_items: kind.menu_items,
            score: RANK * rank as f64,
        })
        .collect()
}
