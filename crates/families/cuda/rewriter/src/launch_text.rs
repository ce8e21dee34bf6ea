//! What is written for a launch, and what all writers need.

use crate::expression::Expression;
use crate::nest::{Nest, Point};
use crate::product::Product;
use crate::step::Step;
use autocomp_nests::Text;
use std::fmt::Display;

/// Kernels, and what the host function does with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Lines of the functions.
    pub functions: Vec<String>,
    /// Statements of the host function.
    pub host: Vec<String>,
}

impl Written {
    /// Returns one kernel that is launched once, with `blocks` blocks of `block` threads.
    pub(crate) fn launched(
        nest: &Nest,
        name: &str,
        functions: Vec<String>,
        blocks: i64,
        block: impl Display,
    ) -> Self {
        let arguments = nest.arguments_to_c();
        Self {
            functions,
            host: vec![format!("{name}<<<{blocks}, {block}>>>({arguments});")],
        }
    }
}

/// Returns declarations of the coordinates of point number `item`.
pub(crate) fn coordinates(points: &[Point], item: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut below = 1;
    for (at, point) in points.iter().enumerate().rev() {
        let whole = match below {
            1 => item.to_owned(),
            _ => format!("{item} / {below}"),
        };
        lines.push(match at {
            0 => format!("const int {} = {whole};", point.name),
            _ if below == 1 => format!("const int {} = {whole} % {};", point.name, point.extent),
            _ => format!("const int {} = ({whole}) % {};", point.name, point.extent),
        });
        below *= point.extent;
    }
    lines
}

/// Returns where the part of a block begins along one coordinate: `below` blocks lie along those
/// after the coordinate, `blocks` along the coordinate itself, each with `side` of its values, and
/// more beside them unless `is_last`.
pub(crate) fn begin_of_block(below: i64, blocks: i64, side: i64, is_last: bool) -> String {
    let mut begin = match below {
        1 => "blockIdx.x".to_owned(),
        _ => format!("blockIdx.x / {below}"),
    };
    if !is_last {
        begin = format!("{begin} % {blocks}");
    }
    match side {
        1 => begin,
        _ => format!("{begin} * {side}"),
    }
}

/// Declares where the part of a block begins along each coordinate of a product, of which it has so
/// many `rows` and `columns`; returns how many blocks there are. Others follow them if there
/// `are_more`.
pub(crate) fn begins_of_block(
    text: &mut Text,
    nest: &Nest,
    found: &Product<'_>,
    [rows, columns]: [i64; 2],
    are_more: bool,
) -> i64 {
    let mut blocks = 1;
    for (at, point) in nest.points.iter().enumerate().rev() {
        let side = if at == found.row {
            rows
        } else if at == found.column {
            columns
        } else {
            1
        };
        let of_axis = (point.extent + side - 1) / side;
        let begin = begin_of_block(blocks, of_axis, side, at == 0 && !are_more);
        text.line(&format!("const int {} = {begin};", point.name));
        blocks *= of_axis;
    }
    blocks
}

/// Neighbouring elements of an array that are computed one by one, counted by `e`, and stored at
/// once.
pub(crate) struct WideStore<'s> {
    pub array: &'s str,
    /// Type of an element, and that of all of them.
    pub kind: &'s str,
    pub wide: &'s str,
    /// Where they are until they are stored.
    pub place: &'s str,
    /// How many there are.
    pub count: i64,
    /// Alignment of the place, bytes.
    pub align: i64,
}

impl WideStore<'_> {
    /// Returns the declaration of their place.
    pub(crate) fn declaration(&self) -> String {
        let Self { kind, place, .. } = self;
        format!("__align__({}) {kind} {place}[{}];", self.align, self.count)
    }

    /// Returns the step that computes one of them.
    pub(crate) fn of_one(&self, value: &Expression) -> Step {
        Step::Assign {
            name: format!("{}[e]", self.place),
            value: value.clone(),
        }
    }

    /// Returns the statement that stores them, the first at the index `to`.
    pub(crate) fn statement(&self, to: &str) -> String {
        let Self { wide, place, .. } = self;
        format!("*({wide}*)&{}[{to}] = *({wide}*){place};", self.array)
    }
}

/// Returns the type of so many elements.
pub(crate) fn vector_type(kind: &str, vector: i64) -> Option<String> {
    let base = match kind {
        "float" => "float",
        "int" | "int32_t" => "int",
        "unsigned" | "unsigned int" | "uint32_t" => "uint",
        _ => return None,
    };
    matches!(vector, 2 | 4).then(|| format!("{base}{vector}"))
}
