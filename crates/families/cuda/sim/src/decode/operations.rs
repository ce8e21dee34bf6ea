//! What instructions do, taken apart.

use crate::ptx::{Line, Space};

/// What bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Num {
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F16x2,
    Bf16,
    Bf16x2,
    F32,
    F64,
}

impl Num {
    /// Returns the size in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::F16 | Self::Bf16 => 2,
            Self::U32 | Self::S32 | Self::F16x2 | Self::Bf16x2 | Self::F32 => 4,
            Self::U64 | Self::S64 | Self::F64 => 8,
        }
    }

    /// Returns whether it counts integers below zero.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// Returns whether it is a float of any width, alone or in pairs.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::F16x2 | Self::Bf16 | Self::Bf16x2 | Self::F32 | Self::F64
        )
    }
}

/// Operations of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Bin {
    Add,
    Sub,
    Mul,
    MulHi,
    Div,
    Rem,
    Min,
    Max,
    /// The smaller, NaN if either is.
    MinNan,
    /// The larger, NaN if either is.
    MaxNan,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    CopySign,
}

/// Operations of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Un {
    Neg,
    Not,
    Cnot,
    Abs,
    Popc,
    Clz,
    Brev,
    Bfind,
    /// How far the bit that `Bfind` finds is from the highest one.
    BfindShift,
    Sqrt,
    Rsqrt,
    Rcp,
    Ex2,
    Lg2,
    Sin,
    Cos,
    Tanh,
}

/// Operations of three operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Tri {
    /// `a * b + c`, the low half of the product for integers, rounded once for floats.
    Mad,
    /// The same of halves, zero where it is below.
    MadRelu,
    /// The high half of `a * b`, plus `c`.
    MadHi,
    /// Bits 0 to 31 of the product of the lowest 24 bits of both, plus `c`.
    Mad24,
    /// The same with bits 16 to 47.
    Mad24Hi,
    /// The function of three bits with this table.
    Lop3(u8),
    Prmt,
    /// `Prmt` by the one of these selectors that the lowest two bits of `c` name.
    PrmtBy([u16; 4]),
    ShfLeft,
    ShfRight,
    ShfLeftWrap,
    ShfRightWrap,
    Bfe,
    Sad,
    /// Four products of bytes and a sum; whether the bytes of the first and of the second are
    /// signed.
    Dp4a(bool, bool),
    /// Two products of halves of `a` with bytes of `b`, and a sum; whether the halves and the
    /// bytes are signed, and whether the bytes are those of the upper half.
    Dp2a(bool, bool, bool),
    /// `a` where `c` is not negative, `b` elsewhere.
    Slct,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// What a float is tested for; zeros are normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Property {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// How two truths are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Junction {
    And,
    Or,
    Xor,
}

/// How results are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// To the nearest, ties away from zero.
    NearestAway,
    /// Towards zero.
    Zero,
    /// Down.
    Down,
    /// Up.
    Up,
}

/// What atomic operations do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    Cas,
    Inc,
    Dec,
}

/// How far what a thread publishes is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// By its block.
    Block,
    /// By all blocks.
    Device,
}

/// What a plain access of memory promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meant {
    /// Nothing.
    Plain,
    /// Others may use the same bytes in the same way at once (`volatile`, `relaxed`,
    /// `acquire`, `release`).
    Strong,
    /// The bytes do not change during the launch (`ld.global.nc`).
    Constant,
}

/// Whose value a thread gets from others of its warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum ShflMode {
    Up,
    Down,
    Bfly,
    Idx,
}

/// What a vote finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum VoteMode {
    All,
    Any,
    Uni,
    Ballot,
}

/// Elements of the factors of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum MatrixType {
    F16,
    Bf16,
    Tf32,
    S8,
    U8,
}

/// A part of a matrix in the registers of a warp (`wmma`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Part {
    A,
    B,
    C,
}

/// A place in memory: a register and a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The register; `None` if the distance is all.
    pub base: Option<Reg>,
    /// Bytes.
    pub offset: i64,
}

/// A register, or the place of a constant among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reg {
    /// One of up to 32 bits.
    Word(u32),
    /// One of 64 bits.
    Double(u32),
    /// One bit a thread.
    Predicate(u32),
}

/// One instruction. Registers are numbers in the file of the class that the operation says.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "fields are d, a, b and c, as in the manual of PTX"
)]
pub enum Op {
    /// Nothing that can be seen.
    Nop,
    MovWord {
        d: u32,
        a: u32,
    },
    MovDouble {
        d: u32,
        a: u32,
    },
    MovPredicate {
        d: u32,
        a: u32,
    },
    /// Cycles that the block has issued.
    Clock {
        d: Reg,
    },
    /// Puts parts of `bits` into one register, the lowest first.
    Pack {
        d: Reg,
        parts: Box<[u32]>,
        bits: u32,
    },
    /// Takes a register apart.
    Unpack {
        parts: Box<[Option<u32>]>,
        a: Reg,
        bits: u32,
    },
    Bin {
        op: Bin,
        num: Num,
        d: u32,
        a: u32,
        b: u32,
        saturate: bool,
        flush: bool,
    },
    Un {
        op: Un,
        num: Num,
        d: u32,
        a: u32,
        flush: bool,
    },
    Tri {
        op: Tri,
        num: Num,
        d: u32,
        a: u32,
        b: u32,
        c: u32,
        saturate: bool,
        flush: bool,
    },
    /// A product of twice the width.
    MulWide {
        num: Num,
        d: u32,
        a: u32,
        b: u32,
    },
    MadWide {
        num: Num,
        d: u32,
        a: u32,
        b: u32,
        c: u32,
    },
    Bfi {
        is_double: bool,
        d: u32,
        a: u32,
        b: u32,
        c: u32,
        e: u32,
    },
    Cvt {
        to: Num,
        from: Num,
        rounding: Rounding,
        to_integral: bool,
        saturate: bool,
        relu: bool,
        flush: bool,
        d: Reg,
        a: Reg,
    },
    /// Two floats into one register, `a` into the upper half.
    CvtPair {
        to: Num,
        rounding: Rounding,
        relu: bool,
        d: u32,
        a: u32,
        b: u32,
    },
    /// Rounded to the 10 bits of tf32.
    CvtTf32 {
        d: u32,
        a: u32,
    },
    Setp {
        cmp: Cmp,
        num: Num,
        d: u32,
        q: Option<u32>,
        a: u32,
        b: u32,
        with: Option<(Junction, u32, bool)>,
        flush: bool,
    },
    Testp {
        property: Property,
        num: Num,
        d: u32,
        a: u32,
    },
    Set {
        cmp: Cmp,
        num: Num,
        to_float: bool,
        d: u32,
        a: u32,
        b: u32,
        flush: bool,
    },
    SelectWord {
        d: u32,
        a: u32,
        b: u32,
        p: u32,
    },
    SelectDouble {
        d: u32,
        a: u32,
        b: u32,
        p: u32,
    },
    JoinPredicates {
        op: Junction,
        d: u32,
        a: u32,
        b: u32,
        not: [bool; 2],
    },
    Load {
        space: Space,
        bytes: u32,
        signed: bool,
        d: Box<[Reg]>,
        address: Address,
        no_l1: bool,
        meant: Meant,
    },
    Store {
        space: Space,
        bytes: u32,
        a: Box<[Reg]>,
        address: Address,
        meant: Meant,
        /// Who sees what it publishes, if it is a release.
        releases: Option<Reach>,
    },
    Atomic {
        op: AtomicOp,
        num: Num,
        space: Space,
        d: Option<u32>,
        address: Address,
        b: u32,
        c: Option<u32>,
        /// Who sees what it publishes, if it is a release.
        releases: Option<Reach>,
    },
    CopyAsync {
        bytes: u32,
        read: Option<u32>,
        to: Address,
        from: Address,
        no_l1: bool,
    },
    CopyCommit,
    /// Waits until at most so many groups are under way; `None` waits for copies without a
    /// group, too.
    CopyWait {
        groups: Option<u32>,
    },
    LoadMatrix {
        d: Box<[u32]>,
        transposed: bool,
        address: Address,
    },
    StoreMatrix {
        a: Box<[u32]>,
        transposed: bool,
        address: Address,
    },
    Mma {
        shape: [u32; 3],
        types: [MatrixType; 2],
        half_sum: bool,
        d: Box<[u32]>,
        a: Box<[u32]>,
        b: Box<[u32]>,
        c: Box<[u32]>,
    },
    WmmaLoad {
        part: Part,
        shape: [u32; 3],
        bits: u32,
        row: bool,
        d: Box<[u32]>,
        address: Address,
        space: Space,
        stride: Option<u32>,
    },
    WmmaStore {
        shape: [u32; 3],
        bits: u32,
        row: bool,
        a: Box<[u32]>,
        address: Address,
        space: Space,
        stride: Option<u32>,
    },
    WmmaMma {
        shape: [u32; 3],
        types: [MatrixType; 2],
        half: [bool; 2],
        rows: [bool; 2],
        d: Box<[u32]>,
        a: Box<[u32]>,
        b: Box<[u32]>,
        c: Box<[u32]>,
    },
    Shuffle {
        mode: ShflMode,
        d: u32,
        p: Option<u32>,
        a: u32,
        b: u32,
        c: u32,
        members: u32,
    },
    Vote {
        mode: VoteMode,
        d: u32,
        a: u32,
        not: bool,
        members: u32,
    },
    Match {
        all: bool,
        is_double: bool,
        d: u32,
        p: Option<u32>,
        a: u32,
        members: u32,
    },
    Reduce {
        op: AtomicOp,
        signed: bool,
        d: u32,
        a: u32,
        members: u32,
    },
    ActiveMask {
        d: u32,
    },
    ElectSync {
        d: Option<u32>,
        p: u32,
        members: u32,
    },
    /// Waits at a barrier of the block, or only arrives there.
    Barrier {
        number: u32,
        threads: Option<u32>,
        is_arrival: bool,
        reduce: Option<(VoteMode, bool, u32, u32, bool)>,
    },
    /// Waits for threads of the warp.
    BarrierWarp {
        members: u32,
    },
    Fence {
        device: bool,
    },
    Branch {
        target: u32,
    },
    Exit,
    Trap,
}

/// One instruction with what it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What it does.
    pub op: Op,
    /// The predicate that it depends on, and whether it runs where that is false.
    pub guard: Option<(u32, bool)>,
    /// Line of the kernel's source, 0 if it is not known.
    pub line: Line,
}
