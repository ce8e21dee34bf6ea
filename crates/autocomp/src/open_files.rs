//! How many files the process may have open.

use crate::error::CliError;
use rustix::process::{Resource, getrlimit, setrlimit};

/// As many as every command needs; libraries panic without.
const NEEDED: u64 = 64;

/// As many as runs with many workers and models need.
const WANTED: u64 = 4096;

/// Raises the limit as far as allowed, and refuses to begin with too few.
pub fn raise_limit() -> Result<(), CliError> {
    let mut limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(WANTED).min(WANTED);
    if limit.current.is_some_and(|current| current < allowed) {
        limit.current = Some(allowed);
        // What is allowed is not refused; if it were, the check below would tell.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    match getrlimit(Resource::Nofile).current {
        Some(current) if current < NEEDED => Err(CliError::environment(format!(
            "only {current} files may be open at a time, and at least {NEEDED} are needed"
        ))
        .hint("raise the limit, as with `ulimit -n 1024`")),
        _ => Ok(()),
    }
}
