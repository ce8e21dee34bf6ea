//! Vectors of one type in another.

use super::Strip;
use super::code::{LENGTH, Value};
use super::kind::{Kind, Range, WORD};

impl Strip<'_> {
    /// Returns a value as C converts it to a type; floats of 16 bits stay as they are where 32 are
    /// asked for, and whole numbers that fit stay in the type that they have.
    pub(crate) fn converted(&mut self, value: Value, to: Kind) -> Option<Value> {
        let Some(from) = value.kind else {
            let range = match (value.range, to.is_float()) {
                (_, true) => None,
                (Some(range), false) if to.holds(range) => Some(range),
                (_, false) => Some(to.limits()),
            };
            let text = match value.constant() {
                Some(constant) if to.is_float() => format!("{constant}.0f"),
                _ => format!("({})({})", to.name(), value.text),
            };
            return Some(Value {
                text,
                kind: None,
                range,
            });
        };
        match (from.is_float(), to.is_float()) {
            (true, true) if from.bits() <= to.bits() => Some(value),
            (true, true) => {
                let name = self.vector_of(&value, to)?;
                Some(Value::vector(name, to, None))
            }
            (true, false) => {
                let name = self.vector_of(&value, Kind::Float(32))?;
                let whole = Kind::Signed(32);
                let made =
                    self.code
                        .vector("vfcvt_rtz_x_f_v", whole, &[&name], Some(whole.limits()))?;
                self.converted(made, to)
            }
            (false, true) => {
                let name = self.vector_of(&value, to)?;
                Some(Value::vector(name, to, None))
            }
            (false, false) if to.holds(value.range?) => Some(value),
            (false, false) => {
                let name = self.vector_of(&value, to)?;
                Some(Value::vector(name, to, Some(to.limits())))
            }
        }
    }

    /// Returns the name of a vector of a type that holds a value, of which bits beyond are cut.
    pub(crate) fn vector_of(&mut self, value: &Value, to: Kind) -> Option<String> {
        let Some(from) = value.kind else {
            let name = match to.is_float() {
                true => "vfmv_v_f",
                false => "vmv_v_x",
            };
            let number = value.number(to);
            return Some(self.code.vector(name, to, &[&number], None)?.text);
        };
        if from == to {
            return Some(value.text.clone());
        }
        let text = value.text.as_str();
        let made = match (from, to) {
            (Kind::Float(16), Kind::Float(_)) => {
                self.code.vector("vfwcvt_f_f_v", to, &[text], None)?
            }
            (Kind::Float(_), Kind::Float(_)) => {
                self.code.vector("vfncvt_f_f_w", to, &[text], None)?
            }
            (Kind::Float(_), _) => {
                let whole = self.converted(value.clone(), to)?;
                return self.vector_of(&whole, to);
            }
            (_, Kind::Float(16)) => {
                let wide = self.vector_of(value, Kind::Float(32))?;
                self.code.vector("vfncvt_f_f_w", to, &[&wide], None)?
            }
            (_, Kind::Float(_)) => {
                let is_signed = matches!(from, Kind::Signed(_));
                let half = from.with_bits(from.bits().max(16));
                let name = self.vector_of(value, half)?;
                let name_of = match (half.bits(), is_signed) {
                    (16, true) => "vfwcvt_f_x_v",
                    (16, false) => "vfwcvt_f_xu_v",
                    (_, true) => "vfcvt_f_x_v",
                    (_, false) => "vfcvt_f_xu_v",
                };
                self.code.vector(name_of, to, &[&name], None)?
            }
            _ if from.bits() == to.bits() => self.reinterpreted(text, from, to)?,
            _ if from.bits() < to.bits() => {
                let sign = match from {
                    Kind::Signed(_) => "vsext",
                    _ => "vzext",
                };
                let times = to.bits() / from.bits();
                let wide = from.with_bits(to.bits());
                let name = format!("{sign}_vf{times}");
                let made = self.code.vector(&name, wide, &[text], None)?;
                self.reinterpreted(&made.text, wide, to)?
            }
            _ => {
                let half = from.with_bits(from.bits() / 2);
                let made = match self.shifts.get(text).cloned() {
                    // A shift to the right narrows as well.
                    Some((source, by)) => {
                        let name = match from {
                            Kind::Signed(_) => "vnsra_wx",
                            _ => "vnsrl_wx",
                        };
                        self.code.vector(name, half, &[&source, &by], None)?
                    }
                    None => self.code.vector("vncvt_x_x_w", half, &[text], None)?,
                };
                return self.vector_of(&made, to);
            }
        };
        Some(made.text)
    }

    /// Returns the same bits as a vector of a type of as many.
    pub(crate) fn reinterpreted(&mut self, text: &str, from: Kind, to: Kind) -> Option<Value> {
        if from == to {
            return Some(Value::vector(text.to_owned(), to, None));
        }
        let groups = self.code.groups;
        let (from, suffix) = (groups.suffix(from)?, groups.suffix(to)?);
        let call = format!("__riscv_vreinterpret_v_{from}_{suffix}({text})");
        self.code.called(to, call, None)
    }

    /// Returns a call that is no intrinsic of one type alone.
    pub(crate) fn call(&mut self, name: &str, kind: Kind, operands: &[&str]) -> Option<Value> {
        let call = format!("{name}({}, {LENGTH})", operands.join(", "));
        self.code.called(kind, call, None)
    }
}

/// Returns what is in both ranges' kind of number: results of C that are not taken to overflow.
pub(crate) fn within_word(range: Range) -> Range {
    (range.0.clamp(WORD.0, WORD.1), range.1.clamp(WORD.0, WORD.1))
}
