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
    fn repeat(
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
        Background::NONE
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
            place: request.key.parent,
            plan: match request.kind {
                // These come behind the plans of the others, but count from 0.
                PlanKind::Polish { number } => number,
                // The menu has a single item, and this is the first plan for it.
                PlanKind::Exhaustive { .. } => 0,
                PlanKind::Step | PlanKind::Reserved { .. } | PlanKind::Reused { .. } => {
                    request.key.plan
                }
            },
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

#[cfg(test)]
mod tests {
    use super::RewriterProposer;
    use crate::proposer::ProposeErrorKind;
    use autocomp_core::{MenuItem, Plan, PlanChoice, RewriteError, RewritePlan, Rewriter};
    use std::sync::Arc;

    /// Splits the loops `i` and `j` by 4, and unrolls nothing.
    #[derive(Debug)]
    struct Splitting;

    impl Rewriter for Splitting {
        fn plan(&self, _: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
            let name = ["i", "j"].get(choice.plan as usize);
            Ok(RewritePlan {
                menu_item: "split".to_owned(),
                text: String::new(),
                payload: payload(name.ok_or(RewriteError::Nothing)?, 4),
            })
        }

        fn implement(&self, source: &str, payload: &str, _: u32) -> Result<String, RewriteError> {
            match payload.contains(" 4") {
                true => Ok(format!("{source} {payload}")),
                false => Err(RewriteError::Nothing),
            }
        }
    }

    fn payload(name: &str, by: u32) -> String {
        format!("{{\"split\": \"{name}\", \"by\": {by}}}")
    }

    #[test]
    fn a_step_is_repeated_as_it_was_or_as_near_as_can_be() {
        let proposer = RewriterProposer::new(Arc::new(Splitting));
        let menu = ["split", "unroll"].map(|id| MenuItem {
            id: id.to_owned(),
            ..MenuItem::default()
        });
        let repeated = |item: &str, payload: String| {
            let reused = Plan {
                menu_item: item.to_owned(),
                text: String::new(),
                payload,
                proposer: "rewriter".to_owned(),
            };
            let plan = proposer.repeat("kernel", &menu, 1, &reused);
            plan.map(|plan| plan.payload).map_err(|error| error.kind)
        };
        assert_eq!(repeated("split", payload("j", 4)), Ok(payload("j", 4)));
        // What cannot be carried out gives way to its like with other numbers.
        assert_eq!(repeated("split", payload("j", 7)), Ok(payload("j", 4)));
        assert_eq!(repeated("split", payload("i", 7)), Ok(payload("i", 4)));
        for item in ["unroll", "fuse"] {
            let none = repeated(item, payload("i", 7));
            assert_eq!(none, Err(ProposeErrorKind::Nothing));
        }
    }
}
