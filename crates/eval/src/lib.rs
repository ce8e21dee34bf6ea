//! The evaluation cascade: check, build, test, time.

pub mod build;
mod evaluator;
mod file_store;
pub mod toolchain;

pub use evaluator::{EvalError, Evaluator};
