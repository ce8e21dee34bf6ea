//! Steps of frequent instructions where no time is kept, as types: what goes on with one of them
//! needs no jump that the host would have to foresee.

use super::{access as m, float, integer as i};
use crate::record::{Below, Core, How, Record};

/// What comes next.
pub(super) trait Behind {
    /// Executes the first of these records at `now`.
    fn go(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How;
}

/// By the step of the next record.
pub(super) struct AsRecorded;

impl Behind for AsRecorded {
    #[inline(always)]
    fn go(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
        let [record, ..] = records else {
            return crate::steps::lost(core, now);
        };
        (record.step)(core, records, now, below)
    }
}

/// By a step that is known, which is that of the next record.
macro_rules! known {
    ($($operation:ident: $step:expr;)*) => {$(
        pub(super) struct $operation;

        impl Behind for $operation {
            #[inline(always)]
            fn go(core: &mut Core, records: &[Record], now: u64, below: &mut Below<'_>) -> How {
                $step(core, records, now, below)
            }
        }
    )*};
}

known! {
    Constant: i::constant::<false>;
    Addi: i::addi::<false>;
    Xori: i::xori::<false>;
    Ori: i::ori::<false>;
    Andi: i::andi::<false>;
    Slli: i::slli::<false>;
    Srli: i::srli::<false>;
    Srai: i::srai::<false>;
    Addiw: i::addiw::<false>;
    Slliw: i::slliw::<false>;
    Srliw: i::srliw::<false>;
    Sltiu: i::sltiu::<false>;
    Add: i::add::<false>;
    Sub: i::sub::<false>;
    Sltu: i::sltu::<false>;
    Xor: i::xor::<false>;
    Or: i::or::<false>;
    And: i::and::<false>;
    Addw: i::addw::<false>;
    Subw: i::subw::<false>;
    Sh1add: i::sh1add::<false>;
    Sh2add: i::sh2add::<false>;
    Sh3add: i::sh3add::<false>;
    AddUw: i::add_uw::<false>;
    Mul: i::mul::<false>;
    Mulw: i::mulw::<false>;
    Lb: m::lb::<false, { m::NOBODY }>;
    Lh: m::lh::<false, { m::NOBODY }>;
    Lw: m::lw::<false, { m::NOBODY }>;
    Ld: m::ld::<false, { m::NOBODY }>;
    Lbu: m::lbu::<false, { m::NOBODY }>;
    Lhu: m::lhu::<false, { m::NOBODY }>;
    Lwu: m::lwu::<false, { m::NOBODY }>;
    Flw: m::flw::<false, { m::NOBODY }>;
    Fld: m::fld::<false, { m::NOBODY }>;
    Sb: m::sb::<false>;
    Sh: m::sh::<false>;
    Sw: m::sw::<false>;
    Sd: m::sd::<false>;
    Fsw: m::fsw::<false>;
    Fsd: m::fsd::<false>;
    FusedSingle: float::fused_single::<false, false>;
    FusedDouble: float::fused_double::<false, false>;
}
