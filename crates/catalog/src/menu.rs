//! The menu of a target: optimizations that a plan may choose.

use crate::data_type::DataType;
use crate::error::CatalogError;
use crate::toml_text::Source;
use crate::tree::Tree;
use autocomp_core::{MenuItem, Scope};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MenuFile {
    item: Vec<Spanned<WrittenItem>>,
}

/// An item as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenItem {
    id: String,
    text: String,
    #[serde(default)]
    applies_when: String,
    #[serde(default)]
    scope: Scope,
    #[serde(default)]
    percent: Vec<u8>,
    /// Types of elements, of which a problem must have one; empty for any.
    #[serde(default)]
    dtypes: Vec<DataType>,
    #[serde(default)]
    needs: BTreeMap<String, u64>,
    #[serde(default)]
    mentions: Vec<String>,
}

/// A menu, and which of its items are for problems with certain types only.
pub(crate) struct Menu {
    pub(crate) items: Vec<MenuItem>,
    pub(crate) dtypes: BTreeMap<String, Vec<DataType>>,
}

/// Reads `menu.toml`.
///
/// # Errors
/// If an identifier is used twice or not in kebab-case, if percentages do not fit a scope, or
/// if the escape item is missing or not for all problems.
pub(crate) fn load(tree: &Tree) -> Result<Menu, CatalogError> {
    let path = tree.display("menu.toml");
    let source = Source {
        path: &path,
        text: tree.text("menu.toml", "list the optimizations in it")?,
    };
    let file: MenuFile = source.parse()?;
    let mut menu = Menu {
        items: Vec::new(),
        dtypes: BTreeMap::new(),
    };
    for item in file.item {
        let (span, item) = (item.span(), item.into_inner());
        let id = &item.id;
        let is_kebab = !id.is_empty()
            && id
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        if !is_kebab || menu.items.iter().any(|other| &other.id == id) {
            return Err(source.error(
                span,
                format!("the identifier `{id}` is used before or not kebab-case"),
                "give every item an identifier of its own, as in `double-buffer`",
            ));
        }
        let is_step = matches!(item.scope, Scope::Step | Scope::Translation);
        if is_step != item.percent.is_empty() || item.percent.iter().any(|part| 100 < *part) {
            return Err(source.error(
                span,
                format!("`percent` of `{id}` does not fit its scope"),
                "give items of scope `schedule` and `combination` the percent of plans of each iteration, 0 to 100, and steps and translations none",
            ));
        }
        let is_for_any = item.needs.is_empty() && item.mentions.is_empty();
        if id == MenuItem::OTHER && !(item.dtypes.is_empty() && is_for_any) {
            return Err(source.error(
                span,
                "the escape item must fit all problems",
                "leave out `dtypes`, `needs` and `mentions`",
            ));
        }
        if !is_for_any && item.scope != Scope::Step {
            return Err(source.error(
                span,
                format!("`{id}` has `needs` or `mentions` and is no step"),
                "leave both out: plans are set aside for other items whatever the kernel",
            ));
        }
        let is_word = |it: &String| {
            let word = it.trim_matches('*');
            let is_inside = |c: char| c.is_alphanumeric() || c == '_';
            !word.is_empty() && word.chars().all(is_inside) && it.len() <= word.len() + 2
        };
        if let Some(wrong) = item.mentions.iter().find(|it| !is_word(it)) {
            return Err(source.error(
                span,
                format!("`{wrong}` in `mentions` of `{id}` is no word"),
                "write words as they stand in kernels, with `*` at an end for any letters there: `for`, `atomic*`",
            ));
        }
        if !item.dtypes.is_empty() {
            menu.dtypes.insert(id.clone(), item.dtypes);
        }
        menu.items.push(MenuItem {
            id: item.id,
            text: item.text,
            applies_when: item.applies_when,
            scope: item.scope,
            percent: item.percent,
            needs: item.needs,
            mentions: item.mentions,
        });
    }
    if !menu.items.iter().any(|item| item.id == MenuItem::OTHER) {
        return Err(source.error(
            0..0,
            "the menu has no escape item",
            "add an `[[item]]` with `id = \"other\"`",
        ));
    }
    Ok(menu)
}
