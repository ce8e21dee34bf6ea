//! The subset of Python that kernels are written in: its text becomes a tree, which an interpreter
//! runs over Python's own values and over those that a language of kernels brings (`Foreign`).
//!
//! Nothing here knows such a language. A run is bounded in steps, values and depth, reads no clock,
//! file or environment, and reaches nothing but the device that the language brings.

mod attributes;
mod builtins;
mod calls;
mod classes;
mod comparisons;
mod device;
pub mod diagnostic;
mod dictionary;
mod expressions;
mod foreign;
mod format;
mod interpreter;
mod items;
mod loading;
mod loops;
mod lower;
mod matches;
mod methods;
mod modules;
mod names;
mod objects;
mod operators;
mod package;
mod release;
mod remedies;
mod special;
mod statements;
mod subscripts;
mod surroundings;
mod texts;
mod tree;
mod value;
mod walk;

pub use builtins::range;
pub use calls::Arguments;
pub use device::{Construct, Device};
pub use dictionary::{Dict, Key};
pub use foreign::{Foreign, Member, Operands, no_items};
pub use interpreter::{Interpreter, type_error};
pub use lower::lower;
pub use methods::method_names;
pub use modules::{find as module_attribute, is_ambient, module_of};
pub use release::Items;
pub use subscripts::{out_of_range, range_length, slice_bounds, wrap};
pub use surroundings::Surroundings;
pub use tree::{Argument, Binary, Call, Comparison, Module, Node, Unary};
pub use value::{Closure, Frame, Value, mix};
