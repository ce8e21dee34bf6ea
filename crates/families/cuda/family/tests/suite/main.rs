//! Tests of the family of NVIDIA GPUs.

mod asynchronous;
mod benches;
mod calls;
mod cheats;
mod defects;
mod device;
mod dialect;
mod feedback;
mod host_calls;
mod kernels;
mod matrices;
mod plans;
mod remedies;
mod targets;
mod texts;
#[path = "../../../../../eval/tests/told/mod.rs"]
mod told;
