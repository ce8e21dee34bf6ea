//! The evaluation cascade: check, build, test, time.
//!
//! A kernel comes in as text and an [`Evaluation`](autocomp_core::Evaluation)
//! goes out. Kernels are hostile: they are compiled in a sandbox and run on a
//! simulated machine, and the verdict is taken from memory that the host reads
//! afterwards, never from anything that a kernel says. Failed kernels are
//! data; an [`EvalError`] means that autocomp or its environment failed.
//!
//! Everything that is computed twice is kept in a cache folder that processes
//! share: installed compilers, runtimes, builds, right answers, evaluations.
//! The library reads no environment; the folder and `PATH` are passed in.

mod bottleneck;
pub mod build;
mod cause;
mod check;
mod comparison;
mod evaluator;
mod file_store;
mod gemmini;
mod inputs;
pub mod isolation;
pub mod profile;
mod stock;
mod thread_count;
pub mod timeline;
pub mod toolchain;

pub use evaluator::{EvalError, Evaluator};
pub use gemmini::{EvaluatorSettings, GemminiEvaluator, Profiled};
