//! From a trace to a time: what the compiler does to it, and when each engine runs what.
//!
//! Facts: clocks, widths and cost formulas as the vendor documents them; overheads and the habits
//! of the compiler inferred from published latencies.

mod accumulators;
mod banks;
mod cores;
mod cost;
mod dependences;
mod engines;
mod join;
mod loads;
mod machine;
mod memory;
mod ready;
mod room;
mod schedule;
mod simplify;
mod sink;
mod spill;
mod totals;
mod uses;
mod vectorise;

pub use cores::{Cores, time_cores};
pub(crate) use machine::COMPILER_SBUF;
pub use machine::{EngineRates, Machine, Passes, TransferRates};
pub use schedule::{Scheduled, Slot, Timeline};
pub use totals::{loading_iterations, totals};

use crate::trace::Trace;
use schedule::Schedule;

/// Times the trace of a core that waits for no other.
#[must_use]
pub fn time(trace: &Trace, machine: &Machine, passes: Passes) -> Timeline {
    let mut alone = schedule(trace, machine, passes);
    while let Some(since) = alone.run_to_meeting() {
        alone.meet(since);
    }
    alone.into_timeline()
}

/// The schedule of a trace, of which nothing has run.
fn schedule<'a>(trace: &Trace, machine: &'a Machine, passes: Passes) -> Schedule<'a> {
    let rolled_loops = passes.rolled_loops && !machine.overlapping_loops;
    Schedule::new(memory::plan(trace, machine, passes), machine, rolled_loops)
}
