//! How to search.

use serde::{Deserialize, Serialize};
use std::fmt;

/// When each menu item is given a plan of its own, instead of a draw of the menu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exhaustive {
    /// Never.
    #[default]
    Never,
    /// In iterations that follow one without a gain.
    Stalled,
    /// In every iteration.
    Always,
}

impl Exhaustive {
    /// Every value.
    pub const ALL: [Self; 3] = [Self::Never, Self::Stalled, Self::Always];

    /// Returns the serialised name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Stalled => "stalled",
            Self::Always => "always",
        }
    }
}

impl fmt::Display for Exhaustive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What counts as a kernel that is known already, and is not evaluated again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplicates {
    /// One with the same text.
    Text,
    /// Also one of an earlier iteration whose text differs in comments, spaces and the
    /// names of its own variables only.
    #[default]
    Form,
    /// Also one of an earlier iteration that the same machine code is made of, where the
    /// family can tell.
    Code,
}

/// How to search: everything that decides the course of a run besides its
/// seed, its menu and its baseline. Part of the run's first event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchSettings {
    /// Name of the strategy (`beam`, `evolutionary`, `best-of-n`, `hill-climbing`, `random`).
    pub strategy: String,
    /// Islands of the evolutionary strategy; places are dealt to them in turn. 1 to 64.
    pub islands: u32,
    /// Iterations after which islands take over the best of their neighbours, again and
    /// again; 0 for never. At most 10,000.
    pub migration: u32,
    /// Places in the beam, B: parents of each iteration. 1 to 256.
    pub beam: u32,
    /// Plans for each place, N. 1 to 256.
    pub plans: u32,
    /// Drafts for each plan, K. 1 to 64.
    pub drafts: u32,
    /// Attempts at repairing a draft that failed, with its diagnostics; 0 to 16.
    /// Each costs an evaluation.
    pub repairs: u32,
    /// Iterations at most, T. 1 to 10,000.
    pub iterations: u32,
    /// Share of the menu's regular items that each plan does not see, from 0
    /// to below 1. The number left is the same for every plan, at least one,
    /// and the `other` item always stays.
    pub menu_dropout: f64,
    /// A correct child may survive if its cost is below its parent's times
    /// this factor, 1 to 100: 1 asks for a faster child, 1.05 admits one that is
    /// up to 5 % slower. Parents stay in the pool, so the best is never lost.
    pub slack: f64,
    /// The slack of the first iterations instead, one number for each (`[1.1, 1.1]`).
    pub early_slack: Vec<f64>,
    /// When plans take the menu item by item instead of drawing from it: `never`, `stalled`
    /// (after an iteration without a gain) or `always`. Each survivor gets one plan for every
    /// item that was not tried on it, the best one first; plans left over draw as usual.
    pub exhaustive: Exhaustive,
    /// First iterations that translate the kernel to the target, with the menu's items for
    /// that and `translation_slack`; 0 to 10,000. Kernels rank by how much of them is
    /// translated, then by cost.
    pub translation: u32,
    /// The slack of iterations that translate, 1 to 1,000: a first translation may be far
    /// slower than its original.
    pub translation_slack: f64,
    /// Whether kernels that are not translated (less than 95 %) leave when the translation
    /// ends, if there is one that is.
    pub drop_original: bool,
    /// Menu items that a model writes for each survivor beside the menu, 0 to 16; one
    /// request for each.
    pub ideas: u32,
    /// Whether models and menu items are drawn by how often they helped and what they cost
    /// so far, instead of in turn. Leave it off where settings are compared.
    pub bandit: bool,
    /// Survivors with the same parent at most, as long as others could take
    /// the places; 0 for no limit.
    pub siblings: u32,
    /// Places kept for kernels that never had one, if there are admitted ones,
    /// even where older kernels are faster; 0 to 256. The best always keeps its
    /// place, so a beam of n places has n - 1 for newcomers at most. Without
    /// them, a full beam never takes in a slower child, however large the slack.
    pub newcomers: u32,
    /// Places kept for kernels of techniques and lines of descent that no other survivor
    /// stands for, however slow they are; 0 to 256. Like newcomers, they leave the best
    /// its place. For the strategy `beam`.
    pub niches: u32,
    /// Iterations without a kernel that is better by at least `least_gain`
    /// after which the run ends; 0 for never.
    pub patience: u32,
    /// Share of the best cost that a better kernel must save for patience to
    /// begin anew, from 0 to below 1. Smaller gains are kept all the same.
    pub least_gain: f64,
    /// Percent of peak at which the run ends, above 0 to 100.
    pub stop_at_percent_of_peak: Option<f64>,
    /// Changes by the rewriter for each survivor in each iteration, beside the
    /// plans and without repairs; 0 to 64. Where evaluations are bounded, they
    /// take at most a quarter of an iteration's, and leave a plan to every place.
    pub polish: u32,
    /// While the schedule of another run is replayed: the share of drafts that explore
    /// instead, 0.1 to 0.9.
    pub explore: f64,
    /// Which kernels are not evaluated because an equal one was: of the same text
    /// (`text`), of the same normal form (`form`), or of the same machine code (`code`).
    pub duplicates: Duplicates,
    /// Whether timing a right kernel ends as soon as it costs too much to survive, where the
    /// strategy can tell. Not while a kernel is translated or a schedule replayed, nor with
    /// `niches` or `confirm`: there slow kernels may be wanted.
    pub early_cut: bool,
    /// Kernels that are evaluated once more before the run ends, the best first, on
    /// other inputs and on the machines of `confirm_on`; 0 to 64. One that fails is
    /// struck, and the next is confirmed in its place.
    pub confirm: u32,
    /// Distinct kernels evaluated at most, the baseline included; at least 1.
    pub max_evaluations: Option<u32>,
}

impl Default for SearchSettings {
    /// Returns settings for a run of one to two minutes with the rewriter on
    /// two cores; patience usually ends it before the evaluations do.
    fn default() -> Self {
        Self {
            strategy: "beam".to_owned(),
            islands: 3,
            migration: 4,
            beam: 6,
            plans: 6,
            drafts: 1,
            repairs: 0,
            iterations: 15,
            menu_dropout: 0.5,
            slack: 1.05,
            early_slack: Vec::new(),
            exhaustive: Exhaustive::Never,
            translation: 0,
            translation_slack: 15.0,
            drop_original: true,
            ideas: 0,
            bandit: false,
            siblings: 3,
            newcomers: 2,
            niches: 0,
            patience: 3,
            least_gain: 0.005,
            stop_at_percent_of_peak: None,
            polish: 0,
            explore: 0.5,
            duplicates: Duplicates::Form,
            early_cut: true,
            confirm: 0,
            max_evaluations: Some(500),
        }
    }
}

/// A setting is out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("setting `{name}` is {value}, but must be {expected}")]
pub struct SettingError {
    /// Name of the setting, as serialised.
    pub name: &'static str,
    /// The value given.
    pub value: String,
    /// What is allowed.
    pub expected: String,
}

impl SearchSettings {
    /// The most iterations that a run may have.
    pub const MOST_ITERATIONS: u32 = 10_000;

    /// The most drafts that an iteration may have, each of which is a task in memory.
    pub const MOST_DRAFTS: u64 = 262_144;

    /// Returns `least_gain` in percent.
    #[must_use]
    pub fn least_gain_text(&self) -> String {
        // Of a share such as 0.005, without digits that it has not.
        format!("{} %", (self.least_gain * 1e8).round() / 1e6)
    }

    /// Checks that every number is within its range.
    ///
    /// # Errors
    /// The first setting that is not.
    pub fn check(&self) -> Result<(), SettingError> {
        check_count("islands", self.islands, 1, 64)?;
        check_count("migration", self.migration, 0, 10_000)?;
        check_count("beam", self.beam, 1, 256)?;
        check_count("plans", self.plans, 1, 256)?;
        check_count("drafts", self.drafts, 1, 64)?;
        let drafts = u64::from(self.beam) * u64::from(self.plans) * u64::from(self.drafts);
        if Self::MOST_DRAFTS < drafts {
            return Err(SettingError {
                name: "drafts",
                value: self.drafts.to_string(),
                expected: format!(
                    "so few that beam × plans × drafts is at most {}, not {drafts}",
                    Self::MOST_DRAFTS
                ),
            });
        }
        check_count("repairs", self.repairs, 0, 16)?;
        check_count("iterations", self.iterations, 1, Self::MOST_ITERATIONS)?;
        check_count("newcomers", self.newcomers, 0, 256)?;
        check_count("niches", self.niches, 0, 256)?;
        check_count("polish", self.polish, 0, 64)?;
        check_count("confirm", self.confirm, 0, 64)?;
        check_count("translation", self.translation, 0, Self::MOST_ITERATIONS)?;
        check_count("ideas", self.ideas, 0, 16)?;
        let early = self.early_slack.iter().copied();
        let bad_slack = early.into_iter().find(|it| !(1.0..=100.0).contains(it));
        let checks = [
            (
                "menu_dropout",
                self.menu_dropout,
                (0.0..1.0).contains(&self.menu_dropout),
                "at least 0 and below 1",
            ),
            (
                "least_gain",
                self.least_gain,
                (0.0..1.0).contains(&self.least_gain),
                "at least 0 and below 1",
            ),
            (
                "explore",
                self.explore,
                (0.1..=0.9).contains(&self.explore),
                "from 0.1 to 0.9",
            ),
            (
                "slack",
                self.slack,
                (1.0..=100.0).contains(&self.slack),
                "from 1 to 100",
            ),
            (
                "early_slack",
                bad_slack.unwrap_or_default(),
                bad_slack.is_none(),
                "numbers from 1 to 100",
            ),
            (
                "translation_slack",
                self.translation_slack,
                (1.0..=1000.0).contains(&self.translation_slack),
                "from 1 to 1000",
            ),
        ];
        for (name, value, is_fine, expected) in checks {
            if !is_fine {
                return Err(SettingError {
                    name,
                    value: value.to_string(),
                    expected: expected.to_owned(),
                });
            }
        }
        if let Some(percent) = self.stop_at_percent_of_peak
            && !(0.0 < percent && percent <= 100.0)
        {
            return Err(SettingError {
                name: "stop_at_percent_of_peak",
                value: percent.to_string(),
                expected: "above 0 and at most 100".to_owned(),
            });
        }
        if let Some(evaluations) = self.max_evaluations {
            check_count("max_evaluations", evaluations, 1, u32::MAX)?;
        }
        Ok(())
    }

    /// Returns the slack of an iteration, from 1.
    #[must_use]
    pub fn slack_in(&self, iteration: u32) -> f64 {
        self.slack_of(iteration, iteration <= self.translation)
    }

    /// Returns the slack of an iteration, from 1, that translates or does not.
    #[must_use]
    pub fn slack_of(&self, iteration: u32, translates: bool) -> f64 {
        if translates {
            return self.translation_slack;
        }
        let early = self.early_slack.get(iteration.saturating_sub(1) as usize);
        early.copied().unwrap_or(self.slack)
    }

    /// Returns the largest slack of an iteration, from 1, and all after it.
    #[must_use]
    pub fn slack_from(&self, iteration: u32) -> f64 {
        let early = self
            .early_slack
            .iter()
            .skip(iteration.saturating_sub(1) as usize);
        let own = self.slack_in(iteration).max(self.slack);
        early.copied().fold(own, f64::max)
    }

    /// Returns how many drafts a full iteration has, B·N·K.
    #[must_use]
    pub fn drafts_per_iteration(&self) -> u32 {
        self.beam * self.plans * self.drafts
    }
}

fn check_count(name: &'static str, value: u32, least: u32, most: u32) -> Result<(), SettingError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(SettingError {
        name,
        value: value.to_string(),
        expected: format!("from {least} to {most}"),
    })
}
