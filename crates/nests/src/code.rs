//! What the statements of plain C kernels consist of.

mod expression;

use autocomp_c_loops::affine::Affine;
use autocomp_c_loops::statement::{self, Command};
use std::collections::BTreeMap;

/// A statement: loops around [`Action`]s.
pub(super) type Statement = statement::Statement<Action>;
/// A counted loop.
pub(super) type Loop = statement::Loop<Action>;

/// What an expression is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    /// A number or the name of a constant, as it is written.
    Number(String),
    /// A sum of loop variables as a value.
    Index(Affine),
    /// A variable or an element of an array.
    Element(Element),
    /// A sign in front.
    Negative(Box<Expression>),
    /// Two operands and an operator of C.
    Binary(Box<Expression>, String, Box<Expression>),
    /// One of two values.
    Choice(Box<Expression>, Box<Expression>, Box<Expression>),
    /// The value of a function.
    Call(String, Vec<Expression>),
    /// A conversion.
    Cast(String, Box<Expression>),
}

/// A variable, or an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// The name.
    pub name: String,
    /// One index for each dimension; none for a variable.
    pub indices: Vec<Index>,
}

/// Which element along one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Index {
    /// A sum of loop variables.
    Affine(Affine),
    /// A value that is looked up.
    Value(Box<Expression>),
}

/// A declaration or an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// `float x[8];` or `float x = 1;`.
    Declare {
        /// Type of the elements.
        kind: String,
        /// The name.
        name: String,
        /// Sizes; none for a variable.
        extents: Vec<i64>,
        /// The first value.
        value: Option<Expression>,
    },
    /// `x = 1` or `x += 1`.
    Assign {
        /// Where to.
        target: Element,
        /// What is done with the old value, if it is not replaced.
        operator: Option<char>,
        /// The value.
        value: Expression,
    },
}

/// Type and sizes of what a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Type of the elements.
    pub kind: String,
    /// Sizes; none for a variable.
    pub extents: Vec<i64>,
}

/// The first size of what a pointer points at.
pub(super) const UNKNOWN: i64 = i64::MAX;

/// A parameter of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    pub name: String,
    /// Type and sizes as they are declared: callers know no others.
    pub declared: Named,
    pub is_const: bool,
    pub is_restrict: bool,
}

/// A kernel as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Type and name of the kernel.
    pub head: String,
    /// The parameters in their order.
    pub parameters: Vec<Parameter>,
    /// Declarations of arrays outside of the kernel.
    pub statics: String,
    /// Parameters and everything that is declared.
    pub names: BTreeMap<String, Named>,
    /// The body.
    pub body: Vec<Statement>,
}

impl Program {
    /// Returns the head of the kernel, with every constant as a number.
    pub(super) fn head_to_c(&self) -> String {
        let parameters = self.parameters.iter().map(|parameter| {
            let Parameter {
                name,
                declared,
                is_const,
                is_restrict,
            } = parameter;
            let mut sizes = String::new();
            for (idx, extent) in declared.extents.iter().enumerate() {
                let size = match *extent {
                    UNKNOWN => String::new(),
                    extent => extent.to_string(),
                };
                let restrict = match (idx, is_restrict, size.is_empty()) {
                    (0, true, true) => "restrict",
                    (0, true, false) => "restrict ",
                    _ => "",
                };
                sizes += &format!("[{restrict}{size}]");
            }
            let constant = if *is_const { "const " } else { "" };
            let flat = if self.is_reshaped(parameter) {
                "_flat"
            } else {
                ""
            };
            format!("{constant}{} {name}{flat}{sizes}", declared.kind)
        });
        let parameters: Vec<String> = parameters.collect();
        format!("{}({})", self.head, parameters.join(", "))
    }

    fn is_reshaped(&self, parameter: &Parameter) -> bool {
        self.names
            .get(&parameter.name)
            .is_some_and(|it| *it != parameter.declared)
    }

    /// Returns the lines that give parameters the dimensions that their indices have.
    pub(super) fn opening(&self) -> Vec<String> {
        let reshaped = self.parameters.iter().filter(|it| self.is_reshaped(it));
        let line = |it: &Parameter| {
            let named = self.names.get(&it.name)?;
            let inner: String = named
                .extents
                .iter()
                .skip(1)
                .map(|it| format!("[{it}]"))
                .collect();
            let constant = if it.is_const { "const " } else { "" };
            let restrict = if it.is_restrict { "restrict " } else { "" };
            let kind = &named.kind;
            Some(format!(
                "{constant}{kind} (*{restrict}{0}){inner} = ({constant}{kind} (*){inner}){0}_flat;",
                it.name
            ))
        };
        reshaped.filter_map(line).collect()
    }
}

impl Element {
    /// Returns a variable.
    pub(super) fn variable(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            indices: Vec::new(),
        }
    }

    /// Returns the indices if all of them are sums of loop variables.
    pub(super) fn affine(&self) -> Option<Vec<&Affine>> {
        let indices = self.indices.iter().map(|index| match index {
            Index::Affine(affine) => Some(affine),
            Index::Value(_) => None,
        });
        indices.collect()
    }

    pub(super) fn mentions(&self, variable: &str) -> bool {
        self.name == variable
            || self.indices.iter().any(|index| match index {
                Index::Affine(affine) => affine.mentions(variable),
                Index::Value(value) => value.mentions(variable),
            })
    }

    /// Returns how far apart in memory the elements are that follow one
    /// another in `variable`; `None` if that cannot be told.
    pub(super) fn stride(&self, variable: &str, extents: &[i64]) -> Option<i64> {
        let indices = self.affine()?;
        let one = |affine: &Affine| {
            let next =
                affine.substitute(variable, &Affine::variable(variable).plus_constant(1)?)?;
            next.minus(affine)?.as_constant()
        };
        let mut stride = 0_i64;
        for (dimension, index) in indices.into_iter().enumerate() {
            let extent = if dimension == 0 {
                1
            } else {
                *extents.get(dimension)?
            };
            stride = stride.checked_mul(extent)?.checked_add(one(index)?)?;
        }
        Some(stride)
    }

    /// Returns how many elements it lies behind `other` of the same array; `None` if that
    /// cannot be told.
    pub(super) fn behind(&self, other: &Self, extents: &[i64]) -> Option<i64> {
        let (own, others) = (self.affine()?, other.affine()?);
        let mut distance = 0_i64;
        for (dimension, (one, other)) in own.into_iter().zip(others).enumerate() {
            let extent = match dimension {
                0 => 1,
                _ => *extents.get(dimension)?,
            };
            let apart = one.minus(other)?.as_constant()?;
            distance = distance.checked_mul(extent)?.checked_add(apart)?;
        }
        Some(distance)
    }

    fn substitute(&self, name: &str, value: &Affine) -> Option<Self> {
        let indices = self.indices.iter().map(|index| {
            Some(match index {
                Index::Affine(affine) => Index::Affine(affine.substitute(name, value)?),
                Index::Value(inner) => Index::Value(Box::new(inner.substitute(name, value)?)),
            })
        });
        Some(Self {
            name: self.name.clone(),
            indices: indices.collect::<Option<_>>()?,
        })
    }

    /// Returns it as C.
    pub(super) fn to_c(&self) -> String {
        let mut text = self.name.clone();
        for index in &self.indices {
            text += &match index {
                Index::Affine(affine) => format!("[{}]", affine.to_c()),
                Index::Value(value) => format!("[{}]", value.to_c()),
            };
        }
        text
    }
}

impl Action {
    /// Returns what is read, in the order of the text: an assignment that
    /// changes its target reads it, too.
    pub(super) fn reads(&self) -> Vec<&Element> {
        match self {
            Self::Declare { value, .. } => value.iter().flat_map(Expression::reads).collect(),
            Self::Assign {
                target,
                operator,
                value,
            } => {
                let mut found = value.reads();
                found.extend(operator.map(|_| target));
                for index in &target.indices {
                    if let Index::Value(value) = index {
                        found.extend(value.reads());
                    }
                }
                found
            }
        }
    }
}

impl Command for Action {
    fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Declare { value, .. } => value.as_ref().is_some_and(|it| it.mentions(name)),
            Self::Assign { target, value, .. } => target.mentions(name) || value.mentions(name),
        }
    }

    fn substitute(&self, name: &str, value: &Affine) -> Option<Self> {
        let by = value;
        Some(match self {
            Self::Declare {
                kind,
                name: declared,
                extents,
                value,
            } => Self::Declare {
                kind: kind.clone(),
                name: declared.clone(),
                extents: extents.clone(),
                value: match value {
                    Some(value) => Some(value.substitute(name, by)?),
                    None => None,
                },
            },
            Self::Assign {
                target,
                operator,
                value,
            } => Self::Assign {
                target: target.substitute(name, by)?,
                operator: *operator,
                value: value.substitute(name, by)?,
            },
        })
    }

    fn to_c(&self) -> String {
        match self {
            Self::Declare {
                kind,
                name,
                extents,
                value,
            } => {
                let sizes: String = extents.iter().map(|it| format!("[{it}]")).collect();
                let value = value.as_ref().map(|it| format!(" = {}", it.to_c()));
                format!("{kind} {name}{sizes}{}", value.unwrap_or_default())
            }
            Self::Assign {
                target,
                operator,
                value,
            } => {
                let operator = operator.map_or(String::new(), String::from);
                format!("{} {operator}= {}", target.to_c(), value.to_c())
            }
        }
    }
}

/// Replaces every variable and element in statements by what `change` gives.
pub(super) fn with_elements(
    statements: &[Statement],
    change: &dyn Fn(&Element) -> Element,
) -> Vec<Statement> {
    let of_action = |action: &Action| match action {
        Action::Declare {
            kind,
            name,
            extents,
            value,
        } => Action::Declare {
            kind: kind.clone(),
            name: change(&Element::variable(name)).name,
            extents: extents.clone(),
            value: value.as_ref().map(|it| changed(it, change)),
        },
        Action::Assign {
            target,
            operator,
            value,
        } => Action::Assign {
            target: changed_element(target, change),
            operator: *operator,
            value: changed(value, change),
        },
    };
    let of_statement = |statement: &Statement| match statement {
        Statement::Loop(inner) => Statement::Loop(Loop {
            body: with_elements(&inner.body, change),
            ..inner.clone()
        }),
        Statement::Command(action) => Statement::Command(of_action(action)),
        other => other.clone(),
    };
    statements.iter().map(of_statement).collect()
}

fn changed(expression: &Expression, change: &dyn Fn(&Element) -> Element) -> Expression {
    expression.map(&mut |element| Expression::Element(changed_element(element, change)))
}

fn changed_element(element: &Element, change: &dyn Fn(&Element) -> Element) -> Element {
    let indices = element.indices.iter().map(|index| match index {
        Index::Affine(_) => index.clone(),
        Index::Value(value) => Index::Value(Box::new(changed(value, change))),
    });
    change(&Element {
        name: element.name.clone(),
        indices: indices.collect(),
    })
}

/// Returns all actions in statements, with the variables of the loops around each.
pub(super) fn actions(statements: &[Statement]) -> Vec<(Vec<String>, &Action)> {
    let mut found = Vec::new();
    for statement in statements {
        match statement {
            Statement::Loop(inner) => {
                for (mut loops, action) in actions(&inner.body) {
                    loops.insert(0, inner.variable.clone());
                    found.push((loops, action));
                }
            }
            Statement::Command(action) => found.push((Vec::new(), action)),
            _ => {}
        }
    }
    found
}
