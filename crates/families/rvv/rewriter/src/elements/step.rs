//! What moves along in a loop, and how long.

use super::Reader;
use super::function::Length;
use autocomp_c_loops::syntax::{below, children};
use tree_sitter::Node;

/// How a variable moves along in each iteration.
#[derive(Clone, Debug)]
pub(super) struct Step<'s> {
    pub name: &'s str,
    pub is_back: bool,
    /// For each element, or for each iteration where no length is in it.
    pub by: String,
    pub is_by_length: bool,
    /// Where it is said.
    pub node: Node<'s>,
    pub is_in_body: bool,
}

/// What a condition says of a counter.
pub(super) struct Bound<'s> {
    pub counter: &'s str,
    /// The bound where the counter goes up.
    pub end: Option<Node<'s>>,
    /// What has to be left for another iteration, if it is more than one element.
    pub whole: Option<Node<'s>>,
}

impl<'s> Reader<'s> {
    /// Returns what the condition of a loop or an `if` says.
    pub(super) fn bound(&self, node: Node<'s>) -> Option<Bound<'s>> {
        let mut condition = node.child_by_field_name("condition")?;
        while condition.kind() == "parenthesized_expression" {
            condition = condition.named_child(0)?;
        }
        let down = |node: Node<'s>, whole| {
            Some(Bound {
                counter: self.text(node),
                end: None,
                whole,
            })
        };
        if condition.kind() == "identifier" {
            return down(condition, None);
        }
        let (left, right) = (
            condition.child_by_field_name("left")?,
            condition.child_by_field_name("right")?,
        );
        let operator = self.text(condition.child_by_field_name("operator")?);
        match (left.kind(), operator, self.text(right)) {
            ("identifier", ">" | "!=", "0" | "0u") | ("identifier", ">=", "1") => down(left, None),
            ("identifier", ">=", _) => down(left, Some(right)),
            ("identifier", "<", _) => Some(Bound {
                counter: self.text(left),
                end: Some(right),
                whole: None,
            }),
            ("identifier", "!=", _) => Some(Bound {
                counter: self.text(left),
                end: Some(right),
                whole: None,
            }),
            // `i + vl <= n`
            ("binary_expression", "<=", _) => {
                let (counter, whole) = (
                    left.child_by_field_name("left")?,
                    left.child_by_field_name("right")?,
                );
                (self.text(left.child_by_field_name("operator")?) == "+").then(|| Bound {
                    counter: self.text(counter),
                    end: Some(right),
                    whole: Some(whole),
                })
            }
            ("number_literal", "<", _) if self.text(left) == "0" => down(right, None),
            _ => None,
        }
    }

    /// Returns what moves along in a loop.
    pub(super) fn steps(&self, node: Node<'s>) -> Vec<Step<'s>> {
        let mut found = Vec::new();
        if !["for_statement", "while_statement", "do_statement"].contains(&node.kind()) {
            return found;
        }
        let body = node.child_by_field_name("body");
        for statement in body.map_or(Vec::new(), children) {
            if statement.kind() == "expression_statement"
                && let Some(inner) = statement.named_child(0)
            {
                found.extend(self.step(inner, true));
            }
        }
        let mut pending: Vec<Node<'s>> = node.child_by_field_name("update").into_iter().collect();
        while let Some(update) = pending.pop() {
            match update.kind() {
                "comma_expression" | "parenthesized_expression" => pending.extend(children(update)),
                _ => found.extend(self.step(update, false)),
            }
        }
        found
    }

    pub(super) fn step(&self, node: Node<'s>, is_in_body: bool) -> Option<Step<'s>> {
        let field = |name: &str| node.child_by_field_name(name);
        let operator = self.text(field("operator")?);
        if node.kind() == "update_expression" {
            return Some(Step {
                name: self.text(field("argument")?),
                is_back: operator == "--",
                by: "1".into(),
                is_by_length: false,
                node,
                is_in_body,
            });
        }
        if node.kind() != "assignment_expression" {
            return None;
        }
        let name = self.text(field("left")?);
        let mut by = field("right")?;
        let operator = match operator {
            "+=" | "-=" => operator,
            "=" if by.kind() == "binary_expression" => {
                let operator = self.text(by.child_by_field_name("operator")?);
                (self.text(by.child_by_field_name("left")?) == name).then_some(())?;
                by = by.child_by_field_name("right")?;
                operator
            }
            _ => return None,
        };
        let is_back = match operator {
            "+" | "+=" => false,
            "-" | "-=" => true,
            _ => return None,
        };
        let is_length = |it: Node<'s>| {
            let text = self.text(it);
            self.function.lengths.contains(text)
                || self.function.most.contains(text)
                || self.function.is_length(it, self.source) == Some(Length::Most)
        };
        let mentions = below(by).into_iter().any(is_length);
        let by = if is_length(by) {
            "1".into()
        } else if !mentions {
            self.text(by).to_owned()
        } else {
            let (left, right) = (
                by.child_by_field_name("left")?,
                by.child_by_field_name("right")?,
            );
            match self.text(by.child_by_field_name("operator")?) {
                "*" if is_length(left) => self.text(right).to_owned(),
                "*" if is_length(right) => self.text(left).to_owned(),
                _ => return None,
            }
        };
        Some(Step {
            name,
            is_back,
            by,
            is_by_length: mentions,
            node,
            is_in_body,
        })
    }
}
