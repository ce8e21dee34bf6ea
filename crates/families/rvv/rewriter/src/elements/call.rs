//! Calls of intrinsics and of the kernel's own functions.

use super::Reader;
use super::name::{Kind, Name};
use super::operation::Operation;
use super::scalar::scalar_of;
use autocomp_c_loops::syntax::children;
use autocomp_nests::Refusal;
use tree_sitter::Node;

impl<'s> Reader<'s> {
    /// Returns the arguments of an intrinsic without the length, which must be that of a strip.
    pub(super) fn arguments(
        &mut self,
        node: Node<'s>,
        list: Node<'s>,
        name: &Name<'s>,
    ) -> Result<Vec<Node<'s>>, Refusal> {
        let mut arguments = children(list);
        if !name.has_length() {
            return Ok(arguments);
        }
        let Some(length) = arguments.pop() else {
            return self.refused(
                node,
                "is not understood, as it has fewer arguments than the intrinsic takes",
            );
        };
        let text = self.text(length);
        let is_length = text == "1"
            || self.function.lengths.contains(text)
            || self.function.most.contains(text)
            || self.function.is_length(length, self.source).is_some();
        match is_length {
            true => Ok(arguments),
            false => self.refused(
                length,
                "is a number of elements that does not follow from what is left: write `vl = vsetvl(n - i)` in a loop that goes on by `vl` while `i < n`",
            ),
        }
    }

    /// Takes the first of the arguments of a call.
    pub(super) fn first(
        &self,
        call: Node<'s>,
        arguments: &mut Vec<Node<'s>>,
    ) -> Result<Node<'s>, Refusal> {
        match arguments.is_empty() {
            true => self.refused(
                call,
                "is not understood, as it has fewer arguments than the intrinsic takes",
            ),
            false => Ok(arguments.remove(0)),
        }
    }

    pub(super) fn call(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let Some((name, list)) = self.intrinsic_of(node) else {
            return self.own_call(node);
        };
        let is_kept = std::mem::take(&mut self.is_kept);
        let unknown = "is an intrinsic that is not read as what it does to single elements: elements meet others by `vslide1up`, `vslide1down`, strides, indices and reductions alone";
        if self.function.is_length(node, self.source).is_some() {
            return self.refused(node, "is a length without a name, or one of a variable that holds other numbers, too: write `size_t vl = …`");
        }
        if name.operation == "vget" {
            let arguments = children(list);
            return match arguments.as_slice() {
                [tuple, idx]
                    if self.function.tuples.contains_key(self.text(*tuple))
                        && ["0", "1", "2", "3", "4", "5", "6", "7"].contains(&self.text(*idx)) =>
                {
                    Ok(format!("{}_{}", self.text(*tuple), self.text(*idx)))
                }
                _ => self.refused(node, unknown),
            };
        }
        if let Some(place) = self.loaded_as_halves(&name, list)? {
            return Ok(place);
        }
        if name.kinds.is_empty() && !name.is_mask() && !name.operation.starts_with("vm") {
            return self.refused(node, "leaves types to its arguments: write its full name");
        }
        let mut arguments = self.arguments(node, list, &name)?;
        let mask = match name.policy {
            "" | "tu" => None,
            _ => Some(self.first(node, &mut arguments)?),
        };
        let mask = mask.map(|it| self.visit(it)).transpose()?;
        let is_fused = name.operation.ends_with("acc")
            || name.operation.ends_with("sac")
            || name.operation.ends_with("accu")
            || name.operation.ends_with("accsu")
            || name.operation.ends_with("accus")
            || name.operation.ends_with("madd")
            || name.operation.ends_with("msub");
        let keeps = ["tu", "mu", "tum", "tumu"].contains(&name.policy);
        let old = match keeps && !arguments.is_empty() {
            true if is_fused => Some(self.visit(arguments[0])?),
            true => Some(self.visit(arguments.remove(0))?),
            false => None,
        };
        let is_fixed = [
            "vnclip", "vnclipu", "vssra", "vssrl", "vaadd", "vaaddu", "vasub", "vasubu",
        ];
        let rounding = match name.is_rounded || is_fixed.contains(&name.operation) {
            true => arguments.pop().map_or("?", |it| self.text(it)),
            false => "",
        };
        let mut last = None;
        let value = match name.is_load() {
            true => self.loaded(node, &arguments, 0, &name)?,
            false => {
                let operands = self.operands(&arguments, &name)?;
                last = operands.last().cloned();
                let operation = Operation {
                    name: &name,
                    operands: &operands.iter().map(|it| self.known(it)).collect::<Vec<_>>(),
                    rounding,
                };
                let mut made = Vec::new();
                let value = operation.value(&mut |kind, text| {
                    let is_short = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
                    if text.trim_start_matches('-').chars().all(is_short) {
                        return text.to_owned();
                    }
                    let name = self.fresh("element");
                    made.push(format!("{kind} {name} = {text};"));
                    name
                });
                self.before.append(&mut made);
                match value {
                    Some(value) => value,
                    None => return self.refused(node, unknown),
                }
            }
        };
        let is_reduction = name.operation.contains("red");
        let value = match (mask, name.policy) {
            (None, _) => value,
            (Some(mask), "m" | "tum") if name.is_load() => format!("({mask} ? {value} : 0)"),
            (Some(mask), _) if is_reduction => match last {
                Some(first) => format!("({mask} ? {value} : {first})"),
                None => return self.refused(node, unknown),
            },
            (Some(mask), _) if name.operation == "vcpop" => format!("({mask} && {value})"),
            // What others hold is nobody's to know.
            (Some(_), "m" | "tum") => value,
            (Some(mask), _) => {
                format!("({mask} ? {value} : {})", old.unwrap_or_else(|| "0".into()))
            }
        };
        let kind = name.kinds.last().filter(|_| !name.is_mask());
        let converts = |kind: &&Kind| match kind.is_narrow() {
            true => !name.is_exact() && !is_copy(&name),
            // C may compute in more bits.
            false if kind.letter == 'f' && kind.bits == 16 => !name.is_load() && !is_copy(&name),
            false => name.changes_bits() && !(kind.letter == 'i' && is_of_less(&name, **kind)),
        };
        Ok(match kind.filter(converts) {
            Some(kind) if !is_kept => format!("({})({value})", kind.to_c()),
            _ => value,
        })
    }

    /// Returns the operands of an intrinsic, each of the type of its elements, or a whole number
    /// of less bits that is in its range.
    fn operands(
        &mut self,
        arguments: &[Node<'s>],
        name: &Name<'s>,
    ) -> Result<Vec<String>, Refusal> {
        let scalar = scalar_of(name);
        let mut made = Vec::new();
        for (idx, argument) in arguments.iter().enumerate() {
            made.push(match scalar {
                Some((place, _)) if place == idx && name.is_shift() => {
                    self.places(*argument, name)?
                }
                Some((place, kind)) if place == idx => {
                    self.scalar(*argument, kind, !name.is_splat())?
                }
                _ if idx == 1 && name.is_shift() => {
                    format!("({} & {})", self.operand(*argument)?, name.most_places())
                }
                _ => self.operand(*argument)?,
            });
        }
        Ok(made)
    }

    /// Returns by how many places a shift goes: only so many bits of the number count.
    fn places(&mut self, node: Node<'s>, name: &Name<'s>) -> Result<String, Refusal> {
        let text = self.text(node).trim_end_matches(['u', 'U']);
        let most = name.most_places();
        let is_known = |it: &u32| *it <= most && it.to_string() == text;
        match text.parse().ok().filter(is_known) {
            Some(places) => Ok(places.to_string()),
            None => Ok(format!("({} & {most})", self.operand(node)?)),
        }
    }

    /// Returns what may stand beside an operator.
    pub(super) fn operand(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let made = self.visit(node)?;
        let binds_less = [
            "binary_expression",
            "conditional_expression",
            "cast_expression",
        ];
        Ok(match binds_less.contains(&node.kind()) {
            true => format!("({made})"),
            false => made,
        })
    }

    /// Returns the value of a name that is one number throughout.
    fn known(&self, text: &str) -> String {
        let value = self.function.zeros.get(text);
        value.cloned().unwrap_or_else(|| text.to_owned())
    }

    /// Reads a call of one of the kernel's own functions.
    fn own_call(&mut self, node: Node<'s>) -> Result<String, Refusal> {
        let callee = self.text(self.field(node, "function")?);
        let Some(lengths) = self.lengths_of.get(callee).cloned() else {
            return self.copied(node);
        };
        let mut made = Vec::new();
        for (idx, argument) in children(self.field(node, "arguments")?)
            .into_iter()
            .enumerate()
        {
            let text = self.text(argument);
            let is_known =
                self.function.lengths.contains(text) || self.function.most.contains(text);
            made.push(match (lengths.contains(&idx), is_known) {
                (true, true) => "1".into(),
                (true, false) => {
                    return self.refused(
                        argument,
                        "is a number of elements that does not follow from what is left: give it what `vsetvl` gives in a loop over what is left",
                    );
                }
                (false, _) => self.visit(argument)?,
            });
        }
        Ok(format!("{callee}({})", made.join(", ")))
    }
}

/// Returns whether an intrinsic gives what it gets.
fn is_copy(name: &Name<'_>) -> bool {
    ["vmv", "vfmv", "vundefined", "vid", "vget"].contains(&name.operation)
}

/// Returns whether C computes in the type of the elements because what it gets has less bits.
fn is_of_less(name: &Name<'_>, kind: Kind) -> bool {
    let operations = ["vsext", "vwcvt", "vwredsum"];
    kind.bits == 32 && operations.contains(&name.operation)
}
