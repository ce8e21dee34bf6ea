//! Classes of vector instructions that cost alike, and the registers that they read and write.

use super::unit::Fields;
use serde::{Deserialize, Serialize};

/// What a vector instruction is, for its costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum VectorClass {
    /// `vsetvli` and its like.
    Configure,
    /// Addition, subtraction, minimum, maximum, averages, saturating sums.
    Add,
    Multiply,
    Accumulate,
    /// `vnmsac`, `vnmsub`.
    AccumulateNegated,
    Logic,
    Shift,
    /// `vmerge`, `vmv.v.*`, `vfmv.v.f`.
    Merge,
    Carry,
    Extend,
    SlideUp,
    SlideDown,
    SlideOneUp,
    SlideOneDown,
    /// `vrgather.vx`, `vrgather.vi`.
    GatherOne,
    Gather,
    GatherHalves,
    Compress,
    Compare,
    WidenAdd,
    WidenAddWide,
    WidenMultiply,
    /// `vnsrl`, `vnsra`, `vnclip`.
    Narrow,
    MaskLogic,
    /// `vmsbf`, `vmsif`, `vmsof`.
    MaskScan,
    /// `vcpop`, `vfirst`.
    MaskCount,
    Iota,
    Id,
    ToScalar,
    FromScalar,
    MoveRegisters,
    Reduce,
    Divide,
    Remainder,
    FloatAdd,
    FloatMultiply,
    FloatFused,
    /// `vfnmacc`, `vfnmadd`, `vfnmsac`, `vfnmsub`.
    FloatFusedNegated,
    FloatSign,
    FloatCompare,
    FloatConvert,
    FloatConvertWiden,
    FloatConvertNarrow,
    /// `vfrec7`, `vfrsqrt7`, `vfclass`.
    FloatEstimate,
    FloatDivide,
    /// `.vf`, `vfrdiv`.
    FloatDivideScalar,
    FloatRoot,
    FloatWidenAdd,
    FloatWidenAddWide,
    FloatWidenMultiply,
    FloatToScalar,
    FloatReduce,
    FloatReduceMinmax,
    FloatReduceOrdered,
    Load,
    Store,
    LoadFirst,
    LoadMask,
    StoreMask,
    LoadRegisters,
    StoreRegisters,
    LoadStrided,
    StoreStrided,
    LoadIndexed,
    StoreIndexed,
    /// Segments of two to four fields.
    LoadSegments,
    StoreSegments,
    LoadSegmentsStrided,
    StoreSegmentsStrided,
    /// Segments of five to eight fields, and those at indices.
    LoadManyFields,
    StoreManyFields,
}

impl VectorClass {
    /// How many classes there are.
    pub const COUNT: usize = Self::StoreManyFields as usize + 1;

    /// Returns whether it loads or stores.
    #[must_use]
    pub fn is_access(self) -> bool {
        self as u8 >= Self::Load as u8
    }

    /// Returns whether it reaches for memory element by element: with a stride, by indices, or
    /// for segments.
    #[must_use]
    pub fn is_by_element(self) -> bool {
        self as u8 >= Self::LoadStrided as u8
    }

    /// Returns whether it stores.
    #[must_use]
    pub fn is_store(self) -> bool {
        use VectorClass as C;
        matches!(
            self,
            C::Store
                | C::StoreMask
                | C::StoreRegisters
                | C::StoreStrided
                | C::StoreIndexed
                | C::StoreSegments
                | C::StoreSegmentsStrided
                | C::StoreManyFields
        )
    }

    /// Returns the class of an instruction; nothing if its opcode is none of vectors. Scalar loads
    /// and stores of floats share two opcodes with those of vectors and are none.
    #[must_use]
    pub fn of_instruction(bits: u32) -> Option<Self> {
        let is_vector = match bits & 0x7f {
            0x57 => true,
            // Widths of 16 to 128 bits are those of float registers.
            0x07 | 0x27 => !(1..=4).contains(&(bits >> 12 & 7)),
            _ => false,
        };
        is_vector.then(|| Self::of(bits))
    }

    /// Returns the class of an instruction with one of the opcodes of vectors. What is no
    /// instruction has any class.
    pub(crate) fn of(bits: u32) -> Self {
        let fields = Fields(bits);
        if bits & 0x7f != 0x57 {
            return Self::of_access(fields, bits & 0x7f == 0x27);
        }
        match fields.funct3() {
            7 => Self::Configure,
            0 | 3 | 4 => Self::of_integers(fields),
            2 | 6 => Self::of_products(fields),
            funct3 => Self::of_floats(fields, funct3 == 5),
        }
    }

    fn of_integers(fields: Fields) -> Self {
        let is_vector = fields.funct3() == 0;
        match fields.funct6() {
            0x09..=0x0b => Self::Logic,
            0x0c if is_vector => Self::Gather,
            0x0c => Self::GatherOne,
            0x0e if is_vector => Self::GatherHalves,
            0x0e => Self::SlideUp,
            0x0f => Self::SlideDown,
            0x10 | 0x12 => Self::Carry,
            0x11 | 0x13 | 0x18..=0x1f => Self::Compare,
            0x17 => Self::Merge,
            0x25 | 0x28..=0x2b => Self::Shift,
            0x27 if fields.funct3() == 3 => Self::MoveRegisters,
            0x27 => Self::Multiply,
            0x2c..=0x2f => Self::Narrow,
            0x30 | 0x31 => Self::Reduce,
            _ => Self::Add,
        }
    }

    fn of_products(fields: Fields) -> Self {
        let is_vector = fields.funct3() == 2;
        match fields.funct6() {
            0x00..=0x07 if is_vector => Self::Reduce,
            0x0e => Self::SlideOneUp,
            0x0f => Self::SlideOneDown,
            0x10 if !is_vector => Self::FromScalar,
            0x10 if fields.vs1() == 0 => Self::ToScalar,
            0x10 => Self::MaskCount,
            0x12 => Self::Extend,
            0x14 => match fields.vs1() {
                16 => Self::Iota,
                17 => Self::Id,
                _ => Self::MaskScan,
            },
            0x17 => Self::Compress,
            0x18..=0x1f => Self::MaskLogic,
            0x20 | 0x21 => Self::Divide,
            0x22 | 0x23 => Self::Remainder,
            0x24..=0x27 => Self::Multiply,
            0x29 | 0x2d => Self::Accumulate,
            0x2b | 0x2f => Self::AccumulateNegated,
            0x30..=0x33 => Self::WidenAdd,
            0x34..=0x37 => Self::WidenAddWide,
            0x38..=0x3f => Self::WidenMultiply,
            _ => Self::Add,
        }
    }

    fn of_floats(fields: Fields, is_scalar: bool) -> Self {
        match fields.funct6() {
            0x01 | 0x31 if !is_scalar => Self::FloatReduce,
            0x05 | 0x07 if !is_scalar => Self::FloatReduceMinmax,
            0x03 | 0x33 if !is_scalar => Self::FloatReduceOrdered,
            0x08..=0x0a => Self::FloatSign,
            0x0e => Self::SlideOneUp,
            0x0f => Self::SlideOneDown,
            0x10 if is_scalar => Self::FromScalar,
            0x10 => Self::FloatToScalar,
            0x12 => match fields.vs1() >> 3 {
                0 => Self::FloatConvert,
                1 => Self::FloatConvertWiden,
                _ => Self::FloatConvertNarrow,
            },
            0x13 if fields.vs1() == 0 => Self::FloatRoot,
            0x13 => Self::FloatEstimate,
            0x17 => Self::Merge,
            0x18..=0x1f => Self::FloatCompare,
            0x20 | 0x21 if is_scalar => Self::FloatDivideScalar,
            0x20 => Self::FloatDivide,
            0x24 => Self::FloatMultiply,
            0x28 | 0x2a | 0x2c | 0x2e => Self::FloatFused,
            0x29 | 0x2b | 0x2d | 0x2f => Self::FloatFusedNegated,
            0x30 | 0x32 => Self::FloatWidenAdd,
            0x34 | 0x36 => Self::FloatWidenAddWide,
            0x38 | 0x3c..=0x3f => Self::FloatWidenMultiply,
            _ => Self::FloatAdd,
        }
    }

    fn of_access(fields: Fields, is_store: bool) -> Self {
        let [load, store] = match (fields.get(27, 26), fields.vs2(), fields.get(31, 29)) {
            (0, 8, _) => [Self::LoadRegisters, Self::StoreRegisters],
            (0, 11, _) => [Self::LoadMask, Self::StoreMask],
            (0, 16, 0) => [Self::LoadFirst, Self::Store],
            (0, _, 0) => [Self::Load, Self::Store],
            (2, _, 0) => [Self::LoadStrided, Self::StoreStrided],
            (1 | 3, _, 0) => [Self::LoadIndexed, Self::StoreIndexed],
            (0, _, 1..=3) => [Self::LoadSegments, Self::StoreSegments],
            (1..=3, _, 1..=3) => [Self::LoadSegmentsStrided, Self::StoreSegmentsStrided],
            _ => [Self::LoadManyFields, Self::StoreManyFields],
        };
        if is_store { store } else { load }
    }

    /// Returns by how many powers of two the groups of the destination and of the two sources
    /// are wider than the group that is configured.
    pub(crate) fn widening(self) -> [i32; 3] {
        use VectorClass as C;
        match self {
            C::WidenAdd
            | C::WidenMultiply
            | C::FloatWidenAdd
            | C::FloatWidenMultiply
            | C::FloatConvertWiden => [1, 0, 0],
            C::WidenAddWide | C::FloatWidenAddWide => [1, 1, 0],
            C::Narrow | C::FloatConvertNarrow => [0, 1, 0],
            _ => [0; 3],
        }
    }

    /// Returns whether the result is a register of the core.
    pub(crate) fn gives_scalar(self) -> bool {
        use VectorClass as C;
        matches!(self, C::ToScalar | C::FloatToScalar | C::MaskCount)
    }

    /// Returns whether the destination is one register whatever the group is.
    pub(crate) fn gives_one_register(self) -> bool {
        use VectorClass as C;
        matches!(
            self,
            C::Compare
                | C::FloatCompare
                | C::MaskLogic
                | C::MaskScan
                | C::Reduce
                | C::FloatReduce
                | C::FloatReduceMinmax
                | C::FloatReduceOrdered
                | C::FromScalar
        )
    }

    /// Returns whether sources are one register whatever the group is.
    pub(crate) fn takes_one_register(self) -> bool {
        use VectorClass as C;
        matches!(
            self,
            C::MaskLogic | C::MaskScan | C::MaskCount | C::Iota | C::ToScalar | C::FloatToScalar
        )
    }
}
