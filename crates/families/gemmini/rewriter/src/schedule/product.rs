//! Schedules of matrix products on the hardware's loop for them.

use super::address::{Blocks, Code, address, counted, only_if};
use super::{Machine, Traffic, blocks_of};
use crate::lift::{Bias, Lifted, Operand, Operation, Work};

/// How a product is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Product {
    /// Tiles of a call along rows, columns, depth.
    pub(super) tiles: [i64; 3],
    /// The outer loop goes over rows, not columns.
    pub(super) by_rows: bool,
    /// Blocks of the input stay in the scratchpad.
    pub(super) keeps_input: bool,
    /// Blocks of the weights stay in the scratchpad.
    pub(super) keeps_weights: bool,
}

/// Numbers that describe a schedule in a plan.
pub(super) const PARAMETERS: usize = 6;

impl Product {
    pub(super) fn parameters(&self) -> Vec<i64> {
        let flag = i64::from;
        let [i, j, k] = self.tiles;
        vec![i, j, k, flag(self.by_rows), flag(self.keeps_input), flag(self.keeps_weights)]
    }

    pub(super) fn of(parameters: &[i64]) -> Option<Self> {
        let [i, j, k, by_rows, keeps_input, keeps_weights] = *parameters.first_chunk::<6>()?;
        Some(Self {
            tiles: [i, j, k],
            by_rows: by_rows != 0,
            keeps_input: keeps_input != 0,
            keeps_weights: keeps_weights != 0,
        })
    }
}

struct Parts {
    input: Operand,
    weights: Operand,
    depth: i64,
}

fn parts(work: &Work) -> Option<Parts> {
    match work.operation {
        Operation::Product {
            input,
            weights,
            depth,
        } => Some(Parts {
            input,
            weights,
            depth,
        }),
        _ => None,
    }
}

fn blocks(work: &Work, depth: i64, schedule: &Product, machine: &Machine) -> [Blocks<'static>; 3] {
    let of = |variable, extent, tiles: i64| Blocks {
        variable,
        extent,
        size: tiles * machine.dim,
        tile: machine.dim,
    };
    let [i, j, k] = schedule.tiles;
    [of("i", work.rows, i), of("j", work.columns, j), of("k", depth, k)]
}

/// Returns whether a schedule fits the machine and keeps what it says.
pub(super) fn is_possible(work: &Work, schedule: &Product, machine: &Machine) -> bool {
    let Some(Parts { depth, .. }) = parts(work) else {
        return false;
    };
    let [i, j, k] = schedule.tiles;
    if [i, j, k].iter().any(|tiles| !(1..=1024).contains(tiles)) {
        return false;
    }
    let [rows, columns, slices] = blocks(work, depth, schedule, machine).map(|b| b.count());
    let may_stay = |is_outer: bool, own: i64| {
        if is_outer {
            // The inner loop takes the same blocks again.
            slices <= 2
        } else {
            own * slices <= 2
        }
    };
    i * j * machine.dim <= machine.accumulator_rows / 2
        && (i * k + k * j) * machine.dim <= machine.scratchpad_rows / 2
        && (!schedule.keeps_input || may_stay(schedule.by_rows, rows) && 1 < columns)
        && (!schedule.keeps_weights || may_stay(!schedule.by_rows, columns) && 1 < rows)
}

/// Returns what a schedule moves and computes.
pub(super) fn traffic(work: &Work, schedule: &Product, machine: &Machine) -> Option<Traffic> {
    let Parts { depth, .. } = parts(work)?;
    let all = blocks(work, depth, schedule, machine);
    let [row_blocks, column_blocks, slices] = all.map(|block| block.count());
    let dim = machine.dim;
    let tiles = |extent: i64| blocks_of(extent, dim);
    let (m, n, k) = (work.rows, work.columns, depth);
    let input_times = if schedule.keeps_input { 1 } else { column_blocks };
    let weight_times = if schedule.keeps_weights { 1 } else { row_blocks };
    let e = machine.element;
    let [bi, bj, bk] = [all[0], all[1], all[2]].map(|b| b.size.min(b.extent));
    // A weight tile serves the rows of a block; while they stream the next one goes in.
    let streamed = (row_blocks - 1) * bi.max(dim) + all[0].last().max(dim);
    let mesh = (tiles(n) * tiles(k) * streamed) as f64;
    Some(Traffic {
        mesh,
        bytes_in: (input_times * m * k + weight_times * k * n) as f64 * e as f64,
        distinct_in: (m * k + k * n) as f64 * e as f64,
        bytes_out: (m * n) as f64 * e as f64,
        first: ((bi * bk.min(4 * dim) + bk * bj) * e) as f64,
        last: (bi * bj * e) as f64,
        calls: (row_blocks * column_blocks * slices) as f64,
    })
}

/// Returns all schedules of a product that are sensible.
pub(super) fn schedules(work: &Work, machine: &Machine) -> Vec<Product> {
    let Some(Parts { depth, .. }) = parts(work) else {
        return Vec::new();
    };
    let dim = machine.dim;
    let [rows, columns, depths] = [work.rows, work.columns, depth].map(|e| blocks_of(e, dim));
    let limit = machine.accumulator_rows / 2 / dim;
    let mut found = Vec::new();
    let mut slice_sizes: Vec<i64> = (1..=depths.min(64)).map(|n| blocks_of(depths, n)).collect();
    slice_sizes.dedup();
    for i in 1..=limit.min(rows) {
        for j in 1..=(limit / i).min(columns) {
            for k in &slice_sizes {
                for choice in 0..8 {
                    let schedule = Product {
                        tiles: [i, j, *k],
                        by_rows: choice & 1 != 0,
                        keeps_input: choice & 2 != 0,
                        keeps_weights: choice & 4 != 0,
                    };
                    if is_possible(work, &schedule, machine) {
                        found.push(schedule);
                    }
                }
            }
        }
    }
    found
}

/// Returns the schedule in words.
pub(super) fn text(lifted: &Lifted, work: &Work, schedule: &Product, machine: &Machine) -> String {
    let Some(Parts { input, weights, depth }) = parts(work) else {
        return String::new();
    };
    let name = |operand: Operand| &lifted.memories[operand.array].name;
    let [i, j, k] = schedule.tiles;
    let mut text = format!(
        "Compute {} = {} x {} with the hardware's matrix loop, {i}x{j} tiles of the result and {} of depth per call, {} outermost.",
        name(work.output),
        name(input),
        name(weights),
        counted(k, "tile"),
        if schedule.by_rows { "rows" } else { "columns" },
    );
    let [_, _, slices] = blocks(work, depth, schedule, machine).map(|b| b.count());
    for (keeps, operand, is_outer) in [
        (schedule.keeps_input, input, schedule.by_rows),
        (schedule.keeps_weights, weights, !schedule.by_rows),
    ] {
        if keeps && is_outer && slices <= 2 {
            text.push_str(&format!(" A block of {} stays in the scratchpad while the inner loop takes it.", name(operand)));
        } else if keeps {
            text.push_str(&format!(" Load {} once and keep it in the scratchpad.", name(operand)));
        }
    }
    text
}

/// Writes the schedule as C.
pub(super) fn write(
    lifted: &Lifted,
    work: &Work,
    schedule: &Product,
    machine: &Machine,
    code: &mut Code,
) -> Option<()> {
    let Parts {
        input,
        weights,
        depth,
    } = parts(work)?;
    let e = machine.element;
    let all @ [rows, columns, slices] = blocks(work, depth, schedule, machine);
    let Product {
        by_rows,
        keeps_input,
        keeps_weights,
        ..
    } = *schedule;
    code.line(&format!("config_ld({}, 1.0f, {}, 0);", input.pitch, machine.dim));
    code.line(&format!("config_ld({}, 1.0f, {}, 1);", weights.pitch, machine.dim));
    if let Some(Bias { operand, is_narrow }) = work.bias {
        code.line(&format!(
            "gemmini_extended3_config_ld({}, 1.0f, {is_narrow}, 2);",
            operand.pitch
        ));
    }
    let outer = if by_rows { [rows, columns] } else { [columns, rows] };
    code.open(&[outer[0], outer[1], slices]);
    let mut named = |name: &str, value: String| {
        if value.contains('?') {
            code.line(&format!("int {name} = {value};"));
            name.to_owned()
        } else {
            value
        }
    };
    let sizes = [
        named("rows", all[0].tiles()),
        named("columns", all[1].tiles()),
        named("depth", all[2].tiles()),
        named("rows_missing", all[0].missing()),
        named("columns_missing", all[1].missing()),
        named("depth_missing", all[2].missing()),
    ]
    .join(", ");
    // Which half of the scratchpad a block that stays lies in; 0 leaves it to the hardware.
    let half = |keeps: bool, own: &Blocks<'_>| {
        if !keeps {
            "0".to_owned()
        } else if slices.count() == 2 {
            format!("1 + ({} != 0)", slices.variable)
        } else if own.count() == 1 {
            "1".to_owned()
        } else {
            format!("1 + ({} / {} & 1)", own.variable, own.size)
        }
    };
    let (half_input, half_weights) = (half(keeps_input, &rows), half(keeps_weights, &columns));
    let first_if = |keeps: bool, other: &Blocks<'_>| if keeps { other.is_first() } else { None };
    let a = only_if(
        &[first_if(keeps_input, &columns)],
        address(lifted, input, &[(rows.at(), input.pitch), (slices.at(), e)]),
    );
    let b = only_if(
        &[first_if(keeps_weights, &rows)],
        address(lifted, weights, &[(slices.at(), weights.pitch), (columns.at(), e)]),
    );
    let (d, d_stride, low) = match work.bias {
        None => ("0".to_owned(), 0, 0),
        Some(Bias { operand, is_narrow }) => {
            let width = if is_narrow { e } else { 4 };
            let from = address(
                lifted,
                operand,
                &[(rows.at(), operand.pitch), (columns.at(), width)],
            );
            (
                only_if(&[slices.is_first()], from),
                operand.pitch / width,
                i64::from(is_narrow),
            )
        }
    };
    let full = work.store.full_width;
    let width = if full { 4 } else { e };
    let c = only_if(
        &[slices.is_last()],
        address(
            lifted,
            work.output,
            &[(rows.at(), work.output.pitch), (columns.at(), width)],
        ),
    );
    // Sums begin with the bias, or with what the slices before have left.
    let adds = match (work.bias, slices.is_first()) {
        (Some(_), _) => "1".to_owned(),
        (None, None) => "0".to_owned(),
        (None, Some(_)) => format!("{} != 0", slices.variable),
    };
    code.line(&format!("gemmini_loop_ws({sizes},"));
    code.line(&format!("    {a}, {b},"));
    code.line(&format!("    {d}, {c},"));
    code.line(&format!(
        "    {}, {}, {d_stride}, {}, 0, 0, {}, {low}, {adds}, {},",
        input.pitch / e,
        weights.pitch / e,
        work.output.pitch / width,
        i64::from(full),
        if work.store.is_relu { "RELU" } else { "NO_ACTIVATION" },
    ));
    code.line(&format!("    {half_input}, {half_weights}, 0);"));
    code.close();
    Some(())
}
