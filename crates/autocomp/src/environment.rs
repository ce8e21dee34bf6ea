//! What the process was started with: the only place of the workspace that reads the
//! environment. Everything else is handed what it needs.

use autocomp_llm::{Secrets, Variables};
use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

/// The variables that a process that evaluates gets: none with a secret.
const OF_EVALUATORS: [&str; 6] = [
    "PATH",
    // References in Python may import what lies there.
    "PYTHONPATH",
    "HOME",
    "XDG_CACHE_HOME",
    "TMPDIR",
    "LD_LIBRARY_PATH",
];

/// Returns the keys of providers that the environment holds.
pub fn secrets() -> Secrets {
    Secrets::from_lookup(|name| env::var(name).ok())
}

/// Returns the variables that programs asked as models may be given, as far as a model string
/// names them.
pub fn variables_of_models() -> Variables {
    Variables::new(
        env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))),
    )
}

/// Returns the variables of a process that evaluates.
pub fn variables_of_evaluators() -> Vec<(&'static str, OsString)> {
    let known = |name: &'static str| Some((name, env::var_os(name)?));
    OF_EVALUATORS.into_iter().filter_map(known).collect()
}

/// Returns the whole environment, keys included, for a process of this program that asks
/// models.
#[cfg(feature = "mcp")]
pub fn all_variables() -> Vec<(OsString, OsString)> {
    env::vars_os().collect()
}

/// Returns the folders in which programs are looked for.
pub fn search_path() -> Option<OsString> {
    env::var_os("PATH")
}

/// Returns the user's folder for caches, if one is known.
pub fn cache_home() -> Option<PathBuf> {
    home("XDG_CACHE_HOME", ".cache")
}

/// Returns the user's folder for data, if one is known.
pub fn data_home() -> Option<PathBuf> {
    home("XDG_DATA_HOME", ".local/share")
}

fn home(variable: &str, below_home: &str) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(below_home)))
}

/// Returns whether texts may have colours, as far as the environment says.
pub fn allows_colours() -> bool {
    let unwanted = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !unwanted && env::var_os("TERM").is_none_or(|it| it != "dumb")
}

/// Returns bytes that nobody can guess.
pub fn random_bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
