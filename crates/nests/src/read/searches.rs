//! Loops that end at the first element of a kind: they look at all elements and keep the first
//! place, so that iterations do not wait for one another. Lines keep their numbers.
//!
//! What is not understood stays, and is refused later with its line.

use super::macros::renamed;
use super::punning::as_many_lines;
use autocomp_c_loops::syntax::{below, block_statements, children, syntax_tree, too_deep};
use std::collections::BTreeMap;
use tree_sitter::Node;

/// Returns `text` with loops over all elements in place of searches.
pub(super) fn without_searches(text: &str) -> String {
    let tree = syntax_tree(text);
    let Some(tree) = tree.filter(|it| !it.root_node().has_error() && !too_deep(it.root_node()))
    else {
        return text.to_owned();
    };
    let mut made = text.to_owned();
    let nodes = below(tree.root_node()).into_iter().rev();
    for (number, node) in nodes
        .filter(|it| it.kind().ends_with("_statement"))
        .enumerate()
    {
        let pass = Pass { text, number };
        let search = match node.kind() {
            "while_statement" => pass.of_while(node),
            "for_statement" => pass.of_for(node),
            _ => None,
        };
        if let Some(search) = search {
            let search = as_many_lines(search, &text[node.byte_range()]);
            made.replace_range(node.byte_range(), &search);
        }
    }
    made
}

struct Pass<'s> {
    text: &'s str,
    /// What makes names of this search its own.
    number: usize,
}

/// What counts in a search, from where to where.
struct Counter<'s> {
    name: &'s str,
    first: &'s str,
    end: &'s str,
}

impl<'s> Pass<'s> {
    fn slice(&self, node: Node<'_>) -> &'s str {
        &self.text[node.byte_range()]
    }

    /// Returns the sides of a comparison by `<`.
    fn below_end(&self, node: Node<'_>) -> Option<(&'s str, &'s str)> {
        let operator = node.child_by_field_name("operator")?;
        let [left, right] = ["left", "right"].map(|it| node.child_by_field_name(it));
        (self.slice(operator) == "<").then_some((self.slice(left?), self.slice(right?)))
    }

    /// Returns what is added one to.
    fn counted(&self, node: Node<'_>) -> Option<&'s str> {
        let effect = match node.kind() {
            "expression_statement" => node.named_child(0)?,
            _ => node,
        };
        let name = self.slice(effect.child_by_field_name("argument")?);
        let is_up = self.slice(effect.child_by_field_name("operator")?) == "++";
        (effect.kind() == "update_expression" && is_up).then_some(name)
    }

    /// Returns what a statement sets a variable to.
    fn set(&self, node: Node<'_>) -> Option<(&'s str, &'s str)> {
        let (left, right) = match node.kind() {
            "declaration" => {
                let declared = node.child_by_field_name("declarator")?;
                (children(node).len() == 2).then_some(())?;
                fields(declared, "declarator", "value")?
            }
            "expression_statement" => {
                let set = node.named_child(0)?;
                let is_set = set.kind() == "assignment_expression"
                    && self.slice(set.child_by_field_name("operator")?) == "=";
                is_set.then_some(())?;
                fields(set, "left", "right")?
            }
            _ => return None,
        };
        (left.kind() == "identifier").then_some((self.slice(left), self.slice(right)))
    }

    /// Returns whether a condition may be asked of any element: nothing is changed or called there.
    fn is_pure(&self, node: Node<'_>) -> bool {
        let changes = [
            "assignment_expression",
            "update_expression",
            "call_expression",
        ];
        below(node).iter().all(|it| !changes.contains(&it.kind()))
    }

    /// Returns a condition with another name for the counter.
    fn asked(&self, condition: &str, counter: &Counter<'_>, name: &str) -> String {
        renamed(
            condition,
            &BTreeMap::from([(counter.name.to_owned(), name.to_owned())]),
        )
    }

    /// Returns loops that find the first place where a condition holds, and what is done behind;
    /// nothing where there may be no place at all.
    fn found(&self, counter: &Counter<'_>, condition: &str, behind: &str) -> Option<String> {
        let number = |text: &str| text.parse::<u32>().ok();
        let is_some = match (number(counter.first), number(counter.end)) {
            (Some(first), Some(end)) => first <= end,
            (first, None) => first == Some(0),
            _ => false,
        };
        let (first, at) = (
            format!("first_of{}", self.number),
            format!("place{}", self.number),
        );
        let asked = self.asked(condition, counter, &at);
        let (begin, end) = (counter.first, counter.end);
        let behind = behind.replace("FIRST", &first);
        is_some.then(|| format!(
            "{{ int32_t {first} = {end}; for (int32_t {at} = {begin}; {at} < {end}; {at}++) if ({asked}) {first} = {at} < {first} ? {at} : {first}; {behind} }}"
        ))
    }

    /// Reads `int j = 0; while (j < n && x[j] != y) j++;`.
    fn of_while(&self, node: Node<'_>) -> Option<String> {
        let mut condition = node.child_by_field_name("condition")?;
        while condition.kind() == "parenthesized_expression" {
            condition = condition.named_child(0)?;
        }
        let is_both = self.slice(condition.child_by_field_name("operator")?) == "&&";
        let (left, right) = fields(condition, "left", "right")?;
        let (name, end) = self.below_end(left).filter(|_| is_both)?;
        let body = block_statements(node.child_by_field_name("body")?);
        let [step] = body.as_slice() else {
            return None;
        };
        let before = self.set(node.prev_named_sibling()?)?;
        let is_search =
            self.counted(*step) == Some(name) && before.0 == name && self.is_pure(right);
        let counter = Counter {
            name,
            first: before.1,
            end,
        };
        let condition = format!("!({})", self.slice(right));
        let behind = format!("{name} = FIRST;");
        self.found(&counter, &condition, &behind)
            .filter(|_| is_search)
    }

    /// Reads `for (int j = 0; j < n; j++) { if (x[j] == y) { at = j; break; } count++; }`.
    fn of_for(&self, node: Node<'_>) -> Option<String> {
        let head = node.child_by_field_name("initializer")?;
        let (name, first) = match head.kind() {
            "declaration" => self.set(head)?,
            _ => return None,
        };
        let (counted, end) = self.below_end(node.child_by_field_name("condition")?)?;
        let is_counted =
            counted == name && self.counted(node.child_by_field_name("update")?) == Some(name);
        let body = block_statements(node.child_by_field_name("body")?);
        let (asked, others) = body.split_first()?;
        let is_plain =
            asked.kind() == "if_statement" && asked.child_by_field_name("alternative").is_none();
        let condition = asked
            .child_by_field_name("condition")
            .filter(|_| is_plain && is_counted)?;
        let then = block_statements(asked.child_by_field_name("consequence")?);
        let (last, sets) = then.split_last()?;
        if last.kind() != "break_statement" || !self.is_pure(condition) {
            return None;
        }
        let counter = Counter { name, first, end };
        let mut behind = String::new();
        for other in others {
            behind += &format!("{} += FIRST - ({first}); ", self.counted(*other)?);
        }
        let mut chosen = String::new();
        for set in sets {
            let (target, value) = self.set(*set)?;
            (set.kind() == "expression_statement").then_some(())?;
            chosen += &format!("{target} = {}; ", self.asked(value, &counter, "FIRST"));
        }
        if !chosen.is_empty() {
            behind += &format!("if (FIRST < {end}) {{ {chosen}}}");
        }
        self.found(&counter, self.slice(condition), &behind)
    }
}

fn fields<'t>(node: Node<'t>, one: &str, other: &str) -> Option<(Node<'t>, Node<'t>)> {
    Some((
        node.child_by_field_name(one)?,
        node.child_by_field_name(other)?,
    ))
}
