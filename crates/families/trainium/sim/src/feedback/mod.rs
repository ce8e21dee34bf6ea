//! What a timed run tells the one who wants the kernel faster, in the words of the profiler.

mod critical;
mod report;

pub use critical::{Step, Wait};
pub use report::{EngineUse, LineUse, MemorySample, Report, TensorTraffic};

use crate::timing::{Machine, Timeline};
use crate::trace::Trace;

/// Draws up the report of a run.
#[must_use]
pub fn report(trace: &Trace, timeline: &Timeline, machine: &Machine) -> Report {
    let mut report = report::measure(trace, timeline, machine);
    report.critical_path = critical::path(timeline);
    report
}
