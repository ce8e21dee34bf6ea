//! Shapes of the expressions of a kernel, found by going through it once without running it.
//!
//! Loop variables stay symbols: whole numbers are sums of multiples of them. What is not
//! understood has no value, and transformations leave it alone.

mod affine;
mod calls;
mod expressions;
mod walk;

use std::collections::{BTreeMap, HashMap};

use ruff_python_ast::{self as ast, Expr};
use ruff_text_size::{Ranged, TextRange};

use super::source::Source;
pub(super) use affine::Affine;
use walk::Walk;

/// Where a tensor lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    Main,
    Sbuf,
    Psum,
}

/// A tensor as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) shape: Vec<i64>,
    pub(crate) memory: Memory,
    /// Name of the type, if it is known.
    pub(crate) dtype: Option<String>,
}

impl Tensor {
    /// Elements in each partition.
    pub(crate) fn free(&self) -> i64 {
        self.shape.iter().skip(1).product()
    }

    pub(crate) fn is_column(&self) -> bool {
        self.free() == 1
    }
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Whole(Affine),
    Number(f64),
    Tuple(Vec<Value>),
    /// A list of so many tiles of one shape.
    List(Tensor, i64),
    Tensor(Tensor),
    /// `nl.ds(start, size)` or a slice.
    Window(Affine, i64),
    /// An index expression of this shape.
    Index(Vec<i64>),
    Type(String),
    Unknown,
}

impl Value {
    /// The number, if it is a whole one that depends on no loop.
    pub(crate) fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(it) => it.fixed(),
            _ => None,
        }
    }
}

/// One loop.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) variable: String,
    pub(crate) trips: i64,
    /// `nl.affine_range` and the like.
    pub(crate) kind: String,
}

/// Everything that is known about a kernel.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    values: HashMap<TextRange, Value>,
    loops: HashMap<TextRange, Loop>,
    /// Where each name is bound.
    pub(crate) bound: BTreeMap<String, Vec<TextRange>>,
    /// Where each name is read.
    pub(crate) read: BTreeMap<String, Vec<TextRange>>,
    /// Names whose content is changed after they were bound, with where.
    pub(crate) changed: BTreeMap<String, Vec<TextRange>>,
    /// Whether instructions write to tiles instead of returning them.
    second_dialect: bool,
    /// Lines whose meaning is not known, from 1, with the reason.
    pub(crate) unknown: BTreeMap<u32, String>,
}

/// A parameter of the kernel: name, shape, type.
pub(crate) type Parameter = (String, Vec<i64>, String);

impl Shapes {
    pub(crate) fn of(source: &Source<'_>, parameters: &[Parameter]) -> Self {
        let mut walk = Walk {
            source,
            shapes: Self {
                second_dialect: !source.first_dialect(),
                ..Self::default()
            },
            names: HashMap::new(),
            repeated: Vec::new(),
            lists: HashMap::new(),
        };
        walk.block(source.module());
        let function = source.function();
        for (at, parameter) in function.parameters.iter_non_variadic_params().enumerate() {
            let name = parameter.parameter.name.as_str();
            let found = parameters
                .iter()
                .find(|it| it.0 == name)
                .or_else(|| parameters.get(at));
            if let (None, Some(default)) = (found, &parameter.default) {
                // What the problem does not give has its default.
                let value = walk.value(default);
                walk.names.insert(name.to_owned(), value);
            }
            if let Some((_, shape, dtype)) = found {
                let tensor = Tensor {
                    shape: shape.clone(),
                    memory: Memory::Main,
                    dtype: Some(dtype.clone()),
                };
                walk.names.insert(name.to_owned(), Value::Tensor(tensor));
            }
        }
        walk.block(&function.body);
        walk.uses(&function.body);
        walk.shapes
    }

    pub(crate) fn value(&self, expression: &Expr) -> &Value {
        self.values
            .get(&expression.range())
            .unwrap_or(&Value::Unknown)
    }

    pub(crate) fn tensor(&self, expression: &Expr) -> Option<&Tensor> {
        match self.value(expression) {
            Value::Tensor(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// A tensor in SBUF or PSUM.
    pub(crate) fn tile(&self, expression: &Expr) -> Option<&Tensor> {
        self.tensor(expression)
            .filter(|it| it.memory != Memory::Main)
    }

    pub(crate) fn is_number(&self, expression: &Expr) -> bool {
        match self.value(expression) {
            Value::Number(_) => true,
            Value::Whole(it) => it.terms.is_empty(),
            _ => false,
        }
    }

    pub(crate) fn number(&self, expression: &Expr) -> Option<f64> {
        match self.value(expression) {
            Value::Number(number) => Some(*number),
            other => other.whole().map(|it| it as f64),
        }
    }

    pub(crate) fn get_loop(&self, statement: &ast::StmtFor) -> Option<&Loop> {
        self.loops.get(&statement.range())
    }

    /// Whether a name is bound in one place and no other.
    pub(crate) fn bound_once(&self, name: &str) -> bool {
        self.bound.get(name).is_some_and(|it| it.len() == 1)
    }

    /// Whether a name is bound once and what it holds is made once: where tiles are made before
    /// they are written to, by one write.
    pub(crate) fn constant(&self, name: &str) -> bool {
        let writes = self.changed.get(name).map_or(0, Vec::len);
        self.bound.get(name).is_none_or(|it| it.len() == 1)
            && writes <= usize::from(self.second_dialect)
    }

    /// Whether a name is bound once, but for sums that go on with what it holds.
    pub(crate) fn made_once(&self, name: &str) -> bool {
        let of =
            |map: &BTreeMap<String, Vec<TextRange>>| map.get(name).cloned().unwrap_or_default();
        let changed = of(&self.changed);
        let anew = |at: &TextRange| !changed.iter().any(|it| it.contains_range(*at));
        of(&self.bound).into_iter().filter(anew).count() == 1
    }

    pub(crate) fn reads(&self, name: &str) -> usize {
        self.read.get(name).map_or(0, Vec::len)
    }

    /// Whether a name stands nowhere but within a part of the text.
    pub(crate) fn only_within(&self, name: &str, within: TextRange) -> bool {
        let places = [&self.read, &self.bound, &self.changed];
        let mut all = places.iter().filter_map(|it| it.get(name)).flatten();
        all.all(|at| within.contains_range(*at))
    }

    /// Whether a name is bound or changed within a part of the text.
    pub(crate) fn touched(&self, name: &str, within: TextRange) -> bool {
        let any = |map: &BTreeMap<String, Vec<TextRange>>| {
            map.get(name)
                .is_some_and(|it| it.iter().any(|at| within.contains_range(*at)))
        };
        any(&self.bound) || any(&self.changed)
    }
}
