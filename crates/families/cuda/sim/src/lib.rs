//! A simulated NVIDIA GPU: kernels in PTX are run block by block and checked; what they did is
//! the trace that a model of time reads.
//!
//! Kernels are hostile: every text gives an error or a kernel, every run is bounded in steps
//! and memory, reads nothing but its buffers, and ends the same each time.

pub mod calibration;
pub mod decode;
mod half_floats;
pub mod machine;
pub mod ptx;
pub mod timing;

pub use decode::{Kernel, decode};
pub use ptx::{Line, Module, PtxError, parse};
