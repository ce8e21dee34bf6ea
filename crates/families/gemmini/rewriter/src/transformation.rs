//! What a transformation is, and how steps of a plan name one.

use crate::analysis::Analysis;
use crate::kernel::Kernel;
use crate::limits::HardwareLimits;
use crate::tree::Path;
use serde::{Deserialize, Serialize};

/// A kernel with what is known about it.
#[derive(Clone, Debug)]
pub struct View<'kernel> {
    /// The kernel.
    pub kernel: &'kernel Kernel,
    /// Its accesses and buffers; `None` if they could not be found out.
    pub analysis: Option<Analysis<'kernel>>,
    /// The target's sizes.
    pub limits: &'kernel HardwareLimits,
}

impl<'kernel> View<'kernel> {
    /// Analyses `kernel`.
    #[must_use]
    pub fn of(kernel: &'kernel Kernel, limits: &'kernel HardwareLimits) -> Self {
        Self {
            kernel,
            analysis: Analysis::of(kernel, limits),
            limits,
        }
    }
}

/// One transformation with its parameters, as a plan's payload holds it.
///
/// Each transformation says in its documentation what the fields mean to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Name of the transformation.
    pub transformation: String,
    /// The statement that it works on.
    pub at: Path,
    /// A second statement, mostly a loop around the first.
    #[serde(default)]
    pub with: Path,
    /// Index of the operand, where one is chosen.
    #[serde(default)]
    pub operand: usize,
    /// A factor, depth or row.
    #[serde(default)]
    pub count: i64,
    /// Distance in rows.
    #[serde(default)]
    pub stride: i64,
    /// Which of several equal ways to take, from 0.
    #[serde(default)]
    pub variant: usize,
    /// The numbers of a whole schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<i64>,
}

/// A kernel after a step, with the step in words.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The kernel.
    pub kernel: Kernel,
    /// One sentence that names loops, buffers and addresses.
    pub sentence: String,
}

/// One kind of source transformation.
pub trait Transformation: Sync {
    /// Returns the name, kebab-case.
    fn name(&self) -> &'static str;

    /// Returns what it does, as a sentence without subject and full stop.
    fn does(&self) -> &'static str;

    /// Returns the menu items that a step carries out, the best fitting first.
    fn menu_items(&self, step: &Step) -> &'static [&'static str];

    /// Returns every step of this kind that looks sensible for a kernel.
    fn steps(&self, view: &View<'_>) -> Vec<Step>;

    /// Carries out a step; `None` if it does not apply.
    fn apply(&self, view: &View<'_>, step: &Step) -> Option<Rewritten>;
}
