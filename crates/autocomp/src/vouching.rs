//! What a run folder may start, and where it may lead, without being asked.
//!
//! The settings that are stored with a run can name programs that answer as models, addresses to
//! which keys are sent, folders and files that are written, and a compiler. Whoever continues a
//! run that somebody else has made would let that person choose them. So a run folder gets a
//! seal when it is made: a hash over its settings and over the very folder, under a key that only
//! this user has. A folder without a right seal is continued only if what it names is named
//! again, or vouched for as a whole. The inode and the time of birth of a folder cannot be chosen
//! by whoever packs an archive, so a copy of a sealed folder is not sealed.

use crate::environment::random_bytes;
use crate::error::CliError;
use crate::output::Output;
use crate::run_errors::store_error;
use crate::settings::Settings;
use crate::workplace::Workplace;
use autocomp_core::{ContentHash, ContentHasher};
use autocomp_llm::ModelSpec;
use autocomp_store::{read_file, replace_file};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The file of a run folder that holds its seal.
const SEAL: &str = "seal";
/// The file of the private cache that holds the user's key.
const KEY: &str = "seal-key";

/// What the user has named again on the command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Named {
    /// All models.
    pub models: bool,
    /// The compiler.
    pub compiler: bool,
    /// The file of keys.
    pub keys: bool,
    /// Everything.
    pub all: bool,
}

/// Refuses to go on with what `settings` name outside of the run folder, unless this user has
/// made the folder here or has named it again.
pub fn check(
    folder: &Path,
    settings: &Settings,
    stored: ContentHash,
    named: Named,
    workplace: &Workplace,
) -> Result<(), CliError> {
    if named.all {
        return Ok(());
    }
    let mut outside = Vec::new();
    if !named.models {
        let models = settings.models.iter().chain(&settings.coding_models);
        let models = models.filter(|model| leads_outside(model));
        let mut models: Vec<&String> = models.collect();
        models.dedup();
        outside.extend(
            models
                .into_iter()
                .map(|model| format!("the model `{model}`")),
        );
    }
    if let Some(compiler) = &settings.compiler
        && !named.compiler
        && compiler.components().nth(1).is_some()
    {
        outside.push(format!("the compiler `{}`", compiler.display()));
    }
    if let Some(keys) = &settings.asking.keys
        && !named.keys
    {
        outside.push(format!("the key file `{}`", keys.display()));
    }
    if let Some(memory) = &settings.memory {
        outside.push(format!("the memory `{}`", memory.display()));
    }
    if outside.is_empty() || is_sealed(folder, stored, workplace) {
        return Ok(());
    }
    Err(CliError::usage(format!(
        "{} was not made here by you, and it names what runs, is asked or is written outside of it: {}",
        folder.display(),
        outside.join(", ")
    ))
    .hint("if you trust it, name it again on the command line (`--model`, `--compiler`, `--keys`), or pass `--trust` for all of it")
    .hint("a copy of a folder counts as another folder; `autocomp show` only reads it"))
}

/// Returns whether asking a model starts a program, writes files, or sends a key to an address
/// that the model string names.
fn leads_outside(model: &str) -> bool {
    if model == crate::settings::REWRITER {
        return false;
    }
    // Nobody is asked under a name that is none.
    model
        .parse()
        .is_ok_and(|spec: ModelSpec| spec.leads_outside())
}

/// Seals a folder that this user has made, or vouches for. A folder that cannot be sealed is
/// used all the same: whoever continues it is asked.
pub fn seal(folder: &Path, stored: ContentHash, workplace: &Workplace, output: Output) {
    let sealed = key(&workplace.cache_folder, true)
        .and_then(|key| seal_of(folder, stored, &key))
        .map_err(|error| error.to_string())
        .and_then(|seal| {
            let text = format!("{seal}\n");
            replace_file(folder, SEAL, text.as_bytes()).map_err(|error| store_error(&error).message)
        });
    if let Err(reason) = sealed {
        output.message(format!(
            "note: {} cannot be sealed as yours ({reason}); what it names is to be named again when it is continued",
            folder.display()
        ));
    }
}

fn is_sealed(folder: &Path, stored: ContentHash, workplace: &Workplace) -> bool {
    let found = read_file(folder, SEAL, 100).ok().flatten();
    let right = key(&workplace.cache_folder, false).and_then(|key| seal_of(folder, stored, &key));
    match (found, right) {
        (Some(found), Ok(right)) => {
            let found = String::from_utf8(found).unwrap_or_default();
            found.trim().parse() == Ok(right)
        }
        _ => false,
    }
}

/// Returns the seal of a folder: a keyed hash over what it is and what its settings are.
fn seal_of(folder: &Path, stored: ContentHash, key: &[u8; 32]) -> io::Result<ContentHash> {
    let about = fs::metadata(folder)?;
    let born = about.created().ok();
    let born = born.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let mut hasher = ContentHasher::new("run-folder-seal");
    hasher.update(key);
    hasher.update(&about.ino().to_le_bytes());
    hasher.update(&born.map_or(0, |it| it.as_nanos()).to_le_bytes());
    hasher.update(&stored.0);
    Ok(hasher.finish())
}

/// Reads the user's key; makes one if there is none and it `is_made`.
fn key(cache_folder: &Path, is_made: bool) -> io::Result<[u8; 32]> {
    let path: PathBuf = cache_folder.join(KEY);
    if is_made && !path.exists() {
        fs::create_dir_all(cache_folder)?;
        // Under a name of its own first, so that nobody reads half a key.
        let new = cache_folder.join(format!("{KEY}.{}", std::process::id()));
        let made = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)
            .and_then(|mut file| file.write_all(&random_bytes::<32>()?))
            // Fails if another process was faster; then its key is the one.
            .and_then(|()| match fs::hard_link(&new, &path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                _ => Ok(()),
            });
        let _ = fs::remove_file(&new);
        made?;
    }
    let bytes = crate::given_file::read_file(&path, 32)?;
    <[u8; 32]>::try_from(bytes).map_err(|_| io::Error::other("the key is not of 32 bytes"))
}
