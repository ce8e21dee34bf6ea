//! Rows: points that each go over elements in loops which several threads can share, as softmax,
//! norms, losses and sums do.

mod write;

pub(crate) use write::{certain, write};

use crate::expression::{Along, Expression, along};
use crate::nest::Nest;
use crate::step::{self, Joining, Step, accumulated};
use autocomp_c_loops::affine::Affine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How rows are computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// Threads that share a row: a power of two.
    pub team: i64,
    /// Elements that are loaded and stored at once.
    pub vector: i64,
    /// Threads of a block.
    pub threads: i64,
    /// Whether what several loops need stays in registers between them.
    pub keep: bool,
    /// Whether functions are the fast ones, and divisions products.
    pub fast: bool,
    /// Blocks that share one row, whose results a second launch joins; 1 for none.
    pub split: i64,
}

/// A loop that threads share.
#[derive(Clone, Debug)]
pub(crate) struct SharedLoop<'n> {
    pub variable: &'n str,
    pub start: i64,
    pub end: &'n Affine,
    pub body: &'n [Step],
}

/// Registers that a thread may use for what is kept.
const MOST_KEPT: i64 = 96;

/// Returns the loop that a step is, if threads can share it.
pub(crate) fn shared_loop(step: &Step) -> Option<SharedLoop<'_>> {
    let Step::Loop {
        variable,
        start,
        end,
        step: 1,
        body,
    } = step
    else {
        return None;
    };
    let mut local = BTreeSet::new();
    for inner in body {
        match inner {
            Step::Let { name, .. } => {
                local.insert(name.as_str());
            }
            Step::Assign { name, value } if local.contains(name.as_str()) => {
                let _ = value;
            }
            Step::Assign { name, value } => {
                accumulated(name, value)?;
                // Nothing else of the loop may look at what it adds up.
                let others = body.iter().filter(|it| *it != inner);
                let others: Vec<Step> = others.cloned().collect();
                if step::any(
                    &others,
                    &|it| matches!(it, Expression::Scalar(found) if found == name),
                ) {
                    return None;
                }
            }
            Step::Store { index, .. }
                if index.mentions_index(variable) && index.as_index().is_some() => {}
            _ => return None,
        }
    }
    Some(SharedLoop {
        variable,
        start: start.as_constant()?,
        end,
        body,
    })
}

/// Returns the loops of a nest of rows; nothing if it is none.
pub(crate) fn loops(nest: &Nest) -> Option<Vec<SharedLoop<'_>>> {
    if nest.split.is_some() {
        return None;
    }
    let mut found = Vec::new();
    for step in &nest.steps {
        match step {
            Step::Loop { .. } => found.push(shared_loop(step)?),
            Step::Let { .. } | Step::Assign { .. } | Step::Store { .. } => {}
            _ => return None,
        }
    }
    // What is written and read must be the same element in the same loop.
    for array in nest.written() {
        let mut indices = BTreeSet::new();
        for step in &nest.steps {
            let variable = match step {
                Step::Loop { variable, .. } => variable.as_str(),
                _ => "",
            };
            let mut see = |array_of: &str, index: &Expression| {
                if array_of == array {
                    let one = index.with_index(variable, &Affine::variable("*"));
                    indices.insert(one.to_c());
                }
            };
            let steps = std::slice::from_ref(step);
            step::expressions(steps, &mut |it| {
                for (of, index) in it.loads() {
                    see(of, index);
                }
            });
            step::walk(steps, &mut |it| {
                if let Step::Store {
                    array: of, index, ..
                } = it
                {
                    see(of, index);
                }
            });
        }
        let is_read = step::any(
            &nest.steps,
            &|it| matches!(it, Expression::Load(of, _) if *of == array),
        );
        if is_read && 1 < indices.len() {
            return None;
        }
    }
    (!found.is_empty()).then_some(found)
}

/// Returns the greatest end of a loop over all points.
pub(crate) fn greatest_end(nest: &Nest, end: &Affine) -> Option<i64> {
    let mut end = end.clone();
    for point in &nest.points {
        let value = match crate::expression::coefficient(&end, &point.name)? {
            ..0 => 0,
            _ => point.extent - 1,
        };
        end = end.substitute(&point.name, &Affine::constant(value))?;
    }
    end.as_constant()
}

impl Rows {
    /// Returns the ways in which rows can be computed.
    pub(crate) fn all(nest: &Nest) -> Vec<Self> {
        let Some(loops) = loops(nest) else {
            return Vec::new();
        };
        let ends: Option<Vec<i64>> = loops.iter().map(|it| greatest_end(nest, it.end)).collect();
        let Some(longest) = ends.and_then(|it| it.into_iter().max()) else {
            return Vec::new();
        };
        let rows = nest.count();
        let vectors: Vec<i64> = [1, 2, 4]
            .into_iter()
            .filter(|it| Self::fits_vector(nest, &loops, *it))
            .collect();
        let has_functions = step::any(&nest.steps, &|it| {
            matches!(it, Expression::Call(name, _) if write::fast_name(name).is_some())
                || matches!(it, Expression::Binary(_, operator, right) if operator == "/" && right.as_index().is_none())
        });
        let mut found = Vec::new();
        for vector in vectors {
            for team in [4, 8, 16, 32, 128, 256, 512, 1024] {
                if 2 * longest <= team * vector && 4 < team {
                    continue;
                }
                let blocks: &[i64] = if team <= 32 { &[128, 256] } else { &[0] };
                for threads in blocks {
                    let threads = if *threads == 0 { team } else { *threads };
                    // A part of a warp must not end early.
                    if team < 32 && rows % (threads / team) != 0 {
                        continue;
                    }
                    let splits: &[i64] =
                        match nest.points.is_empty() && loops.len() == 1 && 32 < team {
                            true => &[1, 128, 256, 512, 1024],
                            false => &[1],
                        };
                    for split in splits {
                        let units = (longest + team * vector - 1) / (team * vector);
                        let can_keep = *split == 1
                            && 1 < loops.len()
                            && units * vector <= MOST_KEPT
                            && longest % vector == 0;
                        for keep in [false, true] {
                            for fast in [false, true] {
                                if (can_keep || !keep) && (has_functions || !fast) {
                                    found.push(Self {
                                        team,
                                        vector,
                                        threads,
                                        keep,
                                        fast,
                                        split: *split,
                                    });
                                }
                            }
                        }
                    }
                }
            }
        }
        found
    }

    /// Returns whether any load or store of the loops can be of so many elements.
    fn fits_vector(nest: &Nest, loops: &[SharedLoop<'_>], vector: i64) -> bool {
        if vector == 1 {
            return true;
        }
        let mut fits = false;
        for shared in loops {
            let Some(end) = shared.end.as_constant() else {
                return false;
            };
            // A last part of a row is done element by element only where rows begin at multiples.
            if start_of(nest, shared) != 0 {
                return false;
            }
            let mut see = |array: &str, index: &Expression| {
                if let Some(index) = index.as_index()
                    && nest.bytes_of(array) * vector <= 16
                    && along(index, shared.variable, end, vector) == Along::Beside
                {
                    fits = true;
                }
            };
            step::expressions(shared.body, &mut |it| {
                for (array, index) in it.loads() {
                    see(array, index);
                }
            });
        }
        fits
    }

    /// Returns an estimate in nanoseconds for a machine.
    pub(crate) fn estimate(&self, nest: &Nest, machine: &crate::GpuResources) -> f64 {
        let Some(loops) = loops(nest) else {
            return f64::INFINITY;
        };
        let rows = nest.count() as f64;
        let mut elements = 0.0;
        let mut traffic = 0.0;
        for (at, shared) in loops.iter().enumerate() {
            let end = greatest_end(nest, shared.end).unwrap_or(1) as f64;
            elements += rows * end;
            let mut arrays = 0.0;
            step::expressions(shared.body, &mut |it| arrays += it.loads().len() as f64);
            let again = if self.keep && 0 < at { 0.15 } else { 1.0 };
            traffic += rows * end * 4.0 * (arrays * again).max(0.3);
        }
        let warps = rows
            * (self.team as f64 / 32.0).max(1.0 / (32.0 / self.team as f64))
            * self.split as f64;
        // Loads that a thread waits for together.
        let under_way = if self.keep { 8.0 } else { 4.0 } * self.vector as f64;
        let enough = machine.sms * 12.0 * 8.0;
        let share = (warps * under_way / enough).min(1.0);
        let narrow = [1.25, 1.08, 1.0][(self.vector.trailing_zeros() as usize).min(2)];
        // Few threads of a row leave others of the warp in other lines.
        let apart = if self.team * self.vector < 8 {
            4.0
        } else {
            1.0
        };
        let lanes = if self.team <= 32 {
            1.0
        } else {
            1.05 + self.team as f64 / 8192.0
        };
        let time = traffic / machine.dram_bytes_per_ns * narrow * apart / share.max(0.02);
        let work = elements / (machine.sms * 128.0 * machine.clock_ghz)
            * if self.fast { 6.0 } else { 12.0 };
        let spare = ((elements / loops.len() as f64)
            / (rows * self.team as f64 * self.vector as f64))
            .max(0.0);
        let idle = if spare < 1.0 {
            1.0 / spare.max(0.1)
        } else {
            1.0
        };
        (time * lanes + work) * idle.sqrt()
            + machine.launch_ns * if self.split == 1 { 1.0 } else { 2.0 }
    }
}

/// Returns where a loop begins: one that joins an extreme which was begun with the first element
/// may begin with that element.
pub(crate) fn start_of(nest: &Nest, shared: &SharedLoop<'_>) -> i64 {
    if shared.start != 1 {
        return shared.start;
    }
    let [Step::Assign { name, value }] = shared.body else {
        return shared.start;
    };
    let Some((Joining::Maximum | Joining::Minimum, rest)) = accumulated(name, value) else {
        return shared.start;
    };
    let first = rest.with_index(shared.variable, &Affine::constant(0));
    let mut last = None;
    for step in &nest.steps {
        match step {
            Step::Let {
                name: of,
                value: Some(value),
                ..
            }
            | Step::Assign { name: of, value }
                if of == name =>
            {
                last = Some(value);
            }
            Step::Loop { variable, .. } if variable == shared.variable => break,
            _ => {}
        }
    }
    if last == Some(&first) {
        0
    } else {
        shared.start
    }
}
