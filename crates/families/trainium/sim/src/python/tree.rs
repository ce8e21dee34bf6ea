//! The lowered form of a kernel file: names resolved to slots, every node with its line.

use std::cell::OnceCell;
use std::rc::Rc;

use super::binding::Binding;
use super::objects::MethodKind;
use super::value::Value;
use crate::diagnostic::Failure;

/// Binary operators of Python that have a meaning here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Power,
    MatrixMultiply,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Is,
    IsNot,
    In,
    NotIn,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Negate,
    Plus,
    Invert,
    Not,
}

/// An argument of a call.
pub(crate) enum Argument {
    Positional(Node),
    Keyword(Rc<str>, Node),
    Spread(Node),
    SpreadKeywords(Node),
}

/// One piece of an f-string.
pub(crate) enum Piece {
    Text(Rc<str>),
    Value {
        node: Node,
        repr: bool,
        debug: Option<Rc<str>>,
        format: Option<Vec<Piece>>,
    },
}

/// One `for … in … if …` of a comprehension.
pub(crate) struct Clause {
    pub(crate) target: Target,
    pub(crate) iterable: Node,
    pub(crate) conditions: Vec<Node>,
}

/// What a comprehension builds.
pub(crate) enum Built {
    List(Node),
    Set(Node),
    Dict(Node, Node),
}

/// An expression with its line.
pub(crate) struct Node {
    pub(crate) line: u32,
    pub(crate) kind: Expression,
}

/// Expressions.
pub(crate) enum Expression {
    Constant(Value),
    /// Slot of the running function.
    Local(u32),
    /// Slot of an enclosing function, `depth` functions out.
    Outer {
        depth: u32,
        slot: u32,
    },
    /// Slot of the module.
    Global(u32),
    /// A name that nothing binds.
    Unbound(Rc<str>),
    Attribute(Box<Attribute>),
    Call(Box<Call>),
    Binary(Binary, Box<Node>, Box<Node>),
    Compare(Box<Node>, Vec<(Comparison, Node)>),
    /// `and` (true) or `or`.
    Logic(bool, Vec<Node>),
    Unary(Unary, Box<Node>),
    Subscript(Box<Node>, Box<Node>),
    Slice(Option<Box<Node>>, Option<Box<Node>>, Option<Box<Node>>),
    Tuple(Vec<Node>),
    List(Vec<Node>),
    Set(Vec<Node>),
    /// A missing key is `**spread`.
    Dict(Vec<(Option<Node>, Node)>),
    Starred(Box<Node>),
    Comprehension(Box<Built>, Vec<Clause>),
    Lambda(Rc<Code>),
    Conditional(Box<Node>, Box<Node>, Box<Node>),
    Format(Vec<Piece>),
    Walrus(Target, Box<Node>),
    /// A value that a generator yields, or all of several.
    Yield(Option<Box<Node>>, bool),
    /// The first of what a generator expression gives; else the default.
    First(Box<Node>, Option<Box<Node>>),
    /// `super()` in a method of the class that the node names.
    Super(Box<Node>),
    Refused(Rc<Failure>),
}

/// `function(arguments)`.
pub(crate) struct Call {
    pub(crate) function: Node,
    pub(crate) arguments: Vec<Argument>,
    /// Of the interface that was called first.
    pub(crate) binding: OnceCell<Option<Binding>>,
}

/// `object.name`.
pub(crate) struct Attribute {
    pub(crate) object: Node,
    pub(crate) name: Rc<str>,
    /// The module that it was first asked of, and what that has, which never changes.
    pub(crate) of_module: OnceCell<(&'static str, Value)>,
}

/// Where a value is stored.
pub(crate) enum Target {
    Local(u32),
    Outer {
        depth: u32,
        slot: u32,
    },
    Global(u32),
    Subscript(Box<Node>, Box<Node>),
    Attribute(Box<Node>, Rc<str>),
    /// Unpacking; the index of the starred one, if any.
    Unpack(Vec<Target>, Option<usize>),
    Refused(Rc<Failure>),
}

/// A statement with its line.
pub(crate) struct Statement {
    pub(crate) line: u32,
    pub(crate) kind: Action,
}

/// Statements.
pub(crate) enum Action {
    Evaluate(Node),
    Assign(Vec<Target>, Node),
    Augment(Target, Binary, Node),
    If(Node, Vec<Statement>, Vec<Statement>),
    For(Target, Node, Vec<Statement>, Vec<Statement>),
    While(Node, Vec<Statement>, Vec<Statement>),
    /// Values that are entered, and the names that they get.
    With(Vec<(Node, Option<Target>)>, Vec<Statement>),
    Match(Node, Vec<Case>),
    Try(Box<Guarded>),
    Return(Option<Node>),
    Assert(Node, Option<Node>),
    Raise(Option<Node>),
    /// A function, and decorators that are functions of the file, if they turn out to be such:
    /// name and whole, innermost last.
    Define(Target, Rc<Code>, Vec<(Node, Node)>),
    Class(Target, Rc<ClassCode>),
    /// `import path` bound to a target.
    Import(Target, Rc<str>),
    /// `from path import name` bound to a target.
    ImportFrom(Target, Rc<str>, Rc<str>),
    Delete(Vec<Target>),
    Break,
    Continue,
    Pass,
    Refused(Rc<Failure>),
}

/// `try` outside of functions.
pub(crate) struct Guarded {
    pub(crate) body: Vec<Statement>,
    pub(crate) handlers: Vec<Handler>,
    /// What runs where the body ends well.
    pub(crate) rest: Vec<Statement>,
    /// What runs in any case.
    pub(crate) last: Vec<Statement>,
}

impl Guarded {
    /// Its blocks.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &[Statement]> {
        let handlers = self.handlers.iter().map(|handler| &*handler.body);
        [&*self.body, &*self.rest, &*self.last]
            .into_iter()
            .chain(handlers)
    }
}

/// One `except`.
pub(crate) struct Handler {
    /// Names of the classes of exceptions that are handled; empty where all are.
    pub(crate) classes: Vec<Rc<str>>,
    /// What the exception is bound to.
    pub(crate) name: Option<Target>,
    pub(crate) body: Vec<Statement>,
}

/// One `case` of a `match`.
pub(crate) struct Case {
    pub(crate) pattern: Pattern,
    pub(crate) guard: Option<Node>,
    pub(crate) body: Vec<Statement>,
}

/// What a `case` compares with.
pub(crate) enum Pattern {
    Value(Node),
    /// `None`, `True` or `False`.
    Same(Value),
    Any(Vec<Pattern>),
    /// Whatever fits the inner pattern, under a name.
    Capture(Option<Box<Pattern>>, Option<Target>),
    /// Items; the place and the name of the starred ones, if any.
    Sequence(Vec<Pattern>, Option<(usize, Option<Target>)>),
    /// Objects of a class.
    Class(Node),
    Refused(Rc<Failure>),
}

/// One parameter of a function.
pub(crate) struct Parameter {
    pub(crate) name: Rc<str>,
    pub(crate) slot: u32,
    pub(crate) default: Option<Node>,
}

/// A function body.
pub(crate) struct Code {
    pub(crate) name: Rc<str>,
    pub(crate) line: u32,
    pub(crate) positional: Vec<Parameter>,
    pub(crate) keyword_only: Vec<Parameter>,
    pub(crate) rest: Option<u32>,
    pub(crate) keywords: Option<u32>,
    pub(crate) slots: u32,
    pub(crate) names: Vec<Rc<str>>,
    pub(crate) body: Vec<Statement>,
    /// Whether it yields.
    pub(crate) yields: bool,
    /// Whether a decorator of NKI makes a kernel of it.
    pub(crate) is_kernel: bool,
    /// For a lambda: the value.
    pub(crate) value: Option<Node>,
}

/// A class.
pub(crate) struct ClassCode {
    pub(crate) name: Rc<str>,
    pub(crate) line: u32,
    pub(crate) bases: Vec<Node>,
    /// For a dataclass: whether its objects cannot change.
    pub(crate) dataclass: Option<bool>,
    pub(crate) members: Vec<Member>,
}

/// One name of a class.
pub(crate) struct Member {
    pub(crate) name: Rc<str>,
    pub(crate) line: u32,
    /// Whether it has a type, which makes it a field of a dataclass.
    pub(crate) annotated: bool,
    pub(crate) content: Content,
}

/// What a name of a class stands for.
pub(crate) enum Content {
    /// A value, which is stored in a hidden variable too.
    Value(Target, Node),
    /// A function that makes the value of a field for each object.
    Factory(Node),
    /// A field that must be given.
    Missing,
    Method(Rc<Code>, MethodKind),
}

/// A whole file.
pub(crate) struct Module {
    pub(crate) body: Vec<Statement>,
    pub(crate) names: Vec<Rc<str>>,
}
