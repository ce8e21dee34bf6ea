//! Worked examples of a target.

use crate::data_type::DataType;
use crate::error::CatalogError;
use crate::toml_text::Source;
use crate::tree::Tree;
use autocomp_core::MenuItem;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A small before/after pair that shows one menu item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// Name: its folder.
    pub name: String,
    /// The [`MenuItem::id`] it shows.
    pub menu_item: String,
    /// What changes and why it pays.
    pub text: String,
    /// Code before.
    pub before: String,
    /// Code after.
    pub after: String,
    /// Types of elements, of which a problem must have one to be shown it; empty for any.
    #[serde(default)]
    pub dtypes: Vec<DataType>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExampleFile {
    menu_item: Spanned<String>,
    text: String,
    #[serde(default)]
    dtypes: Vec<DataType>,
}

/// Reads the examples of a target.
///
/// # Errors
/// If a file is missing, or names an item that the menu has not.
pub(crate) fn examples(tree: &Tree, menu: &[MenuItem]) -> Result<Vec<Example>, CatalogError> {
    let mut examples = Vec::new();
    for folder in tree.folders_with("example.toml") {
        let Some(name) = folder.strip_prefix("examples/") else {
            continue;
        };
        let path = format!("{folder}/example.toml");
        let display = tree.display(&path);
        let source = Source {
            path: &display,
            text: tree.text(&path, "describe the example in it")?,
        };
        let file: ExampleFile = source.parse()?;
        if !menu.iter().any(|item| &item.id == file.menu_item.get_ref()) {
            return Err(source.error(
                file.menu_item.span(),
                format!("the menu has no item `{}`", file.menu_item.get_ref()),
                "name an item of menu.toml",
            ));
        }
        let part = |stem: &str| {
            let prefix = format!("{folder}/{stem}.");
            let found = tree.iter().find(|(path, _)| path.starts_with(&prefix));
            let path = found.map_or_else(|| prefix.clone() + "*", |(path, _)| path.to_owned());
            tree.text(
                &path,
                "an example has code before and after, such as before.c and after.c",
            )
        };
        examples.push(Example {
            name: name.to_owned(),
            before: part("before")?.to_owned(),
            after: part("after")?.to_owned(),
            menu_item: file.menu_item.into_inner(),
            text: file.text,
            dtypes: file.dtypes,
        });
    }
    Ok(examples)
}
