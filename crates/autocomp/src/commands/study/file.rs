//! Study files: arms and seeds, and the settings of each run that follows from them.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use crate::error::CliError;
use crate::given_file::read_text;
use crate::settings::Settings;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The most runs of a study: a guard against a slip of the pen.
const MOST_RUNS: usize = 10_000;

/// A study, as its file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// Problems, by name or folder.
    pub problems: Vec<String>,
    /// Seeds; every arm is run with each.
    pub seeds: Vec<u64>,
    /// Kernels that each run evaluates at most; with several numbers, every run is made with
    /// each.
    pub max_evaluations: Budgets,
    /// Dollars that models may cost at most, in all runs together.
    pub max_usd: Option<f64>,
    /// What all arms have in common, as in a settings file.
    #[serde(default)]
    pub settings: toml::Table,
    /// The arms; the first one is what others are compared with.
    #[serde(rename = "arm")]
    pub arms: Vec<Arm>,
}

/// Evaluations at most: one number, or several.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a number of evaluations, or a list of them"
)]
pub enum Budgets {
    /// The same for all runs.
    One(u32),
    /// Every run is made with each.
    Several(Vec<u32>),
}

impl Budgets {
    /// Returns all, in the order of the file.
    pub fn all(&self) -> &[u32] {
        match self {
            Self::One(most) => std::slice::from_ref(most),
            Self::Several(all) => all,
        }
    }

    /// Returns the largest.
    pub fn most(&self) -> u32 {
        self.all().iter().copied().max().unwrap_or_default()
    }
}

/// One variant of the settings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Its name: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// Settings that it changes or adds.
    #[serde(default)]
    pub settings: toml::Table,
}

/// One run of a study.
#[derive(Debug)]
pub struct StudyRun {
    /// Name of its folder.
    pub name: String,
    /// Its arm.
    pub arm: String,
    /// Its problem, as the file names it.
    pub problem: String,
    /// Kernels that it evaluates at most.
    pub max_evaluations: u32,
    /// Its seed.
    pub seed: u64,
    /// Its settings file.
    pub settings: String,
}

impl StudyFile {
    /// Reads a study file.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let text = read_text(path).map_err(|error| {
            CliError::input(format!(
                "failed to read the study file {}: {error}",
                path.display()
            ))
        })?;
        Self::parse(&text, &path.display().to_string())
    }

    pub fn parse(text: &str, name: &str) -> Result<Self, CliError> {
        let study: Self = toml::from_str(text).map_err(|error| {
            CliError::input(format!("{name}: {}", error.to_string().trim_end()))
                .hint("docs/search.md has a study file to begin with")
        })?;
        study.check(name)?;
        Ok(study)
    }

    fn check(&self, name: &str) -> Result<(), CliError> {
        let wrong = |what: String, remedy: &str| {
            Err(CliError::input(format!("{name}: {what}")).hint(remedy))
        };
        let counts = [
            ("problems", self.problems.len()),
            ("seeds", self.seeds.len()),
            ("max_evaluations", self.max_evaluations.all().len()),
            ("arm", self.arms.len()),
        ];
        if let Some((what, _)) = counts.iter().find(|(_, count)| *count == 0) {
            return wrong(format!("`{what}` is empty"), "a study needs at least one");
        }
        let n_runs = counts.iter().map(|(_, count)| count).product::<usize>();
        if MOST_RUNS < n_runs {
            let what = format!("it would be {n_runs} runs");
            return wrong(what, &format!("{MOST_RUNS} are the most"));
        }
        let mut names = BTreeSet::new();
        for arm in &self.arms {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if arm.name.is_empty() || !arm.name.chars().all(is_plain) || arm.name.starts_with('.') {
                let what = format!("`{}` cannot be the name of an arm", arm.name);
                return wrong(
                    what,
                    "use letters, digits, `-`, `_` and `.`: runs are called so",
                );
            }
            if !names.insert(&arm.name) {
                let what = format!("two arms have the name `{}`", arm.name);
                return wrong(what, "give each arm a name of its own");
            }
        }
        let seeds: BTreeSet<u64> = self.seeds.iter().copied().collect();
        if seeds.len() < self.seeds.len() {
            return wrong(
                "a seed is there twice".to_owned(),
                "it would give the same run",
            );
        }
        let budgets: BTreeSet<u32> = self.max_evaluations.all().iter().copied().collect();
        if budgets.len() < self.max_evaluations.all().len() {
            return wrong(
                "a number of `max_evaluations` is there twice".to_owned(),
                "it would give the same run",
            );
        }
        if let Some(usd) = self.max_usd.filter(|usd| !(0.0 <= *usd && usd.is_finite())) {
            let what = format!("`max_usd` is {usd}");
            return wrong(what, "it must be 0 or a number above it");
        }
        Ok(())
    }

    /// Returns all runs: seed by seed, so that a study that ends early has all arms.
    pub fn runs(&self) -> Result<Vec<StudyRun>, CliError> {
        let mut runs = Vec::new();
        for seed in &self.seeds {
            for max_evaluations in self.max_evaluations.all() {
                for (number, problem) in self.problems.iter().enumerate() {
                    let place = match &self.max_evaluations {
                        Budgets::One(_) => format!("p{number}-s{seed}"),
                        Budgets::Several(_) => format!("p{number}-e{max_evaluations}-s{seed}"),
                    };
                    for arm in &self.arms {
                        runs.push(StudyRun {
                            name: format!("{}-{place}", arm.name),
                            arm: arm.name.clone(),
                            problem: problem.clone(),
                            max_evaluations: *max_evaluations,
                            seed: *seed,
                            settings: self.settings_of(arm, problem, *max_evaluations, *seed)?,
                        });
                    }
                }
            }
        }
        Ok(runs)
    }

    /// Returns the settings file of a run.
    fn settings_of(
        &self,
        arm: &Arm,
        problem: &str,
        max_evaluations: u32,
        seed: u64,
    ) -> Result<String, CliError> {
        let mut table = self.settings.clone();
        merge(&mut table, &arm.settings);
        bound(&mut table, problem, max_evaluations, seed, &arm.name)?;
        let settings = toml::to_string(&table).map_err(CliError::internal)?;
        let place = format!("the settings of arm `{}`", arm.name);
        Settings::parse(&settings, &place)?.check()?;
        Ok(settings)
    }
}

/// Sets what the study decides, and refuses settings that would contradict it.
fn bound(
    table: &mut toml::Table,
    problem: &str,
    max_evaluations: u32,
    seed: u64,
    arm: &str,
) -> Result<(), CliError> {
    let refuse = |name: &str, remedy: &str| {
        Err(CliError::input(format!(
            "arm `{arm}` sets `{name}`, which is the same for all runs of a study"
        ))
        .hint(remedy))
    };
    for name in ["problem", "seed", "budget"] {
        if table.contains_key(name) {
            return refuse(name, "use `problems`, `seeds` and `max_usd` of the study");
        }
    }
    let search = table
        .entry("search")
        .or_insert_with(|| toml::Table::new().into());
    let Some(search) = search.as_table_mut() else {
        return Err(CliError::input(format!(
            "`search` of arm `{arm}` is no table"
        )));
    };
    if search.contains_key("max_evaluations") {
        return refuse("max_evaluations", "use `max_evaluations` of the study");
    }
    search.insert(
        "max_evaluations".to_owned(),
        i64::from(max_evaluations).into(),
    );
    table.insert("problem".to_owned(), problem.into());
    let seed = i64::try_from(seed).map_err(|_| {
        CliError::input(format!("the seed {seed} is too large"))
            .hint(format!("seeds of a study go up to {}", i64::MAX))
    })?;
    table.insert("seed".to_owned(), seed.into());
    Ok(())
}

/// Puts the entries of `over` into `under`, tables entry by entry.
fn merge(under: &mut toml::Table, over: &toml::Table) {
    for (name, value) in over {
        match (under.get_mut(name), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => merge(under, over),
            _ => {
                under.insert(name.clone(), value.clone());
            }
        }
    }
}
