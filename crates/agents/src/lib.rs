//! Proposers: who writes plans and drafts.
//!
//! One trait, [`Proposer`], and one file per kind of proposer. Prompts are
//! templates plus data; no prompt text stands in Rust code.

mod asking;
mod attempts;
mod code_reply;
mod complaint;
mod edit_reply;
mod ensemble;
mod estimate;
mod facts;
mod feedback;
mod isa_choice;
mod json_reply;
mod llm_proposer;
mod llm_settings;
mod llm_tasks;
mod plan_reply;
mod prompt;
mod prompt_context;
mod proposer;
mod replay;
mod rewriter;

pub use autocomp_llm::{ReservationError, ReservationJournal};
pub use code_reply::extract_kernel;
pub use complaint::Complaint;
pub use edit_reply::{Edit, apply_edits, kernel_from_edits, parse_edits};
pub use ensemble::{Ensemble, Seat};
pub use estimate::{Estimate, ModelEstimate, RunShape};
pub use facts::{
    BufferFacts, ExampleFacts, IsaFacts, PeakFacts, PromptFacts, ToleranceFacts, WorkFacts,
};
pub use json_reply::find as json_in_reply;
pub use llm_proposer::{LlmProposer, PromptForm, exchange_of, usage_of};
pub use llm_settings::{CodeForm, IsaChoice, LlmProposerSettings, ShownShares, StructuredOutput};
pub use llm_tasks::parse_menu;
pub use plan_reply::{PlanReply, parse_plan, parse_schedule};
pub use prompt::environment as prompt_environment;
pub use prompt::{Phase, Prompt, PromptInput, ScriptFacts, TemplateError, Templates};
pub use proposer::{
    Ancestor, Background, Exchange, IdeasRequest, ImplementRequest, Kinship, OtherKernel,
    PlanRequest, ProposeError, ProposeErrorKind, Proposer, RepairRequest, Reply, Tried,
};
pub use replay::{Recording, Replay};
pub use rewriter::RewriterProposer;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::complaint::{Complaint, texts};
    pub use crate::isa_choice::parse_sections;
}
