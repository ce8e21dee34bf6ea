//! The schedule rewriter as a proposer: plans without any language model.

use crate::proposer::{
    ImplementRequest, PlanRequest, ProposeError, ProposeErrorKind, Proposer, Reply,
};
use autocomp_core::{Draft, Plan, PlanKind};
use autocomp_gemmini_rewriter::{HardwareLimits, PlanChoice, RewriteError, Rewriter};

/// Proposes source transformations found by analysis of the kernel.
///
/// Replies depend on the request only: equal requests get equal replies.
#[derive(Debug)]
pub struct RewriterProposer {
    rewriter: Rewriter,
}

impl RewriterProposer {
    /// The name that its plans and drafts carry.
    pub const NAME: &'static str = "rewriter";

    /// Creates the proposer for a target of these sizes.
    #[must_use]
    pub fn new(limits: HardwareLimits) -> Self {
        Self {
            rewriter: Rewriter::new(limits),
        }
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
        RewriteError::Nothing | RewriteError::Parse(_) => ProposeErrorKind::Nothing,
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
    use crate::proposer::{ImplementRequest, PlanRequest, ProposeErrorKind, Proposer};
    use autocomp_core::{
        ContentHash, Evaluation, MenuItem, Outcome, PlanKind, Purpose, Seed, TaskKey,
    };
    use autocomp_gemmini_rewriter::HardwareLimits;

    const KERNEL: &str = "void solution(int8_t A[32][64], int8_t B[64][64], int8_t C[32][64]) {
        config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
        config_st(64);
        config_ld(64, 1.0f, 16, 0);
        for (int i = 0; i < 2; i++) {
            mvin(&A[16 * i][0], 0, 64, 16);
            for (int k = 0; k < 4; k++) { mvin(&B[16 * k][0], 1024 + 64 * k, 64, 16); }
            for (int k = 0; k < 4; k++) {
                for (int j = 0; j < 4; j++) {
                    preload(1024 + 64 * k + 16 * j, (k == 0 ? 0x80000000 : 0xc0000000) + 16 * j, 16, 16, 16, 16);
                    compute_preloaded(16 * k, 0xffffffff, 16, 16, 16, 16);
                }
            }
            for (int j = 0; j < 4; j++) { mvout(&C[16 * i][16 * j], 0x80000000 + 16 * j, 16, 16); }
        }
        fence();
    }";

    fn request(kernel: &str, plan: u32) -> PlanRequest {
        PlanRequest {
            key: TaskKey {
                iteration: 1,
                parent: 0,
                plan,
                draft: 0,
                repair: 0,
                purpose: Purpose::Plan,
            },
            seed: Seed(3),
            iterations: 8,
            kernel: kernel.to_owned(),
            evaluation: Evaluation {
                key: ContentHash::of(b""),
                outcome: Outcome::Ok,
                diagnostics: Vec::new(),
                measurement: None,
                feedback: None,
                tiers: Vec::new(),
            },
            ancestors: Vec::new(),
            tried: Vec::new(),
            kind: PlanKind::Step,
            hidden: Vec::new(),
            other: None,
            menu: vec![MenuItem {
                id: MenuItem::OTHER.to_owned(),
                text: String::new(),
                ..MenuItem::default()
            }],
        }
    }

    #[tokio::test]
    async fn plans_differ_and_repeat() {
        let proposer = RewriterProposer::new(HardwareLimits::gemmini_int8_16());
        let mut sources = vec![KERNEL.to_owned()];
        for idx in 0..3 {
            let request = request(KERNEL, idx);
            let plan = proposer.plan(&request).await.expect("a plan").value;
            let again = RewriterProposer::new(HardwareLimits::gemmini_int8_16());
            assert_eq!(again.plan(&request).await.expect("a plan").value, plan);
            assert!(!plan.text.is_empty());
            assert_eq!(plan.menu_item, MenuItem::OTHER);
            let implement = ImplementRequest {
                key: TaskKey {
                    purpose: Purpose::Draft,
                    ..request.key
                },
                seed: request.seed,
                kernel: request.kernel.clone(),
                evaluation: request.evaluation.clone(),
                plan,
                other: None,
            };
            let draft = proposer.implement(&implement).await.expect("a draft").value;
            assert!(!sources.contains(&draft.source));
            sources.push(draft.source);
        }
    }

    #[tokio::test]
    async fn nothing_to_say_about_what_is_no_kernel() {
        let proposer = RewriterProposer::new(HardwareLimits::gemmini_int8_16());
        for kernel in [
            "",
            "int main() { return 0; }",
            "void solution() { while (1) f(); }",
        ] {
            let error = proposer
                .plan(&request(kernel, 0))
                .await
                .expect_err("no plan");
            assert_eq!(error.kind, ProposeErrorKind::Nothing);
        }
    }
}
