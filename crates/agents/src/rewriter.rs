//! The schedule rewriter as a proposer: plans without any language model.

use crate::proposer::{
    ImplementRequest, PlanRequest, ProposeError, ProposeErrorKind, Proposer, Reply,
};
use autocomp_core::{Draft, Plan, PlanChoice, PlanKind, RewriteError, Rewriter};
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
}

#[async_trait::async_trait]
impl Proposer for RewriterProposer {
    fn name(&self) -> &str {
        Self::NAME
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        let choice = PlanChoice {
            menu: &request.menu,
            iteration: request.key.iteration,
            place: request.key.parent,
            plan: match request.kind {
                // These come behind the plans of the others, but count from 0.
                PlanKind::Polish { number } => number,
                PlanKind::Step | PlanKind::Reserved { .. } => request.key.plan,
            },
        };
        let plan = self
            .rewriter
            .plan(&request.kernel, choice)
            .map_err(propose_error)?;
        Ok(reply(Plan {
            menu_item: plan.menu_item,
            text: plan.text,
            payload: plan.payload,
            proposer: Self::NAME.to_owned(),
        }))
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        let source = self
            .rewriter
            .implement(&request.kernel, &request.plan.payload, request.key.draft)
            .map_err(propose_error)?;
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

fn propose_error(error: RewriteError) -> ProposeError {
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
