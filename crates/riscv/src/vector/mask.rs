//! Instructions on masks, and those that count.

use super::integer::UNKNOWN;
use super::reduction::NOT_FROM_START;
use super::unit::{Executed, Fields, Refusal, VectorUnit, ensure};

impl VectorUnit {
    /// Executes `vmand` and its like, bit by bit.
    pub(super) fn combine_masks(&mut self, fields: Fields) -> Executed {
        ensure(fields.is_unmasked(), "this instruction has no masked form")?;
        let combine: fn(bool, bool) -> bool = match fields.funct6() {
            0x18 => |a, b| a & !b,
            0x19 => |a, b| a & b,
            0x1a => |a, b| a | b,
            0x1b => |a, b| a ^ b,
            0x1c => |a, b| a | !b,
            0x1d => |a, b| !(a & b),
            0x1e => |a, b| !(a | b),
            _ => |a, b| a == b,
        };
        if !self.has_body() {
            return Ok(());
        }
        for idx in self.vstart..self.vl {
            let value = combine(self.mask(fields.vs2(), idx), self.mask(fields.vs1(), idx));
            self.set_mask(fields.vd(), idx, value);
        }
        self.finish_mask(fields.vd());
        Ok(())
    }

    /// Returns what `vcpop` or `vfirst` gives.
    pub(super) fn count(&mut self, fields: Fields) -> Result<u64, Refusal> {
        ensure(self.vstart == 0, NOT_FROM_START)?;
        let mut set = (0..self.vl)
            .filter(|idx| self.is_active(fields, *idx) && self.mask(fields.vs2(), *idx));
        Ok(match fields.vs1() {
            0x10 => set.count() as u64,
            _ => set.next().map_or(u64::MAX, |idx| idx as u64),
        })
    }

    /// Executes `vmsbf`, `vmsof`, `vmsif`, `viota` and `vid`.
    pub(super) fn scan_mask(&mut self, fields: Fields) -> Executed {
        match fields.vs1() {
            1..=3 => self.around_first(fields),
            0x10 => self.count_before(fields),
            0x11 => self.number(fields),
            _ => Err(UNKNOWN),
        }
    }

    /// Sets elements before the first one that is set, that one alone, or both.
    fn around_first(&mut self, fields: Fields) -> Executed {
        ensure(self.vstart == 0, NOT_FROM_START)?;
        let (vd, vs2) = (fields.vd(), fields.vs2());
        ensure(vd != vs2, "the destination is the source")?;
        ensure(
            fields.is_unmasked() || vd != 0,
            "a masked instruction writes the mask `v0`",
        )?;
        if self.vl == 0 {
            return Ok(());
        }
        let mut found = false;
        let fills = self.fills_inactive();
        for idx in 0..self.vl {
            if !self.is_active(fields, idx) {
                if fills {
                    let filled = self.filled_mask(vd, idx);
                    self.set_mask(vd, idx, filled);
                }
                continue;
            }
            let is_first = !found && self.mask(vs2, idx);
            let value = match fields.vs1() {
                1 => !found && !is_first,
                2 => is_first,
                _ => !found,
            };
            found |= is_first;
            self.set_mask(vd, idx, value);
        }
        self.finish_mask(vd);
        Ok(())
    }

    /// Writes how many elements before each are set and active.
    fn count_before(&mut self, fields: Fields) -> Executed {
        ensure(self.vstart == 0, NOT_FROM_START)?;
        self.destination(fields, self.group())?;
        self.apart(fields.vd(), self.group(), fields.vs2(), 0)?;
        let mut count = 0;
        self.fill(fields, |unit, idx| {
            let before = count;
            count += u64::from(unit.mask(fields.vs2(), idx));
            before
        });
        Ok(())
    }

    /// Writes the number of each element.
    fn number(&mut self, fields: Fields) -> Executed {
        ensure(fields.vs2() == 0, "`vid` names a source")?;
        self.destination(fields, self.group())?;
        self.fill(fields, |_, idx| idx as u64);
        Ok(())
    }

    pub(super) fn fills_inactive(&self) -> bool {
        self.agnostic == super::unit::Agnostic::Ones && self.vtype.mask_agnostic()
    }

    /// Writes active elements of the selected width one by one.
    pub(super) fn fill(&mut self, fields: Fields, mut value: impl FnMut(&Self, usize) -> u64) {
        if !self.has_body() {
            return;
        }
        let bytes = self.element_bytes();
        let fills = self.fills_inactive();
        for idx in self.vstart..self.vl {
            if self.is_active(fields, idx) {
                let value = value(self, idx);
                self.set_element(fields.vd(), bytes, idx, value);
            } else if fills {
                self.fill_element(fields.vd(), bytes, idx);
            }
        }
        let (vd, group) = (fields.vd(), self.group());
        match bytes {
            1 => self.finish_tail::<1>(vd, group),
            2 => self.finish_tail::<2>(vd, group),
            4 => self.finish_tail::<4>(vd, group),
            _ => self.finish_tail::<8>(vd, group),
        }
    }
}
