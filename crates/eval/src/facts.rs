//! What is known of a bench: given by whoever evaluates, so that whoever asks needs neither
//! the device nor the tools.

use crate::EvalError;
use crate::family::Surroundings;
use crate::settings::EvaluatorSettings;
use autocomp_catalog::{Problem, Target};
use autocomp_core::{ContentHash, ContentHasher, Cost, Unit};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// What is known of a bench.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BenchFacts {
    /// Everything but the kernel that decides an evaluation: problem, machine, tools, code.
    pub key_base: ContentHash,
    /// What a run goes on with only if it is the same; see
    /// [`Evaluator::identity`](crate::Evaluator::identity).
    pub identity: ContentHash,
    /// What kernels cost on this machine.
    pub unit: Unit,
    /// What measures (`sim NAME machine=… model=…`).
    pub engine: String,
    /// Name and version of each tool that compiles, the kernel's own first.
    pub tools: Vec<String>,
    /// The cost that no right kernel can be below.
    pub floor: Cost,
    /// The device that costs are measured on, of several equal ones of the computer, counted from
    /// 0: those of another one do not compare with them. None where costs are simulated.
    #[serde(default)]
    pub device: Option<u32>,
}

impl BenchFacts {
    /// Returns the key of a kernel's evaluation.
    #[must_use]
    pub fn key(&self, source: &str) -> ContentHash {
        kernel_key(self.key_base, source)
    }

    /// Returns name and version of what compiles, all of it.
    #[must_use]
    pub fn compiler(&self) -> String {
        self.tools.join(", ")
    }
}

/// Returns the key of a kernel's evaluation by a bench with this [`BenchFacts::key_base`].
#[must_use]
pub fn kernel_key(key_base: ContentHash, source: &str) -> ContentHash {
    let mut hasher = ContentHasher::new("autocomp evaluation of a kernel");
    hasher.update(&key_base.0);
    hasher.update(source.as_bytes());
    hasher.finish()
}

/// What somebody who evaluates is asked to open. It holds what the files of problem and target
/// say, so that they need not be there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Setup {
    /// What must be computed.
    pub problem: Problem,
    /// On what.
    pub target: Target,
    /// Name of the machine of the target.
    pub machine: String,
    /// How to evaluate.
    pub settings: EvaluatorSettings,
    /// Which tools to take.
    pub tools: WantedTools,
}

impl Setup {
    /// Reads what somebody else wrote, who is not trusted: names in it are those of files in one
    /// folder.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if it is not understood, [`EvalError::Input`] if it has a name
    /// that leads elsewhere.
    pub fn parse(text: &str) -> Result<Self, EvalError> {
        let setup: Self = serde_json::from_str(text).map_err(|error| EvalError::Environment {
            message: format!("what is to be evaluated is not understood: {error}"),
            remedies: vec!["use the same version of autocomp on both sides".to_owned()],
        })?;
        let leads_elsewhere = |name: &&String| {
            let mut components = Path::new(name.as_str()).components();
            let only = components.next();
            components.next().is_some()
                || !matches!(only, Some(Component::Normal(it)) if it == name.as_str())
        };
        match setup.target.runtime.keys().find(leads_elsewhere) {
            None => Ok(setup),
            Some(name) => Err(EvalError::Input {
                message: format!("{name:?} cannot be the name of a file of the target's runtime"),
                remedies: vec!["name files without folders".to_owned()],
            }),
        }
    }

    /// Returns the hash of all that decides what is evaluated, and nothing that differs from one
    /// computer to the next. What problem and target claim as their own hashes is a part of it.
    #[must_use]
    pub fn content(&self) -> ContentHash {
        let mut content = self.clone();
        content.problem.work_place = String::new();
        content.settings.threads = 1;
        content.tools = WantedTools::default();
        ContentHash::of(&serde_json::to_vec(&content).unwrap_or_default())
    }
}

/// Which tools whoever asks wants.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WantedTools {
    /// A compiler that the user named, by path or name.
    pub compiler: Option<PathBuf>,
    /// Name of the compiler that a run was measured with, as [`BenchFacts::compiler`] gave it:
    /// no other one will do.
    pub recorded_compiler: Option<String>,
    /// Where tools that may be installed were carried to from another machine: a package,
    /// or a folder with one or with an installation.
    pub carried: Option<PathBuf>,
    /// Which one to measure on, of several equal devices of the computer, counted from the one
    /// that the machine of the target names.
    #[serde(default)]
    pub device: u32,
}

impl WantedTools {
    /// Returns what a family may use where these tools are wanted, in the cache folder and with
    /// the `PATH` of whoever evaluates; what is missing may be installed.
    #[must_use]
    pub fn within(
        &self,
        cache_folder: impl Into<PathBuf>,
        path: Option<std::ffi::OsString>,
    ) -> Surroundings {
        Surroundings {
            compiler: self.compiler.clone(),
            recorded_compiler: self.recorded_compiler.clone(),
            carried: self.carried.clone(),
            device: self.device,
            ..Surroundings::installing(cache_folder, path)
        }
    }
}
