//! Words shared by every crate: ids, plans, candidates, evaluations, events.
//!
//! This crate knows no other crate of the workspace, reads no clock, no file
//! and no environment. Everything here is plain data with a stable
//! serialised form; the glossary (`docs/glossary.md`) defines each noun.

mod by_hash;
mod cost;
mod evaluation;
mod event;
mod hash;
mod ids;
mod language;
mod lesson;
mod menu;
mod plan;
mod quantity;
mod rewriter;
mod settings;

pub use by_hash::ByHash;
pub use cost::{Cost, CostObject, Unit, baseline_cost_fields, cost_fields};
pub use evaluation::{
    Diagnostic, Evaluation, Feedback, LineCost, Measurement, Outcome, Ratio, Severity,
    SourceLocation, Stage, TierCost,
};
pub use event::{
    Confirmed, Confirmer, DraftRecord, Drafted, EVENT_FORMAT, Evaluated, Event, ExchangeRecord,
    Extended, FinishReason, Finished, Ideas, IterationClosed, IterationOpened, NewCandidate,
    PlanKind, PlanRecord, Planned, Proposal, Reserved, Resumed, RunStarted, StopReason, Stopped,
    TakenKernel, canonical_history,
};
pub use hash::{ContentHash, ContentHasher, ParseHashError};
pub use ids::{CandidateId, Purpose, TaskKey};
pub use language::{Expansion, Flaw, Language};
pub use lesson::{Lesson, one_line};
pub use menu::{MenuItem, Scope};
pub use plan::{Draft, Plan, Usage};
pub use quantity::{Nanos, Seed, UsdMicros};
pub use rewriter::{
    EarlierDraft, KindOfChange, NotUnderstood, PlanChoice, RewriteError, RewritePlan, Rewriter,
};
pub use settings::{Duplicates, Exhaustive, SearchSettings, SettingError};
