//! Expressions: what they read, and how they are written.

use super::{Element, Expression, Index};
use autocomp_c_loops::affine::Affine;

impl Expression {
    /// Returns the variables and elements that are read, in the order of the text.
    pub(crate) fn reads(&self) -> Vec<&Element> {
        match self {
            Self::Number(_) | Self::Index(_) => Vec::new(),
            Self::Element(element) => {
                let mut found = vec![element];
                for index in &element.indices {
                    if let Index::Value(value) = index {
                        found.extend(value.reads());
                    }
                }
                found
            }
            Self::Negative(inner) | Self::Cast(_, inner) => inner.reads(),
            Self::Binary(left, _, right) => [left.reads(), right.reads()].concat(),
            Self::Choice(condition, one, other) => {
                [condition.reads(), one.reads(), other.reads()].concat()
            }
            Self::Call(_, arguments) => arguments.iter().flat_map(Self::reads).collect(),
        }
    }

    /// Returns the variables and elements that are operands, in the order of the text, without what
    /// is read to look them up.
    pub(crate) fn operands(&self) -> Vec<&Element> {
        match self {
            Self::Number(_) | Self::Index(_) => Vec::new(),
            Self::Element(element) => vec![element],
            Self::Negative(inner) | Self::Cast(_, inner) => inner.operands(),
            Self::Binary(left, _, right) => [left.operands(), right.operands()].concat(),
            Self::Choice(condition, one, other) => {
                [condition.operands(), one.operands(), other.operands()].concat()
            }
            Self::Call(_, arguments) => arguments.iter().flat_map(Self::operands).collect(),
        }
    }

    pub(crate) fn mentions(&self, variable: &str) -> bool {
        match self {
            Self::Number(_) => false,
            Self::Index(affine) => affine.mentions(variable),
            Self::Element(element) => element.mentions(variable),
            Self::Negative(inner) | Self::Cast(_, inner) => inner.mentions(variable),
            Self::Binary(left, _, right) => left.mentions(variable) || right.mentions(variable),
            Self::Choice(condition, one, other) => [condition, one, other]
                .iter()
                .any(|it| it.mentions(variable)),
            Self::Call(_, arguments) => arguments.iter().any(|it| it.mentions(variable)),
        }
    }

    /// Returns the expression with every element replaced by what `change` gives.
    pub(crate) fn map(&self, change: &mut dyn FnMut(&Element) -> Self) -> Self {
        let mut boxed = |inner: &Self| Box::new(inner.map(change));
        match self {
            Self::Number(_) | Self::Index(_) => self.clone(),
            Self::Negative(inner) => Self::Negative(boxed(inner)),
            Self::Cast(kind, inner) => Self::Cast(kind.clone(), boxed(inner)),
            Self::Binary(left, operator, right) => {
                Self::Binary(boxed(left), operator.clone(), boxed(right))
            }
            Self::Choice(condition, one, other) => {
                Self::Choice(boxed(condition), boxed(one), boxed(other))
            }
            Self::Element(element) => change(element),
            Self::Call(name, arguments) => Self::Call(
                name.clone(),
                arguments.iter().map(|it| it.map(change)).collect(),
            ),
        }
    }

    pub(crate) fn substitute(&self, name: &str, value: &Affine) -> Option<Self> {
        let boxed = |inner: &Self| Some(Box::new(inner.substitute(name, value)?));
        Some(match self {
            Self::Number(_) => self.clone(),
            Self::Index(affine) => Self::Index(affine.substitute(name, value)?),
            Self::Element(element) => Self::Element(element.substitute(name, value)?),
            Self::Negative(inner) => Self::Negative(boxed(inner)?),
            Self::Cast(kind, inner) => Self::Cast(kind.clone(), boxed(inner)?),
            Self::Binary(left, operator, right) => {
                Self::Binary(boxed(left)?, operator.clone(), boxed(right)?)
            }
            Self::Choice(condition, one, other) => {
                Self::Choice(boxed(condition)?, boxed(one)?, boxed(other)?)
            }
            Self::Call(callee, arguments) => {
                let arguments = arguments.iter().map(|it| it.substitute(name, value));
                Self::Call(callee.clone(), arguments.collect::<Option<_>>()?)
            }
        })
    }

    /// Returns it as C.
    pub(crate) fn to_c(&self) -> String {
        match self {
            Self::Number(text) => text.clone(),
            Self::Index(affine) => affine.to_c(),
            Self::Element(element) => element.to_c(),
            Self::Negative(inner) => format!("-{}", inner.operand()),
            Self::Cast(kind, inner) => format!("({kind}){}", inner.operand()),
            Self::Binary(left, operator, right) => {
                format!("{} {operator} {}", left.operand(), right.operand())
            }
            Self::Choice(condition, one, other) => format!(
                "{} ? {} : {}",
                condition.to_c(),
                one.operand(),
                other.operand()
            ),
            Self::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(Self::to_c).collect();
                format!("{name}({})", arguments.join(", "))
            }
        }
    }

    /// Returns it as C, in parentheses if it is more than one operand.
    pub(crate) fn operand(&self) -> String {
        match self {
            Self::Number(_) | Self::Element(_) | Self::Call(..) => self.to_c(),
            Self::Index(affine) => affine.to_c_operand(),
            _ => format!("({})", self.to_c()),
        }
    }
}
