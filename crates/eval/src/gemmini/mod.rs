//! The evaluator for Gemmini targets: kernels run on the simulator.

mod attribution;
mod engine;
mod evaluator;
mod feedback;
mod findings;
mod layout;
mod oracle;
mod profiling;
mod session;
mod trial;

pub use evaluator::{EvaluatorSettings, GemminiEvaluator, Profiled};
