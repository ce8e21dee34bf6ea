//! Conditions, choices, extremes, and numbers that are cut to a range.

use super::Strip;
use super::code::{LENGTH, Value};
use super::kind::{Kind, Range};
use super::strip::Local;
use crate::code::Expression;
use crate::translation::extreme_of;

/// A number between bounds, each of which may be absent.
struct Between<'e> {
    value: &'e Expression,
    least: Option<i64>,
    most: Option<i64>,
}

impl<'e> Between<'e> {
    /// Reads a choice, or two of them, between a number and its bounds.
    fn read(expression: &'e Expression) -> Option<Self> {
        let Expression::Choice(condition, one, other) = expression else {
            return None;
        };
        let Expression::Binary(left, operator, right) = &**condition else {
            return None;
        };
        // As a comparison with a number on the right.
        let (value, bound, greater) = match (number(left), number(right)) {
            (None, Some(bound)) => (&**left, bound, operator.starts_with('>')),
            (Some(bound), None) => (&**right, bound, operator.starts_with('<')),
            _ => return None,
        };
        if !["<", ">", "<=", ">="].contains(&operator.as_str()) {
            return None;
        }
        // Which of the two is taken on the far side of the bound.
        let (at_bound, rest, is_most) = match (number(one), number(other)) {
            (Some(it), _) if it == bound => (it, &**other, greater),
            (_, Some(it)) if it == bound => (it, &**one, !greater),
            _ => return None,
        };
        let inner = match rest == value {
            true => Self {
                value,
                least: None,
                most: None,
            },
            false => Self::read(rest).filter(|it| it.value == value)?,
        };
        let (mut least, mut most) = (inner.least, inner.most);
        let slot = if is_most { &mut most } else { &mut least };
        if slot.replace(at_bound).is_some() || least.zip(most).is_some_and(|(a, b)| b < a) {
            return None;
        }
        Some(Self { value, least, most })
    }
}

fn number(expression: &Expression) -> Option<i64> {
    match expression {
        Expression::Number(text) => text.parse().ok(),
        Expression::Negative(inner) => number(inner).map(|it| -it),
        Expression::Index(affine) => affine.as_constant(),
        _ => None,
    }
}

impl Strip<'_> {
    /// Translates a choice.
    pub(crate) fn choice(
        &mut self,
        whole: &Expression,
        condition: &Expression,
        one: &Expression,
        other: &Expression,
    ) -> Option<Value> {
        if let Some(between) = Between::read(whole)
            && let Some(made) = self.between(&between)
        {
            return Some(made);
        }
        if let Some(greatest) = extreme_of(condition, one, other) {
            let (one, other) = (self.value(one)?, self.value(other)?);
            return self.extreme(greatest, &one, &other);
        }
        let mask = self.mask(condition)?;
        let (one, other) = (self.value(one)?, self.value(other)?);
        let (kind, range) = self.kind_of_both(&one, &other)?;
        let other = self.vector_of(&other, kind)?;
        let (name, one) = match (one.is_scalar(), kind.is_float()) {
            (true, true) => ("vfmerge_vfm", one.number(kind)),
            (true, false) => ("vmerge_vxm", one.number(kind)),
            _ => ("vmerge_vvm", self.vector_of(&one, kind)?),
        };
        self.code.vector(name, kind, &[&other, &one, &mask], range)
    }

    /// Returns a type for one of two values, and its range.
    fn kind_of_both(&self, one: &Value, other: &Value) -> Option<(Kind, Option<Range>)> {
        if one.is_float() || other.is_float() {
            return Some((Kind::Float(32), None));
        }
        let ((a, b), (c, d)) = (one.range?, other.range?);
        let range = (a.min(c), b.max(d));
        let kind = Kind::narrowest(one.bits().max(other.bits()), range)?;
        Some((kind, Some(range)))
    }

    /// Translates the greater or the lesser of two values.
    pub(crate) fn extreme(&mut self, greatest: bool, one: &Value, other: &Value) -> Option<Value> {
        let (one, other) = match one.is_scalar() {
            true => (other, one),
            false => (one, other),
        };
        let (kind, _) = self.kind_of_both(one, other)?;
        let range = match (one.range, other.range) {
            (Some((a, b)), Some((c, d))) if greatest => Some((a.max(c), b.max(d))),
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.min(d))),
            _ => None,
        };
        let first = self.vector_of(one, kind)?;
        let (form, second) = match (other.is_scalar(), kind.is_float()) {
            (true, true) => ("vf", other.number(kind)),
            (true, false) => ("vx", other.number(kind)),
            _ => ("vv", self.vector_of(other, kind)?),
        };
        let name = format!("{}_{form}", extreme_name(greatest, kind));
        self.code.vector(&name, kind, &[&first, &second], range)
    }

    /// Returns what a variable of an iteration is made of, if it holds that as it is.
    fn made_of(&self, expression: &Expression) -> Expression {
        match expression {
            Expression::Element(element) => match self.locals.get(&element.name) {
                Some(Local::Later(kind, value)) if kind == "int32_t" => value.clone(),
                _ => expression.clone(),
            },
            _ => expression.clone(),
        }
    }

    /// Translates a number between bounds: those of a narrower type are what narrowing leaves, which
    /// shifts and rounds as well.
    fn between(&mut self, between: &Between<'_>) -> Option<Value> {
        let inner = self.made_of(between.value);
        let narrow = [
            Kind::Signed(8),
            Kind::Unsigned(8),
            Kind::Signed(16),
            Kind::Unsigned(16),
        ];
        let bounds = |it: &Kind| {
            let (least, most) = it.limits();
            between.most == Some(most)
                && (between.least == Some(least) || between.least.is_none() && least == 0)
        };
        let narrow = narrow.into_iter().find(bounds);
        if let Some(to) = narrow
            && let Expression::Binary(shifted, operator, by) = &inner
            && operator == ">>"
            && let Some(by) = number(by).filter(|it| (0..32).contains(it))
        {
            let half = (0 < by).then(|| 1_i64 << (by - 1));
            let (rounded, rounds) = match &**shifted {
                Expression::Binary(left, plus, right) if plus == "+" && half.is_some() => {
                    match (number(left), number(right)) {
                        (_, it) if it == half => (&**left, true),
                        (it, _) if it == half => (&**right, true),
                        _ => (&**shifted, false),
                    }
                }
                _ => (&**shifted, false),
            };
            let value = self.value(rounded)?;
            if let Some(made) = self.clipped(value, to, by, rounds, between.least.is_none()) {
                return Some(made);
            }
        }
        let value = self.value(between.value)?;
        let (a, b) = value.range.filter(|_| !value.is_scalar())?;
        if let Some(to) = narrow
            && let Some(made) = self.clipped(value.clone(), to, 0, false, between.least.is_none())
        {
            return Some(made);
        }
        let mut made = value;
        for (bound, greatest) in [(between.least, true), (between.most, false)] {
            let Some(bound) = bound else { continue };
            let is_there = if greatest { bound <= a } else { b <= bound };
            if !is_there {
                made = self.extreme(greatest, &made, &Value::of(bound))?;
            }
        }
        Some(made)
    }

    /// Returns a vector that is shifted to the right and cut to a narrower type; nothing where it is
    /// narrow already.
    fn clipped(
        &mut self,
        value: Value,
        to: Kind,
        by: i64,
        rounds: bool,
        only_most: bool,
    ) -> Option<Value> {
        let (least, most) = value.range?;
        if value.bits() <= to.bits() || only_most && least < 0 || i64::from(value.bits()) <= by {
            return None;
        }
        let mut value = value;
        let mut from = to.with_bits(value.bits());
        if least < 0 && matches!(to, Kind::Unsigned(_)) {
            value = self.extreme(true, &value, &Value::of(0))?;
        } else if !from.holds((least, most)) {
            return None;
        }
        let mut text = self.vector_of(&value, from)?;
        let mut by = by;
        let name = match to {
            Kind::Signed(_) => "vnclip_wx",
            _ => "vnclipu_wx",
        };
        let mut rounding = if rounds {
            "__RISCV_VXRM_RNU"
        } else {
            "__RISCV_VXRM_RDN"
        };
        while to.bits() < from.bits() {
            from = from.with_bits(from.bits() / 2);
            let places = by.to_string();
            let limits = Some(to.limits());
            text = self
                .code
                .vector(name, from, &[&text, &places, rounding], limits)?
                .text;
            by = 0;
            rounding = "__RISCV_VXRM_RDN";
        }
        Some(Value::vector(text, to, Some(to.limits())))
    }

    /// Translates a condition; returns the name of its mask.
    fn mask(&mut self, condition: &Expression) -> Option<String> {
        let Expression::Binary(left, operator, right) = condition else {
            return None;
        };
        match operator.as_str() {
            "&&" => {
                let (one, other) = (self.mask(left)?, self.mask(right)?);
                Some(self.code.mask("vmand_mm", &[&one, &other]))
            }
            "||" => {
                let (one, other) = (self.mask(left)?, self.mask(right)?);
                Some(self.code.mask("vmor_mm", &[&one, &other]))
            }
            "<" | ">" | "<=" | ">=" | "==" | "!=" => {
                let (one, other) = (self.value(left)?, self.value(right)?);
                if one.is_scalar() && other.is_scalar() {
                    return None;
                }
                let (one, other, operator) = match (one.is_scalar(), operator.as_str()) {
                    (false, operator) => (one, other, operator),
                    (true, "<") => (other, one, ">"),
                    (true, ">") => (other, one, "<"),
                    (true, "<=") => (other, one, ">="),
                    (true, ">=") => (other, one, "<="),
                    (true, operator) => (other, one, operator),
                };
                let (kind, _) = self.kind_of_both(&one, &other)?;
                let name = match (operator, kind) {
                    ("<", Kind::Float(_)) => "vmflt",
                    (">", Kind::Float(_)) => "vmfgt",
                    ("<=", Kind::Float(_)) => "vmfle",
                    (">=", Kind::Float(_)) => "vmfge",
                    ("==", Kind::Float(_)) => "vmfeq",
                    (_, Kind::Float(_)) => "vmfne",
                    ("<", Kind::Signed(_)) => "vmslt",
                    (">", Kind::Signed(_)) => "vmsgt",
                    ("<=", Kind::Signed(_)) => "vmsle",
                    (">=", Kind::Signed(_)) => "vmsge",
                    ("<", _) => "vmsltu",
                    (">", _) => "vmsgtu",
                    ("<=", _) => "vmsleu",
                    (">=", _) => "vmsgeu",
                    ("==", _) => "vmseq",
                    _ => "vmsne",
                };
                let first = self.vector_of(&one, kind)?;
                let (form, second) = match (other.is_scalar(), kind.is_float()) {
                    (true, true) => ("vf", other.number(kind)),
                    (true, false) => ("vx", other.number(kind)),
                    _ => ("vv", self.vector_of(&other, kind)?),
                };
                self.code
                    .compared(&format!("{name}_{form}"), kind, &[&first, &second])
            }
            _ => None,
        }
    }

    /// Takes a value into the greatest or least elements of all strips.
    pub(crate) fn taken(
        &mut self,
        best: &str,
        kind: Kind,
        greatest: bool,
        value: &Value,
    ) -> Option<()> {
        let suffix = self.code.groups.suffix(kind)?;
        let wide = self.vector_of(value, kind)?;
        let name = extreme_name(greatest, kind);
        self.code.line(format!(
            "{best} = __riscv_{name}_vv_{suffix}_tu({best}, {best}, {wide}, {LENGTH});"
        ));
        Some(())
    }
}

/// Returns the intrinsic for the greater or the lesser of two.
fn extreme_name(greatest: bool, kind: Kind) -> &'static str {
    match (kind, greatest) {
        (Kind::Float(_), true) => "vfmax",
        (Kind::Float(_), false) => "vfmin",
        (Kind::Signed(_), true) => "vmax",
        (Kind::Signed(_), false) => "vmin",
        (Kind::Unsigned(_), true) => "vmaxu",
        (Kind::Unsigned(_), false) => "vminu",
    }
}
