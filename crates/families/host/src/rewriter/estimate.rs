//! A coarse estimate of what a schedule costs: good for the order in which
//! schedules are tried, and for nothing else.

use super::nest::{Nest, Schedule};

/// Cycles from a fused multiply-add to the next one that needs its result.
const LATENCY: f64 = 4.0;
/// Fused multiply-adds, and loads, that a core begins in a cycle.
const PER_CYCLE: f64 = 2.0;

/// Returns estimated cycles of `nest` under `schedule`, or as it stands, on a
/// core with so many vector `registers`.
pub(super) fn cycles(nest: &Nest, schedule: Option<&Schedule>, registers: u32) -> f64 {
    let all = nest.parallel.iter().chain(&nest.reduction);
    let steps: f64 = all.map(|it| f64::from(it.extent)).product();
    let (Some(schedule), Some(vector)) = (schedule, nest.vector_loop()) else {
        return steps * LATENCY;
    };
    let row = nest.row_loops().first().map_or(1, |row| row.extent);
    let (rows, columns, lanes) = (schedule.rows, schedule.columns, schedule.lanes);
    let sums = f64::from(rows * columns);
    let loads = f64::from(rows + columns);
    let reads = nest.term.reads();
    let of_vector = |array: &str| {
        reads
            .iter()
            .any(|it| it.array == array && it.mentions(&vector.variable))
    };
    // Narrow elements are widened at every load unless that is done while packing.
    let narrow = nest
        .types
        .iter()
        .any(|(array, element)| of_vector(array) && *element != nest.sum_type);
    let widening = if narrow && !schedule.pack_columns {
        f64::from(columns)
    } else {
        0.0
    };
    let mut step = (sums / PER_CYCLE).max(loads / PER_CYCLE).max(LATENCY) + widening;
    if registers < rows * columns + columns + 1 {
        step *= 3.0;
    }
    // Panels lie in one piece; as they are, rows of the operand lie far apart.
    if !schedule.pack_columns {
        step *= 1.25;
    }
    if !schedule.pack_rows {
        step *= 1.04;
    }
    if schedule.rows_outside {
        step *= 1.01;
    }
    if schedule.unroll == 1 {
        step *= 1.02;
    }
    let width = columns * lanes;
    let share = |part: u32, whole: u32| f64::from(part) / f64::from(whole);
    // What is left at the edges: smaller tiles do less per step, plain loops far less.
    let edge_rows = share(row % rows, row);
    let edge_columns = share(vector.extent % width - vector.extent % lanes, vector.extent);
    let plain = share(vector.extent % lanes, vector.extent);
    let per_step = sums * f64::from(lanes);
    steps / per_step * step * (1.0 + edge_rows + edge_columns) + steps * plain * LATENCY
}
