//! The candidates of a run, each once, with the candidate that it was made from.

use crate::literal::{Value, unescaped};
use std::collections::HashMap;

/// What is known of a candidate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// The candidate that it was made from; absent for the baseline.
    pub parent: Option<usize>,
    /// The plan by which it was made.
    pub plan: Option<String>,
    /// Its source.
    pub code: String,
    /// Cost in the unit of the run, if it is right.
    pub score: Option<f64>,
    /// What its evaluation said, if it is known to have failed.
    pub failure: Option<String>,
    /// An evaluation says that it is wrong: it has no cost, whatever else is told of it.
    pub is_wrong: bool,
    /// Its evaluation says that it was not built.
    pub is_unbuilt: bool,
    /// Models that wrote plan and code.
    pub planner: Option<String>,
    /// The second.
    pub coder: Option<String>,
    /// The iteration in which it was made, from 1; 0 for the baseline.
    pub iteration: u32,
    /// What the target said of it, which prompts were told.
    pub feedback: String,
}

/// All candidates.
#[derive(Debug, Default)]
pub struct Tree {
    /// Parents before children.
    pub nodes: Vec<Node>,
    known: HashMap<(String, String), usize>,
    /// Texts that were read back by the original, which carries out their escapes, and stand
    /// as they were written first.
    pub n_mended: usize,
}

/// Why a candidate is not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It, or one that it was made from, has no code.
    NoCode,
    /// It was made from no kernel of the run, though the run has begun.
    Stray,
}

impl Tree {
    /// Adds a candidate with all that it was made from, and returns its number. One that is
    /// known already is not added again. `iteration` is the first in which it is known.
    ///
    /// # Errors
    /// It is left out.
    pub fn add(&mut self, mut value: Value, iteration: u32) -> Result<usize, LeftOut> {
        // From the candidate to the baseline.
        let mut chain = Vec::new();
        loop {
            let parent = value.take("parent");
            chain.push(value);
            match parent {
                Some(parent @ Value::Candidate(_)) => value = parent,
                _ => break,
            }
        }
        let text = |value: Option<&Value>| value.and_then(Value::text).map(plainest);
        let key = chain.last().and_then(|it| {
            let plan = text(it.field("plan")).unwrap_or_default();
            Some((text(it.field("code"))?, plan))
        });
        let is_begun = 0 < iteration && !self.nodes.is_empty();
        if is_begun && key.is_some_and(|it| !self.known.contains_key(&it)) {
            return Err(LeftOut::Stray);
        }
        let mut parent = None;
        let n_chain = chain.len();
        for (idx, value) in chain.into_iter().rev().enumerate() {
            let is_last = idx + 1 == n_chain;
            let added = self.add_one(value, parent, is_last.then_some(iteration));
            parent = Some(added.ok_or(LeftOut::NoCode)?);
        }
        parent.ok_or(LeftOut::NoCode)
    }

    fn add_one(
        &mut self,
        mut value: Value,
        parent: Option<usize>,
        iteration: Option<u32>,
    ) -> Option<usize> {
        let text = |value: Option<Value>| value.and_then(|it| it.text().map(str::to_owned));
        let code = text(value.take("code"))?;
        let plan = text(value.take("plan"));
        // The name of no model is written as a text.
        let model = |value| {
            let name = text(value).filter(|it| it != "None");
            name.map(|it| it.chars().filter(|c| !c.is_control()).collect::<String>())
        };
        let score = value.take("score").and_then(|it| it.number());
        let score = score.filter(|it| it.is_finite());
        let key = (
            plainest(&code),
            plainest(plan.as_deref().unwrap_or_default()),
        );
        if let Some(&known) = self.known.get(&key) {
            let node = &mut self.nodes[known];
            if code != node.code {
                self.n_mended += 1;
                // What has more backslashes was read back less often.
                let n_kept = |text: &str| text.matches('\\').count();
                if n_kept(&node.code) < n_kept(&code) {
                    node.code = code;
                    node.plan = plan.or_else(|| node.plan.take());
                }
            }
            node.score = node.score.or(score);
            return Some(known);
        }
        let after = parent.map_or(0, |it| self.nodes[it].iteration + 1);
        let feedback = ["hw_feedback", "spad_acc_stats"].map(|name| value.take(name));
        let feedback = feedback.into_iter().flatten().next();
        self.nodes.push(Node {
            parent,
            plan,
            code,
            score,
            failure: None,
            is_wrong: false,
            is_unbuilt: false,
            planner: model(value.take("plan_gen_model")),
            coder: model(value.take("code_gen_model")),
            iteration: match (parent, iteration) {
                (None, _) => 0,
                (Some(_), Some(iteration)) => iteration.max(after),
                (Some(_), None) => after,
            },
            feedback: feedback.map_or_else(String::new, |it| lines(&it)),
        });
        let number = self.nodes.len() - 1;
        self.known.insert(key, number);
        Some(number)
    }
}

/// Returns a text after its escapes were carried out as often as that changes anything: equal
/// for texts that were read back by the original and those that were not.
fn plainest(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..16 {
        let next = unescaped(&text);
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Returns the texts of a list, one below the other.
fn lines(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(lines).collect();
            items.join("\n")
        }
        Value::Dict(entries) => {
            let entry = |(key, value): &(Value, Value)| format!("{}: {}", lines(key), lines(value));
            let entries: Vec<String> = entries.iter().map(entry).collect();
            entries.join(", ")
        }
        Value::Number(number) => number.to_string(),
        Value::Bool(is_so) => is_so.to_string(),
        Value::None | Value::Candidate(_) => String::new(),
    }
}
