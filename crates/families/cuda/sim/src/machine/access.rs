//! Loads, stores, atomic operations and copies.

use super::block::Block;
use super::findings::Fault;
use super::memory::{DeviceMemory, read_value, write_value};
use super::observer::{Access, Witness};
use super::shadow::{GlobalUse, Met, Trouble, Use};
use super::warp::{ALL, Copy, Warp};
use crate::decode::{Address, AtomicOp, LOCAL_WINDOW, Num, Reg, SHARED_WINDOW, VARIABLE_WINDOW};
use crate::half_floats::{bf16_from_f32, bf16_to_f32, half_from_f32, half_to_f32};
use crate::ptx::Space;

/// A fault of one thread.
pub(crate) type Failed = (Fault, u32);

/// How memory is used.
#[derive(Clone, Copy, Debug)]
struct How {
    space: Space,
    bytes: u32,
    write: bool,
    atomic: bool,
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

/// Returns the memory that an address of any memory is in.
#[inline(always)]
fn space_at(address: u64) -> Space {
    match address {
        VARIABLE_WINDOW.. => Space::Global,
        LOCAL_WINDOW.. => Space::Local,
        SHARED_WINDOW.. => Space::Shared,
        _ => Space::Global,
    }
}

impl<O: Witness> Block<'_, O> {
    fn tell(
        &mut self,
        warp: &Warp,
        how: How,
        addresses: &[u64; 32],
        lanes: u32,
        flags: (bool, bool),
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
                    atomic: how.atomic,
                    no_l1: flags.0,
                    is_async: flags.1,
                },
            );
        }
    }

    fn user(&self, warp: &Warp, lane: u32) -> Use {
        Use {
            thread: (warp.number * 32 + lane) as u16,
            barriers: self.barriers_passed,
            meetings: warp.meetings,
        }
    }

    /// Returns where a thread's access to memory of the block or of itself begins.
    #[inline(always)]
    fn inner_place(&self, how: How, address: u64, size: u64) -> Result<usize, Fault> {
        if !address.is_multiple_of(how.bytes.into()) {
            return Err(Fault::Misaligned {
                address,
                bytes: how.bytes,
            });
        }
        if size < address.saturating_add(how.bytes.into()) {
            // Addresses before the begin wrap around.
            let address = if u64::from(u32::MAX) < size {
                address
            } else {
                address & 0xffff_ffff
            };
            let near = address as u32 as i32;
            let distance = if near < 0 {
                i64::from(near)
            } else {
                address as i64 - size as i64
            };
            return Err(Fault::OutOfBounds {
                space: how.space,
                area: None,
                size,
                distance,
                bytes: how.bytes,
                write: how.write,
            });
        }
        Ok(address as usize)
    }

    fn race(
        &self,
        space: Space,
        area: Option<u32>,
        offset: usize,
        met: Met,
        warp: &Warp,
        write: bool,
    ) -> Fault {
        Fault::Race {
            space,
            area,
            offset: offset as u64,
            other: self.launch.thread(u32::from(met.thread)),
            other_block: met.block,
            writes: [met.wrote, write],
            same_warp: met.block.is_none() && u32::from(met.thread) / 32 == warp.number,
        }
    }

    /// Looks whether a use of shared memory is right.
    fn watch_shared(
        &mut self,
        warp: &Warp,
        lane: u32,
        how: How,
        at: usize,
        same: bool,
    ) -> Result<(), Failed> {
        let by = self.user(warp, lane);
        let bytes = how.bytes as usize;
        let result = match how.write {
            true => self.shared_shadow.write(at, bytes, by, how.atomic, same),
            false => self.shared_shadow.read(at, bytes, by, how.atomic),
        };
        result.map_err(|trouble| {
            let fault = match trouble {
                Trouble::Race(met) => self.race(Space::Shared, None, at, met, warp, how.write),
                Trouble::Uninitialised => Fault::Uninitialised {
                    space: Space::Shared,
                    area: None,
                    offset: at as u64,
                },
            };
            (fault, lane)
        })
    }

    /// Looks whether a use of global memory is right.
    fn watch_global(
        &mut self,
        warp: &Warp,
        lane: u32,
        how: How,
        area: usize,
        at: usize,
        same: bool,
    ) -> Result<(), Failed> {
        let by = GlobalUse {
            by: self.user(warp, lane),
            block: self.number,
            time: self.time,
        };
        let bytes = how.bytes as usize;
        let of = self.memory.area(area);
        if let Some(initialised) = &mut of.initialised {
            if how.write {
                initialised.mark(at, bytes);
            } else if !initialised.is_written(at, bytes) {
                let fault = Fault::Uninitialised {
                    space: Space::Global,
                    area: DeviceMemory::buffer_of(area),
                    offset: at as u64,
                };
                return Err((fault, lane));
            }
        }
        let Some(shadow) = &mut of.shadow else {
            return Ok(());
        };
        let result = match how.write {
            true => shadow.write(at, bytes, by, how.atomic, same, self.order),
            false => shadow.read(at, bytes, by, how.atomic, self.order),
        };
        result.map_err(|met| {
            let area = DeviceMemory::buffer_of(area);
            (
                self.race(Space::Global, area, at, met, warp, how.write),
                lane,
            )
        })
    }

    /// Reads `bytes` bytes for one thread.
    #[inline(always)]
    fn read_one(&mut self, warp: &Warp, lane: u32, how: How, address: u64) -> Result<u64, Failed> {
        let in_lane = |fault: Fault| (fault, lane);
        let (space, address) = match how.space {
            Space::Generic => {
                let space = space_at(address);
                let window = match space {
                    Space::Shared => SHARED_WINDOW,
                    Space::Local => LOCAL_WINDOW,
                    _ => 0,
                };
                (space, address - window)
            }
            space => (space, address),
        };
        let how = How { space, ..how };
        match space {
            Space::Shared => {
                let at = self
                    .inner_place(how, address, self.shared.len() as u64)
                    .map_err(in_lane)?;
                if self.is_watched {
                    self.watch_shared(warp, lane, how, at, false)?;
                }
                Ok(read_value(&self.shared, at, how.bytes))
            }
            Space::Local => {
                let size = self.kernel.local_bytes;
                let at = self.inner_place(how, address, size).map_err(in_lane)?;
                Ok(read_value(
                    &warp.local,
                    at + lane as usize * size as usize,
                    how.bytes,
                ))
            }
            Space::Param => {
                let size = self.launch.arguments.len() as u64;
                let at = self.inner_place(how, address, size).map_err(in_lane)?;
                Ok(read_value(&self.launch.arguments, at, how.bytes))
            }
            _ => {
                let place = self
                    .memory
                    .locate(address, how.bytes, false)
                    .map_err(in_lane)?;
                if self.is_watched {
                    self.watch_global(warp, lane, how, place.area, place.offset, false)?;
                }
                Ok(read_value(
                    self.memory.bytes(place.area),
                    place.offset,
                    how.bytes,
                ))
            }
        }
    }

    #[inline(always)]
    fn write_one(
        &mut self,
        warp: &mut Warp,
        lane: u32,
        how: How,
        address: u64,
        value: u64,
    ) -> Result<(), Failed> {
        let in_lane = |fault: Fault| (fault, lane);
        let (space, address) = match how.space {
            Space::Generic => {
                let space = space_at(address);
                let window = match space {
                    Space::Shared => SHARED_WINDOW,
                    Space::Local => LOCAL_WINDOW,
                    _ => 0,
                };
                (space, address - window)
            }
            space => (space, address),
        };
        let how = How { space, ..how };
        let mask = if how.bytes == 8 {
            u64::MAX
        } else {
            (1 << (8 * how.bytes)) - 1
        };
        match space {
            Space::Shared => {
                let at = self
                    .inner_place(how, address, self.shared.len() as u64)
                    .map_err(in_lane)?;
                if self.is_watched {
                    let same = read_value(&self.shared, at, how.bytes) == value & mask;
                    self.watch_shared(warp, lane, how, at, same)?;
                }
                write_value(&mut self.shared, at, how.bytes, value);
            }
            Space::Local => {
                let size = self.kernel.local_bytes;
                let at = self.inner_place(how, address, size).map_err(in_lane)?;
                write_value(
                    &mut warp.local,
                    at + lane as usize * size as usize,
                    how.bytes,
                    value,
                );
            }
            _ => {
                let place = self
                    .memory
                    .locate(address, how.bytes, true)
                    .map_err(in_lane)?;
                let area = self.memory.area(place.area);
                if area.is_constant {
                    let area = DeviceMemory::buffer_of(place.area);
                    return Err((Fault::ReadOnly { area }, lane));
                }
                if self.is_watched {
                    let same = read_value(&area.bytes, place.offset, how.bytes) == value & mask;
                    self.watch_global(warp, lane, how, place.area, place.offset, same)?;
                }
                let bytes = &mut self.memory.area(place.area).bytes;
                write_value(bytes, place.offset, how.bytes, value);
            }
        }
        Ok(())
    }

    /// Loads for all threads of `lanes`.
    #[inline(always)]
    pub(crate) fn load(
        &mut self,
        warp: &mut Warp,
        (space, bytes, signed): (Space, u32, bool),
        d: &[Reg],
        address: Address,
        no_l1: bool,
        lanes: u32,
    ) -> Result<(), Failed> {
        let addresses = addresses(warp, address);
        let how = How {
            space,
            bytes,
            write: false,
            atomic: no_l1,
        };
        let whole = How {
            bytes: bytes * d.len() as u32,
            ..how
        };
        self.tell(
            warp,
            How {
                atomic: false,
                ..whole
            },
            &addresses,
            lanes,
            (no_l1, false),
        );
        self.check_vector(whole, &addresses, lanes, d.len())?;
        if space == Space::Param {
            let at = addresses[lanes.trailing_zeros().min(31) as usize];
            for (register, idx) in d.iter().zip(0..) {
                let lane = lanes.trailing_zeros().min(31);
                let value = self.read_one(warp, lane, how, at + idx * u64::from(bytes))?;
                self.keep(warp, *register, [value; 32], (bytes, signed), lanes);
            }
            return Ok(());
        }
        for (register, idx) in d.iter().zip(0_u64..) {
            let mut places = addresses;
            for place in &mut places {
                *place = place.wrapping_add(idx * u64::from(bytes));
            }
            if let Reg::Word(register) = register
                && let Some(values) = self.read_row(how, &places, lanes)
            {
                super::alu::put(&mut warp.words[*register as usize], values, lanes);
                continue;
            }
            let mut values = [0_u64; 32];
            for lane in 0..32 {
                if lanes >> lane & 1 != 0 {
                    values[lane as usize] =
                        self.read_one(warp, lane, how, places[lane as usize])?;
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

    /// Returns the bytes that accesses of 4 bytes at `addresses` lie in, and the address of the
    /// first of them, if nobody watches and all accesses of `lanes` are right.
    #[inline(always)]
    fn row_memory(
        &mut self,
        how: How,
        addresses: &[u64; 32],
        lanes: u32,
    ) -> Option<(&mut [u8], u64)> {
        if self.is_watched || how.bytes != 4 {
            return None;
        }
        let (bytes, begin) = match how.space {
            Space::Shared => (&mut self.shared, 0),
            Space::Global | Space::Generic | Space::Const => {
                let first = addresses[lanes.trailing_zeros().min(31) as usize];
                let place = self.memory.locate(first, 4, how.write).ok()?;
                let area = self.memory.area(place.area);
                if how.write && area.is_constant {
                    return None;
                }
                (&mut area.bytes, first - place.offset as u64)
            }
            _ => return None,
        };
        let last = (bytes.len() as u64).checked_sub(4)?;
        let mut wrong = 0;
        for (lane, address) in addresses.iter().enumerate() {
            let at = address.wrapping_sub(begin);
            let is_wrong = at & 3 != 0 || last < at;
            wrong |= u32::from(is_wrong) << lane;
        }
        (wrong & lanes == 0).then_some((bytes, begin))
    }

    /// Reads 4 bytes for all threads at once, if that is possible.
    #[inline(always)]
    fn read_row(&mut self, how: How, addresses: &[u64; 32], lanes: u32) -> Option<[u32; 32]> {
        let (bytes, begin) = self.row_memory(how, addresses, lanes)?;
        let mut values = [0; 32];
        if lanes == ALL {
            let first = addresses[0].wrapping_sub(begin);
            let mut in_row = true;
            let mut same = true;
            for (address, idx) in addresses.iter().zip(0_u64..) {
                in_row &= *address == addresses[0].wrapping_add(4 * idx);
                same &= *address == addresses[0];
            }
            if in_row {
                let row = bytes.get(first as usize..first as usize + 128)?;
                for (value, part) in values.iter_mut().zip(row.chunks_exact(4)) {
                    *value = u32::from_le_bytes([part[0], part[1], part[2], part[3]]);
                }
                return Some(values);
            }
            if same {
                return Some([read_value(bytes, first as usize, 4) as u32; 32]);
            }
        }
        for (lane, value) in values.iter_mut().enumerate() {
            if lanes >> lane & 1 != 0 {
                *value = read_value(bytes, addresses[lane].wrapping_sub(begin) as usize, 4) as u32;
            }
        }
        Some(values)
    }

    /// Writes 4 bytes for all threads at once, if that is possible.
    #[inline(always)]
    fn write_row(
        &mut self,
        how: How,
        addresses: &[u64; 32],
        values: &[u32; 32],
        lanes: u32,
    ) -> bool {
        let Some((bytes, begin)) = self.row_memory(how, addresses, lanes) else {
            return false;
        };
        for (lane, value) in values.iter().enumerate() {
            if lanes >> lane & 1 != 0 {
                let at = addresses[lane].wrapping_sub(begin) as usize;
                write_value(bytes, at, 4, u64::from(*value));
            }
        }
        true
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
                super::alu::put(&mut warp.words[d as usize], narrow, lanes);
            }
            Reg::Double(d) => {
                let mut whole = [0; 32];
                for (to, from) in whole.iter_mut().zip(values) {
                    *to = extended(from);
                }
                super::alu::put(&mut warp.doubles[d as usize], whole, lanes);
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
        lanes: u32,
    ) -> Result<(), Failed> {
        let addresses = addresses(warp, address);
        let how = How {
            space,
            bytes,
            write: true,
            atomic: false,
        };
        let whole = How {
            bytes: bytes * a.len() as u32,
            ..how
        };
        self.tell(warp, whole, &addresses, lanes, (false, false));
        self.check_vector(whole, &addresses, lanes, a.len())?;
        for (register, idx) in a.iter().zip(0_u64..) {
            if let Reg::Word(register) = register {
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
                    self.write_one(warp, lane, how, address, value)?;
                }
            }
        }
        Ok(())
    }

    /// Does an atomic operation for all threads of `lanes`, one after the other.
    pub(crate) fn atomic(
        &mut self,
        warp: &mut Warp,
        (op, num, space): (AtomicOp, Num, Space),
        (d, b, c): (Option<u32>, u32, Option<u32>),
        address: Address,
        lanes: u32,
    ) -> Result<(), Failed> {
        let addresses = addresses(warp, address);
        let bytes = num.bytes();
        let how = How {
            space,
            bytes,
            write: true,
            atomic: true,
        };
        self.tell(warp, how, &addresses, lanes, (true, false));
        let value = |warp: &Warp, register: u32, lane: usize| match bytes {
            8 => warp.doubles[register as usize][lane],
            _ => u64::from(warp.words[register as usize][lane]),
        };
        let mut is_global = false;
        for lane in 0..32 {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            let address = addresses[lane as usize];
            let read = How {
                write: false,
                ..how
            };
            let old = self.read_one(warp, lane, read, address)?;
            let operand = value(warp, b, lane as usize);
            let swapped = c.map_or(0, |c| value(warp, c, lane as usize));
            let new = updated(op, num, old, operand, swapped);
            self.write_one(warp, lane, how, address, new)?;
            if let Some(d) = d {
                match bytes {
                    8 => warp.doubles[d as usize][lane as usize] = old,
                    _ => warp.words[d as usize][lane as usize] = old as u32,
                }
            }
            is_global |= match space {
                Space::Generic => space_at(address) == Space::Global,
                space => space == Space::Global,
            };
        }
        if is_global {
            self.order.acquired = self.time;
            if let Some(published) = self.order.published.get_mut(self.number as usize) {
                published.before = published.fence;
                published.at = self.time;
            }
        }
        Ok(())
    }

    /// Begins a copy from global to shared memory.
    pub(crate) fn copy_async(
        &mut self,
        warp: &mut Warp,
        (bytes, read): (u32, Option<u32>),
        (to, from): (Address, Address),
        no_l1: bool,
        line: u32,
        lanes: u32,
    ) -> Result<(), Failed> {
        let (to, from) = (addresses(warp, to), addresses(warp, from));
        let source = How {
            space: Space::Global,
            bytes,
            write: false,
            atomic: false,
        };
        let target = How {
            space: Space::Shared,
            bytes,
            write: true,
            atomic: false,
        };
        self.tell(warp, source, &from, lanes, (no_l1, true));
        self.tell(warp, target, &to, lanes, (no_l1, true));
        let mut data = Box::new([[0_u8; 16]; 32]);
        let mut places = [0; 32];
        for lane in 0..32 {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            let idx = lane as usize;
            let in_lane = |fault: Fault| (fault, lane);
            let place = self
                .inner_place(target, to[idx], self.shared.len() as u64)
                .map_err(in_lane)?;
            places[idx] = place as u32;
            let wanted = read
                .map_or(bytes, |it| warp.words[it as usize][idx])
                .min(bytes);
            if wanted != 0 {
                self.memory
                    .locate(from[idx], bytes.min(wanted.next_power_of_two()), false)
                    .map_err(in_lane)?;
            }
            let width = if wanted % 4 == 0 { 4 } else { 1 };
            let piece = How {
                bytes: width,
                ..source
            };
            for at in (0..wanted).step_by(width as usize) {
                let value = self.read_one(warp, lane, piece, from[idx] + u64::from(at))?;
                write_value(&mut data[idx], at as usize, width, value);
            }
            if !from[idx].is_multiple_of(bytes.into()) {
                return Err((
                    Fault::Misaligned {
                        address: from[idx],
                        bytes,
                    },
                    lane,
                ));
            }
        }
        warp.copies.push(Copy {
            lanes,
            to: places,
            bytes,
            data,
            line,
            group: None,
        });
        Ok(())
    }

    /// Lets copies land that belong to all but the last `groups` groups; `None` means all.
    pub(crate) fn land(&mut self, warp: &mut Warp, groups: Option<u32>) -> Result<(), Failed> {
        let done = |copy: &Copy| match groups {
            None => true,
            Some(groups) => copy.group.is_some_and(|it| it + groups < warp.copy_groups),
        };
        let (landed, left): (Vec<_>, Vec<_>) =
            std::mem::take(&mut warp.copies).into_iter().partition(done);
        warp.copies = left;
        let how = How {
            space: Space::Shared,
            bytes: 4,
            write: true,
            atomic: false,
        };
        for copy in landed {
            for lane in 0..32 {
                if copy.lanes >> lane & 1 == 0 {
                    continue;
                }
                for at in (0..copy.bytes).step_by(4) {
                    let value = read_value(&copy.data[lane as usize], at as usize, 4);
                    let address = u64::from(copy.to[lane as usize] + at);
                    self.write_one(warp, lane, how, address, value)?;
                }
            }
        }
        Ok(())
    }

    /// Reads or writes one row of a matrix, 16 bytes from `address` on, for `lane`.
    pub(crate) fn row(
        &mut self,
        warp: &mut Warp,
        lane: u32,
        address: u64,
        write: Option<[u16; 8]>,
    ) -> Result<[u16; 8], Failed> {
        if !address.is_multiple_of(16) {
            return Err((Fault::Misaligned { address, bytes: 16 }, lane));
        }
        let how = How {
            space: Space::Shared,
            bytes: 2,
            write: write.is_some(),
            atomic: false,
        };
        let mut found = [0; 8];
        for (it, idx) in found.iter_mut().zip(0..) {
            let address = address.wrapping_add(2 * idx);
            match write {
                None => *it = self.read_one(warp, lane, how, address)? as u16,
                Some(values) => {
                    self.write_one(warp, lane, how, address, values[idx as usize].into())?
                }
            }
        }
        Ok(found)
    }

    /// Reads one element of a matrix for `lane`, or writes it.
    pub(crate) fn element(
        &mut self,
        warp: &mut Warp,
        lane: u32,
        (space, bytes): (Space, u32),
        address: u64,
        write: Option<u32>,
    ) -> Result<u32, Failed> {
        let how = How {
            space,
            bytes,
            write: write.is_some(),
            atomic: false,
        };
        match write {
            None => self.read_one(warp, lane, how, address).map(|it| it as u32),
            Some(value) => self
                .write_one(warp, lane, how, address, value.into())
                .map(|()| value),
        }
    }

    /// Tells of an access of a whole matrix.
    pub(crate) fn tell_matrix(
        &mut self,
        warp: &Warp,
        space: Space,
        addresses: &[u64; 32],
        bytes: u32,
        write: bool,
        lanes: u32,
    ) {
        let space = match space {
            Space::Generic => space_at(addresses[0]),
            space => space,
        };
        let how = How {
            space,
            bytes,
            write,
            atomic: false,
        };
        self.tell(warp, how, addresses, lanes & ALL, (false, false));
    }
}

/// Returns what a place holds after an atomic operation.
fn updated(op: AtomicOp, num: Num, old: u64, operand: u64, swapped: u64) -> u64 {
    let float = |bits: u64| f32::from_bits(bits as u32);
    let pair = |to: fn(u16) -> f32, from: fn(f32) -> u16| {
        let half = |shift: u32| {
            let part = |it: u64| to((it >> shift) as u16);
            u64::from(from(part(old) + part(operand))) << shift
        };
        half(0) | half(16)
    };
    match (op, num) {
        (AtomicOp::Add, Num::F32) => super::alu::bits(float(old) + float(operand)).into(),
        (AtomicOp::Add, Num::F64) => (f64::from_bits(old) + f64::from_bits(operand)).to_bits(),
        (AtomicOp::Add, Num::F16x2) => pair(half_to_f32, half_from_f32),
        (AtomicOp::Add, Num::Bf16x2) => pair(bf16_to_f32, bf16_from_f32),
        (AtomicOp::Add, Num::F16) => {
            half_from_f32(half_to_f32(old as u16) + half_to_f32(operand as u16)).into()
        }
        (AtomicOp::Add, Num::Bf16) => {
            bf16_from_f32(bf16_to_f32(old as u16) + bf16_to_f32(operand as u16)).into()
        }
        (AtomicOp::Add, _) => old.wrapping_add(operand),
        (AtomicOp::And, _) => old & operand,
        (AtomicOp::Or, _) => old | operand,
        (AtomicOp::Xor, _) => old ^ operand,
        (AtomicOp::Exch, _) => operand,
        (AtomicOp::Cas, num) => {
            let mask = if num.bytes() == 8 {
                u64::MAX
            } else {
                (1 << (8 * num.bytes())) - 1
            };
            if old & mask == operand & mask {
                swapped
            } else {
                old
            }
        }
        (AtomicOp::Inc, _) => {
            if operand as u32 <= old as u32 {
                0
            } else {
                old + 1
            }
        }
        (AtomicOp::Dec, _) => {
            if old as u32 == 0 || (operand as u32) < old as u32 {
                operand
            } else {
                old - 1
            }
        }
        (AtomicOp::Min, Num::S32) => (old as i32).min(operand as i32) as u32 as u64,
        (AtomicOp::Max, Num::S32) => (old as i32).max(operand as i32) as u32 as u64,
        (AtomicOp::Min, Num::S64) => (old as i64).min(operand as i64) as u64,
        (AtomicOp::Max, Num::S64) => (old as i64).max(operand as i64) as u64,
        (AtomicOp::Min, _) => old.min(operand),
        (AtomicOp::Max, _) => old.max(operand),
    }
}
