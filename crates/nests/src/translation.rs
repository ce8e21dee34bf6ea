//! Expressions on vectors: the same step for several values of a loop variable.

mod halves;
mod picks;

use super::code::{Element, Expression, Index, Named};
use super::vectors::{Preamble, computed_in, gnu, is_narrow};
use autocomp_c_loops::affine::Affine;
pub(super) use halves::{Half, Halves};
pub(super) use picks::MOST_STRIDE;
use std::collections::BTreeMap;

/// Translates expressions for `lanes` values of a variable side by side.
pub(super) struct Translation<'p> {
    pub preamble: &'p mut Preamble,
    pub names: &'p BTreeMap<String, Named>,
    pub lanes: u32,
    /// Type of the elements: `float` or `int32_t`.
    pub kind: &'p str,
    pub variable: &'p str,
    /// What is added to variables.
    pub shifts: &'p [(&'p str, i64)],
    /// Variables that hold vectors, with what they are called.
    pub locals: &'p BTreeMap<String, String>,
    /// Whether to multiply by reciprocals instead of dividing.
    pub reciprocals: bool,
    /// Whether elements that lie equally far apart are loaded with a stride.
    pub strided: bool,
}

/// A translated expression.
pub(super) enum Value {
    /// A number that is the same in all lanes.
    Scalar(String),
    /// A vector.
    Vector(String),
}

impl Translation<'_> {
    /// Returns whether a type can be taken for that of the elements.
    fn fits(kind: &str, want: &str) -> bool {
        match want {
            "float" => kind == "float" || is_narrow(kind) || kind == "int32_t",
            _ => computed_in(kind) != "float" && (is_narrow(kind) || kind == "int32_t"),
        }
    }

    /// Returns the type in which C computes an expression: `float` or `int32_t`; nothing for
    /// others. `double` counts as `float`: rounded earlier than it is written; tests decide whether
    /// that is right.
    fn natural(&self, expression: &Expression) -> Option<&'static str> {
        let either = |one: Option<&'static str>, other: Option<&'static str>| match (one?, other?) {
            ("int32_t", "int32_t") => Some("int32_t"),
            _ => Some("float"),
        };
        Some(match expression {
            Expression::Number(text) if is_whole_number(text) => "int32_t",
            Expression::Call(name, _) if name == "each_bits_of_float" => "int32_t",
            Expression::Number(_) | Expression::Call(..) => "float",
            Expression::Index(_) => "int32_t",
            Expression::Element(element) => match self.names.get(&element.name)?.kind.as_str() {
                "float" => "float",
                kind if kind == "int32_t" || is_narrow(kind) => computed_in(kind),
                _ => return None,
            },
            Expression::Negative(inner) => self.natural(inner)?,
            Expression::Cast(kind, _) => match kind.as_str() {
                "float" | "double" => "float",
                kind if kind == "int32_t" || is_narrow(kind) => computed_in(kind),
                _ => return None,
            },
            Expression::Binary(left, operator, right) => {
                let both = either(self.natural(left), self.natural(right))?;
                match is_condition(expression) || "&|^<<>>%".contains(operator.as_str()) {
                    true => "int32_t",
                    false => both,
                }
            }
            Expression::Choice(_, one, other) => either(self.natural(one), self.natural(other))?,
        })
    }

    /// Returns an expression that is a vector in any case.
    pub(super) fn vector(&mut self, expression: &Expression) -> Option<String> {
        self.vector_in(expression, self.kind)
    }

    fn vector_in(&mut self, expression: &Expression, kind: &str) -> Option<String> {
        Some(match self.value_in(expression, kind)? {
            Value::Vector(text) => text,
            Value::Scalar(text) => {
                let vector = self.preamble.vector(self.lanes, kind);
                format!("({})", gnu::splat(&vector, &text))
            }
        })
    }

    /// Translates an expression; nothing if there is no way to.
    pub(super) fn value(&mut self, expression: &Expression) -> Option<Value> {
        self.value_in(expression, self.kind)
    }

    fn varies(&self, expression: &Expression) -> bool {
        expression.mentions(self.variable)
            || expression
                .reads()
                .iter()
                .any(|it| self.locals.contains_key(&it.name))
    }

    /// Translates an expression into numbers of type `kind`.
    fn value_in(&mut self, expression: &Expression, kind: &str) -> Option<Value> {
        if !self.varies(expression) {
            let reads = expression.reads();
            let known = reads.iter().all(|it| match self.names.get(&it.name) {
                Some(named) => Self::fits(&named.kind, "float"),
                None => false,
            });
            let text = shifted_expression(expression, self.shifts)?.to_c();
            return known.then(|| Value::Scalar(format!("({kind})({text})")));
        }
        let natural = self.natural(expression)?;
        if let Expression::Element(element) = expression {
            return Some(Value::Vector(self.load(element, kind)?));
        }
        if natural != kind {
            let text = self.vector_in(expression, natural)?;
            let vector = self.preamble.vector(self.lanes, kind);
            return Some(Value::Vector(gnu::converted(&text, &vector)));
        }
        let text = match expression {
            Expression::Number(_) | Expression::Element(_) => return None,
            Expression::Index(_) => self.indices(expression)?,
            Expression::Negative(inner) => format!("(-{})", self.vector_in(inner, kind)?),
            Expression::Cast(to, inner) if is_narrow(to) => {
                let wide = computed_in(to);
                let vector = self.preamble.vector(self.lanes, wide);
                let narrow = self.preamble.narrow(self.lanes, to);
                let inner = self.vector_in(inner, wide)?;
                gnu::converted(&gnu::converted(&inner, &narrow), &vector)
            }
            Expression::Cast(_, inner) => return self.value_in(inner, kind),
            Expression::Binary(left, operator, right) => {
                if is_condition(expression) {
                    return Some(Value::Vector(format!("({} & 1)", self.mask(expression)?)));
                }
                let arithmetic = ["+", "-", "*", "/"].contains(&operator.as_str());
                let whole = ["&", "|", "^", "<<", ">>", "%"].contains(&operator.as_str());
                if !(arithmetic || whole && kind == "int32_t") {
                    return None;
                }
                let side = |value| match value {
                    Value::Scalar(text) | Value::Vector(text) => text,
                };
                let left = side(self.value_in(left, kind)?);
                let right = self.value_in(right, kind)?;
                match (operator.as_str(), right) {
                    ("/", right) if self.reciprocals && kind == "float" => {
                        format!("({left} * {})", self.reciprocal(right)?)
                    }
                    (_, right) => format!("({left} {operator} {})", side(right)),
                }
            }
            Expression::Choice(condition, one, other)
                if let Some(greatest) = extreme_of(condition, one, other) =>
            {
                let (one, other) = (self.vector_in(one, kind)?, self.vector_in(other, kind)?);
                match kind {
                    "float" => {
                        let name = if greatest { "larger" } else { "smaller" };
                        let function = self.preamble.function(self.lanes, name)?;
                        format!("{function}({one}, {other})")
                    }
                    _ => gnu::extreme(greatest, &one, &other),
                }
            }
            Expression::Choice(condition, one, other) => {
                let mask = self.mask(condition)?;
                let (one, other) = (self.vector_in(one, kind)?, self.vector_in(other, kind)?);
                match kind {
                    "float" => {
                        let chosen = self.preamble.function(self.lanes, "chosen")?;
                        format!("{chosen}({mask}, {one}, {other})")
                    }
                    _ => format!("(({mask} & {one}) | (~{mask} & {other}))"),
                }
            }
            Expression::Call(name, arguments) if name.starts_with("each_") => {
                let from = match kind {
                    "float" => "int32_t",
                    _ => "float",
                };
                let vector = self.preamble.vector(self.lanes, kind);
                let argument = self.vector_in(arguments.first()?, from)?;
                format!("(({vector})({argument}))")
            }
            Expression::Call(name, arguments) => {
                let name = match name.as_str() {
                    "fmaxf" | "fmax" => "larger",
                    "fminf" | "fmin" => "smaller",
                    "exp" => "expf",
                    "erf" => "erff",
                    "tanh" => "tanhf",
                    "sqrt" => "sqrtf",
                    "fabs" => "fabsf",
                    name => name.trim_start_matches("__builtin_"),
                };
                let function = self.preamble.function(self.lanes, name)?;
                let arguments = arguments.iter().map(|it| self.vector_in(it, "float"));
                let arguments: Vec<String> = arguments.collect::<Option<_>>()?;
                format!("{function}({})", arguments.join(", "))
            }
        };
        Some(Value::Vector(text))
    }

    /// Returns what to multiply by instead of dividing by a value.
    pub(super) fn reciprocal(&mut self, value: Value) -> Option<String> {
        Some(match value {
            Value::Scalar(text) => format!("(1.0f / {text})"),
            Value::Vector(text) => {
                let function = self.preamble.function(self.lanes, "reciprocal")?;
                format!("{function}({text})")
            }
        })
    }

    /// Translates a condition: all bits of a lane are set where it holds.
    fn mask(&mut self, condition: &Expression) -> Option<String> {
        let integers = self.preamble.vector(self.lanes, "int32_t");
        if !self.varies(condition) {
            let text = shifted_expression(condition, self.shifts)?.to_c();
            return Some(format!("({} - (({text}) != 0))", gnu::zero(&integers)));
        }
        if let Expression::Binary(left, operator, right) = condition {
            match operator.as_str() {
                "&&" => return Some(format!("({} & {})", self.mask(left)?, self.mask(right)?)),
                "||" => return Some(format!("({} | {})", self.mask(left)?, self.mask(right)?)),
                // `!c`
                "==" if is_condition(left) && **right == Expression::Number("0".into()) => {
                    return Some(format!("(~{})", self.mask(left)?));
                }
                "<" | ">" | "<=" | ">=" | "==" | "!=" => {
                    let kind = match (self.natural(left)?, self.natural(right)?) {
                        ("int32_t", "int32_t") => "int32_t",
                        _ => "float",
                    };
                    let (left, right) = (self.vector_in(left, kind)?, self.vector_in(right, kind)?);
                    return Some(format!("({left} {operator} {right})"));
                }
                _ => {}
            }
        }
        match self.natural(condition)? {
            "int32_t" => Some(format!("({} != 0)", self.vector_in(condition, "int32_t")?)),
            _ => None,
        }
    }

    /// Returns a vector of indices; nothing for what is no index.
    fn indices(&mut self, expression: &Expression) -> Option<String> {
        let Expression::Index(affine) = expression else {
            return None;
        };
        let next = Affine::variable(self.variable).plus_constant(1)?;
        let step = affine
            .substitute(self.variable, &next)?
            .minus(affine)?
            .as_constant()?;
        let first = shifted_expression(expression, self.shifts)?.to_c();
        let vector = self.preamble.vector(self.lanes, "int32_t");
        let steps = (0..i64::from(self.lanes)).map(|lane| lane * step);
        Some(format!("({} + ({first}))", gnu::of_lanes(&vector, steps)))
    }

    fn load(&mut self, element: &Element, kind: &str) -> Option<String> {
        let named = self.names.get(&element.name)?;
        let vector = self.preamble.vector(self.lanes, kind);
        let own = named.kind.as_str();
        if !Self::fits(own, "float") {
            return None;
        }
        if let Some(local) = self.locals.get(&element.name) {
            // Locals of narrow types hold what is left of them, in 32 bits.
            return Some(match computed_in(own) == kind {
                true => local.clone(),
                false => gnu::converted(local, &vector),
            });
        }
        let first = shifted(element, self.shifts)?;
        let stride = element.stride(self.variable, &named.extents);
        if stride == Some(1) && own == kind {
            return Some(gnu::loaded(&gnu::anywhere(&vector), &first.to_c()));
        }
        if stride == Some(1) {
            let narrow = match is_narrow(own) {
                true => self.preamble.narrow(self.lanes, own),
                false => gnu::anywhere(&self.preamble.vector(self.lanes, own)),
            };
            let loaded = gnu::loaded(&narrow, &first.to_c());
            return Some(gnu::converted(&loaded, &vector));
        }
        if let Some(stride) = stride.filter(|it| self.strided && *it != 0) {
            let function = self.preamble.strided(self.lanes, own);
            let loaded = format!("{function}(&{}, {stride})", first.to_c());
            let own = self.preamble.vector(self.lanes, own);
            return Some(match own == vector {
                true => loaded,
                false => gnu::converted(&loaded, &vector),
            });
        }
        if let Some(stride) = stride.filter(|it| (1..=MOST_STRIDE).contains(&it.abs())) {
            return self.picked(&first, own, stride, kind);
        }
        let each = (0..i64::from(self.lanes)).map(|lane| {
            let place = shifted(&first, &[(self.variable, lane)])?;
            Some(self.in_lane(&place, lane).to_c())
        });
        let each: Vec<String> = each.collect::<Option<_>>()?;
        Some(gnu::of_lanes(&vector, each))
    }

    /// Returns a place with what indices look up taken from one lane.
    fn in_lane(&self, place: &Element, lane: i64) -> Element {
        let of = |value: &Expression| {
            value.map(&mut |element| match self.locals.get(&element.name) {
                Some(local) => Expression::Number(format!("{local}[{lane}]")),
                None => Expression::Element(self.in_lane(element, lane)),
            })
        };
        let indices = place.indices.iter().map(|index| match index {
            Index::Affine(_) => index.clone(),
            Index::Value(value) => Index::Value(Box::new(of(value))),
        });
        Element {
            name: place.name.clone(),
            indices: indices.collect(),
        }
    }
}

/// Returns whether a choice takes the greater of what it compares, or the lesser; nothing if it
/// does neither.
pub(super) fn extreme_of(
    condition: &Expression,
    one: &Expression,
    other: &Expression,
) -> Option<bool> {
    let Expression::Binary(left, operator, right) = condition else {
        return None;
    };
    let greatest = match operator.as_str() {
        ">" | ">=" => true,
        "<" | "<=" => false,
        _ => return None,
    };
    let straight = **left == *one && **right == *other;
    let crossed = **left == *other && **right == *one;
    (straight || crossed).then_some(greatest == straight)
}

pub(super) fn is_whole_number(text: &str) -> bool {
    text.parse::<i64>().is_ok() || text.starts_with("0x") || text.starts_with("INT32")
}

pub(super) fn is_condition(expression: &Expression) -> bool {
    let operators = ["<", ">", "<=", ">=", "==", "!=", "&&", "||"];
    matches!(expression, Expression::Binary(_, operator, _) if operators.contains(&operator.as_str()))
}

/// Returns an element with `shifts` added to variables.
pub(super) fn shifted(element: &Element, shifts: &[(&str, i64)]) -> Option<Element> {
    match shifted_expression(&Expression::Element(element.clone()), shifts)? {
        Expression::Element(element) => Some(element),
        _ => None,
    }
}

/// Returns an expression with `shifts` added to variables.
pub(super) fn shifted_expression(
    expression: &Expression,
    shifts: &[(&str, i64)],
) -> Option<Expression> {
    let mut result = expression.clone();
    for (variable, shift) in shifts.iter().filter(|(_, shift)| *shift != 0) {
        let value = Affine::variable(variable).plus_constant(*shift)?;
        result = result.substitute(variable, &value)?;
    }
    Some(result)
}
