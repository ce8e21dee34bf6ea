//! Schedules of matrix products on the hardware's loop for them.

use super::address::{Blocks, Code, address, counted, only_if};
use super::{Machine, Traffic, blocks_of};
use crate::lift::{Bias, Lifted, Operand, Operation, Repeat, Work};

/// How a product is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Product {
    /// Tiles of a call along rows, columns, depth.
    pub(super) tiles: [i64; 3],
    /// The outer loop goes over rows, not columns.
    pub(super) by_rows: bool,
    /// The outer loop goes over pairs of column blocks, the inner one over the two.
    pub(super) by_pairs: bool,
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
        vec![
            i,
            j,
            k,
            flag(self.by_rows) + 2 * flag(self.by_pairs),
            flag(self.keeps_input),
            flag(self.keeps_weights),
        ]
    }

    pub(super) fn of(parameters: &[i64]) -> Option<Self> {
        let [i, j, k, order, keeps_input, keeps_weights] = *parameters.first_chunk::<6>()?;
        Some(Self {
            tiles: [i, j, k],
            by_rows: order == 1,
            by_pairs: order == 2,
            keeps_input: keeps_input != 0,
            keeps_weights: keeps_weights != 0,
        })
    }
}

struct Parts {
    input: Operand,
    weights: Operand,
    depth: i64,
    turned: [bool; 2],
    factors: [f32; 2],
}

fn parts(work: &Work) -> Option<Parts> {
    match work.operation {
        Operation::Product {
            input,
            weights,
            depth,
            turned,
            factors,
        } => Some(Parts {
            input,
            weights,
            depth,
            turned,
            factors,
        }),
        _ => None,
    }
}

fn blocks(work: &Work, depth: i64, schedule: &Product, machine: &Machine) -> [Blocks<'static>; 3] {
    let of = |variable, extent, tiles: i64| Blocks {
        variable,
        from: 0,
        extent,
        size: tiles * machine.dim,
        tile: machine.dim,
    };
    let [i, j, k] = schedule.tiles;
    [
        of("i", work.rows, i),
        of("j", work.columns, j),
        of("k", depth, k),
    ]
}

/// Returns whether a schedule fits the machine and keeps what it says.
pub(super) fn is_possible(work: &Work, schedule: &Product, machine: &Machine) -> bool {
    let Some(Parts { depth, turned, .. }) = parts(work) else {
        return false;
    };
    // At rest in the array, weights are transposed only if the input is not.
    if turned == [true; 2] {
        return false;
    }
    let [i, j, k] = schedule.tiles;
    if [i, j, k].iter().any(|tiles| !(1..=1024).contains(tiles)) {
        return false;
    }
    let [rows, columns, slices] = blocks(work, depth, schedule, machine).map(|b| b.count());
    if schedule.by_pairs
        && (schedule.by_rows || !schedule.keeps_weights || slices != 1 || columns <= 2)
    {
        return false;
    }
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
        && (!schedule.keeps_input
            || may_stay(schedule.by_rows || schedule.by_pairs, rows) && 1 < columns)
        && (!schedule.keeps_weights || may_stay(!schedule.by_rows, columns) && 1 < rows)
}

/// Returns what a schedule moves and computes.
pub(super) fn traffic(work: &Work, schedule: &Product, machine: &Machine) -> Option<Traffic> {
    let Parts { depth, turned, .. } = parts(work)?;
    let costs = &machine.ranking.products;
    let times = work.repeat.count as f64;
    let all = blocks(work, depth, schedule, machine);
    let [row_blocks, column_blocks, slices] = all.map(|block| block.count());
    let dim = machine.dim;
    let tiles = |extent: i64| blocks_of(extent, dim);
    let (m, n, k) = (work.rows, work.columns, depth);
    let input_times = if schedule.keeps_input && schedule.by_pairs {
        (column_blocks + 1) / 2
    } else if schedule.keeps_input {
        1
    } else {
        column_blocks
    };
    let weight_times = if schedule.keeps_weights {
        1
    } else {
        row_blocks
    };
    let e = machine.element;
    let [bi, bj, bk] = [all[0], all[1], all[2]].map(|b| b.size.min(b.extent));
    // A weight tile serves the rows of a block; while they stream the next one goes in.
    let streamed = (row_blocks - 1) * bi.max(dim) + all[0].last().max(dim);
    let mut mesh = (tiles(n) * tiles(k) * streamed) as f64;
    if turned[1] {
        mesh *= costs.turned_factor;
    }
    if schedule.tiles[0] == 1 {
        mesh *= costs.single_row_factor;
    }
    // Operands of one product are read together if each has a bank to itself.
    let [i, j, depth_tiles] = schedule.tiles;
    if machine.bank_rows < (i * depth_tiles).max(depth_tiles * j) * dim {
        mesh *= costs.shared_bank_factor;
    }
    for block in all {
        if block.last() != block.size.min(block.extent) {
            mesh *= costs.uneven_factor;
        }
    }
    let waste = |width: i64, whole: i64| machine.waste(width * e, whole * e);
    let (wide_k, wide_n) = (waste(bk, k), waste(bj, n));
    let blocks = (row_blocks * column_blocks) as f64;
    let bytes_in = (input_times * m * k) as f64 * wide_k + (weight_times * k * n) as f64 * wide_n;
    Some(Traffic {
        mesh: times * mesh,
        bytes_in: times * bytes_in * e as f64,
        distinct_in: times * ((m * k) as f64 * wide_k + (k * n) as f64 * wide_n) * e as f64,
        bytes_out: times * (m * n * e) as f64 * wide_n,
        first: ((bi * bk.min(4 * dim) + bk * bj) * e) as f64,
        last: (bi * bj * e) as f64,
        calls: times
            * (blocks * costs.block_cycles + blocks * (slices - 1) as f64 * costs.slice_cycles),
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
                for choice in 0..12 {
                    let schedule = Product {
                        tiles: [i, j, *k],
                        by_rows: choice % 3 == 1,
                        by_pairs: choice % 3 == 2,
                        keeps_input: (choice / 3) & 1 != 0,
                        keeps_weights: (choice / 6) & 1 != 0,
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
    let Some(Parts {
        input,
        weights,
        depth,
        turned,
        ..
    }) = parts(work)
    else {
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
        if schedule.by_rows {
            "rows"
        } else if schedule.by_pairs {
            "pairs of column blocks"
        } else {
            "columns"
        },
    );
    for (operand, _) in [input, weights].iter().zip(turned).filter(|it| it.1) {
        text.push_str(&format!(" The array transposes {}.", name(*operand)));
    }
    if 1 < work.repeat.count {
        text.push_str(&format!(" All of that {} times.", work.repeat.count));
    }
    let [_, _, slices] = blocks(work, depth, schedule, machine).map(|b| b.count());
    for (keeps, operand, is_outer) in [
        (
            schedule.keeps_input,
            input,
            schedule.by_rows || schedule.by_pairs,
        ),
        (schedule.keeps_weights, weights, !schedule.by_rows),
    ] {
        if keeps && is_outer && slices <= 2 {
            text.push_str(&format!(
                " A block of {} stays in the scratchpad while the inner loop takes it.",
                name(operand)
            ));
        } else if keeps {
            text.push_str(&format!(
                " Load {} once and keep it in the scratchpad.",
                name(operand)
            ));
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
        turned,
        factors,
    } = parts(work)?;
    let e = machine.element;
    let all @ [rows, columns, slices] = blocks(work, depth, schedule, machine);
    let Product {
        by_rows,
        by_pairs,
        keeps_input,
        keeps_weights,
        ..
    } = *schedule;
    for (channel, (operand, factor)) in [input, weights].iter().zip(factors).enumerate() {
        code.line(&format!(
            "config_ld({}, {}, {}, {channel});",
            operand.pitch,
            super::float(factor),
            machine.dim
        ));
    }
    if let Some(bias) = work.bias {
        code.line(&format!(
            "gemmini_extended3_config_ld({}, {}, {}, 2);",
            bias.operand.pitch,
            super::float(bias.factor),
            bias.is_narrow
        ));
    }
    let Repeat { count, steps } = work.repeat;
    let again = Blocks {
        variable: "b",
        from: 0,
        extent: count,
        size: 1,
        tile: 1,
    };
    code.open(&[again]);
    if by_pairs {
        let (all, size) = (columns.end(), columns.step());
        code.line(&format!(
            "for (int pair = 0; pair < {all}; pair += {}) {{",
            2 * size
        ));
        code.open(&[rows]);
        let mut end = format!("j < pair + {}", 2 * size);
        if all % (2 * size) != 0 {
            end.push_str(&format!(" && j < {all}"));
        }
        code.line(&format!("for (int j = pair; {end}; j += {size}) {{"));
    } else if by_rows {
        code.open(&[rows, columns, slices]);
    } else {
        code.open(&[columns, rows, slices]);
    }
    let sizes = [
        code.named("rows", all[0].tiles()),
        code.named("columns", all[1].tiles()),
        code.named("depth", all[2].tiles()),
        code.named("rows_missing", all[0].missing()),
        code.named("columns_missing", all[1].missing()),
        code.named("depth_missing", all[2].missing()),
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
            format!("1 + ({} & 1)", own.number())
        }
    };
    let (half_input, half_weights) = (half(keeps_input, &rows), half(keeps_weights, &columns));
    let first_if = |keeps: bool, other: &Blocks<'_>| if keeps { other.is_first() } else { None };
    let first_column = if keeps_input && by_pairs {
        Some("j == pair".to_owned())
    } else {
        first_if(keeps_input, &columns)
    };
    let a = only_if(
        &[first_column],
        address(
            lifted,
            input,
            &[
                (again.at(), steps[0]),
                (rows.at(), if turned[0] { e } else { input.pitch }),
                (slices.at(), if turned[0] { input.pitch } else { e }),
            ],
        ),
    );
    let b = only_if(
        &[first_if(keeps_weights, &rows)],
        address(
            lifted,
            weights,
            &[
                (again.at(), steps[1]),
                (slices.at(), if turned[1] { e } else { weights.pitch }),
                (columns.at(), if turned[1] { weights.pitch } else { e }),
            ],
        ),
    );
    let (d, d_stride, low) = match work.bias {
        None => ("0".to_owned(), 0, 0),
        Some(Bias {
            operand, is_narrow, ..
        }) => {
            let width = if is_narrow { e } else { 4 };
            let from = address(
                lifted,
                operand,
                &[
                    (again.at(), steps[2]),
                    (rows.at(), operand.pitch),
                    (columns.at(), width),
                ],
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
            &[
                (again.at(), steps[3]),
                (rows.at(), work.output.pitch),
                (columns.at(), width),
            ],
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
        "    {}, {}, {d_stride}, {}, {}, {}, {}, {low}, {adds}, {},",
        input.pitch / e,
        weights.pitch / e,
        work.output.pitch / width,
        i64::from(turned[0]),
        i64::from(turned[1]),
        i64::from(full),
        if work.store.is_relu {
            "RELU"
        } else {
            "NO_ACTIVATION"
        },
    ));
    code.line(&format!("    {half_input}, {half_weights}, 0);"));
    code.close();
    Some(())
}
