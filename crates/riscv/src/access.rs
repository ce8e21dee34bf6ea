//! Loads, stores and atomics with every check.

use crate::arithmetic as a;
use crate::coprocessor::Coprocessor;
use crate::fault::AccessKind;
use crate::instruction::Operation;
use crate::memory::Memory;
use crate::record::Record;
use crate::trap::Trap;

/// Loads with every check; the interpreter tries the open pages first.
#[inline(never)]
pub(crate) fn slow_load<const N: usize>(
    memory: &mut Memory,
    coprocessor: &mut dyn Coprocessor,
    address: u64,
    pc: u64,
) -> Result<[u8; N], Trap> {
    let kind = AccessKind::Load;
    if !address.is_multiple_of(N as u64) {
        return Err(Trap::misaligned(pc, address, N as u64, kind));
    }
    let bytes = memory
        .read(address, N, kind, pc)
        .map_err(|fault| Trap::access(fault, kind))?;
    let bytes = bytes
        .try_into()
        .expect("the read returns as many bytes as asked");
    if memory.is_watched(address, N) {
        coprocessor
            .cpu_access(address, N as u64, false, pc)
            .map_err(|fault| Trap::access(fault, kind))?;
    }
    Ok(bytes)
}

/// Stores with every check.
#[inline(never)]
pub(crate) fn slow_store<const N: usize>(
    memory: &mut Memory,
    coprocessor: &mut dyn Coprocessor,
    address: u64,
    value: [u8; N],
    pc: u64,
) -> Result<(), Trap> {
    let kind = AccessKind::Store;
    if !address.is_multiple_of(N as u64) {
        return Err(Trap::misaligned(pc, address, N as u64, kind));
    }
    let bytes = memory
        .write(address, N, kind, pc)
        .map_err(|fault| Trap::access(fault, kind))?;
    bytes.copy_from_slice(&value);
    if memory.is_watched(address, N) {
        coprocessor
            .cpu_access(address, N as u64, true, pc)
            .map_err(|fault| Trap::access(fault, kind))?;
    }
    Ok(())
}

/// Executes an atomic; returns the value for the destination register.
pub(crate) fn atomic(
    memory: &mut Memory,
    coprocessor: &mut dyn Coprocessor,
    reservation: &mut Option<u64>,
    record: &Record,
    address: u64,
    operand: u64,
    pc: u64,
) -> Result<u64, Trap> {
    use Operation as O;
    let double = matches!(record.operation, O::LrD | O::ScD | O::AmoD);
    let bytes = if double { 8 } else { 4 };
    if !address.is_multiple_of(bytes) {
        // All atomics but lr report a store, here and when there is no memory.
        let load = matches!(record.operation, O::LrW | O::LrD);
        let kind = if load {
            AccessKind::Load
        } else {
            AccessKind::Store
        };
        return Err(Trap::misaligned(pc, address, bytes, kind));
    }
    match record.operation {
        O::LrW | O::LrD => {
            let value = wide_load(memory, coprocessor, address, double, pc)?;
            *reservation = Some(address);
            Ok(value)
        }
        O::ScW | O::ScD => {
            let held = reservation.take() == Some(address);
            if held {
                wide_store(memory, coprocessor, address, operand, double, pc)?;
            }
            Ok(u64::from(!held))
        }
        _ => {
            let old =
                wide_load(memory, coprocessor, address, double, pc).map_err(Trap::of_store)?;
            let operand = if double {
                operand
            } else {
                a::word(operand as u32)
            };
            let value = a::atomic(record.extra, old, operand);
            wide_store(memory, coprocessor, address, value, double, pc)?;
            Ok(old)
        }
    }
}

fn wide_load(
    memory: &mut Memory,
    coprocessor: &mut dyn Coprocessor,
    address: u64,
    double: bool,
    pc: u64,
) -> Result<u64, Trap> {
    if double {
        slow_load(memory, coprocessor, address, pc).map(u64::from_le_bytes)
    } else {
        slow_load(memory, coprocessor, address, pc).map(|b| a::word(u32::from_le_bytes(b)))
    }
}

fn wide_store(
    memory: &mut Memory,
    coprocessor: &mut dyn Coprocessor,
    address: u64,
    value: u64,
    double: bool,
    pc: u64,
) -> Result<(), Trap> {
    if double {
        slow_store(memory, coprocessor, address, value.to_le_bytes(), pc)
    } else {
        slow_store(
            memory,
            coprocessor,
            address,
            (value as u32).to_le_bytes(),
            pc,
        )
    }
}
