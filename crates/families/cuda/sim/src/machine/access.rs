//! Loads and stores of the threads of a warp.

use super::alu::put;
use super::block::Block;
use super::findings::Fault;
use super::observer::{Access, Witness};
use super::shadow::Kind;
use super::warp::Warp;
use crate::decode::{Address, Meant, Reg};
use crate::ptx::Space;

/// A fault of one thread.
pub(crate) type Failed = (Fault, u32);

/// How memory is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) space: Space,
    pub(super) bytes: u32,
    pub(super) write: bool,
    pub(super) kind: Kind,
}

/// Returns the address of each thread.
#[inline(always)]
pub(crate) fn addresses(warp: &Warp, address: Address) -> [u64; 32] {
    let offset = address.offset as u64;
    let mut result = [offset; 32];
    match address.base {
        Some(Reg::Double(base)) => {
            for (to, from) in result.iter_mut().zip(&warp.doubles[base as usize]) {
                *to = from.wrapping_add(offset);
            }
        }
        Some(Reg::Word(base)) => {
            for (to, from) in result.iter_mut().zip(&warp.words[base as usize]) {
                *to = u64::from(from.wrapping_add(offset as u32));
            }
        }
        _ => {}
    }
    result
}

impl<O: Witness> Block<'_, O> {
    pub(super) fn tell(
        &mut self,
        warp: &Warp,
        how: How,
        addresses: &[u64; 32],
        lanes: u32,
        (no_l1, is_async): (bool, bool),
    ) {
        self.tell_of(warp, how, addresses, lanes, (no_l1, is_async, false));
    }

    /// Tells of an access: whether it passes the L1 by, is a copy that nobody waits for, and
    /// is atomic.
    #[inline(always)]
    pub(super) fn tell_of(
        &mut self,
        warp: &Warp,
        how: How,
        addresses: &[u64; 32],
        lanes: u32,
        flags: (bool, bool, bool),
    ) {
        if O::IS_WATCHING && lanes != 0 {
            self.observer.access(
                warp.number,
                Access {
                    space: how.space,
                    addresses,
                    lanes,
                    bytes: how.bytes,
                    write: how.write,
                    atomic: flags.2,
                    no_l1: flags.0,
                    is_async: flags.1,
                },
            );
        }
    }

    /// Loads for all threads of `lanes`.
    #[inline(always)]
    pub(crate) fn load(
        &mut self,
        warp: &mut Warp,
        (space, bytes, signed): (Space, u32, bool),
        d: &[Reg],
        address: Address,
        (no_l1, meant, line): (bool, Meant, u32),
        lanes: u32,
    ) -> Result<(), Failed> {
        if meant == Meant::Strong {
            self.let_others_come();
        }
        let addresses = addresses(warp, address);
        let how = How {
            space,
            bytes,
            write: false,
            kind: meant.into(),
        };
        let whole = How {
            bytes: bytes * d.len() as u32,
            ..how
        };
        self.tell(warp, whole, &addresses, lanes, (no_l1, false));
        self.check_vector(whole, &addresses, lanes, d.len())?;
        if space == Space::Param && address.base.is_none() {
            let at = addresses[lanes.trailing_zeros().min(31) as usize];
            for (register, idx) in d.iter().zip(0..) {
                let lane = lanes.trailing_zeros().min(31);
                let value = self.read_one(warp, lane, how, at + idx * u64::from(bytes))?;
                self.keep(warp, *register, [value; 32], (bytes, signed), lanes);
            }
            return Ok(());
        }
        let is_late = meant == Meant::Strong && self.delays.is_some();
        for (register, idx) in d.iter().zip(0_u64..) {
            let mut places = addresses;
            for place in &mut places {
                *place = place.wrapping_add(idx * u64::from(bytes));
            }
            if let Reg::Word(register) = register
                && !is_late
                && let Some(values) = self.read_row(how, &places, lanes)
            {
                put(&mut warp.words[*register as usize], values, lanes);
                continue;
            }
            let mut values = [0_u64; 32];
            for lane in 0..32 {
                if lanes >> lane & 1 != 0 {
                    let value = self.read_one(warp, lane, how, places[lane as usize])?;
                    let seen = match is_late {
                        true => self.seen(warp, lane, (how, line), places[lane as usize]),
                        false => None,
                    };
                    values[lane as usize] = seen.unwrap_or(value);
                }
            }
            self.keep(warp, *register, values, (bytes, signed), lanes);
        }
        Ok(())
    }

    /// The whole of a vector must lie at a multiple of its size.
    #[inline(always)]
    fn check_vector(
        &self,
        whole: How,
        addresses: &[u64; 32],
        lanes: u32,
        parts: usize,
    ) -> Result<(), Failed> {
        if parts < 2 {
            return Ok(());
        }
        for lane in 0..32 {
            let address = addresses[lane as usize];
            if lanes >> lane & 1 != 0 && !address.is_multiple_of(whole.bytes.into()) {
                return Err((
                    Fault::Misaligned {
                        address,
                        bytes: whole.bytes,
                    },
                    lane,
                ));
            }
        }
        Ok(())
    }

    /// Puts what was read into a register.
    #[inline(always)]
    fn keep(
        &self,
        warp: &mut Warp,
        register: Reg,
        values: [u64; 32],
        (bytes, signed): (u32, bool),
        lanes: u32,
    ) {
        let up = 64 - 8 * bytes;
        let extended = |value: u64| match signed {
            true => ((value << up) as i64 >> up) as u64,
            false => value,
        };
        match register {
            Reg::Word(d) => {
                let mut narrow = [0; 32];
                for (to, from) in narrow.iter_mut().zip(values) {
                    *to = extended(from) as u32;
                }
                put(&mut warp.words[d as usize], narrow, lanes);
            }
            Reg::Double(d) => {
                let mut whole = [0; 32];
                for (to, from) in whole.iter_mut().zip(values) {
                    *to = extended(from);
                }
                put(&mut warp.doubles[d as usize], whole, lanes);
            }
            Reg::Predicate(_) => {}
        }
    }

    /// Stores for all threads of `lanes`.
    #[inline(always)]
    pub(crate) fn store(
        &mut self,
        warp: &mut Warp,
        (space, bytes): (Space, u32),
        a: &[Reg],
        address: Address,
        meant: Meant,
        lanes: u32,
    ) -> Result<(), Failed> {
        let addresses = addresses(warp, address);
        let how = How {
            space,
            bytes,
            write: true,
            kind: meant.into(),
        };
        let whole = How {
            bytes: bytes * a.len() as u32,
            ..how
        };
        self.tell(warp, whole, &addresses, lanes, (false, false));
        self.check_vector(whole, &addresses, lanes, a.len())?;
        let is_late = meant == Meant::Strong && self.delays.is_some();
        for (register, idx) in a.iter().zip(0_u64..) {
            if let Reg::Word(register) = register
                && !is_late
            {
                let mut places = addresses;
                for place in &mut places {
                    *place = place.wrapping_add(idx * u64::from(bytes));
                }
                let values = warp.words[*register as usize];
                if self.write_row(how, &places, &values, lanes) {
                    continue;
                }
            }
            for lane in 0..32 {
                if lanes >> lane & 1 != 0 {
                    let value = match register {
                        Reg::Word(a) => u64::from(warp.words[*a as usize][lane as usize]),
                        Reg::Double(a) => warp.doubles[*a as usize][lane as usize],
                        Reg::Predicate(_) => 0,
                    };
                    let address = addresses[lane as usize].wrapping_add(idx * u64::from(bytes));
                    if is_late {
                        self.hide(warp, lane, how, address)?;
                    }
                    self.write_one(warp, lane, how, address, value)?;
                }
            }
        }
        Ok(())
    }
}
