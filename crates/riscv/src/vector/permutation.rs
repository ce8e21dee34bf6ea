//! Instructions that move elements: slides, gathers, compression, whole registers.

use super::reduction::NOT_FROM_START;
use super::unit::{Executed, Fields, Operand, VectorUnit, ensure};

impl VectorUnit {
    /// Executes `vslideup`: elements move to higher places, those below `offset` stay.
    pub(super) fn slide_up(&mut self, fields: Fields, offset: u64) -> Executed {
        self.destination(fields, self.group())?;
        self.apart(fields.vd(), self.group(), fields.vs2(), self.group())?;
        let bytes = self.element_bytes();
        let first = usize::try_from(offset).unwrap_or(usize::MAX);
        let start = self.vstart;
        // Elements below the offset are no part of the body.
        self.vstart = start.max(first.min(self.vl));
        if self.vstart < self.vl {
            self.fill(fields, |unit, idx| {
                unit.element(fields.vs2(), bytes, idx - first)
            });
        } else if start < self.vl {
            self.vstart = self.vl;
            self.finish_group(fields.vd());
        }
        Ok(())
    }

    /// Executes `vslidedown`: elements move to lower places, zeros come from behind the group.
    pub(super) fn slide_down(&mut self, fields: Fields, offset: u64) -> Executed {
        self.destination(fields, self.group())?;
        self.aligned(fields.vs2(), self.group())?;
        let (bytes, most) = (self.element_bytes(), self.most());
        self.fill(fields, |unit, idx| {
            let from = (idx as u64).saturating_add(offset);
            match usize::try_from(from) {
                Ok(from) if from < most => unit.element(fields.vs2(), bytes, from),
                _ => 0,
            }
        });
        Ok(())
    }

    /// Executes `vslide1up` and its like: the scalar becomes the first element.
    pub(super) fn slide_in_below(&mut self, fields: Fields, scalar: u64) -> Executed {
        self.destination(fields, self.group())?;
        self.apart(fields.vd(), self.group(), fields.vs2(), self.group())?;
        let bytes = self.element_bytes();
        self.fill(fields, |unit, idx| match idx {
            0 => scalar,
            _ => unit.element(fields.vs2(), bytes, idx - 1),
        });
        Ok(())
    }

    /// Executes `vslide1down` and its like: the scalar becomes the last element.
    pub(super) fn slide_in_above(&mut self, fields: Fields, scalar: u64) -> Executed {
        self.destination(fields, self.group())?;
        self.aligned(fields.vs2(), self.group())?;
        let (bytes, last) = (self.element_bytes(), self.vl.saturating_sub(1));
        self.fill(fields, |unit, idx| {
            if idx == last {
                scalar
            } else {
                unit.element(fields.vs2(), bytes, idx + 1)
            }
        });
        Ok(())
    }

    /// Executes `vrgather`: every element is taken from the place that the operand names.
    pub(super) fn gather(&mut self, fields: Fields, operand: Operand) -> Executed {
        self.gather_by(fields, operand, self.element_bytes(), self.group())
    }

    /// Executes `vrgatherei16`: the places are 16-bit numbers.
    pub(super) fn gather_by_halfwords(&mut self, fields: Fields) -> Executed {
        let group = self.group() + 1 - self.element_bytes().ilog2() as i32;
        ensure(
            (-3..=3).contains(&group),
            "the group of indices would be larger than 8 registers or too small",
        )?;
        self.gather_by(fields, Operand::Vector(fields.vs1()), 2, group)
    }

    fn gather_by(
        &mut self,
        fields: Fields,
        operand: Operand,
        index_bytes: usize,
        index_group: i32,
    ) -> Executed {
        let group = self.group();
        self.destination(fields, group)?;
        self.apart(fields.vd(), group, fields.vs2(), group)?;
        if let Operand::Vector(vs1) = operand {
            self.apart(fields.vd(), group, vs1, index_group)?;
        }
        let (bytes, most) = (self.element_bytes(), self.most());
        self.fill(fields, |unit, idx| {
            let from = match operand {
                Operand::Vector(vs1) => unit.element(vs1, index_bytes, idx),
                Operand::Scalar(index) => index,
            };
            match usize::try_from(from) {
                Ok(from) if from < most => unit.element(fields.vs2(), bytes, from),
                _ => 0,
            }
        });
        Ok(())
    }

    /// Executes `vcompress`: the elements that the mask at `vs1` names, one behind the other.
    pub(super) fn compress(&mut self, fields: Fields) -> Executed {
        ensure(self.vstart == 0, NOT_FROM_START)?;
        ensure(fields.is_unmasked(), "this instruction has no masked form")?;
        let group = self.group();
        self.aligned(fields.vd(), group)?;
        self.apart(fields.vd(), group, fields.vs2(), group)?;
        self.apart(fields.vd(), group, fields.vs1(), 0)?;
        let bytes = self.element_bytes();
        let mut count = 0;
        for idx in 0..self.vl {
            if self.mask(fields.vs1(), idx) {
                let value = self.element(fields.vs2(), bytes, idx);
                self.set_element(fields.vd(), bytes, count, value);
                count += 1;
            }
        }
        if self.vl > 0 {
            // All behind the last one written is tail.
            let vl = std::mem::replace(&mut self.vl, count);
            self.finish_group(fields.vd());
            self.vl = vl;
        }
        Ok(())
    }

    /// Fills the tail of a group of elements of the selected width.
    fn finish_group(&mut self, vd: usize) {
        let group = self.group();
        match self.element_bytes() {
            1 => self.finish_tail::<1>(vd, group),
            2 => self.finish_tail::<2>(vd, group),
            4 => self.finish_tail::<4>(vd, group),
            _ => self.finish_tail::<8>(vd, group),
        }
    }

    /// Executes `vmv1r` to `vmv8r`.
    pub(super) fn move_registers(&mut self, fields: Fields) -> Executed {
        let count = fields.vs1() + 1;
        ensure(
            fields.is_unmasked() && matches!(count, 1 | 2 | 4 | 8),
            "whole registers are moved by 1, 2, 4 or 8",
        )?;
        let group = count.ilog2() as i32;
        self.aligned(fields.vd(), group)?;
        self.aligned(fields.vs2(), group)?;
        let bytes = count * self.register_bytes;
        let begin = (self.vstart * self.element_bytes()).min(bytes);
        let from = fields.vs2() * self.register_bytes;
        let to = fields.vd() * self.register_bytes + begin;
        self.registers.copy_within(from + begin..from + bytes, to);
        Ok(())
    }

    /// Executes `vmv.s.x` and `vfmv.s.f`: the first element becomes the scalar.
    pub(super) fn set_first(&mut self, fields: Fields, scalar: u64) -> Executed {
        ensure(
            fields.is_unmasked() && fields.vs2() == 0,
            "a move names a second source",
        )?;
        if self.has_body() {
            let bytes = self.element_bytes();
            self.set_element(fields.vd(), bytes, 0, scalar);
            self.finish_element(fields.vd(), bytes);
        }
        Ok(())
    }
}
