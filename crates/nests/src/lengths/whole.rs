//! Whole numbers: each is computed in the narrowest type that holds it, and operations widen.

use super::Strip;
use super::code::{LENGTH, Value};
use super::convert::within_word;
use super::kind::{Kind, Range};

/// Returns what an operation gives, of numbers in these ranges; nothing where there is no such one.
pub(crate) fn range_of(operator: &str, (a, b): Range, (c, d): Range) -> Option<Range> {
    let constant = (c == d).then_some(c);
    let positive = 0 <= a && 0 <= c;
    let filled = |most: i64| {
        let most = u32::try_from(most).unwrap_or(u32::MAX);
        (
            0,
            i64::from(u32::MAX.checked_shr(most.leading_zeros()).unwrap_or(0)),
        )
    };
    let range = match operator {
        "+" => (a + c, b + d),
        "-" => (a - d, b - c),
        "*" => {
            let ends = [a * c, a * d, b * c, b * d];
            (*ends.iter().min()?, *ends.iter().max()?)
        }
        "<<" => {
            let by = constant.filter(|it| (0..32).contains(it))?;
            (a << by, b << by)
        }
        ">>" => match constant {
            Some(by) if (0..32).contains(&by) => (a >> by, b >> by),
            _ => (a.min(0), b.max(-1)),
        },
        "/" => match constant {
            Some(by) if 0 < by => (a / by, b / by),
            _ => {
                let most = a.abs().max(b.abs());
                (-most, most)
            }
        },
        "%" => {
            let most = (c.abs().max(d.abs()) - 1).max(0);
            (
                if 0 <= a { 0 } else { -most },
                if b <= 0 { 0 } else { most },
            )
        }
        "&" if positive => (0, b.min(d)),
        "&" if 0 <= c => (0, d),
        "&" if 0 <= a => (0, b),
        "|" | "^" if positive => filled(b.max(d)),
        "&" | "|" | "^" => {
            let least = a.min(c).min(-1 - b).min(-1 - d);
            let held = Kind::narrowest(8, (least, -1 - least))?;
            held.limits()
        }
        _ => return None,
    };
    Some(within_word(range))
}

impl Strip<'_> {
    /// Returns a type of so many bits in which vectors and numbers are all held.
    fn common(bits: u32, values: &[&Value]) -> Option<Kind> {
        let ranges = values.iter().map(|it| it.range);
        let ranges: Vec<Range> = ranges.collect::<Option<_>>()?;
        let least = ranges.iter().map(|it| it.0).min()?;
        let most = ranges.iter().map(|it| it.1).max()?;
        Kind::holding(bits, (least, most))
    }

    /// Translates an operation on whole numbers, one of which is a vector at least.
    pub(crate) fn whole(&mut self, operator: &str, left: Value, right: Value) -> Option<Value> {
        let range = range_of(operator, left.range?, right.range?)?;
        let widest = left.bits().max(right.bits());
        match operator {
            "+" | "-" | "*" => {
                let kind = Kind::narrowest(widest, range)?;
                if widest < kind.bits()
                    && let Some(made) = self.widening(operator, &left, &right, kind)
                {
                    return Some(Value {
                        range: Some(range),
                        ..made
                    });
                }
                self.alike(operator, &left, &right, kind, range)
            }
            "&" | "|" | "^" => {
                let both = range_of(operator, left.range?, right.range?)?;
                let kind = Kind::narrowest(widest, both)?;
                self.alike(operator, &left, &right, kind, range)
            }
            "<<" => {
                let kind = Kind::narrowest(widest, range)?;
                let name = self.vector_of(&left, kind)?;
                let by = right.constant()?.to_string();
                self.code
                    .vector("vsll_vx", kind, &[&name, &by], Some(range))
            }
            ">>" if right.is_scalar() => {
                let kind = left.kind?;
                let name = match kind {
                    Kind::Signed(_) => "vsra_vx",
                    _ => "vsrl_vx",
                };
                // More places than there are bits leave the sign.
                let by = match right.constant() {
                    Some(by) => by.min(i64::from(kind.bits()) - 1).to_string(),
                    None if kind.bits() == 32 => right.text.clone(),
                    None => return None,
                };
                let made = self
                    .code
                    .vector(name, kind, &[&left.text, &by], Some(range))?;
                self.shifts
                    .insert(made.text.clone(), (left.text.clone(), by));
                Some(made)
            }
            "/" | "%" => {
                let values = [&left, &right];
                let kind = [8, 16, 32]
                    .into_iter()
                    .filter(|it| widest <= *it)
                    .find_map(|it| Self::common(it, &values))
                    .filter(|it| it.holds(range))?;
                self.alike(operator, &left, &right, kind, range)
            }
            _ => None,
        }
    }

    /// Translates an operation on vectors of the type of the result.
    fn alike(
        &mut self,
        operator: &str,
        left: &Value,
        right: &Value,
        kind: Kind,
        range: Range,
    ) -> Option<Value> {
        let is_signed = matches!(kind, Kind::Signed(_));
        let name = match (operator, is_signed) {
            ("+", _) => "vadd",
            ("-", _) => "vsub",
            ("*", _) => "vmul",
            ("&", _) => "vand",
            ("|", _) => "vor",
            ("^", _) => "vxor",
            ("/", true) => "vdiv",
            ("/", false) => "vdivu",
            ("%", true) => "vrem",
            _ => "vremu",
        };
        let turns = ["+", "*", "&", "|", "^"].contains(&operator);
        let range = Some(range);
        match (left.is_scalar(), right.is_scalar()) {
            (false, true) => {
                let one = self.vector_of(left, kind)?;
                let other = right.number(kind);
                self.code
                    .vector(&format!("{name}_vx"), kind, &[&one, &other], range)
            }
            (true, false) if turns || operator == "-" => {
                let one = self.vector_of(right, kind)?;
                let other = left.number(kind);
                let name = if turns { name } else { "vrsub" };
                self.code
                    .vector(&format!("{name}_vx"), kind, &[&one, &other], range)
            }
            _ => {
                let one = self.vector_of(left, kind)?;
                let other = self.vector_of(right, kind)?;
                self.code
                    .vector(&format!("{name}_vv"), kind, &[&one, &other], range)
            }
        }
    }

    /// Returns operands of half as many bits as `kind` has, with whether they have a sign; nothing
    /// where they have more, or where one has a sign and the other is beyond what has one.
    fn halves(&mut self, kind: Kind, values: [&Value; 2]) -> Option<([String; 2], bool)> {
        let half = Self::common(kind.bits() / 2, &values)?;
        let mut names = values.map(|_| String::new());
        for (name, value) in names.iter_mut().zip(values) {
            if half.bits() < value.bits() {
                return None;
            }
            *name = match value.is_scalar() {
                true => value.number(half),
                false => self.vector_of(value, half)?,
            };
        }
        Some((names, matches!(half, Kind::Signed(_))))
    }

    /// Translates an operation whose result has twice as many bits as its operands, if there is one.
    fn widening(
        &mut self,
        operator: &str,
        left: &Value,
        right: &Value,
        kind: Kind,
    ) -> Option<Value> {
        let turns = operator != "-";
        let (one, other) = match left.is_scalar() {
            true if turns => (right, left),
            true => return None,
            false => (left, right),
        };
        let ([a, b], is_signed) = self.halves(kind, [one, other])?;
        let name = match operator {
            "+" => "vwadd",
            "-" => "vwsub",
            _ => "vwmul",
        };
        let (wide, unsigned) = match is_signed {
            true => (Kind::Signed(kind.bits()), ""),
            false => (Kind::Unsigned(kind.bits()), "u"),
        };
        let form = if other.is_scalar() { "vx" } else { "vv" };
        let name = format!("{name}{unsigned}_{form}");
        let made = self.code.vector(&name, wide, &[&a, &b], None)?;
        self.reinterpreted(&made.text, wide, kind)
    }

    /// Returns the name of the intrinsic that adds a product of whole numbers to sums of type `kind`
    /// or takes it away, and its operands.
    pub(crate) fn whole_product(
        &mut self,
        kind: Kind,
        one: &Value,
        other: &Value,
        minus: bool,
    ) -> Option<(String, [String; 2])> {
        let (one, other) = match one.is_scalar() {
            true => (one, other),
            false => (other, one),
        };
        if other.is_scalar() {
            return None;
        }
        let form = if one.is_scalar() { "vx" } else { "vv" };
        let is_signed = matches!(kind, Kind::Signed(_));
        if !minus
            && let Some((names, of_signed)) = self.halves(kind, [one, other])
            && (is_signed || !of_signed)
        {
            // Sums without a sign have the bits of those that have one.
            if of_signed == is_signed {
                let unsigned = if of_signed { "" } else { "u" };
                return Some((format!("vwmacc{unsigned}_{form}"), names));
            }
        }
        let second = self.vector_of(other, kind)?;
        let first = match one.is_scalar() {
            true => one.number(kind),
            false => self.vector_of(one, kind)?,
        };
        let name = if minus { "vnmsac" } else { "vmacc" };
        Some((format!("{name}_{form}"), [first, second]))
    }

    /// Translates the sum of a vector and a product of whole numbers, or the difference.
    pub(crate) fn whole_accumulated(
        &mut self,
        sum: &Value,
        one: &Value,
        other: &Value,
        minus: bool,
    ) -> Option<Value> {
        let product = range_of("*", one.range?, other.range?)?;
        let range = range_of(if minus { "-" } else { "+" }, sum.range?, product)?;
        let bits = sum.bits().max(one.bits()).max(other.bits());
        let kind = Kind::narrowest(bits, range)?;
        let held = self.vector_of(sum, kind)?;
        let (name, [a, b]) = self.whole_product(kind, one, other, minus)?;
        self.code.vector(&name, kind, &[&held, &a, &b], Some(range))
    }

    /// Adds a value to the sums of all strips.
    pub(crate) fn added(&mut self, sums: &str, kind: Kind, value: &Value) -> Option<()> {
        let suffix = self.code.groups.suffix(kind)?;
        let line = match (kind, value.kind) {
            (Kind::Signed(bits), Some(from)) if 2 * from.bits() == bits => {
                let name = match from {
                    Kind::Signed(_) => "vwadd_wv",
                    _ => {
                        let wide = self.vector_of(value, kind)?;
                        self.code.line(format!(
                            "{sums} = __riscv_vadd_vv_{suffix}_tu({sums}, {sums}, {wide}, {LENGTH});"
                        ));
                        return Some(());
                    }
                };
                format!(
                    "{sums} = __riscv_{name}_{suffix}_tu({sums}, {sums}, {}, {LENGTH});",
                    value.text
                )
            }
            _ => {
                let name = if kind.is_float() { "vfadd" } else { "vadd" };
                let wide = self.vector_of(value, kind)?;
                format!("{sums} = __riscv_{name}_vv_{suffix}_tu({sums}, {sums}, {wide}, {LENGTH});")
            }
        };
        self.code.line(line);
        Some(())
    }
}
