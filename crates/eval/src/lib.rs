//! The evaluation cascade: check, build, test, time.

mod evaluator;

pub use evaluator::{EvalError, Evaluator};
