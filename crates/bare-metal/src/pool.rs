//! Things that are dear to make, kept to be used again.

use std::sync::{Mutex, PoisonError};

/// Most things of one kind that are kept: as many as threads use at once.
const MOST: usize = 16;

/// Things of one kind that nobody uses at the moment.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Pool<T> {
    /// Returns one that was used last, if there is any.
    pub fn take(&self) -> Option<T> {
        // A panic cannot leave the list in a state between two others.
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.pop()
    }

    /// Keeps one for later.
    pub fn give(&self, thing: T) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST {
            kept.push(thing);
        }
    }
}
