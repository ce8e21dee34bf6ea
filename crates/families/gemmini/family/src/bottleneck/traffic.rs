//! What the paragraph says about bytes moved and the ways that they take.

use super::grouped;
use crate::profile::{Profile, Removal};
use crate::traffic::LINE_BYTES;
use std::fmt::Write;

/// Times the cycles of the roofline from which on it says little by itself.
const FAR_OFF: f64 = 5.0;

/// Busy share from which on a way to memory is named as the limit.
const SATURATED: f64 = 0.8;

/// Share of the cycles from which on it is tried what write-backs cost.
const WORTH_TRYING: f64 = 0.3;

/// What the L2's trackers are called.
const TRACKERS: &str = "the L2, which follows few lines to and from memory at once,";

/// Times the least bytes up to which as few are moved as possible.
const NEARLY: f64 = 1.05;

impl Profile {
    pub(super) fn describe_traffic(&self, text: &mut String) {
        if self.bytes_moved == 0 {
            *text += " It does not use the accelerator for moving data.";
            return;
        }
        let least = self.bytes_minimum.max(1);
        let _ = write!(
            text,
            " It moves {} bytes to and from memory, {:.1} times the least possible {}",
            grouped(self.bytes_moved),
            self.bytes_moved as f64 / least as f64,
            grouped(least),
        );
        let worst = self
            .buffers
            .iter()
            .filter_map(|buffer| Some((buffer, buffer.times.filter(|it| 1.5 <= *it)?)))
            .max_by_key(|(buffer, _)| buffer.bytes_in + buffer.bytes_out - buffer.minimum);
        if let Some((worst, times)) = worst {
            let at = worst
                .line
                .map(|line| format!(" (line {line})"))
                .unwrap_or_default();
            let _ = write!(
                text,
                "; most of the excess is {}, moved {:.1} times{at}",
                worst.buffer, times
            );
        }
        let roofline = &self.roofline;
        let _ = write!(
            text,
            ". The port needs {} cycles for these bytes",
            grouped(roofline.memory_cycles)
        );
        // What the L2 holds does not come from behind it.
        let mut before = roofline.memory_cycles;
        let tracked = if self.mostly_writes_back() {
            ("the write-back of dirty lines", roofline.write_back_cycles)
        } else {
            (TRACKERS, roofline.tracker_cycles)
        };
        for (name, cycles) in [("the memory behind the L2", roofline.outer_cycles), tracked] {
            if before < cycles {
                let _ = write!(text, ", {name} {}", grouped(cycles));
                before = cycles;
            }
        }
        let compute = roofline.compute_cycles;
        if 0 < compute {
            let bound = match self.limit() {
                Limit::Array => "compute-bound on the roofline",
                Limit::WriteBacks if self.writes_least() => {
                    "bound by write-backs, which no kernel for the problem has less of"
                }
                Limit::WriteBacks => "bound by write-backs as long as it writes that many lines",
                Limit::Memory => "memory-bound as long as it moves that much",
            };
            let behind = roofline.memory_cycles < before;
            let _ = write!(
                text,
                "{} and the array {} for the multiplications: {bound}",
                if behind { "," } else { "" },
                grouped(compute)
            );
            let times = self.cycles as f64 / compute.max(roofline.moving_cycles()) as f64;
            if FAR_OFF <= times {
                let _ = write!(text, ", but it takes {times:.0} times as long as that");
            }
        }
        text.push('.');
        if let Some(it) = self.tried(Removal::WriteBacks) {
            let _ = write!(
                text,
                " With {} it would take {} cycles.",
                it.without.machine(),
                grouped(it.cycles)
            );
        }
        if let Some(way) = self.saturated() {
            let percent = |cycles: u64| 100.0 * cycles as f64 / self.cycles.max(1) as f64;
            let _ = write!(
                text,
                " In {:.0} % of the cycles {} is busy",
                percent(way.busy),
                way.name
            );
            let _ = if way.is_least {
                let room = percent(self.cycles.saturating_sub(way.busy));
                write!(
                    text,
                    ", with the least possible to move: at most {room:.0} % are left to gain."
                )
            } else {
                write!(text, ": only moving less there helps.")
            };
        }
    }

    /// Returns whether about as few bytes are moved as possible.
    fn moves_least(&self) -> bool {
        self.bytes_moved as f64 <= NEARLY * self.bytes_minimum.max(1) as f64
    }

    /// Returns whether about as few lines are written behind the L2 as results have.
    fn writes_least(&self) -> bool {
        let written = self.buffers.iter().filter(|it| 0 < it.bytes_out);
        let least: u64 = written.map(|it| it.minimum).sum();
        (self.memory.lines_written * LINE_BYTES) as f64 <= NEARLY * least.max(1) as f64
    }

    /// Returns whether lines written keep the L2's trackers for longer than those read.
    fn mostly_writes_back(&self) -> bool {
        self.roofline.tracker_cycles < 2 * self.roofline.write_back_cycles
    }

    /// Returns what the roofline says limits the kernel.
    fn limit(&self) -> Limit {
        let roofline = &self.roofline;
        if !roofline.is_memory_bound() {
            Limit::Array
        } else if roofline.memory_cycles.max(roofline.outer_cycles) < roofline.write_back_cycles
            && self.mostly_writes_back()
        {
            Limit::WriteBacks
        } else {
            Limit::Memory
        }
    }

    /// Returns whether write-backs are worth an experiment.
    pub(crate) fn writes_back(&self) -> bool {
        let cycles = self.roofline.write_back_cycles as f64;
        0 < self.memory.lines_written && WORTH_TRYING * self.cycles as f64 <= cycles
    }

    /// Returns the cycles that are left to gain, and the way to memory that is busy in the
    /// others: one that cannot be less so, or any if as much is moved afterwards.
    pub(super) fn room(&self, moves_less: bool) -> (u64, &'static str) {
        let bounds = self.ways().filter(|way| way.is_least || !moves_less);
        let busiest = bounds.max_by_key(|way| way.busy);
        busiest.map_or((self.cycles, ""), |way| {
            (self.cycles.saturating_sub(way.busy), way.name)
        })
    }

    /// Returns the ways to memory.
    fn ways(&self) -> impl Iterator<Item = Way> {
        let least = self.moves_least();
        let ways = [
            ("port-in", "the port to memory", least),
            ("outer-memory", "the memory behind the L2", least),
            ("l2-trackers", TRACKERS, least && self.writes_least()),
        ];
        let load = (0 < self.roofline.load_cycles).then(|| Way {
            name: "the unit that moves in, one command at a time,",
            busy: self.roofline.load_cycles,
            occupancy: self.roofline.load_cycles as f64 / self.cycles.max(1) as f64,
            is_least: self.has_habit("moves-once"),
        });
        let ways = ways.into_iter().filter_map(|(unit, name, is_least)| {
            let unit = self.units.iter().find(|it| it.unit == unit)?;
            Some(Way {
                name,
                busy: unit.busy_cycles,
                occupancy: unit.occupancy,
                is_least,
            })
        });
        ways.chain(load)
    }

    /// Returns the way to memory that is busy nearly all the time.
    pub(super) fn saturated(&self) -> Option<Way> {
        let busy = self.ways().filter(|way| SATURATED <= way.occupancy);
        busy.max_by_key(|way| way.busy)
    }
}

/// What the roofline says limits a kernel.
enum Limit {
    Array,
    Memory,
    WriteBacks,
}

/// A way to memory.
pub(super) struct Way {
    name: &'static str,
    busy: u64,
    occupancy: f64,
    /// Whether no kernel for the problem has less to move there.
    is_least: bool,
}
