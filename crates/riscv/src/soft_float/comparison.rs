//! Order, signs and classes of numbers: nothing here rounds.

use super::{Format, INVALID, Kind, Outcome};

impl Format {
    /// Returns `a < b` or `a <= b`; any NaN is invalid.
    pub fn less(self, a: u64, b: u64, or_equal: bool) -> Outcome {
        if self.unpack(a).is_nan() || self.unpack(b).is_nan() {
            return (0, INVALID);
        }
        let (a, b) = (self.order(a), self.order(b));
        (u64::from(a < b || or_equal && a == b), 0)
    }

    /// Returns `a == b`; only a signaling NaN is invalid.
    pub fn equal(self, a: u64, b: u64) -> Outcome {
        let (unpacked_a, unpacked_b) = (self.unpack(a), self.unpack(b));
        if let Some((_, flags)) = self.any_nan(&[unpacked_a, unpacked_b]) {
            return (0, flags);
        }
        (u64::from(self.order(a) == self.order(b)), 0)
    }

    /// Returns the smaller or greater operand; -0 is smaller than +0, and a
    /// number is preferred to a NaN.
    pub fn extremum(self, a: u64, b: u64, maximum: bool) -> Outcome {
        let (unpacked_a, unpacked_b) = (self.unpack(a), self.unpack(b));
        let flags = self
            .any_nan(&[unpacked_a, unpacked_b])
            .map_or(0, |(_, flags)| flags);
        let bits = match (unpacked_a.is_nan(), unpacked_b.is_nan()) {
            (true, true) => self.nan(),
            (true, false) => b,
            (false, true) => a,
            (false, false) => {
                let key = |bits| (self.order(bits), bits & self.sign_bit() == 0);
                if (key(a) < key(b)) != maximum { a } else { b }
            }
        };
        (bits, flags)
    }

    /// Returns a number that orders finite values and infinities, with both
    /// zeros the same.
    fn order(self, bits: u64) -> i64 {
        let magnitude = (bits & (self.sign_bit() - 1)) as i64;
        if bits & self.sign_bit() != 0 {
            -magnitude
        } else {
            magnitude
        }
    }

    /// Takes the sign of `b` (bit 0 of `how`: negated, bit 1: times that of `a`).
    pub fn inject_sign(self, a: u64, b: u64, how: u8) -> u64 {
        let sign = match how {
            0 => b,
            1 => !b,
            _ => a ^ b,
        };
        a & !self.sign_bit() | sign & self.sign_bit()
    }

    /// Negates.
    pub fn negate(self, a: u64) -> u64 {
        a ^ self.sign_bit()
    }

    /// Returns the ten-bit class mask.
    pub fn classify(self, bits: u64) -> u64 {
        let a = self.unpack(bits);
        let subnormal =
            a.kind == Kind::Finite && bits >> self.fraction_bits & self.max_field() == 0;
        let class = match (a.kind, a.negative) {
            (Kind::Infinity, true) => 0,
            (Kind::Finite, true) if !subnormal => 1,
            (Kind::Finite, true) => 2,
            (Kind::Zero, true) => 3,
            (Kind::Zero, false) => 4,
            (Kind::Finite, false) if subnormal => 5,
            (Kind::Finite, false) => 6,
            (Kind::Infinity, false) => 7,
            (Kind::SignalingNan, _) => 8,
            (Kind::QuietNan, _) => 9,
        };
        1 << class
    }
}
