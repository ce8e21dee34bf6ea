//! The text of a PTX module and what it is made of.

mod body;
mod directives;
mod lexer;
mod operands;
mod parser;

pub use parser::parse;

/// Why a text is no PTX that can be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("PTX line {line}: {message}")]
pub struct PtxError {
    /// Line of the PTX text, from 1.
    pub line: u32,
    /// What is wrong there.
    pub message: String,
    /// Whether the text is right, but asks for what is not simulated.
    pub is_unsupported: bool,
}

impl PtxError {
    pub(crate) fn new(line: u32, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
            is_unsupported: false,
        }
    }

    pub(crate) fn unsupported(line: u32, message: impl Into<String>) -> Self {
        Self {
            is_unsupported: true,
            ..Self::new(line, message)
        }
    }
}

/// A memory that instructions name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Any: the address decides.
    Generic,
    /// Memory of the device.
    Global,
    /// Memory of one block.
    Shared,
    /// Memory of one thread.
    Local,
    /// Constants of the module.
    Const,
    /// Arguments of the kernel.
    Param,
}

/// Widths that registers are declared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// One bit for each thread.
    Predicate,
    /// 8, 16 or 32 bits.
    Word,
    /// 64 bits.
    Double,
}

/// A variable outside of registers.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub space: Space,
    /// Alignment, bytes.
    pub align: u64,
    /// Size, bytes; 0 for shared memory whose size the launch gives.
    pub bytes: u64,
    /// What it holds at first; zeros where this is shorter than `bytes`.
    pub initial: Vec<u8>,
}

/// An argument of a kernel.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Offset in the block of arguments, bytes.
    pub offset: u64,
    /// Size, bytes.
    pub bytes: u64,
}

/// What an instruction works on, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, a special register or the name of a variable or label.
    Name(String),
    /// A register whose truth is turned (`!%p1`).
    Not(String),
    /// An integer, as 64 bits.
    Integer(u64),
    /// Bits of a float of 32 bits.
    Single(u32),
    /// Bits of a float of 64 bits.
    Double(u64),
    /// A place in memory.
    Address {
        /// Register or variable, if there is one.
        base: Option<String>,
        /// Bytes beyond it.
        offset: i64,
    },
    /// Several in braces.
    Vector(Vec<Operand>),
    /// Two results, `first|second`.
    Pair(Box<Operand>, Box<Operand>),
}

/// A line of the source of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Line(pub u32);

/// One instruction as it is written.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The predicate that it depends on, and whether it runs where that is false.
    pub guard: Option<(String, bool)>,
    /// Operation with modifiers, taken apart at the dots.
    pub words: Vec<String>,
    /// What it works on.
    pub operands: Vec<Operand>,
    /// Line of the PTX text, from 1.
    pub ptx_line: u32,
    /// Line of the kernel's source, 0 if it is not known.
    pub line: Line,
}

/// A kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name, mangled.
    pub name: String,
    /// Its arguments.
    pub parameters: Vec<Parameter>,
    /// Registers by name.
    pub registers: Vec<(String, Class)>,
    /// Variables in shared and local memory.
    pub variables: Vec<Variable>,
    /// What it does.
    pub instructions: Vec<Instruction>,
    /// Labels with the instruction that they stand before.
    pub labels: std::collections::BTreeMap<String, usize>,
    /// Most threads of a block that the kernel allows, 0 if it does not say.
    pub max_threads: u32,
    /// Blocks that an SM is to hold at once at least, 0 if it does not say.
    pub min_blocks: u32,
}

/// A PTX text taken apart.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Variables outside of kernels.
    pub variables: Vec<Variable>,
    /// Kernels in the order of the text.
    pub kernels: Vec<Kernel>,
}
