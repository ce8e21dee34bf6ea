//! How a kernel is carried out: a few numbers for each of its parts.

use super::forms::Form;
use super::vectors::Dots;
use serde::{Deserialize, Serialize};

/// How a kernel is carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// What is done to the plain kernel before it is divided into parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<Form>,
    /// Iterations of a loop around several parts that each part does at once,
    /// so that what they leave lies in arrays between them; 0 for one by one.
    pub strip: u32,
    /// Whether products and sums of polynomials are fused also where each of their numbers takes a
    /// vector for that.
    #[serde(default, skip_serializing_if = "is_no")]
    pub fused: bool,
    /// The parts, in the order of the text.
    pub parts: Vec<Part>,
}

impl Schedule {
    /// Returns whether any part multiplies by reciprocals instead of dividing.
    pub(super) fn has_reciprocals(&self) -> bool {
        let is_one = |part: &Part| match part {
            Part::Vectors(wide) => wide.reciprocals,
            Part::Lengths(strips) => strips.reciprocals,
            _ => false,
        };
        self.parts.iter().any(is_one)
    }
}

/// How a part is carried out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// As the kernel has it.
    Plain,
    /// Sums of products.
    Product(Product),
    /// An innermost loop, on vectors.
    Vectors(Wide),
    /// An innermost loop, on vectors as long as is asked for.
    Lengths(Lengths),
    /// A transposition, by tiles in registers.
    Turn(Turn),
    /// Counters that are looked up, in several tables.
    Tables(u32),
    /// A loop around another one, several iterations side by side.
    Jam(u32),
}

/// How a sum of products is carried out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
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
    /// Iterations of the innermost sum that are written out.
    pub unroll: u32,
    /// Iterations of the sum in a block; 0 for all of them.
    #[serde(default)]
    pub depth: u32,
    /// Tiles of rows in a block; 0 for all of them.
    #[serde(default)]
    pub block: u32,
    /// Instructions that sum several products of narrow numbers at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dots: Option<Dots>,
    /// Whether panels of vector operands hold numbers of 16 bits, which are widened where they are
    /// multiplied.
    #[serde(default, skip_serializing_if = "is_no")]
    pub halves: bool,
}

/// How an innermost loop is carried out on vectors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wide {
    /// Elements in a vector.
    pub lanes: u32,
    /// Vectors in one iteration, each with sums of its own.
    pub count: u32,
    /// Whether to multiply by reciprocals, found by steps of Newton's method, instead of dividing.
    #[serde(default, skip_serializing_if = "is_no")]
    pub reciprocals: bool,
    /// Whether elements that lie equally far apart are loaded with a stride.
    #[serde(default, skip_serializing_if = "is_no")]
    pub strided: bool,
    /// Whether whole numbers are computed in 16 bits.
    #[serde(default, skip_serializing_if = "is_no")]
    pub halves: bool,
}

/// How an innermost loop is carried out on vectors as long as is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    /// Registers of a group that holds the widest elements: 1, 2, 4 or 8.
    pub registers: u32,
    /// Iterations of the loop around that are done side by side.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub rows: u32,
    /// Whether elements are loaded a strip ahead.
    #[serde(default, skip_serializing_if = "is_no")]
    pub ahead: bool,
    /// Whether to multiply by reciprocals, found by steps of Newton's method, instead of dividing.
    #[serde(default, skip_serializing_if = "is_no")]
    pub reciprocals: bool,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn is_no(flag: &bool) -> bool {
    !flag
}

/// How a transposition is carried out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Rows and columns of a tile.
    pub lanes: u32,
    /// Whether the loop over what is read side by side goes outside.
    pub columns_outside: bool,
    /// Whether columns are loaded with a stride instead of turning tiles.
    #[serde(default, skip_serializing_if = "is_no")]
    pub strided: bool,
    /// Rows that are stored as a segment, on vectors as long as is asked for; 0 for none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub segments: u32,
}
