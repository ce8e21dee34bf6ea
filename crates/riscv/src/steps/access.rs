//! Loads, stores and atomics.

use super::begin;
use super::float::unit_is_off;
use crate::access::{atomic as execute_atomic, slow_load, slow_store};
use crate::instruction::Operation;
use crate::record::{Below, Core, How, Record};

/// A file of registers that loads write and stores read.
trait Registers {
    /// Returns whether the file can be used.
    fn are_on(core: &Core) -> bool;
    fn get(core: &Core, number: u8) -> u64;
    fn set(core: &mut Core, number: u8, value: u64);
    /// Whoever reads the register has to wait until cycle `ready`.
    fn produce(core: &mut Core, number: u8, ready: u64);
}

struct Integers;

impl Registers for Integers {
    #[inline(always)]
    fn are_on(_: &Core) -> bool {
        true
    }

    #[inline(always)]
    fn get(core: &Core, number: u8) -> u64 {
        core.x[usize::from(number)]
    }

    #[inline(always)]
    fn set(core: &mut Core, number: u8, value: u64) {
        core.x[usize::from(number)] = value;
    }

    #[inline(always)]
    fn produce(core: &mut Core, number: u8, ready: u64) {
        core.pipeline.produce_integer(number, ready);
    }
}

struct Floats;

impl Registers for Floats {
    #[inline(always)]
    fn are_on(core: &Core) -> bool {
        core.csr.float_on()
    }

    #[inline(always)]
    fn get(core: &Core, number: u8) -> u64 {
        core.f[usize::from(number)]
    }

    #[inline(always)]
    fn set(core: &mut Core, number: u8, value: u64) {
        core.f[usize::from(number)] = value;
    }

    #[inline(always)]
    fn produce(core: &mut Core, number: u8, ready: u64) {
        core.pipeline.produce(32 + u32::from(number & 31), ready);
    }
}

/// Nobody can come too early for what a load brings.
pub(super) const NOBODY: u8 = 0;
/// Somebody may have to wait for it.
pub(super) const ANY: u8 = 1;
/// The next instruction has to wait for it, which the record between them says.
pub(super) const NEXT: u8 = 2;

/// A load, behind what waits for its operands.
pub(super) trait Load {
    /// Executes the load where nothing has to be looked at; returns whether that has been done.
    fn load_quickly(core: &mut Core, record: &Record) -> bool;

    /// Executes the load of the first record, which issues at `now`, and goes on;
    /// `base` is the register that it reads.
    fn load<const TIMED: bool, const USER: u8>(
        core: &mut Core,
        records: &[Record],
        now: u64,
        below: &mut Below<'_>,
        base: u64,
    ) -> How;
}

macro_rules! loads {
    ($($name:ident, $operation:ident, $near_store:ident, $slow:ident: $file:ty, $bytes:literal, |$value:ident: $type:ty| $extended:expr;)*) => {$(
        pub(super) struct $operation;

        impl Load for $operation {
            #[inline(always)]
            fn load_quickly(core: &mut Core, record: &Record) -> bool {
                let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
                let bytes = core.memory.load_open::<$bytes>(address);
                let Some(bytes) = bytes.filter(|_| <$file>::are_on(core)) else {
                    return false;
                };
                let $value = <$type>::from_le_bytes(bytes);
                <$file>::set(core, record.rd, $extended);
                true
            }

            #[inline(always)]
            fn load<const TIMED: bool, const USER: u8>(
                core: &mut Core,
                records: &[Record],
                now: u64,
                below: &mut Below<'_>,
                base: u64,
            ) -> How {
                let [record, next, ..] = records else {
                    return super::lost(core, now);
                };
                let address = base.wrapping_add(record.immediate);
                let Some(bytes) = core.memory.load_open::<$bytes>(address) else {
                    return $slow::<TIMED>(core, records, now, below);
                };
                if TIMED && !core.pipeline.has_read(address) || !<$file>::are_on(core) {
                    return $slow::<TIMED>(core, records, now, below);
                }
                if TIMED && core.pipeline.is_near_store(now, address) {
                    return $near_store(core, records, now, below);
                }
                let $value = <$type>::from_le_bytes(bytes);
                <$file>::set(core, record.rd, $extended);
                if USER == ANY {
                    <$file>::produce(core, record.rd, now + u64::from(record.extra));
                }
                if USER == NEXT {
                    return super::go_on_with_value(core, records, now, below);
                }
                (next.step)(core, &records[1..], now, below)
            }
        }

        #[inline(always)]
        pub fn $name<const TIMED: bool, const USER: u8>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, _, now) = begin!(core, records, now, below);
            let base = core.x[usize::from(record.rs1)];
            $operation::load::<TIMED, USER>(core, records, now, below, base)
        }

        /// The same for a load that issues at `now` and may find a store in its way, but
        /// nothing else.
        #[inline(never)]
        fn $near_store(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let [record, next, ..] = records else {
                return super::lost(core, now);
            };
            let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
            let Some(bytes) = core.memory.load_open::<$bytes>(address) else {
                return $slow::<true>(core, records, now, below);
            };
            let $value = <$type>::from_le_bytes(bytes);
            <$file>::set(core, record.rd, $extended);
            let again = super::replay_cycles(core, records);
            let issue = core.pipeline.behind_stores(now, address, $bytes, again);
            if issue > now {
                super::replayed(core, records, now);
            }
            <$file>::produce(core, record.rd, issue + u64::from(record.extra));
            (next.step)(core, &records[1..], issue, below)
        }

        /// The same with every check.
        #[cold]
        #[inline(never)]
        fn $slow<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let [record, next, ..] = records else {
                return super::lost(core, now);
            };
            if !<$file>::are_on(core) {
                return unit_is_off(core, record, now);
            }
            let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
            let pc = core.pc_of(record);
            let bytes = match core.memory.load_open::<$bytes>(address) {
                Some(bytes) => bytes,
                None => match slow_load::<$bytes>(&mut core.memory, below.coprocessor, address, pc) {
                    Ok(bytes) => bytes,
                    Err(trap) => return core.raise(trap, record, now),
                },
            };
            let $value = <$type>::from_le_bytes(bytes);
            <$file>::set(core, record.rd, $extended);
            let (issued, mut now) = (now, now);
            if TIMED {
                let replay = super::replay_cycles(core, records);
                now = core.pipeline.read(now, address, $bytes, replay, below.coprocessor);
                if now > issued {
                    super::replayed(core, records, issued);
                }
                <$file>::produce(core, record.rd, now + u64::from(record.extra));
            }
            (next.step)(core, &records[1..], now, below)
        }
    )*};
}

loads! {
    lb, Lb, lb_near_store, slow_lb: Integers, 1, |value: i8| value as i64 as u64;
    lh, Lh, lh_near_store, slow_lh: Integers, 2, |value: i16| value as i64 as u64;
    lw, Lw, lw_near_store, slow_lw: Integers, 4, |value: i32| value as i64 as u64;
    ld, Ld, ld_near_store, slow_ld: Integers, 8, |value: u64| value;
    lbu, Lbu, lbu_near_store, slow_lbu: Integers, 1, |value: u8| value.into();
    lhu, Lhu, lhu_near_store, slow_lhu: Integers, 2, |value: u16| value.into();
    lwu, Lwu, lwu_near_store, slow_lwu: Integers, 4, |value: u32| value.into();
    flh, Flh, flh_near_store, slow_flh: Floats, 2, |value: u16| u64::from(value) | !0xffff;
    flw, Flw, flw_near_store, slow_flw: Floats, 4, |value: u32| u64::from(value) | !0 << 32;
    fld, Fld, fld_near_store, slow_fld: Floats, 8, |value: u64| value;
}

macro_rules! stores {
    ($($name:ident, $slow:ident: $file:ty, $type:ty;)*) => {$(
        #[inline(always)]
        pub fn $name<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let (record, next, now) = begin!(core, records, now, below);
            let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
            let value = <$file>::get(core, record.rs2) as $type;
            if TIMED && !core.pipeline.store_hits(address)
                || !<$file>::are_on(core)
                || !core.memory.store_open(address, value.to_le_bytes())
            {
                return $slow::<TIMED>(core, records, now, below);
            }
            if TIMED {
                core.pipeline.stored(now, address, size_of::<$type>() as u64);
            }
            (next.step)(core, &records[1..], now, below)
        }

        /// The same with every check, for a store that issues at `now`.
        #[cold]
        #[inline(never)]
        fn $slow<const TIMED: bool>(
            core: &mut Core,
            records: &[Record],
            now: u64,
            below: &mut Below<'_>,
        ) -> How {
            let [record, ..] = records else {
                return super::lost(core, now);
            };
            if !<$file>::are_on(core) {
                return unit_is_off(core, record, now);
            }
            let address = core.x[usize::from(record.rs1)].wrapping_add(record.immediate);
            let value = <$file>::get(core, record.rs2) as $type;
            store_checked::<TIMED, _>(core, records, now, below, address, value.to_le_bytes())
        }
    )*};
}

stores! {
    sb, slow_sb: Integers, u8;
    sh, slow_sh: Integers, u16;
    sw, slow_sw: Integers, u32;
    sd, slow_sd: Integers, u64;
    fsh, slow_fsh: Floats, u16;
    fsw, slow_fsw: Floats, u32;
    fsd, slow_fsd: Floats, u64;
}

/// Stores with every check and goes on.
fn store_checked<const TIMED: bool, const N: usize>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
    address: u64,
    bytes: [u8; N],
) -> How {
    let [record, next, ..] = records else {
        return super::lost(core, now);
    };
    let (issued, mut now) = (now, now);
    if TIMED {
        let replay = super::replay_cycles(core, records);
        now = core
            .pipeline
            .store(now, address, N as u64, replay, below.coprocessor);
        if now > issued {
            super::replayed(core, records, issued);
        }
    }
    if !core.memory.store_open(address, bytes) && !core.memory.store_beside_code(address, bytes) {
        let pc = core.pc_of(record);
        let memory = &mut core.memory;
        if let Err(trap) = slow_store(memory, below.coprocessor, address, bytes, pc) {
            return core.raise(trap, record, now);
        }
        if core.memory.take_hook_touched() {
            return core.stop_for_hook(records, now);
        }
    }
    (next.step)(core, &records[1..], now, below)
}

pub fn atomic<const TIMED: bool>(
    core: &mut Core,
    records: &[Record],
    now: u64,
    below: &mut Below<'_>,
) -> How {
    let (record, next, mut now) = begin!(core, records, now, below);
    let address = core.x[usize::from(record.rs1)];
    let operand = core.x[usize::from(record.rs2)];
    let pc = core.pc_of(record);
    let reservation = &mut core.reservation;
    match execute_atomic(
        &mut core.memory,
        below.coprocessor,
        reservation,
        record,
        address,
        operand,
        pc,
    ) {
        Ok(value) => core.x[usize::from(record.rd)] = value,
        Err(trap) => return core.raise(trap, record, now),
    }
    if TIMED {
        use Operation as O;
        let issued = now;
        let replay = super::replay_cycles(core, records);
        let (pipeline, below) = (&mut core.pipeline, &mut *below.coprocessor);
        let bytes = match record.operation {
            O::LrD | O::ScD | O::AmoD => 8,
            _ => 4,
        };
        now = match record.operation {
            O::LrW | O::LrD => pipeline.read(now, address, bytes, replay, below),
            O::ScW | O::ScD => pipeline.store(now, address, bytes, replay, below),
            _ => pipeline.modify(now, address, bytes, replay, below),
        };
        pipeline.produce_integer(record.rd, now + pipeline.config.load_latency);
        if now > issued {
            super::replayed(core, records, issued);
        }
    }
    if core.memory.take_hook_touched() {
        return core.stop_for_hook(records, now);
    }
    (next.step)(core, &records[1..], now, below)
}
