//! How a kernel is carried out: a few numbers for each of its parts.

use super::forms::Form;
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
    /// The parts, in the order of the text.
    pub parts: Vec<Part>,
}

/// How a part is carried out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// As it is written.
    Plain,
    /// Sums of products.
    Product(Product),
    /// An innermost loop, on vectors.
    Vectors(Wide),
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
}

/// How an innermost loop is carried out on vectors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wide {
    /// Elements in a vector.
    pub lanes: u32,
    /// Vectors in one iteration, each with sums of its own.
    pub count: u32,
}

/// How a transposition is carried out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    /// Rows and columns of a tile.
    pub lanes: u32,
    /// Whether the loop over what is read side by side goes outside.
    pub columns_outside: bool,
}

/// Instructions that sum several products of narrow numbers at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dots {
    /// Four products of an unsigned and a signed byte: AVX-512 VNNI.
    BytesAvx512,
    /// The same: AVX-VNNI.
    BytesAvx,
    /// Two products of 16-bit numbers: `pmaddwd`.
    Words,
    /// Four products of signed bytes: `sdot`.
    SignedBytes,
}

impl Dots {
    /// Returns how many products one lane sums.
    #[must_use]
    pub fn group(self) -> u32 {
        match self {
            Self::Words => 2,
            Self::BytesAvx512 | Self::BytesAvx | Self::SignedBytes => 4,
        }
    }

    /// Returns the type of the operands in panels.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Words => "int16_t",
            Self::BytesAvx512 | Self::BytesAvx | Self::SignedBytes => "int8_t",
        }
    }

    /// Returns whether the operand of the rows has 128 added to it, to be unsigned.
    pub(super) fn is_shifted(self) -> bool {
        matches!(self, Self::BytesAvx512 | Self::BytesAvx)
    }

    /// Returns whether there is such an instruction for so many lanes.
    #[must_use]
    pub fn has(self, lanes: u32) -> bool {
        match self {
            Self::BytesAvx512 => [4, 8, 16].contains(&lanes),
            Self::Words => [4, 8, 16].contains(&lanes),
            Self::BytesAvx => [4, 8].contains(&lanes),
            Self::SignedBytes => lanes == 4,
        }
    }

    /// Returns the call that adds to `sum` the products of a vector of the rows'
    /// operand and one of the columns', all of them vectors of 32-bit lanes.
    pub(super) fn call(self, lanes: u32, sum: &str, rows: &str, columns: &str) -> String {
        let (bits, width) = match lanes {
            16 => ("512", "512"),
            8 => ("256", "256"),
            _ => ("", "128"),
        };
        let register = format!("__m{width}i");
        let wrap = |text: &str| format!("({register}){text}");
        let vector = format!("vector_i{lanes}");
        let (rows_wide, columns_wide) = (wrap(rows), wrap(columns));
        match self {
            Self::BytesAvx512 => format!(
                "{sum} = ({vector})_mm{bits}_dpbusd_epi32({}, {rows_wide}, {columns_wide});",
                wrap(sum)
            ),
            Self::BytesAvx => format!(
                "{sum} = ({vector})_mm{bits}_dpbusd_avx_epi32({}, {rows_wide}, {columns_wide});",
                wrap(sum)
            ),
            Self::Words => {
                format!("{sum} += ({vector})_mm{bits}_madd_epi16({rows_wide}, {columns_wide});")
            }
            Self::SignedBytes => format!(
                "{sum} = ({vector})vdotq_s32((int32x4_t){sum}, (int8x16_t){columns}, (int8x16_t){rows});"
            ),
        }
    }
}
