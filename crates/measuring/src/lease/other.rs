//! Systems that have no names for one process at a time: the lock in the cache folder is all.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;

/// Nothing.
pub(super) type Name = ();

/// Takes no name.
pub(super) fn named(_device: &str) -> io::Result<Name> {
    Ok(())
}

/// Returns another number every time.
pub(super) fn random() -> Option<u64> {
    Some(RandomState::new().build_hasher().finish())
}
