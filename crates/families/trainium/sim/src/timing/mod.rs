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
pub use machine::{EngineRates, Machine, Passes, TransferRates};
pub use schedule::{Scheduled, Slot, Timeline};
pub use totals::{loading_iterations, totals};

use crate::trace::Trace;

/// Times a trace.
#[must_use]
pub fn time(trace: &Trace, machine: &Machine, passes: Passes) -> Timeline {
    let plan = memory::plan(trace, machine, passes);
    schedule::run(
        plan,
        machine,
        passes.rolled_loops && !machine.overlapping_loops,
        &[],
    )
}
