//! How loops of a kernel's text use names.

use crate::syntax::{breaks, children, entry, jumps, syntax_tree};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use tree_sitter::Node;

/// Returns a kernel with parts of its entry function's body replaced: `edits` says which by
/// what, in order. Nothing if there are none, or calls hide what steps use.
pub(super) fn edited(
    source: &str,
    name: &str,
    edits: impl FnOnce(&Loops<'_>, Node<'_>) -> Vec<(Range<usize>, String)>,
) -> Option<String> {
    let tree = syntax_tree(source)?;
    let main = entry(tree.root_node(), source, name)?;
    let body = main.child_by_field_name("body")?;
    if names_arrays_of_file(tree.root_node(), main, source) {
        return None;
    }
    let loops = Loops {
        source,
        macros: macros(tree.root_node(), source),
    };
    let edits = edits(&loops, body);
    let mut text = source.to_owned();
    // From the end, so that what is not yet replaced stays where it is.
    for (range, new) in edits.iter().rev() {
        text.replace_range(range.clone(), new);
    }
    (!edits.is_empty()).then_some(text)
}

/// Returns the values of macros that may name arrays, by their names.
fn macros<'source>(root: Node<'_>, source: &'source str) -> BTreeMap<&'source str, &'source str> {
    let named = children(root).into_iter().filter_map(|node| {
        let [name, value] = ["name", "value"].map(|field| node.child_by_field_name(field));
        let [name, value] = [name?, value?].map(|it| &source[it.byte_range()]);
        (node.kind().starts_with("preproc_") && value.contains(['[', '*', '=']))
            .then_some((name, value))
    });
    named.collect()
}

/// Returns whether a function other than the entry uses what the file declares: then calls in
/// steps do not show what they use.
fn names_arrays_of_file(root: Node<'_>, main: Node<'_>, source: &str) -> bool {
    let all = Loops {
        source,
        macros: BTreeMap::new(),
    };
    let of_kind = |kind: &'static str| {
        children(root)
            .into_iter()
            .filter(move |it| it.kind() == kind)
    };
    let declared: BTreeSet<&str> = of_kind("declaration")
        .flat_map(|node| all.declared(node, ""))
        .map(|it| it.0)
        .collect();
    let mut functions = of_kind("function_definition").filter(|it| *it != main);
    functions.any(|function| {
        let body = function.child_by_field_name("body");
        let uses = body.map_or_else(BTreeMap::new, |body| all.uses(body, ""));
        uses.keys().any(|name| declared.contains(name))
    })
}

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
    /// Every use has the loops' counters as its first indices.
    pub(super) is_indexed: bool,
    /// It is given another value before it is used.
    pub(super) is_set_first: bool,
}
