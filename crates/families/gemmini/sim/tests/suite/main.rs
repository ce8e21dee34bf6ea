//! Tests of this crate from outside, in one program, which links once.

mod calibration;
mod counters;
mod fuzz;
mod machine_limits;
mod programs;
mod scalar_timing;
