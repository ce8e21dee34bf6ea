//! Reads addresses: arrays, pointers into them, and tables.

use super::Reader;
use super::scope::{Pointer, Quantity, Read};
use crate::affine::Affine;
use crate::syntax::children;
use crate::value::Value;
use tree_sitter::Node;

impl<'tree> Reader<'tree> {
    /// Returns the value of `&…`, `*…` or `…[…]`.
    pub(super) fn place(&mut self, node: Node<'tree>) -> Read<Quantity> {
        if node.kind() == "pointer_expression" && self.operator(node) == "&" {
            let argument = self.field(node, "argument")?;
            return self.element(argument).map(Quantity::Pointer);
        }
        if let Some(value) = self.looked_up(node)? {
            return Ok(Quantity::Integer(value));
        }
        let mut pointer = self.element(node)?;
        if pointer.level < pointer.indices.len() && !pointer.bytes {
            // A row becomes the address of its first element.
            pointer.level += 1;
            return Ok(Quantity::Pointer(pointer));
        }
        self.unread(node, format!("`{}` reads memory", self.short(node)))
    }

    /// Returns the address of what `node` names.
    fn element(&mut self, node: Node<'tree>) -> Read<Pointer> {
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.element(inner),
                None => self.unread(node, "empty parentheses"),
            },
            "subscript_expression" => {
                let base = self.field(node, "argument")?;
                let index = self.field(node, "index")?;
                let Quantity::Pointer(pointer) = self.quantity(base)? else {
                    return self.unread(node, format!("`{}` is no address", self.short(base)));
                };
                let index = self.integer(index)?;
                match self.moved(node, pointer, "+", &index)? {
                    Quantity::Pointer(pointer) => Ok(pointer),
                    _ => self.unread(node, "this address is not understood"),
                }
            }
            "pointer_expression" if self.operator(node) == "*" => {
                let argument = self.field(node, "argument")?;
                match self.quantity(argument)? {
                    Quantity::Pointer(pointer) => Ok(pointer),
                    _ => self.unread(node, format!("`{}` is no address", self.short(argument))),
                }
            }
            "identifier" => match self.quantity(node)? {
                // The address of an array is that of its first element.
                Quantity::Pointer(pointer) => Ok(pointer),
                _ => self.unread(node, format!("the address of `{}`", self.short(node))),
            },
            _ => self.unread(node, format!("`{}` is no address", self.short(node))),
        }
    }

    /// Returns the element of a constant table that `node` names, if it names one.
    fn looked_up(&mut self, node: Node<'tree>) -> Read<Option<Value>> {
        let mut indices = Vec::new();
        let mut base = node;
        while base.kind() == "subscript_expression" {
            indices.push(self.field(base, "index")?);
            base = self.field(base, "argument")?;
        }
        if base.kind() != "identifier" || indices.is_empty() {
            return Ok(None);
        }
        let table = match self.entry(self.text(base)).map(|entry| &entry.binding) {
            Some(super::scope::Binding::Known(Quantity::Table(values, extents))) => {
                Some((values.clone(), extents.clone()))
            }
            Some(_) => None,
            None => match self.globals.get(self.text(base)) {
                Some(Quantity::Table(values, extents)) => Some((values.clone(), extents.clone())),
                _ => None,
            },
        };
        let Some((values, extents)) = table else {
            return Ok(None);
        };
        if indices.len() != extents.len() {
            return self.unread(node, format!("`{}` is a row of a table", self.short(node)));
        }
        indices.reverse();
        let mut place = Value::constant(0);
        for (index, extent) in indices.into_iter().zip(&extents) {
            let index = self.integer(index)?;
            let scaled = place.zip(&Value::constant(0), |place, _| place.times(*extent));
            let Some(sum) = scaled.and_then(|place| place.zip(&index, Affine::plus)) else {
                return self.unread(node, format!("`{}` is not understood", self.short(node)));
            };
            place = sum;
        }
        let at = |idx: i64| usize::try_from(idx).ok().and_then(|idx| values.get(idx));
        if let Some(idx) = place.as_constant() {
            return match at(idx) {
                Some(value) => Ok(Some(Value::constant(*value))),
                None => self.unread(
                    node,
                    format!("`{}` is outside of its table", self.short(node)),
                ),
            };
        }
        // Equal distances are arithmetic.
        let first = values.first().copied().unwrap_or(0);
        let step = values.get(1).map_or(0, |second| second.wrapping_sub(first));
        let even = values
            .iter()
            .enumerate()
            .all(|(idx, value)| *value == first.wrapping_add(step.wrapping_mul(idx as i64)));
        if even && let Some(affine) = place.as_affine() {
            let value = affine.times(step).and_then(|a| a.plus_constant(first));
            return Ok(value.map(Value::Plain));
        }
        let split = match &place {
            Value::Plain(affine) => self.each_of(affine),
            Value::Select(condition, ..) => self.split_on(condition),
        };
        match split {
            Some(split) => Err(split),
            None => self.unread(
                node,
                format!("`{}` depends on what is not known", self.short(node)),
            ),
        }
    }

    /// Returns the address `value` further (`+`) or back (`-`).
    pub(super) fn moved(
        &self,
        node: Node<'_>,
        mut pointer: Pointer,
        operator: &str,
        value: &Value,
    ) -> Read<Quantity> {
        let bytes = match pointer.bytes {
            true => self.bytes.get(pointer.array).copied().unwrap_or(1),
            false => 1,
        };
        let distance = value.zip(&Value::constant(0), |value, _| {
            let exact = value.constant_part() % bytes == 0
                && value
                    .terms()
                    .all(|(_, coefficient)| coefficient % bytes == 0);
            exact.then_some(())?;
            let value = value.divided_by(bytes)?;
            match operator {
                "+" => Some(value),
                "-" => value.times(-1),
                _ => None,
            }
        });
        let last = pointer.level.saturating_sub(1);
        let moved =
            distance.and_then(|distance| pointer.indices.get(last)?.zip(&distance, Affine::plus));
        let Some(moved) = moved else {
            return self.unread(
                node,
                format!("the address `{}` is not understood", self.short(node)),
            );
        };
        pointer.indices[last] = moved;
        Ok(Quantity::Pointer(pointer))
    }

    /// Returns how many elements `right` lies before `left`, in the same array.
    pub(super) fn distance(&self, left: &Quantity, right: &Quantity) -> Option<Value> {
        let (Quantity::Pointer(left), Quantity::Pointer(right)) = (left, right) else {
            return None;
        };
        let extents = &self.arrays.get(left.array)?.extents;
        let mut distance = Value::constant(0);
        for ((one, two), extent) in left.indices.iter().zip(&right.indices).zip(extents) {
            let scaled = distance.zip(&Value::constant(0), |sum, _| sum.times(*extent))?;
            let difference = one.zip(two, Affine::minus)?;
            distance = scaled.zip(&difference, Affine::plus)?;
        }
        Some(distance)
    }

    /// Returns the address as a pointer of the type that `node` describes.
    pub(super) fn retyped(&self, pointer: Pointer, node: Node<'_>) -> Pointer {
        let mut rows = 0;
        let mut pending = children(node);
        while let Some(inner) = pending.pop() {
            rows += usize::from(inner.kind() == "abstract_array_declarator");
            pending.extend(children(inner));
        }
        let kind = node
            .child_by_field_name("type")
            .map_or("", |kind| self.text(kind));
        self.with_rows(pointer, rows, kind)
    }

    /// Returns the address as a pointer to arrays of `rows` dimensions of scalars of a type.
    pub(super) fn with_rows(&self, mut pointer: Pointer, rows: usize, kind: &str) -> Pointer {
        let elements = self.bytes.get(pointer.array).copied().unwrap_or(1);
        let scalars = self.scalar_bytes(kind).unwrap_or(1);
        pointer.level = pointer.indices.len().saturating_sub(rows).max(1);
        pointer.bytes = rows == 0 && scalars == 1 && elements != 1;
        pointer
    }

    /// Returns the bytes of what `node` names.
    pub(super) fn bytes_at(&mut self, node: Node<'tree>) -> Read<Option<i64>> {
        if self.looked_up(node).is_ok_and(|value| value.is_some()) {
            return Ok(Some(4));
        }
        let pointer = self.element(node)?;
        let extents = &self.arrays[pointer.array].extents;
        let inner: i64 = extents.iter().skip(pointer.level).product();
        Ok(self.bytes.get(pointer.array).map(|bytes| bytes * inner))
    }

    /// Returns indices that stay inside the extents where that can be told:
    /// what is a multiple of a row moves to the index before.
    pub(crate) fn in_rows(&self, array: usize, indices: &[Affine]) -> Option<Vec<Affine>> {
        let extents = &self.arrays.get(array)?.extents;
        let mut indices = indices.to_vec();
        for place in (1..indices.len()).rev() {
            let extent = extents[place];
            let inside = self
                .bounds(&indices[place])
                .is_some_and(|(least, greatest)| 0 <= least && greatest < extent);
            if inside || extent <= 0 {
                continue;
            }
            let constant = indices[place].constant_part();
            let mut rest = Affine::constant(constant.rem_euclid(extent));
            let mut rows = Affine::constant(constant.div_euclid(extent));
            for (atom, coefficient) in indices[place].terms() {
                match coefficient % extent {
                    0 => rows.push(atom.clone(), coefficient / extent),
                    _ => rest.push(atom.clone(), coefficient),
                }
            }
            indices[place - 1] = indices[place - 1].plus(&rows)?;
            indices[place] = rest;
        }
        Some(indices)
    }
}
