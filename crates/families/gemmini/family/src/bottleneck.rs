//! The paragraph about what limits a kernel, made of its profile.

mod remedy;
mod traffic;

use crate::profile::{Cause, CauseCycles, LineCycles, Profile, Removal, WhatIf};
use autocomp_eval::text::grouped;
use std::fmt::Write;

/// Share of all cycles from which on a loss is named.
pub(crate) const WORTH_NAMING: f64 = 0.05;

/// Losses named at most.
pub(crate) const NAMED: usize = 3;

/// Share of the cycles of a full station from which on its reason is named.
const MOST: f64 = 0.5;

/// Characters of a source line shown.
const TEXT_SHOWN: usize = 80;

/// Share of the multipliers below which it is told how many are of use.
const USEFUL: f64 = 0.9;

impl Profile {
    /// Returns the losses that are worth naming, those with most to gain first.
    pub(crate) fn losses(&self) -> Vec<&CauseCycles> {
        let mut losses: Vec<&CauseCycles> = self
            .causes
            .iter()
            .filter(|it| it.cause.is_loss() && 0 < it.cycles && WORTH_NAMING <= it.share)
            .take(NAMED)
            .collect();
        losses.sort_by_key(|loss| {
            let gain = self.experiment(loss.cause).map(|it| it.gain);
            std::cmp::Reverse((gain.unwrap_or(loss.cycles), loss.cycles))
        });
        losses
    }

    /// Returns which cost to take away to see what a cause costs.
    pub(crate) fn removal(&self, cause: Cause) -> Option<Removal> {
        // Entries are full either of commands that are worked on or of
        // commands that wait for others.
        let working = |unit: &str| {
            let full = self.station.iter().find(|it| it.unit == unit);
            full.is_some_and(|it| it.waiting_cycles < it.working_cycles)
        };
        match cause {
            Cause::BankConflict | Cause::PortConflict => Some(Removal::Banks),
            Cause::LoadLatency | Cause::LoadBandwidth | Cause::LoadMemory => Some(Removal::Loads),
            Cause::LoadEntries if working("load") => Some(Removal::Loads),
            Cause::Store => Some(Removal::Stores),
            Cause::StoreEntries if working("store") => Some(Removal::Stores),
            Cause::LoadEntries | Cause::StoreEntries | Cause::ExecuteEntries => {
                Some(Removal::Entries)
            }
            Cause::CoreIssue | Cause::CacheMiss | Cause::Fence => Some(Removal::Core),
            Cause::Mesh
            | Cause::PreloadAlone
            | Cause::ArrayFull
            | Cause::Dependency
            | Cause::RowsInUse
            | Cause::ConfigDrain
            | Cause::LoopUnit
            | Cause::Latency
            | Cause::Tlb
            | Cause::Unrecorded => None,
        }
    }

    /// Returns whether the accelerator moves or multiplies anything.
    pub(crate) fn uses_accelerator(&self) -> bool {
        0 < self.bytes_moved + self.cycles_of(Cause::Mesh) + self.scratchpad.used
            || 0 < self.accumulator.used
    }

    fn experiment(&self, cause: Cause) -> Option<&WhatIf> {
        self.tried(self.removal(cause)?)
    }

    fn tried(&self, removal: Removal) -> Option<&WhatIf> {
        self.what_if.iter().find(|it| it.without == removal)
    }

    /// Writes the paragraph about what limits the kernel.
    pub(crate) fn describe(&mut self) {
        let cycles = self.cycles.max(1);
        let percent = |part: u64| 100.0 * part as f64 / cycles as f64;
        let mut text = format!(
            "The kernel takes {} cycles, {:.1} % of peak",
            grouped(self.cycles),
            self.percent_of_peak,
        );
        if !self.uses_accelerator() {
            text += &self.describe_core_alone();
            self.bottleneck = text;
            return;
        }
        // Writing to a text cannot fail.
        if 0 < self.roofline.compute_cycles {
            let mesh = percent(self.cycles_of(Cause::Mesh));
            let _ = write!(text, "; the array multiplies in {mesh:.0} % of them");
            let useful = self.useful_multipliers();
            if useful < USEFUL {
                let useful = 100.0 * useful;
                let digits = usize::from(useful < 1.0);
                let _ = write!(
                    text,
                    ", with {useful:.digits$} % of its multipliers at useful work"
                );
            }
        }
        text.push('.');
        self.remedy = self.find_remedy();
        let losses = self.losses();
        let mut told: Vec<Removal> = Vec::new();
        for (place, it) in losses.iter().enumerate() {
            // A smaller loss comes first if more is to be gained with it.
            let first = match place {
                0 if losses.iter().any(|other| it.cycles < other.cycles) => {
                    " Where most is to be gained:"
                }
                0 => " What limits it most:",
                _ => " Next:",
            };
            let _ = write!(
                text,
                "{first} in {} cycles ({:.0} %) {}{}{}",
                grouped(it.cycles),
                100.0 * it.share,
                it.cause.explanation(),
                self.place(it.cause),
                self.reason(it.cause),
            );
            let removal = self.experiment(it.cause).map(|it| it.without);
            match removal {
                Some(removal) if told.contains(&removal) => {
                    text += "; the experiment above takes that away too.";
                }
                _ => {
                    text.push('.');
                    text += &self.bound(it);
                }
            }
            told.extend(removal);
            if let Some(remedy) = self.remedy.as_ref().filter(|known| known.cause == it.cause) {
                let _ = write!(text, " Remedy: {}.", remedy.text);
            }
        }
        if losses.is_empty() {
            let _ = write!(
                text,
                " No single loss takes {:.0} % of the cycles; without any it would take {} cycles.",
                100.0 * WORTH_NAMING,
                grouped(self.cycles_of(Cause::Mesh).max(self.ideal_cycles)),
            );
        }
        if let Some(remedy) = self.remedy.as_ref().filter(|it| it.cause == Cause::Mesh) {
            let _ = write!(
                text,
                " About {} cycles ({:.0} %) go into multiplications that leave most of the array \
                 without use. Remedy: {}.",
                grouped(remedy.gain),
                percent(remedy.gain),
                remedy.text,
            );
        } else if MOST * self.cycles as f64 <= self.cycles_of(Cause::Mesh) as f64
            && self.useful_multipliers() < MOST
        {
            text += " Most of the time goes into multiplications that leave most of the array \
                     without use: what helps is operands that fill its rows and columns.";
        }
        self.describe_traffic(&mut text);
        let _ = write!(
            text,
            " It uses {} of {} scratchpad rows and {} of {} accumulator rows.",
            grouped(self.scratchpad.used),
            grouped(self.scratchpad.size),
            grouped(self.accumulator.used),
            grouped(self.accumulator.size),
        );
        self.bottleneck = text;
    }

    /// Says what is to be said of a kernel that gives the accelerator nothing to do.
    fn describe_core_alone(&self) -> String {
        format!(
            ". What limits it: the core does all the work{}; the accelerator moves and multiplies \
             nothing. No kernel can take less than {} cycles. Remedy: let the accelerator move \
             tiles into its local memory, work on them there and move the results out.",
            self.place(Cause::CoreIssue),
            grouped(self.ideal_cycles),
        )
    }

    /// Says what would be gained at most without the cause of a loss.
    fn bound(&self, loss: &CauseCycles) -> String {
        let gain = self.gain(loss);
        let percent = |cycles: u64| 100.0 * cycles as f64 / self.cycles.max(1) as f64;
        match self.experiment(loss.cause) {
            // The experiment takes away what has to be moved in any case.
            Some(it) if gain < it.gain => {
                let (_, way) = self.room(loss.cause.text().traffic);
                format!(
                    " With {} it would take {} cycles; but while {way} has that much to move, \
                     at most {:.0} % are to be gained.",
                    it.without.machine(),
                    grouped(it.cycles),
                    percent(gain),
                )
            }
            Some(it) => format!(
                " With {} it would take {} cycles, so at most {:.0} % are to be gained there.",
                it.without.machine(),
                grouped(it.cycles),
                percent(it.gain),
            ),
            None => format!(
                " Without these it would take about {} cycles.",
                grouped(self.cycles - gain)
            ),
        }
    }

    /// Says why the reservation station is full, if that is the cause.
    fn reason(&self, cause: Cause) -> String {
        let unit = match cause {
            Cause::LoadEntries => "load",
            Cause::StoreEntries => "store",
            Cause::ExecuteEntries => "array",
            _ => return String::new(),
        };
        let Some(full) = self.station.iter().find(|it| it.unit == unit) else {
            return String::new();
        };
        let most = MOST * full.cycles.max(1) as f64;
        match full.on_line {
            Some(line) if most < full.waiting_cycles as f64 => {
                let what = match unit {
                    "load" => "the rows that they overwrite are still used by",
                    "store" => "the results that they move out still come from",
                    _ => "they wait for",
                };
                format!("; the commands in them cannot begin, because {what} line {line}")
            }
            _ if most < full.working_cycles as f64 && unit == "load" => {
                let transfer = full.arriving_cycles + full.outer_wait_cycles;
                let limit = if transfer < full.working_cycles / 2 {
                    "latency"
                } else if self.busy("port-in") < self.busy("outer-memory") {
                    "the memory behind the L2"
                } else {
                    "the width of the port"
                };
                format!("; the moves in them are under way, limited mostly by {limit}")
            }
            _ if most < full.working_cycles as f64 => {
                "; the commands in them are under way".to_owned()
            }
            _ => String::new(),
        }
    }

    fn busy(&self, name: &str) -> f64 {
        let unit = self.units.iter().find(|it| it.unit == name);
        unit.map_or(0.0, |unit| unit.occupancy)
    }

    /// Returns the line that most cycles of a cause are charged to.
    fn dearest_line(&self, cause: Cause) -> Option<&LineCycles> {
        self.lines
            .iter()
            .filter(|line| line.line.is_some() && line.causes.contains_key(&cause))
            .max_by_key(|line| line.causes.get(&cause).copied().unwrap_or(0))
    }

    /// Returns where most cycles of a cause are charged, as ` (line 3: …)`.
    fn place(&self, cause: Cause) -> String {
        let Some(line) = self.dearest_line(cause) else {
            return String::new();
        };
        let number = line.line.unwrap_or(0);
        let wait = self
            .waits
            .iter()
            .find(|wait| wait.cause == cause && wait.on_line == number && wait.line != number);
        let text: String = line.text.chars().take(TEXT_SHOWN).collect();
        let more = if TEXT_SHOWN < line.text.chars().count() {
            "…"
        } else {
            ""
        };
        let mut place = format!(" (line {number}: `{text}{more}`");
        if let Some(wait) = wait {
            let _ = write!(place, ", which holds up line {}", wait.line);
        }
        place.push(')');
        place
    }
}
