//! What is known of a target, from documents.
//!
//! Documents become passages with identifiers that stay. A model says which of them are of use
//! for what, and then writes each part as statements that each cite passages with words of them.
//! What no passage supports is dropped: the words must stand in the passage, and so must the
//! names that a section explains and the code of examples; numbers must stand in the words, and
//! what they deny must not be said. A model that merges
//! statements chooses among those that are left and their order, and adds nothing.
//!
//! Documents are material that strangers wrote. They are shown between marks that they cannot
//! know; what a model makes of what they ask for is data all the same.

mod asking;
mod assembly;
mod builder;
mod documents;
mod estimate;
mod lint;
mod negation;
mod numbers;
mod part;
mod prompt;
mod quotation;
mod record;
mod statement;

pub use assembly::{Assembly, evidence_text};
pub use builder::{BuildError, Builder, BuilderSettings, Built, Incomplete, Progress};
pub use documents::{Documents, Limits, Passage, Place, ReadError, read_documents};
pub use estimate::{Estimate, Range};
pub use lint::{Figure, Finding, LintInput, lint};
pub use part::Part;
pub use quotation::{Citation, Flaw};
pub use record::{Record, RecordError};
pub use statement::Statement;

/// Parts that `tests/suite` looks at one by one. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::negation::{around, contradicts};
    pub use crate::numbers::numbers_stand;
    pub use crate::quotation::plain;
}
