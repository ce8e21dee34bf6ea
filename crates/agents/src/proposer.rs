//! The trait that the rewriter, language models and replay share.

use autocomp_core::{
    Cost, Draft, EarlierDraft, Evaluation, Lesson, MenuItem, Outcome, Plan, PlanKind, Seed,
    TaskKey, Usage,
};
use autocomp_llm::ReservationJournal;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A kernel on the way from the baseline to another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    /// Its source.
    pub kernel: String,
    /// Its cost.
    pub cost: Option<u64>,
    /// The menu item by which it was changed into the next one.
    pub menu_item: String,
    /// The plan by which it was changed.
    pub plan: String,
}

/// How the kernel that something was tried on relates to the one asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kinship {
    /// It is the same.
    Itself,
    /// The one asked about was made from it.
    Parent,
    /// Both were made from the same kernel.
    Sibling,
}

/// Something that was tried before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// On which kernel.
    pub on: Kinship,
    /// The menu item chosen.
    pub menu_item: String,
    /// The plan in words.
    pub plan: String,
    /// How the code ended; absent if none came of it.
    pub outcome: Option<Outcome>,
    /// Cost of the result, if it was right.
    pub cost: Option<Cost>,
    /// Cost of the kernel that it was tried on.
    pub cost_before: Cost,
    /// Whether the result is the kernel that it was tried on.
    pub is_same: bool,
    /// Why it failed, or what limits the result; empty if that is not known.
    pub finding: String,
}

/// A second kernel that a plan is about.
#[derive(Clone, Debug)]
pub struct OtherKernel {
    /// Its source.
    pub kernel: String,
    /// Its evaluation.
    pub evaluation: Evaluation,
}

/// What a proposer needs to write one plan.
#[derive(Clone, Debug)]
pub struct PlanRequest {
    /// The task.
    pub key: TaskKey,
    /// The first place of the iteration that holds the parent.
    pub place: u32,
    /// Number of the plan among those of its kind for the parent in the iteration, over all its
    /// places.
    pub number: u32,
    /// The task's own random stream.
    pub seed: Seed,
    /// Iterations of the whole run, for the phase line.
    pub iterations: u32,
    /// Source of the parent kernel.
    pub kernel: String,
    /// Evaluation of the parent kernel.
    pub evaluation: Arc<Evaluation>,
    /// The kernels that the parent came from, the oldest first, as many as
    /// [`Proposer::background`] says; the parent itself is not among them.
    pub ancestors: Arc<[Ancestor]>,
    /// What was tried on the parent and its relatives, the most instructive first; as much
    /// as [`Proposer::background`] says.
    pub tried: Arc<[Tried]>,
    /// Drafts of the parent that closed iterations asked for by plans with a payload, if
    /// [`Proposer::background`] wants them.
    pub earlier: Arc<[EarlierDraft]>,
    /// What earlier runs have taught.
    pub lessons: Arc<[Lesson]>,
    /// The model to be asked first, if that is not by turns.
    pub first_asked: Option<String>,
    /// What the plan is for.
    pub kind: PlanKind,
    /// The menu after dropout; never empty, and with the `other` item unless
    /// the plan is set aside for an item, which then stands alone.
    pub menu: Vec<MenuItem>,
    /// Items of the menu that the plan does not see.
    pub hidden: Vec<MenuItem>,
    /// The second kernel, if the plan is about two.
    pub other: Option<OtherKernel>,
    /// The step of another run's schedule to repeat on this kernel, if the plan is for one.
    pub reused: Option<Plan>,
}

/// What a proposer needs to turn a plan into code.
#[derive(Clone, Debug)]
pub struct ImplementRequest {
    /// The task.
    pub key: TaskKey,
    /// The task's own random stream.
    pub seed: Seed,
    /// Source of the parent kernel.
    pub kernel: String,
    /// Evaluation of the parent kernel.
    pub evaluation: Arc<Evaluation>,
    /// The plan to carry out.
    pub plan: Plan,
    /// Number of the plan among those for the parent in the iteration, over all its places.
    pub number: u32,
    /// Drafts of the parent that closed iterations asked for by plans that say the same, if
    /// [`Proposer::background`] wants them counted.
    pub repeats: u32,
    /// The second kernel, if the plan is about two.
    pub other: Option<OtherKernel>,
    /// The model to be asked first, if that is not by turns.
    pub first_asked: Option<String>,
}

/// What a proposer needs to write menu items for a kernel.
#[derive(Clone, Debug)]
pub struct IdeasRequest {
    /// The task.
    pub key: TaskKey,
    /// The task's own random stream.
    pub seed: Seed,
    /// Source of the kernel.
    pub kernel: String,
    /// Its evaluation.
    pub evaluation: Arc<Evaluation>,
    /// The items that there are.
    pub menu: Vec<MenuItem>,
    /// How many further ones are wanted at most.
    pub count: usize,
}

/// What a proposer needs to correct a draft that failed.
#[derive(Clone, Debug)]
pub struct RepairRequest {
    /// The task; each attempt is a task of its own.
    pub key: TaskKey,
    /// The task's own random stream.
    pub seed: Seed,
    /// Which attempt at a repair this is, from 1.
    pub attempt: u32,
    /// Source of the parent kernel.
    pub kernel: String,
    /// Evaluation of the parent kernel.
    pub evaluation: Arc<Evaluation>,
    /// The plan that was carried out.
    pub plan: Plan,
    /// The draft that failed.
    pub draft: Draft,
    /// How it failed, with diagnostics.
    pub failure: Evaluation,
}

/// One request to a model and its reply, exactly as sent and received.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// Model string.
    pub model: String,
    /// The exact prompt.
    pub prompt: String,
    /// The exact reply; empty if the call failed.
    pub reply: String,
    /// The error, if the call failed; no secrets.
    #[serde(default)]
    pub error: Option<String>,
    /// What it used.
    pub usage: Usage,
    /// The provider did not tell what it used: tokens and cost are a careful guess.
    #[serde(default)]
    pub cost_is_estimate: bool,
    /// Wall time in milliseconds.
    pub latency_ms: u64,
    /// The number under which its cost was reserved in the journal, if it was.
    #[serde(default)]
    pub reservation: Option<u64>,
}

/// A plan or a draft, with the record of how it came about.
#[derive(Clone, Debug)]
pub struct Reply<T> {
    /// What was made.
    pub value: T,
    /// Calls of models that were made for it, failed ones included.
    pub exchanges: Vec<Exchange>,
}

/// Why there is no plan or no draft. Never turned into one.
#[derive(Clone, Debug)]
pub struct ProposeError {
    /// The class.
    pub kind: ProposeErrorKind,
    /// What happened, without secrets.
    pub message: String,
    /// Calls of models that were made all the same.
    pub exchanges: Vec<Exchange>,
}

/// The class of a [`ProposeError`]; decides what the runner does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposeErrorKind {
    /// Nothing to propose here (no transformation applies). The slot stays empty.
    Nothing,
    /// This attempt failed (malformed reply, model unavailable). The slot stays empty.
    Failed,
    /// No further call can succeed (all models refused, budget spent). The run stops, resumable.
    Exhausted,
}

impl fmt::Display for ProposeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ProposeError {}

/// How much a proposer tells of a kernel beside it: more of it need not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Background {
    /// Kernels before it, the last ones.
    pub ancestors: usize,
    /// Attempts on it and its relatives, the most instructive ones.
    pub tried: usize,
    /// Whether drafts of it that were asked for before are among it.
    pub earlier: bool,
    /// Whether those that plans of the same words asked for are counted.
    pub repeats: bool,
}

impl Background {
    /// The most that requests bring.
    pub const MOST: Self = Self {
        ancestors: 64,
        tried: 16,
        earlier: true,
        repeats: true,
    };

    /// For those who look at the kernel alone.
    pub const NONE: Self = Self {
        ancestors: 0,
        tried: 0,
        earlier: false,
        repeats: false,
    };

    /// Returns no more of it than requests bring.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self {
            ancestors: self.ancestors.min(Self::MOST.ancestors),
            tried: self.tried.min(Self::MOST.tried),
            earlier: self.earlier,
            repeats: self.repeats,
        }
    }

    /// Returns what is enough for two proposers.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            ancestors: self.ancestors.max(other.ancestors),
            tried: self.tried.max(other.tried),
            earlier: self.earlier || other.earlier,
            repeats: self.repeats || other.repeats,
        }
    }
}

/// Writes plans and turns them into code.
///
/// A proposer must be a function of the request (and, for models, of the
/// world): it keeps no state that would make a reply depend on the order in
/// which requests arrive.
#[async_trait::async_trait]
pub trait Proposer: Send + Sync {
    /// Returns the name that plans and drafts carry (`rewriter`).
    fn name(&self) -> &str;

    /// Returns how much of [`PlanRequest::ancestors`], [`PlanRequest::tried`],
    /// [`PlanRequest::earlier`] and [`ImplementRequest::repeats`] it uses; requests may bring no
    /// more. By default, as much as there is.
    fn background(&self) -> Background {
        Background::MOST
    }

    /// Writes menu items for a kernel, none of which the menu has. Proposers that cannot
    /// say so by [`ProposeErrorKind::Nothing`], which is what this default does.
    ///
    /// # Errors
    /// A [`ProposeError`] if there are none; see its kinds.
    async fn ideas(&self, request: &IdeasRequest) -> Result<Reply<Vec<MenuItem>>, ProposeError> {
        let _ = request;
        Err(ProposeError {
            kind: ProposeErrorKind::Nothing,
            message: format!("{} writes no menu items", self.name()),
            exchanges: Vec::new(),
        })
    }

    /// Writes one plan.
    ///
    /// # Errors
    /// A [`ProposeError`] if there is none; see its kinds.
    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError>;

    /// Turns a plan into a draft.
    ///
    /// # Errors
    /// A [`ProposeError`] if there is none; see its kinds.
    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError>;

    /// Corrects a draft that failed. Proposers that cannot say so by
    /// [`ProposeErrorKind::Nothing`], which is what this default does.
    ///
    /// # Errors
    /// A [`ProposeError`] if there is no correction; see its kinds.
    async fn repair(&self, request: &RepairRequest) -> Result<Reply<Draft>, ProposeError> {
        let _ = request;
        Err(ProposeError {
            kind: ProposeErrorKind::Nothing,
            message: format!("{} does not repair drafts", self.name()),
            exchanges: Vec::new(),
        })
    }

    /// From now on, writes what a call may cost into `journal` before it is sent.
    fn journal_reservations(&self, journal: &Arc<dyn ReservationJournal>) {
        let _ = journal;
    }

    /// Takes the calls of models whose replies nobody received, because the
    /// request was dropped under way (a run that stops). They belong into the
    /// record: they may have cost.
    fn take_unclaimed(&self) -> Vec<Exchange> {
        Vec::new()
    }
}
