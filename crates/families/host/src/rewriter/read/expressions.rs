//! What stands in the statements of a plain kernel.

use super::{EXTENT_LIMIT, Reader};
use crate::rewriter::code::{Element, Expression, Index};
use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::syntax::children;
use tree_sitter::Node;

/// Constants that kernels may name.
const CONSTANTS: [&str; 6] = [
    "FLT_MAX",
    "FLT_MIN",
    "FLT_EPSILON",
    "INFINITY",
    "INT32_MAX",
    "INT32_MIN",
];

/// Functions without side effects that kernels may call.
const FUNCTIONS: [&str; 8] = [
    "expf", "erff", "tanhf", "sqrtf", "fabsf", "fmaxf", "fminf", "logf",
];

impl Reader<'_> {
    /// Reads what can be assigned to: a declared variable or an element.
    pub(super) fn element(&self, node: Node<'_>) -> Result<Element, String> {
        let mut indices = Vec::new();
        let mut inner = node;
        while inner.kind() == "subscript_expression" {
            let index = self.field(inner, "index")?;
            indices.push(match self.affine(index) {
                Some(affine) => Index::Affine(affine),
                None => Index::Value(Box::new(self.expression(index)?)),
            });
            inner = self.field(inner, "argument")?;
        }
        indices.reverse();
        let name = self.text(inner);
        match self.names.get(name) {
            Some(named) if inner.kind() == "identifier" && named.extents.len() == indices.len() => {
                Ok(Element {
                    name: name.to_owned(),
                    indices,
                })
            }
            _ => self.not_understood(node),
        }
    }

    pub(super) fn expression(&self, node: Node<'_>) -> Result<Expression, String> {
        let field = |name: &str| self.expression(self.field(node, name)?);
        Ok(match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.expression(inner)?,
                None => return self.not_understood(node),
            },
            "number_literal" => Expression::Number(self.text(node).to_owned()),
            "identifier" => {
                let name = self.text(node);
                if self.loops.iter().any(|it| it == name) {
                    Expression::Index(Affine::variable(name))
                } else if self.names.contains_key(name) {
                    Expression::Element(self.element(node)?)
                } else if CONSTANTS.contains(&name) {
                    Expression::Number(name.to_owned())
                } else {
                    return self.not_understood(node);
                }
            }
            "subscript_expression" => Expression::Element(self.element(node)?),
            "unary_expression" if self.text(node).starts_with('-') => {
                Expression::Negative(Box::new(field("argument")?))
            }
            "binary_expression" => {
                let operator = self.text(self.field(node, "operator")?);
                if !["+", "-", "*", "/", "<", ">", "<=", ">="].contains(&operator) {
                    return self.not_understood(node);
                }
                let (left, right) = (Box::new(field("left")?), Box::new(field("right")?));
                Expression::Binary(left, operator.to_owned(), right)
            }
            "conditional_expression" => Expression::Choice(
                Box::new(field("condition")?),
                Box::new(field("consequence")?),
                Box::new(field("alternative")?),
            ),
            "cast_expression" => {
                let kind = self.text(self.field(node, "type")?);
                let kind = if kind == "int" { "int32_t" } else { kind };
                Expression::Cast(kind.to_owned(), Box::new(field("value")?))
            }
            "call_expression" => {
                let callee = self.text(self.field(node, "function")?);
                if !FUNCTIONS.contains(&callee) {
                    return self.not_understood(node);
                }
                let arguments = children(self.field(node, "arguments")?);
                let arguments = arguments.into_iter().map(|it| self.expression(it));
                Expression::Call(callee.to_owned(), arguments.collect::<Result<_, _>>()?)
            }
            _ => return self.not_understood(node),
        })
    }

    /// Reads a sum of loop variables with coefficients, if it is one.
    fn affine(&self, node: Node<'_>) -> Option<Affine> {
        let field = |name: &str| self.affine(node.child_by_field_name(name)?);
        match node.kind() {
            "parenthesized_expression" => self.affine(node.named_child(0)?),
            "number_literal" => {
                let value = self.text(node).parse::<i64>().ok()?;
                (value.abs() <= EXTENT_LIMIT).then(|| Affine::constant(value))
            }
            "identifier" => {
                let name = self.text(node);
                let is_loop = self.loops.iter().any(|it| it == name);
                is_loop.then(|| Affine::variable(name))
            }
            "binary_expression" => {
                let (left, right) = (field("left")?, field("right")?);
                match self.text(node.child_by_field_name("operator")?) {
                    "+" => left.plus(&right),
                    "-" => left.minus(&right),
                    "*" => match (left.as_constant(), right.as_constant()) {
                        (Some(factor), _) => right.times(factor),
                        (_, Some(factor)) => left.times(factor),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
