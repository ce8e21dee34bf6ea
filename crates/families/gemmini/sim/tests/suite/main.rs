//! Tests of this crate from outside, in one program, which links once.

mod calibration;
mod counter_program;
mod counters;
mod fuzz;
mod machine_limits;
mod scalar_timing;
