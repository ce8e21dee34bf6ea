//! Whole numbers that stay within 16 bits, computed in as many.

use super::super::code::{Element, Expression};
use super::super::vectors::gnu;
use super::{Translation, extreme_of, is_condition, shifted_expression};
use std::collections::BTreeMap;

/// Least and greatest value of an expression.
type Range = (i64, i64);

/// A translated expression whose values are known to lie in a range.
#[derive(Clone, Debug)]
pub(in super::super) struct Half {
    /// A vector of the type that [`kind`] names for the range, or a number in parentheses.
    pub text: String,
    pub range: Range,
    is_scalar: bool,
}

/// Translates expressions of whole numbers into vectors of 16-bit ones; nothing where a value may
/// not fit.
pub(in super::super) struct Halves<'p> {
    pub of: Translation<'p>,
    /// Variables that hold vectors.
    pub locals: &'p BTreeMap<String, Half>,
}

/// Returns the type of 16 bits that holds a range.
fn kind(range: Range) -> Option<&'static str> {
    match range {
        (-0x8000.., ..=0x7fff) => Some("int16_t"),
        (0.., ..=0xffff) => Some("uint16_t"),
        _ => None,
    }
}

/// Returns the values of a type.
fn values(kind: &str) -> Option<Range> {
    Some(match kind {
        "int8_t" => (-0x80, 0x7f),
        "uint8_t" => (0, 0xff),
        "int16_t" => (-0x8000, 0x7fff),
        "uint16_t" => (0, 0xffff),
        _ => return None,
    })
}

impl Half {
    /// Returns the type of the vector's elements.
    pub fn kind(&self) -> Option<&'static str> {
        kind(self.range)
    }

    /// Returns the value if a variable of a type holds it as it is.
    pub fn within(self, own: &str) -> Option<Self> {
        let fits = match values(own) {
            Some((least, most)) => least <= self.range.0 && self.range.1 <= most,
            None => own == "int32_t",
        };
        fits.then_some(self)
    }

    /// Returns the value as a variable.
    pub fn called(self, name: String) -> Self {
        Self { text: name, ..self }
    }
}

impl Halves<'_> {
    /// Translates an expression into a vector of the type of its range.
    pub fn vector(&mut self, expression: &Expression) -> Option<Half> {
        let value = self.value(expression)?;
        let text = self.text_in(&value, kind(value.range)?, true);
        Some(Half {
            text,
            range: value.range,
            is_scalar: false,
        })
    }

    /// Returns a value as a vector, or as a number, of a type that holds it.
    fn text_in(&mut self, value: &Half, wanted: &str, as_vector: bool) -> String {
        let vector = self.of.preamble.vector(self.of.lanes, wanted);
        match (value.is_scalar, as_vector) {
            (true, true) => format!(
                "({})",
                gnu::splat(&vector, &format!("({wanted}){}", value.text))
            ),
            (true, false) => format!("({wanted}){}", value.text),
            (false, _) if kind(value.range) == Some(wanted) => value.text.clone(),
            (false, _) => format!("({vector}){}", value.text),
        }
    }

    fn value(&mut self, expression: &Expression) -> Option<Half> {
        match expression {
            Expression::Number(text) => {
                let number: i64 = text.parse().ok()?;
                Some(Half {
                    text: format!("({number})"),
                    range: (number, number),
                    is_scalar: true,
                })
            }
            Expression::Element(element) => self.element(element),
            Expression::Negative(inner) => {
                let zero = Expression::Number("0".into());
                self.binary(&zero, "-", inner)
            }
            Expression::Cast(to, inner) => {
                let value = self.value(inner)?;
                let (least, most) = match values(to) {
                    Some(values) => values,
                    None if ["int32_t", "int"].contains(&to.as_str()) => return Some(value),
                    None => return None,
                };
                let fits = least <= value.range.0 && value.range.1 <= most;
                fits.then_some(value)
            }
            Expression::Binary(..) if is_condition(expression) => None,
            Expression::Binary(left, operator, right) => self.binary(left, operator, right),
            Expression::Choice(condition, one, other) => self.choice(condition, one, other),
            Expression::Index(_) | Expression::Call(..) => None,
        }
    }

    fn element(&mut self, element: &Element) -> Option<Half> {
        if let Some(local) = self.locals.get(&element.name) {
            return Some(local.clone());
        }
        // What a variable of each iteration looks up is another element in each.
        if self.locals.keys().any(|it| element.mentions(it)) {
            return None;
        }
        let own = self.of.names.get(&element.name)?.kind.clone();
        let range = values(&own)?;
        let expression = Expression::Element(element.clone());
        if !element.mentions(self.of.variable) {
            let text = shifted_expression(&expression, self.of.shifts)?.to_c();
            return Some(Half {
                text: format!("({text})"),
                range,
                is_scalar: true,
            });
        }
        let text = self.of.load(element, kind(range)?)?;
        Some(Half {
            text,
            range,
            is_scalar: false,
        })
    }

    fn binary(&mut self, left: &Expression, operator: &str, right: &Expression) -> Option<Half> {
        let (one, other) = (self.value(left)?, self.value(right)?);
        let ((a, b), (c, d)) = (one.range, other.range);
        let constant = (c == d).then_some(c);
        let range = match operator {
            "+" => (a + c, b + d),
            "-" => (a - d, b - c),
            "*" => {
                let ends = [a * c, a * d, b * c, b * d];
                (*ends.iter().min()?, *ends.iter().max()?)
            }
            "<<" => {
                let shift = constant.filter(|it| (0..16).contains(it))?;
                (a << shift, b << shift)
            }
            ">>" => {
                let shift = constant.filter(|it| (0..16).contains(it))?;
                (a >> shift, b >> shift)
            }
            "/" => {
                let divisor = constant.filter(|it| 0 < *it)?;
                (a / divisor, b / divisor)
            }
            "&" if 0 <= c && 0 <= a => (0, b.min(d)),
            "&" if 0 <= c => (0, d),
            "&" if 0 <= a => (0, b),
            "|" | "^" if 0 <= a && 0 <= c => {
                let most = u32::try_from(b.max(d)).ok()?;
                (0, i64::from(u32::MAX >> most.leading_zeros().min(31)))
            }
            _ => return None,
        };
        let result = kind(range)?;
        if one.is_scalar && other.is_scalar {
            return Some(Half {
                text: format!("({} {operator} {})", one.text, other.text),
                range,
                is_scalar: true,
            });
        }
        // What is shifted or divided has a sign or has none; of all else 16 bits are the same.
        let operand = match operator {
            ">>" | "/" => kind(one.range)?,
            _ => result,
        };
        let vector = self.of.preamble.vector(self.of.lanes, result);
        let left = self.text_in(&one, operand, false);
        let right = self.text_in(&other, operand, false);
        let text = format!("({left} {operator} {right})");
        Some(Half {
            text: match operand == result {
                true => text,
                false => format!("({vector}){text}"),
            },
            range,
            is_scalar: false,
        })
    }

    fn choice(
        &mut self,
        condition: &Expression,
        one: &Expression,
        other: &Expression,
    ) -> Option<Half> {
        if let Some(greatest) = extreme_of(condition, one, other) {
            return self.extreme(greatest, one, other);
        }
        let (one, other) = (self.value(one)?, self.value(other)?);
        let range = (
            one.range.0.min(other.range.0),
            one.range.1.max(other.range.1),
        );
        let chosen = kind(range)?;
        let mask = self.mask(condition)?;
        let (one, other) = (
            self.text_in(&one, chosen, true),
            self.text_in(&other, chosen, true),
        );
        let vector = self.of.preamble.vector(self.of.lanes, chosen);
        let mask = format!("({vector}){mask}");
        Some(Half {
            text: format!("(({mask} & {one}) | (~{mask} & {other}))"),
            range,
            is_scalar: false,
        })
    }

    fn extreme(&mut self, greatest: bool, one: &Expression, other: &Expression) -> Option<Half> {
        let (one, other) = (self.value(one)?, self.value(other)?);
        let ((a, b), (c, d)) = (one.range, other.range);
        let compared = kind((a.min(c), b.max(d)))?;
        let range = match greatest {
            true => (a.max(c), b.max(d)),
            false => (a.min(c), b.min(d)),
        };
        let (one, other) = (
            self.text_in(&one, compared, true),
            self.text_in(&other, compared, true),
        );
        Some(self.retyped(gnu::extreme(greatest, &one, &other), compared, range))
    }

    /// Translates a condition: all bits of a lane are set where it holds.
    fn mask(&mut self, condition: &Expression) -> Option<String> {
        let Expression::Binary(left, operator, right) = condition else {
            return None;
        };
        match operator.as_str() {
            "&&" => Some(format!("({} & {})", self.mask(left)?, self.mask(right)?)),
            "||" => Some(format!("({} | {})", self.mask(left)?, self.mask(right)?)),
            "<" | ">" | "<=" | ">=" | "==" | "!=" => {
                let (one, other) = (self.value(left)?, self.value(right)?);
                let ((a, b), (c, d)) = (one.range, other.range);
                let compared = kind((a.min(c), b.max(d)))?;
                let (one, other) = (
                    self.text_in(&one, compared, true),
                    self.text_in(&other, compared, true),
                );
                let vector = self.of.preamble.vector(self.of.lanes, "int16_t");
                Some(format!("(({vector})({one} {operator} {other}))"))
            }
            _ => None,
        }
    }

    /// Returns a vector of type `from` in the type of its range.
    fn retyped(&mut self, text: String, from: &str, range: Range) -> Half {
        let text = match kind(range) {
            Some(to) if to != from => {
                let vector = self.of.preamble.vector(self.of.lanes, to);
                format!("({vector}){text}")
            }
            _ => text,
        };
        Half {
            text,
            range,
            is_scalar: false,
        }
    }
}
