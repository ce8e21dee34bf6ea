//! The paragraph about what limits a kernel, made of its profile.

mod remedy;
mod traffic;

use crate::profile::{Cause, CauseCycles, LineCycles, Profile, Removal, WhatIf};
use crate::texts::TEXTS;
use autocomp_eval::Paragraph;
use autocomp_eval::text::grouped;
use std::fmt::Display;

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
        self.remedy = match self.uses_accelerator() {
            true => self.find_remedy(),
            false => None,
        };
        let mut said = TEXTS.limits.paragraph();
        self.describe_use(&mut said);
        if self.uses_accelerator() {
            self.describe_losses(&mut said);
            self.describe_unused_array(&mut said);
            self.describe_traffic(&mut said);
            let values: [(&str, &dyn Display); 4] = [
                ("spad_used", &grouped(self.scratchpad.used)),
                ("spad_rows", &grouped(self.scratchpad.size)),
                ("acc_used", &grouped(self.accumulator.used)),
                ("acc_rows", &grouped(self.accumulator.size)),
            ];
            said.say("rows", &values);
        } else {
            let place = self.place(Cause::CoreIssue);
            let ideal = grouped(self.ideal_cycles);
            said.say("core-alone", &[("place", &place), ("ideal", &ideal)]);
        }
        self.bottleneck = said.text();
    }

    /// Says how long the kernel takes and what of it the array is at useful work.
    fn describe_use(&self, said: &mut Paragraph<'_>) {
        let (mut multiplying, mut useful) = (String::new(), String::new());
        if self.uses_accelerator() && 0 < self.roofline.compute_cycles {
            let mesh = self.percent(self.cycles_of(Cause::Mesh));
            multiplying = filled("multiplying", &[("percent", &mesh)]);
            let share = self.useful_multipliers();
            if share < USEFUL {
                let percent = 100.0 * share;
                let digits = usize::from(percent < 1.0);
                useful = filled("useful", &[("percent", &format!("{percent:.digits$}"))]);
            }
        }
        let values: [(&str, &dyn Display); 4] = [
            ("cycles", &grouped(self.cycles)),
            ("percent", &format!("{:.1}", self.percent_of_peak)),
            ("multiplying", &multiplying),
            ("useful", &useful),
        ];
        said.say("takes", &values);
    }

    /// Says which losses there are, what would be gained without each, and what helps.
    fn describe_losses(&self, said: &mut Paragraph<'_>) {
        let losses = self.losses();
        let mut told: Vec<Removal> = Vec::new();
        for (place, it) in losses.iter().enumerate() {
            // A smaller loss comes first if more is to be gained with it.
            let opening = match place {
                0 if losses.iter().any(|other| it.cycles < other.cycles) => "opening-most-to-gain",
                0 => "opening-first",
                _ => "opening-next",
            };
            let removal = self.experiment(it.cause).map(|it| it.without);
            let is_told = removal.is_some_and(|it| told.contains(&it));
            let again = if is_told {
                TEXTS.limits.of("again")
            } else {
                ""
            };
            let values: [(&str, &dyn Display); 7] = [
                ("opening", TEXTS.limits.of(opening)),
                ("cycles", &grouped(it.cycles)),
                ("percent", &format!("{:.0}", 100.0 * it.share)),
                ("explanation", &it.cause.explanation()),
                ("place", &self.place(it.cause)),
                ("reason", &self.reason(it.cause)),
                ("again", &again),
            ];
            said.say("loss", &values);
            if !is_told {
                self.describe_bound(it, said);
            }
            told.extend(removal);
            if let Some(remedy) = self.remedy.as_ref().filter(|known| known.cause == it.cause) {
                said.say("remedy", &[("remedy", &remedy.text)]);
            }
        }
        if losses.is_empty() {
            let without = self.cycles_of(Cause::Mesh).max(self.ideal_cycles);
            let values: [(&str, &dyn Display); 2] = [
                ("percent", &format!("{:.0}", 100.0 * WORTH_NAMING)),
                ("cycles", &grouped(without)),
            ];
            said.say("no-loss", &values);
        }
    }

    /// Says what multiplications cost that leave most of the array without use.
    fn describe_unused_array(&self, said: &mut Paragraph<'_>) {
        let remedy = self.remedy.as_ref().filter(|it| it.cause == Cause::Mesh);
        let mostly_multiplies = MOST * self.cycles as f64 <= self.cycles_of(Cause::Mesh) as f64;
        if let Some(remedy) = remedy {
            let values: [(&str, &dyn Display); 3] = [
                ("cycles", &grouped(remedy.gain)),
                ("percent", &self.percent(remedy.gain)),
                ("remedy", &remedy.text),
            ];
            said.say("unused-array", &values);
        } else if mostly_multiplies && self.useful_multipliers() < MOST {
            said.say("mostly-unused-array", &[]);
        }
    }

    /// Says what would be gained at most without the cause of a loss.
    fn describe_bound(&self, loss: &CauseCycles, said: &mut Paragraph<'_>) {
        let gain = self.gain(loss);
        let Some(it) = self.experiment(loss.cause) else {
            let cycles = grouped(self.cycles - gain);
            said.say("bound-not-tried", &[("cycles", &cycles)]);
            return;
        };
        // The experiment takes away what has to be moved in any case.
        let (name, gain) = match gain < it.gain {
            true => ("bound-by-traffic", gain),
            false => ("bound", it.gain),
        };
        let values: [(&str, &dyn Display); 4] = [
            ("machine", &it.without.machine()),
            ("cycles", &grouped(it.cycles)),
            ("way", &self.room(loss.cause.text().traffic).1),
            ("percent", &self.percent(gain)),
        ];
        said.say(name, &values);
    }

    /// Returns a share of all cycles in whole percent.
    fn percent(&self, part: u64) -> String {
        let percent = 100.0 * part as f64 / self.cycles.max(1) as f64;
        format!("{percent:.0}")
    }

    /// Says why the reservation station is full, if that is the cause.
    fn reason(&self, cause: Cause) -> String {
        let (unit, waiting) = match cause {
            Cause::LoadEntries => ("load", "load-entries-wait"),
            Cause::StoreEntries => ("store", "store-entries-wait"),
            Cause::ExecuteEntries => ("array", "array-entries-wait"),
            _ => return String::new(),
        };
        let Some(full) = self.station.iter().find(|it| it.unit == unit) else {
            return String::new();
        };
        let most = MOST * full.cycles.max(1) as f64;
        match full.on_line {
            Some(line) if most < full.waiting_cycles as f64 => filled(waiting, &[("line", &line)]),
            _ if most < full.working_cycles as f64 && unit == "load" => {
                let transfer = full.arriving_cycles + full.outer_wait_cycles;
                let limit = if transfer < full.working_cycles / 2 {
                    "by-latency"
                } else if self.busy("port-in") < self.busy("outer-memory") {
                    "by-outer-memory"
                } else {
                    "by-port"
                };
                filled("load-entries-work", &[("limit", TEXTS.limits.of(limit))])
            }
            _ if most < full.working_cycles as f64 => filled("entries-work", &[]),
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
        let mut text: String = line.text.chars().take(TEXT_SHOWN).collect();
        if TEXT_SHOWN < line.text.chars().count() {
            text.push('…');
        }
        let holding = wait.map(|it| filled("holding", &[("line", &it.line)]));
        let values: [(&str, &dyn Display); 3] = [
            ("line", &number),
            ("holding", &holding.unwrap_or_default()),
            ("text", &text),
        ];
        filled("place", &values)
    }
}

/// Returns a sentence about limits, or a part of one, with `values` in place of their names.
fn filled(name: &str, values: &[(&str, &dyn Display)]) -> String {
    TEXTS.limits.filled(name, values)
}
