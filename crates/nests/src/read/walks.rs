//! Pointers that walk: in each iteration of a loop by as many elements.
//!
//! Where a pointer stands is known from statement to statement. What a loop's body moves it by is
//! found by reading the body once; behind that it is read again with places that depend on the
//! loop's variable.

use super::loops::Values;
use super::places::Place;
use super::{Binding, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::{assigned_names, children};
use tree_sitter::Node;

/// Pointers by their names, and where they stand.
pub(super) type Stands = Vec<(String, Place)>;

/// What may stand around a pointer that moves within an expression: it is evaluated once there, and
/// in any case.
const AROUND: [&str; 11] = [
    "argument_list",
    "assignment_expression",
    "binary_expression",
    "call_expression",
    "cast_expression",
    "comma_expression",
    "init_declarator",
    "parenthesized_expression",
    "pointer_expression",
    "subscript_expression",
    "unary_expression",
];

impl<'s> Reader<'s> {
    /// Returns where pointers stand that statements move.
    pub(super) fn walking(&self, nodes: &[Node<'s>]) -> Stands {
        let moved = nodes.iter().flat_map(|it| assigned_names(*it, self.source));
        let mut found: Stands = moved
            .filter_map(|name| match self.bindings.get(&name) {
                Some(Binding::Pointer(place)) => Some((name, place.clone())),
                _ => None,
            })
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found.dedup();
        found
    }

    /// Returns where these pointers stand now.
    fn standing(&self, before: &Stands) -> Option<Stands> {
        let now = before
            .iter()
            .map(|(name, _)| match self.bindings.get(name) {
                Some(Binding::Pointer(place)) => Some((name.clone(), place.clone())),
                _ => None,
            });
        now.collect()
    }

    pub(super) fn stand(&mut self, places: Stands) {
        for (name, place) in places {
            self.bindings.insert(name, Binding::Pointer(place));
        }
    }

    /// Moves a pointer, if an assignment or an update is of one: `p += 4`, `p++`, `p = a + i`.
    pub(super) fn moves(&mut self, node: Node<'s>) -> Result<bool, Refusal> {
        let is_update = node.kind() == "update_expression";
        let left = self.field(node, if is_update { "argument" } else { "left" })?;
        let name = self.text(left);
        let Some(Binding::Pointer(place)) = self.bindings.get(name).cloned() else {
            return Ok(false);
        };
        let operator = self.text(self.field(node, "operator")?);
        let moved = match (is_update, operator) {
            (true, "++") => place.plus(&Affine::constant(1)),
            (true, "--") => place.plus(&Affine::constant(-1)),
            (false, "+=") => {
                let by = self.affine(self.field(node, "right")?);
                by.and_then(|by| place.plus(&by))
            }
            (false, "-=") => {
                let by = self.affine(self.field(node, "right")?);
                by.and_then(|by| place.plus(&by.times(-1)?))
            }
            (false, "=") => {
                let right = self.field(node, "right")?;
                let kind = |it: &Place| self.names.get(&it.name).map(|it| it.kind.clone());
                let old = kind(&place);
                let new = self.place(right);
                let kind = |it: &Place| self.names.get(&it.name).map(|it| it.kind.clone());
                new.filter(|it| kind(it) == old && it.lead.len() == place.lead.len())
            }
            _ => None,
        };
        let Some(moved) = moved else {
            return self.refused(node, "moves a pointer in a way that is not followed");
        };
        self.bindings
            .insert(name.to_owned(), Binding::Pointer(moved));
        Ok(true)
    }

    /// Reads what `*p++` and `*--p` point at, and moves the pointer.
    pub(super) fn walked(&mut self, update: Node<'s>) -> Result<Place, Refusal> {
        if !self.is_walked_once(update) {
            return self.refused(update, "moves a pointer in a way that is not followed");
        }
        let argument = self.field(update, "argument")?;
        let operator = self.field(update, "operator")?;
        let before = self.place(argument);
        let is_first = argument.start_byte() < operator.start_byte();
        let moved = self.moves(update)?;
        let after = self.place(argument);
        match if is_first { before } else { after } {
            Some(place) if moved => Ok(place),
            _ => self.not_understood(update),
        }
    }

    /// Returns whether the expression around is evaluated once, and names the pointer nowhere else.
    fn is_walked_once(&self, update: Node<'s>) -> bool {
        let name = update
            .child_by_field_name("argument")
            .map(|it| self.text(it));
        let mut root = update;
        while let Some(around) = root.parent() {
            let kind = around.kind();
            if kind.ends_with("_statement") || kind == "declaration" {
                break;
            }
            let operator = around
                .child_by_field_name("operator")
                .map(|it| self.text(it));
            // What one of its own functions gets may be computed where it is used.
            let callee = around
                .child_by_field_name("function")
                .map(|it| self.text(it));
            if callee.is_some_and(|it| self.functions.contains_key(it)) {
                return false;
            }
            if !AROUND.contains(&kind) || operator.is_some_and(|it| ["&&", "||"].contains(&it)) {
                return false;
            }
            root = around;
        }
        let (mut pending, mut count) = (vec![root], 0);
        while let Some(node) = pending.pop() {
            count += usize::from(node.kind() == "identifier" && Some(self.text(node)) == name);
            pending.extend(children(node));
        }
        let of_loop = [
            "if_statement",
            "for_statement",
            "while_statement",
            "do_statement",
        ];
        count == 1
            && root
                .parent()
                .is_some_and(|it| !of_loop.contains(&it.kind()))
    }

    /// Has the pointers that a body moves stand where they do in the iteration that `name` counts,
    /// and returns where they stand behind the loop.
    pub(super) fn walk(
        &mut self,
        body: &[Node<'s>],
        values: Values,
        name: &str,
        descends: bool,
    ) -> Result<Stands, Refusal> {
        let before = self.walking(body);
        if before.is_empty() {
            return Ok(before);
        }
        let strides = self.strides(body, &before)?;
        let number = match descends {
            true => Some(Affine::variable(name)),
            false => Affine::variable(name).divided_by(values.step),
        };
        let number = number.and_then(|it| match values.descends && !descends {
            true => it.times(-1)?.plus_constant(values.trips - 1),
            false => Some(it),
        });
        let within = number.and_then(|it| moved_by(&before, &strides, &it));
        let behind = moved_by(&before, &strides, &Affine::constant(values.trips));
        let (Some(within), Some(behind)) = (within, behind) else {
            return Err("a pointer walks too far".into());
        };
        self.stand(within);
        Ok(behind)
    }

    /// Reads the body of a loop once and returns how far it moves each pointer; nothing is left of
    /// what was read.
    fn strides(&mut self, body: &[Node<'s>], before: &Stands) -> Result<Vec<i64>, Refusal> {
        let not_followed = |reader: &Self| match body.first() {
            Some(first) => reader.refused(*first, "moves a pointer in a way that is not followed"),
            None => Ok(Vec::new()),
        };
        if declare(body, before, self.source) {
            return not_followed(self);
        }
        let outside = (self.names.clone(), self.bindings.clone(), self.all.clone());
        let read = self.sequence(body, &mut Vec::new());
        let after = self.standing(before);
        (self.names, self.bindings, self.all) = outside;
        read?;
        let strides = after.and_then(|after| {
            let pairs = before.iter().zip(&after);
            let strides = pairs.map(|((_, before), (_, after))| {
                let is_same = before.name == after.name && before.lead == after.lead;
                let stride = after.offset.minus(&before.offset)?.as_constant();
                stride.filter(|_| is_same)
            });
            strides.collect()
        });
        strides.map_or_else(|| not_followed(self), Ok)
    }
}

/// Returns where pointers stand that were moved by these strides, as many times as `times` says.
fn moved_by(before: &Stands, strides: &[i64], times: &Affine) -> Option<Stands> {
    let moved = before.iter().zip(strides).map(|((name, place), stride)| {
        Some((name.clone(), place.clone().plus(&times.times(*stride)?)?))
    });
    moved.collect()
}

/// Returns the expressions that commas are between.
pub(super) fn between_commas(node: Node<'_>) -> Vec<Node<'_>> {
    match node.kind() {
        "comma_expression" => children(node)
            .into_iter()
            .flat_map(between_commas)
            .collect(),
        _ => vec![node],
    }
}

/// Returns whether statements declare one of these names.
fn declare(nodes: &[Node<'_>], names: &Stands, source: &str) -> bool {
    let mut pending = nodes.to_vec();
    while let Some(node) = pending.pop() {
        let declares = node.kind() == "identifier"
            && node.parent().is_some_and(|around| {
                let is_declared = around.child_by_field_name("declarator") == Some(node);
                is_declared || around.kind() == "declaration"
            });
        if declares && names.iter().any(|it| it.0 == source[node.byte_range()]) {
            return true;
        }
        pending.extend(children(node));
    }
    false
}
