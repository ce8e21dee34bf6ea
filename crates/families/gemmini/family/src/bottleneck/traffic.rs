//! What the paragraph says about bytes moved and the ways that they take.

use super::grouped;
use crate::profile::{Profile, UnitCycles};
use std::fmt::Write;

/// Times the cycles of the roofline from which on it says little by itself.
const FAR_OFF: f64 = 5.0;

/// Busy share from which on a way to memory is named as the limit.
const SATURATED: f64 = 0.8;

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
        let behind = roofline.memory_cycles < roofline.outer_cycles;
        if behind {
            let _ = write!(
                text,
                ", the memory behind the L2 {}",
                grouped(roofline.outer_cycles)
            );
        }
        let compute = roofline.compute_cycles;
        if 0 < compute {
            let bound = if roofline.is_memory_bound() {
                "memory-bound as long as it moves that much"
            } else {
                "compute-bound on the roofline"
            };
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
        if let Some((name, busy)) = self.saturated() {
            let percent = |cycles: u64| 100.0 * cycles as f64 / self.cycles.max(1) as f64;
            let _ = write!(
                text,
                " In {:.0} % of the cycles {name} is busy",
                percent(busy)
            );
            let _ = if self.moves_least() {
                let room = percent(self.room().0);
                write!(
                    text,
                    ", with the least bytes possible: at most {room:.0} % are left to gain."
                )
            } else {
                write!(text, ": only moving fewer bytes helps.")
            };
        }
    }

    /// Returns whether about as few bytes are moved as possible.
    fn moves_least(&self) -> bool {
        self.bytes_moved as f64 <= NEARLY * self.bytes_minimum.max(1) as f64
    }

    /// Returns the cycles that are left to gain, and the way to memory that is
    /// the reason if it is busy in the others and cannot be less so.
    pub(super) fn room(&self) -> (u64, &'static str) {
        let busiest = self.ways().max_by_key(|(_, unit)| unit.busy_cycles);
        let busiest = busiest.filter(|_| self.moves_least());
        busiest.map_or((self.cycles, ""), |(name, unit)| {
            (self.cycles.saturating_sub(unit.busy_cycles), name)
        })
    }

    /// Returns the ways to memory with their names.
    fn ways(&self) -> impl Iterator<Item = (&'static str, &UnitCycles)> {
        let ways = [
            ("port-in", "the port to memory"),
            ("outer-memory", "the memory behind the L2"),
        ];
        ways.into_iter().filter_map(|(unit, name)| {
            let unit = self.units.iter().find(|it| it.unit == unit)?;
            Some((name, unit))
        })
    }

    /// Returns the way to memory that is busy nearly all the time, and its busy
    /// cycles.
    pub(super) fn saturated(&self) -> Option<(&'static str, u64)> {
        self.ways().find_map(|(name, unit)| {
            (SATURATED <= unit.occupancy).then_some((name, unit.busy_cycles))
        })
    }
}
