//! Arithmetic on whole vectors of binary32 numbers where rounding to the nearest makes it what the
//! host's unit does, several elements at once.

use super::unit::{Fields, Operand, VectorUnit};
use crate::float::host::plain_sum;
use crate::float::several::{fused, products, sums};

/// Elements computed at once.
const LANES: usize = 4;

/// What instructions do: a sum or a difference, a product, or both, where what was in the
/// destination is a factor or the addend.
pub(crate) const SUM: u8 = 0;
pub(crate) const PRODUCT: u8 = 1;
pub(crate) const MULTIPLIED: u8 = 2;
pub(crate) const ADDED: u8 = 3;

/// Returns which of them an instruction does, if any.
pub(super) fn operation_of(funct6: usize) -> Option<u8> {
    match funct6 {
        0x00 | 0x02 => Some(SUM),
        0x24 => Some(PRODUCT),
        0x28..=0x2b => Some(MULTIPLIED),
        0x2c..=0x2f => Some(ADDED),
        _ => None,
    }
}

/// How far elements have been computed.
#[derive(Clone, Copy)]
pub(crate) struct Computed {
    /// Elements, from the first on.
    pub count: usize,
    /// Whether one of them had to be rounded.
    pub is_inexact: bool,
}

impl VectorUnit {
    /// Computes elements of an instruction without a mask, from the first on, up to one that may
    /// raise another flag than the inexact one. That one is told only if it `matters`.
    pub(super) fn compute_plain(
        &mut self,
        fields: Fields,
        operand: Operand,
        matters: bool,
    ) -> Computed {
        match operation_of(fields.funct6()) {
            Some(SUM) => self.compute_operation::<SUM>(fields, operand, matters),
            Some(PRODUCT) => self.compute_operation::<PRODUCT>(fields, operand, matters),
            Some(MULTIPLIED) => self.compute_operation::<MULTIPLIED>(fields, operand, matters),
            Some(_) => self.compute_operation::<ADDED>(fields, operand, matters),
            None => Computed {
                count: 0,
                is_inexact: false,
            },
        }
    }

    /// The same for an instruction that does this.
    #[inline(always)]
    pub(super) fn compute_operation<const OPERATION: u8>(
        &mut self,
        fields: Fields,
        operand: Operand,
        matters: bool,
    ) -> Computed {
        match matters {
            true => self.compute_noting::<OPERATION, true>(fields, operand),
            false => self.compute_noting::<OPERATION, false>(fields, operand),
        }
    }

    #[inline(always)]
    fn compute_noting<const OPERATION: u8, const NOTES: bool>(
        &mut self,
        fields: Fields,
        operand: Operand,
    ) -> Computed {
        let funct6 = fields.funct6();
        // What changes the sign of the product and of the addend, see `fused`.
        let sign = |is_set: bool| u32::from(is_set) << 31;
        let product = sign(funct6 & 1 == 1);
        let addend = sign(matches!(funct6 & 3, 1 | 2));
        let signs = match OPERATION {
            SUM => [0, sign(funct6 == 0x02)],
            _ => [product, addend],
        };
        self.all_plain::<OPERATION, NOTES>(fields, operand, signs)
    }

    /// Adds up all elements of an instruction without a mask, and returns whether one of the sums
    /// had to be rounded, if that `matters`; does nothing if one may raise another flag.
    pub(super) fn sum_plain(&mut self, fields: Fields, matters: bool) -> Option<bool> {
        match matters {
            true => self.sum_noting::<true>(fields),
            false => self.sum_noting::<false>(fields),
        }
    }

    fn sum_noting<const NOTES: bool>(&mut self, fields: Fields) -> Option<bool> {
        let place = |register: usize| register * self.register_bytes;
        let [first] = numbers::<1>(&self.registers, place(fields.vs1()));
        let begin = place(fields.vs2());
        let elements = self.registers[begin..begin + 4 * self.vl]
            .as_chunks()
            .0
            .iter();
        let numbers = elements.map(|it| f32::from_le_bytes(*it));
        let (sum, is_plain, is_inexact) = match self.is_backwards(fields) {
            true => sum_of::<NOTES>(first, numbers.rev()),
            false => sum_of::<NOTES>(first, numbers),
        };
        if !is_plain {
            return None;
        }
        self.write::<4>(place(fields.vd()), sum.to_bits().into());
        self.finish_element(fields.vd(), 4);
        Some(is_inexact)
    }

    #[inline(always)]
    fn all_plain<const OPERATION: u8, const NOTES: bool>(
        &mut self,
        fields: Fields,
        operand: Operand,
        signs: [u32; 2],
    ) -> Computed {
        let place = |register: usize| register * self.register_bytes;
        let (d, a) = (place(fields.vd()), place(fields.vs2()));
        let second = match operand {
            Operand::Scalar(value) => Second::Is(f32::from_bits(value as u32)),
            Operand::Vector(vs1) => Second::At(place(vs1)),
        };
        let (vl, registers) = (self.vl, &mut self.registers[..]);
        let mut computed = Computed {
            count: 0,
            is_inexact: false,
        };
        let places = (d, a, second);
        while computed.count + LANES <= vl
            && next_plain::<OPERATION, NOTES, LANES>(registers, places, signs, &mut computed)
        {
        }
        while computed.count < vl
            && next_plain::<OPERATION, NOTES, 1>(registers, places, signs, &mut computed)
        {}
        if computed.count == vl {
            self.finish_tail::<4>(fields.vd(), self.group());
        }
        computed
    }
}

/// The second operand of elements: one for all, or a group that begins there.
#[derive(Clone, Copy)]
enum Second {
    Is(f32),
    At(usize),
}

/// Computes `N` elements more of groups that begin at these bytes; returns whether no other flag
/// can have been raised. Nothing has changed otherwise.
#[inline(always)]
fn next_plain<const OPERATION: u8, const NOTES: bool, const N: usize>(
    registers: &mut [u8],
    (d, a, b): (usize, usize, Second),
    [product, addend]: [u32; 2],
    computed: &mut Computed,
) -> bool {
    let from = 4 * computed.count;
    let b = match b {
        Second::Is(number) => [number; N],
        Second::At(b) => numbers::<N>(registers, b + from),
    };
    let a = numbers::<N>(registers, a + from);
    let old = || numbers::<N>(registers, d + from);
    let results = match OPERATION {
        SUM => sums::<NOTES, N>(a, flipped(b, addend)),
        PRODUCT => products::<NOTES, N>(a, b),
        MULTIPLIED => fused::<NOTES, N>(flipped(old(), product), b, flipped(a, addend)),
        _ => fused::<NOTES, N>(flipped(a, product), b, flipped(old(), addend)),
    };
    if results.is_plain {
        let places = registers[d + from..d + from + 4 * N].as_chunks_mut().0;
        for (place, number) in places.iter_mut().zip(&results.numbers) {
            *place = number.to_le_bytes();
        }
        computed.count += N;
        computed.is_inexact |= results.is_inexact;
    }
    results.is_plain
}

/// Returns the sum of numbers, one after the other, whether it is plain, and whether it was rounded.
#[inline(always)]
fn sum_of<const NOTES: bool>(first: f32, numbers: impl Iterator<Item = f32>) -> (f32, bool, bool) {
    let mut sum = first;
    let (mut is_plain, mut is_inexact) = (true, false);
    // No fold, whose tuple is moved between registers of numbers and others in each step.
    for number in numbers {
        let next = plain_sum::<NOTES>(sum, number);
        sum = next.number;
        is_plain &= next.is_plain;
        is_inexact |= next.is_inexact;
    }
    (sum, is_plain, is_inexact)
}

/// Returns the numbers that lie there.
#[inline(always)]
fn numbers<const N: usize>(registers: &[u8], at: usize) -> [f32; N] {
    let elements = registers[at..at + 4 * N].as_chunks().0;
    std::array::from_fn(|lane| f32::from_le_bytes(elements[lane]))
}

#[inline(always)]
fn flipped<const N: usize>(mut numbers: [f32; N], sign: u32) -> [f32; N] {
    for number in &mut numbers {
        *number = f32::from_bits(number.to_bits() ^ sign);
    }
    numbers
}
