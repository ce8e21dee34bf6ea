//! Reads conditions.

use super::Reader;
use super::scope::{Quantity, Read};
use crate::affine::Affine;
use crate::condition::{Condition, Relation};
use crate::value::Value;
use tree_sitter::Node;

impl<'tree> Reader<'tree> {
    pub(super) fn truth_value(&self, node: Node<'_>, condition: Condition) -> Read<Value> {
        // What is 0 or 1 anyway stays arithmetic.
        if let Condition::Compare(expression, Relation::NonZero) = &condition
            && self.bounds(expression) == Some((0, 1))
        {
            return Ok(Value::Plain(expression.clone()));
        }
        let one = Value::constant(1);
        match Value::select(condition, one, Value::constant(0)) {
            Some(value) => Ok(value),
            None => self.unread(node, format!("`{}` is not understood", self.short(node))),
        }
    }

    /// Returns a condition.
    pub(crate) fn condition(&mut self, node: Node<'tree>) -> Read<Condition> {
        let condition = self.raw_condition(node)?;
        Ok(self.folded(condition))
    }

    fn raw_condition(&mut self, node: Node<'tree>) -> Read<Condition> {
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.condition(inner),
                None => self.unread(node, "empty parentheses"),
            },
            "unary_expression" if self.operator(node) == "!" => {
                let argument = self.field(node, "argument")?;
                Ok(self.condition(argument)?.negate())
            }
            "binary_expression" => {
                let left = self.field(node, "left")?;
                let right = self.field(node, "right")?;
                match self.operator(node) {
                    "&&" => {
                        let left = self.condition(left)?;
                        match left {
                            Condition::Constant(false) => Ok(left),
                            left => Ok(Condition::all([left, self.condition(right)?])),
                        }
                    }
                    "||" => {
                        let left = self.condition(left)?;
                        match left {
                            Condition::Constant(true) => Ok(left),
                            left => Ok(Condition::any([left, self.condition(right)?])),
                        }
                    }
                    "==" => self.comparison(node, left, right, Relation::Zero),
                    "!=" => self.comparison(node, left, right, Relation::NonZero),
                    "<" => self.comparison(node, left, right, Relation::Negative),
                    ">=" => self.comparison(node, left, right, Relation::NonNegative),
                    ">" => self.comparison(node, right, left, Relation::Negative),
                    "<=" => self.comparison(node, right, left, Relation::NonNegative),
                    _ => self.truth(node),
                }
            }
            _ => self.truth(node),
        }
    }

    fn comparison(
        &mut self,
        node: Node<'tree>,
        left: Node<'tree>,
        right: Node<'tree>,
        relation: Relation,
    ) -> Read<Condition> {
        let difference = match (self.quantity(left)?, self.quantity(right)?) {
            (Quantity::Integer(left), Quantity::Integer(right)) => {
                self.settled(left).zip(&self.settled(right), Affine::minus)
            }
            (left @ Quantity::Pointer(_), right) if left.same_kind(&right) => {
                self.distance(&left, &right)
            }
            (Quantity::Pointer(_), Quantity::Integer(zero)) if zero.as_constant() == Some(0) => {
                Some(Value::constant(1))
            }
            _ => None,
        };
        match difference {
            Some(difference) => Ok(compared(difference, relation)),
            None => self.unread(node, format!("`{}` is not understood", self.short(node))),
        }
    }

    fn truth(&mut self, node: Node<'tree>) -> Read<Condition> {
        match self.quantity(node)? {
            Quantity::Integer(value) => Ok(compared(self.settled(value), Relation::NonZero)),
            // The address of an array is never null.
            Quantity::Pointer(_) => Ok(Condition::Constant(true)),
            _ => self.unread(node, format!("`{}` is no condition", self.short(node))),
        }
    }
}

/// Returns the condition `value relation 0`.
fn compared(value: Value, relation: Relation) -> Condition {
    match value {
        Value::Plain(affine) => Condition::compare(affine, relation),
        Value::Select(condition, then, otherwise) => Condition::any([
            Condition::all([condition.clone(), Condition::compare(then, relation)]),
            Condition::all([condition.negate(), Condition::compare(otherwise, relation)]),
        ]),
    }
}
