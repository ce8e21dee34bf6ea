//! What a kind of target must bring: the contract of families.
//!
//! A family owns everything that its targets need: how kernels are checked,
//! built, run, timed and explained. Everything outside its folder sees it
//! through these traits.

use crate::evaluator::{EvalError, Evaluator};
use crate::facts::BenchFacts;
use crate::profile::Profiled;
use crate::settings::EvaluatorSettings;
use crate::simulator::{Calibrated, ProgramSimulator};
use autocomp_catalog::{Problem, Target};
use autocomp_core::{Language, Rewriter, Unit};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// What a family may use of the machine that the program runs on. Families
/// read no environment themselves.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// The private cache folder.
    pub cache_folder: PathBuf,
    /// A compiler that the user named, by path or name.
    pub compiler: Option<PathBuf>,
    /// Name of the compiler that a run was measured with, as
    /// [`BenchFacts::compiler`] gave it: no other one will do.
    pub recorded_compiler: Option<String>,
    /// Where tools that may be installed were carried to from another machine: a package,
    /// or a folder with one or with an installation.
    pub carried: Option<PathBuf>,
    /// Which one to measure on, of several equal devices of the computer, counted from the one
    /// that the machine of the target names. A family of which a computer has one leaves it out
    /// of account and says so in [`BenchFacts::device`].
    pub device: u32,
    /// The value of `PATH`.
    pub path: Option<OsString>,
    /// Whether tools may be installed into the cache folder.
    pub install: bool,
}

impl Surroundings {
    /// Those in which nothing is named and what is missing may be installed into
    /// `cache_folder`; tools are looked for in the folders of `path`.
    pub fn installing(cache_folder: impl Into<PathBuf>, path: Option<OsString>) -> Self {
        Self {
            cache_folder: cache_folder.into(),
            compiler: None,
            recorded_compiler: None,
            carried: None,
            device: 0,
            path,
            install: true,
        }
    }
}

/// Refuses a problem with an argument that no parameter of its signature stands for, for
/// families whose kernels get arguments by their parameters.
///
/// # Errors
/// [`EvalError::Input`] with the argument and the remedy.
pub fn check_arguments(problem: &Problem) -> Result<(), EvalError> {
    let Some(name) = problem.argument_without_parameter() else {
        return Ok(());
    };
    Err(EvalError::Input {
        message: format!(
            "{} gives the argument `{name}`, which is no parameter of its signature",
            problem.name
        ),
        remedies: vec![format!(
            "write it into `signature` where kernels get it, as in `float {name}`, or define a constant for kernels and reference in `[macros]`"
        )],
    })
}

/// Reads the description of the machine `name` of `target` as `parse` does.
///
/// # Errors
/// [`EvalError::Input`] with the file and what is wrong in it.
pub fn read_machine<T, E: fmt::Display>(
    target: &Target,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<T, EvalError> {
    let text = target
        .machine(Some(name))
        .map_err(|error| EvalError::Input {
            message: error.to_string(),
            remedies: vec![format!("name a machine that target {} has", target.name)],
        })?;
    parse(text).map_err(|error| unusable_machine(target, name, &error))
}

/// Returns the error of a machine `name` of `target` whose file says what it may not.
pub fn unusable_machine(target: &Target, name: &str, message: &dyn fmt::Display) -> EvalError {
    let file = target.machine_paths.get(name);
    let file = file
        .cloned()
        .unwrap_or_else(|| format!("machines/{name}.toml"));
    EvalError::Input {
        message: format!("{file}: {}", message.to_string().trim_end()),
        remedies: vec![format!(
            "correct that file, which describes machine {name} of target {}",
            target.name
        )],
    }
}

/// What a bench is opened for.
pub struct Opening<'a> {
    /// What must be computed.
    pub problem: &'a Problem,
    /// On what.
    pub target: &'a Target,
    /// Name of the machine of the target to measure on.
    pub machine: &'a str,
    /// How to evaluate.
    pub settings: EvaluatorSettings,
    /// The machine that the program runs on.
    pub surroundings: &'a Surroundings,
    /// Takes a line before anything that takes long or uses the network.
    pub progress: &'a mut dyn FnMut(&str),
}

/// One kind of target.
pub trait Family: Sync {
    /// Returns the name in `target.toml` (`family = "…"`).
    fn name(&self) -> &'static str;

    /// Returns the languages that kernels may be written in.
    fn languages(&self) -> &'static [&'static dyn Language];

    /// Returns what kernels cost on a machine of `target`.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the machine's file is unusable.
    fn unit(&self, target: &Target, machine: &str) -> Result<Unit, EvalError>;

    /// Checks what the schema of targets leaves to families: machine files.
    ///
    /// # Errors
    /// [`EvalError::Input`] with the file and the remedy.
    fn check_target(&self, target: &Target) -> Result<(), EvalError>;

    /// Returns which of the targets that a problem names is the one to take on
    /// this machine unless the user names another.
    fn preferred<'t>(&self, targets: &'t [String]) -> Option<&'t str> {
        targets.first().map(String::as_str)
    }

    /// Opens a bench: finds or installs tools, reads the machine.
    ///
    /// # Errors
    /// An [`EvalError`] if the environment does not allow it or a file of
    /// target or problem is unusable.
    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError>;

    /// Returns the proposer that needs no model, if there is one for `problem` on `target`.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the machine's file is unusable.
    fn rewriter(
        &self,
        problem: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let _ = (problem, target, machine);
        Ok(None)
    }

    /// Returns figures of a machine by name, as text: what its file and the simulator say.
    /// Texts of the target for models hold `{{ name }}` where a figure belongs. None unless a
    /// family has such.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the machine's file is unusable.
    fn figures(
        &self,
        target: &Target,
        machine: &str,
    ) -> Result<BTreeMap<String, String>, EvalError> {
        let _ = (target, machine);
        Ok(BTreeMap::new())
    }

    /// Returns what a user should know of this machine: what of the family
    /// works here and what does not.
    fn examine(&self, surroundings: &Surroundings) -> Vec<Finding> {
        let _ = surroundings;
        Vec::new()
    }

    /// Returns the simulator of whole programs, if the family has one.
    fn program_simulator(&self) -> Option<&'static dyn ProgramSimulator> {
        None
    }

    /// Returns the simulator that is compared with suites of what was measured, if the family
    /// has one.
    fn calibrated(&self) -> Option<&'static dyn Calibrated> {
        None
    }

    /// Returns whether profiles have a timeline.
    fn has_timelines(&self) -> bool {
        false
    }

    /// Returns the problem whose baseline shows that evaluation works here.
    fn probe(&self) -> &'static str;
}

/// One thing found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at (`default target`).
    pub name: &'static str,
    /// Whether it is as the family needs it.
    pub ok: bool,
    /// What was found.
    pub detail: String,
    /// What the user can do, one line each.
    pub remedies: Vec<String>,
}

/// One family opened for one problem on one machine.
///
/// Threads may share it, and processes its cache folder. What can only be
/// measured alone (a device) is the bench's own affair: it takes a lease that
/// other threads and processes respect, while builds and tests go on.
pub trait Bench: Evaluator {
    /// Returns what is known of it. The key of each evaluation is [`BenchFacts::key`].
    fn facts(&self) -> BenchFacts;

    /// Returns what whoever wrote the problem should know of its tests, one sentence each.
    /// The first time it takes as long as computing right answers does.
    ///
    /// # Errors
    /// An [`EvalError`] if autocomp or its environment failed, or the reference is broken.
    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        Ok(Vec::new())
    }

    /// Evaluates a kernel and says where its cost goes.
    ///
    /// # Errors
    /// An [`EvalError`] if autocomp or its environment failed.
    fn profile(&self, source: &str) -> Result<Profiled, EvalError>;
}
