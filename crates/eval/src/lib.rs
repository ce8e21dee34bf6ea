//! The evaluation cascade: check, build, test, time.

pub mod build;
mod check;
mod comparison;
mod evaluator;
mod file_store;
mod gemmini;
mod inputs;
pub mod toolchain;

pub use evaluator::{EvalError, Evaluator};
pub use gemmini::{EvaluatorSettings, GemminiEvaluator};
