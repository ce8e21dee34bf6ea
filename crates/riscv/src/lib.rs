//! RV64IMAFDC interpreter with the timing of an in-order Rocket core.
//!
//! Pure and synchronous: reads no clock, file, environment or randomness.
//! It knows nothing of Gemmini; custom instructions and everything below the
//! L1 caches sit behind [`Coprocessor`].

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
mod hart;
mod instruction;
mod memory;
mod pipeline;
mod predictor;
mod record;
mod run;
mod schedule;
mod soft_float;
mod statistics;
mod steps;
mod trap;

pub use compressed::expand;
pub use config::{CacheConfig, CoreConfig};
pub use coprocessor::{Coprocessor, LineAccess, RoccCommand, RoccReply};
pub use decode::decode;
pub use fault::{AccessKind, Fault, FaultKind};
pub use hart::{Exit, Hart, Limits, Mode};
pub use instruction::{Decoded, Instruction, Operation};
pub use memory::{Memory, Region, RegionAccess};
pub use statistics::CoreStatistics;
