//! The schedule rewriter as a proposer: plans without any language model.

use crate::proposer::{
    Background, ImplementRequest, PlanRequest, ProposeError, ProposeErrorKind, Proposer, Reply,
};
use autocomp_core::{
    Draft, MenuItem, Plan, PlanChoice, PlanKind, RewriteError, RewritePlan, Rewriter,
};
use std::sync::Arc;

/// Proposes source transformations found by analysis of the kernel.
///
/// Replies depend on the request only: equal requests get equal replies.
#[derive(Debug)]
pub struct RewriterProposer {
    rewriter: Arc<dyn Rewriter>,
}

impl RewriterProposer {
    /// The name that its plans and drafts carry.
    pub const NAME: &'static str = "rewriter";

    /// Creates the proposer of a family's rewriter.
    #[must_use]
    pub fn new(rewriter: Arc<dyn Rewriter>) -> Self {
        Self { rewriter }
    }

    /// Returns a step of another kernel's schedule as it is, where it can be carried out on
    /// this kernel and changes it; else the proposal for the same menu item that is most
    /// like it when numbers are left out.
    ///
    /// # Errors
    /// As [`Proposer`]'s.
    #[doc(hidden)]
    pub fn repeat(
        &self,
        kernel: &str,
        menu: &[MenuItem],
        iteration: u32,
        reused: &Plan,
    ) -> Result<Plan, ProposeError> {
        let result = self.rewriter.implement(kernel, &reused.payload, 0);
        if result.is_ok_and(|text| text != kernel) {
            return Ok(reused.clone());
        }
        let is_same = |item: &&MenuItem| item.id == reused.menu_item;
        let menu: Vec<MenuItem> = menu.iter().filter(is_same).cloned().collect();
        let n_compared = if menu.is_empty() { 0 } else { MOST_COMPARED };
        let proposals = (0..n_compared).map_while(|plan| {
            let choice = PlanChoice {
                menu: &menu,
                iteration,
                place: 0,
                plan,
                earlier: &[],
            };
            self.rewriter.plan(kernel, choice).ok()
        });
        let wanted = Words::of(reused);
        let nearest = proposals
            .filter(|plan| plan.menu_item == reused.menu_item)
            .map(own)
            // Of equals, the one that the rewriter likes best.
            .reduce(|best, plan| {
                let is_nearer = wanted.likeness(&best) < wanted.likeness(&plan);
                if is_nearer { plan } else { best }
            });
        nearest.ok_or_else(|| ProposeError {
            kind: ProposeErrorKind::Nothing,
            message: format!(
                "the step {} of the reused schedule does not apply, and neither does anything like it",
                reused.menu_item
            ),
            exchanges: Vec::new(),
        })
    }
}

/// Proposals that a reused step is compared with at most.
const MOST_COMPARED: u32 = 16;

/// The words of a plan, as a measure of what it does.
struct Words(Vec<String>);

impl Words {
    fn of(plan: &Plan) -> Self {
        let text = match plan.payload.is_empty() {
            true => &plan.text,
            false => &plan.payload,
        };
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut words: Vec<String> = words
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect();
        words.sort();
        Self(words)
    }

    /// Returns how much of the words `plan` shares, in thousandths: numbers left out, and
    /// with them.
    fn likeness(&self, plan: &Plan) -> (usize, usize) {
        let other = Self::of(plan);
        (
            shared(&self.without_numbers(), &other.without_numbers()),
            shared(&self.0, &other.0),
        )
    }

    fn without_numbers(&self) -> Vec<String> {
        let is_word = |word: &&String| !word.starts_with(|c: char| c.is_ascii_digit());
        self.0.iter().filter(is_word).cloned().collect()
    }
}

/// Returns how much two sorted lists have in common, in thousandths of both.
fn shared(one: &[String], other: &[String]) -> usize {
    let mut rest = other.iter().peekable();
    let in_both = one.iter().filter(|word| {
        while rest.next_if(|it| it < word).is_some() {}
        rest.next_if(|it| it == word).is_some()
    });
    2000 * in_both.count() / (one.len() + other.len()).max(1)
}

fn own(plan: RewritePlan) -> Plan {
    Plan {
        menu_item: plan.menu_item,
        text: plan.text,
        payload: plan.payload,
        proposer: RewriterProposer::NAME.to_owned(),
    }
}

#[async_trait::async_trait]
impl Proposer for RewriterProposer {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn background(&self) -> Background {
        Background {
            earlier: true,
            ..Background::NONE
        }
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        if let Some(reused) = &request.reused {
            return self
                .repeat(
                    &request.kernel,
                    &request.menu,
                    request.key.iteration,
                    reused,
                )
                .map(reply);
        }
        let choice = PlanChoice {
            menu: &request.menu,
            iteration: request.key.iteration,
            place: request.place,
            plan: match request.kind {
                // These come behind the plans of the others, but count from 0.
                PlanKind::Polish { number } => number,
                // The menu has a single item, and this is the first plan for it.
                PlanKind::Exhaustive { .. } => 0,
                PlanKind::Step | PlanKind::Reserved { .. } | PlanKind::Reused { .. } => {
                    request.number
                }
            },
            earlier: &request.earlier,
        };
        let plan = self
            .rewriter
            .plan(&request.kernel, choice)
            .map_err(rewrite_error)?;
        Ok(reply(own(plan)))
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        let source = self
            .rewriter
            .implement(&request.kernel, &request.plan.payload, request.key.draft)
            .map_err(rewrite_error)?;
        Ok(reply(Draft {
            source,
            proposer: Self::NAME.to_owned(),
        }))
    }
}

fn reply<T>(value: T) -> Reply<T> {
    Reply {
        value,
        exchanges: Vec::new(),
    }
}

pub(crate) fn rewrite_error(error: RewriteError) -> ProposeError {
    let kind = match error {
        RewriteError::Nothing | RewriteError::NotUnderstood(_) => ProposeErrorKind::Nothing,
        _ => ProposeErrorKind::Failed,
    };
    ProposeError {
        kind,
        message: error.to_string(),
        exchanges: Vec::new(),
    }
}
