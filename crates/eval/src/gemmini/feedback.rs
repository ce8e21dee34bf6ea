//! What the counters of a timed call say about the kernel.

use autocomp_core::{Cycles, Feedback};
use autocomp_sim::CallReport;
use autocomp_targets::Problem;

/// Returns feedback for the ranked call.
pub(super) fn feedback(report: &CallReport, ideal: Cycles, problem: &Problem) -> Feedback {
    let mut feedback = Feedback::default();
    let counters = &mut feedback.counters;
    counters.insert("instructions".into(), report.instructions as f64);
    counters.insert("issue_cycles".into(), report.issue_cycles as f64);
    counters.insert("macs".into(), problem.work.macs as f64);
    let share = 100.0 * ideal.0 as f64 / report.cycles.max(1) as f64;
    feedback.bottleneck = format!("The kernel reaches {share:.1} % of peak.");
    feedback
}
