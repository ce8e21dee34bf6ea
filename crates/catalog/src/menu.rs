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
        if id == MenuItem::OTHER && !(item.dtypes.is_empty() && item.needs.is_empty()) {
            return Err(source.error(
                span,
                "the escape item must fit all problems",
                "leave out `dtypes` and `needs`",
            ));
        }
        if !item.needs.is_empty() && item.scope != Scope::Step {
            return Err(source.error(
                span,
                format!("`{id}` has `needs` and is no step"),
                "leave out `needs`: plans are set aside for other items whatever the kernel",
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
