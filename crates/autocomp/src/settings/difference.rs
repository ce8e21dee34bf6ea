//! In what the settings of two runs differ.

use super::Settings;
use crate::error::CliError;

impl Settings {
    /// Returns the first setting in which `other` differs, in the order of the file.
    pub fn first_difference(&self, other: &Self) -> Result<Option<Difference>, CliError> {
        let table = |settings| toml::Table::try_from(settings).map_err(CliError::internal);
        Ok(first_difference(&table(self)?, &table(other)?))
    }
}

/// A setting that differs between two sets of settings, values as in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name within its table.
    pub name: String,
    /// One value, or `none`.
    pub here: String,
    /// The other value, or `none`.
    pub there: String,
}

fn first_difference(here: &toml::Table, there: &toml::Table) -> Option<Difference> {
    let value = |value: Option<&toml::Value>| value.map_or("none".to_owned(), ToString::to_string);
    let names = here.keys().chain(there.keys());
    names
        .into_iter()
        .find_map(|name| match (here.get(name), there.get(name)) {
            (Some(toml::Value::Table(here)), Some(toml::Value::Table(there))) => {
                first_difference(here, there)
            }
            (one, other) => (one != other).then(|| Difference {
                name: name.clone(),
                here: value(one),
                there: value(other),
            }),
        })
}
