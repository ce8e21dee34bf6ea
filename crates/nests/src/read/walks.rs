//! Pointers that walk: in each iteration of a loop by as many elements.
//!
//! Where a pointer stands is known from statement to statement. What a loop's body moves it by is
//! found by reading the body once; behind that it is read again with places that depend on the
//! loop's variable.

use super::super::code::Statement;
use super::counters::Values;
use super::loops::turn;
use super::places::Place;
use super::{Binding, EXTENT_LIMIT, Reader};
use crate::refusal::Refusal;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::{assigned_names, below, between_commas, block_statements};
use tree_sitter::Node;

/// Pointers by their names, and where they stand.
pub(super) type Stands = Vec<(String, Place)>;

/// How many expressions it counts as to read the body of a loop once more.
const READING: u32 = 100;

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
        let is_pointer = |it: &Binding| matches!(it, Binding::Pointer(_));
        if !self.bindings.values().any(is_pointer) {
            return Vec::new();
        }
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
            (true, "++") => place.ahead(&Affine::constant(1)),
            (true, "--") => place.ahead(&Affine::constant(-1)),
            (false, "+=" | "-=") => {
                let by = self.affine(self.field(node, "right")?);
                let sign = if operator == "+=" { 1 } else { -1 };
                by.and_then(|by| place.ahead(&by.times(sign)?))
            }
            (false, "=") => {
                let right = self.field(node, "right")?;
                let new = self.place(right);
                let kind = |it: &Place| self.names.get(&it.name).map(|it| &it.kind);
                let points_to = |it: &Place| (it.lead.len(), it.rows.clone());
                new.filter(|it| kind(it) == kind(&place) && points_to(it) == points_to(&place))
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
        let names = |node: &Node<'s>| node.kind() == "identifier" && Some(self.text(*node)) == name;
        let count = below(root).into_iter().filter(names).count();
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

    /// Returns whether a pointer counts a loop: `while (p < end)`, `for (p = a; p != end; p++)`.
    pub(super) fn is_counted_by_pointer(&self, node: Node<'s>) -> bool {
        let declares = node.child_by_field_name("initializer").is_some_and(|it| {
            let mut cursor = it.walk();
            let mut all = it.children_by_field_name("declarator", &mut cursor);
            // `*p` or `(*p)[4]`
            all.any(|it| self.text(it).trim_start_matches('(').starts_with('*'))
        });
        let pointer = self.counting(node);
        let is_known = |name| matches!(self.bindings.get(name), Some(Binding::Pointer(_)));
        pointer.is_some_and(|it| declares || is_known(self.text(it)))
    }

    /// Returns the name on the left of the comparison that a loop goes on by.
    fn counting(&self, node: Node<'s>) -> Option<Node<'s>> {
        let condition = comparison(node)?;
        let left = condition.child_by_field_name("left")?;
        (left.kind() == "identifier").then_some(left)
    }

    /// Reads a loop that a pointer counts.
    pub(super) fn counted_by_pointer(
        &mut self,
        node: Node<'s>,
        to: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        let first = node.child_by_field_name("initializer");
        let head = first.filter(|it| it.kind() == "declaration");
        if let (Some(first), None) = (first, head) {
            self.effect(first, to)?;
        }
        let outside = (self.names.clone(), self.bindings.clone());
        if let Some(head) = head {
            self.declaration(head, to)?;
        }
        let (Some(pointer), Some(condition)) = (self.counting(node), comparison(node)) else {
            return self.not_understood(node);
        };
        let right = self.field(condition, "right")?;
        let mut body = block_statements(self.field(node, "body")?);
        let update = node.child_by_field_name("update");
        body.extend(update.into_iter().flat_map(between_commas));
        let before = self.walking(&body);
        let name = self.text(pointer);
        let at = before.iter().position(|it| it.0 == name);
        let (Some(at), Some(start), Some(end)) = (at, self.place(pointer), self.place(right))
        else {
            return self.not_understood(node);
        };
        let stride = self.strides(&body, &before)?[at];
        // What ends the loop must stay where it is.
        let moved = |node: &Node<'s>| before.iter().any(|it| it.0 == self.text(*node));
        let is_steady = !below(right).iter().any(moved);
        let is_same = start.name == end.name && start.lead == end.lead;
        let apart = end
            .offset
            .minus(&start.offset)
            .and_then(|it| it.as_constant());
        let apart = apart.filter(|_| is_same && is_steady);
        let operator = self.text(self.field(condition, "operator")?);
        let span = match (operator, stride, apart) {
            ("<", 1.., Some(apart)) => apart,
            ("<=", 1.., Some(apart)) => apart + 1,
            (">", ..=-1, Some(apart)) => -apart,
            (">=", ..=-1, Some(apart)) => 1 - apart,
            ("!=", 1.., Some(apart @ 0..)) if apart % stride == 0 => apart,
            ("!=", ..=-1, Some(apart @ ..=0)) if apart % stride == 0 => -apart,
            _ => return self.refused(node, "goes on by a pointer that is not followed"),
        };
        if EXTENT_LIMIT < span || span <= 0 && node.kind() == "do_statement" {
            return self.refused(node, "runs too long, or by its body alone");
        }
        let step = stride.abs();
        let values = Values {
            least: 0,
            trips: (span.max(0) + step - 1) / step,
            step: 1,
            descends: false,
            last: None,
        };
        if values.trips != 0 {
            let variable = self.fresh("walk");
            to.push(self.made(node, &variable, "int32_t", (values, &[]), &body)?);
        }
        (self.names, self.bindings) = outside;
        let mut behind = std::mem::take(&mut self.behind);
        // Those of the loop's head are gone.
        let is_of_head = |it: &(String, Place)| {
            head.is_some_and(|head| declare(&[head], &vec![it.clone()], self.source))
        };
        behind.retain(|it| !is_of_head(it));
        self.stand(behind);
        if values.trips != 0 {
            self.forget_counters();
        }
        Ok(())
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
        let number = turn(values, name, descends);
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
        // Each loop around doubles how often what is within is read.
        match self.budget.checked_sub(READING) {
            Some(left) => self.budget = left,
            None => return Err("the kernel is too long".into()),
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

/// Returns the comparison that a loop goes on by.
fn comparison(node: Node<'_>) -> Option<Node<'_>> {
    let mut condition = node.child_by_field_name("condition")?;
    while condition.kind() == "parenthesized_expression" {
        condition = condition.named_child(0)?;
    }
    (condition.kind() == "binary_expression").then_some(condition)
}

/// Returns whether statements declare one of these names.
fn declare(nodes: &[Node<'_>], names: &Stands, source: &str) -> bool {
    let is_declared = |node: &Node<'_>| {
        node.parent().is_some_and(|around| {
            let declares = around.child_by_field_name("declarator") == Some(*node);
            declares || around.kind() == "declaration"
        })
    };
    let all = nodes.iter().flat_map(|it| below(*it));
    let mut declared = all.filter(|it| it.kind() == "identifier" && is_declared(it));
    declared.any(|it| names.iter().any(|name| name.0 == source[it.byte_range()]))
}
