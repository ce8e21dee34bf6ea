//! What rewriters share: kernels and what they were made of, the order of proposals, plans and
//! their drafts, memory of kernels.
//!
//! A rewriter finds proposals for a kernel and scores them. Here they are put into the order in
//! which plans try them: chance perturbs it, so that iterations and places differ; what the menu
//! does not name and what is like a better one comes later; what an earlier iteration asked for is
//! left out. All of it depends on the kernel and
//! the request alone.

mod earlier;
mod memory;
mod payload;
mod ranking;
mod source;

pub use earlier::{Earlier, failed, wrong};
pub use memory::Memory;
pub use payload::{DRAFTS, Drafts, of_payload, payload};
pub use ranking::{Chance, Proposed, Ranking, kernel_seed, menu_item};
pub use source::{Source, is_made};
