//! Reads expressions: values, addresses, assignments, calls.

use super::Reason;
use super::operators::{folded, narrowed, number};
use super::program::{Expression, Unary};
use super::read::{Meaning, Reader};
use crate::memory::Type;
use crate::syntax::{children, syntax_tree};
use tree_sitter::Node;

/// The deepest that object-like macros may name each other.
const MACRO_DEPTH: usize = 16;

impl<'source> Reader<'source> {
    pub(super) fn expression(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let missing = |reader: &Self| reader.refuse(node, "something is missing");
        let field = |name: &str| node.child_by_field_name(name);
        Ok(match node.kind() {
            "number_literal" => number(self.text(node))
                .ok_or_else(|| self.refuse(node, "a number of another kind"))?,
            "identifier" | "true" | "false" | "null" => self.name(node)?,
            "parenthesized_expression" => {
                let inner = children(node)
                    .into_iter()
                    .find(|node| node.kind() != "comment");
                self.expression(inner.ok_or_else(|| missing(self))?)?
            }
            "cast_expression" => {
                let kind = self.type_name(field("type").ok_or_else(|| missing(self))?)?;
                let (value, _) = self.expression(field("value").ok_or_else(|| missing(self))?)?;
                (narrowed(value, &kind), kind)
            }
            "comma_expression" => {
                let (first, _) = self.expression(field("left").ok_or_else(|| missing(self))?)?;
                let (last, kind) = self.expression(field("right").ok_or_else(|| missing(self))?)?;
                (Expression::Sequence(vec![first, last]), kind)
            }
            "sizeof_expression" => {
                let size = match (field("type"), field("value")) {
                    (Some(kind), _) => self.type_name(kind)?.size(),
                    // An array is no address here.
                    (None, Some(value)) if self.place(value).is_ok() => self.place(value)?.1.size(),
                    (None, Some(value)) => match self.expression(value) {
                        Ok((_, kind)) => kind.size(),
                        // The syntax does not tell the name of a type from that of a variable.
                        Err(why) => children(value)
                            .first()
                            .filter(|inner| inner.kind() == "identifier")
                            .and_then(|inner| self.base_type(*inner).ok())
                            .ok_or(why)?
                            .size(),
                    },
                    (None, None) => return Err(missing(self)),
                };
                (Expression::Integer(size), Type::WIDE)
            }
            "unary_expression" => {
                let (value, kind) =
                    self.expression(field("argument").ok_or_else(|| missing(self))?)?;
                let operation = match field("operator").map(|node| self.text(node)) {
                    Some("-") => Unary::Negate,
                    Some("~") => Unary::Invert,
                    Some("!") => Unary::Not,
                    Some("+") => return Ok((value, kind)),
                    _ => return Err(self.refuse(node, "an operator of another kind")),
                };
                let kind = match kind {
                    Type::Float | Type::Double if operation == Unary::Negate => kind,
                    _ => Type::WIDE,
                };
                (folded(Expression::Unary(operation, Box::new(value))), kind)
            }
            "conditional_expression" => {
                let (condition, _) =
                    self.expression(field("condition").ok_or_else(|| missing(self))?)?;
                let (then, kind) =
                    self.expression(field("consequence").ok_or_else(|| missing(self))?)?;
                let (otherwise, other) =
                    self.expression(field("alternative").ok_or_else(|| missing(self))?)?;
                let kind = match (&kind, &other) {
                    _ if kind.pointee().is_some() || kind == Type::Double => kind,
                    (Type::Float, Type::Integer(..)) => kind,
                    _ => other,
                };
                (
                    Expression::Choice(Box::new((condition, then, otherwise))),
                    kind,
                )
            }
            "binary_expression" => {
                let (left, kind) = self.expression(field("left").ok_or_else(|| missing(self))?)?;
                let (right, other) =
                    self.expression(field("right").ok_or_else(|| missing(self))?)?;
                let operator = field("operator").map_or("", |node| self.text(node));
                self.binary(node, operator, (left, kind), (right, other))?
            }
            "pointer_expression" => {
                let argument = field("argument").ok_or_else(|| missing(self))?;
                if field("operator").is_some_and(|node| self.text(node) == "&") {
                    let (address, kind) = self.place(argument)?;
                    (address, Type::Pointer(Box::new(kind)))
                } else {
                    self.load(node)?
                }
            }
            "subscript_expression" => self.load(node)?,
            "assignment_expression" => {
                let target = field("left").ok_or_else(|| missing(self))?;
                let value = self.expression(field("right").ok_or_else(|| missing(self))?)?;
                let operator = field("operator").map_or("", |node| self.text(node));
                self.assign(target, operator.trim_end_matches('='), value, false)?
            }
            "update_expression" => {
                let target = field("argument").ok_or_else(|| missing(self))?;
                let operator = field("operator").map_or("", |node| self.text(node));
                let postfix = target.start_byte() == node.start_byte();
                let one = (Expression::Integer(1), Type::WIDE);
                self.assign(target, &operator[..1], one, postfix)?
            }
            "call_expression" => self.call(node)?,
            _ => return Err(self.refuse(node, "an expression of another kind")),
        })
    }

    fn name(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let name = if node.kind() == "null" {
            "NULL"
        } else {
            self.text(node)
        };
        if let Some((_, meaning)) = self.scope.iter().rev().find(|(other, _)| other == name) {
            return Ok(match meaning.clone() {
                Meaning::Variable(slot, kind) => (Expression::Variable(slot), kind),
                Meaning::Array(address, kind) => {
                    let element = kind.pointee().cloned().unwrap_or(Type::Void);
                    let kind = Type::Pointer(Box::new(element));
                    (Expression::Integer(address as i64), kind)
                }
            });
        }
        if let Some(text) = self.macros.get(name).cloned() {
            return self.macro_value(node, &text);
        }
        if !self.constants.contains_key(name) && self.reads_library(name) {
            return self.name(node);
        }
        match name {
            "MVIN_SCALE_IDENTITY" | "ACC_SCALE_IDENTITY" => {
                Ok((Expression::Float(1.0), Type::Float))
            }
            _ => self
                .constants
                .get(name)
                .map(|value| (Expression::Integer(*value), Type::WIDE))
                .ok_or_else(|| self.refuse(node, "a name that nothing here explains")),
        }
    }

    /// Returns the value of an object-like macro, which may name others.
    fn macro_value(
        &mut self,
        node: Node<'source>,
        text: &str,
    ) -> Result<(Expression, Type), Reason> {
        let refused = self.refuse(node, "a macro that is more than a number");
        if MACRO_DEPTH <= self.macro_depth {
            return Err(refused);
        }
        let source = format!("long value = {text};");
        let tree = syntax_tree(&source).filter(|tree| !tree.root_node().has_error());
        let tree = tree.ok_or_else(|| refused.clone())?;
        let value = children(tree.root_node())
            .first()
            .and_then(|node| node.child_by_field_name("declarator"))
            .and_then(|node| node.child_by_field_name("value"))
            .ok_or_else(|| refused.clone())?;
        let mut reader = Reader {
            macros: self.macros.clone(),
            macro_depth: self.macro_depth + 1,
            types: self.types.clone(),
            is_library: self.is_library,
            ..Reader::of(&source, self.constants.clone(), self.is_float)
        };
        reader.expression(value).map_err(|_| refused)
    }

    /// Returns the address of an element, and the element's type.
    fn place(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let missing = |reader: &Self| reader.refuse(node, "something is missing");
        match node.kind() {
            "parenthesized_expression" => {
                let inner = children(node).into_iter().next();
                self.place(inner.ok_or_else(|| missing(self))?)
            }
            "subscript_expression" => {
                let base = node
                    .child_by_field_name("argument")
                    .ok_or_else(|| missing(self))?;
                let index = node
                    .child_by_field_name("index")
                    .ok_or_else(|| missing(self))?;
                let base = self.expression(base)?;
                let index = self.expression(index)?;
                let (address, kind) = self.binary(node, "+", base, index)?;
                let element = kind.pointee().cloned();
                Ok((
                    address,
                    element.ok_or_else(|| self.refuse(node, "no array"))?,
                ))
            }
            "pointer_expression" => {
                let inner = node
                    .child_by_field_name("argument")
                    .ok_or_else(|| missing(self))?;
                let (address, kind) = self.expression(inner)?;
                let element = kind.pointee().cloned();
                Ok((
                    address,
                    element.ok_or_else(|| self.refuse(node, "no address"))?,
                ))
            }
            "identifier" => {
                let name = self.text(node);
                let found = self.scope.iter().rev().find(|(other, _)| other == name);
                match found {
                    Some((_, Meaning::Array(address, kind))) => {
                        Ok((Expression::Integer(*address as i64), kind.clone()))
                    }
                    _ => Err(self.refuse(node, "the address of a variable")),
                }
            }
            _ => Err(self.refuse(node, "an address of another kind")),
        }
    }

    fn load(&mut self, node: Node<'source>) -> Result<(Expression, Type), Reason> {
        let (address, kind) = self.place(node)?;
        Ok(match kind {
            // An array is the address of its first element.
            Type::Array(element, _) => (address, Type::Pointer(element)),
            kind => (Expression::Load(Box::new(address), kind.clone()), kind),
        })
    }

    fn assign(
        &mut self,
        target: Node<'source>,
        operator: &str,
        value: (Expression, Type),
        keeps_old: bool,
    ) -> Result<(Expression, Type), Reason> {
        if target.kind() == "identifier" {
            let (variable, kind) = self.name(target)?;
            let Expression::Variable(slot) = variable else {
                return Err(self.refuse(target, "an assignment to something else than a variable"));
            };
            let value = match operator {
                "" => value.0,
                _ => {
                    let old = (Expression::Variable(slot), kind.clone());
                    self.binary(target, operator, old, value)?.0
                }
            };
            let value = Box::new(narrowed(value, &kind));
            let result = if keeps_old {
                Expression::Replace(slot, value)
            } else {
                Expression::Assign(slot, value)
            };
            return Ok((result, kind));
        }
        let (address, kind) = self.place(target)?;
        let value = match operator {
            "" => value.0,
            _ => {
                let old = Expression::Load(Box::new(address.clone().quiet()), kind.clone());
                self.binary(target, operator, (old, kind.clone()), value)?.0
            }
        };
        let both = Box::new((address, narrowed(value, &kind)));
        Ok((Expression::Store(both, kind.clone()), kind))
    }
}
