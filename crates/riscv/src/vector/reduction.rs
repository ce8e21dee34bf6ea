//! Sums and the like of all elements, integer ones.

use super::integer::UNKNOWN;
use super::unit::{Agnostic, Executed, Fields, VectorUnit, ensure};
use super::width::{by_widened, by_width, signed};

pub(super) const NOT_FROM_START: &str =
    "`vstart` is not 0, from where this instruction cannot go on";

impl VectorUnit {
    /// Checks a reduction, whose first value and result are elements of single registers.
    pub(super) fn reduces(&self, fields: Fields) -> Executed {
        ensure(self.vstart == 0, NOT_FROM_START)?;
        self.aligned(fields.vs2(), self.group())
    }

    /// Computes from the first element of `vs1` (`W` bytes) and all active ones of `vs2` (`N`).
    pub(super) fn reduce<const W: usize, const N: usize>(
        &mut self,
        fields: Fields,
        mut compute: impl FnMut(u64, u64) -> u64,
    ) {
        if self.vl == 0 {
            return;
        }
        let mut value = self.read::<W>(fields.vs1() * self.register_bytes);
        let is_backwards = self.is_backwards(fields);
        for step in 0..self.vl {
            let idx = if is_backwards {
                self.vl - 1 - step
            } else {
                step
            };
            if self.is_active(fields, idx) {
                let element = self.read::<N>(fields.vs2() * self.register_bytes + idx * N);
                value = compute(value, element);
            }
        }
        self.write::<W>(fields.vd() * self.register_bytes, value);
        self.finish_element(fields.vd(), W);
    }

    /// Returns whether a reduction begins with the last element: the order of `vfredusum` and
    /// `vfwredusum` is not said, and a program may not rely on it.
    pub(super) fn is_backwards(&self, fields: Fields) -> bool {
        let is_any_order = matches!(fields.funct6(), 0x01 | 0x31);
        is_any_order && self.agnostic == Agnostic::Ones
    }

    /// Fills what is behind the first element of a register, if that is to be seen.
    pub(super) fn finish_element(&mut self, vd: usize, bytes: usize) {
        let vl = std::mem::replace(&mut self.vl, 1);
        match bytes {
            1 => self.finish_tail::<1>(vd, 0),
            2 => self.finish_tail::<2>(vd, 0),
            4 => self.finish_tail::<4>(vd, 0),
            _ => self.finish_tail::<8>(vd, 0),
        }
        self.vl = vl;
    }

    /// Executes `vredsum` and its like.
    pub(super) fn reduce_integers(&mut self, fields: Fields) -> Executed {
        self.reduces(fields)?;
        macro_rules! reduce {
            (|$a:pat_param, $b:pat_param| $value:expr) => {
                by_width!(self, N => self.reduce::<N, N>(fields, |$a, $b| $value))
            };
        }
        match fields.funct6() {
            0x00 => reduce!(|a, b| a.wrapping_add(b)),
            0x01 => reduce!(|a, b| a & b),
            0x02 => reduce!(|a, b| a | b),
            0x03 => reduce!(|a, b| a ^ b),
            0x04 => reduce!(|a, b| a.min(b)),
            0x05 => reduce!(|a, b| signed::<N>(a).min(signed::<N>(b)) as u64 & mask::<N>()),
            0x06 => reduce!(|a, b| a.max(b)),
            0x07 => reduce!(|a, b| signed::<N>(a).max(signed::<N>(b)) as u64 & mask::<N>()),
            _ => return Err(UNKNOWN),
        }
        Ok(())
    }

    /// Executes `vwredsumu` and `vwredsum`.
    pub(super) fn reduce_widening(&mut self, fields: Fields) -> Executed {
        self.reduces(fields)?;
        ensure(self.element_bytes() < 8, "sums would be wider than 64 bits")?;
        let is_signed = fields.funct6() == 0x31;
        by_widened!(self, N, W => self.reduce::<W, N>(fields, |a, b| {
            a.wrapping_add(if is_signed { signed::<N>(b) as u64 } else { b })
        }));
        Ok(())
    }
}

fn mask<const N: usize>() -> u64 {
    u64::MAX >> (64 - 8 * N)
}
