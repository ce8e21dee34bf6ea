//! Interfaces of NKI, and which dialect has which.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::bound::Bound;
use super::engines::engines_of;
use super::{Device, Dialect, Value, table};
use crate::diagnostic::Outcome;
use autocomp_python::mix;

/// An interface of NKI.
pub(crate) struct Api {
    pub(crate) module: &'static str,
    pub(crate) name: &'static str,
    /// Whether it exists in the first and in the second dialect.
    pub(crate) dialects: (bool, bool),
    /// Names of its parameters; after `*` by keyword only.
    pub(crate) parameters: &'static str,
    pub(crate) handler: fn(&mut Device, &mut Bound) -> Outcome<Value>,
}

impl std::fmt::Display for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.module, self.name)
    }
}

impl Api {
    fn is_in(&self, dialect: Dialect) -> bool {
        match dialect {
            Dialect::V1 => self.dialects.0,
            Dialect::V2 => self.dialects.1,
        }
    }

    /// Whether it is `nl.ds(start, size)`.
    #[inline]
    pub(crate) fn is_window(&self) -> bool {
        self.name == "ds" && self.module == "nl"
    }

    /// Whether it is a function of NumPy or `math`, which compute on the host.
    #[inline]
    pub(crate) fn is_of_host(&self) -> bool {
        matches!(self.module, "np" | "math")
    }

    /// Whether it is an instruction that an engine runs.
    pub(crate) fn has_engines(&self) -> bool {
        self.module == "nisa" && !engines_of(self.name).is_empty()
    }

    /// A fingerprint of its name.
    pub(crate) fn identity(&self) -> u64 {
        let name = self.module.bytes().chain(self.name.bytes());
        name.fold(0, |hash, byte| mix(hash, byte.into()))
    }

    pub(crate) fn full_name(&self) -> String {
        self.to_string()
    }
}

/// The interfaces of a dialect by module and name.
pub(super) struct Interfaces(HashMap<(&'static str, &'static str), &'static Api>);

impl Interfaces {
    /// Those of `dialect`, collected once.
    pub(super) fn of(dialect: Dialect) -> &'static Self {
        static EACH: [OnceLock<Interfaces>; 2] = [const { OnceLock::new() }; 2];
        EACH[dialect as usize].get_or_init(|| {
            let all = table::all().filter(|api| api.is_in(dialect));
            Self(all.map(|api| ((api.module, api.name), api)).collect())
        })
    }
}

/// The interfaces of a dialect: path (`nl.load`) and names of parameters, those after `*` by
/// keyword only.
pub fn interfaces(dialect: Dialect) -> impl Iterator<Item = (String, &'static str)> {
    table::all()
        .filter(move |api| api.is_in(dialect))
        .map(|api| (api.full_name(), api.parameters))
}

/// Whether a dialect has the interface `module.name`.
pub(crate) fn has(dialect: Dialect, module: &str, name: &str) -> bool {
    table::all().any(|api| api.is_in(dialect) && api.module == module && api.name == name)
}

/// The interface of a module whose name differs from `name` in the fewest letters, if in few.
pub(crate) fn similar(dialect: Dialect, module: &str, name: &str) -> Option<&'static str> {
    if name.len() > 60 {
        return None;
    }
    let fits = table::all().filter(|api| api.is_in(dialect) && api.module == module);
    let distances = fits.map(|api| (letters_apart(api.name, name), api.name));
    let (distance, nearest) = distances.min()?;
    (distance <= 1 + name.len() / 5).then_some(nearest)
}

/// How many letters must be put in, taken out or changed to make one word of the other.
fn letters_apart(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (position, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = position + 1;
        for (at, wanted) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *wanted);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

/// A static copy of a name of an interface, if it is one.
fn known_name(name: &str) -> Option<&'static str> {
    static NAMES: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    NAMES
        .get_or_init(|| table::all().map(|api| (api.name, api.name)).collect())
        .get(name)
        .copied()
}

impl Device {
    /// The interface of this name in this dialect.
    pub(crate) fn api(&self, module: &'static str, name: &str) -> Option<&'static Api> {
        // The map's keys are static; the name need not be.
        let found = self.interfaces.0.get(&(module, known_name(name)?));
        found.copied()
    }
}
