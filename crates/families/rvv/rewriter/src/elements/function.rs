//! What the variables of a function are.

use super::name::{Kind, Name};
use super::scalar::{declared_name, literal};
use autocomp_c_loops::syntax::{below, children};
use std::collections::{BTreeMap, BTreeSet};
use tree_sitter::Node;

/// What a variable of lengths is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// What `vsetvl` gives.
    Given,
    /// How many elements fit.
    Most,
}

/// What the variables of a function are.
#[derive(Clone, Debug, Default)]
pub(super) struct Function<'s> {
    /// Variables that hold what `vsetvl` gives, and parameters that are such lengths.
    pub lengths: BTreeSet<&'s str>,
    /// Those of them that hold how many elements a load has got.
    pub got: BTreeSet<&'s str>,
    /// Variables that hold how many elements fit.
    pub most: BTreeSet<&'s str>,
    /// Tuples of vectors.
    pub tuples: BTreeMap<&'s str, Kind>,
    /// Variables of narrow whole numbers that never leave their range.
    pub exact: BTreeSet<&'s str>,
    /// Variables that are one number throughout.
    pub zeros: BTreeMap<&'s str, String>,
    /// Variables that are offsets in bytes only, with how far places are shifted.
    pub indices: BTreeMap<&'s str, String>,
    pub pointers: BTreeSet<&'s str>,
    /// Where each name stands, in the order of the text.
    pub uses: BTreeMap<&'s str, Vec<Node<'s>>>,
    /// Where names are declared first in blocks, by where the blocks begin.
    pub declared: BTreeMap<(usize, &'s str), usize>,
    /// Vectors that the function gets and gives other values.
    pub changed: Vec<(&'s str, Kind)>,
}

/// Returns which parameters of each function are given to intrinsics as lengths.
pub(super) fn length_parameters<'s>(
    root: Node<'_>,
    source: &'s str,
) -> BTreeMap<&'s str, Vec<usize>> {
    let functions = children(root)
        .into_iter()
        .filter(|it| it.kind() == "function_definition");
    let of = |function: Node<'_>| {
        let declarator = function.child_by_field_name("declarator")?;
        let name = &source[declarator.child_by_field_name("declarator")?.byte_range()];
        let names = parameters(function, source);
        let given = given_lengths(function, source);
        let found = names
            .iter()
            .enumerate()
            .filter(|(_, it)| given.contains(*it));
        let found: Vec<usize> = found.map(|(idx, _)| idx).collect();
        (!found.is_empty()).then_some((name, found))
    };
    functions.filter_map(of).collect()
}

fn parameters<'s>(function: Node<'_>, source: &'s str) -> Vec<&'s str> {
    let list = function
        .child_by_field_name("declarator")
        .and_then(|it| it.child_by_field_name("parameters"));
    let name = |node: Node<'_>| match node.child_by_field_name("declarator") {
        Some(declarator) => &source[declarator.byte_range()],
        None => "",
    };
    list.map_or(Vec::new(), |it| {
        children(it).into_iter().map(name).collect()
    })
}

/// Returns the names that intrinsics get as lengths.
fn given_lengths<'s>(function: Node<'_>, source: &'s str) -> BTreeSet<&'s str> {
    let calls = below(function)
        .into_iter()
        .filter(|it| it.kind() == "call_expression");
    let last = |call: Node<'_>| {
        let callee = &source[call.child_by_field_name("function")?.byte_range()];
        Name::read(callee).filter(Name::has_length)?;
        let arguments = children(call.child_by_field_name("arguments")?);
        arguments.last().map(|it| &source[it.byte_range()])
    };
    calls.filter_map(last).collect()
}

/// Returns what is shifted to the left, and how far, if an expression is that.
pub(super) fn scaled<'t>(node: Node<'t>, source: &str) -> Option<(Node<'t>, String)> {
    let callee = &source[node.child_by_field_name("function")?.byte_range()];
    let name = Name::read(callee)?;
    let arguments = children(node.child_by_field_name("arguments")?);
    let (value, by) = (*arguments.first()?, *arguments.get(1)?);
    let by = source[by.byte_range()].trim_end_matches(['u', 'U']);
    match (name.operation, name.form.as_slice(), name.policy) {
        ("vsll", ["vx"], "") => Some((value, by.to_owned())),
        ("vmul", ["vx"], "") => {
            let by: u32 = by.parse().ok().filter(|it: &u32| it.is_power_of_two())?;
            Some((value, by.trailing_zeros().to_string()))
        }
        _ => None,
    }
}

impl<'s> Function<'s> {
    pub(super) fn of(function: Node<'s>, source: &'s str) -> Self {
        let mut own = Self::default();
        let text = |node: Node<'_>| &source[node.byte_range()];
        let given = given_lengths(function, source);
        own.lengths.extend(
            parameters(function, source)
                .into_iter()
                .filter(|it| given.contains(it)),
        );
        // Each value that a name gets; none where it is changed in another way.
        let mut values: BTreeMap<&'s str, Vec<Option<Node<'s>>>> = BTreeMap::new();
        let mut kinds: BTreeMap<&'s str, Kind> = BTreeMap::new();
        for node in below(function) {
            match node.kind() {
                "identifier" => own.uses.entry(text(node)).or_default().push(node),
                "pointer_declarator" => {
                    if let Some(name) = node.child_by_field_name("declarator") {
                        own.pointers.insert(text(name));
                    }
                }
                "init_declarator" => {
                    if let Some(name) = node.child_by_field_name("declarator") {
                        let value = node.child_by_field_name("value");
                        values.entry(text(name)).or_default().push(value);
                    }
                }
                "assignment_expression" => {
                    let left = node.child_by_field_name("left").map_or("", text);
                    let operator = node.child_by_field_name("operator").map_or("", text);
                    let right = node
                        .child_by_field_name("right")
                        .filter(|_| operator == "=");
                    values.entry(left).or_default().push(right);
                }
                "update_expression" => {
                    let name = node.child_by_field_name("argument").map_or("", text);
                    values.entry(name).or_default().push(None);
                }
                "parameter_declaration" => {
                    let kind = node.child_by_field_name("type").map_or("", text);
                    let name = node.child_by_field_name("declarator").map_or("", text);
                    own.changed
                        .extend(Kind::of_type(kind).map(|kind| (name, kind)));
                }
                "declaration" => {
                    let kind = node.child_by_field_name("type").map_or("", text);
                    let kind = Kind::of_type(kind);
                    let block = node.parent().map_or(0, |it| it.start_byte());
                    let mut cursor = node.walk();
                    for declarator in node.children_by_field_name("declarator", &mut cursor) {
                        let name = text(declared_name(declarator).0);
                        let first = own.declared.entry((block, name));
                        first.or_insert(node.start_byte());
                        kinds.extend(kind.map(|kind| (name, kind)));
                    }
                }
                "call_expression" => {
                    let got = first_fault_length(node, source);
                    own.got.extend(got.map(text));
                }
                _ => {}
            }
        }
        own.changed.retain(|it| values.contains_key(it.0));
        own.got
            .retain(|it| match values.get(it).map(Vec::as_slice) {
                None => true,
                Some([Some(first)]) => {
                    let is_declared = first
                        .parent()
                        .is_some_and(|it| it.kind() == "init_declarator");
                    is_declared && first.kind() == "number_literal"
                }
                Some(_) => false,
            });
        own.lengths.extend(own.got.iter().copied());
        for (name, values) in &values {
            let begins = own.begins_anew(name);
            let is_first = |it: &Option<Node<'_>>| {
                begins && it.is_some_and(|it| it.kind() == "number_literal")
            };
            let values: Vec<_> = values.iter().filter(|it| !is_first(it)).copied().collect();
            let is = |wanted: Length| {
                let given = values
                    .iter()
                    .all(|value| value.is_some_and(|it| own.is_length(it, source).is_some()));
                let some = values
                    .iter()
                    .flatten()
                    .any(|it| own.is_length(*it, source) == Some(wanted));
                given && some
            };
            if is(Length::Given) {
                own.lengths.insert(name);
            } else if is(Length::Most) {
                own.most.insert(name);
            }
            if let [Some(only)] = values.as_slice() {
                own.zeros
                    .extend(number(*only, source).map(|it| (*name, it)));
            }
        }
        for (name, kind) in kinds {
            let all = values.get(name).map_or(&[][..], Vec::as_slice);
            if 1 < kind.fields {
                own.tuples.insert(name, kind);
            } else if kind.is_narrow()
                && all
                    .iter()
                    .all(|it| it.is_some_and(|it| is_exact(it, source)))
            {
                own.exact.insert(name);
            }
            if let [Some(only)] = all
                && let Some((_, by)) = scaled(*only, source)
                && own
                    .uses
                    .get(name)
                    .is_some_and(|it| is_offset_only(it, source))
            {
                own.indices.insert(name, by);
            }
        }
        own
    }

    /// Returns whether a variable is given another value before the one that it is declared with is
    /// read.
    fn begins_anew(&self, name: &str) -> bool {
        let uses = self.uses.get(name).map_or(&[][..], Vec::as_slice);
        let Some((first, others)) = uses.split_first() else {
            return false;
        };
        let is_declared =
            |it: Node<'_>| it.parent().is_some_and(|it| it.kind() == "init_declarator");
        // What the head of a loop says of its end comes after its body.
        let is_of_update = |it: &Node<'_>| {
            let mut inner = *it;
            while let Some(around) = inner.parent() {
                if around.kind() == "for_statement" {
                    return around.child_by_field_name("update") == Some(inner);
                }
                inner = around;
            }
            false
        };
        let next = others.iter().find(|it| !is_of_update(it)).copied();
        let set = next.and_then(|it| it.parent()).filter(|set| {
            set.kind() == "assignment_expression" && set.child_by_field_name("left") == next
        });
        let n_declared = uses.iter().filter(|it| is_declared(**it)).count();
        is_declared(*first) && n_declared == 1 && set.is_some()
    }

    /// Returns what kind of length an expression is, if it is one.
    pub(super) fn is_length(&self, node: Node<'_>, source: &str) -> Option<Length> {
        let callee = node.child_by_field_name("function")?;
        let name = Name::read(&source[callee.byte_range()])?;
        match name.operation {
            "vsetvl" => Some(Length::Given),
            "vsetvlmax" => Some(Length::Most),
            _ => None,
        }
    }
}

/// Returns the number that all elements are, if it is written there.
fn number(node: Node<'_>, source: &str) -> Option<String> {
    let callee = &source[node.child_by_field_name("function")?.byte_range()];
    let name = Name::read(callee).filter(|it| it.policy.is_empty())?;
    let first = children(node.child_by_field_name("arguments")?)
        .first()
        .copied()?;
    let kind = *name.kinds.last().filter(|_| name.is_splat())?;
    (first.kind() == "number_literal")
        .then(|| literal(kind, &source[first.byte_range()], false))
        .flatten()
}

fn is_exact(node: Node<'_>, source: &str) -> bool {
    let callee = node.child_by_field_name("function");
    let name = callee.and_then(|it| Name::read(&source[it.byte_range()]));
    name.is_some_and(|it| it.is_exact() && it.policy.is_empty())
}

/// Returns whether a variable that stands at these places is used for nothing but offsets of
/// indexed accesses.
fn is_offset_only(uses: &[Node<'_>], source: &str) -> bool {
    let is_offset = |node: Node<'_>| {
        let list = node.parent().filter(|it| it.kind() == "argument_list");
        let callee = list
            .and_then(|it| it.parent())
            .and_then(|it| it.child_by_field_name("function"));
        let name = callee.and_then(|it| Name::read(&source[it.byte_range()]));
        name.is_some_and(|it| it.operation.contains("xei"))
    };
    let is_declared = |node: Node<'_>| {
        node.parent().is_some_and(|it| {
            it.kind() == "init_declarator" && it.child_by_field_name("declarator") == Some(node)
        })
    };
    uses.iter().all(|it| is_declared(*it) || is_offset(*it))
}

/// Returns the variable that gets how many elements a load has got before a fault.
pub(super) fn first_fault_length<'t>(call: Node<'t>, source: &str) -> Option<Node<'t>> {
    let callee = &source[call.child_by_field_name("function")?.byte_range()];
    Name::read(callee).filter(Name::is_first_fault)?;
    let mut arguments = children(call.child_by_field_name("arguments")?);
    arguments.pop()?;
    let place = arguments.pop()?;
    let name = place.child_by_field_name("argument")?;
    (source[place.byte_range()].starts_with('&') && name.kind() == "identifier").then_some(name)
}
