//! Schedules of additions on the hardware's matrix loop, which can add.

use super::address::{Blocks, Code, address};
use super::{Machine, Traffic, blocks_of};
use crate::lift::{Lifted, Operand, Operation, Work};

/// How an addition is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Strips {
    /// Tiles of a call along rows and columns.
    pub(super) tiles: [i64; 2],
    /// The outer loop goes over rows, not columns.
    pub(super) by_rows: bool,
}

/// Numbers that describe a schedule in a plan.
pub(super) const PARAMETERS: usize = 3;

impl Strips {
    pub(super) fn parameters(&self) -> Vec<i64> {
        vec![self.tiles[0], self.tiles[1], i64::from(self.by_rows)]
    }

    pub(super) fn of(parameters: &[i64]) -> Option<Self> {
        let [i, j, by_rows] = *parameters.first_chunk::<3>()?;
        Some(Self {
            tiles: [i, j],
            by_rows: by_rows != 0,
        })
    }
}

fn blocks(work: &Work, strips: &Strips, machine: &Machine) -> [Blocks<'static>; 2] {
    let of = |variable, extent, tiles: i64| Blocks {
        variable,
        from: 0,
        extent,
        size: tiles * machine.dim,
        tile: machine.dim,
    };
    [
        of("i", work.rows, strips.tiles[0]),
        of("j", work.columns, strips.tiles[1]),
    ]
}

/// Returns whether a schedule fits the machine.
pub(super) fn is_possible(work: &Work, strips: &Strips, machine: &Machine) -> bool {
    matches!(work.operation, Operation::Addition { .. })
        && !work.store.full_width
        && strips.tiles.iter().all(|tiles| (1..=1024).contains(tiles))
        && strips.tiles[0] * strips.tiles[1] * machine.dim <= machine.accumulator_rows / 2
}

/// Returns what a schedule moves.
pub(super) fn traffic(work: &Work, strips: &Strips, machine: &Machine) -> Traffic {
    let bytes = (work.rows * work.columns * machine.element) as f64;
    let [rows, columns] = blocks(work, strips, machine);
    let block = (rows.size * columns.size * machine.element) as f64;
    let width = columns.size.min(work.columns) * machine.element;
    let waste = machine.waste(width, work.columns * machine.element);
    Traffic {
        mesh: 0.0,
        bytes_in: 2.0 * bytes * waste,
        distinct_in: 2.0 * bytes * waste,
        bytes_out: bytes * waste,
        first: 2.0 * block,
        last: block,
        calls: (rows.count() * columns.count()) as f64 * machine.ranking.call_cycles,
    }
}

/// Returns all schedules of an addition that are sensible.
pub(super) fn schedules(work: &Work, machine: &Machine) -> Vec<Strips> {
    let [rows, columns] = [work.rows, work.columns].map(|extent| blocks_of(extent, machine.dim));
    let limit = machine.accumulator_rows / 2 / machine.dim;
    let mut found = Vec::new();
    for i in 1..=limit.min(rows) {
        for j in 1..=(limit / i).min(columns) {
            for by_rows in [true, false] {
                let strips = Strips {
                    tiles: [i, j],
                    by_rows,
                };
                if is_possible(work, &strips, machine) {
                    found.push(strips);
                }
            }
        }
    }
    found
}

/// Returns the schedule in words.
pub(super) fn text(lifted: &Lifted, work: &Work, strips: &Strips) -> String {
    let name = |operand: Operand| &lifted.memories[operand.array].name;
    let Operation::Addition { left, right, .. } = work.operation else {
        return String::new();
    };
    let what = match right {
        Some(right) => format!("Add {} and {}", name(left), name(right)),
        None => format!("Carry {} over", name(left)),
    };
    format!(
        "{what} by the hardware's matrix loop, {}x{} tiles per call, {} outermost.",
        strips.tiles[0],
        strips.tiles[1],
        if strips.by_rows { "rows" } else { "columns" },
    )
}

/// Writes the schedule as C.
pub(super) fn write(
    lifted: &Lifted,
    work: &Work,
    strips: &Strips,
    machine: &Machine,
    code: &mut Code,
) -> Option<()> {
    let Operation::Addition {
        left,
        right,
        factors,
    } = work.operation
    else {
        return None;
    };
    let e = machine.element;
    let [rows, columns] = blocks(work, strips, machine);
    let operands = [Some(left), right].into_iter().flatten();
    for (channel, (operand, factor)) in operands.zip(factors).enumerate() {
        code.line(&format!(
            "gemmini_extended3_config_ld({}, {}, true, {channel});",
            operand.pitch,
            super::float(factor)
        ));
    }
    if strips.by_rows {
        code.open(&[rows, columns]);
    } else {
        code.open(&[columns, rows]);
    }
    let sizes = [
        code.named("rows", rows.tiles()),
        code.named("columns", columns.tiles()),
    ]
    .join(", ");
    let missing = [
        code.named("rows_missing", rows.missing()),
        code.named("columns_missing", columns.missing()),
    ]
    .join(", ");
    let at = |operand: Operand| {
        address(
            lifted,
            operand,
            &[(rows.at(), operand.pitch), (columns.at(), e)],
        )
    };
    code.line(&format!("gemmini_loop_ws({sizes}, 0, {missing}, 0,"));
    code.line(&format!(
        "    {}, {}, 0, {},",
        at(left),
        right.map_or("0".to_owned(), at),
        at(work.output)
    ));
    code.line(&format!(
        "    {}, {}, 0, {}, 0, 0, 0, 0, 0, {}, 0, 0, 1);",
        left.pitch / e,
        right.map_or(0, |right| right.pitch / e),
        work.output.pitch / e,
        if work.store.is_relu {
            "RELU"
        } else {
            "NO_ACTIVATION"
        },
    ));
    code.close();
    Some(())
}
