//! What the paragraph says about bytes moved and the ways that they take.

use super::{filled, grouped};
use crate::profile::{Profile, Removal};
use crate::texts::TEXTS;
use crate::traffic::LINE_BYTES;
use autocomp_eval::Paragraph;
use std::fmt::Display;

/// Times the cycles of the roofline from which on it says little by itself.
const FAR_OFF: f64 = 5.0;

/// Busy share from which on a way to memory is named as the limit.
const SATURATED: f64 = 0.8;

/// Share of the cycles from which on it is tried what write-backs cost.
const WORTH_TRYING: f64 = 0.3;

/// Times the least bytes up to which as few are moved as possible.
const NEARLY: f64 = 1.05;

impl Profile {
    /// Says how much is moved and what that takes.
    pub(super) fn describe_traffic(&self, said: &mut Paragraph<'_>) {
        if self.bytes_moved == 0 {
            said.say("nothing-moved", &[]);
            return;
        }
        let least = self.bytes_minimum.max(1);
        let roofline = &self.roofline;
        // What the L2 holds does not come from behind it.
        let mut before = roofline.memory_cycles;
        let tracked = if self.mostly_writes_back() {
            ("write-backs", roofline.write_back_cycles)
        } else {
            ("l2-trackers", roofline.tracker_cycles)
        };
        let mut ways = String::new();
        for (way, cycles) in [("outer-memory", roofline.outer_cycles), tracked] {
            if before < cycles {
                let values: [(&str, &dyn Display); 2] =
                    [("way", TEXTS.ways.of(way)), ("cycles", &grouped(cycles))];
                ways += &filled("way", &values);
                before = cycles;
            }
        }
        let times = self.bytes_moved as f64 / least as f64;
        let values: [(&str, &dyn Display); 7] = [
            ("bytes", &grouped(self.bytes_moved)),
            ("times", &format!("{times:.1}")),
            ("least", &grouped(least)),
            ("excess", &self.excess()),
            ("cycles", &grouped(roofline.memory_cycles)),
            ("ways", &ways),
            ("array", &self.array(!ways.is_empty())),
        ];
        said.say("moved", &values);
        if let Some(it) = self.tried(Removal::WriteBacks) {
            let (machine, cycles) = (it.without.machine(), grouped(it.cycles));
            said.say("tried", &[("machine", &machine), ("cycles", &cycles)]);
        }
        if let Some(way) = self.saturated() {
            let name = match way.is_least {
                true => "saturated-by-least",
                false => "saturated",
            };
            let room = self.cycles.saturating_sub(way.busy);
            let values: [(&str, &dyn Display); 3] = [
                ("percent", &self.percent(way.busy)),
                ("way", &way.name),
                ("room", &self.percent(room)),
            ];
            said.say(name, &values);
        }
    }

    /// Returns which buffer is moved more often than need be, if one is.
    fn excess(&self) -> String {
        let worst = self
            .buffers
            .iter()
            .filter_map(|buffer| Some((buffer, buffer.times.filter(|it| 1.5 <= *it)?)))
            .max_by_key(|(buffer, _)| buffer.bytes_in + buffer.bytes_out - buffer.minimum);
        let Some((worst, times)) = worst else {
            return String::new();
        };
        let at = worst.line.map(|line| filled("at", &[("line", &line)]));
        let values: [(&str, &dyn Display); 3] = [
            ("buffer", &worst.buffer),
            ("times", &format!("{times:.1}")),
            ("at", &at.unwrap_or_default()),
        ];
        filled("excess", &values)
    }

    /// Returns how long the array multiplies, and what limits the kernel by that.
    fn array(&self, is_behind_ways: bool) -> String {
        let compute = self.roofline.compute_cycles;
        if compute == 0 {
            return String::new();
        }
        let bound = match self.limit() {
            Limit::Array => "by-array",
            Limit::WriteBacks if self.writes_least() => "by-least-write-backs",
            Limit::WriteBacks => "by-write-backs",
            Limit::Memory => "by-memory",
        };
        let times = self.cycles as f64 / compute.max(self.roofline.moving_cycles()) as f64;
        let far_off = match times {
            FAR_OFF.. => filled("far-off", &[("times", &format!("{times:.0}"))]),
            _ => String::new(),
        };
        let name = if is_behind_ways {
            "array-behind-ways"
        } else {
            "array"
        };
        let values: [(&str, &dyn Display); 3] = [
            ("cycles", &grouped(compute)),
            ("bound", TEXTS.limits.of(bound)),
            ("far-off", &far_off),
        ];
        filled(name, &values)
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
            ("port-in", least),
            ("outer-memory", least),
            ("l2-trackers", least && self.writes_least()),
        ];
        let load = (0 < self.roofline.load_cycles).then(|| Way {
            name: TEXTS.ways.of("load-unit"),
            busy: self.roofline.load_cycles,
            occupancy: self.roofline.load_cycles as f64 / self.cycles.max(1) as f64,
            is_least: self.has_habit("moves-once"),
        });
        let ways = ways.into_iter().filter_map(|(name, is_least)| {
            let unit = self.units.iter().find(|it| it.unit == name)?;
            Some(Way {
                name: TEXTS.ways.of(name),
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
