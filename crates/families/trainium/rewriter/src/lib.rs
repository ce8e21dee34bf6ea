//! Changes to NKI kernels without any model.
//!
//! A kernel is parsed, the shapes of its expressions are found, and each transformation edits the
//! text in one place: what it does not touch stays as it was written. A draft may be wrong; the
//! evaluator decides. What can be seen without data is seen before: every draft is run on shapes,
//! and those that the device would refuse are dropped. Drafts are ranked by the time that the
//! schedule of their trace takes.

mod chains;
mod check;
mod obstacles;
mod operation;
mod proposal;
mod shapes;
mod source;
mod transformations;
mod trial;

use std::sync::Arc;

use autocomp_core::{
    KindOfChange, MenuItem, NotUnderstood, PlanChoice, RewriteError, RewritePlan, Rewriter,
};
use autocomp_rewriting::{
    Drafts, Earlier, Memory, Proposed, Ranking, menu_item, of_payload, payload,
};

use autocomp_trainium_sim::Input;
use autocomp_trainium_sim::timing::Machine;
pub use check::InputShape;
use proposal::{Problem, Proposal, Proposals, Step};
use transformations::written_out;
pub use trial::Trial;

/// Kernels whose proposals are remembered.
const REMEMBERED: usize = 256;
/// Scores are logarithms of estimated nanoseconds; the kind of a proposal is its family.
const RANKING: Ranking = Ranking {
    temperature: 0.02,
    off_menu: 0.04,
    alike: 0.05,
};

/// Proposes changes to NKI kernels.
#[derive(Debug)]
pub struct NkiRewriter {
    problem: Problem,
    remembered: Memory<Result<Arc<Proposals>, RewriteError>>,
}

/// How many drafts were made for a kernel, before any evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drafted {
    /// Drafts that were run on shapes.
    pub made: usize,
    /// Those of them that the device would refuse.
    pub refused: usize,
    /// Proposals that are left.
    pub proposals: usize,
}

impl NkiRewriter {
    /// Creates a rewriter for kernels whose function `entry` takes `inputs`, and whose results may
    /// be off by `tolerance`, relative to what is right.
    #[must_use]
    pub fn new(entry: &str, inputs: Vec<InputShape>, machine: Machine, tolerance: f64) -> Self {
        Self {
            problem: Problem {
                entry: entry.to_owned(),
                inputs,
                arguments: Vec::new(),
                machine,
                tolerance,
                trial: None,
            },
            remembered: Memory::new(REMEMBERED),
        }
    }

    /// Gives kernels arguments beside their tensors, by name.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Vec<(String, Input)>) -> Self {
        self.problem.arguments = arguments;
        self
    }

    /// Lets data tell which narrow types of products the problem tolerates, whatever `tolerance`
    /// is; where the trial cannot be made, `tolerance` tells.
    #[must_use]
    pub fn with_trial(mut self, trial: Trial) -> Self {
        self.problem.trial = Some(Arc::new(trial));
        self
    }

    /// Returns how many drafts there are for a kernel.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood.
    pub fn drafted(&self, source: &str) -> Result<Drafted, RewriteError> {
        let found = self.proposals(source)?;
        Ok(Drafted {
            made: found.made,
            refused: found.refused,
            proposals: found.all.len(),
        })
    }

    /// Returns every kernel that one change leads to, with the name of the transformation and the
    /// sentence that describes it, unless the device refuses it or it does another amount of work.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood.
    pub fn single_changes(
        &self,
        source: &str,
    ) -> Result<Vec<(String, String, String)>, RewriteError> {
        let found = self.problem.singles(source)?;
        Ok(found
            .into_iter()
            .map(|it| (it.family, it.text, it.source))
            .collect())
    }

    /// Returns the form of a kernel in which most can be seen, from which all changes start.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood.
    pub fn plain(&self, source: &str) -> Result<String, RewriteError> {
        self.problem.plain(source)
    }

    fn proposals(&self, source: &str) -> Result<Arc<Proposals>, RewriteError> {
        self.remembered
            .of(source, || self.problem.proposals(source).map(Arc::new))
    }
}

impl Rewriter for NkiRewriter {
    fn kinds(&self) -> Vec<KindOfChange> {
        transformations::kinds()
    }

    fn not_understood(&self, source: &str) -> Vec<NotUnderstood> {
        match self.problem.view(source) {
            Ok(view) => {
                let written_out = written_out(&view);
                let unknown = view.shapes.unknown.into_iter();
                let unknown = unknown.map(|(line, reason)| NotUnderstood {
                    line: line as usize,
                    reason,
                });
                unknown
                    .filter(|it| !written_out.contains(&it.line))
                    .collect()
            }
            Err(error) => vec![NotUnderstood {
                line: 1,
                reason: error.to_string(),
            }],
        }
    }

    fn obstacles(&self, source: &str) -> Vec<String> {
        obstacles::obstacles(&self.problem, source)
    }

    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let found = self.proposals(source)?;
        let earlier = Earlier::of(choice);
        let proposals = found.all.iter().enumerate().map(|(at, proposal)| Proposed {
            proposal,
            is_earlier: earlier.has(&proposal.steps),
            score: proposal.estimate.max(1.0).ln(),
            stream: at.to_string(),
            is_named: menu_item(proposal.menu_items.iter().copied(), choice.menu).is_some(),
            kind: proposal.family.as_str(),
        });
        let order = RANKING.order(RANKING.chance(source, choice), proposals);
        let (first, drafts) = Drafts::of_plan(
            order,
            choice.plan as usize,
            |it: &&Proposal, first| it.family == first.family,
            |it| it.steps.clone(),
        )
        .ok_or(RewriteError::Nothing)?;
        Ok(RewritePlan {
            menu_item: menu_item(first.menu_items.iter().copied(), choice.menu)
                .unwrap_or(MenuItem::OTHER)
                .to_owned(),
            text: first.text.clone(),
            payload: payload(&drafts)?,
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let drafts: Drafts<Vec<Step>> = of_payload(payload)?;
        self.problem.carry_out(source, drafts.get(draft)?)
    }
}
