//! Steps of vector instructions that kernels execute most. What is not as usual takes the general
//! way, from the beginning or from the element on that was not computed.

use super::vector;
use crate::instruction::DISCARD;
use crate::record::{Below, Core, How, Record, Step};
use crate::soft_float::INEXACT;
use crate::steps::lost;
use crate::vector::{ACCESSES, CONFIGURES, OPERATES, Usual};

/// Returns the step of a vector instruction where no time is kept here, if it is a usual one.
pub fn step_of(bits: u32) -> Option<Step> {
    Some(match Usual::of(bits)? {
        Usual::Configuration => configure,
        Usual::Run { bytes, stores } => match bytes {
            1 => run_of::<1>(stores),
            2 => run_of::<2>(stores),
            4 => run_of::<4>(stores),
            _ => run_of::<8>(stores),
        },
        Usual::Strided { bytes, stores } => match bytes {
            1 => strided_of::<1>(stores),
            2 => strided_of::<2>(stores),
            4 => strided_of::<4>(stores),
            _ => strided_of::<8>(stores),
        },
        Usual::Floats {
            operation,
            has_scalar,
        } => match operation {
            0 => floats_of::<0>(has_scalar),
            1 => floats_of::<1>(has_scalar),
            2 => floats_of::<2>(has_scalar),
            _ => floats_of::<3>(has_scalar),
        },
    })
}

fn run_of<const N: usize>(stores: bool) -> Step {
    match stores {
        true => run::<N, true>,
        false => run::<N, false>,
    }
}

fn strided_of<const N: usize>(stores: bool) -> Step {
    match stores {
        true => strided::<N, true>,
        false => strided::<N, false>,
    }
}

fn floats_of<const OPERATION: u8>(has_scalar: bool) -> Step {
    match has_scalar {
        true => floats::<OPERATION, true>,
        false => floats::<OPERATION, false>,
    }
}

/// Goes on behind an instruction, or executes it the general way unless it `is_done`.
macro_rules! usual {
    ($core:ident, $records:ident, $now:ident, $below:ident, $kind:ident, |$record:ident| $is_done:expr) => {{
        let [$record, next, ..] = $records else {
            return lost($core, $now);
        };
        if !$is_done {
            return vector::<false, $kind>($core, $records, $now, $below);
        }
        (next.step)($core, &$records[1..], $now, $below)
    }};
}

fn configure(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
    usual!(core, records, now, below, CONFIGURES, |record| {
        core.configure(record.immediate as u32)
    })
}

fn run<const N: usize, const STORES: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    usual!(core, records, now, below, ACCESSES, |record| {
        let address = core.x[usize::from(record.rs1)];
        match &mut core.vector {
            Some(unit) if core.csr.vectors_on() => {
                unit.usual_run::<N, STORES>(record.immediate as u32, address, &mut core.memory)
            }
            _ => false,
        }
    })
}

fn strided<const N: usize, const STORES: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    usual!(core, records, now, below, ACCESSES, |record| {
        let [address, step] = [record.rs1, record.rs2].map(|it| core.x[usize::from(it)]);
        match &mut core.vector {
            Some(unit) if core.csr.vectors_on() => unit.usual_strided::<N, STORES>(
                record.immediate as u32,
                (address, step),
                &mut core.memory,
            ),
            _ => false,
        }
    })
}

fn floats<const OPERATION: u8, const SCALAR: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    usual!(core, records, now, below, OPERATES, |record| {
        core.floats::<OPERATION, SCALAR>(record.immediate as u32)
    })
}

impl Core {
    /// Configures the vector unit; returns whether that has been done.
    #[inline(always)]
    fn configure(&mut self, bits: u32) -> bool {
        let Some(unit) = self.vector.as_mut().filter(|_| self.csr.vectors_on()) else {
            return false;
        };
        let Some(vl) = unit.configure_by(bits, &self.x[..]) else {
            return false;
        };
        let result = match bits >> 7 & 31 {
            0 => DISCARD.into(),
            register => register as usize,
        };
        self.x[result] = vl;
        true
    }

    /// Computes the elements of an instruction on binary32 numbers; returns whether that has been
    /// done.
    #[inline(always)]
    fn floats<const OPERATION: u8, const SCALAR: bool>(&mut self, bits: u32) -> bool {
        let Some(unit) = self.vector.as_mut() else {
            return false;
        };
        let mut scalar = None;
        if SCALAR {
            let value = self.f[(bits >> 15 & 31) as usize];
            // Any other is no number of single precision.
            if value >> 32 != u64::from(u32::MAX) {
                return false;
            }
            scalar = Some(value as u32);
        }
        if !(self.csr.vectors_on() && self.csr.float_nearest()) {
            return false;
        }
        let matters = self.csr.fflags & INEXACT == 0;
        let Some(computed) = unit.usual_floats::<OPERATION>(bits, scalar, matters) else {
            return false;
        };
        if computed.is_inexact {
            self.csr.raise(INEXACT);
        }
        unit.is_over(computed)
    }
}
