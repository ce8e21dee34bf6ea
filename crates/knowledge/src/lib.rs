//! What is known of a target, as others write it down: an agent skill (`SKILL.md` with
//! references), and an agent that the original Autocomp has built. Either becomes the folder of
//! a target that stands on one that there is, since neither tells how kernels are evaluated.

mod agent;
mod difference;
mod files;
mod markdown;
mod skill;
mod target_folder;

use autocomp_catalog::{Example, Rules, Target};
use autocomp_core::MenuItem;
use std::fmt;
use std::path::{Path, PathBuf};

pub use agent::read_agent;
pub use difference::{Difference, differences};
pub use markdown::{links, slug};
pub use skill::{read_skill, write_skill};
pub use target_folder::{Standing, write_target};

/// Why something cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct KnowledgeError {
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub message: String,
}

impl KnowledgeError {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            message: message.into(),
        }
    }
}

impl fmt::Display for KnowledgeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.message)
    }
}

/// What is known of a target.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knowledge {
    /// Its name.
    pub name: String,
    /// The family of targets that it is of; empty if that is not known.
    pub family: String,
    /// What it is, in a sentence.
    pub description: String,
    /// What a kernel writer must know, as Markdown.
    pub architecture: String,
    /// The ISA reference, in the form of `isa.md`; empty if there is none.
    pub isa: String,
    /// The menu; empty if there is none.
    pub menu: Vec<MenuItem>,
    /// What plans and code must keep to; empty if there is nothing.
    pub rules: Rules,
    /// Worked examples.
    pub examples: Vec<Example>,
    /// What was not taken over, one line each.
    pub unmapped: Vec<String>,
}

impl Knowledge {
    /// Returns what a target of the catalog knows.
    #[must_use]
    pub fn of(target: &Target) -> Self {
        let mut unmapped = Vec::new();
        let typed = target.examples.iter().filter(|it| !it.dtypes.is_empty());
        let typed = [
            (target.dtypes.len(), "items of the menu"),
            (typed.count(), "examples"),
        ];
        for (count, what) in typed.into_iter().filter(|it| 0 < it.0) {
            unmapped.push(format!(
                "for which types of elements {count} {what} are meant"
            ));
        }
        let needing = target.menu.iter();
        let needing = needing.filter(|it| !(it.needs.is_empty() && it.mentions.is_empty()));
        let needing = needing.count();
        if 0 < needing {
            unmapped.push(format!(
                "what a kernel needs for {needing} items of the menu"
            ));
        }
        Self {
            name: target.name.clone(),
            family: target.family.clone(),
            description: target.description.clone(),
            architecture: target.architecture.clone(),
            isa: markdown::isa_text(&target.isa),
            menu: target.menu.clone(),
            rules: target.rules.clone(),
            examples: target.examples.clone(),
            unmapped,
        }
    }
}

/// Reads what is in a folder: a skill, or an agent of the original Autocomp.
///
/// # Errors
/// It holds neither, or a file of it is unusable.
pub fn read_knowledge(folder: &Path) -> Result<Knowledge, KnowledgeError> {
    if folder.join(skill::FILE).is_file() {
        return read_skill(folder);
    }
    if folder.join(agent::CONFIG).is_file() {
        return read_agent(folder);
    }
    Err(KnowledgeError::new(
        folder,
        format!("it has neither {} nor {}", skill::FILE, agent::CONFIG),
    ))
}
