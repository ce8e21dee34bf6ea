//! The folder of a target that was built: written anew as a whole, unless somebody has changed it.

use crate::error::CliError;
use autocomp_core::ContentHash;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Files by their path below a folder, with the hash of each.
type Contents = BTreeMap<String, ContentHash>;

/// Where a target and what it is made of stand below the folder that the user names.
pub(super) struct BuiltFolder {
    /// The target.
    pub(super) target: PathBuf,
    /// What was asked and answered.
    pub(super) record: PathBuf,
}

impl BuiltFolder {
    /// Names the folders of the target `name`.
    pub(super) fn new(out: &Path, name: &str) -> Self {
        Self {
            target: out.join("targets").join(name),
            // Hidden, so that it is not taken for data.
            record: out.join(".build").join(name),
        }
    }

    fn manifest(&self) -> PathBuf {
        self.record.join("written.json")
    }

    /// Refuses a folder with a target that was not built, or was changed since.
    pub(super) fn check(&self) -> Result<(), CliError> {
        if !self.target.exists() {
            return Ok(());
        }
        let shown = self.target.display();
        let hint = "give the target another name, or move the folder away";
        let written = fs::read(self.manifest()).ok();
        let written: Option<Contents> =
            written.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(written) = written else {
            return Err(CliError::usage(format!(
                "{shown} is there already, and was not built here"
            ))
            .hint(hint));
        };
        let there = contents(&self.target)?;
        let changed = there
            .iter()
            .find(|(name, hash)| written.get(*name) != Some(*hash))
            .or_else(|| written.iter().find(|(name, _)| !there.contains_key(*name)));
        match changed {
            Some((name, _)) => Err(CliError::usage(format!(
                "{shown} was changed since it was built: {name}"
            ))
            .hint(hint)),
            None => Ok(()),
        }
    }

    /// Puts the target in `made` in place; the one before is kept in the record.
    pub(super) fn replace(&self, made: &Path) -> Result<(), CliError> {
        let failed = |error: std::io::Error| {
            CliError::environment(format!(
                "failed to write {}: {error}",
                self.target.display()
            ))
            .hint("name a folder that can be written to with `--out FOLDER`")
        };
        let contents = contents(made)?;
        let parent = self.target.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(failed)?;
        if self.target.exists() {
            let earlier = self.record.join("earlier");
            if earlier.exists() {
                fs::remove_dir_all(&earlier).map_err(failed)?;
            }
            fs::rename(&self.target, &earlier).map_err(failed)?;
        }
        fs::rename(made, &self.target).map_err(failed)?;
        let bytes = serde_json::to_vec_pretty(&contents).map_err(CliError::internal)?;
        fs::write(self.manifest(), bytes).map_err(failed)
    }
}

fn contents(folder: &Path) -> Result<Contents, CliError> {
    let mut out = Contents::new();
    let mut left = vec![folder.to_owned()];
    while let Some(below) = left.pop() {
        let failed = |error: std::io::Error| {
            CliError::input(format!("failed to read {}: {error}", below.display()))
        };
        for entry in fs::read_dir(&below).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                left.push(entry.path());
                continue;
            }
            let path = entry.path();
            let name = path.strip_prefix(folder).unwrap_or(&path);
            // A link is none of the files that were written.
            let bytes = match kind.is_file() {
                true => fs::read(&path).map_err(failed)?,
                false => b"link".to_vec(),
            };
            out.insert(name.display().to_string(), ContentHash::of(&bytes));
        }
    }
    Ok(out)
}
