//! The machine: blocks of threads on memory.

mod access;
mod alu;
mod atomics;
mod barriers;
mod block;
mod collectives;
mod convert;
mod copies;
mod delays;
mod execute;
mod findings;
mod fragments;
mod launch;
mod math;
mod matrix;
mod meetings;
mod memory;
mod observer;
mod packing;
mod places;
mod precedence;
mod rows;
mod shadow;
mod specials;
mod warp;
mod watch;

pub use findings::{Fault, Finding, LateRead, Refusal, Thread};
pub use launch::{Launch, Limits, Order, Run};
pub use memory::{DeviceMemory, HOST};
pub use observer::{Access, Observer};
