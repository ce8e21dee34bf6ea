//! What the crates of the project are made with, and the table of it in the documentation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// A crate of the project.
pub(super) struct Package {
    pub folder: PathBuf,
    /// The crates of the project that it is made with.
    pub needs: Vec<String>,
}

/// Returns the folder of the project.
pub(super) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap()
}

fn table(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap();
    text.parse().unwrap()
}

/// Returns the crates of the project by name.
pub(super) fn packages(root: &Path) -> BTreeMap<String, Package> {
    let workspace = table(&root.join("Cargo.toml"));
    let named = workspace["workspace"]["dependencies"].as_table().unwrap();
    let mut folders: BTreeMap<String, PathBuf> = named
        .iter()
        .filter_map(|(name, it)| Some((name.clone(), root.join(it.get("path")?.as_str()?))))
        .collect();
    folders.insert("autocomp".to_owned(), root.join("crates/autocomp"));
    let package = |folder: &PathBuf| {
        let manifest = table(&folder.join("Cargo.toml"));
        let needs = manifest.get("dependencies").and_then(|it| it.as_table());
        let needs = needs.into_iter().flatten().map(|(name, _)| name.clone());
        Package {
            folder: folder.clone(),
            needs: needs.filter(|name| folders.contains_key(name)).collect(),
        }
    };
    let found = folders.iter();
    found
        .map(|(name, folder)| (name.clone(), package(folder)))
        .collect()
}

/// Returns the crates of the families that the program can be made with.
pub(super) fn families(root: &Path, packages: &BTreeMap<String, Package>) -> Vec<String> {
    let manifest = table(&root.join("crates/autocomp/Cargo.toml"));
    let needs = manifest["dependencies"].as_table().unwrap();
    let names = needs.iter().map(|(name, _)| name.clone());
    let folder = root.join("crates/families");
    names
        .filter(|name| {
            let package = packages.get(name);
            package.is_some_and(|it| it.folder.starts_with(&folder))
        })
        .collect()
}

/// Returns all crates that come with `name`, itself left out.
fn beneath<'a>(name: &str, packages: &'a BTreeMap<String, Package>) -> BTreeSet<&'a str> {
    let needs = packages[name].needs.iter();
    needs
        .flat_map(|it| beneath(it, packages).into_iter().chain([it.as_str()]))
        .collect()
}

/// Returns what each crate needs, without what comes with another one, by the names that the table
/// has: folders below `crates`, where kinds of crates are left out.
fn needs_by_crate(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let packages = packages(root);
    let short = |name: &str| {
        let folder = packages[name].folder.strip_prefix(root.join("crates"));
        let shown = folder.unwrap().to_str().unwrap();
        let kinds = ["families/", "languages/"].into_iter();
        let mut inner = kinds.filter_map(|it| shown.strip_prefix(it));
        inner.next().unwrap_or(shown).to_owned()
    };
    let direct = |package: &Package| {
        let needs = package.needs.iter();
        let indirect: BTreeSet<&str> = needs
            .clone()
            .flat_map(|it| beneath(it, &packages))
            .collect();
        let direct = needs.filter(|it| !indirect.contains(it.as_str()));
        direct.map(|it| short(it)).collect()
    };
    packages
        .iter()
        .map(|(name, package)| (short(name), direct(package)))
        .collect()
}

/// The table says what the manifests say, and what a crate needs stands in a line below its own.
#[test]
fn table_of_the_crates_is_what_the_manifests_say() {
    let root = root();
    let expected = needs_by_crate(&root);
    let page = fs::read_to_string(root.join("docs/ARCHITECTURE.md")).unwrap();
    let (_, page) = page.split_once("### What stands on what\n").unwrap();
    let lines = page.split("```").nth(1).unwrap().lines();
    let list = |text: &str| -> Vec<String> {
        let names = text.split(',').map(|it| it.trim().to_owned());
        names.collect()
    };
    let mut found = Vec::new();
    let mut rows = BTreeMap::new();
    for (number, line) in lines.enumerate() {
        let Some((names, needs)) = line.split_once("  ") else {
            continue;
        };
        let mut needs: BTreeSet<String> = list(needs).into_iter().collect();
        needs.remove("nothing");
        if needs.remove("each family") {
            let packages = packages(&root);
            let folders = families(&root, &packages).into_iter();
            let folders = folders.map(|it| packages[&it].folder.clone());
            let below = root.join("crates/families");
            let shown = folders.map(|it| it.strip_prefix(&below).unwrap().display().to_string());
            needs.extend(shown);
        }
        for name in list(names) {
            rows.insert(name, (number, needs.clone()));
        }
    }
    for (name, needs) in &expected {
        let Some((number, written)) = rows.get(name) else {
            found.push(format!("{name} is not there"));
            continue;
        };
        if written != needs {
            found.push(format!("{name} needs {needs:?}, not {written:?}"));
        }
        let is_above = |it: &&String| rows.get(*it).is_some_and(|(other, _)| other <= number);
        let above: Vec<&String> = written.iter().filter(is_above).collect();
        if !above.is_empty() {
            found.push(format!("{name} stands below {above:?}, which it needs"));
        }
    }
    let unknown = rows.keys().filter(|it| !expected.contains_key(*it));
    found.extend(unknown.map(|it| format!("{it} is no crate")));
    assert!(found.is_empty(), "{}", found.join("\n"));
}
