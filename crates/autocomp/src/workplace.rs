//! What a command works with: the catalog, the private cache, the compiler
//! search.

use crate::environment::{cache_home, search_path};
use crate::error::CliError;
use crate::evaluating;
use crate::registry;
use autocomp_catalog::{Added, Catalog, CatalogError, Problem, Target};
use autocomp_eval::isolation::Isolation;
use autocomp_eval::{Surroundings, WantedTools};
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Options of every command that evaluates or names targets and problems
#[derive(Clone, Debug, Default, Args)]
pub struct WorkplaceOptions {
    /// Folder with targets, problems or suites of your own; may be repeated
    #[arg(long = "data", value_name = "FOLDER")]
    pub data: Vec<PathBuf>,
    /// Private cache: compiler, builds, evaluations [default: the user's cache folder]
    #[arg(long, value_name = "FOLDER", env = "AUTOCOMP_CACHE_DIR", value_parser = any_path())]
    cache_dir: Option<PathBuf>,
    /// Another C compiler: a zig, clang or riscv64 gcc, by path or name [default: the pinned zig]
    #[arg(long, value_name = "PATH", env = "AUTOCOMP_COMPILER")]
    pub compiler: Option<PathBuf>,
    /// Take the pinned compiler from this wheel or folder if it has to be installed, not from pip
    #[arg(long, value_name = "FOLDER")]
    toolchain: Option<PathBuf>,
    /// Name of the compiler that a run was measured with.
    #[arg(skip)]
    recorded_compiler: Option<String>,
    /// Target that kernels are written for, if the problem has several.
    #[arg(skip)]
    target: Option<String>,
}

impl WorkplaceOptions {
    /// Returns the options as words of a command line that can be run in another folder.
    #[cfg(feature = "mcp")]
    pub fn as_words(&self) -> Vec<std::ffi::OsString> {
        let word = |name: &str, path: &PathBuf| {
            // A compiler may be named alone, and is then looked for.
            let is_path = path.is_absolute() || path.components().nth(1).is_some();
            let path = match is_path || name != "compiler" {
                true => std::path::absolute(path).unwrap_or_else(|_| path.clone()),
                false => path.clone(),
            };
            let mut word = std::ffi::OsString::from(format!("--{name}="));
            word.push(path);
            word
        };
        let data = self.data.iter().map(|it| word("data", it));
        let others = [
            ("cache-dir", &self.cache_dir),
            ("compiler", &self.compiler),
            ("toolchain", &self.toolchain),
        ];
        let others = others
            .into_iter()
            .filter_map(|(name, path)| Some(word(name, path.as_ref()?)));
        data.chain(others).collect()
    }
}

/// What a command works with.
#[derive(Debug)]
pub struct Workplace {
    /// Targets and problems.
    pub catalog: Catalog,
    /// The private cache.
    pub cache_folder: PathBuf,
    options: WorkplaceOptions,
    /// Folders given in place of a problem's name, and the problem in each.
    problem_folders: BTreeMap<String, String>,
    /// Folders of the user's that the catalog has, and what each brought.
    data: Vec<(PathBuf, Added)>,
    /// Those who evaluate for this process.
    pub isolation: Arc<Isolation>,
    /// Evaluations that they make at a time, if nothing else is asked for.
    evaluations_at_a_time: usize,
}

/// Evaluations that workers on other machines are asked for at a time: more than most have
/// devices. What waits costs a thread that sleeps.
const AT_A_TIME_ELSEWHERE: usize = 64;

impl Workplace {
    /// Opens the catalog and resolves the folders.
    pub fn open(options: &WorkplaceOptions) -> Result<Self, CliError> {
        let catalog = Catalog::built_in().map_err(catalog_error)?;
        let cache_folder = cache_folder(options.cache_dir.as_deref())?;
        let mut workplace = Self {
            catalog,
            isolation: Arc::new(evaluating::local(&cache_folder)),
            cache_folder,
            options: options.clone(),
            problem_folders: BTreeMap::new(),
            data: Vec::new(),
            evaluations_at_a_time: std::thread::available_parallelism().map_or(1, usize::from),
        };
        for folder in &options.data {
            workplace.add_data(folder)?;
        }
        Ok(workplace)
    }

    /// Returns the same workplace, with benches opened by those of `isolation`.
    #[must_use]
    pub fn evaluating_by(self, isolation: Option<Isolation>) -> Self {
        match isolation {
            Some(isolation) => Self {
                isolation: Arc::new(isolation),
                evaluations_at_a_time: AT_A_TIME_ELSEWHERE,
                ..self
            },
            None => self,
        }
    }

    /// Returns how many evaluations are made at a time if nothing else is asked for.
    pub fn evaluations_at_a_time(&self) -> usize {
        self.evaluations_at_a_time
    }

    /// Adds a folder of the user's, unless the catalog has it already, and returns what
    /// it brought.
    pub fn add_data(&mut self, folder: &Path) -> Result<Added, CliError> {
        let resolved = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        if let Some((_, added)) = self.data.iter().find(|(known, _)| *known == resolved) {
            return Ok(added.clone());
        }
        let added = self.catalog.add_folder(folder).map_err(catalog_error)?;
        self.data.push((resolved, added.clone()));
        Ok(added)
    }

    /// Loads a problem by name, or from a folder given by its path.
    pub fn problem(&mut self, name: &str) -> Result<Problem, CliError> {
        if let Some(problem) = self.problem_folders.get(name) {
            return self.catalog.problem(problem).map_err(catalog_error);
        }
        let path = Path::new(name);
        let is_known = self.catalog.problem_names().any(|known| known == name);
        if !is_known && path.is_dir() {
            if let Some(known) = self.name_of(path) {
                return self.catalog.problem(&known).map_err(catalog_error);
            }
            let added = self.add_data(path)?;
            let [only] = added.problems.as_slice() else {
                let names = added.problems.join(", ");
                return Err(CliError::usage(format!(
                    "{name} holds {} problems ({names}), and one is needed",
                    added.problems.len()
                ))
                .hint(format!("name one of them and pass `--data {name}`")));
            };
            let only = only.clone();
            self.problem_folders.insert(name.to_owned(), only.clone());
            return self.catalog.problem(&only).map_err(catalog_error);
        }
        self.catalog.problem(name).map_err(catalog_error)
    }

    /// Returns the name of the problem of a folder, if it lies in one that the catalog has.
    fn name_of(&self, folder: &Path) -> Option<String> {
        let folder = folder.canonicalize().ok()?;
        self.data.iter().find_map(|(known, added)| {
            let below = folder.strip_prefix(known).ok()?;
            let below = below.strip_prefix("problems").unwrap_or(below);
            let name = below.to_str()?;
            added.problems.iter().find(|it| *it == name).cloned()
        })
    }

    /// Returns whether the problem of that name was loaded from a folder of that path.
    pub fn is_folder(&self, problem: &str) -> bool {
        self.problem_folders.contains_key(problem)
    }

    /// Loads a target by name, of a family and in a language that there is.
    pub fn target(&self, name: &str) -> Result<Target, CliError> {
        let target = self.catalog.target(name).map_err(catalog_error)?;
        registry::language(&target)?;
        Ok(target)
    }

    /// Sets the compiler to use unless the command line names one: by its path,
    /// and by the name that a run recorded.
    pub fn prefer_compiler(&mut self, path: Option<&Path>, recorded: Option<&str>) {
        if self.options.compiler.is_none() {
            self.options.compiler = path.map(Path::to_owned);
            self.options.recorded_compiler = recorded.map(str::to_owned);
        }
    }

    /// Sets the target that kernels are written for, of those that a problem has.
    pub fn prefer_target(&mut self, name: Option<&str>) {
        self.options.target = name.map(str::to_owned);
    }

    /// Forgets a compiler that was only preferred; returns whether there was one.
    pub fn forget_preferred_compiler(&mut self) -> bool {
        let is_preferred = self.options.recorded_compiler.take().is_some();
        if is_preferred {
            self.options.compiler = None;
        }
        is_preferred
    }

    /// Returns the compiler that is used in place of the pinned one, as it was named.
    pub fn named_compiler(&self) -> Option<&Path> {
        self.options.compiler.as_deref()
    }

    /// Loads the target that kernels for `problem` are written for: the one that was asked
    /// for, else the one that fits this machine.
    pub fn target_of(&self, problem: &Problem) -> Result<Target, CliError> {
        if let Some(name) = &self.options.target {
            let target = self.target(name)?;
            // A variant stands in for the target that it takes files from.
            let parent = self.catalog.inherited(name).map_err(catalog_error)?;
            let is_meant = |it: &String| it == name || Some(it) == parent.as_ref();
            if problem.targets.iter().any(is_meant) {
                return Ok(target);
            }
            return Err(
                CliError::usage(format!("{} is not for target {name}", problem.name)).hint(
                    format!(
                        "it is for {}; also for targets of your own that inherit from one of these",
                        problem.targets.join(", ")
                    ),
                ),
            );
        }
        let [first, others @ ..] = problem.targets.as_slice() else {
            return Err(CliError::input(format!("{} names no target", problem.name))
                .hint("set `target` in its problem.toml"));
        };
        let target = self.target(first)?;
        if others.is_empty() {
            return Ok(target);
        }
        let preferred = registry::family(&target)?.preferred(&problem.targets);
        match preferred.filter(|name| *name != target.name) {
            Some(name) => self.target(name),
            None => Ok(target),
        }
    }

    /// Checks that the private cache can be written, and makes it if it is not there.
    ///
    /// # Errors
    /// The folder cannot be made or written, such as below a home that is read-only.
    pub fn check_cache(&self) -> Result<(), CliError> {
        let folder = &self.cache_folder;
        let probe = folder.join(format!(".probe.{}", std::process::id()));
        let made = match fs::create_dir_all(folder) {
            Ok(()) => fs::write(&probe, b"autocomp")
                .and_then(|()| fs::remove_file(&probe))
                .map_err(|error| ("written", error)),
            Err(error) => Err(("made", error)),
        };
        made.map_err(|(what, error)| {
            CliError::environment(format!(
                "the cache folder {} cannot be {what}: {error}",
                folder.display()
            ))
            .hint("pass `--cache-dir FOLDER` or set AUTOCOMP_CACHE_DIR to a folder that you may write")
        })
    }

    /// Returns which tools are wanted.
    pub fn wanted_tools(&self) -> WantedTools {
        WantedTools {
            compiler: self.options.compiler.clone(),
            recorded_compiler: self.options.recorded_compiler.clone(),
            carried: self.options.toolchain.clone(),
            device: 0,
        }
    }

    /// Returns what families may use of this machine.
    pub fn surroundings(&self) -> Surroundings {
        self.wanted_tools()
            .within(&self.cache_folder, search_path())
    }
}

/// Returns what reads a path that may be empty, as a variable may be that is meant to be unset.
fn any_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Returns the private cache folder: as given, else below the user's cache folder.
fn cache_folder(given: Option<&Path>) -> Result<PathBuf, CliError> {
    if let Some(folder) = given.filter(|it| !it.as_os_str().is_empty()) {
        return Ok(folder.to_owned());
    }
    cache_home()
        .map(|folder| folder.join("autocomp"))
        .ok_or_else(|| {
            CliError::environment("no folder for the private cache: HOME is not set")
                .hint("pass `--cache-dir FOLDER` or set AUTOCOMP_CACHE_DIR")
        })
}

/// Names are listed in a message only if they are few.
const MOST_NAMES: usize = 8;

/// Says what is wrong with a target, problem or suite.
pub fn catalog_error(error: CatalogError) -> CliError {
    let CatalogError::Unknown {
        kind,
        name,
        nearest,
        known,
    } = error
    else {
        // The catalog ends its messages with the remedy.
        let text = error.to_string();
        return match text.rsplit_once("\nhelp: ") {
            Some((message, remedy)) => CliError::input(message).hint(remedy),
            None => CliError::input(text),
        };
    };
    let mut error = CliError::usage(match kind {
        "problem" => {
            format!("unknown problem `{name}`: neither a name in the catalog nor a folder")
        }
        _ => format!("unknown {kind} `{name}`"),
    });
    if let Some(nearest) = nearest {
        error = error.hint(format!("did you mean `{nearest}`?"));
    }
    match kind {
        "problem" => {
            error.hint("`autocomp problems` lists them; a folder of your own is named by its path")
        }
        "target" => error.hint("`autocomp targets` lists them"),
        "kernel" if known.is_empty() => {
            error.hint("the problem has no kernel: put one into its folder, as `baseline` with the ending of its language (`.c`, `.cu`, `.py`)")
        }
        _ if known.is_empty() => error.hint(format!("there is no {kind} here")),
        _ if known.len() <= MOST_NAMES => error.hint(format!("there are: {}", known.join(", "))),
        _ => error,
    }
}
