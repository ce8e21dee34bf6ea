//! Vector loads and stores.

use super::integer::UNKNOWN;
use super::unit::{Agnostic, Executed, Fields, FirstLoads, Refusal, VectorUnit, ensure};
use crate::trap::Trap;

/// Memory as the unit reaches it.
pub(crate) trait VectorMemory {
    /// Loads elements of `width` bytes that lie one behind the other.
    ///
    /// # Errors
    /// The exception of an access that is not allowed.
    fn load(&mut self, address: u64, bytes: &mut [u8], width: usize) -> Result<(), Trap>;

    /// Stores elements.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    fn store(&mut self, address: u64, bytes: &[u8], width: usize) -> Result<(), Trap>;
}

/// How addresses of elements follow from the operands.
#[derive(Clone, Copy)]
pub(super) enum Addresses {
    /// One step behind the other.
    Stride(u64),
    /// As the elements of a group of this width say.
    Indices { register: usize, bytes: usize },
}

/// A load or store taken apart.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub fields: Fields,
    pub base: u64,
    pub addresses: Addresses,
    /// Bytes of an element in memory.
    pub bytes: usize,
    /// Base-2 logarithm of the registers of each field's group.
    group: i32,
    /// Fields of a segment.
    count: usize,
    pub is_store: bool,
    /// Whether elements are accessed in their order; otherwise in any.
    is_ordered: bool,
}

impl VectorUnit {
    /// Executes a load or store; `x` are the integer registers.
    pub(super) fn access(
        &mut self,
        fields: Fields,
        x: &[u64],
        memory: &mut impl VectorMemory,
    ) -> Executed {
        let is_store = fields.get(6, 0) == 0x27;
        ensure(fields.get(28, 28) == 0, "elements are at most 64 bits wide")?;
        let width = match fields.funct3() {
            0 => 1,
            5 => 2,
            6 => 4,
            _ => 8,
        };
        let base = x[fields.vs1()];
        let count = fields.get(31, 29) + 1;
        let mode = fields.get(27, 26);
        if mode == 0 && fields.vs2() == 8 {
            return self.access_registers(fields, base, width, memory);
        }
        ensure(self.vtype.is_legal(), super::NO_CONFIGURATION)?;
        if mode == 0 && fields.vs2() == 11 {
            return self.access_mask(fields, base, width, memory);
        }
        let element = self.element_bytes().ilog2() as i32;
        let group_of = |bytes: usize| bytes.ilog2() as i32 - element + self.group();
        let addresses = match mode {
            0 => {
                let fits = fields.vs2() == 0 || fields.vs2() == 16 && !is_store;
                ensure(fits, "no vector load or store has this encoding")?;
                Addresses::Stride((width * count) as u64)
            }
            2 => Addresses::Stride(x[fields.vs2()]),
            _ => Addresses::Indices {
                register: fields.vs2(),
                bytes: width,
            },
        };
        let (bytes, group) = match addresses {
            Addresses::Stride(_) => (width, group_of(width)),
            Addresses::Indices { .. } => (self.element_bytes(), self.group()),
        };
        let access = Access {
            fields,
            base,
            addresses,
            bytes,
            group,
            count,
            is_store,
            is_ordered: mode == 0 || mode == 3,
        };
        self.check_access(access, group_of(width))?;
        if mode == 0 && fields.vs2() == 16 {
            return self.load_first(access, memory);
        }
        self.access_elements(access, memory)
    }

    fn check_access(&self, access: Access, index_group: i32) -> Executed {
        let Access {
            fields,
            group,
            count,
            ..
        } = access;
        let vd = fields.vd();
        ensure(
            (-3..=3).contains(&group),
            "a group is larger than 8 registers, or too small",
        )?;
        self.aligned(vd, group)?;
        let registers = count << group.max(0);
        ensure(
            registers <= 8 && vd + registers <= 32,
            "segments need too many registers",
        )?;
        if !access.is_store {
            ensure(
                fields.is_unmasked() || vd != 0,
                "a masked instruction writes the mask `v0`",
            )?;
        }
        if let Addresses::Indices { register, .. } = access.addresses {
            ensure(
                (-3..=3).contains(&index_group),
                "the group of indices is larger than 8 registers, or too small",
            )?;
            self.aligned(register, index_group)?;
            if !access.is_store && count > 1 {
                for field in 0..count {
                    self.apart(vd + (field << group.max(0)), group, register, index_group)?;
                }
            } else if !access.is_store {
                match index_group.cmp(&group) {
                    std::cmp::Ordering::Less => {
                        self.narrower(vd, group, register, index_group)?;
                    }
                    std::cmp::Ordering::Greater => self.wider(vd, group, register, index_group)?,
                    std::cmp::Ordering::Equal => {}
                }
            }
        }
        Ok(())
    }

    /// Accesses the elements of all segments, one after the other.
    fn access_elements(&mut self, access: Access, memory: &mut impl VectorMemory) -> Executed {
        let Access {
            fields,
            bytes,
            count,
            ..
        } = access;
        let is_plain = matches!(access.addresses, Addresses::Stride(step) if step == bytes as u64);
        if is_plain && count == 1 && fields.is_unmasked() {
            return self.access_run(access, memory);
        }
        if access.is_store && !access.is_ordered && self.agnostic == Agnostic::Ones {
            return self.store_backwards(access, memory);
        }
        if let Addresses::Stride(step) = access.addresses
            && count == 1
            && fields.is_unmasked()
        {
            return match bytes {
                1 => self.access_strided::<1>(access, step, memory),
                2 => self.access_strided::<2>(access, step, memory),
                4 => self.access_strided::<4>(access, step, memory),
                _ => self.access_strided::<8>(access, step, memory),
            };
        }
        let fills = self.fills_inactive() && !access.is_store;
        for idx in self.vstart..self.vl {
            if !self.is_active(fields, idx) {
                for field in 0..count {
                    if fills {
                        self.fill_element(self.field(access, field), bytes, idx);
                    }
                }
                continue;
            }
            // An exception leaves what has been done, and goes on here.
            self.access_segment(access, idx, memory)
                .inspect_err(|_| self.vstart = idx)?;
        }
        self.finish_access(access);
        Ok(())
    }

    /// Stores the elements of all segments, the last one first: which of those that overlap stays
    /// is not said, and a program may not rely on it.
    fn store_backwards(&mut self, access: Access, memory: &mut impl VectorMemory) -> Executed {
        for idx in (self.vstart..self.vl).rev() {
            if self.is_active(access.fields, idx)
                && self.access_segment(access, idx, memory).is_err()
            {
                // Up to the element at fault it happens all the same.
                let ordered = Access {
                    is_ordered: true,
                    ..access
                };
                return self.access_elements(ordered, memory);
            }
        }
        Ok(())
    }

    /// Returns the first register of a field's group.
    fn field(&self, access: Access, field: usize) -> usize {
        access.fields.vd() + (field << access.group.max(0))
    }

    fn address(&self, access: Access, idx: usize) -> u64 {
        match access.addresses {
            Addresses::Stride(step) => access.base.wrapping_add(step.wrapping_mul(idx as u64)),
            Addresses::Indices { register, bytes } => {
                access.base.wrapping_add(self.element(register, bytes, idx))
            }
        }
    }

    pub(super) fn access_segment(
        &mut self,
        access: Access,
        idx: usize,
        memory: &mut impl VectorMemory,
    ) -> Executed {
        let Access { bytes, count, .. } = access;
        let first = self.address(access, idx);
        for field in 0..count {
            let address = first.wrapping_add((field * bytes) as u64);
            let at = self.field(access, field) * self.register_bytes + idx * bytes;
            let element = &mut self.registers[at..at + bytes];
            let done = if access.is_store {
                memory.store(address, element, bytes)
            } else {
                memory.load(address, element, bytes)
            };
            done.map_err(Refusal::Trap)?;
        }
        Ok(())
    }

    /// Fills the tails of what a load has written.
    pub(super) fn finish_access(&mut self, access: Access) {
        if access.is_store || !self.has_body() {
            return;
        }
        for field in 0..access.count {
            let vd = self.field(access, field);
            match access.bytes {
                1 => self.finish_tail::<1>(vd, access.group),
                2 => self.finish_tail::<2>(vd, access.group),
                4 => self.finish_tail::<4>(vd, access.group),
                _ => self.finish_tail::<8>(vd, access.group),
            }
        }
    }

    /// Loads as far as memory allows: only the first element raises an exception. Active elements
    /// behind those that are loaded may be written over, whatever the policy for tails is.
    ///
    /// It is cut where there is no memory, not where a rule of the surroundings forbids what
    /// hardware would not notice: what lies there is then anything, and may not be relied on.
    fn load_first(&mut self, access: Access, memory: &mut impl VectorMemory) -> Executed {
        self.has_loaded_first = true;
        let asked = self.vl;
        let told = match self.first_loads {
            FirstLoads::Half | FirstLoads::HalfBehindWhole if self.vstart == 0 => asked.div_ceil(2),
            _ => asked,
        };
        let (mut vl, fetched) = match self.first_loads {
            FirstLoads::HalfBehindWhole => (told, asked),
            FirstLoads::Whole | FirstLoads::Half => (told, told),
        };
        let mut loaded = fetched;
        for idx in self.vstart..fetched {
            if !self.is_active(access.fields, idx) {
                continue;
            }
            match self.access_segment(access, idx, memory) {
                Err(Refusal::Trap(trap)) if idx > 0 && trap.handled.is_some() => {
                    (vl, loaded) = (vl.min(idx), idx);
                    break;
                }
                Err(Refusal::Trap(_)) if idx > 0 => self.load_anything(access, idx),
                done => done.inspect_err(|_| self.vstart = idx)?,
            }
        }
        if self.agnostic == Agnostic::Ones {
            for idx in loaded..asked {
                let is_open = self.vtype.tail_agnostic() || self.is_active(access.fields, idx);
                for field in (0..access.count).filter(|_| is_open) {
                    self.fill_element(self.field(access, field), access.bytes, idx);
                }
            }
        }
        self.finish_access(access);
        self.vl = vl;
        Ok(())
    }

    /// Fills the elements of a segment with what its address decides, or with what agnostic
    /// elements are filled with in place of ones.
    fn load_anything(&mut self, access: Access, idx: usize) {
        let bytes = access.bytes;
        let address = self.address(access, idx);
        for field in 0..access.count {
            if self.is_filled_anew() {
                self.fill_element(self.field(access, field), bytes, idx);
                continue;
            }
            let noise =
                (address.wrapping_add((field * bytes) as u64)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.set_element(self.field(access, field), bytes, idx, noise >> 8);
        }
    }

    /// Loads or stores whole registers, whatever the configuration is.
    fn access_registers(
        &mut self,
        fields: Fields,
        base: u64,
        width: usize,
        memory: &mut impl VectorMemory,
    ) -> Executed {
        let count = fields.get(31, 29) + 1;
        let is_store = fields.get(6, 0) == 0x27;
        self.has_shown_length = true;
        self.whole_accesses += 1;
        let is_known = fields.is_unmasked() && count.is_power_of_two() && (!is_store || width == 1);
        ensure(is_known, "no vector load or store has this encoding")?;
        self.aligned(fields.vd(), count.ilog2() as i32)?;
        let total = count * self.register_bytes / width;
        let begin = fields.vd() * self.register_bytes;
        for idx in self.vstart.min(total)..total {
            let element = &mut self.registers[begin + idx * width..begin + (idx + 1) * width];
            let address = base.wrapping_add((idx * width) as u64);
            let done = if is_store {
                memory.store(address, element, width)
            } else {
                memory.load(address, element, width)
            };
            done.map_err(|trap| {
                self.vstart = idx;
                Refusal::Trap(trap)
            })?;
        }
        Ok(())
    }

    /// Loads or stores as many bytes as hold a mask of `vl` elements.
    fn access_mask(
        &mut self,
        fields: Fields,
        base: u64,
        width: usize,
        memory: &mut impl VectorMemory,
    ) -> Executed {
        let is_plain = width == 1 && fields.is_unmasked() && fields.get(31, 29) == 0;
        if !is_plain {
            return Err(UNKNOWN);
        }
        let vl = std::mem::replace(&mut self.vl, 0);
        let access = Access {
            fields,
            base,
            addresses: Addresses::Stride(1),
            bytes: 1,
            group: 0,
            count: 1,
            is_store: fields.get(6, 0) == 0x27,
            is_ordered: true,
        };
        self.vl = vl.div_ceil(8);
        let done = self.access_run(access, memory);
        self.vl = vl;
        done
    }
}
