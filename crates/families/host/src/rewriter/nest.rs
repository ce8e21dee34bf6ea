//! A loop nest that sums products, and how it may be scheduled.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A loop from zero in steps of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// The variable.
    pub variable: String,
    /// The number of iterations.
    pub extent: u32,
}

/// A sum of loop variables with coefficients, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscript {
    /// Coefficients by variable, none of them zero.
    pub terms: BTreeMap<String, i64>,
    /// The constant.
    pub constant: i64,
}

impl Subscript {
    /// Returns whether a variable occurs.
    #[must_use]
    pub fn mentions(&self, variable: &str) -> bool {
        self.terms.contains_key(variable)
    }

    /// Returns the subscript as C, with `shifts` added to variables.
    #[must_use]
    pub fn text(&self, shifts: &[(&str, u32)]) -> String {
        let mut text = String::new();
        let mut constant = self.constant;
        for (variable, coefficient) in &self.terms {
            if !text.is_empty() {
                text += " + ";
            }
            match coefficient {
                1 => text += variable,
                _ => text += &format!("{variable} * {coefficient}"),
            }
            let shift = shifts.iter().find(|(name, _)| name == variable);
            constant += shift.map_or(0, |(_, shift)| i64::from(*shift)) * coefficient;
        }
        match (text.is_empty(), constant) {
            (true, _) => constant.to_string(),
            (_, 0) => text,
            (_, 1..) => format!("{text} + {constant}"),
            (_, _) => format!("{text} - {}", -constant),
        }
    }
}

/// An element of an array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The array, a parameter of the kernel.
    pub array: String,
    /// One subscript for each dimension.
    pub subscripts: Vec<Subscript>,
}

impl Access {
    /// Returns whether a variable occurs in a subscript.
    #[must_use]
    pub fn mentions(&self, variable: &str) -> bool {
        self.subscripts
            .iter()
            .any(|subscript| subscript.mentions(variable))
    }

    /// Returns whether elements that follow one another in `variable` do so in memory.
    #[must_use]
    pub fn is_contiguous_in(&self, variable: &str) -> bool {
        let Some((last, outer)) = self.subscripts.split_last() else {
            return false;
        };
        last.terms.get(variable) == Some(&1) && !outer.iter().any(|it| it.mentions(variable))
    }

    /// Returns the access as C, with `shifts` added to variables.
    #[must_use]
    pub fn text(&self, shifts: &[(&str, u32)]) -> String {
        let subscripts: String = self
            .subscripts
            .iter()
            .map(|subscript| format!("[{}]", subscript.text(shifts)))
            .collect();
        format!("{}{subscripts}", self.array)
    }
}

/// What is summed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expression {
    /// An element of an array.
    Read(Access),
    /// A number, as it is written.
    Number(String),
    /// Two operands and `+`, `-` or `*`.
    Binary(Box<Expression>, char, Box<Expression>),
}

impl Expression {
    /// Returns the elements that are read, in the order of the text.
    #[must_use]
    pub fn reads(&self) -> Vec<&Access> {
        match self {
            Self::Read(access) => vec![access],
            Self::Number(_) => Vec::new(),
            Self::Binary(left, _, right) => [left.reads(), right.reads()].concat(),
        }
    }
}

/// A nest of loops, each iteration of the outer ones of which computes one
/// element of an output as a sum over the inner ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nest {
    /// Everything up to the opening brace of the kernel.
    pub head: String,
    /// Type of the elements of each array.
    pub types: BTreeMap<String, String>,
    /// Loops whose iterations do not depend on one another, outermost first.
    pub parallel: Vec<Loop>,
    /// Loops that the sums run over, outermost first.
    pub reduction: Vec<Loop>,
    /// Type of the sums (`float`, `int32_t`).
    pub sum_type: String,
    /// What sums begin with.
    pub initial: String,
    /// What is added.
    pub term: Expression,
    /// Where a sum goes.
    pub output: Access,
}

impl Nest {
    /// Returns the loops that vectors may run over: outputs and at least one
    /// operand lie side by side in it, all others do not depend on it.
    #[must_use]
    pub fn vector_loop(&self) -> Option<&Loop> {
        self.parallel.iter().rev().find(|it| {
            let reads = self.term.reads();
            let side_by_side = |access: &&Access| access.is_contiguous_in(&it.variable);
            let fits = |access: &&Access| side_by_side(access) || !access.mentions(&it.variable);
            side_by_side(&&self.output) && reads.iter().any(side_by_side) && reads.iter().all(fits)
        })
    }

    /// Returns the loops that rows of a register tile may be taken from, those
    /// first in which operands of the vector loop are used again.
    #[must_use]
    pub fn row_loops(&self) -> Vec<&Loop> {
        let Some(vector) = self.vector_loop() else {
            return Vec::new();
        };
        let reads = self.term.reads();
        let uses_again = |it: &&Loop| {
            let vectors = reads
                .iter()
                .filter(|access| access.mentions(&vector.variable));
            !vectors
                .into_iter()
                .any(|access| access.mentions(&it.variable))
        };
        let others = self
            .parallel
            .iter()
            .rev()
            .filter(|it| it.variable != vector.variable);
        others.filter(uses_again).collect()
    }
}

/// How a nest is carried out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// Elements of the sums' type in a vector.
    pub lanes: u32,
    /// Rows of a register tile.
    pub rows: u32,
    /// Vectors side by side in a register tile.
    pub columns: u32,
    /// Whether vector operands are copied into panels as wide as a tile first.
    pub pack_columns: bool,
    /// Whether the other operands are copied into panels as high as a tile.
    pub pack_rows: bool,
    /// Whether the loop over rows goes outside that over columns.
    pub rows_outside: bool,
    /// Iterations of the innermost reduction that are written out.
    pub unroll: u32,
}
