//! Functions that instructions compute: of operands, of words of memory, over the threads of a warp.

/// Operations of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum Bin {
    Add,
    Sub,
    Mul,
    MulHi,
    Div,
    /// A product with the nearest reciprocal, which is 0 from 2^126 on (`div.approx`).
    DivByReciprocal,
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

/// What a sum with a carry is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CarryOp {
    /// `a + b`.
    Add,
    /// `a - b`; the carry is what is borrowed.
    Sub,
    /// The low half of `a * b`, plus `c`.
    MadLow,
    /// The high half of `a * b`, plus `c`.
    MadHigh,
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
