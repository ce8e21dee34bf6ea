//! Systems that keep no thread on a core.

use std::convert::Infallible;

/// Cores that a thread may run on; none are told here.
pub(super) type Cores = Infallible;

/// Returns nothing.
pub(super) fn allowed() -> Option<Cores> {
    None
}

/// Returns the core with the highest number.
pub(super) fn last(cores: &Cores) -> Option<usize> {
    match *cores {}
}

/// Lets the thread run on `cores` only.
pub(super) fn allow(cores: &Cores) {
    match *cores {}
}

/// Does nothing.
pub(super) fn stay_on(_core: usize) {}
