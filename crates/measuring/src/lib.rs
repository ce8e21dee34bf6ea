//! Costs that are measured, and therefore noisy.
//!
//! Kernels are measured against each other in pairs ([`compare`]), on a device that one process
//! has at a time ([`Lease`]), each against the same kernel ([`SharedBase`]); what is told is a
//! ratio with an interval. What a measurement is, the family says ([`Sides`]).

mod base;
mod compared;
mod device_file;
mod lease;
mod pairs;
pub mod statistics;
mod twin;

pub use base::SharedBase;
pub use compared::{Compared, measured_profile};
pub use device_file::DeviceFile;
pub use lease::Lease;
pub use pairs::{Effort, Paired, Side, Sides, compare};
pub use twin::{Twin, TwinBench, clock_changed};
