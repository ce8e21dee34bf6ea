//! Expressions.

use std::cell::OnceCell;
use std::rc::Rc;

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::Ranged;

use super::scopes::Scope;
use super::{Lowering, dunder, is_dunder};
use crate::diagnostic::Outcome;
use crate::foreign::Foreign;
use crate::tree::{
    Argument, Attribute, Binary, Built, Call, Clause, Comparison, Expression, Node, Piece, Unary,
};
use crate::value::Value;

impl<F: Foreign> Lowering<'_, F> {
    pub(super) fn boxed(&mut self, expression: &Expr) -> Outcome<Box<Node<F>>> {
        Ok(Box::new(self.expression(expression)?))
    }

    pub(super) fn nodes(&mut self, expressions: &[Expr]) -> Outcome<Vec<Node<F>>> {
        expressions.iter().map(|e| self.expression(e)).collect()
    }

    pub(super) fn expression(&mut self, expression: &Expr) -> Outcome<Node<F>> {
        self.enter(expression.start())?;
        let mut line = self.line(expression.start());
        let kind = match expression {
            Expr::NoneLiteral(_) => Expression::Constant(Value::None),
            Expr::BooleanLiteral(node) => Expression::Constant(Value::Bool(node.value)),
            Expr::EllipsisLiteral(_) => Expression::Constant(Value::Ellipsis),
            Expr::StringLiteral(node) => {
                Expression::Constant(Value::Str(node.value.to_str().into()))
            }
            Expr::NumberLiteral(node) => match &node.value {
                ast::Number::Int(value) => match value.as_i64() {
                    Some(value) => Expression::Constant(Value::Int(value)),
                    None => Expression::Refused(self.refuse(
                        expression.start(),
                        "an integer beyond 64 bits",
                        "use a smaller number",
                    )),
                },
                ast::Number::Float(value) => Expression::Constant(Value::Float(*value)),
                ast::Number::Complex { .. } => Expression::Refused(self.refuse(
                    expression.start(),
                    "a complex number",
                    "keep real and imaginary parts apart",
                )),
            },
            Expr::Name(node) => self.name(node.id.as_str(), line),
            Expr::Attribute(node) => {
                line = self.line(node.attr.start());
                let name = node.attr.id.as_str();
                if is_dunder(name) && !matches!(name, "__init__" | "__post_init__") {
                    Expression::Refused(Rc::from(dunder::<F>(name, line)))
                } else {
                    Expression::Attribute(Box::new(Attribute {
                        object: self.expression(&node.value)?,
                        name: name.into(),
                        of_module: OnceCell::new(),
                    }))
                }
            }
            Expr::Call(node) if is_super(node) => match self.parent_of(line) {
                Some(parent) => parent,
                None => Expression::Refused(self.refuse(
                    expression.start(),
                    "super() outside of a method",
                    "call the function of the other class by its name",
                )),
            },
            Expr::Call(node)
                if is_next(node) && self.scopes.iter().all(|s| s.find("next").is_none()) =>
            {
                match (&*node.arguments.args, node.arguments.keywords.is_empty()) {
                    ([generator @ Expr::Generator(_), rest @ ..], true) if rest.len() < 2 => {
                        let first = self.boxed(generator)?;
                        let default = rest.first().map(|it| self.boxed(it)).transpose()?;
                        Expression::First(first, default)
                    }
                    _ => Expression::Refused(self.refuse(
                        expression.start(),
                        "next() of anything but a generator expression",
                        "loop with for, or subscript a list",
                    )),
                }
            }
            Expr::Call(node) => {
                let function = self.expression(&node.func)?;
                line = function.line;
                let mut arguments = Vec::new();
                for argument in &node.arguments.args {
                    arguments.push(match argument {
                        Expr::Starred(starred) => {
                            Argument::Spread(self.expression(&starred.value)?)
                        }
                        other => Argument::Positional(self.expression(other)?),
                    });
                }
                for keyword in &node.arguments.keywords {
                    let value = self.expression(&keyword.value)?;
                    arguments.push(match &keyword.arg {
                        Some(name) => Argument::Keyword(name.id.as_str().into(), value),
                        None => Argument::SpreadKeywords(value),
                    });
                }
                Expression::Call(Box::new(Call {
                    function,
                    arguments,
                    binding: OnceCell::new(),
                }))
            }
            Expr::BinOp(node) => Expression::Binary(
                binary(node.op),
                self.boxed(&node.left)?,
                self.boxed(&node.right)?,
            ),
            Expr::Compare(node) => {
                let left = self.boxed(&node.left)?;
                let mut rest = Vec::new();
                for (operator, right) in node.ops.iter().zip(node.comparators.iter()) {
                    rest.push((comparison(*operator), self.expression(right)?));
                }
                Expression::Compare(left, rest)
            }
            Expr::BoolOp(node) => {
                Expression::Logic(node.op == ast::BoolOp::And, self.nodes(&node.values)?)
            }
            Expr::UnaryOp(node) => {
                let operator = match node.op {
                    ast::UnaryOp::Invert => Unary::Invert,
                    ast::UnaryOp::Not => Unary::Not,
                    ast::UnaryOp::UAdd => Unary::Plus,
                    ast::UnaryOp::USub => Unary::Negate,
                };
                let operand = self.expression(&node.operand)?;
                match (operator, &operand.kind) {
                    (Unary::Negate, Expression::Constant(Value::Int(value))) => {
                        Expression::Constant(Value::Int(value.wrapping_neg()))
                    }
                    (Unary::Negate, Expression::Constant(Value::Float(value))) => {
                        Expression::Constant(Value::Float(-value))
                    }
                    _ => Expression::Unary(operator, Box::new(operand)),
                }
            }
            Expr::Subscript(node) => {
                Expression::Subscript(self.boxed(&node.value)?, self.boxed(&node.slice)?)
            }
            Expr::Slice(node) => {
                let mut part =
                    |e: &Option<Box<Expr>>| e.as_ref().map(|e| self.boxed(e)).transpose();
                Expression::Slice(part(&node.lower)?, part(&node.upper)?, part(&node.step)?)
            }
            Expr::Tuple(node) => Expression::Tuple(self.nodes(&node.elts)?),
            Expr::List(node) => Expression::List(self.nodes(&node.elts)?),
            Expr::Set(node) => Expression::Set(self.nodes(&node.elts)?),
            Expr::Dict(node) => {
                let mut items = Vec::new();
                for item in &node.items {
                    let key = item.key.as_ref().map(|k| self.expression(k)).transpose()?;
                    items.push((key, self.expression(&item.value)?));
                }
                Expression::Dict(items)
            }
            Expr::Starred(node) => Expression::Starred(self.boxed(&node.value)?),
            Expr::If(node) => Expression::Conditional(
                self.boxed(&node.test)?,
                self.boxed(&node.body)?,
                self.boxed(&node.orelse)?,
            ),
            Expr::ListComp(node) => self.comprehension(&node.generators, |this| {
                Ok(Built::List(this.expression(&node.elt)?))
            })?,
            Expr::Generator(node) => self.comprehension(&node.generators, |this| {
                Ok(Built::List(this.expression(&node.elt)?))
            })?,
            Expr::SetComp(node) => self.comprehension(&node.generators, |this| {
                Ok(Built::Set(this.expression(&node.elt)?))
            })?,
            Expr::DictComp(node) => match &node.key {
                Some(key) => self.comprehension(&node.generators, |this| {
                    Ok(Built::Dict(
                        this.expression(key)?,
                        this.expression(&node.value)?,
                    ))
                })?,
                None => Expression::Refused(self.refuse(
                    expression.start(),
                    "unpacking in a comprehension",
                    "write a loop",
                )),
            },
            Expr::Lambda(node) => {
                let empty = ast::Parameters::default();
                let parameters = node.parameters.as_deref().unwrap_or(&empty);
                let defaults = self.parameters(parameters)?;
                self.scopes.push(Scope::default());
                let mut code = self.signature(parameters, defaults, "<lambda>", line);
                self.declare_walrus(&node.body);
                code.value = Some(self.expression(&node.body)?);
                self.close(&mut code);
                Expression::Lambda(Rc::new(code))
            }
            Expr::FString(node) => {
                let mut pieces = Vec::new();
                for part in node.value.iter() {
                    match part {
                        ast::FStringPart::Literal(literal) => {
                            pieces.push(Piece::Text(literal.value.as_ref().into()));
                        }
                        ast::FStringPart::FString(inner) => {
                            self.pieces(&inner.elements, &mut pieces)?;
                        }
                    }
                }
                Expression::Format(pieces)
            }
            Expr::Named(node) => {
                let value = self.boxed(&node.value)?;
                if let Expr::Name(name) = &*node.target
                    && self.scopes.len() > 1
                    && !is_dunder(name.id.as_str())
                {
                    // Wherever it stands, it binds a name of the function.
                    self.bind(name.id.as_str());
                }
                Expression::Walrus(self.target(&node.target)?, value)
            }
            Expr::Yield(node) if self.scopes.len() > 1 => {
                self.top().yields = true;
                let value = node.value.as_ref().map(|it| self.boxed(it)).transpose()?;
                Expression::Yield(value, false)
            }
            Expr::YieldFrom(node) if self.scopes.len() > 1 => {
                self.top().yields = true;
                Expression::Yield(Some(self.boxed(&node.value)?), true)
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                Expression::Refused(self.refuse(expression.start(), "yield", "return a list"))
            }
            Expr::Await(_) => Expression::Refused(self.refuse(
                expression.start(),
                "await",
                "call the function directly",
            )),
            _ => Expression::Refused(self.refuse(
                expression.start(),
                "this expression",
                "use plain numbers, strings, calls and subscripts",
            )),
        };
        self.depth -= 1;
        Ok(Node { line, kind })
    }

    pub(super) fn pieces(
        &mut self,
        elements: &[ast::InterpolatedStringElement],
        out: &mut Vec<Piece<F>>,
    ) -> Outcome<()> {
        for element in elements {
            match element {
                ast::InterpolatedStringElement::Literal(literal) => {
                    out.push(Piece::Text(literal.value.as_ref().into()));
                }
                ast::InterpolatedStringElement::Interpolation(inner) => {
                    let node = self.expression(&inner.expression)?;
                    let debug = inner.debug_text.as_ref().map(|_| {
                        let text = self
                            .source
                            .get(inner.expression.range().to_std_range())
                            .unwrap_or("");
                        Rc::from(format!("{text}="))
                    });
                    let format = match &inner.format_spec {
                        Some(spec) => {
                            let mut pieces = Vec::new();
                            self.pieces(&spec.elements, &mut pieces)?;
                            Some(pieces)
                        }
                        None => None,
                    };
                    let repr = matches!(inner.conversion, ast::ConversionFlag::Repr)
                        || (debug.is_some() && format.is_none());
                    out.push(Piece::Value {
                        node,
                        repr,
                        debug,
                        format,
                    });
                }
            }
        }
        Ok(())
    }

    pub(super) fn comprehension(
        &mut self,
        generators: &[ast::Comprehension],
        build: impl FnOnce(&mut Self) -> Outcome<Built<F>>,
    ) -> Outcome<Expression<F>> {
        let before = self.top().overlay.len();
        let mut clauses = Vec::new();
        for generator in generators {
            let iterable = self.expression(&generator.iter)?;
            self.hide(&generator.target);
            let target = self.target(&generator.target)?;
            let conditions = self.nodes(&generator.ifs)?;
            clauses.push(Clause {
                target,
                iterable,
                conditions,
            });
        }
        let built = build(self)?;
        self.top().overlay.truncate(before);
        Ok(Expression::Comprehension(Box::new(built), clauses))
    }

    pub(super) fn hide(&mut self, target: &Expr) {
        match target {
            Expr::Name(node) => {
                self.top().hidden(node.id.as_str());
            }
            Expr::Tuple(node) => node.elts.iter().for_each(|e| self.hide(e)),
            Expr::List(node) => node.elts.iter().for_each(|e| self.hide(e)),
            Expr::Starred(node) => self.hide(&node.value),
            _ => {}
        }
    }
}

/// Whether a call is `super()`.
fn is_super(node: &ast::ExprCall) -> bool {
    matches!(&*node.func, Expr::Name(name) if name.id.as_str() == "super")
        && node.arguments.args.is_empty()
}

/// Whether a call is one of `next`.
fn is_next(node: &ast::ExprCall) -> bool {
    matches!(&*node.func, Expr::Name(name) if name.id.as_str() == "next")
}

pub(super) fn binary(operator: ast::Operator) -> Binary {
    match operator {
        ast::Operator::Add => Binary::Add,
        ast::Operator::Sub => Binary::Subtract,
        ast::Operator::Mult => Binary::Multiply,
        ast::Operator::MatMult => Binary::MatrixMultiply,
        ast::Operator::Div => Binary::Divide,
        ast::Operator::Mod => Binary::Modulo,
        ast::Operator::Pow => Binary::Power,
        ast::Operator::LShift => Binary::ShiftLeft,
        ast::Operator::RShift => Binary::ShiftRight,
        ast::Operator::BitOr => Binary::Or,
        ast::Operator::BitXor => Binary::Xor,
        ast::Operator::BitAnd => Binary::And,
        ast::Operator::FloorDiv => Binary::FloorDivide,
    }
}

fn comparison(operator: ast::CmpOp) -> Comparison {
    match operator {
        ast::CmpOp::Eq => Comparison::Equal,
        ast::CmpOp::NotEq => Comparison::NotEqual,
        ast::CmpOp::Lt => Comparison::Less,
        ast::CmpOp::LtE => Comparison::LessEqual,
        ast::CmpOp::Gt => Comparison::Greater,
        ast::CmpOp::GtE => Comparison::GreaterEqual,
        ast::CmpOp::Is => Comparison::Is,
        ast::CmpOp::IsNot => Comparison::IsNot,
        ast::CmpOp::In => Comparison::In,
        ast::CmpOp::NotIn => Comparison::NotIn,
    }
}
