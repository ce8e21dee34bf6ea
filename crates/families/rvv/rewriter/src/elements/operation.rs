//! What an intrinsic does to one element, in C.

use super::name::{Kind, Name};
use super::scalar::literal;

/// The words of C that a value is made of, and operands that have to be given names first.
pub(super) struct Operation<'n, 's> {
    pub name: &'n Name<'s>,
    /// The operands, without the mask, what is kept, the rounding and the length.
    pub operands: &'n [String],
    /// How the mode of rounding is called, if one is an argument.
    pub rounding: &'n str,
}

/// Gives a value of a type a name of its own, unless it is short.
pub(super) type Named<'r> = &'r mut dyn FnMut(&str, &str) -> String;

/// Returns an operator that stands between two operands.
fn infix(operation: &str) -> Option<&'static str> {
    Some(match operation {
        "vadd" | "vfadd" | "vwadd" | "vwaddu" | "vfwadd" => "+",
        "vsub" | "vfsub" | "vwsub" | "vwsubu" | "vfwsub" => "-",
        "vmul" | "vfmul" | "vwmul" | "vwmulu" | "vwmulsu" | "vfwmul" => "*",
        "vfdiv" => "/",
        "vand" => "&",
        "vor" => "|",
        "vxor" => "^",
        "vsll" => "<<",
        "vsra" | "vsrl" | "vnsra" | "vnsrl" => ">>",
        "vmand" => "&&",
        "vmor" => "||",
        "vmxor" => "!=",
        "vmfeq" | "vmseq" => "==",
        "vmfne" | "vmsne" => "!=",
        "vmflt" | "vmslt" | "vmsltu" => "<",
        "vmfle" | "vmsle" | "vmsleu" => "<=",
        "vmfgt" | "vmsgt" | "vmsgtu" => ">",
        "vmfge" | "vmsge" | "vmsgeu" => ">=",
        _ => return None,
    })
}

/// Returns what stands in front of the product, what in front of the sum, and whether what is
/// changed is a factor: `vfnmsub` is `-(a * b) + c`.
fn fused(operation: &str) -> Option<(&'static str, &'static str, bool)> {
    let base = operation.trim_start_matches("vfw");
    let base = base.trim_start_matches("vf").trim_start_matches("vw");
    Some(match base.trim_start_matches('v') {
        "macc" | "maccu" | "maccsu" | "maccus" => ("", "+", false),
        "msac" => ("", "-", false),
        "nmsac" => ("-", "+", false),
        "nmacc" => ("-", "-", false),
        "madd" => ("", "+", true),
        "msub" => ("", "-", true),
        "nmsub" => ("-", "+", true),
        "nmadd" => ("-", "-", true),
        _ => return None,
    })
}

impl Operation<'_, '_> {
    /// Returns the value; nothing for what is not known.
    pub(super) fn value(&self, named: Named<'_>) -> Option<String> {
        let kind = self.name.kinds.last().copied().unwrap_or(Kind::MASK);
        let operation = self.name.operation;
        let form = self.name.form.join("_");
        let operands = self.operands;
        let is_converted = matches!(self.name.form.as_slice(), ["x" | "xu", "f", ..]);
        if self.name.is_rounded && !is_converted && self.rounding != "__RISCV_FRM_RNE" {
            return None;
        }
        let widened = self.widened(kind);
        if let (Some(operator), [one, other]) = (infix(operation), operands) {
            return Some(format!("({widened}{one} {operator} {other})"));
        }
        if let (Some((sign, operator, is_factor)), [old, one, other]) = (fused(operation), operands)
        {
            let (product, sum) = match is_factor {
                true => (format!("{widened}{old} * {one}"), other),
                false => (format!("{widened}{one} * {other}"), old),
            };
            return Some(match (sign, operator) {
                ("", "+") => format!("({sum} + {product})"),
                ("-", "+") => format!("({sum} - {product})"),
                ("", _) => format!("({product} - {sum})"),
                _ => format!("(-({product}) - {sum})"),
            });
        }
        // What single precision gives of halves is right when it is one again.
        let is_single = kind.bits <= 32;
        Some(match (operation, form.as_str(), operands) {
            ("vfrsub" | "vrsub", _, [one, other]) => format!("({other} - {one})"),
            ("vfrdiv", _, [one, other]) => format!("({other} / {one})"),
            ("vfneg" | "vneg", _, [one]) => format!("(-{})", apart(one)),
            ("vfabs", _, [one]) if is_single => format!("fabsf({one})"),
            ("vfsqrt", _, [one]) if is_single => format!("sqrtf({one})"),
            ("vfsgnj", _, [one, other]) if one == other => one.clone(),
            ("vfsgnjn", _, [one, other]) if one == other => format!("(-{})", apart(one)),
            ("vfsgnjx", _, [one, other]) if one == other && is_single => {
                format!("fabsf({one})")
            }
            ("vfmin", _, [one, other]) if is_single => format!("fminf({one}, {other})"),
            ("vfmax", _, [one, other]) if is_single => format!("fmaxf({one}, {other})"),
            ("vmin" | "vminu" | "vmax" | "vmaxu", _, [one, other]) => {
                let is_max = operation.starts_with("vmax");
                extreme(kind, is_max, one, other, named)
            }
            ("vmerge" | "vfmerge", _, [one, other, mask]) => {
                format!("({mask} ? {other} : {one})")
            }
            ("vmnot", _, [one]) => format!("(!{one})"),
            ("vmandn", _, [one, other]) => format!("({one} && !{other})"),
            ("vmorn", _, [one, other]) => format!("({one} || !{other})"),
            ("vmnand", _, [one, other]) => format!("(!({one} && {other}))"),
            ("vmnor", _, [one, other]) => format!("(!({one} || {other}))"),
            ("vmxnor", _, [one, other]) => format!("({one} == {other})"),
            ("vmclr", ..) => "0".into(),
            ("vmset", ..) => "1".into(),
            ("vcpop", _, [mask]) => mask.clone(),
            ("vmv" | "vfmv" | "vsext" | "vzext" | "vwcvt" | "vwcvtu" | "vmmv", _, [one]) => {
                one.clone()
            }
            ("vncvt", _, [one]) => format!("({})({one})", kind.to_c()),
            ("vundefined" | "vid", _, []) => {
                literal(kind, "0", false).unwrap_or_else(|| format!("(({})0)", kind.to_c()))
            }
            // With one element, what is slid in is all there is.
            ("vfslide1up" | "vslide1up" | "vfslide1down" | "vslide1down", _, [_, scalar]) => {
                scalar.clone()
            }
            ("vsadd" | "vssub" | "vsaddu" | "vssubu", _, [one, other]) if kind.is_narrow() => {
                let operator = if operation.contains("add") { '+' } else { '-' };
                clamped(kind, kind, &format!("{one} {operator} {other}"), named)?
            }
            ("vnclip" | "vnclipu", _, [one, shift]) => {
                let from = Kind::new(kind.letter, 2 * kind.bits);
                let value = self.shifted(one, shift, from.bits)?;
                clamped(kind, from, &value, named)?
            }
            ("vssra" | "vssrl", _, [one, shift]) => {
                format!("({})", self.shifted(one, shift, kind.bits)?)
            }
            ("vaadd" | "vasub" | "vaaddu" | "vasubu", _, [one, other]) if kind.is_narrow() => {
                let operator = if operation.contains("add") { '+' } else { '-' };
                let both = format!("({one} {operator} {other})");
                format!("({})", self.shifted(&both, "1", kind.bits)?)
            }
            ("vfcvt" | "vfwcvt" | "vfncvt", _, [one]) => self.converted(kind, one, named)?,
            ("vfredusum" | "vfredosum" | "vredsum" | "vwredsum" | "vwredsumu", _, [one, sum])
            | ("vfwredusum" | "vfwredosum", _, [one, sum]) => match is_zero(sum) {
                true => one.clone(),
                false => format!("({sum} + {one})"),
            },
            ("vfredmax", _, [one, other]) if is_single => format!("fmaxf({other}, {one})"),
            ("vfredmin", _, [one, other]) if is_single => format!("fminf({other}, {one})"),
            ("vredmax" | "vredmaxu", _, [one, other]) => extreme(kind, true, other, one, named),
            ("vredmin" | "vredminu", _, [one, other]) => extreme(kind, false, other, one, named),
            ("vreinterpret", _, [one]) if !self.name.is_mask() => match *self.name.kinds.first()? {
                from if from.bits != kind.bits => return None,
                from if from.letter == kind.letter => one.clone(),
                from if from.letter != 'f' && kind.letter != 'f' => {
                    format!("({})({one})", kind.to_c())
                }
                _ if kind.bits != 32 => return None,
                _ if kind.letter == 'f' => format!("float_of_bits({one})"),
                _ => format!("({})bits_of_float({one})", kind.to_c()),
            },
            _ => return None,
        })
    }

    /// Returns a cast for the first factor or summand where C would compute in another type than
    /// the intrinsic does: in less bits, or in `int` where products of 16 bits leave its range.
    fn widened(&self, kind: Kind) -> String {
        let operation = self.name.operation;
        let is_wide = operation.starts_with("vw") || operation.starts_with("vfw");
        let is_product = operation.contains("mul") || fused(operation).is_some();
        let needs = match (is_wide, kind.letter, kind.bits) {
            (true, 'f', _) | (true, _, 64) | (true, 'u', 32) => true,
            (false, 'u', 16) if is_product => return "(uint32_t)".into(),
            _ => false,
        };
        match needs {
            true => format!("({})", kind.to_c()),
            false => String::new(),
        }
    }

    /// Returns a number shifted to the right and rounded as the argument says.
    fn shifted(&self, value: &str, shift: &str, bits: u32) -> Option<String> {
        if shift == "0" {
            return Some(value.to_owned());
        }
        match self.rounding {
            "__RISCV_VXRM_RDN" => Some(format!("{value} >> {shift}")),
            "__RISCV_VXRM_RNU" => {
                let places: u32 = shift.parse().ok().filter(|it| (1..bits).contains(it))?;
                Some(match bits {
                    ..=16 => format!("({value} + {}) >> {places}", 1_u32 << (places - 1)),
                    // The sum might not fit.
                    _ => format!("({value} >> {places}) + (({value} >> {}) & 1)", places - 1),
                })
            }
            _ => None,
        }
    }

    /// Returns a number of another type.
    fn converted(&self, kind: Kind, value: &str, named: Named<'_>) -> Option<String> {
        let to = kind.to_c();
        let from = match self.name.operation {
            "vfncvt" => 2 * kind.bits,
            "vfwcvt" => kind.bits / 2,
            _ => kind.bits,
        };
        Some(match self.name.form.as_slice() {
            ["f", "x" | "xu" | "f", _] => format!("({to})({value})"),
            ["rtz", "x" | "xu", "f", _] if 32 <= kind.bits => format!("({to})({value})"),
            ["x" | "xu", "f", _]
                if from <= 32 && ["", "__RISCV_FRM_RNE"].contains(&self.rounding) =>
            {
                match kind.bits {
                    8 | 16 => {
                        // Adding this number rounds to the nearest whole number, half to even.
                        let (least, most) = kind.range();
                        let value = named("float", value);
                        let inside = format!(
                            "{value} > {most}.0f ? {most}.0f : {value} < {least}.0f ? {least}.0f : {value}"
                        );
                        let inside = named("float", &inside);
                        let moved = named("float", &format!("{inside} + 12582912.0f"));
                        format!("(int32_t)({moved} - 12582912.0f)")
                    }
                    32 if kind.letter == 'i' => format!("(int32_t)(__builtin_rintf({value}))"),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }
}

/// Returns whether a number is written as zero.
fn is_zero(text: &str) -> bool {
    ["0", "0u", "0.0f", "0.f", "0.0", "0.0F"].contains(&text)
}

fn extreme(kind: Kind, is_max: bool, one: &str, other: &str, named: Named<'_>) -> String {
    let kind = match kind.is_narrow() {
        true => "int32_t".to_owned(),
        false => kind.to_c(),
    };
    let (one, other) = (named(&kind, one), named(&kind, other));
    let operator = if is_max { '>' } else { '<' };
    format!("({one} {operator} {other} ? {one} : {other})")
}

/// Returns a negative number apart from a sign in front of it.
fn apart(text: &str) -> String {
    match text.starts_with('-') {
        true => format!("({text})"),
        false => text.to_owned(),
    }
}

/// Returns a number of a type held within the range of one of less bits.
fn clamped(kind: Kind, from: Kind, value: &str, named: Named<'_>) -> Option<String> {
    if 32 < kind.bits {
        return None;
    }
    let (least, most) = kind.range();
    if from.letter == 'u' && 32 <= from.bits {
        let value = named(&from.to_c(), value);
        return Some(format!("({value} > {most} ? {most} : {value})"));
    }
    let value = match from.bits {
        ..=32 => named("int32_t", value),
        _ => named(&from.to_c(), value),
    };
    Some(format!(
        "({value} > {most} ? {most} : {value} < {least} ? {least} : {value})"
    ))
}
