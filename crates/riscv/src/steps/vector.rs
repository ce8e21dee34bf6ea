//! Vector instructions.

mod usual;

use super::begin;
use crate::coprocessor::Coprocessor;
use crate::fault::AccessKind;
use crate::memory::Memory;
use crate::record::{Below, Core, How, Record, Step};
use crate::trap::Trap;
use crate::vector::{ACCESSES, CONFIGURES, OPERATES, Refusal, Scalars, VectorMemory, kind_of};

/// Memory as the vector unit reaches it for one instruction.
struct Port<'a> {
    memory: &'a mut Memory,
    coprocessor: &'a mut dyn Coprocessor,
    pc: u64,
    is_aligned: bool,
}

impl Port<'_> {
    fn check(&self, address: u64, width: usize, kind: AccessKind) -> Result<(), Trap> {
        match self.is_allowed(address, width) {
            true => Ok(()),
            false => Err(Trap::misaligned(self.pc, address, width as u64, kind)),
        }
    }

    /// Returns whether elements of `width` bytes may lie there.
    #[inline(always)]
    fn is_allowed(&self, address: u64, width: usize) -> bool {
        !self.is_aligned || address & (width as u64 - 1) == 0
    }

    fn report(&mut self, address: u64, len: usize, kind: AccessKind) -> Result<(), Trap> {
        if len > 0 && self.memory.is_watched(address, len) {
            let is_store = kind == AccessKind::Store;
            self.coprocessor
                .cpu_access(address, len as u64, is_store, self.pc)
                .map_err(|fault| Trap::access(fault, kind))?;
        }
        Ok(())
    }
}

impl Port<'_> {
    #[inline(always)]
    fn load_open<const N: usize>(&self, address: u64, bytes: &mut [u8]) -> bool {
        match (self.memory.load_open::<N>(address), bytes.first_chunk_mut()) {
            (Some(found), Some(place)) => {
                *place = found;
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    fn store_open<const N: usize>(&mut self, address: u64, bytes: &[u8]) -> bool {
        let value = bytes.first_chunk();
        value.is_some_and(|value| self.memory.store_open::<N>(address, *value))
    }
}

impl VectorMemory for Port<'_> {
    #[inline(always)]
    fn load(&mut self, address: u64, bytes: &mut [u8], width: usize) -> Result<(), Trap> {
        // An element that lies where it should, and where nothing has to be looked at.
        match bytes.len() {
            1 if self.load_open::<1>(address, bytes) => return Ok(()),
            2 if self.load_open::<2>(address, bytes) => return Ok(()),
            4 if self.load_open::<4>(address, bytes) => return Ok(()),
            8 if self.load_open::<8>(address, bytes) => return Ok(()),
            _ => {
                let found = self.memory.run_open(address, bytes.len());
                if let Some(found) = found.filter(|_| self.is_allowed(address, width)) {
                    bytes.copy_from_slice(found);
                    return Ok(());
                }
            }
        }
        self.load_slowly(address, bytes, width)
    }

    #[inline(always)]
    fn store(&mut self, address: u64, bytes: &[u8], width: usize) -> Result<(), Trap> {
        match bytes.len() {
            1 if self.store_open::<1>(address, bytes) => return Ok(()),
            2 if self.store_open::<2>(address, bytes) => return Ok(()),
            4 if self.store_open::<4>(address, bytes) => return Ok(()),
            8 if self.store_open::<8>(address, bytes) => return Ok(()),
            len if self.is_allowed(address, width) => {
                if let Some(place) = self.memory.run_open_mut(address, len) {
                    place.copy_from_slice(bytes);
                    return Ok(());
                }
            }
            _ => {}
        }
        self.store_slowly(address, bytes, width)
    }
}

impl Port<'_> {
    #[inline(never)]
    fn load_slowly(&mut self, address: u64, bytes: &mut [u8], width: usize) -> Result<(), Trap> {
        let kind = AccessKind::Load;
        self.check(address, width, kind)?;
        let found = self.memory.read(address, bytes.len(), kind, self.pc);
        bytes.copy_from_slice(found.map_err(|fault| Trap::access(fault, kind))?);
        self.report(address, bytes.len(), kind)
    }

    #[inline(never)]
    fn store_slowly(&mut self, address: u64, bytes: &[u8], width: usize) -> Result<(), Trap> {
        let kind = AccessKind::Store;
        self.check(address, width, kind)?;
        let place = self.memory.write(address, bytes.len(), kind, self.pc);
        place
            .map_err(|fault| Trap::access(fault, kind))?
            .copy_from_slice(bytes);
        self.report(address, bytes.len(), kind)
    }
}

/// Returns the step of a vector instruction.
pub fn step_of<const TIMED: bool>(bits: u32) -> Step {
    if let Some(step) = usual::step_of(bits).filter(|_| !TIMED) {
        return step;
    }
    match kind_of(bits) {
        CONFIGURES => vector::<TIMED, CONFIGURES>,
        ACCESSES => vector::<TIMED, ACCESSES>,
        _ => vector::<TIMED, OPERATES>,
    }
}

fn vector<const TIMED: bool, const KIND: u8>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, now) = begin!(core, records, now, below);
    if !execute::<KIND>(core, record, now, below.coprocessor) {
        return core.leave(now, How::Trap);
    }
    if KIND == ACCESSES && core.memory.take_hook_touched() {
        return core.stop_for_hook(records, now);
    }
    (next.step)(core, &records[1..], now, below)
}

/// Executes the instruction; returns whether it raised no exception.
#[inline(never)]
fn execute<const KIND: u8>(
    core: &mut Core,
    record: &Record,
    now: u64,
    coprocessor: &mut dyn Coprocessor,
) -> bool {
    if !core.csr.vectors_on() {
        core.refuse(
            record,
            now,
            "there is no vector unit, or mstatus.VS switches it off",
        );
        return false;
    }
    let pc = core.pc_of(record);
    let Some(unit) = &mut core.vector else {
        core.refuse(record, now, "there is no vector unit");
        return false;
    };
    let mut scalars = Scalars {
        x: &mut core.x,
        f: &mut core.f,
        csr: &mut core.csr,
    };
    let mut port = Port {
        memory: &mut core.memory,
        coprocessor,
        pc,
        is_aligned: unit.is_aligned(),
    };
    match unit.execute::<KIND>(record.immediate as u32, &mut scalars, &mut port) {
        Ok(()) => true,
        Err(Refusal::Illegal(why)) => {
            core.refuse(record, now, why);
            false
        }
        Err(Refusal::Trap(trap)) => {
            core.raise(trap, record, now);
            false
        }
    }
}
