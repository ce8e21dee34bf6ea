//! Reads expressions: integer values and conditions under the known constants.

use super::Reader;
use crate::condition::{Condition, Relation};
use crate::value::{Value, binary};
use tree_sitter::Node;

impl Reader<'_> {
    pub(super) fn lookup_local(&self, name: &str) -> Option<&(String, Option<Value>)> {
        self.scope.iter().rev().find(|(other, _)| other == name)
    }

    fn lookup(&self, name: &str) -> Option<Value> {
        match self.lookup_local(name) {
            Some((_, value)) => value.clone(),
            None if self.assigned.contains(name) => None,
            None => self.globals.get(name).cloned(),
        }
    }

    /// Returns the value of an integer expression, if it is understood.
    pub(crate) fn value(&self, node: Node<'_>) -> Option<Value> {
        match node.kind() {
            "number_literal" => number(self.text(node)).map(Value::constant),
            "identifier" | "true" | "false" => self.lookup(self.text(node)),
            "parenthesized_expression" => self.value(node.named_child(0)?),
            "cast_expression" => {
                let kind = self.text(node.child_by_field_name("type")?);
                // Only casts that keep every address and index.
                let wide = [
                    "int", "int32_t", "uint32_t", "int64_t", "uint64_t", "size_t",
                ];
                let wider = [
                    "unsigned",
                    "unsigned int",
                    "long",
                    "unsigned long",
                    "uintptr_t",
                ];
                (wide.contains(&kind) || wider.contains(&kind)).then_some(())?;
                self.value(node.child_by_field_name("value")?)
            }
            "unary_expression" => {
                let value = self.value(node.child_by_field_name("argument")?)?;
                match self.text(node.child_by_field_name("operator")?) {
                    "-" => value.zip(&Value::constant(0), |a, _| a.times(-1)),
                    "+" => Some(value),
                    "~" => Some(Value::constant(!value.as_constant()?)),
                    _ => None,
                }
            }
            "binary_expression" => {
                let left = node.child_by_field_name("left")?;
                let right = node.child_by_field_name("right")?;
                let operator = self.text(node.child_by_field_name("operator")?);
                binary(operator, &self.value(left)?, &self.value(right)?)
            }
            "conditional_expression" => {
                let condition = self.condition(node.child_by_field_name("condition")?)?;
                let then = self.value(node.child_by_field_name("consequence")?)?;
                let otherwise = self.value(node.child_by_field_name("alternative")?)?;
                Value::select(condition, then, otherwise)
            }
            "sizeof_expression" => match self.text(node).replace(' ', "").as_str() {
                "sizeof(int8_t)" | "sizeof(elem_t)" => Some(Value::constant(1)),
                "sizeof(int32_t)" | "sizeof(acc_t)" => Some(Value::constant(4)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns a condition, if it is understood.
    pub(crate) fn condition(&self, node: Node<'_>) -> Option<Condition> {
        match node.kind() {
            "parenthesized_expression" => self.condition(node.named_child(0)?),
            "unary_expression" if self.text(node).starts_with('!') => Some(
                self.condition(node.child_by_field_name("argument")?)?
                    .negate(),
            ),
            "binary_expression" => {
                let left = node.child_by_field_name("left")?;
                let right = node.child_by_field_name("right")?;
                match self.text(node.child_by_field_name("operator")?) {
                    "&&" => Some(Condition::all([
                        self.condition(left)?,
                        self.condition(right)?,
                    ])),
                    "||" => Some(Condition::any([
                        self.condition(left)?,
                        self.condition(right)?,
                    ])),
                    "==" => self.comparison(left, right, Relation::Zero),
                    "!=" => self.comparison(left, right, Relation::NonZero),
                    "<" => self.comparison(left, right, Relation::Negative),
                    ">=" => self.comparison(left, right, Relation::NonNegative),
                    ">" => self.comparison(right, left, Relation::Negative),
                    "<=" => self.comparison(right, left, Relation::NonNegative),
                    _ => self.truth(node),
                }
            }
            _ => self.truth(node),
        }
    }

    fn comparison(&self, left: Node<'_>, right: Node<'_>, relation: Relation) -> Option<Condition> {
        let left = self.value(left)?;
        let right = self.value(right)?;
        let difference = left.as_affine()?.minus(right.as_affine()?)?;
        Some(Condition::compare(difference, relation))
    }

    fn truth(&self, node: Node<'_>) -> Option<Condition> {
        let value = self.value(node)?;
        Some(Condition::compare(
            value.as_affine()?.clone(),
            Relation::NonZero,
        ))
    }
}

fn number(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    if let Some(hexadecimal) = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        return i64::from_str_radix(hexadecimal, 16).ok();
    }
    if 1 < digits.len() && digits.starts_with('0') {
        return None;
    }
    digits.parse().ok()
}
