//! What happened in a run, as one model, and as figures, pages and tables made of it.
//!
//! [`RunData`] is the model; everything else here reads it. No part of this crate
//! evaluates anything, prints, or knows a family.

pub mod change;
mod confirmation;
mod export;
mod kernels;
mod page;
mod references;
mod report;
mod run;
pub mod svg;
mod yields;

pub use confirmation::confirmed_text;
pub use export::{COLUMNS, csv, json_lines, parquet, spans, write_mlflow};
pub use kernels::Kernel;
pub use page::unified;
pub use references::{Reference, references, write_references};
pub use report::{ReportError, ReportFormat, report};
pub use run::{Improvement, Iteration, RunData, Texts};
pub use yields::{WorkerShare, Yield};

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::export::field;
    pub use crate::export::parquet::{Kind, file};
    pub use crate::svg::axis::{Axis, spread};
}
