//! Single settings from the command line: `--set NAME=VALUE`.

use super::Settings;
use crate::error::CliError;
use autocomp_catalog::nearest;
use autocomp_llm::conceal;
use std::collections::BTreeSet;
use toml::{Table, Value};

impl Settings {
    /// Takes settings in the form `NAME=VALUE`: the name as in the settings file, with its
    /// table (`search.ideas`) or, where no other has it, without (`ideas`); the value as
    /// there, texts also without quotes. Returns which of the search's settings they are.
    pub fn set(&mut self, given: &[String]) -> Result<BTreeSet<String>, CliError> {
        let mut taken = BTreeSet::new();
        for word in given {
            let (table, name) = self.set_one(word)?;
            if table == "search" {
                taken.insert(name);
            }
        }
        Ok(taken)
    }

    /// Takes one; returns its table and its name.
    fn set_one(&mut self, word: &str) -> Result<(String, String), CliError> {
        let (shown, _) = conceal(word);
        let wrong = |message: String| {
            let error = CliError::usage(message);
            let path = word.split_once('=').map_or(word, |it| it.0).trim();
            let meant = match place(path) {
                Err(_) => nearest_setting(path),
                Ok(_) => None,
            };
            let error = match meant {
                Some(known) => error.hint(format!("did you mean `{known}`?")),
                None => error,
            };
            error.hint("docs/settings.md lists all settings with their tables and defaults")
        };
        let Some((path, value)) = word.split_once('=') else {
            return Err(wrong(format!(
                "`--set {shown}` is not of the form NAME=VALUE"
            )));
        };
        let path = path.trim();
        let (table, name) = place(path).map_err(wrong)?;
        let mut all = Table::try_from(&*self).map_err(CliError::internal)?;
        let home = match table {
            "" => Some(&mut all),
            table => all.get_mut(table).and_then(Value::as_table_mut),
        };
        let home = home.ok_or_else(|| CliError::internal(format!("no table {table}")))?;
        let value = value.trim();
        home.insert(name.to_owned(), parsed(value));
        let taken = all.clone().try_into::<Self>().or_else(|error| {
            // A text that looks like something else, such as a model called `7`.
            let home = match table {
                "" => Some(&mut all),
                table => all.get_mut(table).and_then(Value::as_table_mut),
            };
            home.and_then(|home| home.insert(name.to_owned(), Value::from(value)));
            all.try_into::<Self>().map_err(|_| error)
        });
        *self = taken.map_err(|error| {
            let (why, _) = conceal(error.message());
            wrong(format!("`--set {shown}`: {why}"))
        })?;
        Ok((table.to_owned(), name.to_owned()))
    }
}

/// Returns the value as a settings file would have it; what is no such value is a text.
fn parsed(value: &str) -> Value {
    let line = format!("value = {value}");
    let read: Option<Table> = toml::from_str(&line).ok();
    let read = read.and_then(|mut table| table.remove("value"));
    read.unwrap_or_else(|| Value::from(value))
}

/// Returns table and name of a setting; the table is empty for those outside of one.
fn place(path: &str) -> Result<(&str, &str), String> {
    let known = known();
    let split = path.split_once('.').unwrap_or(("", path));
    if known.contains(&(split.0.to_owned(), split.1.to_owned())) {
        return Ok(split);
    }
    let tables = ["search", "asking", "budget"];
    let has = |table: &&str| known.contains(&((*table).to_owned(), path.to_owned()));
    let found: Vec<&str> = tables.into_iter().filter(has).collect();
    match found[..] {
        [table] => Ok((table, path)),
        [] => Err(format!("there is no setting `{path}`")),
        _ => Err(format!(
            "there is a setting `{path}` in each of {}; name it with its table",
            found.join(", ")
        )),
    }
}

/// Returns the setting that a name is nearest to, with its table if the name has one or if it is
/// needed.
fn nearest_setting(path: &str) -> Option<String> {
    let known = known();
    let names: Vec<String> = known
        .iter()
        .map(
            |(table, name)| match table.is_empty() || !path.contains('.') {
                true => name.clone(),
                false => format!("{table}.{name}"),
            },
        )
        .collect();
    nearest(path, names.iter().map(String::as_str)).map(str::to_owned)
}

/// Returns the table or the setting that is meant by the field which a message on a settings
/// file says is unknown.
pub(super) fn did_you_mean(message: &str) -> Option<String> {
    let unknown = message.split("unknown field `").nth(1)?.split('`').next()?;
    let expected = message.split("expected ").nth(1)?;
    let expected: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    nearest(unknown, expected.into_iter()).map(str::to_owned)
}

/// Returns all settings with their tables.
fn known() -> BTreeSet<(String, String)> {
    // JSON keeps those that are absent by default.
    let all = serde_json::to_value(Settings::default()).unwrap_or_default();
    let mut known = BTreeSet::new();
    for (name, value) in all.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(table) => known.extend(table.keys().map(|key| (name.clone(), key.clone()))),
            None => {
                known.insert((String::new(), name.clone()));
            }
        }
    }
    known
}
