//! Source transformations that need no model: the interface.

use crate::menu::MenuItem;
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Why a rewriter has nothing to offer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The kernel is not understood; the text says where and why.
    #[error("{0}")]
    NotUnderstood(String),
    /// No transformation applies, or not that many beside those asked for before.
    #[error("no further transformation applies")]
    Nothing,
    /// A script cannot be carried out; the text says why.
    #[error("{0}")]
    Script(String),
    /// The payload of a plan is not the rewriter's.
    #[error("the plan's payload is not the rewriter's: {0}")]
    Payload(String),
}

/// Something in a kernel that the rewriter does not understand and leaves as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotUnderstood {
    /// Line of the source, from 1.
    pub line: usize,
    /// Why, in words.
    pub reason: String,
}

/// One kind of change that a rewriter makes. Tables in the documentation are written from these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KindOfChange {
    /// Name, kebab-case.
    pub name: &'static str,
    /// Menu items that it carries out, the best fitting first. A target whose menu has none
    /// of them makes the change pay for it when plans are chosen.
    pub menu_items: &'static [&'static str],
    /// What it does, and to which kernels: one sentence without its full stop.
    pub does: &'static str,
}

/// A plan of a rewriter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewritePlan {
    /// Identifier of the menu item.
    pub menu_item: String,
    /// The plan in words.
    pub text: String,
    /// The plan as JSON.
    pub payload: String,
}

/// A draft that was asked for in an earlier iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierDraft {
    /// The kernel that it was asked for if that is another one, where it came to nothing: it was
    /// not right, or cut off because it is slow. Absent for what was asked for the kernel itself.
    pub failed_on: Option<Arc<str>>,
    /// Whether what it made was built and left wrong results.
    pub is_wrong: bool,
    /// The payload of its plan.
    pub payload: String,
    /// Its number among the drafts of the plan.
    pub draft: u32,
}

/// What a request for a plan says besides the kernel.
#[derive(Clone, Copy, Debug)]
pub struct PlanChoice<'request> {
    /// The menu.
    pub menu: &'request [MenuItem],
    /// Number of the iteration; another one ranks close proposals differently.
    pub iteration: u32,
    /// The first place of the beam that holds the parent; later places choose more freely.
    pub place: u32,
    /// Number of the plan for this parent, over all its places: each gets another proposal.
    pub plan: u32,
    /// Drafts of the kernel that earlier iterations asked for: plans go on behind them. Behind
    /// those are drafts of other kernels that failed, the newest of them.
    pub earlier: &'request [EarlierDraft],
}

/// Proposes source transformations without any language model.
///
/// Replies depend on the request only. A draft may be wrong; the evaluator has
/// the last word.
pub trait Rewriter: fmt::Debug + Send + Sync {
    /// Returns the kinds of changes that it makes.
    fn kinds(&self) -> Vec<KindOfChange> {
        Vec::new()
    }

    /// Returns what of a kernel is not understood; nothing where all is.
    fn not_understood(&self, source: &str) -> Vec<NotUnderstood> {
        let _ = source;
        Vec::new()
    }

    /// Returns what keeps a kernel from becoming faster as far as this can be seen: what was looked
    /// for, and what stopped it. One sentence each without a full stop, the most important first; it
    /// may take as long as a plan. Nothing where the rewriter cannot tell.
    fn obstacles(&self, source: &str) -> Vec<String> {
        let _ = source;
        Vec::new()
    }

    /// Tells models how a plan may name transformations and their parameters, so that it
    /// needs nobody who writes its code: a script. Absent if none can.
    fn script_format(&self) -> Option<&str> {
        None
    }

    /// Returns up to `count` scripts that apply to a kernel, each with what it does in
    /// words, the most promising first.
    fn scripts(&self, source: &str, count: usize) -> Vec<(String, String)> {
        let _ = (source, count);
        Vec::new()
    }

    /// Makes the payload of a plan of a script.
    ///
    /// # Errors
    /// A [`RewriteError`] if it is no script, or cannot be carried out on the kernel.
    fn of_script(&self, source: &str, script: &str) -> Result<String, RewriteError> {
        let _ = (source, script);
        Err(RewriteError::Nothing)
    }

    /// Describes one transformation of the kernel.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood or there are not
    /// that many transformations.
    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError>;

    /// Carries out a plan; each draft of it may be another variant.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel or the payload is not understood, or
    /// the plan has no such variant.
    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError>;
}
