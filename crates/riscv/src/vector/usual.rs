//! What kernels execute most: instructions without a mask that begin with the first element and
//! whose rules are soon looked at. All else, and what goes wrong, is for the general way, which
//! gives the same for these.

use super::plain::{Computed, operation_of};
use super::unit::{Agnostic, Fields, Operand, VectorUnit};
use crate::memory::Memory;

/// What may be executed here, by what is known of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Usual {
    /// A configuration.
    Configuration,
    /// Elements of so many bytes that lie one behind the other.
    Run { bytes: u8, stores: bool },
    /// Elements of so many bytes that lie at equal distances.
    Strided { bytes: u8, stores: bool },
    /// Arithmetic on binary32 numbers, see [`plain`](super::plain).
    Floats { operation: u8, has_scalar: bool },
}

impl Usual {
    /// Returns what an instruction with one of the opcodes of vectors is, if it is any of these.
    pub fn of(bits: u32) -> Option<Self> {
        let fields = Fields(bits);
        let funct3 = fields.funct3();
        let opcode = fields.get(6, 0);
        if opcode == 0x57 {
            return match funct3 {
                7 => Some(Self::Configuration),
                1 | 5 if fields.is_unmasked() => Some(Self::Floats {
                    operation: operation_of(fields.funct6())?,
                    has_scalar: funct3 == 5,
                }),
                _ => None,
            };
        }
        let bytes = match funct3 {
            0 => 1,
            5 => 2,
            6 => 4,
            _ => 8,
        };
        let stores = opcode == 0x27;
        // One field, elements of 64 bits at most, no mask.
        let is_simple = fields.get(31, 28) == 0 && fields.is_unmasked();
        match fields.get(27, 26) {
            0 if is_simple && fields.vs2() == 0 => Some(Self::Run { bytes, stores }),
            2 if is_simple => Some(Self::Strided { bytes, stores }),
            _ => None,
        }
    }
}

impl VectorUnit {
    /// Executes `vsetvli` and its like as [`configure`](Self::configure) does.
    #[inline(always)]
    pub(crate) fn configure_by(&mut self, bits: u32, x: &[u64]) -> Option<u64> {
        self.configure(Fields(bits), x)
    }

    /// Computes elements of an instruction that does `OPERATION` with a scalar or a vector, up to
    /// one that may raise another flag than the inexact one, which is told only if it `matters`;
    /// nothing if its registers or the configuration are not the usual ones.
    #[inline(always)]
    pub(crate) fn usual_floats<const OPERATION: u8>(
        &mut self,
        bits: u32,
        scalar: Option<u32>,
        matters: bool,
    ) -> Option<Computed> {
        let fields = Fields(bits);
        let (operand, named) = match scalar {
            Some(value) => (Operand::Scalar(value.into()), 0),
            None => (Operand::Vector(fields.vs1()), fields.vs1()),
        };
        let named = named | fields.vd() | fields.vs2();
        // An illegal configuration is one of bytes.
        let is_usual = self.element_bytes() == 4 && self.begins() && self.masks[2].allows(named);
        // No closure, which would be a function of its own.
        if !is_usual {
            return None;
        }
        Some(self.compute_operation::<OPERATION>(fields, operand, matters))
    }

    /// Goes on with an instruction at the first element that has not been computed; returns whether
    /// there is none.
    #[inline(always)]
    pub(crate) fn is_over(&mut self, computed: Computed) -> bool {
        let is_over = computed.count == self.vl;
        if !is_over {
            self.vstart = computed.count;
        }
        is_over
    }

    /// Loads or stores elements of `N` bytes that lie one behind the other from `address` on;
    /// returns whether that has been done.
    #[inline(always)]
    pub(crate) fn usual_run<const N: usize, const STORES: bool>(
        &mut self,
        bits: u32,
        address: u64,
        memory: &mut Memory,
    ) -> bool {
        let Some((begin, end)) = self.usual_access::<N>(bits) else {
            return false;
        };
        if self.is_aligned() && !address.is_multiple_of(N as u64) {
            return false;
        }
        let len = self.vl * N;
        let Some(run) = self.registers.get_mut(begin..begin + len) else {
            return false;
        };
        if STORES {
            let place = memory.run_open_mut(address, len);
            return place.map(|place| copy(place, run)).is_some();
        }
        let found = memory.run_open(address, len);
        let is_done = found.map(|found| copy(run, found)).is_some();
        if is_done {
            self.fill_tail(begin + self.vl * N, end);
        }
        is_done
    }

    /// Loads or stores elements of `N` bytes that lie `step` bytes apart from `address` on; returns
    /// whether that has been done. Otherwise a part of it may have been, which may be done again.
    #[inline(always)]
    pub(crate) fn usual_strided<const N: usize, const STORES: bool>(
        &mut self,
        bits: u32,
        (address, step): (u64, u64),
        memory: &mut Memory,
    ) -> bool {
        let Some((begin, end)) = self.usual_access::<N>(bits) else {
            return false;
        };
        let Some(run) = self.registers.get_mut(begin..begin + self.vl * N) else {
            return false;
        };
        let elements = run.as_chunks_mut::<N>().0;
        if STORES {
            let mut store = |idx: usize, element: &[u8; N]| {
                let place = address.wrapping_add(step.wrapping_mul(idx as u64));
                memory.store_open::<N>(place, *element)
            };
            let mut each = elements.iter().enumerate();
            // Which of those that overlap stays is not said.
            return match self.agnostic {
                Agnostic::Ones => each.rev().all(|(idx, element)| store(idx, element)),
                Agnostic::Undisturbed => each.all(|(idx, element)| store(idx, element)),
            };
        }
        let mut address = address;
        for element in elements {
            let Some(found) = memory.load_open::<N>(address) else {
                return false;
            };
            *element = found;
            address = address.wrapping_add(step);
        }
        self.fill_tail(begin + self.vl * N, end);
        true
    }

    /// Returns where an access to elements of `N` bytes begins in the registers and where its group
    /// ends; nothing unless it is a usual one.
    #[inline(always)]
    fn usual_access<const N: usize>(&self, bits: u32) -> Option<(usize, usize)> {
        let mask = self.masks[N.ilog2() as usize];
        let vd = Fields(bits).vd();
        let begin = vd * self.register_bytes;
        let is_usual = self.begins() && mask.allows(vd);
        is_usual.then(|| (begin, begin + mask.registers() * self.register_bytes))
    }

    /// Returns whether there are elements, and instructions begin with the first one.
    #[inline(always)]
    fn begins(&self) -> bool {
        self.vstart == 0 && self.vl > 0
    }
}

/// Copies as many bytes as there are on both sides.
#[inline(always)]
fn copy(to: &mut [u8], from: &[u8]) {
    /// Copies `N` bytes if that is all of it.
    #[inline(always)]
    fn whole<const N: usize>(to: &mut [u8], from: &[u8]) -> bool {
        match (<&mut [u8; N]>::try_from(to), <&[u8; N]>::try_from(from)) {
            (Ok(to), Ok(from)) => {
                *to = *from;
                true
            }
            _ => false,
        }
    }
    // Sizes of registers and groups of them: few instructions of the host for each.
    let is_done = match to.len() {
        16 => whole::<16>(to, from),
        32 => whole::<32>(to, from),
        64 => whole::<64>(to, from),
        _ => false,
    };
    if !is_done {
        to.copy_from_slice(from);
    }
}
