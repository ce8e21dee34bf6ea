//! Which targets, problems and suites there are.

use crate::error::{CatalogError, Invalid};
use crate::family::{self, Templates};
use crate::problem::{self, Problem};
use crate::suite::{self, Suite};
use crate::target::{self, Target, machine_of};
use crate::toml_text::Source;
use crate::tree::Tree;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use toml::{Spanned, Table};

/// Every target, problem and suite that can be named.
#[derive(Clone, Debug)]
pub struct Catalog {
    targets: BTreeMap<String, Tree>,
    problems: BTreeMap<String, ProblemSource>,
    suites: BTreeMap<String, (Tree, String)>,
}

/// A problem that has not been loaded yet.
#[derive(Clone, Debug)]
enum ProblemSource {
    /// One with a folder to itself.
    Plain(Tree),
    /// A member of a family, with its numbers.
    Member(Arc<Templates>, Table),
}

impl ProblemSource {
    fn tree(&self) -> &Tree {
        match self {
            Self::Plain(tree) => tree,
            Self::Member(templates, _) => templates.tree(),
        }
    }
}

/// What [`Catalog::add_folder`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Names of targets.
    pub targets: Vec<String>,
    /// Machines of targets that were there before, as `TARGET/MACHINE`.
    pub machines: Vec<String>,
    /// Names of problems.
    pub problems: Vec<String>,
    /// Names of suites.
    pub suites: Vec<String>,
}

impl Catalog {
    /// Returns the catalog of what is built in.
    ///
    /// # Errors
    /// If a built-in folder is broken, which the tests of this crate rule out.
    pub fn built_in() -> Result<Self, CatalogError> {
        let mut catalog = Self {
            targets: BTreeMap::new(),
            problems: BTreeMap::new(),
            suites: BTreeMap::new(),
        };
        catalog.add_tree(&Tree::built_in(), "")?;
        Ok(catalog)
    }

    /// Adds a user's folder and returns the names it brings.
    ///
    /// The folder may hold `targets/`, `problems/` and `suites/`, or be a
    /// single target or problem, or have problems somewhere below it; those
    /// are then named by their paths in it. A folder in `targets/` that has
    /// `machines/` and no `target.toml` adds machines to the target of its name.
    ///
    /// # Errors
    /// If the folder cannot be read, defines nothing, or defines a name again.
    pub fn add_folder(&mut self, path: &Path) -> Result<Added, CatalogError> {
        let name = path
            .canonicalize()
            .ok()
            .and_then(|path| {
                path.file_name()
                    .map(|name| name.to_string_lossy().into_owned())
            })
            .unwrap_or_else(|| path.display().to_string());
        let tree = Tree::read(path)?;
        let found = self.add_tree(&tree, &name)?;
        if found == Added::default() {
            return Err(CatalogError::Missing {
                folder: tree.folder(),
                file: "problem.toml, target.toml or suite".to_owned(),
                remedy: "name a folder with a problem or target in it".to_owned(),
            });
        }
        Ok(found)
    }

    /// Returns the names of all targets, in order.
    pub fn target_names(&self) -> impl Iterator<Item = &str> {
        self.targets.keys().map(String::as_str)
    }

    /// Returns the names of all problems, in order.
    pub fn problem_names(&self) -> impl Iterator<Item = &str> + Clone {
        self.problems.keys().map(String::as_str)
    }

    /// Returns the names of all suites, in order.
    pub fn suite_names(&self) -> impl Iterator<Item = &str> {
        self.suites.keys().map(String::as_str)
    }

    /// Loads a target.
    ///
    /// # Errors
    /// If there is none of that name, or its folder is broken.
    pub fn target(&self, name: &str) -> Result<Target, CatalogError> {
        let tree = self
            .targets
            .get(name)
            .ok_or_else(|| CatalogError::unknown("target", name, self.targets.keys().cloned()))?;
        target::load(&self.with_inherited(tree)?, name)
    }

    /// Returns the target that the one called `name` inherits from, if it does.
    ///
    /// # Errors
    /// If there is none of that name, or its description cannot be read.
    pub fn inherited(&self, name: &str) -> Result<Option<String>, CatalogError> {
        let tree = self.targets.get(name);
        let tree = tree
            .ok_or_else(|| CatalogError::unknown("target", name, self.targets.keys().cloned()))?;
        Ok(Inheritance::of(tree)?.inherits.map(Spanned::into_inner))
    }

    /// Loads a problem.
    ///
    /// # Errors
    /// If there is none of that name, its folder is broken, or its target is unknown.
    pub fn problem(&self, name: &str) -> Result<Problem, CatalogError> {
        let source = self
            .problems
            .get(name)
            .ok_or_else(|| CatalogError::unknown("problem", name, self.problems.keys().cloned()))?;
        let texts = match source {
            ProblemSource::Member(templates, numbers) => templates.render(numbers)?,
            ProblemSource::Plain(tree) => family::plain(tree)?,
        };
        let problem = problem::load(source.tree(), name, &texts)?;
        let is_unknown = |name: &&String| !self.targets.contains_key(*name);
        if let Some(name) = problem.targets.iter().find(is_unknown) {
            let unknown = CatalogError::unknown("target", name, self.targets.keys().cloned());
            let text = unknown.to_string();
            let (message, remedy) = text.split_once("\nhelp: ").unwrap_or((&text, ""));
            return Err(CatalogError::Invalid(Box::new(Invalid {
                path: source.tree().display("problem.toml"),
                line: 0,
                column: 1,
                length: 1,
                source_line: String::new(),
                message: message.to_owned(),
                remedy: remedy.to_owned(),
            })));
        }
        Ok(problem)
    }

    /// Loads a suite.
    ///
    /// # Errors
    /// If there is none of that name, its file is broken, or it names an unknown problem.
    pub fn suite(&self, name: &str) -> Result<Suite, CatalogError> {
        let (tree, path) = self
            .suites
            .get(name)
            .ok_or_else(|| CatalogError::unknown("suite", name, self.suites.keys().cloned()))?;
        suite::load(tree, path, name, self.problem_names())
    }

    /// Adds the targets, problems and suites of `tree`, whose root is called `name`.
    fn add_tree(&mut self, tree: &Tree, name: &str) -> Result<Added, CatalogError> {
        let mut found = Added::default();
        let has = |folder: &str| tree.below(folder).iter().next().is_some();
        if has("targets") || has("problems") || has("suites") {
            self.add_targets(&tree.below("targets"), &mut found)?;
            self.add_problems(&tree.below("problems"), "", &mut found)?;
            self.add_suites(&tree.below("suites"), &mut found)?;
        } else if tree.contains("target.toml") {
            self.add_target(name.to_owned(), tree.clone(), &mut found)?;
        } else {
            self.add_problems(tree, name, &mut found)?;
        }
        Ok(found)
    }

    fn add_targets(&mut self, tree: &Tree, found: &mut Added) -> Result<(), CatalogError> {
        for folder in tree.folders_with("target.toml") {
            self.add_target(folder.clone(), tree.below(&folder), found)?;
        }
        self.add_machines(tree, found)
    }

    /// Adds machines to targets that are there: `NAME/machines/*.toml` without `NAME/target.toml`.
    fn add_machines(&mut self, tree: &Tree, found: &mut Added) -> Result<(), CatalogError> {
        let names: BTreeSet<&str> = tree
            .iter()
            .filter_map(|(path, _)| path.split_once("/machines/"))
            .map(|(name, _)| name)
            .filter(|name| !name.contains('/') && !tree.contains(&format!("{name}/target.toml")))
            .collect();
        for name in names {
            let of = tree.below(name);
            let known = self.targets.get(name);
            let known = known.ok_or_else(|| {
                CatalogError::unknown("target", name, self.targets.keys().cloned())
            })?;
            let machines = of
                .iter()
                .filter_map(|(path, _)| Some((path, machine_of(path)?)));
            for (path, machine) in machines {
                if known.contains(path) {
                    let (first, second) = (known.display(path), of.display(path));
                    return Err(duplicate("machine", machine.to_owned(), first, second));
                }
                found.machines.push(format!("{name}/{machine}"));
            }
            let whole = known.over(&of, |path| machine_of(path).is_none());
            self.targets.insert(name.to_owned(), whole);
        }
        Ok(())
    }

    fn add_target(
        &mut self,
        name: String,
        tree: Tree,
        found: &mut Added,
    ) -> Result<(), CatalogError> {
        if let Some(first) = self.targets.get(&name) {
            return Err(duplicate("target", name, first.folder(), tree.folder()));
        }
        found.targets.push(name.clone());
        self.targets.insert(name, tree);
        Ok(())
    }

    /// Adds every problem below `tree`; one at its root is called `root_name`.
    fn add_problems(
        &mut self,
        tree: &Tree,
        root_name: &str,
        found: &mut Added,
    ) -> Result<(), CatalogError> {
        for folder in tree.folders_with("problem.toml") {
            let below = tree.below(&folder);
            let own_name = if folder.is_empty() {
                root_name
            } else {
                &folder
            };
            if below.contains("family.toml") {
                let group = own_name.rsplit_once('/').map_or("", |(group, _)| group);
                let members = family::members(&below)?;
                let templates = Arc::new(Templates::new(below));
                for (member, numbers) in members {
                    let name = if group.is_empty() {
                        member
                    } else {
                        format!("{group}/{member}")
                    };
                    let source = ProblemSource::Member(Arc::clone(&templates), numbers);
                    self.add_problem(name, source, found)?;
                }
            } else {
                self.add_problem(own_name.to_owned(), ProblemSource::Plain(below), found)?;
            }
        }
        Ok(())
    }

    fn add_problem(
        &mut self,
        name: String,
        source: ProblemSource,
        found: &mut Added,
    ) -> Result<(), CatalogError> {
        if let Some(first) = self.problems.get(&name) {
            return Err(duplicate(
                "problem",
                name,
                first.tree().folder(),
                source.tree().folder(),
            ));
        }
        found.problems.push(name.clone());
        self.problems.insert(name, source);
        Ok(())
    }

    fn add_suites(&mut self, tree: &Tree, found: &mut Added) -> Result<(), CatalogError> {
        for (path, _) in tree.iter() {
            let Some(name) = path.strip_suffix(".toml") else {
                continue;
            };
            if let Some((first, path)) = self.suites.get(name) {
                let first = first.display(path);
                return Err(duplicate(
                    "suite",
                    name.to_owned(),
                    first,
                    tree.display(path),
                ));
            }
            found.suites.push(name.to_owned());
            self.suites
                .insert(name.to_owned(), (tree.clone(), path.to_owned()));
        }
        Ok(())
    }

    /// Lays a target's folder over that of the target it inherits from.
    fn with_inherited(&self, tree: &Tree) -> Result<Tree, CatalogError> {
        let path = tree.display("target.toml");
        let source = Source {
            path: &path,
            text: tree.text("target.toml", "describe the target in it")?,
        };
        let inheritance = Inheritance::of(tree)?;
        let Some(parent) = inheritance.inherits else {
            return Ok(tree.clone());
        };
        // Of others that are broken nothing is to be said here.
        let parent_of = |tree: &Tree| Inheritance::of(tree).map(|it| it.inherits);
        let stands_alone = |tree: &Tree| matches!(parent_of(tree), Ok(None));
        let refuse = |message: String| {
            let alone = self.targets.iter().filter(|(_, tree)| stands_alone(tree));
            let names: Vec<&str> = alone.map(|(name, _)| name.as_str()).collect();
            let remedy = format!(
                "inherit from a target that stands alone: {}",
                names.join(", ")
            );
            source.error(parent.span(), message, remedy)
        };
        let name = parent.get_ref();
        let under = self
            .targets
            .get(name)
            .ok_or_else(|| refuse(format!("there is no target `{name}` to inherit from")))?;
        if parent_of(under)?.is_some() {
            return Err(refuse(format!("`{name}` inherits, too")));
        }
        Ok(tree.over(under, |path| {
            path == "target.toml"
                || path == "architecture.md" && !inheritance.inherits_architecture
                || path.starts_with("machines/")
                || path.starts_with("examples/")
        }))
    }
}

/// What a `target.toml` says of another target.
#[derive(Deserialize)]
struct Inheritance {
    inherits: Option<Spanned<String>>,
    #[serde(default)]
    inherits_architecture: bool,
}

impl Inheritance {
    /// Reads that of the target in `tree`.
    fn of(tree: &Tree) -> Result<Self, CatalogError> {
        let source = Source {
            path: &tree.display("target.toml"),
            text: tree.text("target.toml", "describe the target in it")?,
        };
        source.parse()
    }
}

fn duplicate(kind: &'static str, name: String, first: String, second: String) -> CatalogError {
    CatalogError::Duplicate {
        kind,
        name,
        first,
        second,
    }
}
