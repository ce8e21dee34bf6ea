//! What is written for a launch, and what all writers need.

use crate::nest::Point;

/// Kernels, and what the host function does with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Lines of the functions.
    pub functions: Vec<String>,
    /// Statements of the host function.
    pub host: Vec<String>,
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
