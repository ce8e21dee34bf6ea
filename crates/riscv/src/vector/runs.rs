//! Loads and stores without a mask of elements that lie at equal distances.

use super::access::{Access, VectorMemory};
use super::unit::{Executed, Refusal, VectorUnit};

impl VectorUnit {
    /// Accesses elements that lie one behind the other in memory as in registers.
    pub(super) fn access_run(
        &mut self,
        access: Access,
        memory: &mut impl VectorMemory,
    ) -> Executed {
        if !self.has_body() {
            return Ok(());
        }
        let Access { fields, bytes, .. } = access;
        let begin = fields.vd() * self.register_bytes;
        let (from, to) = (self.vstart * bytes, self.vl * bytes);
        let run = &mut self.registers[begin + from..begin + to];
        let address = access.base.wrapping_add(from as u64);
        let whole = if access.is_store {
            memory.store(address, run, bytes)
        } else {
            memory.load(address, run, bytes)
        };
        if whole.is_err() {
            // Up to the element at fault it happens all the same.
            for idx in self.vstart..self.vl {
                self.access_segment(access, idx, memory)
                    .inspect_err(|_| self.vstart = idx)?;
            }
        }
        self.finish_access(access);
        Ok(())
    }

    /// Accesses elements of `N` bytes that lie so many bytes apart, in their order.
    pub(super) fn access_strided<const N: usize>(
        &mut self,
        access: Access,
        step: u64,
        memory: &mut impl VectorMemory,
    ) -> Executed {
        let begin = access.fields.vd() * self.register_bytes;
        let mut address = access
            .base
            .wrapping_add(step.wrapping_mul(self.vstart as u64));
        for idx in self.vstart..self.vl {
            let element = &mut self.registers[begin + idx * N..begin + (idx + 1) * N];
            let done = if access.is_store {
                memory.store(address, element, N)
            } else {
                memory.load(address, element, N)
            };
            // An exception leaves what has been done, and goes on here.
            done.map_err(|trap| {
                self.vstart = idx;
                Refusal::Trap(trap)
            })?;
            address = address.wrapping_add(step);
        }
        self.finish_access(access);
        Ok(())
    }
}
