//! Knowledge as the folder of a target that stands on another one.

use crate::files::write_all;
use crate::{Knowledge, KnowledgeError};
use autocomp_catalog::{Constant, DataType, Rules, Target};
use autocomp_core::{MenuItem, Unit};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
struct TargetFile<'a> {
    inherits: &'a str,
    name: &'a str,
    family: &'a str,
    language: &'a str,
    description: &'a str,
    default_machine: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    roofline: Option<toml::Table>,
}

#[derive(Serialize)]
struct MenuFile {
    item: Vec<toml::Table>,
}

#[derive(Serialize)]
struct ConstantsFile<'a> {
    constant: &'a [Constant],
}

#[derive(Serialize)]
struct CountersFile<'a> {
    counters: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct ExampleFile<'a> {
    menu_item: &'a str,
    text: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    dtypes: &'a [DataType],
}

/// What a new target is called and stands on.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// The target whose machines measure it, and which has what the knowledge lacks.
    pub like: &'a Target,
    /// The target that `like` takes files from, if there is one: nothing inherits from what
    /// inherits.
    pub parent: Option<&'a str>,
    /// Name of the new target.
    pub name: &'a str,
    /// Ending of files with kernels, without a dot.
    pub extension: &'a str,
}

/// The files of a folder, as they are made.
struct Files {
    folder: PathBuf,
    files: Vec<(String, Vec<u8>)>,
}

impl Files {
    fn text(&mut self, name: impl Into<String>, text: &str) {
        self.files.push((name.into(), text.into()));
    }

    fn toml(
        &mut self,
        name: impl Into<String>,
        value: &impl Serialize,
    ) -> Result<(), KnowledgeError> {
        let text = toml::to_string_pretty(value)
            .map_err(|error| KnowledgeError::new(&self.folder, error.to_string()))?;
        self.text(name, &text);
        Ok(())
    }
}

/// Writes a target below `folder/targets`: what `knowledge` says, and for the rest what the
/// target has that it stands on. Returns its files.
///
/// # Errors
/// A file is there already, or cannot be written.
pub fn write_target(
    knowledge: &Knowledge,
    standing: Standing<'_>,
    folder: &Path,
) -> Result<Vec<PathBuf>, KnowledgeError> {
    let Standing { like, parent, .. } = standing;
    let mut files = Files {
        folder: folder.join("targets").join(standing.name),
        files: Vec::new(),
    };
    let description = knowledge.description.split_whitespace().collect::<Vec<_>>();
    let description = description.join(" ");
    files.toml(
        "target.toml",
        &TargetFile {
            inherits: parent.unwrap_or(&like.name),
            name: standing.name,
            family: &like.family,
            language: &like.language,
            description: &description,
            default_machine: &like.default_machine,
            roofline: roofline(like),
        },
    )?;
    for (machine, text) in &like.machines {
        files.text(format!("machines/{machine}.toml"), text);
    }
    // What stands on a target that inherits has all that it has in files of its own.
    let own = Knowledge::of(like);
    let is_own = parent.is_some();
    // The architecture is never taken from the other target.
    for (name, theirs, ours, is_needed) in [
        (
            "architecture.md",
            &knowledge.architecture,
            &own.architecture,
            true,
        ),
        ("isa.md", &knowledge.isa, &own.isa, is_own),
    ] {
        if !theirs.trim().is_empty() {
            files.text(name, theirs);
        } else if is_needed {
            files.text(name, ours);
        }
    }
    let mut menu: Vec<&MenuItem> = knowledge.menu.iter().collect();
    if menu.is_empty() {
        menu.extend(&like.menu);
    } else if !menu.iter().any(|it| it.id == MenuItem::OTHER) {
        // Every menu has the item that asks for something else.
        menu.extend(like.menu.iter().filter(|it| it.id == MenuItem::OTHER));
    }
    if is_own || !knowledge.menu.is_empty() {
        let items: Result<Vec<_>, _> = menu.iter().map(|item| item_table(item, like)).collect();
        let item = items.map_err(|error| KnowledgeError::new(&files.folder, error.to_string()))?;
        files.toml("menu.toml", &MenuFile { item })?;
    }
    if knowledge.rules != Rules::default() {
        files.toml("rules.toml", &knowledge.rules)?;
    } else if is_own {
        files.toml("rules.toml", &like.rules)?;
    }
    if is_own {
        if !like.constants.is_empty() {
            files.toml(
                "constants.toml",
                &ConstantsFile {
                    constant: &like.constants,
                },
            )?;
        }
        if !like.counters.is_empty() {
            files.toml(
                "counters.toml",
                &CountersFile {
                    counters: &like.counters,
                },
            )?;
        }
        for (name, text) in &like.templates {
            files.text(format!("templates/{name}"), text);
        }
        for (name, bytes) in &like.runtime {
            files.files.push((format!("runtime/{name}"), bytes.clone()));
        }
    }
    for example in &knowledge.examples {
        // An example shows an item of the menu.
        if !menu.iter().any(|it| it.id == example.menu_item) {
            continue;
        }
        let of_example = |name: &str| format!("examples/{}/{name}", example.name);
        files.toml(
            of_example("example.toml"),
            &ExampleFile {
                menu_item: &example.menu_item,
                text: &example.text,
                dtypes: standing
                    .like
                    .examples
                    .iter()
                    .find(|it| it.name == example.name)
                    .map_or(&[][..], |it| it.dtypes.as_slice()),
            },
        )?;
        for (part, code) in [("before", &example.before), ("after", &example.after)] {
            files.text(of_example(&format!("{part}.{}", standing.extension)), code);
        }
    }
    write_all(&files.folder, &files.files)
}

/// Returns an item of the menu as written, with the types of elements, needs and words that `like`
/// has it for.
fn item_table(item: &MenuItem, like: &Target) -> Result<toml::Table, toml::ser::Error> {
    let same = like.menu.iter().find(|it| it.id == item.id);
    let mut table = toml::Table::try_from(MenuItem {
        needs: same.map_or_else(BTreeMap::new, |it| it.needs.clone()),
        mentions: same.map_or_else(Vec::new, |it| it.mentions.clone()),
        ..item.clone()
    })?;
    if let Some(dtypes) = like.dtypes.get(&item.id) {
        table.insert("dtypes".to_owned(), toml::Value::try_from(dtypes)?);
    }
    Ok(table)
}

fn roofline(target: &Target) -> Option<toml::Table> {
    let roofline = target.roofline?;
    let names = match roofline.unit {
        Unit::Cycles => ["peak_macs_per_cycle", "bytes_per_cycle"],
        Unit::Nanoseconds => ["peak_macs_per_ns", "bytes_per_ns"],
    };
    let values = names.into_iter().zip([roofline.peak_macs, roofline.bytes]);
    Some(
        values
            .map(|(name, value)| (name.to_owned(), toml::Value::Float(value)))
            .collect(),
    )
}
