//! Keys: where they come from, and how they stay out of every text.

mod spelling;
mod suspects;

use crate::completion::Request;
use crate::model::{PROVIDERS, Provider};
use serde::Deserialize;
use spelling::{Folded, spellings};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Shorter values are not treated as secrets when texts are redacted: replacing
/// every occurrence of a very short word would destroy the text.
const SHORTEST_REDACTED: usize = 6;

/// Keys and settings of providers. Prints as names only.
#[derive(Clone, Default)]
pub struct Secrets {
    keys: BTreeMap<String, String>,
    settings: BTreeMap<String, String>,
    /// Tokens that were obtained with keys, by the name under which they are redacted.
    obtained: Arc<Mutex<BTreeMap<String, String>>>,
}

/// A key file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SecretsError {
    /// It cannot be read.
    #[error("cannot read the key file {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others may read it.
    #[error("the key file {path} may be read by others (mode {mode:03o}); run: chmod 600 {path}")]
    Permissions {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It is not a table of names and keys. The message shows no content of the file.
    #[error("the key file {path} is not valid at line {line}: {reason}")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    keys: BTreeMap<String, String>,
}

impl Secrets {
    /// Collects the keys and settings of all providers with `lookup`, usually the environment.
    ///
    /// Only the variables of the registry are looked up; empty values count as absent.
    #[must_use]
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let mut secrets = Self::default();
        let value = |name: &str| {
            lookup(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        for info in PROVIDERS {
            for name in info.secret_variables() {
                if let Some(value) = value(name) {
                    secrets.keys.insert(name.to_owned(), value);
                }
            }
            for name in info.setting_variables {
                if let Some(value) = value(name) {
                    secrets.settings.insert((*name).to_owned(), value);
                }
            }
        }
        secrets
    }

    /// Adds the keys of a TOML file: a table `[keys]` from provider names or
    /// variable names to keys. Keys already present are kept.
    ///
    /// # Errors
    /// A [`SecretsError`] if the file cannot be read, others may read it, or it
    /// is not such a table.
    pub fn add_file(&mut self, path: &Path) -> Result<(), SecretsError> {
        let read = |source| SecretsError::Read {
            path: path.to_owned(),
            source,
        };
        check_permissions(path)?;
        let text = std::fs::read_to_string(path).map_err(read)?;
        let file: KeyFile = toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            SecretsError::Invalid {
                path: path.to_owned(),
                line: 1 + text
                    .bytes()
                    .take(start)
                    .filter(|byte| *byte == b'\n')
                    .count(),
                reason: "write a table [keys] with lines such as openai = \"…\"".to_owned(),
            }
        })?;
        for (name, key) in file.keys {
            let variable = PROVIDERS.iter().find_map(|info| {
                if info.name == name {
                    info.key_variable
                } else {
                    info.secret_variables().find(|variable| *variable == name)
                }
            });
            let Some(variable) = variable else {
                let line = 1 + text
                    .lines()
                    .take_while(|line| !line.contains(&name))
                    .count();
                let reason = format!("{name:?} is no provider that takes a key");
                return Err(SecretsError::Invalid {
                    path: path.to_owned(),
                    line,
                    reason,
                });
            };
            self.keys.entry(variable.to_owned()).or_insert(key);
        }
        Ok(())
    }

    /// Returns the key of a provider.
    #[must_use]
    pub fn key(&self, provider: Provider) -> Option<&str> {
        let name = provider.info().key_variable?;
        self.keys.get(name).map(String::as_str)
    }

    /// Returns the secret of an environment variable, such as `AWS_SECRET_ACCESS_KEY`.
    #[must_use]
    pub fn named(&self, variable: &str) -> Option<&str> {
        self.keys.get(variable).map(String::as_str)
    }

    /// Adds a secret that was obtained with others (an access token), so that
    /// it is redacted from now on. Clones share it.
    pub(crate) fn remember(&self, name: &str, secret: &str) {
        let mut obtained = self.obtained.lock().unwrap_or_else(PoisonError::into_inner);
        obtained.insert(secret.to_owned(), name.to_owned());
    }

    /// Returns every secret with the name under which it is redacted.
    fn all(&self) -> Vec<(String, String)> {
        let obtained = self.obtained.lock().unwrap_or_else(PoisonError::into_inner);
        let own = self
            .keys
            .iter()
            .map(|(name, key)| (name.clone(), key.clone()));
        let obtained = obtained
            .iter()
            .map(|(secret, name)| (name.clone(), secret.clone()));
        let mut all: Vec<_> = own
            .chain(obtained)
            .filter(|(_, key)| SHORTEST_REDACTED <= key.len())
            .collect();
        // A secret that is part of another one must not spoil it.
        all.sort_by_key(|(_, key)| std::cmp::Reverse(key.len()));
        all
    }

    /// Returns a setting that is not secret, such as `AWS_REGION`.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.settings.get(name).map(String::as_str)
    }

    /// Returns `text` with every known key replaced by the name of its variable,
    /// in whatever spelling it stands there.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        self.redact_in_place(&mut text);
        text
    }

    /// Replaces known keys in `text` in place; cheap if there are none.
    pub fn redact_in_place(&self, text: &mut String) {
        let all = self.all();
        for (name, key) in &all {
            if text.contains(key) {
                *text = text.replace(key, &format!("[{name}]"));
            }
        }
        let spellings: Vec<(&str, Vec<Vec<u8>>)> = all
            .iter()
            .map(|(name, key)| (name.as_str(), spellings(key)))
            .collect();
        if spellings.iter().all(|(_, spellings)| spellings.is_empty()) {
            return;
        }
        let folded = Folded::new(text.as_bytes());
        let mut found: Vec<(Range<usize>, &str)> = Vec::new();
        for (name, spellings) in &spellings {
            for spelling in spellings {
                found.extend(
                    folded
                        .find(spelling)
                        .into_iter()
                        .map(|place| (place, *name)),
                );
            }
        }
        replace(text, found);
    }

    /// Returns the request with every known key replaced.
    pub(crate) fn redact_request(&self, request: &Request) -> Request {
        let mut request = request.clone();
        self.redact_in_place(&mut request.system);
        for message in &mut request.messages {
            self.redact_in_place(&mut message.text);
        }
        request
    }
}

/// Returns `text` without words that look like keys, known or not, and whether
/// there were any.
#[must_use]
pub fn conceal(text: &str) -> (String, bool) {
    let found = suspects::suspects(text);
    let is_changed = !found.is_empty();
    let mut text = text.to_owned();
    replace(
        &mut text,
        found.into_iter().map(|place| (place, "hidden")).collect(),
    );
    (text, is_changed)
}

/// Replaces parts of `text` by their names in brackets; where parts overlap,
/// by that of the first.
fn replace(text: &mut String, mut found: Vec<(Range<usize>, &str)>) {
    found.sort_by_key(|(place, _)| (place.start, std::cmp::Reverse(place.end)));
    let mut merged: Vec<(Range<usize>, &str)> = Vec::new();
    for (place, name) in found {
        match merged.last_mut() {
            Some((last, _)) if place.start < last.end => last.end = last.end.max(place.end),
            _ => merged.push((place, name)),
        }
    }
    for (place, name) in merged.into_iter().rev() {
        // A secret may end within a character of several bytes.
        let start = text.floor_char_boundary(place.start);
        let end = text.ceil_char_boundary(place.end);
        text.replace_range(start..end, &format!("[{name}]"));
    }
}

#[cfg(unix)]
pub(crate) fn check_permissions(path: &Path) -> Result<(), SecretsError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = std::fs::metadata(path).map_err(|source| SecretsError::Read {
        path: path.to_owned(),
        source,
    })?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 {
        Ok(())
    } else {
        Err(SecretsError::Permissions {
            path: path.to_owned(),
            mode,
        })
    }
}

#[cfg(not(unix))]
pub(crate) fn check_permissions(_path: &Path) -> Result<(), SecretsError> {
    Ok(())
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.keys.keys().collect();
        f.debug_struct("Secrets")
            .field("keys", &names)
            .finish_non_exhaustive()
    }
}
