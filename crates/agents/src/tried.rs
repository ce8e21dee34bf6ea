//! What was tried on a kernel, for prompts.

use crate::feedback::shortened;
use crate::proposer::{Kinship, Tried};
use serde::Serialize;

/// Characters shown of a plan, and of why it failed or did not help.
const LONGEST_PLAN: usize = 180;
const LONGEST_FINDING: usize = 220;

/// One attempt, in about 100 tokens.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TriedFacts<'input> {
    on: Kinship,
    menu_item: &'input str,
    plan: String,
    outcome: Option<&'static str>,
    /// `faster`, `slower` or `none`.
    change: &'static str,
    cost: Option<u64>,
    /// Cost before by cost after, two digits.
    factor: Option<String>,
    finding: String,
}

impl<'input> TriedFacts<'input> {
    pub(crate) fn of(tried: &'input Tried) -> Self {
        let cost = tried.cost;
        let change = match cost {
            Some(_) if tried.is_same => "none",
            Some(cost) if cost < tried.cost_before => "faster",
            _ => "slower",
        };
        Self {
            on: tried.on,
            menu_item: &tried.menu_item,
            plan: shortened(&in_one_line(&tried.plan), LONGEST_PLAN),
            outcome: tried.outcome.map(|outcome| outcome.name()),
            change,
            cost,
            factor: cost.map(|cost| {
                let factor = tried.cost_before as f64 / cost.max(1) as f64;
                format!("{factor:.2}")
            }),
            finding: shortened(&in_one_line(&tried.finding), LONGEST_FINDING),
        }
    }
}

pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
