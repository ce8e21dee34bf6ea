//! Names on the queue: subjects, streams, and what may stand in them.

use autocomp_core::ContentHash;

/// The stream of jobs.
pub(crate) const JOBS: &str = "AUTOCOMP_JOBS";
/// The stream of results.
pub(crate) const RESULTS: &str = "AUTOCOMP_RESULTS";
/// The stream of who has taken which job.
pub(crate) const TRIES: &str = "AUTOCOMP_TRIES";
/// The stream of long texts.
pub(crate) const TEXTS: &str = "AUTOCOMP_TEXTS";

/// Asks everybody to tell at once what is told every few seconds.
pub(crate) const HELLO: &str = "autocomp.hello";
/// What workers tell.
pub(crate) const ALL_WORKERS: &str = "autocomp.workers.*";
/// What coordinators tell.
pub(crate) const ALL_DEMANDS: &str = "autocomp.demands.*.*";

/// The longest name, characters.
const LONGEST: usize = 60;

/// The longest line that somebody else's text is shown as, characters.
const LONGEST_LINE: usize = 300;

/// Returns a text of somebody else as part of one line: it can neither begin another one nor
/// fill a screen.
#[must_use]
pub fn one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { ' ' } else { c };
    let mut line: String = text.chars().take(LONGEST_LINE).map(shown).collect();
    if text.chars().nth(LONGEST_LINE).is_some() {
        line.push('…');
    }
    line
}

/// Returns `name` as it may stand in a subject: letters, digits, `-` and `_`.
#[must_use]
pub fn token(name: &str) -> String {
    let of = |c: char| match c.is_ascii_alphanumeric() || c == '-' || c == '_' {
        true => c,
        false => '-',
    };
    let token: String = name.chars().take(LONGEST).map(of).collect();
    match token.is_empty() {
        true => "nameless".to_owned(),
        false => token,
    }
}

pub(crate) fn job(user: &str, queue: &str, job: &ContentHash) -> String {
    format!("autocomp.jobs.{user}.{queue}.{job}")
}

pub(crate) fn jobs_of(user: &str, queue: &str) -> String {
    format!("autocomp.jobs.{user}.{queue}.*")
}

/// What `worker` answers to a job. The server lets workers with keys of their own answer in their
/// own names only, so that the name in the subject is who it was.
pub(crate) fn result(worker: &str, job: &ContentHash) -> String {
    format!("autocomp.results.{worker}.{job}")
}

/// What any worker answers to a job.
pub(crate) fn results(job: &ContentHash) -> String {
    format!("autocomp.results.*.{job}")
}

/// Returns the worker that a subject of a result names.
pub(crate) fn answering(subject: &str) -> &str {
    subject.split('.').nth(2).unwrap_or_default()
}

pub(crate) fn tries(job: &ContentHash) -> String {
    format!("autocomp.tries.{job}")
}

/// A piece of a text that `user` keeps. The server lets everybody keep texts below the own name
/// only.
pub(crate) fn piece(user: &str, text: &ContentHash, at: usize) -> String {
    format!("autocomp.texts.{user}.{text}.{at}")
}

pub(crate) fn worker(name: &str) -> String {
    format!("autocomp.workers.{name}")
}

pub(crate) fn demand(user: &str, queue: &str) -> String {
    format!("autocomp.demands.{user}.{queue}")
}
