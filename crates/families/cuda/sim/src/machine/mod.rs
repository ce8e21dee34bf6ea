//! The machine: blocks of threads on memory.

mod access;
mod alu;
mod block;
mod collectives;
mod convert;
mod execute;
mod findings;
mod launch;
mod math;
mod matrix;
mod memory;
mod observer;
mod shadow;
mod warp;

pub use findings::{Fault, Finding, Thread};
pub use launch::{Launch, Limits, Order, Run};
pub use memory::DeviceMemory;
pub use observer::{Access, Observer};
