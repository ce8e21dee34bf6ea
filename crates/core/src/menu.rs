//! The optimization menu.

use crate::evaluation::Evaluation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How much of a kernel a menu item is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One change.
    #[default]
    Step,
    /// The order, the tiling and the overlap of everything at once.
    Schedule,
    /// What is good in two kernels.
    Combination,
    /// A step of the way from a program that does without the target to a kernel for it.
    Translation,
    /// One change that a model thought of for one kernel. Not for files.
    Idea,
}

/// One optimization that a plan may choose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MenuItem {
    /// Stable identifier, kebab-case (`double-buffer`). `other` is the escape
    /// item that menu dropout never removes.
    pub id: String,
    /// What to do, one or two sentences, shown to models and people.
    pub text: String,
    /// When the item applies; empty if always.
    #[serde(default)]
    pub applies_when: String,
    /// How much of the kernel it is about.
    #[serde(default, skip_serializing_if = "is_step")]
    pub scope: Scope,
    /// Percent of the plans of iteration 1, 2, … that are asked for this item
    /// alone; the last holds for all further ones. Empty exactly for steps and
    /// translations, which share the plans that are left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percent: Vec<u8>,
    /// Least values that counters and figures of a kernel need for the item, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub needs: BTreeMap<String, u64>,
    /// Words of which the text of a kernel must have one for the item, `*` at an end for any
    /// letters there; none for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<String>,
}

fn is_step(scope: &Scope) -> bool {
    *scope == Scope::Step
}

impl MenuItem {
    /// The identifier of the escape item, always kept in every menu.
    pub const OTHER: &'static str = "other";

    /// Returns whether a kernel has what the item needs; nothing where it needs nothing, or what
    /// was not measured.
    #[must_use]
    pub fn fits(&self, evaluation: &Evaluation) -> Option<bool> {
        let figures = evaluation.measurement.as_ref().map(|it| &it.figures);
        let counters = evaluation.feedback.as_ref().map(|it| &it.counters);
        let value = |name: &String| {
            let counter = counters.and_then(|it| it.get(name)).copied();
            counter.or_else(|| Some(*figures?.get(name)? as f64))
        };
        let needs = self.needs.iter();
        let met: Option<Vec<bool>> = needs
            .map(|(name, least)| Some(*least as f64 <= value(name)?))
            .collect();
        met.filter(|it| !it.is_empty())
            .map(|it| it.into_iter().all(|is_met| is_met))
    }

    /// Returns whether a kernel's text has a word that the item is about.
    #[must_use]
    pub fn is_mentioned_in(&self, text: &str) -> bool {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let is_one = |word: &str| self.mentions.iter().any(|it| is_like(word, it));
        self.mentions.is_empty() || words.filter(|it| !it.is_empty()).any(is_one)
    }

    /// Returns the percent of the plans of `iteration`, from 1, that are asked
    /// for this item alone.
    #[must_use]
    pub fn percent_in(&self, iteration: u32) -> u32 {
        let idx = (iteration.max(1) - 1) as usize;
        let percent = self.percent.get(idx).or(self.percent.last());
        percent.copied().map_or(0, u32::from)
    }
}

/// Returns whether a word is that of [`MenuItem::mentions`].
fn is_like(word: &str, mention: &str) -> bool {
    let middle = mention.strip_prefix('*').unwrap_or(mention);
    let middle = middle.strip_suffix('*').unwrap_or(middle);
    match (mention.starts_with('*'), mention.ends_with('*')) {
        (false, false) => word == middle,
        (false, true) => word.starts_with(middle),
        (true, false) => word.ends_with(middle),
        (true, true) => word.contains(middle),
    }
}
