//! The lowered form of a kernel file: names resolved to slots, every node with its line.

use std::cell::OnceCell;
use std::rc::Rc;

use super::objects::MethodKind;
use super::value::Value;
use crate::diagnostic::Failure;
use crate::foreign::Foreign;

/// Binary operators of Python that have a meaning here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `//`
    FloorDivide,
    /// `%`
    Modulo,
    /// `**`
    Power,
    /// `@`
    MatrixMultiply,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `is`
    Is,
    /// `is not`
    IsNot,
    /// `in`
    In,
    /// `not in`
    NotIn,
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-`
    Negate,
    /// `+`
    Plus,
    /// `~`
    Invert,
    /// `not`
    Not,
}

/// An argument of a call.
pub enum Argument<F: Foreign> {
    /// One without a name.
    Positional(Node<F>),
    /// One with a name.
    Keyword(Rc<str>, Node<F>),
    /// `*items`
    Spread(Node<F>),
    /// `**items`
    SpreadKeywords(Node<F>),
}

/// One piece of an f-string.
pub enum Piece<F: Foreign> {
    Text(Rc<str>),
    Value {
        node: Node<F>,
        repr: bool,
        debug: Option<Rc<str>>,
        format: Option<Vec<Piece<F>>>,
    },
}

/// One `for … in … if …` of a comprehension.
pub struct Clause<F: Foreign> {
    pub(crate) target: Target<F>,
    pub(crate) iterable: Node<F>,
    pub(crate) conditions: Vec<Node<F>>,
}

/// What a comprehension builds.
pub enum Built<F: Foreign> {
    List(Node<F>),
    Set(Node<F>),
    Dict(Node<F>, Node<F>),
}

/// An expression with its line.
pub struct Node<F: Foreign> {
    pub(crate) line: u32,
    pub(crate) kind: Expression<F>,
}

/// Expressions.
pub enum Expression<F: Foreign> {
    Constant(Value<F>),
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
    Attribute(Box<Attribute<F>>),
    Call(Box<Call<F>>),
    Binary(Binary, Box<Node<F>>, Box<Node<F>>),
    Compare(Box<Node<F>>, Vec<(Comparison, Node<F>)>),
    /// `and` (true) or `or`.
    Logic(bool, Vec<Node<F>>),
    Unary(Unary, Box<Node<F>>),
    Subscript(Box<Node<F>>, Box<Node<F>>),
    Slice(
        Option<Box<Node<F>>>,
        Option<Box<Node<F>>>,
        Option<Box<Node<F>>>,
    ),
    Tuple(Vec<Node<F>>),
    List(Vec<Node<F>>),
    Set(Vec<Node<F>>),
    /// A missing key is `**spread`.
    Dict(Vec<(Option<Node<F>>, Node<F>)>),
    Starred(Box<Node<F>>),
    Comprehension(Box<Built<F>>, Vec<Clause<F>>),
    Lambda(Rc<Code<F>>),
    Conditional(Box<Node<F>>, Box<Node<F>>, Box<Node<F>>),
    Format(Vec<Piece<F>>),
    Walrus(Target<F>, Box<Node<F>>),
    /// A value that a generator yields, or all of several.
    Yield(Option<Box<Node<F>>>, bool),
    /// The first of what a generator expression gives; else the default.
    First(Box<Node<F>>, Option<Box<Node<F>>>),
    /// `super()` in a method of the class that the node names.
    Super(Box<Node<F>>),
    Refused(Rc<Failure>),
}

/// `function(arguments)`.
pub struct Call<F: Foreign> {
    /// What is called.
    pub function: Node<F>,
    /// What it is called with.
    pub arguments: Vec<Argument<F>>,
    /// Of the foreign value that was called first.
    pub binding: OnceCell<Option<F::Binding>>,
}

/// `object.name`.
pub struct Attribute<F: Foreign> {
    pub(crate) object: Node<F>,
    pub(crate) name: Rc<str>,
    /// The module that it was first asked of, and what that has, which never changes.
    pub(crate) of_module: OnceCell<(&'static str, Value<F>)>,
}

/// Where a value is stored.
pub enum Target<F: Foreign> {
    Local(u32),
    Outer {
        depth: u32,
        slot: u32,
    },
    Global(u32),
    Subscript(Box<Node<F>>, Box<Node<F>>),
    Attribute(Box<Node<F>>, Rc<str>),
    /// Unpacking; the index of the starred one, if any.
    Unpack(Vec<Target<F>>, Option<usize>),
    Refused(Rc<Failure>),
}

/// A statement with its line.
pub struct Statement<F: Foreign> {
    pub(crate) line: u32,
    pub(crate) kind: Action<F>,
}

/// Statements.
pub enum Action<F: Foreign> {
    Evaluate(Node<F>),
    Assign(Vec<Target<F>>, Node<F>),
    Augment(Target<F>, Binary, Node<F>),
    If(Node<F>, Vec<Statement<F>>, Vec<Statement<F>>),
    For(Target<F>, Node<F>, Vec<Statement<F>>, Vec<Statement<F>>),
    While(Node<F>, Vec<Statement<F>>, Vec<Statement<F>>),
    /// Values that are entered, and the names that they get.
    With(Vec<(Node<F>, Option<Target<F>>)>, Vec<Statement<F>>),
    Match(Node<F>, Vec<Case<F>>),
    Try(Box<Guarded<F>>),
    Return(Option<Node<F>>),
    Assert(Node<F>, Option<Node<F>>),
    Raise(Option<Node<F>>),
    /// A function, and decorators that are functions of the file, if they turn out to be such:
    /// name and whole, innermost last.
    Define(Target<F>, Rc<Code<F>>, Vec<(Node<F>, Node<F>)>),
    Class(Target<F>, Rc<ClassCode<F>>),
    /// `import path` bound to a target.
    Import(Target<F>, Rc<str>),
    /// `from path import name` bound to a target.
    ImportFrom(Target<F>, Rc<str>, Rc<str>),
    Delete(Vec<Target<F>>),
    Break,
    Continue,
    Pass,
    Refused(Rc<Failure>),
}

/// `try` outside of functions.
pub struct Guarded<F: Foreign> {
    pub(crate) body: Vec<Statement<F>>,
    pub(crate) handlers: Vec<Handler<F>>,
    /// What runs where the body ends well.
    pub(crate) rest: Vec<Statement<F>>,
    /// What runs in any case.
    pub(crate) last: Vec<Statement<F>>,
}

impl<F: Foreign> Guarded<F> {
    /// Its blocks.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &[Statement<F>]> {
        let handlers = self.handlers.iter().map(|handler| &*handler.body);
        [&*self.body, &*self.rest, &*self.last]
            .into_iter()
            .chain(handlers)
    }
}

/// One `except`.
pub struct Handler<F: Foreign> {
    /// Names of the classes of exceptions that are handled; empty where all are.
    pub(crate) classes: Vec<Rc<str>>,
    /// What the exception is bound to.
    pub(crate) name: Option<Target<F>>,
    pub(crate) body: Vec<Statement<F>>,
}

/// One `case` of a `match`.
pub struct Case<F: Foreign> {
    pub(crate) pattern: Pattern<F>,
    pub(crate) guard: Option<Node<F>>,
    pub(crate) body: Vec<Statement<F>>,
}

/// What a `case` compares with.
pub enum Pattern<F: Foreign> {
    Value(Node<F>),
    /// `None`, `True` or `False`.
    Same(Value<F>),
    Any(Vec<Pattern<F>>),
    /// Whatever fits the inner pattern, under a name.
    Capture(Option<Box<Pattern<F>>>, Option<Target<F>>),
    /// Items; the place and the name of the starred ones, if any.
    Sequence(Vec<Pattern<F>>, Option<(usize, Option<Target<F>>)>),
    /// Objects of a class.
    Class(Node<F>),
    Refused(Rc<Failure>),
}

/// One parameter of a function.
pub struct Parameter<F: Foreign> {
    pub(crate) name: Rc<str>,
    pub(crate) slot: u32,
    pub(crate) default: Option<Node<F>>,
}

/// A function body.
pub struct Code<F: Foreign> {
    pub(crate) name: Rc<str>,
    pub(crate) line: u32,
    pub(crate) positional: Vec<Parameter<F>>,
    pub(crate) keyword_only: Vec<Parameter<F>>,
    pub(crate) rest: Option<u32>,
    pub(crate) keywords: Option<u32>,
    pub(crate) slots: u32,
    pub(crate) names: Vec<Rc<str>>,
    pub(crate) body: Vec<Statement<F>>,
    /// Whether it yields.
    pub(crate) yields: bool,
    /// Whether a decorator of the language makes a kernel of it.
    pub(crate) is_kernel: bool,
    /// For a lambda: the value.
    pub(crate) value: Option<Node<F>>,
}

/// A class.
pub struct ClassCode<F: Foreign> {
    pub(crate) name: Rc<str>,
    pub(crate) line: u32,
    pub(crate) bases: Vec<Node<F>>,
    /// For a dataclass: whether its objects cannot change.
    pub(crate) dataclass: Option<bool>,
    pub(crate) members: Vec<Member<F>>,
}

/// One name of a class.
pub struct Member<F: Foreign> {
    pub(crate) name: Rc<str>,
    pub(crate) line: u32,
    /// Whether it has a type, which makes it a field of a dataclass.
    pub(crate) annotated: bool,
    pub(crate) content: Content<F>,
}

/// What a name of a class stands for.
pub enum Content<F: Foreign> {
    /// A value, which is stored in a hidden variable too.
    Value(Target<F>, Node<F>),
    /// A function that makes the value of a field for each object.
    Factory(Node<F>),
    /// A field that must be given.
    Missing,
    Method(Rc<Code<F>>, MethodKind),
}

/// A whole file.
pub struct Module<F: Foreign> {
    pub(crate) body: Vec<Statement<F>>,
    pub(crate) names: Vec<Rc<str>>,
}
