//! Changes to NKI kernels without any model.
//!
//! A kernel is parsed, the shapes of its expressions are found, and each transformation edits the
//! text in one place: what it does not touch stays as it was written. A draft may be wrong; the
//! evaluator decides. What can be seen without data is seen before: every draft is run on shapes,
//! and those that the device would refuse are dropped. Drafts are ranked by the time that their
//! busiest engine needs, without a schedule.

mod check;
mod operation;
mod proposal;
mod shapes;
mod source;
mod transformations;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use autocomp_core::{
    ContentHash, KindOfChange, MenuItem, NotUnderstood, PlanChoice, RewriteError, RewritePlan,
    Rewriter, Seed,
};
use serde::{Deserialize, Serialize};

use autocomp_trainium_sim::Input;
use autocomp_trainium_sim::timing::Machine;
pub use check::InputShape;
use proposal::{Problem, Proposal, Proposals, Step};
use transformations::written_out;

/// Kernels whose proposals are remembered.
const REMEMBERED: usize = 256;
/// How far chance may move a proposal in the order, in units of the natural logarithm of
/// estimated nanoseconds.
const TEMPERATURE: f64 = 0.02;
/// What it costs a proposal, in the same units, for each better one of the same family.
const ALIKE: f64 = 0.05;
/// What it costs a proposal, in the same units, that no item in the menu names it.
const OFF_MENU: f64 = 0.04;
/// Relative error of a product of two numbers that were rounded to bfloat16, with eight bits each.
const COARSE: f64 = 1.0 / 256.0;
/// Proposals that a plan offers to its drafts.
const DRAFTS: usize = 2;

type Finding = Arc<OnceLock<Result<Arc<Proposals>, RewriteError>>>;

/// Proposes changes to NKI kernels.
#[derive(Debug)]
pub struct NkiRewriter {
    problem: Problem,
    remembered: Mutex<BTreeMap<ContentHash, Finding>>,
}

/// The machine-readable form of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    /// Steps for each draft in turn.
    drafts: Vec<Vec<Step>>,
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
                narrow: COARSE <= tolerance,
            },
            remembered: Mutex::new(BTreeMap::new()),
        }
    }

    /// Gives kernels arguments beside their tensors, by name.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Vec<(String, Input)>) -> Self {
        self.problem.arguments = arguments;
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
        let key = ContentHash::of(source.as_bytes());
        let finding = {
            let mut remembered = self
                .remembered
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if REMEMBERED <= remembered.len() && !remembered.contains_key(&key) {
                remembered.clear();
            }
            Arc::clone(remembered.entry(key).or_default())
        };
        finding
            .get_or_init(|| self.problem.proposals(source).map(Arc::new))
            .clone()
    }
}

/// The first item of the menu that names a proposal.
fn menu_item(proposal: &Proposal, menu: &[MenuItem]) -> Option<&'static str> {
    proposal
        .menu_items
        .iter()
        .copied()
        .find(|id| menu.iter().any(|item| item.id == *id))
}

/// A number with the standard Gumbel distribution.
fn gumbel(mut seed: Seed) -> f64 {
    // Never zero, so that both logarithms exist.
    let uniform = ((seed.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -(-uniform.ln()).ln()
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

    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let found = self.proposals(source)?;
        let mut word = [0; 8];
        word.copy_from_slice(&ContentHash::of(source.as_bytes()).0[..8]);
        let seed = Seed(u64::from_le_bytes(word)).derive(&format!(
            "iteration {} place {}",
            choice.iteration, choice.place
        ));
        let temperature = TEMPERATURE * f64::from(1 + choice.place.min(8));
        let mut order: Vec<(f64, &Proposal)> = found
            .all
            .iter()
            .enumerate()
            .map(|(at, it)| {
                let off = if menu_item(it, choice.menu).is_some() {
                    0.0
                } else {
                    OFF_MENU
                };
                (
                    it.estimate.max(1.0).ln() + off
                        - temperature * gumbel(seed.derive(&at.to_string())),
                    it,
                )
            })
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Plans that do the same kind of thing teach less than plans that do not.
        let mut alike: BTreeMap<&str, f64> = BTreeMap::new();
        for (score, proposal) in &mut order {
            let count = alike.entry(proposal.family.as_str()).or_default();
            *score += ALIKE * *count;
            *count += 1.0;
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (_, first) = order
            .get(choice.plan as usize)
            .ok_or(RewriteError::Nothing)?;
        let rest = order[choice.plan as usize + 1..]
            .iter()
            .filter(|it| it.1.family == first.family);
        let drafts = std::iter::once(*first)
            .chain(rest.map(|it| it.1))
            .take(DRAFTS);
        let payload = Payload {
            drafts: drafts.map(|it| it.steps.clone()).collect(),
        };
        Ok(RewritePlan {
            menu_item: menu_item(first, choice.menu)
                .unwrap_or(MenuItem::OTHER)
                .to_owned(),
            text: first.text.clone(),
            payload: serde_json::to_string(&payload)
                .map_err(|error| RewriteError::Payload(error.to_string()))?,
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let payload: Payload = serde_json::from_str(payload)
            .map_err(|error| RewriteError::Payload(error.to_string()))?;
        let steps = payload
            .drafts
            .get(draft as usize)
            .ok_or(RewriteError::Nothing)?;
        self.problem.carry_out(source, steps)
    }
}
