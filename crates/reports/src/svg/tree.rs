//! The beam tree: every kernel at its iteration and cost, joined to its parent.

use super::axis::Axis;
use super::escaped;
use crate::change::short;
use crate::run::RunData;
use autocomp_eval::text::grouped;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Kernels drawn at most; those of the beams come first.
const MOST: usize = 1200;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 40.0;

/// Draws the tree of a run; nothing if no kernel is right.
#[must_use]
pub fn tree_figure(run: &RunData) -> String {
    let drawn = drawn(run);
    let costs = || {
        let kernels = drawn.iter().map(|place| &run.kernels[*place]);
        kernels.filter_map(|kernel| kernel.cost.map(|cost| cost.value as f64))
    };
    if costs().next().is_none() {
        return String::new();
    }
    let n_columns = run.iterations.len() as f64 + 1.0;
    let width = (n_columns * 64.0).clamp(796.0, 4000.0) + LEFT;
    let column = (width - LEFT) / n_columns;
    let low = costs().fold(f64::INFINITY, f64::min);
    let high = costs().fold(0.0, f64::max);
    let bottom = HEIGHT - BOTTOM;
    let y = Axis::stretched(low, high, bottom, TOP);
    let class = if width < 900.0 {
        "figure"
    } else {
        "figure wide"
    };
    let mut out = format!(
        "<svg class=\"{class}\" width=\"{width}\" height=\"{HEIGHT}\" viewBox=\"0 0 {width} {HEIGHT}\" role=\"img\" aria-label=\"\
         beam tree: kernels by iteration and cost, joined to the kernel they were made from\">"
    );
    for tick in y.ticks(7) {
        let at = y.place(tick);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{width}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            short(tick),
        );
    }
    // As many names as there is room for.
    let every = (40.0 / column).ceil().max(1.0) as usize;
    for iteration in (0..=run.iterations.len()).step_by(every) {
        let name = match iteration {
            0 => "start".to_owned(),
            number => number.to_string(),
        };
        let _ = write!(
            out,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{name}</text>",
            LEFT + (iteration as f64 + 0.5) * column,
            bottom + 18.0,
        );
    }
    let _ = write!(
        out,
        "<text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">iteration</text>",
        LEFT + (width - LEFT) / 2.0,
        HEIGHT - 4.0,
    );
    let places = places(run, &drawn, &y, column);
    for is_chain in [false, true] {
        for place in &drawn {
            let kernel = &run.kernels[*place];
            if kernel.in_chain != is_chain {
                continue;
            }
            let (Some((px, py)), Some(parent)) = (places[*place], kernel.parent) else {
                continue;
            };
            let Some((qx, qy)) = places[parent] else {
                continue;
            };
            let class = match (is_chain, kernel.beams.is_empty()) {
                (true, _) => "edge edge-chain",
                (_, false) => "edge edge-beam",
                _ => "edge",
            };
            let middle = (px + qx) / 2.0;
            let _ = write!(
                out,
                "<path class=\"{class}\" d=\"M{qx:.1} {qy:.1}C{middle:.1} {qy:.1} {middle:.1} {py:.1} {px:.1} {py:.1}\"/>",
            );
        }
    }
    for place in &drawn {
        let kernel = &run.kernels[*place];
        let (Some((px, py)), Some(cost)) = (places[*place], kernel.cost) else {
            continue;
        };
        let (class, radius) = match (kernel.in_chain, kernel.beams.is_empty()) {
            (true, _) => ("node node-chain", 5.0),
            (_, false) => ("node node-beam", 4.0),
            _ => ("node", 2.5),
        };
        let title = format!(
            "{}: {} {}, {}",
            kernel.name,
            grouped(cost.value),
            cost.unit,
            kernel.menu_item.as_deref().unwrap_or("baseline"),
        );
        let _ = write!(
            out,
            "<circle class=\"{class}\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"{radius}\"><title>{}</title></circle>",
            escaped(&title),
        );
        if kernel.in_chain && (kernel.iteration as usize).is_multiple_of(every) {
            let _ = write!(
                out,
                "<text class=\"node-name\" x=\"{px:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                py - 9.0,
                escaped(&kernel.name),
            );
        }
    }
    out + "</svg>"
}

/// Chooses the kernels that are drawn: the chain and the beams, then the others.
fn drawn(run: &RunData) -> Vec<usize> {
    let right = |place: &usize| run.kernels[*place].cost.is_some();
    let mut drawn: BTreeSet<usize> = run.chain.iter().copied().filter(right).collect();
    let beams = (0..run.kernels.len()).filter(|place| !run.kernels[*place].beams.is_empty());
    let others = (0..run.kernels.len()).filter(|place| run.kernels[*place].beams.is_empty());
    for place in beams.chain(others).filter(right) {
        if MOST <= drawn.len() {
            break;
        }
        drawn.insert(place);
    }
    drawn.into_iter().collect()
}

/// Returns where each kernel stands: its iteration's column, by the order of evaluations.
fn places(run: &RunData, drawn: &[usize], y: &Axis, column: f64) -> Vec<Option<(f64, f64)>> {
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); run.iterations.len() + 1];
    for place in drawn {
        let iteration = run.kernels[*place].iteration as usize;
        if let Some(members) = members.get_mut(iteration) {
            members.push(*place);
        }
    }
    let mut places = vec![None; run.kernels.len()];
    for (iteration, members) in members.iter().enumerate() {
        for (idx, place) in members.iter().enumerate() {
            let share = (idx as f64 + 1.0) / (members.len() as f64 + 1.0);
            let px = LEFT + (iteration as f64 + 0.2 + 0.6 * share) * column;
            let cost = run.kernels[*place].cost;
            places[*place] = cost.map(|cost| (px, y.place(cost.value as f64)));
        }
    }
    places
}
