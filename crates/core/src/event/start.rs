//! What a run is: its first event.

use super::proposal::PlanRecord;
use crate::hash::ContentHash;
use crate::lesson::Lesson;
use crate::menu::MenuItem;
use crate::quantity::Seed;
use crate::settings::SearchSettings;
use serde::{Deserialize, Serialize};

/// What a run is: everything that its course depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunStarted {
    /// Version of the events' serialised form, [`EVENT_FORMAT`](super::EVENT_FORMAT).
    pub format: u32,
    /// Version of the program that created the run.
    pub program: String,
    /// Name of the target (its folder).
    pub target: String,
    /// Name of the problem (with its group, `GROUP/gemm-512x512x512`).
    pub problem: String,
    /// Hash of everything that decides the verdict on a kernel besides the
    /// kernel itself (problem, target, evaluator, compiler). A resumed run
    /// whose evaluator has another identity is refused.
    pub evaluator: ContentHash,
    /// Compiler name and version.
    pub compiler: String,
    /// Whether a line of its kernels that only moved to the right or left has changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub meaningful_indentation: bool,
    /// Names of the proposers, in the order given.
    pub proposers: Vec<String>,
    /// Seed of all random streams.
    pub seed: Seed,
    /// How to search.
    pub settings: SearchSettings,
    /// The whole menu, before dropout.
    pub menu: Vec<MenuItem>,
    /// Source of the baseline kernel.
    pub baseline: ContentHash,
    /// Kernels of another run that the search begins with beside the baseline.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<TakenKernel>,
    /// The schedule of another run, in order, that the first iterations replay beside
    /// their search: a step in each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reused: Vec<PlanRecord>,
    /// Hashes of the forms of the baseline and of the taken kernels, in order, as in
    /// [`DraftRecord::form`]; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<Option<ContentHash>>,
    /// Who confirms the best kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmers: Vec<Confirmer>,
    /// What earlier runs have taught, as far as prompts may tell it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lessons: Vec<Lesson>,
    /// The effective settings of the program as text, if kept (a TOML file).
    /// Not part of the canonical history: it may name workers and folders.
    #[serde(default)]
    pub spec: Option<ContentHash>,
}

/// A kernel of another run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenKernel {
    /// Blob that holds its source.
    pub source: ContentHash,
    /// How it came about, in the form of a plan that led to it from the baseline.
    pub plan: PlanRecord,
}

/// Who evaluates the best kernels once more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmer {
    /// What is other than in the search, for people (`new inputs`).
    pub name: String,
    /// Its identity, as in [`RunStarted::evaluator`].
    pub evaluator: ContentHash,
}
