//! Loops of any spelling become counted loops from zero.

use super::super::code::{Loop, Statement};
use super::counters::Values;
use super::limits::Limit;
use super::order::{assigns, forwards, is_free};
use super::{Around, Binding, Reader};
use crate::refusal::Refusal;
use crate::remedy::remedy;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::{assigned_names, below, between_commas, block_statements, children};
use std::collections::BTreeSet;
use tree_sitter::Node;

/// Returns the variables that count a loop and are declared outside of it.
pub(super) fn outside_counters(root: Node<'_>, source: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        let text = |node: Node<'_>| source[node.byte_range()].to_owned();
        let changed = |node: Node<'_>| {
            let field = ["argument", "left"]
                .into_iter()
                .find_map(|it| node.child_by_field_name(it));
            field.map(text)
        };
        match node.kind() {
            "for_statement" => {
                let first = node.child_by_field_name("initializer");
                if first.is_none_or(|it| it.kind() != "declaration") {
                    let update = node.child_by_field_name("update");
                    let all = first.into_iter().chain(update).flat_map(between_commas);
                    found.extend(all.filter_map(changed));
                }
            }
            "while_statement" | "do_statement" => {
                let asked = node
                    .child_by_field_name("condition")
                    .map_or(Vec::new(), below);
                let body = node
                    .child_by_field_name("body")
                    .map_or(Vec::new(), block_statements);
                let effects = body.into_iter().filter_map(|it| it.named_child(0));
                let all = effects.chain(asked.iter().copied()).filter_map(changed);
                let is_asked = |name: &String| asked.iter().any(|it| text(*it) == *name);
                found.extend(all.filter(is_asked));
            }
            _ => {}
        }
        pending.extend(children(node));
    }
    found
}

impl<'s> Reader<'s> {
    pub(super) fn counted(
        &mut self,
        node: Node<'s>,
        to: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        if self.is_counted_by_pointer(node) {
            return self.counted_by_pointer(node, to);
        }
        // `for (i = 0, j = n; …)`
        let condition = self.field(node, "condition")?;
        let first = node.child_by_field_name("initializer");
        let firsts = first.map_or(Vec::new(), between_commas);
        if 1 < firsts.len() {
            for other in firsts {
                if !self.is_asked(condition, other) {
                    self.effect(other, to)?;
                }
            }
        }
        let outside = (self.names.clone(), self.bindings.clone());
        let (variable, start, kind) = self.first_value(node)?;
        let mut update = node.child_by_field_name("update");
        let mut walks = Vec::new();
        // `i++, p += 4`
        if let Some(several) = update.filter(|it| it.kind() == "comma_expression") {
            let is_own = |it: &Node<'s>| self.changes(*it) == Some(variable);
            let (own, others): (Vec<_>, Vec<_>) =
                between_commas(several).into_iter().partition(is_own);
            let mut beside = Vec::new();
            for other in others {
                let name = self.changes(other).unwrap_or("");
                match self.bindings.get(name) {
                    Some(Binding::Pointer(_)) => walks.push(other),
                    Some(Binding::Counter(Some(first))) => match self.step(name, other) {
                        Some(step) => beside.push((name, *first, step)),
                        None => return self.not_understood(other),
                    },
                    _ => return self.not_understood(other),
                }
            }
            let body = self.field(node, "body")?;
            let changed = assigned_names(body, self.source);
            let asked = below(condition);
            let is_asked = |name: &str| asked.iter().any(|it| self.text(*it) == name);
            if own.len() != 1
                || beside
                    .iter()
                    .any(|it| changed.contains(it.0) || is_asked(it.0))
            {
                return self.refused(node, "changes a counter in more than one place");
            }
            update = own.first().copied();
            self.beside = beside;
        }
        let mut limits = Vec::new();
        let Some(first) = start.as_ref().and_then(|it| self.least(it)) else {
            return self.refused(node, "begins where no number says");
        };
        limits.extend(
            start
                .filter(|it| it.as_constant().is_none())
                .map(|it| (">=", it)),
        );
        let (values, bound) = self.values(node, variable, first, condition, update)?;
        limits.extend(bound);
        let body = self.field(node, "body")?;
        let mut nodes = block_statements(body);
        nodes.extend(walks);
        let beside = self.beside.clone();
        let made = match values.trips {
            0 => None,
            _ => Some(self.made(node, variable, &kind, (values, &limits), &nodes)?),
        };
        self.beside.clear();
        (self.names, self.bindings) = outside;
        let behind = std::mem::take(&mut self.behind);
        self.stand(behind);
        self.leave(variable, values);
        for (name, first, step) in beside {
            if let Some(Binding::Counter(value)) = self.bindings.get_mut(name) {
                let last = values.last.and(step.checked_mul(values.trips));
                *value = last.and_then(|it| first.checked_add(it));
            }
        }
        to.extend(made);
        Ok(())
    }

    /// Returns whether an assignment is of a variable that a condition names.
    pub(super) fn is_asked(&self, condition: Node<'s>, assignment: Node<'s>) -> bool {
        let name = self.changes(assignment);
        below(condition)
            .into_iter()
            .any(|it| Some(self.text(it)) == name)
    }

    /// Reads `while (i < n) { … i++; }`.
    pub(super) fn counted_while(
        &mut self,
        node: Node<'s>,
        to: &mut Vec<Statement>,
    ) -> Result<(), Refusal> {
        if self.is_counted_by_pointer(node) {
            return self.counted_by_pointer(node, to);
        }
        let mut rest = block_statements(self.field(node, "body")?);
        let condition = self.field(node, "condition")?;
        let asked = below(condition).into_iter();
        let (update, is_first) = match asked
            .into_iter()
            .find(|it| it.kind() == "update_expression")
        {
            // `while (n--)`
            Some(update) => (update, !self.text(update).starts_with(['-', '+'])),
            None => {
                let is_update = |it: &Node<'s>| {
                    let effect = it.named_child(0);
                    it.kind() == "expression_statement"
                        && effect.is_some_and(|it| self.is_asked(condition, it))
                };
                let Some(at) = rest.iter().position(is_update) else {
                    return self.not_understood(node);
                };
                let update = rest.remove(at).named_child(0);
                let name = update.and_then(|it| self.changes(it));
                let is_read = |it: &Node<'s>| Some(self.text(*it)) == name;
                if rest[at..].iter().any(|it| below(*it).iter().any(is_read)) {
                    return self.refused(
                        node,
                        "reads its counter behind the place where it changes: change it at the end",
                    );
                }
                match update {
                    Some(update) => (update, false),
                    None => return self.not_understood(node),
                }
            }
        };
        let variable = self.changes(update).unwrap_or("");
        let Some(Binding::Counter(Some(start))) = self.bindings.get(variable) else {
            return self.refused_with(
                node,
                "counts nothing whose first value is known",
                remedy(node, self.text(condition)),
            );
        };
        let start = *start;
        let Some(step) = self.step(variable, update) else {
            return self.not_understood(node);
        };
        // The body of `do` runs once before the condition is asked.
        let n_before = i64::from(node.kind() == "do_statement");
        // `while (--n)` counts before its body, `do … while (n--)` once more than it compares.
        let is_asked = below(condition).contains(&update);
        if is_asked && is_first == (n_before != 0) {
            return self.not_understood(node);
        }
        let own = Some(update).filter(|_| !is_first);
        let (values, bound) =
            self.values(node, variable, start + n_before * step, condition, own)?;
        if bound.is_some() {
            return self.refused(node, "ends where no number says");
        }
        let values = match n_before {
            0 => values,
            _ => Values {
                least: start.min(start + values.trips * step),
                trips: values.trips + 1,
                last: Some(start + (values.trips + 1) * step),
                ..values
            },
        };
        let rest = rest.as_slice();
        let changes = rest
            .iter()
            .any(|it| assigned_names(*it, self.source).contains(variable));
        if changes {
            return self.refused(node, "changes its counter in more than one place");
        }
        if rest.is_empty() {
            self.leave(variable, values);
            return Ok(());
        }
        let outside = (self.names.clone(), self.bindings.clone());
        let made = match values.trips {
            0 => None,
            _ => Some(self.made(node, variable, "int32_t", (values, &[]), rest)?),
        };
        (self.names, self.bindings) = outside;
        let behind = std::mem::take(&mut self.behind);
        self.stand(behind);
        self.leave(variable, values);
        to.extend(made);
        Ok(())
    }

    /// Notes what is known of counters behind a loop.
    fn leave(&mut self, variable: &str, values: Values) {
        // One that does not run changes none.
        if values.trips != 0 {
            self.forget_counters();
        }
        if let Some(Binding::Counter(value)) = self.bindings.get_mut(variable) {
            *value = values.last;
        }
    }

    /// What counters are in a loop, or behind one that changes them, is nobody's to know.
    pub(super) fn forget_counters(&mut self) {
        for binding in self.bindings.values_mut() {
            if let Binding::Counter(value) = binding {
                *value = None;
            }
        }
    }

    /// Makes the loop of the statements in its body.
    pub(super) fn made(
        &mut self,
        node: Node<'s>,
        variable: &str,
        kind: &str,
        (values, limits): (Values, &[Limit]),
        body: &[Node<'s>],
    ) -> Result<Statement, Refusal> {
        let beside = std::mem::take(&mut self.beside);
        if !limits.is_empty() {
            return match beside.is_empty() {
                true => self.made_within(node, variable, kind, (values, limits), body),
                false => self.refused(node, "has two counters, and ends where no number says"),
            };
        }
        // A counter that is not read may count in any way.
        let is_read = |it: &Node<'s>| below(*it).iter().any(|it| self.text(*it) == variable);
        let values = match beside.is_empty() && !body.iter().any(is_read) {
            true => Values {
                least: 0,
                step: 1,
                descends: false,
                ..values
            },
            false => values,
        };
        self.beside.clone_from(&beside);
        let ascending = self.with_values(variable, kind, values, false, body)?;
        if !values.descends || is_free(&ascending) {
            return self.checked(node, ascending);
        }
        self.beside = beside;
        let made = self.with_values(variable, kind, values, true, body)?;
        self.checked(node, made)
    }

    pub(super) fn checked(&self, node: Node<'s>, made: Loop) -> Result<Statement, Refusal> {
        if made.body.is_empty() {
            return self.refused(node, "has nothing in its braces");
        }
        if assigns(&made.body, &made.variable) {
            return self.refused(node, "changes its counter");
        }
        Ok(Statement::Loop(forwards(made, &self.all)))
    }

    pub(super) fn with_values(
        &mut self,
        variable: &str,
        kind: &str,
        values: Values,
        descends: bool,
        body: &[Node<'s>],
    ) -> Result<Loop, Refusal> {
        let outside = (self.names.clone(), self.bindings.clone());
        let taken = self.names.contains_key(variable)
            || self.all.contains_key(variable)
            || super::is_reserved(variable)
            || self.loops.iter().any(|it| it.variable == variable);
        self.bindings.remove(variable);
        let name = match taken {
            true => self.fresh(variable),
            false => variable.to_owned(),
        };
        // Steps stay as they are, as long as they go up from zero.
        let step = if descends { 1 } else { values.step };
        let greatest = (values.trips - 1) * step;
        let own = Affine::variable(&name);
        let value = match descends {
            true => own
                .times(-values.step)
                .and_then(|it| it.plus_constant(values.least + (values.trips - 1) * values.step)),
            false => own.plus_constant(values.least),
        };
        let value = value.ok_or("a loop counts too far")?;
        if value != Affine::variable(variable) {
            self.bindings
                .insert(variable.to_owned(), Binding::Index(value));
        }
        self.forget_counters();
        for (other, first, step) in std::mem::take(&mut self.beside) {
            let value = turn(values, &name, descends);
            let value = value.and_then(|it| it.times(step)?.plus_constant(first));
            let value = value.ok_or("a loop counts too far")?;
            self.bindings
                .insert(other.to_owned(), Binding::Index(value));
        }
        self.loops.push(Around {
            variable: name.clone(),
            least: 0,
            greatest,
            is_unsigned: kind.starts_with('u'),
        });
        let mut statements = Vec::new();
        let read = self.walk(body, values, &name, descends);
        let read = read.and_then(|behind| {
            self.sequence(body, &mut statements)?;
            Ok(behind)
        });
        self.loops.pop();
        (self.names, self.bindings) = outside;
        self.behind = read?;
        Ok(Loop {
            variable: name,
            start: 0,
            end: greatest + 1,
            step,
            body: statements,
        })
    }
}

/// Returns which iteration of a loop it is, by the variable that it counts with.
pub(super) fn turn(values: Values, name: &str, descends: bool) -> Option<Affine> {
    let number = match descends {
        true => Affine::variable(name),
        false => Affine::variable(name).divided_by(values.step)?,
    };
    match values.descends && !descends {
        true => number.times(-1)?.plus_constant(values.trips - 1),
        false => Some(number),
    }
}
