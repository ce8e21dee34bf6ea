//! Tests of this crate from outside, in one program, which links once.

mod differential;
mod extensions;
mod formats;
#[path = "../vectors/interpreter.rs"]
mod interpreter;
mod merged_steps;
mod parts;
mod robustness;
#[path = "../rocket/mod.rs"]
mod rocket;
mod vector_recordings;
mod vector_rules;
#[allow(dead_code, reason = "the fuzzer uses the rest")]
#[path = "../vectors/mod.rs"]
mod vectors;
