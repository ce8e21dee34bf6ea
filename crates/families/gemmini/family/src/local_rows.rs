//! How many local rows hold something that is still needed, over time.
//!
//! A row is in use from the command that writes it until the last command that
//! reads what was written. Rows that are written and never read count for the
//! cycle of their writing only.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use autocomp_gemmini::timing::{RecordedCommand, Recording, TouchedRows};

/// Parts of a call that are told apart at most.
const PARTS: u64 = 64;

/// Rows in use.
#[derive(Debug, Default)]
pub struct Occupancy {
    /// At once at most.
    pub peak: u64,
    /// On average in each part of the call.
    pub over_time: Vec<u64>,
    /// Cycle of the call and rows in use from then on, where that changes much.
    pub(super) steps: Vec<(u64, u64)>,
}

/// Life of what is in a row: cycles of its writing and last reading.
#[derive(Clone, Copy, Default)]
struct Life {
    from: u64,
    until: u64,
    alive: bool,
}

/// Returns how many rows of a memory are in use between the cycles `start` and `end`.
/// `written` says of each row whether the call writes it: the station also keeps
/// rows between the blocks of a wide move, which nothing may lie in.
pub(super) fn occupancy(
    recording: &Recording,
    accumulator: bool,
    written: &[bool],
    start: u64,
    end: u64,
) -> Occupancy {
    let mut rows = vec![Life::default(); written.len()];
    // Changes of the number of rows in use by cycle.
    let mut changes: Vec<(u64, i64)> = Vec::new();
    for (command, touched) in recording.commands.iter().zip(&recording.rows) {
        for touched in touched.iter().flatten() {
            if touched.accumulator == accumulator {
                touch(&mut rows, written, command, touched, &mut changes);
            }
        }
    }
    for life in rows.iter().filter(|life| life.alive) {
        close(life, &mut changes);
    }
    for change in &mut changes {
        change.0 = change.0.clamp(start, end) - start;
    }
    changes.sort_unstable();
    summarize(&changes, end - start)
}

fn touch(
    rows: &mut [Life],
    written: &[bool],
    command: &RecordedCommand,
    touched: &TouchedRows,
    changes: &mut Vec<(u64, i64)>,
) {
    let (from, until) = (
        command.issued(),
        command.completed().max(command.issued()) + 1,
    );
    let size = rows.len();
    let first = (touched.first as usize).min(size);
    let end = first.saturating_add(touched.count as usize).min(size);
    let known = rows[first..end].iter_mut().zip(&written[first..end]);
    for (life, _) in known.filter(|(_, written)| **written) {
        // Sums that grow in the accumulator are one life: adding to a row
        // reads it.
        if touched.written && life.alive && !touched.adds && life.until <= from {
            close(life, changes);
            life.alive = false;
        }
        if life.alive {
            life.until = life.until.max(until);
        } else {
            *life = Life {
                from,
                until,
                alive: true,
            };
        }
    }
}

fn close(life: &Life, changes: &mut Vec<(u64, i64)>) {
    changes.push((life.from, 1));
    changes.push((life.until, -1));
}

pub fn summarize(changes: &[(u64, i64)], cycles: u64) -> Occupancy {
    let parts = PARTS.min(cycles.max(1));
    let bound = |part: u64| part * cycles / parts;
    let mut sums = vec![0u64; parts as usize];
    let mut occupancy = Occupancy::default();
    let (mut at, mut part, mut now) = (0, 0, 0i64);
    let mut advance = |at: &mut u64, until: u64, now: i64| {
        while *at < until {
            while bound(part + 1) <= *at {
                part += 1;
            }
            let step = bound(part + 1).min(until);
            sums[part as usize] += (step - *at) * now.max(0) as u64;
            *at = step;
        }
    };
    let mut idx = 0;
    while idx < changes.len() {
        let cycle = changes[idx].0;
        advance(&mut at, cycle, now);
        while idx < changes.len() && changes[idx].0 == cycle {
            now += changes[idx].1;
            idx += 1;
        }
        occupancy.peak = occupancy.peak.max(now.max(0) as u64);
        occupancy.steps.push((cycle, now.max(0) as u64));
    }
    advance(&mut at, cycles, now);
    occupancy.over_time = (0..parts)
        .map(|part| sums[part as usize] / (bound(part + 1) - bound(part)).max(1))
        .collect();
    occupancy
}
