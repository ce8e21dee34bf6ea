//! What was tried on a kernel, for prompts.

use crate::feedback::shortened;
use crate::proposer::{Kinship, Tried};
use serde::Serialize;

/// Characters shown of a plan, and of why it failed or did not help.
const LONGEST_PLAN: usize = 180;
const LONGEST_FINDING: usize = 320;

/// One attempt, in about 100 tokens.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TriedFacts<'input> {
    on: Kinship,
    menu_item: &'input str,
    plan: String,
    outcome: Option<&'static str>,
    /// `faster`, `tie`, `slower` or `none`; a tie costs less by no more than the spread.
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
            Some(cost) if cost.beats(tried.cost_before) => "faster",
            Some(cost) if cost.value < tried.cost_before.value => "tie",
            _ => "slower",
        };
        Self {
            on: tried.on,
            menu_item: &tried.menu_item,
            plan: shortened(&in_one_line(&tried.plan), LONGEST_PLAN),
            outcome: tried.outcome.map(|outcome| outcome.name()),
            change,
            cost: cost.map(|cost| cost.value),
            factor: cost.map(|cost| format!("{:.2}", cost.times(tried.cost_before))),
            finding: whole_sentences(&in_one_line(&tried.finding), LONGEST_FINDING),
        }
    }
}

/// Returns the first sentences of a text; of a long one its first characters.
fn whole_sentences(text: &str, most: usize) -> String {
    let cut = shortened(text, most);
    if cut == text {
        return cut;
    }
    let begun = cut.trim_end_matches('…');
    match begun.rsplit_once(". ") {
        Some((whole, _)) if begun.len() / 3 < whole.len() => format!("{whole}."),
        _ => cut,
    }
}

pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
