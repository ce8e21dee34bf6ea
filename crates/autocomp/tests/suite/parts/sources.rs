//! What `sources.rs` of each family names: all code that decides results, and of that the code
//! which a run goes on with.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::manifests::{Package, families, packages, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Crates that decide no result, each with the reason. What only they need does not, either.
const DECIDE_NOTHING: &[(&str, &str)] = &[
    (
        "autocomp-core",
        "words, in which stored results are written",
    ),
    ("autocomp-cuda-rewriter", "proposes kernels"),
    ("autocomp-gemmini-rewriter", "proposes kernels"),
    ("autocomp-nests", "proposes kernels"),
    (
        "autocomp-packed-files",
        "unpacks data whose content is part of each key",
    ),
    ("autocomp-rvv-rewriter", "proposes kernels"),
    ("autocomp-trainium-rewriter", "proposes kernels"),
];

/// Signs of code that no cost comes from, each with what such code does.
const NO_COST: &[(&str, &str)] = &[
    ("impl Calibrated for", "compares with measured suites"),
    (
        "impl ProgramSimulator for",
        "runs programs that are no kernels",
    ),
    ("impl Rewriter for", "proposes kernels"),
];

/// What `sources.rs` of a family names.
struct Sources {
    /// The crate with that file.
    name: String,
    family: Vec<PathBuf>,
    shared: Vec<PathBuf>,
    without: Vec<PathBuf>,
    /// What of `family` decides what is measured on a device, and nothing that is simulated.
    device: Vec<PathBuf>,
}

impl Sources {
    fn read(name: &str, folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("sources.rs")).unwrap_or_default();
        let code: String = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        let paths = |list: &str| {
            let begin = format!("const {list}: &[&str] = &[");
            let list = code.split_once(&begin).map_or("", |(_, rest)| rest);
            let list = list.split_once("];").map_or("", |(list, _)| list);
            let paths = list.split('"').skip(1).step_by(2);
            paths
                .map(|it| folder.join(it).canonicalize().expect(it))
                .collect()
        };
        Self {
            name: name.to_owned(),
            family: paths("FAMILY"),
            shared: paths("SHARED"),
            without: paths("WITHOUT"),
            device: paths("DEVICE"),
        }
    }

    /// Returns whether an edit of `path` refuses runs.
    fn refuses(&self, path: &Path) -> bool {
        is_below(path, &self.family) && !is_below(path, &self.without)
    }

    /// Returns whether an edit of `path` refuses runs on simulated machines.
    fn refuses_simulated(&self, path: &Path) -> bool {
        self.refuses(path) && !is_below(path, &self.device)
    }

    /// Returns whether an edit of `path` ends that stored results are used.
    fn decides(&self, path: &Path) -> bool {
        self.refuses(path) || is_below(path, &self.shared)
    }
}

fn is_below(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|it| path.starts_with(it))
}

/// Returns what `name` is made with, itself first, but what decides nothing.
fn deciding(name: &str, packages: &BTreeMap<String, Package>) -> Vec<String> {
    let mut found = vec![name.to_owned()];
    let mut next = 0;
    while let Some(name) = found.get(next).cloned() {
        next += 1;
        for needed in &packages[&name].needs {
            let decides = DECIDE_NOTHING.iter().all(|(it, _)| it != needed);
            if decides && !found.contains(needed) {
                found.push(needed.clone());
            }
        }
    }
    found
}

fn files(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap();
    entries.flat_map(|it| files(&it.unwrap().path())).collect()
}

/// Returns the files of the project's crates that code of `path` has built in.
fn built_in(path: &Path, text: &str, crates: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for call in ["include_str!(", "include_bytes!("] {
        for rest in text.split(call).skip(1) {
            let Some(name) = rest.trim_start().strip_prefix('"') else {
                continue;
            };
            let name = name.split('"').next().unwrap_or_default();
            found.extend(path.parent().unwrap().join(name).canonicalize());
        }
    }
    found.retain(|it| it.starts_with(crates));
    found
}

struct Project {
    root: PathBuf,
    packages: BTreeMap<String, Package>,
    families: Vec<Sources>,
}

fn project() -> Project {
    let root = root();
    let packages = packages(&root);
    let families = families(&root, &packages);
    assert!(4 < families.len(), "{families:?}");
    let read = |name: &String| Sources::read(name, &packages[name].folder);
    Project {
        families: families.iter().map(read).collect(),
        packages,
        root,
    }
}

/// A result that code decided which is not named would be used after that code is mended.
#[test]
fn all_code_that_decides_results_is_named() {
    let project = project();
    let mut found = Vec::new();
    for sources in &project.families {
        let family = &sources.name;
        let deciding = deciding(family, &project.packages);
        let folders = deciding.iter().map(|it| &project.packages[it].folder);
        let folders: Vec<PathBuf> = folders.cloned().collect();
        for (name, folder) in deciding.iter().zip(&folders) {
            let code = folder.join("src");
            if !is_below(&code, &sources.family) && !is_below(&code, &sources.shared) {
                found.push(format!("{family}: `src` of {name} is not named"));
            }
        }
        let named = sources.family.iter().chain(&sources.shared);
        for path in named.clone().filter(|it| !is_below(it, &folders)) {
            let path = path.display();
            found.push(format!("{family} is not made with {path}"));
        }
        for path in &sources.without {
            if !named.clone().any(|it| path.starts_with(it) && path != it) {
                let path = path.display();
                found.push(format!("{family}: {path} is left out of nothing"));
            }
        }
        for path in &sources.device {
            if !sources.family.iter().any(|it| path.starts_with(it)) {
                let path = path.display();
                found.push(format!("{family}: {path} is no part of `FAMILY`"));
            }
        }
        for path in named.flat_map(|it| files(it)) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if path.extension().is_none_or(|it| it != "rs") || !sources.decides(&path) {
                continue;
            }
            for file in built_in(&path, &text, &project.root.join("crates")) {
                if !sources.decides(&file) {
                    let (path, file) = (path.display(), file.display());
                    found.push(format!("{family}: {path} has {file}, which is not named"));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    for (name, _) in DECIDE_NOTHING {
        let mut families = project.families.iter();
        let is_needed = families.any(|it| {
            let deciding = deciding(&it.name, &project.packages);
            let mut needs = deciding.iter().flat_map(|it| &project.packages[it].needs);
            needs.any(|needed| needed == name)
        });
        assert!(is_needed, "no family needs {name}");
    }
}

/// A change that no cost comes from refuses no run.
#[test]
fn runs_go_on_after_changes_that_no_cost_comes_from() {
    let project = project();
    let mut found = Vec::new();
    for sources in &project.families {
        for path in sources.family.iter().flat_map(|it| files(it)) {
            let shown = path.strip_prefix(&project.root).unwrap().display();
            if !sources.refuses(&path) {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let is_calibration = path
                .iter()
                .any(|it| it.to_string_lossy().starts_with("calibrat"));
            let mut signs = NO_COST.iter();
            let sign = signs.find(|(sign, _)| text.contains(sign));
            let does = sign.or(is_calibration.then_some(&NO_COST[0]));
            if let Some((_, does)) = does {
                let family = &sources.name;
                found.push(format!(
                    "{family}: {shown} {does}: leave it out by `WITHOUT`"
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What works a device that is there refuses no run on a simulated machine.
#[test]
fn runs_on_simulated_machines_go_on_after_changes_of_what_works_a_device() {
    let project = project();
    let mut found = Vec::new();
    let mut twins = 0;
    for sources in &project.families {
        for path in sources.family.iter().flat_map(|it| files(it)) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if !text.contains(" Twin for ") {
                continue;
            }
            twins += 1;
            if sources.refuses_simulated(&path) {
                let shown = path.strip_prefix(&project.root).unwrap().display();
                let family = &sources.name;
                found.push(format!(
                    "{family}: {shown} works a device: name it in `DEVICE`"
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(2 < twins, "{twins} measured twins");
}

/// Crates of several families are part of what a run goes on with for all of them, or for none.
#[test]
fn families_agree_on_what_runs_go_on_with() {
    let project = project();
    let mut found = Vec::new();
    for (name, package) in &project.packages {
        let code = package.folder.join("src");
        let (mut own, mut shared) = (BTreeSet::new(), BTreeSet::new());
        for sources in &project.families {
            if sources.family.contains(&code) {
                own.insert(&sources.name);
            } else if sources.shared.contains(&code) {
                shared.insert(&sources.name);
            }
        }
        if !own.is_empty() && !shared.is_empty() {
            found.push(format!(
                "{name} is in `FAMILY` of {own:?}, in `SHARED` of {shared:?}"
            ));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
