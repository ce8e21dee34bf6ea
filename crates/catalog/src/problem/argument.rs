//! Values that kernels get beside their buffers.

use crate::data_type::DataType;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A value that a kernel gets by the name of a parameter: known when the kernel is built, the
/// same in all calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number, a text, true, false, several of these in brackets, `{ dtype = \"…\" }` or `{ buffer = \"…\" }`; a table that is no argument has to stand above `[arguments]`"
)]
pub enum Argument {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// Several values, in their order: a tuple.
    Several(Vec<Argument>),
    /// A type of elements: `{ dtype = "bfloat16" }`.
    Type(TypeArgument),
    /// A buffer that is read, which kernels get here and not as a parameter of its own:
    /// `{ buffer = "past_k" }`.
    Buffer(BufferArgument),
}

/// The form in which a description names a type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TypeArgument {
    /// The type.
    pub dtype: DataType,
}

/// The form in which a description names a buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferArgument {
    /// Its name.
    pub buffer: String,
}

impl Argument {
    /// Returns the names of the buffers in it.
    #[must_use]
    pub fn buffers(&self) -> Vec<&str> {
        match self {
            Self::Buffer(of) => vec![&of.buffer],
            Self::Several(items) => items.iter().flat_map(Self::buffers).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns how many plain values it consists of.
    #[must_use]
    pub fn values(&self) -> usize {
        match self {
            Self::Several(items) => 1 + items.iter().map(Self::values).sum::<usize>(),
            _ => 1,
        }
    }

    /// Returns whether all numbers in it are finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Number(number) => number.is_finite(),
            Self::Several(items) => items.iter().all(Self::is_finite),
            _ => true,
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Number(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Type(of) => f.write_str(of.dtype.name()),
            Self::Buffer(of) => write!(f, "the buffer {}", of.buffer),
            Self::Several(items) => {
                f.write_str("(")?;
                for (position, item) in items.iter().enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}
