//! The rewriter as a proposer.

use autocomp_agents::{ProposeErrorKind, RewriterProposer};
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
