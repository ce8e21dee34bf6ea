//! Types that the matrix units multiply.

use crate::expression::Expression;
use crate::nest::Nest;
use crate::product::{Operand, Product, product};

/// A type of elements, and how the matrix units multiply and add it.
#[derive(Debug)]
pub(crate) struct Elements {
    /// Its names in kernels, the first one in what is written.
    names: &'static [&'static str],
    /// Bytes of an element.
    pub bytes: i64,
    /// Type of the sums.
    pub sum: &'static str,
    /// The instruction for 16x8 results.
    pub instruction: &'static str,
    /// The constraint for a sum in assembly.
    pub constraint: char,
}

const ALL: [Elements; 3] = [
    Elements {
        names: &["half", "__half"],
        bytes: 2,
        sum: "float",
        instruction: "m16n8k16.row.col.f32.f16.f16.f32",
        constraint: 'f',
    },
    Elements {
        names: &["__nv_bfloat16", "nv_bfloat16"],
        bytes: 2,
        sum: "float",
        instruction: "m16n8k16.row.col.f32.bf16.bf16.f32",
        constraint: 'f',
    },
    Elements {
        names: &["signed char", "int8_t", "char"],
        bytes: 1,
        sum: "int",
        instruction: "m16n8k32.row.col.s32.s8.s8.s32",
        constraint: 'r',
    },
];

impl Elements {
    /// Returns the name of the type.
    pub(crate) fn name(&self) -> &'static str {
        self.names[0]
    }

    /// Returns how many are copied at once: 16 bytes.
    pub(crate) fn width(&self) -> i64 {
        16 / self.bytes
    }

    /// Returns the depth of one instruction.
    pub(crate) fn depth(&self) -> i64 {
        2 * self.width()
    }

    /// Reads a product that the matrix units can do: operands of one type, of which whole copies
    /// lie side by side; the first one along the depth, and bytes both along it.
    pub(crate) fn of(nest: &Nest) -> Option<(Product<'_>, &'static Self)> {
        let found = product(nest)?;
        let is_of = |it: &&Self, operand: &Operand| it.names.contains(&operand.kind.as_str());
        let elements = ALL.iter().find(|it| is_of(it, &found.left))?;
        let is_zero = match &found.first {
            Expression::Text(text) => text.trim_end_matches('f').parse() == Ok(0.0),
            other => other.as_index().and_then(|it| it.as_constant()) == Some(0),
        };
        let width = elements.width();
        let is_wide = |operand: &Operand| found.width(nest, operand, width) == width;
        (is_of(&elements, &found.right)
            && nest.kinds.get(found.sum)? == elements.sum
            && is_zero
            && is_wide(&found.left)
            && is_wide(&found.right)
            && found.left.is_along_depth
            && (elements.bytes == 2 || found.right.is_along_depth))
            .then_some((found, elements))
    }
}
