//! Variables of the environment that programs may be given. This crate does not read the
//! environment itself: whoever runs the program hands it over.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::sync::Arc;

/// Variables by name. Their values may be secret and are never shown. Cheap to clone.
#[derive(Clone, Default)]
pub struct Variables(Arc<BTreeMap<String, OsString>>);

impl Variables {
    /// Makes a set of variables.
    #[must_use]
    pub fn new(variables: impl IntoIterator<Item = (String, OsString)>) -> Self {
        Self(Arc::new(variables.into_iter().collect()))
    }

    /// Returns the value of a variable, if it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(name).map(OsString::as_os_str)
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
