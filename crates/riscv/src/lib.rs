//! RV64IMAFDC interpreter with the timing of an in-order Rocket core; a hart may also be given
//! Zba, Zbb, Zbs, Zfh and a vector unit (V 1.0).
//!
//! Pure and synchronous: reads no clock, file, environment or randomness.
//! It knows no accelerator; custom instructions sit behind [`Rocc`], everything
//! below the L1 caches behind [`BelowL1`].

mod access;
mod arithmetic;
mod cache;
mod code;
mod compressed;
mod config;
mod coprocessor;
mod csr;
mod decode;
mod doubt;
mod fault;
mod float;
mod formats;
mod hart;
mod instruction;
mod memory;
mod pipeline;
mod predictor;
mod record;
mod run;
mod schedule;
mod scoreboard;
mod soft_float;
mod statistics;
mod steps;
mod trap;
mod vector;

pub use compressed::expand;
pub use config::{CacheConfig, CoreConfig};
pub use coprocessor::{BelowL1, Coprocessor, LineAccess, Rocc, RoccCommand, RoccReply};
pub use decode::decode;
pub use fault::{AccessKind, Fault, FaultKind};
pub use formats::{FloatFormats, float_formats};
pub use hart::{Exit, Hart, Limits, Mode};
pub use instruction::{Decoded, Extensions, Instruction, Operation};
pub use memory::{Memory, Region, RegionAccess};
pub use scoreboard::{
    BranchTiming, Cause, MemoryLevel, ScalarClass, ScalarCost, ScoreboardConfig, Spent, VectorCost,
    VectorTiming,
};
pub use statistics::CoreStatistics;
pub use vector::{Agnostic, FILLING, FirstLoads, VectorClass, VectorUnit};

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::doubt::{Doubts, NEAR, WINDOW};
    pub use crate::float::divider::{divider_cycles, plain_divider_cycles};
    pub use crate::float::host::{
        plain_fused_single, plain_product_double, plain_product_single, plain_sum_double,
        plain_sum_single,
    };
    pub use crate::float::{FloatForm, FloatOperation, FusedForm, execute, execute_fused};
    pub use crate::pipeline::data::Store;
    pub use crate::predictor::targets::{PAGE_SHIFT, SLOTS, Targets};
    pub use crate::predictor::transfer::Transfer;
    pub use crate::record::ending::{Buffered, Buffering, Ending};
    pub use crate::soft_float::{
        DIVIDE_BY_ZERO, DOUBLE, Format, INEXACT, INVALID, OVERFLOW, Outcome, Rounding, SINGLE,
        UNDERFLOW,
    };

    /// An ending as it is read where it was recorded.
    pub fn recorded(ending: &Ending) -> Ending {
        Ending::of(&ending.record(), &ending.record())
    }
}
