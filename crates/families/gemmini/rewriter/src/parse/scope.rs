//! What is known about the names in scope while a kernel is read.

use crate::affine::Affine;
use crate::condition::Condition;
use crate::kernel::Array;
use crate::value::Value;

/// Why something could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// Not understood: where in the text, and why.
    Unread(usize, String),
    /// A variable must stay in the kernel: where it is declared, and why.
    Keep(usize, String),
    /// The loop over `variable` must be read in parts, of which one begins
    /// where the variable is `at`; every iteration by itself if `each`.
    Split {
        variable: String,
        at: i64,
        each: bool,
    },
    /// The kernel takes too long to read.
    Endless,
}

pub(crate) type Read<T> = Result<T, Obstacle>;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Integer(Value),
    Pointer(Pointer),
    /// A constant array of integers, with its extents.
    Table(Vec<i64>, Vec<i64>),
    /// Text without side effects that is no integer, such as a scale.
    Text(String),
}

/// The address of an element of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// Number of the array.
    pub(super) array: usize,
    /// One index for each extent.
    pub(super) indices: Vec<Value>,
    /// How many of the indices are chosen: adding one goes on by one in the
    /// last of them.
    pub(super) level: usize,
    /// Whether adding counts bytes, since the address was made an integer.
    pub(super) bytes: bool,
}

/// A variable that goes round in a circle of values, equally far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orbit {
    pub(super) start: i64,
    pub(super) step: i64,
    pub(super) period: i64,
}

impl Orbit {
    /// Returns the value after `count` turns.
    pub(super) fn value(&self, count: &Value) -> Option<Value> {
        count.zip(&Value::constant(0), |count, _| {
            count
                .remainder_by(self.period)?
                .times(self.step)?
                .plus_constant(self.start)
        })
    }

    /// Returns after how many turns the variable is `value`.
    pub(super) fn count(&self, value: i64) -> Option<i64> {
        (0..self.period).find(|count| self.start + self.step * count == value)
    }
}

/// What is known about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// Its value; the declaration is left out.
    Known(Quantity),
    /// The declaration is left out, but the value is not known, and why.
    Unknown(String),
    /// The declaration stays, and why.
    Kept(String),
}

/// A name in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Where it is declared in the text.
    pub(super) key: usize,
    pub(super) binding: Binding,
    /// For a variable that goes round: its value is the number of turns.
    pub(super) orbit: Option<Orbit>,
}

/// A loop that is being read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) variable: String,
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) step: i64,
}

impl Quantity {
    /// Returns the integers that the quantity is made of.
    pub(super) fn parts(&self) -> Vec<Value> {
        match self {
            Self::Integer(value) => vec![value.clone()],
            Self::Pointer(pointer) => pointer.indices.clone(),
            Self::Table(..) | Self::Text(_) => Vec::new(),
        }
    }

    /// Returns the quantity with other integers.
    pub(super) fn with_parts(&self, parts: Vec<Value>) -> Self {
        match self {
            Self::Integer(value) => {
                Self::Integer(parts.into_iter().next().unwrap_or_else(|| value.clone()))
            }
            Self::Pointer(pointer) => Self::Pointer(Pointer {
                indices: parts,
                ..pointer.clone()
            }),
            Self::Table(..) | Self::Text(_) => self.clone(),
        }
    }

    /// Returns whether the quantities differ in integers only.
    pub(super) fn same_kind(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(_), Self::Integer(_)) => true,
            (Self::Pointer(one), Self::Pointer(two)) => {
                (one.array, one.level, one.bytes) == (two.array, two.level, two.bytes)
            }
            _ => self == other,
        }
    }

    /// Returns `condition ? self : other`, if it can be expressed.
    pub(super) fn choose(&self, condition: &Condition, other: &Self) -> Option<Self> {
        if self == other {
            return Some(self.clone());
        }
        if !self.same_kind(other) {
            return None;
        }
        let parts = self
            .parts()
            .into_iter()
            .zip(other.parts())
            .map(|(then, otherwise)| {
                if then == otherwise {
                    return Some(then);
                }
                Value::select(condition.clone(), then, otherwise)
            })
            .collect::<Option<Vec<_>>>()?;
        Some(self.with_parts(parts))
    }
}

impl Pointer {
    /// Returns the number of the array.
    pub(crate) fn array(&self) -> usize {
        self.array
    }

    /// Returns one index for each extent of the array.
    pub(crate) fn indices(&self) -> &[Value] {
        &self.indices
    }

    /// Returns the pointer with every index changed by `change`.
    pub(crate) fn with_indices(mut self, change: impl Fn(&Value) -> Value) -> Self {
        self.indices = self.indices.iter().map(change).collect();
        self
    }

    /// Returns the C text of the address.
    pub(super) fn to_c(&self, arrays: &[Array]) -> String {
        let name = arrays
            .get(self.array)
            .map_or("", |array| array.name.as_str());
        let zero = Value::constant(0);
        if self.level == 1 && !self.bytes && self.indices.iter().all(|index| *index == zero) {
            return name.to_owned();
        }
        let indices = self.indices.iter().take(self.level);
        let text: String = indices
            .map(|index| match index {
                Value::Plain(affine) => format!("[{}]", affine.to_c()),
                select => format!("[{}]", select.to_c_operand()),
            })
            .collect();
        match self.bytes {
            true => format!("((uint64_t)&{name}{text})"),
            false => format!("(&{name}{text})"),
        }
    }
}

/// Returns `value` with `by` in the place of the variable `name`.
pub(super) fn substituted(value: &Value, name: &str, by: &Affine) -> Option<Value> {
    Some(match value {
        Value::Plain(affine) => Value::Plain(affine.substitute(name, by)?),
        Value::Select(condition, then, otherwise) => Value::select(
            condition.substitute(name, by)?,
            Value::Plain(then.substitute(name, by)?),
            Value::Plain(otherwise.substitute(name, by)?),
        )?,
    })
}

/// Returns whether the variable `name` occurs in `value`.
pub(super) fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::Plain(affine) => affine.mentions(name),
        Value::Select(condition, then, otherwise) => {
            condition.mentions(name) || then.mentions(name) || otherwise.mentions(name)
        }
    }
}
