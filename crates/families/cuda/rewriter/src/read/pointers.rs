//! Pointers that move.

use super::{Binding, Reader};
use crate::expression::{Expression, folded};
use crate::kinds::is_of_word;
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::{block_statements, children};
use autocomp_nests::Refusal;
use tree_sitter::Node;

/// A pointer that each turn of a loop moves by as many elements.
pub(super) struct Walk {
    name: String,
    array: String,
    /// Where in the array the first turn begins.
    base: Expression,
    /// Elements from one value of the loop's counter to the next.
    by: i64,
}

impl<'f> Reader<'f> {
    /// Moves the pointer `name`, which points to `array` at `base` and was named `depth` blocks
    /// deep: `operator` is `+`, `-`, or nothing for one that points elsewhere.
    pub(super) fn moved(
        &mut self,
        node: Node<'f>,
        name: &str,
        (array, base, depth): (String, Expression, u32),
        operator: &str,
    ) -> Result<(), Refusal> {
        if depth != self.depth {
            return self.refused(
                node,
                "moves a pointer in a branch, or not by the same number in each turn of a loop; write an index",
            );
        }
        let (array, base) = match (operator, node.child_by_field_name("right")) {
            ("", Some(right)) => self.pointer(right)?,
            ("+" | "-", right) => {
                let by = match right {
                    Some(right) => self.expression(right)?,
                    None => Expression::constant(1),
                };
                (array, folded(base, operator, by))
            }
            _ => return self.refused(node, "is not understood"),
        };
        self.settled(node, &base)?;
        let binding = Binding::Array(array, base, depth);
        self.bindings.insert(name.to_owned(), binding);
        Ok(())
    }

    /// Refuses a place that depends on a variable which changes.
    pub(super) fn settled(&self, node: Node<'_>, place: &Expression) -> Result<(), Refusal> {
        let changes = self.bindings.iter().any(|(name, binding)| match binding {
            Binding::Scalar(own) => self.assigned.contains(name) && place.mentions_scalar(own),
            _ => false,
        });
        match changes {
            true => self.refused(node, "points to where a variable says that changes"),
            false => Ok(()),
        }
    }

    /// Finds the pointers that each turn of a loop moves by a number, which becomes what the
    /// loop's counter says, and binds them for its body; the counter begins at `start` and goes
    /// on by `step`.
    pub(super) fn walks(
        &mut self,
        body: Node<'f>,
        (variable, start, step): (&str, &Affine, i64),
    ) -> Vec<Walk> {
        let mut found: Vec<Walk> = Vec::new();
        let nodes = block_statements(body);
        let declared: Vec<&str> = nodes.iter().flat_map(|it| self.declared(*it)).collect();
        for node in nodes {
            let names_own = self.text(node).split(|it| !is_of_word(it));
            if names_own.into_iter().any(|it| declared.contains(&it)) {
                continue;
            }
            let pending = std::mem::take(&mut self.pending);
            let step = self.step_of(node);
            self.pending = pending;
            let Some((name, by)) = step else {
                continue;
            };
            match found.iter_mut().find(|it| it.name == name) {
                Some(walk) => walk.by += by,
                None => {
                    let Some(Binding::Array(array, base, depth)) = self.bindings.get(&name) else {
                        continue;
                    };
                    if *depth == self.depth {
                        found.push(Walk {
                            array: array.clone(),
                            base: base.clone(),
                            name,
                            by,
                        });
                    }
                }
            }
        }
        found.retain(|it| it.by % step == 0);
        for walk in &found {
            let turns = Affine::variable(variable).minus(start);
            if let Some(by) = turns.and_then(|it| it.times(walk.by / step)) {
                let place = folded(walk.base.clone(), "+", Expression::Index(by));
                let binding = Binding::Array(walk.array.clone(), place, self.depth + 1);
                self.bindings.insert(walk.name.clone(), binding);
            }
        }
        found
    }

    /// Binds pointers that a loop has moved for what comes behind it; `turns` are those of the
    /// loop, if they are known.
    pub(super) fn walked(&mut self, walks: Vec<Walk>, turns: Option<i64>) {
        for walk in walks {
            let by = turns.and_then(|it| it.checked_mul(walk.by));
            match by {
                Some(by) => {
                    let place = folded(walk.base, "+", Expression::constant(by));
                    let binding = Binding::Array(walk.array, place, self.depth);
                    self.bindings.insert(walk.name, binding);
                }
                None => {
                    self.bindings.remove(&walk.name);
                }
            }
        }
    }

    /// Returns the names that a statement declares.
    fn declared(&self, node: Node<'f>) -> Vec<&'f str> {
        if node.kind() != "declaration" {
            return Vec::new();
        }
        let names = children(node).into_iter().map(|mut it| {
            while let Some(inner) = it.child_by_field_name("declarator") {
                it = inner;
            }
            self.text(it)
        });
        names.collect()
    }

    /// Returns by how many elements a statement moves which pointer, if that is a number.
    fn step_of(&mut self, node: Node<'f>) -> Option<(String, i64)> {
        let inner = node.named_child(0)?;
        let operator = self.text(inner.child_by_field_name("operator")?);
        let (pointer, by) = match (inner.kind(), operator) {
            ("assignment_expression", "+=" | "-=") => {
                let by = self.expression(inner.child_by_field_name("right")?).ok()?;
                (
                    inner.child_by_field_name("left")?,
                    by.as_index()?.as_constant()?,
                )
            }
            ("update_expression", _) => (inner.child_by_field_name("argument")?, 1),
            _ => return None,
        };
        let is_pointer = matches!(
            self.bindings.get(self.text(pointer)),
            Some(Binding::Array(..))
        );
        let by = if operator.starts_with('-') { -by } else { by };
        (pointer.kind() == "identifier" && is_pointer).then(|| (self.text(pointer).to_owned(), by))
    }
}
