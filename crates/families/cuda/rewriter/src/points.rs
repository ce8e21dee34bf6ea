//! Points, each by itself: several of them for a thread, so that elements are loaded as vectors and
//! what was loaded serves several results.

mod plain;
mod write;

pub(crate) use plain::plain;

use crate::GpuResources;
use crate::expression::{Along, Expression, along};
use crate::launch_text::vector_type;
use crate::nest::{Nest, Point};
use crate::step::{self, Step};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How points are computed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Threads of a block along the last coordinate.
    pub across: i64,
    /// Threads of a block along the one before.
    pub down: i64,
    /// Elements of the last coordinate that a thread loads and stores at once.
    pub vector: i64,
    /// Points of a thread along each coordinate; those along the last are a block apart.
    pub each: Vec<i64>,
}

/// Returns whether a nest is computed point by point.
pub(crate) fn is_of_points(nest: &Nest) -> bool {
    fn is_known(step: &Step) -> bool {
        match step {
            Step::Let { .. } | Step::Assign { .. } | Step::Store { .. } => true,
            Step::If {
                then, otherwise, ..
            } => then
                .iter()
                .chain(otherwise)
                .all(|it| is_known(it) && !matches!(it, Step::Loop { .. })),
            Step::Loop { body, .. } => body.iter().all(is_known),
            _ => false,
        }
    }
    let read_and_written = nest.written().into_iter().any(|array| {
        // Elements that a point reads may be those that another one writes, unless they are its own.
        let mut own = BTreeSet::new();
        step::walk(&nest.steps, &mut |it| {
            if let Step::Store {
                array: of, index, ..
            } = it
                && *of == array
            {
                own.insert(index.to_c());
            }
        });
        let mut other = false;
        step::expressions(&nest.steps, &mut |it| {
            other |= it
                .loads()
                .iter()
                .any(|(of, index)| **of == array && !own.contains(&index.to_c()));
        });
        other
    });
    !nest.points.is_empty()
        && nest.split.is_none()
        && !read_and_written
        && nest.steps.iter().all(is_known)
}

impl Points {
    /// Returns the ways in which points can be computed.
    pub(crate) fn all(nest: &Nest) -> Vec<Self> {
        if !is_of_points(nest) {
            return Vec::new();
        }
        let Some((last, outer)) = nest.points.split_last() else {
            return Vec::new();
        };
        let has_loops = nest.steps.iter().any(|it| matches!(it, Step::Loop { .. }));
        let mut copies: Vec<Vec<i64>> = vec![Vec::new()];
        for point in outer {
            let counts: &[i64] = if has_loops || 1 < outer.len() {
                &[1, 2, 4, 8]
            } else {
                &[1, 2, 4]
            };
            copies = copies
                .into_iter()
                .flat_map(|known| {
                    counts
                        .iter()
                        .filter(|it| **it == 1 || **it * 2 <= point.extent)
                        .map(move |count| known.iter().copied().chain([*count]).collect())
                })
                .filter(|it: &Vec<i64>| it.iter().product::<i64>() <= 16)
                .collect();
        }
        let mut found = Vec::new();
        for vector in [1, 2, 4] {
            if vector != 1 && !Self::fits_vector(nest, vector) {
                continue;
            }
            for (across, down) in [
                (32, 4),
                (32, 8),
                (64, 4),
                (128, 1),
                (256, 1),
                (16, 16),
                (512, 1),
            ] {
                if outer.is_empty() && 1 < down || last.extent * 2 <= across * vector && 32 < across
                {
                    continue;
                }
                if let Some(before) = outer.last()
                    && before.extent * 2 <= down
                {
                    continue;
                }
                for more in [1, 2, 4] {
                    if last.extent < across * vector * more && 1 < more {
                        continue;
                    }
                    for known in &copies {
                        let mut each = known.clone();
                        each.push(more);
                        if each.iter().product::<i64>() * vector <= 32 {
                            found.push(Self {
                                across,
                                down,
                                vector,
                                each,
                            });
                        }
                    }
                }
            }
        }
        // Ways in which half of the threads have no point, where there are others.
        let (idle, busy): (Vec<Self>, Vec<Self>) =
            found.into_iter().partition(|it| it.is_half_idle(nest));
        if busy.is_empty() { idle } else { busy }
    }

    /// Returns whether half of a block's threads or more have no point along a coordinate.
    fn is_half_idle(&self, nest: &Nest) -> bool {
        let mut coordinates = nest.points.iter().zip(&self.each).rev();
        let is_idle = |found: Option<(&Point, &i64)>, threads: i64, of_thread: i64| {
            found.is_some_and(|(point, each)| {
                1 < threads && point.extent * 2 <= threads * of_thread * each
            })
        };
        is_idle(coordinates.next(), self.across, self.vector)
            || is_idle(coordinates.next(), self.down, 1)
    }

    fn fits_vector(nest: &Nest, vector: i64) -> bool {
        let Some(last) = nest.points.last() else {
            return false;
        };
        let is_tailed = last.extent % vector != 0;
        if is_tailed
            && (1 < nest.points.len()
                || nest.steps.iter().any(|it| matches!(it, Step::Loop { .. })))
        {
            return false;
        }
        let mut fits = false;
        step::walk(&nest.steps, &mut |it| {
            if let Step::Store {
                array,
                index: Expression::Index(index),
                ..
            } = it
            {
                let is_beside = along(index, &last.name, last.extent, vector) == Along::Beside;
                fits |= is_beside && vector_type(nest.kind_of(array), vector).is_some();
            }
        });
        fits
    }

    /// Returns how many blocks there are.
    fn blocks(&self, nest: &Nest) -> f64 {
        let coordinates = nest.points.iter().zip(&self.each).rev().enumerate();
        let along = coordinates.map(|(at, (point, each))| {
            let of_block = match at {
                0 => self.across * self.vector * each,
                1 => self.down * each,
                _ => *each,
            };
            ((point.extent + of_block - 1) / of_block).max(1) as f64
        });
        along.product()
    }

    /// Returns an estimate in nanoseconds for a machine.
    pub(crate) fn estimate(&self, nest: &Nest, machine: &GpuResources) -> f64 {
        let Some(last) = nest.points.last() else {
            return f64::INFINITY;
        };
        let points = nest.count() as f64;
        let per_thread = (self.each.iter().product::<i64>() * self.vector) as f64;
        let threads = points / per_thread;
        // Requests of a thread, with what several of its points share counted once.
        let mut requests = 0.0;
        let mut flops = 0.0;
        let mut traffic = 0.0;
        let mut waits = 0.0;
        let mut count = |steps: &[Step], trips: f64| {
            let mut seen = BTreeSet::new();
            step::expressions(steps, &mut |it| {
                it.walk(&mut |part| match part {
                    Expression::Load(array, index)
                        if seen.insert((array.clone(), index.to_c())) =>
                    {
                        let mut copies = 1.0;
                        for (point, each) in nest.points.iter().zip(&self.each) {
                            if index.mentions_index(&point.name) {
                                copies *= *each as f64;
                            }
                        }
                        let width = match index
                            .as_index()
                            .map(|it| along(it, &last.name, last.extent, self.vector.max(2)))
                        {
                            Some(Along::Beside) => 1.0 + 0.25 * (self.vector as f64 - 1.0),
                            Some(Along::Same) => 1.0,
                            _ => 8.0 * self.vector as f64,
                        };
                        requests += trips * copies * width;
                        // What no other point reads comes from memory.
                        let is_own = nest.points.iter().all(|it| index.mentions_index(&it.name));
                        if trips == 1.0 || is_own {
                            traffic += trips * copies * self.vector as f64 * 4.0;
                        }
                        if 1.0 < trips && is_own {
                            waits += trips * copies * 40.0;
                        }
                    }
                    Expression::Binary(..) | Expression::Call(..) => flops += trips * per_thread,
                    _ => {}
                });
            });
        };
        fn descend(steps: &[Step], trips: f64, count: &mut dyn FnMut(&[Step], f64)) {
            let mut flat = Vec::new();
            for step in steps {
                match step {
                    Step::Loop {
                        start,
                        end,
                        step,
                        body,
                        ..
                    } => {
                        let first = start.as_constant().unwrap_or(0);
                        let last = end.as_constant().unwrap_or(64);
                        let times = ((last - first) as f64 / *step as f64).max(1.0);
                        descend(body, trips * times, count);
                    }
                    Step::If { then, .. } => {
                        flat.push(step.clone());
                        let _ = then;
                    }
                    other => flat.push(other.clone()),
                }
            }
            count(&flat, trips);
        }
        descend(&nest.steps, 1.0, &mut count);
        let stores = points * 4.0;
        // Threads of a warp that have no point issue what the others do.
        let of_block = self.across * self.vector * self.each.last().copied().unwrap_or(1);
        let covered = (last.extent + of_block - 1) / of_block * of_block;
        let warps = threads / 32.0 * covered as f64 / last.extent.max(1) as f64;
        let own = flops / per_thread;
        // Blocks are done by the SM that has most of them.
        let blocks = self.blocks(nest);
        let sms = blocks / (blocks / machine.sms).ceil();
        let issue = warps * (requests * 2.0 + flops / 1.5) / (sms * 4.0 * machine.clock_ghz);
        let l1 = warps * requests * 2.0 / (sms * machine.clock_ghz);
        let dram = (threads * traffic + stores) / machine.dram_bytes_per_ns;
        // What one thread needs by itself.
        let trips = own / 4.0;
        let alone =
            (requests * 1.5 + flops * 1.2 + trips * 10.0 + waits + 900.0) / machine.clock_ghz;
        let narrow = if covered == last.extent { 1.0 } else { 1.05 };
        let narrow = narrow * [1.06, 1.02, 1.0][(self.vector.trailing_zeros() as usize).min(2)];
        (issue.max(l1).max(dram).max(alone) + 0.2 * (issue + l1 + dram)) * narrow
            + machine.launch_ns
    }
}
