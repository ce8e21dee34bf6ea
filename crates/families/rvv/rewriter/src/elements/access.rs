//! Loads and stores: which element it is.

use super::name::{Kind, Name};
use super::{Reader, function};
use autocomp_c_loops::syntax::children;
use autocomp_nests::Refusal;
use tree_sitter::Node;

impl<'s> Reader<'s> {
    /// Returns a field of the first element of a load.
    pub(super) fn loaded(
        &mut self,
        node: Node<'s>,
        arguments: &[Node<'s>],
        field: usize,
        name: &Name<'s>,
    ) -> Result<String, Refusal> {
        // The first element is loaded in any case.
        let got = function::first_fault_length(node, self.source);
        let is_known = got.is_some_and(|it| self.function.got.contains(self.text(it)));
        if name.is_first_fault() && !is_known {
            return self.refused(
                node,
                "loads as many elements as it may into a variable that gets other numbers, too: write `vle` with what is left",
            );
        }
        let place = self.place(node, arguments, field, name)?;
        let held = arguments.first().and_then(|it| self.c_type(*it));
        Ok(match name.kinds.first() {
            Some(kind) if !held.is_some_and(|it| it.is_like(*kind)) => {
                format!("({})({place})", kind.to_c())
            }
            _ => place,
        })
    }

    /// Returns the first element of a load whose bits are taken for halves, if a call is that.
    pub(super) fn loaded_as_halves(
        &mut self,
        name: &Name<'s>,
        list: Node<'s>,
    ) -> Result<Option<String>, Refusal> {
        let (half, is_half) = (Kind::new('f', 16), |it: &Kind| {
            it.is_like(Kind::new('f', 16))
        });
        let [load] = children(list)[..] else {
            return Ok(None);
        };
        if name.operation != "vreinterpret" || !name.kinds.last().is_some_and(is_half) {
            return Ok(None);
        }
        let Some((loaded, inner)) = self.intrinsic_of(load).filter(|it| {
            it.0.is_load()
                && it.0.policy.is_empty()
                && it.0.kinds.first().is_some_and(|it| it.bits == 16)
        }) else {
            return self.refused(
                list,
                "takes bits for halves that are not loaded there: load them by a pointer to `_Float16`",
            );
        };
        let arguments = self.arguments(load, inner, &loaded)?;
        let place = self.place(load, &arguments, 0, &loaded)?;
        let pointer = match place.strip_prefix('*') {
            Some(pointer) => pointer.to_owned(),
            None => format!("&{place}"),
        };
        Ok(Some(format!("*(const {} *){pointer}", half.to_c())))
    }

    /// Returns the place of a field of the first element of an access.
    pub(super) fn place(
        &mut self,
        node: Node<'s>,
        arguments: &[Node<'s>],
        field: usize,
        name: &Name<'s>,
    ) -> Result<String, Refusal> {
        let Some(pointer) = arguments.first() else {
            return self.refused(
                node,
                "is not understood, as it has fewer arguments than the intrinsic takes",
            );
        };
        let is_indexed = name.operation.contains("ux") || name.operation.contains("ox");
        let mut behind = match field {
            0 => String::new(),
            _ => field.to_string(),
        };
        if is_indexed {
            let Some(index) = arguments.get(1).filter(|_| field == 0) else {
                return self.refused(
                    node,
                    "is not understood, as it has fewer arguments than the intrinsic takes",
                );
            };
            behind = self.index(node, *index, name)?;
        }
        let mut pointer = *pointer;
        while pointer.kind() == "parenthesized_expression"
            && let Some(inner) = pointer.named_child(0)
        {
            pointer = inner;
        }
        let element = pointer.child_by_field_name("argument").filter(|it| {
            self.text(pointer).starts_with('&') && it.kind() == "subscript_expression"
        });
        if let Some(element) = element {
            if behind.is_empty() {
                return self.visit(element);
            }
            let array = self.visit(self.field(element, "argument")?)?;
            let index = self.operand(self.field(element, "index")?)?;
            return Ok(format!("{array}[{index} + {behind}]"));
        }
        let text = self.visit(pointer)?;
        let text = match pointer.kind() {
            "identifier" => text,
            _ => format!("({text})"),
        };
        Ok(match behind.is_empty() {
            true => format!("*{text}"),
            false => format!("{text}[{behind}]"),
        })
    }

    /// Returns which element an offset in bytes is.
    pub(super) fn index(
        &mut self,
        node: Node<'s>,
        offset: Node<'s>,
        name: &Name<'s>,
    ) -> Result<String, Refusal> {
        let bytes = name.kinds.first().map_or(1, |it| it.bits / 8);
        let shift = bytes.trailing_zeros().to_string();
        if let Some(index) = self.function.indices.get(self.text(offset)) {
            return match *index == shift {
                true => Ok(self.text(offset).to_owned()),
                false => self.refused(node, "takes offsets that are no multiples of an element: shift indices by `vsll` as far as an element is long"),
            };
        }
        match function::scaled(offset, self.source) {
            Some((inner, by)) if by == shift => self.operand(inner),
            _ if bytes == 1 => self.operand(offset),
            // Elements lie at multiples of their size.
            _ => Ok(format!("({} >> {shift})", self.operand(offset)?)),
        }
    }

    pub(super) fn store(
        &mut self,
        node: Node<'s>,
        list: Node<'s>,
        name: &Name<'s>,
    ) -> Result<String, Refusal> {
        let mut arguments = self.arguments(node, list, name)?;
        let mask = match name.policy {
            "m" => Some(self.first(node, &mut arguments)?),
            _ => None,
        };
        let Some(value) = arguments.last() else {
            return self.refused(
                node,
                "is not understood, as it has fewer arguments than the intrinsic takes",
            );
        };
        let values = match name.fields() {
            1 => vec![self.visit(*value)?],
            fields => {
                let values = self.fields_of(*value, fields)?;
                let kind = name.kinds.first().copied().unwrap_or(Kind::MASK);
                // What is read of memory may be what is written.
                match values
                    .iter()
                    .any(|it| it.contains("*(") || it.starts_with('*'))
                {
                    true => self.at_once(values, kind, ""),
                    false => self.at_once(values, kind, "["),
                }
            }
        };
        let mut made = Vec::new();
        for (idx, value) in values.iter().enumerate() {
            let place = self.place(node, &arguments, idx, name)?;
            made.push(format!("{place} = {value};"));
        }
        let made = made.join(" ");
        Ok(match mask {
            Some(mask) => format!("if ({}) {{ {made} }}", self.visit(mask)?),
            None => made,
        })
    }

    /// Returns the values of a tuple of vectors.
    pub(super) fn fields_of(
        &mut self,
        node: Node<'s>,
        n_fields: usize,
    ) -> Result<Vec<String>, Refusal> {
        if self.function.tuples.contains_key(self.text(node)) {
            let each = (0..n_fields).map(|idx| format!("{}_{idx}", self.text(node)));
            return Ok(each.collect());
        }
        let Some((name, list)) = self.intrinsic_of(node).filter(|it| it.0.policy.is_empty()) else {
            return self.refused(node, "is a tuple of vectors that is not followed: load it by segments, or make it by `vcreate`");
        };
        if name.operation == "vcreate" {
            return children(list)
                .into_iter()
                .map(|it| self.visit(it))
                .collect();
        }
        if !name.is_load() || name.fields() != n_fields {
            return self.refused(node, "is a tuple of vectors that is not followed: load it by segments, or make it by `vcreate`");
        }
        let arguments = self.arguments(node, list, &name)?;
        (0..n_fields)
            .map(|idx| self.loaded(node, &arguments, idx, &name))
            .collect()
    }
}
