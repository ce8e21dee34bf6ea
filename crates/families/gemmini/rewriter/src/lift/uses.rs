//! How loops of a kernel's text use names.

use crate::syntax::{breaks, children, jumps};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// A text of which loops are looked at.
pub(super) struct Loops<'source> {
    pub(super) source: &'source str,
    /// Values of macros that have more than numbers in them, by name.
    pub(super) macros: BTreeMap<&'source str, &'source str>,
}

impl<'source> Loops<'source> {
    pub(super) fn text(&self, node: Node<'_>) -> &'source str {
        &self.source[node.byte_range()]
    }

    /// Returns a loop's counter and how many steps it has, if it counts from 0 by ones.
    pub(super) fn counter(&self, node: Node<'_>) -> Option<[&'source str; 2]> {
        let field = |name: &str| node.child_by_field_name(name);
        let declarator = field("initializer")?.child_by_field_name("declarator")?;
        let name = self.text(declarator.child_by_field_name("declarator")?);
        let condition = field("condition")?;
        let left = condition.child_by_field_name("left")?;
        let step: String = self.text(field("update")?).split_whitespace().collect();
        let is_counted = self.text(declarator.child_by_field_name("value")?) == "0"
            && self.text(condition.child_by_field_name("operator")?) == "<"
            && self.text(left) == name
            && [
                format!("{name}++"),
                format!("++{name}"),
                format!("{name}+=1"),
            ]
            .contains(&step);
        let count = self.text(condition.child_by_field_name("right")?);
        is_counted.then_some([name, count])
    }

    /// Returns the names that a declaration gives, and how others are used in their values.
    pub(super) fn declared<'tree>(
        &self,
        node: Node<'tree>,
        first: &str,
    ) -> Vec<(&'source str, BTreeMap<&'source str, Use>)> {
        let mut cursor = node.walk();
        let declarators = node.children_by_field_name("declarator", &mut cursor);
        let of = |declarator: Node<'tree>| {
            let value = declarator.child_by_field_name("value");
            let bases = value.map_or_else(BTreeMap::new, |value| self.uses(value, first));
            (self.text(named(declarator)), bases)
        };
        declarators.map(of).collect()
    }

    /// Returns how the names in a part are used.
    pub(super) fn uses(&self, part: Node<'_>, first: &str) -> BTreeMap<&'source str, Use> {
        let mut found: BTreeMap<&str, Use> = BTreeMap::new();
        let mut own: BTreeSet<&str> = BTreeSet::new();
        let mut waiting = vec![(part, false)];
        while let Some((node, is_written)) = waiting.pop() {
            match node.kind() {
                "identifier" => {
                    let name = self.text(node);
                    let behind: String = self.source[node.end_byte()..]
                        .chars()
                        .filter(|letter| !letter.is_whitespace())
                        .take(first.len())
                        .collect();
                    let known = found.get(name).copied();
                    let before = known.unwrap_or(Use {
                        is_indexed: true,
                        is_set_first: is_plain_target(node),
                        ..Use::default()
                    });
                    found.insert(
                        name,
                        Use {
                            is_used: true,
                            is_written: before.is_written || is_written,
                            is_indexed: before.is_indexed && behind == first,
                            is_set_first: before.is_set_first,
                        },
                    );
                    continue;
                }
                "declaration" => {
                    let mut cursor = node.walk();
                    let declarators = node.children_by_field_name("declarator", &mut cursor);
                    own.extend(declarators.map(|it| self.text(named(it))));
                }
                _ => {}
            }
            let target = ["left", "argument"].map(|field| node.child_by_field_name(field));
            let assigns = node.kind() == "assignment_expression";
            let counts = node.kind() == "update_expression";
            let function = node.child_by_field_name("function");
            // In the order of the text.
            for child in children(node).into_iter().rev() {
                let is_target = assigns && Some(child) == target[0]
                    || counts && Some(child) == target[1]
                    || child.kind() == "argument_list"
                    || node.kind() == "pointer_expression" && self.text(node).starts_with('&');
                let is_index = node.kind() == "subscript_expression"
                    && Some(child) == node.child_by_field_name("index");
                if Some(child) != function {
                    waiting.push((child, (is_written || is_target) && !is_index));
                }
            }
        }
        found.retain(|name, _| !own.contains(name));
        found
    }
}

/// Returns whether a part of a step may end the step, or the loop.
pub(super) fn leaves(part: Node<'_>) -> bool {
    jumps(part, true) || breaks(part) || has_label(part)
}

fn has_label(node: Node<'_>) -> bool {
    node.kind() == "labeled_statement" || children(node).into_iter().any(has_label)
}

/// Returns the name that a declarator gives.
pub(super) fn named(mut declarator: Node<'_>) -> Node<'_> {
    while let Some(inner) = declarator.child_by_field_name("declarator") {
        declarator = inner;
    }
    declarator
}

/// Returns whether a name stands left of an assignment that does not ask for its old value.
fn is_plain_target(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        parent.kind() == "assignment_expression"
            && parent.child_by_field_name("left") == Some(node)
            && parent
                .child_by_field_name("operator")
                .is_some_and(|operator| operator.kind() == "=")
    })
}

/// How a name is used in a part of a step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    pub(super) is_used: bool,
    pub(super) is_written: bool,
    /// With the counters as its first indices, everywhere.
    pub(super) is_indexed: bool,
    /// It is given another value before it is used.
    pub(super) is_set_first: bool,
}
