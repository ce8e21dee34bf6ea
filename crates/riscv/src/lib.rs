//! RV64IMAFDC interpreter with the timing of an in-order Rocket core.
//!
//! Pure and synchronous: reads no clock, file, environment or randomness.
//! It knows nothing of Gemmini; custom instructions and everything below the
//! L1 caches sit behind [`Coprocessor`].

mod coprocessor;
mod fault;
mod memory;

pub use coprocessor::{Coprocessor, LineAccess, RoccCommand, RoccReply};
pub use fault::{AccessKind, Fault, FaultKind};
pub use memory::{Memory, Region, RegionAccess};
