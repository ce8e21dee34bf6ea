//! What instructions do, taken apart.

use super::functions::{
    AtomicOp, Bin, CarryOp, Cmp, Junction, Property, ShflMode, Tri, Un, VoteMode,
};
use super::numbers::{MatrixType, Num, Rounding};
use crate::ptx::{Line, Space};

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
    /// A sum of integers with the carry of one before it, or with one for the next; `c` is `a`
    /// where there is no third operand.
    Carry {
        op: CarryOp,
        num: Num,
        d: u32,
        a: u32,
        b: u32,
        c: u32,
        /// Predicate of the carry that comes in.
        from: Option<u32>,
        /// Predicate of the one that goes out.
        to: Option<u32>,
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
