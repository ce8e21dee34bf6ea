//! IEEE 754 arithmetic in software: every rounding mode, exact flags.
//!
//! Operands are unpacked to a normalized significand, computed on with a
//! sticky last bit, and rounded once. Tininess is detected after rounding and
//! every NaN result is the canonical one, as RISC-V asks for.
//!
//! *Source*: IEEE 754-2019; RISC-V unprivileged specification, "F" and "D".

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

mod comparison;
mod conversion;

/// Invalid operation.
pub const INVALID: u8 = 16;
/// Division of a finite number by zero.
pub const DIVIDE_BY_ZERO: u8 = 8;
/// The rounded result is too large.
pub const OVERFLOW: u8 = 4;
/// The result is tiny and inexact.
pub const UNDERFLOW: u8 = 2;
/// The result was rounded.
pub const INEXACT: u8 = 1;

/// Direction of rounding, in the encoding of `frm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    NearestEven,
    TowardZero,
    Down,
    Up,
    NearestAway,
}

impl Rounding {
    /// Decodes `frm`. `None` for the reserved values.
    pub fn decode(mode: u8) -> Option<Self> {
        Some(match mode {
            0 => Self::NearestEven,
            1 => Self::TowardZero,
            2 => Self::Down,
            3 => Self::Up,
            4 => Self::NearestAway,
            _ => return None,
        })
    }
}

/// A binary interchange format of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    exponent_bits: u32,
    pub fraction_bits: u32,
}

/// binary16.
pub const HALF: Format = Format {
    exponent_bits: 5,
    fraction_bits: 10,
};
/// binary32.
pub const SINGLE: Format = Format {
    exponent_bits: 8,
    fraction_bits: 23,
};
/// binary64.
pub const DOUBLE: Format = Format {
    exponent_bits: 11,
    fraction_bits: 52,
};

/// Result bits and the flags raised.
pub type Outcome = (u64, u8);

/// Whether a number is negative, its exponent and its significand with the top bit set.
pub(crate) type Apart = (bool, i32, u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Zero,
    Finite,
    Infinity,
    QuietNan,
    SignalingNan,
}

/// For finite numbers the value is `significand` / 2^63 * 2^`exponent`, with
/// the top bit of the significand set.
#[derive(Clone, Copy, Debug)]
struct Unpacked {
    kind: Kind,
    negative: bool,
    exponent: i32,
    significand: u64,
}

impl Unpacked {
    fn is_nan(self) -> bool {
        matches!(self.kind, Kind::QuietNan | Kind::SignalingNan)
    }

    fn wide(self) -> u128 {
        u128::from(self.significand) << 64
    }
}

impl Format {
    /// Returns the format of the instruction's format field.
    pub fn of(double: bool) -> Self {
        if double { DOUBLE } else { SINGLE }
    }

    fn bias(self) -> i32 {
        (1 << (self.exponent_bits - 1)) - 1
    }

    fn max_field(self) -> u64 {
        (1 << self.exponent_bits) - 1
    }

    pub fn sign_bit(self) -> u64 {
        1 << (self.exponent_bits + self.fraction_bits)
    }

    /// Returns the canonical NaN.
    pub fn nan(self) -> u64 {
        self.max_field() << self.fraction_bits | 1 << (self.fraction_bits - 1)
    }

    pub(crate) fn infinity(self, negative: bool) -> u64 {
        self.max_field() << self.fraction_bits | self.zero(negative)
    }

    fn zero(self, negative: bool) -> u64 {
        if negative { self.sign_bit() } else { 0 }
    }

    /// Returns the bits of a significand, the hidden one too.
    pub fn significand_bits(self) -> u64 {
        u64::from(self.fraction_bits) + 1
    }

    /// Takes a finite number other than zero apart; returns `None` for everything else.
    pub fn take_apart(self, bits: u64) -> Option<Apart> {
        let number = self.unpack(bits);
        let finite = number.kind == Kind::Finite;
        finite.then_some((number.negative, number.exponent, number.significand))
    }

    /// The same for a normal number, above whose bits there may be others.
    #[inline(always)]
    pub fn take_normal_apart(self, bits: u64) -> Option<Apart> {
        let field = bits >> self.fraction_bits & self.max_field();
        let hidden = 1 << self.fraction_bits;
        let significand = (bits & (hidden - 1) | hidden) << (63 - self.fraction_bits);
        let negative = bits & self.sign_bit() != 0;
        let is_normal = field.wrapping_sub(1) < self.max_field() - 1;
        is_normal.then(|| (negative, field as i32 - self.bias(), significand))
    }

    fn unpack(self, bits: u64) -> Unpacked {
        let negative = bits & self.sign_bit() != 0;
        let field = bits >> self.fraction_bits & self.max_field();
        let fraction = bits & ((1 << self.fraction_bits) - 1);
        let (kind, exponent, significand) = if field == self.max_field() {
            let kind = match fraction {
                0 => Kind::Infinity,
                _ if fraction >> (self.fraction_bits - 1) & 1 == 1 => Kind::QuietNan,
                _ => Kind::SignalingNan,
            };
            (kind, 0, 0)
        } else if field == 0 && fraction == 0 {
            (Kind::Zero, 0, 0)
        } else if field == 0 {
            let zeros = fraction.leading_zeros();
            let exponent = 1 - self.bias() - (zeros as i32 - (63 - self.fraction_bits as i32));
            (Kind::Finite, exponent, fraction << zeros)
        } else {
            let significand = (fraction | 1 << self.fraction_bits) << (63 - self.fraction_bits);
            (Kind::Finite, field as i32 - self.bias(), significand)
        };
        Unpacked {
            kind,
            negative,
            exponent,
            significand,
        }
    }

    /// Rounds `significand` / 2^127 * 2^`exponent`; the significand is not 0
    /// and its last bit may stand for smaller ones.
    fn round(
        self,
        negative: bool,
        exponent: i32,
        significand: u128,
        rounding: Rounding,
    ) -> Outcome {
        let zeros = significand.leading_zeros();
        let significand = significand << zeros;
        let mut exponent = exponent - zeros as i32;
        let precision = self.fraction_bits + 1;
        let least = 1 - self.bias();
        let full = 128 - precision;
        if exponent < least {
            let shift = full.saturating_add((least - exponent) as u32);
            let (kept, inexact) = drop_bits(significand, shift, negative, rounding);
            let (unbounded, _) = drop_bits(significand, full, negative, rounding);
            // Rounded as if there were no least exponent, it may not be tiny.
            let tiny = exponent < least - 1 || unbounded >> precision == 0;
            let flags = match (inexact, tiny) {
                (false, _) => 0,
                (true, false) => INEXACT,
                (true, true) => INEXACT | UNDERFLOW,
            };
            return (kept as u64 | self.zero(negative), flags);
        }
        let (mut kept, inexact) = drop_bits(significand, full, negative, rounding);
        if kept >> precision != 0 {
            kept >>= 1;
            exponent += 1;
        }
        if exponent > self.bias() {
            let to_infinity = match rounding {
                Rounding::NearestEven | Rounding::NearestAway => true,
                Rounding::TowardZero => false,
                Rounding::Down => negative,
                Rounding::Up => !negative,
            };
            let bits = self.infinity(negative) - u64::from(!to_infinity);
            return (bits, OVERFLOW | INEXACT);
        }
        let field = (exponent + self.bias()) as u64;
        let fraction = kept as u64 & ((1 << self.fraction_bits) - 1);
        let bits = field << self.fraction_bits | fraction | self.zero(negative);
        (bits, if inexact { INEXACT } else { 0 })
    }

    fn any_nan(self, operands: &[Unpacked]) -> Option<Outcome> {
        operands.iter().any(|operand| operand.is_nan()).then(|| {
            let signaling = operands
                .iter()
                .any(|operand| operand.kind == Kind::SignalingNan);
            (self.nan(), if signaling { INVALID } else { 0 })
        })
    }

    /// Adds.
    pub fn add(self, a: u64, b: u64, rounding: Rounding) -> Outcome {
        let (a, b) = (self.unpack(a), self.unpack(b));
        if let Some(outcome) = self.any_nan(&[a, b]) {
            return outcome;
        }
        match (a.kind, b.kind) {
            (Kind::Infinity, Kind::Infinity) if a.negative != b.negative => (self.nan(), INVALID),
            (Kind::Infinity, _) => (self.infinity(a.negative), 0),
            (_, Kind::Infinity) => (self.infinity(b.negative), 0),
            _ => self.sum(a, a.wide() >> 1, b, b.wide() >> 1, rounding),
        }
    }

    /// Subtracts.
    pub fn subtract(self, a: u64, b: u64, rounding: Rounding) -> Outcome {
        let nan = self.unpack(b).is_nan();
        self.add(a, if nan { b } else { b ^ self.sign_bit() }, rounding)
    }

    /// Adds two numbers of value `significand` / 2^126 * 2^exponent, zero or
    /// finite. At least one guard bit is free below each significand.
    fn sum(
        self,
        a: Unpacked,
        a_significand: u128,
        b: Unpacked,
        b_significand: u128,
        rounding: Rounding,
    ) -> Outcome {
        let exact_zero = |negative: bool| (self.zero(negative), 0);
        match (a.kind, b.kind) {
            (Kind::Zero, Kind::Zero) if a.negative == b.negative => return exact_zero(a.negative),
            (Kind::Zero, Kind::Zero) => return exact_zero(rounding == Rounding::Down),
            (Kind::Zero, _) => {
                return self.round(b.negative, b.exponent + 1, b_significand, rounding);
            }
            (_, Kind::Zero) => {
                return self.round(a.negative, a.exponent + 1, a_significand, rounding);
            }
            _ => {}
        }
        let exponent = a.exponent.max(b.exponent);
        let a_aligned = shift_sticky(a_significand, (exponent - a.exponent) as u32);
        let b_aligned = shift_sticky(b_significand, (exponent - b.exponent) as u32);
        if a.negative == b.negative {
            return self.round(a.negative, exponent + 1, a_aligned + b_aligned, rounding);
        }
        if a_aligned == b_aligned {
            return exact_zero(rounding == Rounding::Down);
        }
        let negative = if a_aligned > b_aligned {
            a.negative
        } else {
            b.negative
        };
        self.round(
            negative,
            exponent + 1,
            a_aligned.abs_diff(b_aligned),
            rounding,
        )
    }

    /// Multiplies.
    pub fn multiply(self, a: u64, b: u64, rounding: Rounding) -> Outcome {
        let (a, b) = (self.unpack(a), self.unpack(b));
        if let Some(outcome) = self.any_nan(&[a, b]) {
            return outcome;
        }
        let negative = a.negative != b.negative;
        match (a.kind, b.kind) {
            (Kind::Infinity, Kind::Zero) | (Kind::Zero, Kind::Infinity) => (self.nan(), INVALID),
            (Kind::Infinity, _) | (_, Kind::Infinity) => (self.infinity(negative), 0),
            (Kind::Zero, _) | (_, Kind::Zero) => (self.zero(negative), 0),
            _ => {
                let product = u128::from(a.significand) * u128::from(b.significand);
                self.round(negative, a.exponent + b.exponent + 1, product, rounding)
            }
        }
    }

    /// Divides.
    pub fn divide(self, a: u64, b: u64, rounding: Rounding) -> Outcome {
        let (a, b) = (self.unpack(a), self.unpack(b));
        if let Some(outcome) = self.any_nan(&[a, b]) {
            return outcome;
        }
        let negative = a.negative != b.negative;
        match (a.kind, b.kind) {
            (Kind::Infinity, Kind::Infinity) | (Kind::Zero, Kind::Zero) => (self.nan(), INVALID),
            (Kind::Infinity, _) => (self.infinity(negative), 0),
            (Kind::Zero, _) | (_, Kind::Infinity) => (self.zero(negative), 0),
            (_, Kind::Zero) => (self.infinity(negative), DIVIDE_BY_ZERO),
            _ => {
                let divisor = u128::from(b.significand);
                let quotient = a.wide() / divisor;
                let sticky = u128::from(a.wide() % divisor != 0);
                // The quotient has at most 65 bits.
                let exponent = a.exponent - b.exponent + 1;
                self.round(negative, exponent, quotient << 62 | sticky, rounding)
            }
        }
    }

    /// Takes the square root.
    pub fn square_root(self, a: u64, rounding: Rounding) -> Outcome {
        let a = self.unpack(a);
        if let Some(outcome) = self.any_nan(&[a]) {
            return outcome;
        }
        match a.kind {
            Kind::Zero => (self.zero(a.negative), 0),
            _ if a.negative => (self.nan(), INVALID),
            Kind::Infinity => (self.infinity(false), 0),
            _ => {
                let odd = a.exponent & 1;
                let radicand = u128::from(a.significand) << (61 + odd);
                let root = radicand.isqrt();
                let sticky = u128::from(root * root != radicand);
                // radicand / 2^124 has the even exponent; its root lies in [1, 2) * 2^62.
                self.round(false, (a.exponent - odd) / 2, root << 65 | sticky, rounding)
            }
        }
    }

    /// Computes `a * b + c` with one rounding.
    pub fn fused(self, a: u64, b: u64, c: u64, rounding: Rounding) -> Outcome {
        let (a, b, c) = (self.unpack(a), self.unpack(b), self.unpack(c));
        let undefined = matches!(
            (a.kind, b.kind),
            (Kind::Infinity, Kind::Zero) | (Kind::Zero, Kind::Infinity)
        );
        if undefined && !c.is_nan() {
            return (self.nan(), INVALID);
        }
        if let Some((bits, flags)) = self.any_nan(&[a, b, c]) {
            return (bits, if undefined { INVALID } else { flags });
        }
        let negative = a.negative != b.negative;
        let product_infinite = a.kind == Kind::Infinity || b.kind == Kind::Infinity;
        match c.kind {
            Kind::Infinity if product_infinite && negative != c.negative => (self.nan(), INVALID),
            _ if product_infinite => (self.infinity(negative), 0),
            Kind::Infinity => (self.infinity(c.negative), 0),
            _ => {
                let zero = a.kind == Kind::Zero || b.kind == Kind::Zero;
                let product = Unpacked {
                    kind: if zero { Kind::Zero } else { Kind::Finite },
                    negative,
                    exponent: a.exponent + b.exponent + 1,
                    significand: 0,
                };
                // The product of two 53-bit numbers leaves 22 bits free.
                let significand = (u128::from(a.significand) * u128::from(b.significand)) >> 1;
                self.sum(product, significand, c, c.wide() >> 1, rounding)
            }
        }
    }
}

/// Drops the last `shift` bits with rounding; returns whether they held
/// anything.
fn drop_bits(value: u128, shift: u32, negative: bool, rounding: Rounding) -> (u128, bool) {
    if shift == 0 {
        return (value, false);
    }
    let (kept, half, rest) = match shift {
        1..=127 => {
            let half = value >> (shift - 1) & 1 == 1;
            (value >> shift, half, value & ((1 << (shift - 1)) - 1) != 0)
        }
        128 => (0, value >> 127 == 1, value << 1 != 0),
        _ => (0, false, value != 0),
    };
    let inexact = half || rest;
    let up = match rounding {
        Rounding::NearestEven => half && (rest || kept & 1 == 1),
        Rounding::NearestAway => half,
        Rounding::TowardZero => false,
        Rounding::Down => inexact && negative,
        Rounding::Up => inexact && !negative,
    };
    (kept + u128::from(up), inexact)
}

/// Shifts right; bits that fall out are remembered in the last one.
fn shift_sticky(value: u128, shift: u32) -> u128 {
    if shift == 0 {
        return value;
    }
    if shift >= 128 {
        return u128::from(value != 0);
    }
    value >> shift | u128::from(value << (128 - shift) != 0)
}
