//! Targets and problems as folders of data, built in or a user's own.
//!
//! [`Catalog`] knows which there are and loads them on demand, so that one
//! broken folder of a user never hides the others. A target is a folder with
//! a `target.toml`, a problem one with a `problem.toml`; a problem folder
//! that also has a `family.toml` is a template for many shapes.

mod catalog;
mod data_type;
mod distribution;
mod error;
mod example;
mod family;
mod file_bytes;
mod isa;
mod menu;
mod problem;
mod short_float;
mod suite;
mod target;
mod toml_text;
mod tree;

pub use catalog::{Added, Catalog};
pub use data_type::DataType;
pub use distribution::{Distribution, Part};
pub use error::{CatalogError, Invalid, nearest};
pub use example::Example;
pub use isa::{Identifiers, IsaSection};
pub use problem::{
    Argument, Axis, AxisPosition, Buffer, BufferArgument, InputSet, Mixture, Problem, Ranking,
    ReferenceLanguage, Role, Tolerance, TypeArgument, Work,
};
pub use suite::Suite;
pub use target::{Constant, Roofline, Rules, Target};

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::error::{edits, nearest};
    pub use crate::problem::signature::contradiction;
}
