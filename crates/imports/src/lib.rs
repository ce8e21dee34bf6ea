//! Runs of the original Autocomp, OpenEvolve and ShinkaEvolve as runs of this program: every kernel with its plan, its models
//! and what was measured of it, in a run folder that reports, dashboards and `--from` take.
//!
//! Test programs of the original become problems; tasks of KernelBench become records with
//! their shapes.
//!
//! What others wrote is parsed, never executed. What does not map is told.

mod folder;
mod harness;
mod journal;
mod kernel;
pub mod kernelbench;
mod literal;
mod population;
mod python_json;
mod tree;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub use folder::read_run;
pub use harness::{HarnessProblem, read_harness};
pub use journal::{Imported, Naming, WriteError, write_run};
pub use kernel::{Asked, adapted};
pub use population::{read_openevolve, read_shinka};
pub use tree::{LeftOut, Node, Tree};

/// Why something cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ImportError {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub message: String,
}

impl ImportError {
    fn new(path: &Path, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            message: message.into(),
        }
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

/// A run of the original Autocomp.
#[derive(Debug, Default)]
pub struct OldRun {
    /// Its settings.
    pub metadata: Value,
    /// Its candidates.
    pub tree: Tree,
    /// Survivors of each iteration, as far as they are known.
    pub beams: BTreeMap<u32, Vec<usize>>,
    /// The unit of its latencies as its programs printed it.
    pub unit: Option<String>,
    /// What does not map, one line each.
    pub unmapped: Vec<String>,
}

impl OldRun {
    /// Returns the kind of problem and the number in it, if they are known (`Prob(KIND, N)`).
    #[must_use]
    pub fn problem(&self) -> Option<(&str, &str)> {
        let text = self.metadata.get("problem")?.as_str()?;
        let (kind, id) = text
            .strip_prefix("Prob(")?
            .strip_suffix(')')?
            .split_once(", ")?;
        let kind = kind.trim_matches('\'');
        // They become parts of names here.
        let is_plain = |it: &str| {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            !it.is_empty() && !it.starts_with('.') && it.chars().all(is_part)
        };
        (is_plain(kind) && is_plain(id)).then_some((kind, id))
    }

    /// Returns whether its kernels are written in Python.
    #[must_use]
    pub fn is_python(&self) -> bool {
        let baseline = self.tree.nodes.first();
        baseline.is_some_and(|it| it.code.lines().any(|line| line.starts_with("def ")))
    }

    /// Gives kernels with one text one verdict: of several costs the first, and wrong where one of
    /// them is.
    fn join_equal(&mut self) {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (idx, node) in self.tree.nodes.iter().enumerate() {
            groups.entry(node.code.clone()).or_default().push(idx);
        }
        let mut n_lost = 0;
        for group in groups.values() {
            let nodes = group.iter().map(|it| &self.tree.nodes[*it]);
            let mut scores = nodes.clone().filter_map(|it| it.score);
            let score = scores.next();
            n_lost += scores.filter(|it| Some(*it) != score).count();
            let wrong = nodes.clone().find(|it| it.is_wrong).cloned();
            for &idx in group {
                let node = &mut self.tree.nodes[idx];
                node.score = score;
                if let Some(wrong) = &wrong {
                    node.is_wrong = true;
                    node.is_unbuilt = wrong.is_unbuilt;
                    node.failure.clone_from(&wrong.failure);
                }
            }
        }
        if 0 < n_lost {
            self.unmapped.push(format!(
                "{n_lost} other costs of kernels with one text, of which the first stands"
            ));
        }
    }

    /// Makes its kernels ones that begin with `prelude` and define `entry`: older ones in Python
    /// define `test` instead.
    pub fn adapt(&mut self, prelude: &str, entry: Option<&str>) {
        for node in &mut self.tree.nodes {
            if let Some(code) = entry.and_then(|entry| kernel::defining(&node.code, entry)) {
                node.code = code;
            }
            node.code.insert_str(0, prelude);
        }
    }
}

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::literal::{Value, candidate, unescaped};
}
