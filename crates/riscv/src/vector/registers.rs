//! Which registers an instruction may name: alignment of groups and overlaps.

use super::unit::{Executed, Fields, VectorUnit, ensure};

const UNALIGNED: &str = "a register group begins at a register that is no multiple of its size";
const MASK_OVERWRITTEN: &str = "a masked instruction writes the mask `v0`";
const OVERLAP: &str = "the destination overlaps a source in a way that is not allowed";
const TOO_WIDE: &str = "elements would be wider than 64 bits, or a group larger than 8 registers";

/// Returns the registers of a group.
fn count(group: i32) -> usize {
    1 << group.max(0)
}

fn overlaps(a: usize, a_group: i32, b: usize, b_group: i32) -> bool {
    a < b + count(b_group) && b < a + count(a_group)
}

impl VectorUnit {
    pub(super) fn aligned(&self, register: usize, group: i32) -> Executed {
        ensure(group <= 3, TOO_WIDE)?;
        ensure(register.is_multiple_of(count(group)), UNALIGNED)
    }

    /// Checks a destination that is no mask.
    pub(super) fn destination(&self, fields: Fields, group: i32) -> Executed {
        self.aligned(fields.vd(), group)?;
        ensure(fields.is_unmasked() || fields.vd() != 0, MASK_OVERWRITTEN)
    }

    /// Checks a source of elements half, a quarter or an eighth as wide as the destination's, or
    /// equally wide ones.
    pub(super) fn narrower(&self, vd: usize, vd_group: i32, vs: usize, group: i32) -> Executed {
        self.aligned(vs, group)?;
        let is_highest =
            vd_group == group || group >= 0 && vs + count(group) == vd + count(vd_group);
        ensure(is_highest || !overlaps(vd, vd_group, vs, group), OVERLAP)
    }

    /// Checks a source of elements wider than the destination's.
    pub(super) fn wider(&self, vd: usize, vd_group: i32, vs: usize, group: i32) -> Executed {
        self.aligned(vs, group)?;
        ensure(vd == vs || !overlaps(vd, vd_group, vs, group), OVERLAP)
    }

    /// Checks a source that the destination may not overlap at all.
    pub(super) fn apart(&self, vd: usize, vd_group: i32, vs: usize, group: i32) -> Executed {
        self.aligned(vs, group)?;
        ensure(!overlaps(vd, vd_group, vs, group), OVERLAP)
    }

    /// Checks that elements twice as wide exist.
    pub(super) fn widens(&self) -> Executed {
        ensure(self.element_bytes() < 8 && self.group() < 3, TOO_WIDE)
    }
}
