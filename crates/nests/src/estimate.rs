//! A coarse estimate of what a part costs: good for the order in which
//! schedules are tried, and for nothing else.

pub(super) mod by_hand;

use super::code::{Named, Statement};
use super::jam::operations_of;
use super::nest::Nest;
use super::propose::Resources;
use super::region::{Region, region};
use super::schedule::{Part, Product, Turn};
use std::collections::BTreeMap;

/// Cycles from an addition or a multiply-add to the next one that needs its result.
const LATENCY: f64 = 4.0;
/// Operations that a division counts as more than a multiplication by a reciprocal.
const RECIPROCAL_SAVES: f64 = 4.0;
/// Cycles of an element that is picked from a vector, or put into one.
const PICKED: f64 = 3.0;
/// Vector operations, and loads, that a core begins in a cycle.
const PER_CYCLE: f64 = 2.0;

/// Returns estimated cycles of a part on a core with these resources.
pub(super) fn cycles(
    region: &Region,
    part: &Part,
    names: &BTreeMap<String, Named>,
    resources: &Resources,
) -> f64 {
    match (region, part) {
        (Region::Product(nest), Part::Product(schedule)) => {
            product(nest, schedule, names, resources)
        }
        (Region::Product(nest), _) => {
            let all = nest.parallel.iter().chain(&nest.reduction);
            LATENCY * all.map(|it| f64::from(it.extent)).product::<f64>()
        }
        (Region::Turn(nest), Part::Turn(schedule)) => {
            let outside = if schedule.columns_outside { 1.01 } else { 1.0 };
            nest.elements() * outside * turned(schedule, resources)
        }
        (Region::Turn(nest), _) => 3.0 * nest.elements(),
        (Region::Counting(counting), part) => {
            let (changes, counters) = counting.sizes();
            match part {
                Part::Tables(count) => {
                    let count = f64::from(*count);
                    changes * (1.0 + 1.5 / count) + counters * count * 0.3
                }
                _ => 2.5 * changes,
            }
        }
        (Region::Wide(wide), part) => {
            let extent = f64::from(wide.extent());
            match part {
                Part::Vectors(schedule) => {
                    let (lanes, count) = (f64::from(schedule.lanes), f64::from(schedule.count));
                    let chain = if wide.is_chain() {
                        LATENCY / count
                    } else {
                        0.0
                    };
                    let control = 1.0 / count;
                    let saved = match schedule.reciprocals {
                        true => RECIPROCAL_SAVES * wide.quotients(),
                        false => 0.0,
                    };
                    let operations = match schedule.strided {
                        true => 0.98 * (wide.operations() - saved),
                        false => wide.operations() - saved,
                    };
                    let shifts = wide.running() * lanes.log2() * resources.shift(schedule.lanes);
                    let step = (operations / PER_CYCLE).max(chain) + control + shifts;
                    let steps = (extent / lanes).floor();
                    let left = extent - steps * lanes;
                    let rest = match wide.may_be_repeated() {
                        true if 0.0 < left => step,
                        true => 0.0,
                        false if left < 4.0 => left * 0.5 * wide.operations(),
                        false => 2.0 * step,
                    };
                    steps * step + rest + 10.0 * count
                }
                Part::Lengths(schedule) => {
                    let registers = schedule.registers;
                    let widest = wide.widest(registers, names).unwrap_or(32);
                    let lanes = resources.lanes * registers / 4 * 32 / widest;
                    let saved = match schedule.reciprocals {
                        true => RECIPROCAL_SAVES * wide.quotients(),
                        false => 0.0,
                    };
                    // Groups of eight take twice as long as those of four.
                    let groups = f64::from(registers.max(4)) / 4.0;
                    let operations = (wide.operations() - saved) * groups / PER_CYCLE;
                    let chain = if wide.is_chain() { LATENCY } else { 0.0 };
                    let ahead = if schedule.ahead { 0.98 } else { 1.0 };
                    // Rows have loads in common, as long as there are registers for all of them.
                    let rows = match registers * (schedule.rows + 1) {
                        ..=28 => 1.0 - 0.03 * f64::from(schedule.rows - 1),
                        _ => 1.2,
                    };
                    let step = operations.max(chain) * ahead * rows + 1.0;
                    (extent / f64::from(lanes)).ceil() * step + 10.0
                }
                _ if wide.is_chain() => extent * wide.operations().max(LATENCY),
                _ => extent * wide.operations() / PER_CYCLE,
            }
        }
        (Region::Jam(jammed, wide), part) => {
            let (trips, all) = jammed.sizes();
            let work = 0.5 * jammed.operations();
            match (part, wide) {
                (Part::Jam(count), _) => all * (LATENCY / f64::from(*count)).max(1.5).max(work),
                (Part::Vectors(_) | Part::Lengths(_), Some(wide)) => {
                    let inner = Region::Wide(wide.clone());
                    f64::from(trips) * cycles(&inner, part, names, resources)
                }
                _ => all * LATENCY.max(work),
            }
        }
    }
}

/// Returns cycles for an element of a transposition.
fn turned(schedule: &Turn, resources: &Resources) -> f64 {
    let lanes = f64::from(schedule.lanes);
    if 0 < schedule.segments {
        return 1.15 + 0.2 / f64::from(schedule.segments);
    }
    match (schedule.strided, resources.grouped) {
        (true, _) => 1.2 + 0.4 / lanes,
        // Lanes of groups are moved one by one: on a simulated core in order, tiles of 8 lanes take
        // twice as long as a stride, those of 16 four times.
        (false, true) => (0.3 * lanes).max(2.0),
        (false, false) => 0.4 + 4.0 / lanes,
    }
}

/// Returns cycles that [`cycles`] leaves out: elements of vectors that do not lie side by side,
/// which all ways to carry out a part share.
pub(super) fn gathering(region: &Region, part: &Part, names: &BTreeMap<String, Named>) -> f64 {
    let (trips, wide, schedule) = match (region, part) {
        (Region::Wide(wide), Part::Vectors(schedule)) => (1, wide, schedule),
        (Region::Jam(jammed, Some(wide)), Part::Vectors(schedule)) => {
            (jammed.sizes().0, wide, schedule)
        }
        _ => return 0.0,
    };
    let (read, written) = wide.elements_apart(names);
    let each = match schedule.strided {
        true => by_hand::APART * read + PICKED * written,
        false => PICKED * (read + written),
    };
    f64::from(trips) * f64::from(wide.extent()) * each
}

/// Returns estimated cycles of what belongs to no part.
pub(super) fn rest(statements: &[Statement], names: &BTreeMap<String, Named>) -> f64 {
    let of = |statement: &Statement| match statement {
        Statement::Loop(inner) => match region(inner, names) {
            Some(_) => 0.0,
            None => inner.trips() as f64 * rest(&inner.body, names),
        },
        Statement::Command(action) => operations_of(action),
        _ => 0.0,
    };
    statements.iter().map(of).sum()
}

fn product(
    nest: &Nest,
    schedule: &Product,
    names: &BTreeMap<String, Named>,
    resources: &Resources,
) -> f64 {
    let all = nest.parallel.iter().chain(&nest.reduction);
    let steps: f64 = all.map(|it| f64::from(it.extent)).product();
    let Some(vector) = nest.vector_loop(names) else {
        return steps * LATENCY;
    };
    let row_loop = nest.row_loop(vector);
    let row = row_loop.map_or(1, |row| row.extent);
    let (rows, columns, lanes) = (schedule.rows, schedule.columns, schedule.lanes);
    let sums = f64::from(rows * columns);
    let loads = f64::from(rows + columns);
    // Narrow elements are widened at every load unless that is done while packing.
    let reads = nest.reads();
    let narrow = reads.iter().any(|access| {
        let kind = names.get(&access.name).map(|it| &it.kind);
        access.mentions(&vector.variable) && kind != Some(&nest.sum_type)
    });
    // Groups of registers widen while they multiply: of bytes this is half of the way.
    let in_groups = narrow && resources.grouped && nest.sum_type != "float";
    let widening = match (narrow && !schedule.pack_columns, in_groups) {
        (true, true) => 0.25 * f64::from(columns),
        (true, false) => f64::from(columns),
        (false, _) => 0.0,
    };
    let mut step = (sums / PER_CYCLE).max(loads / PER_CYCLE).max(LATENCY) + widening;
    if resources.registers_of(lanes) < rows * columns + columns + 1 {
        step *= 3.0;
    }
    // Panels lie in one piece; as they are, rows of the operand lie far apart.
    if !schedule.pack_columns {
        step *= if in_groups { 1.06 } else { 1.25 };
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
    // Blocks pay where operands are much larger than the nearer caches.
    let depth: f64 = nest
        .reduction
        .iter()
        .map(|it| f64::from(it.extent))
        .product();
    let panel = depth * f64::from(columns * lanes) * 4.0;
    if 0 < schedule.depth {
        step *= if 96e3 < panel { 0.995 } else { 1.02 };
    }
    if 0 < schedule.block {
        step *= if 1e6 < depth * f64::from(row) * 4.0 {
            0.995
        } else {
            1.01
        };
    }
    let group = f64::from(schedule.dots.map_or(1, super::vectors::Dots::group));
    let width = columns * lanes;
    let share = |part: u32, whole: u32| f64::from(part) / f64::from(whole);
    // What is left at the edges: smaller tiles do less per step, plain loops far less.
    let edge_rows = 0.5 * share(rows - 1 - (row + rows - 1) % rows, row);
    let edge_columns = match schedule.pack_columns {
        true => share((width - vector.extent % width) % width, vector.extent),
        false => share((lanes - vector.extent % lanes) % lanes, vector.extent),
    };
    // Blocks of sums are not repeated.
    let plain = match schedule.pack_columns || schedule.depth == 0 {
        true => 0.0,
        false => share(vector.extent % lanes, vector.extent),
    };
    // Copies cost about as much as a few steps each.
    let others = |variable: &str| steps / depth / f64::from(nest.extent_of(variable));
    let mut packing = 0.0;
    if schedule.pack_columns {
        packing += steps / others(&vector.variable) / f64::from(lanes);
    }
    if let (true, Some(row)) = (schedule.pack_rows, row_loop) {
        packing += steps / others(&row.variable);
    }
    let per_step = sums * f64::from(lanes) * group;
    steps / per_step * step * (1.0 + edge_rows + edge_columns) + steps * plain * LATENCY + packing
}
