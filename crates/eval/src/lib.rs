//! What all kinds of targets share when kernels are evaluated.
//!
//! A kernel comes in as text and an [`Evaluation`](autocomp_core::Evaluation)
//! goes out. Kernels are hostile: how they are built and run is a family's
//! affair, and the verdict is taken from memory that the host reads
//! afterwards, never from anything that a kernel says. Failed kernels are
//! data; an [`EvalError`] means that autocomp or its environment failed.
//!
//! Everything that is computed twice is kept in a cache folder that processes
//! share: installed compilers, runtimes, builds, right answers, evaluations.
//! The library reads no environment; the folder and `PATH` are passed in.

pub mod cache;
pub mod comparison;
pub mod doubts;
mod evaluations;
mod evaluator;
mod facts;
mod family;
mod file_store;
pub mod given_file;
pub mod inputs;
pub mod isolation;
pub mod profile;
mod sentences;
mod settings;
pub mod simulator;
pub mod symmetry;
pub mod text;
mod thread_count;
mod tier_clock;
pub mod timeline;
mod verdict;

pub use evaluations::Evaluations;
pub use evaluator::{EvalError, Evaluator};
pub use facts::{BenchFacts, Setup, WantedTools, kernel_key};
pub use family::{
    Bench, Family, Finding, Opening, Surroundings, check_arguments, read_machine, unusable_machine,
};
pub use file_store::{CachePart, Extent, FileStore, unwritable};
pub use sentences::{BuiltIn, ByName, Paragraph, Sentences, filled};
pub use settings::EvaluatorSettings;
pub use thread_count::{Busy, ThreadCount};
pub use tier_clock::{TierClock, nanos};
pub use verdict::Verdict;
