//! A kernel as a program that can be run: the part of C that kernels are written in.
//!
//! Types are resolved and names become numbers while it is read, so that
//! hundreds of thousands of commands are followed in moments.

use super::Reason;

use crate::memory::{Memory, Type};

/// An expression.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Integer(i64),
    Float(f64),
    Variable(usize),
    Unary(Unary, Box<Self>),
    Binary(Binary, Box<(Self, Self)>),
    Choice(Box<(Self, Self, Self)>),
    /// The element at an address, of a type.
    Load(Box<Self>, Type),
    /// An assignment to a variable; its value is the new one.
    Assign(usize, Box<Self>),
    /// The same, but its value is the old one.
    Replace(usize, Box<Self>),
    /// A write to memory: address and value, and the type of the element.
    Store(Box<(Self, Self)>, Type),
    /// Several, of which the last is the value.
    Sequence(Vec<Self>),
    /// What an assignment leaves of a value: bytes, signed.
    Narrow(u8, bool, Box<Self>),
    /// A call of a function of the file, and the line it stands in.
    Call(usize, Vec<Self>, usize),
    /// A call of one of the accelerator's macros, and the line it stands in.
    Command(String, Vec<Self>, usize),
    /// What is not understood; it matters only if it is reached.
    Refused(Reason),
}

impl Expression {
    /// Returns its value without what finding it changes.
    pub(super) fn quiet(self) -> Self {
        let both = |both: Box<(Self, Self)>| Box::new((both.0.quiet(), both.1.quiet()));
        match self {
            Self::Assign(_, value) => value.quiet(),
            Self::Replace(slot, _) => Self::Variable(slot),
            Self::Unary(operation, inner) => Self::Unary(operation, Box::new(inner.quiet())),
            Self::Binary(operation, operands) => Self::Binary(operation, both(operands)),
            Self::Load(address, kind) => Self::Load(Box::new(address.quiet()), kind),
            Self::Narrow(bytes, signed, inner) => {
                Self::Narrow(bytes, signed, Box::new(inner.quiet()))
            }
            other => other,
        }
    }
}

/// An operation on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Unary {
    Negate,
    Invert,
    Not,
    /// The bits of a float.
    Bits,
    /// A number as a float of four bytes.
    Float,
}

/// An operation on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitOr,
    BitXor,
    Less,
    LessEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

/// A statement.
#[derive(Clone, Debug)]
pub(super) enum Statement {
    Expression(Expression),
    /// A variable comes to be, with a value or without.
    Declare(usize, Option<Expression>),
    /// An array comes to be, all zeros or with other elements.
    Clear(u64, bool),
    If(Expression, Vec<Self>, Vec<Self>),
    Loop {
        condition: Option<Expression>,
        /// The condition is asked for after the body, not before.
        after: bool,
        step: Option<Expression>,
        body: Vec<Self>,
    },
    Block(Vec<Self>),
    Return(Option<Expression>),
    Break,
    Continue,
}

/// A function of the file, or of the library.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) name: String,
    /// Its lines are not those of the file.
    pub(super) is_library: bool,
    pub(super) parameters: Vec<Type>,
    /// Variables that it has, parameters first.
    pub(super) slots: usize,
    pub(super) body: Vec<Statement>,
}

impl Program {
    /// Returns the integer of type `kind` that always is at an address.
    pub(super) fn constant(&self, address: u64, kind: &Type) -> Option<i64> {
        let (array, offset) = Memory::of(address)?;
        self.memories.get(array)?.integer(offset, kind)
    }
}

/// A whole kernel.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) functions: Vec<Function>,
    pub(super) memories: Vec<Memory>,
    /// Numbers of the arrays of the file.
    pub(super) globals: std::ops::Range<usize>,
    /// Statements of the entry function, with the bytes of the source that each takes.
    pub(super) body: Vec<(Vec<Statement>, std::ops::Range<usize>)>,
    /// Variables of the entry function.
    pub(super) slots: usize,
    /// Variables that hold the entry function's array parameters.
    pub(super) parameters: Vec<(usize, u64)>,
    /// Where the entry function begins in the source.
    pub(super) start: usize,
    /// The bytes of the source inside the braces of the entry function.
    pub(super) inside: std::ops::Range<usize>,
}
