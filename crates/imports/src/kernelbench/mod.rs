//! Tasks of KernelBench: what they ask for, and how kernels for them did.

mod score;
mod shapes;

use crate::ImportError;
use crate::folder::read;
use ruff_python_ast::Stmt;
use shapes::{Known, Names, run};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub use score::{Group, Score, score};
pub use shapes::Tensor;

/// The commit that was read when the marks of [`FAULTY`] were made.
pub const COMMIT: &str = "423217d9fda91e0c2d67e4a43bf62f96f6d104f1";
/// The levels that are read.
const LEVELS: std::ops::RangeInclusive<u32> = 1..=3;

/// Tasks for which a kernel is right that computes nothing, since their output does not depend on
/// their input, or is less than the 1e-4 by which KernelBench lets floats differ: level, number,
/// and why.
const FAULTY: [(u32, u32, &str); 6] = [
    (
        1,
        23,
        "each of 393216 outputs is at most e / 393216 = 6.9e-6, and 0 is within the tolerance of 1e-4",
    ),
    (
        1,
        37,
        "numbers below 1 divided by the root of the sum of 1.88e9 squares are below 4.1e-5, and 0 is within the tolerance of 1e-4",
    ),
    (
        2,
        23,
        "the mean over all of a group norm is the mean of its bias, which begins as zero",
    ),
    (
        2,
        38,
        "a softmax over 131072 numbers from 0 to 1 is at most 2.1e-5, and 0 is within the tolerance of 1e-4",
    ),
    (
        2,
        80,
        "the maximum over the features is one number, and less its own mean zero",
    ),
    (
        2,
        83,
        "a minimum with 0 that is then clamped to at least 0 is 0",
    ),
];

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its level, 1 to 3.
    pub level: u32,
    /// Its number in the level.
    pub number: u32,
    /// The name of its file, without the ending.
    pub name: String,
    /// Its text.
    pub source: String,
    /// What `forward` is given, if that is known.
    pub inputs: Result<Vec<Input>, String>,
    /// What is wrong with the task, if that is known.
    pub fault: Option<&'static str>,
}

/// What `forward` is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A tensor that is drawn.
    Tensor(Tensor),
    /// A number, as it is written.
    Number(String),
}

/// All tasks of a folder.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// By level and number.
    pub tasks: Vec<Task>,
    /// The commit of the folder, if it is a checkout.
    pub commit: Option<String>,
    /// What does not map, one line each.
    pub unmapped: Vec<String>,
}

/// Reads the tasks of the levels 1 to 3 in a checkout, or in the folder of its levels.
///
/// # Errors
/// If there are none. Files that cannot be read are left out and listed.
pub fn read_kernelbench(folder: &Path) -> Result<Tasks, ImportError> {
    let inner = folder.join("KernelBench");
    let levels = if inner.is_dir() {
        inner
    } else {
        folder.to_owned()
    };
    let mut found = Tasks {
        commit: commit_of(folder),
        ..Tasks::default()
    };
    for level in LEVELS {
        let of_level = levels.join(format!("level{level}"));
        let Ok(entries) = std::fs::read_dir(&of_level) else {
            found
                .unmapped
                .push(format!("level {level}: there is no folder level{level}"));
            continue;
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
        paths.retain(|it| it.extension().is_some_and(|it| it == "py"));
        paths.sort();
        for path in paths {
            match read_task(level, &path) {
                Ok(Some(task)) => {
                    let is_same = |it: &&Task| (it.level, it.number) == (level, task.number);
                    match found.tasks.iter().find(is_same) {
                        Some(first) => found.unmapped.push(format!(
                            "{}: level {level} has a task {} already, `{}`",
                            path.display(),
                            task.number,
                            first.name
                        )),
                        None => found.tasks.push(task),
                    }
                }
                Ok(None) => found.unmapped.push(format!(
                    "{}: the name of a task is NUMBER_NAME.py",
                    path.display()
                )),
                Err(error) => found.unmapped.push(error.to_string()),
            }
        }
    }
    if found.tasks.is_empty() {
        return Err(ImportError::new(
            folder,
            "holds no task: name a checkout of KernelBench, in which KernelBench/level1 is",
        ));
    }
    found.tasks.sort_by_key(|it| (it.level, it.number));
    for task in &found.tasks {
        if let Err(why) = &task.inputs {
            found
                .unmapped
                .push(format!("level {} task {}: {why}", task.level, task.number));
        }
    }
    if found.commit.as_deref() != Some(COMMIT) {
        found.unmapped.push(format!(
            "tasks that are marked as faulty were found at commit {COMMIT}, and this is {}",
            found
                .commit
                .as_deref()
                .unwrap_or("no checkout that names one")
        ));
    }
    Ok(found)
}

/// Returns the commit of a checkout.
fn commit_of(folder: &Path) -> Option<String> {
    let git = folder.join(".git");
    let head = std::fs::read_to_string(git.join("HEAD")).ok()?;
    let commit = match head.trim().strip_prefix("ref: ") {
        None => head,
        // A name in the checkout, not a way out of it.
        Some(name) if name.split('/').all(|it| it != ".." && !it.is_empty()) => {
            std::fs::read_to_string(git.join(name)).ok()?
        }
        Some(_) => return None,
    };
    let commit = commit.trim();
    (commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit()))
        .then(|| commit.to_owned())
}

fn read_task(level: u32, path: &Path) -> Result<Option<Task>, ImportError> {
    let stem = path
        .file_stem()
        .and_then(|it| it.to_str())
        .unwrap_or_default();
    let is_plain = |it: &str| {
        it.chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    let Some((number, _)) = stem.split_once('_').filter(|_| is_plain(stem)) else {
        return Ok(None);
    };
    let Ok(number) = number.parse::<u32>() else {
        return Ok(None);
    };
    let source = read(path)?;
    let fault = FAULTY.iter().find(|it| (it.0, it.1) == (level, number));
    Ok(Some(Task {
        level,
        number,
        name: stem.to_owned(),
        inputs: inputs_of(&source),
        fault: fault.map(|it| it.2),
        source,
    }))
}

/// Returns what `get_inputs` of a task returns, which is read and never run.
fn inputs_of(source: &str) -> Result<Vec<Input>, String> {
    let parsed = ruff_python_parser::parse_module(source)
        .map_err(|error| format!("is no Python: {error}"))?;
    let mut names = Names::new();
    let body = &parsed.syntax().body;
    run(body, &mut names);
    let function = body.iter().find_map(|it| match it {
        Stmt::FunctionDef(it) if it.name.as_str() == "get_inputs" => Some(it),
        _ => None,
    });
    let function = function.ok_or("has no function get_inputs")?;
    let Some(Known::List(values)) = run(&function.body, &mut names) else {
        return Err("what get_inputs returns is not known without running it".into());
    };
    let input = |it: Known| match it {
        Known::Tensor(it) => Ok(Input::Tensor(it)),
        Known::Whole(it) => Ok(Input::Number(it.to_string())),
        Known::Plain(it) => Ok(Input::Number(it)),
        Known::List(_) => Err("get_inputs returns a list in its list".to_owned()),
    };
    values.into_iter().map(input).collect()
}

impl Task {
    /// Returns the folder of its record: its level, and its name.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        PathBuf::from(format!("level{}", self.level)).join(&self.name)
    }

    /// Returns its record in TOML; its text stands beside it in `reference.py`.
    #[must_use]
    pub fn record(&self, commit: Option<&str>) -> String {
        let mut out = format!(
            "# A task of KernelBench. reference.py defines `Model`; a kernel for it is a file that defines\n# `ModelNew`, which runs where PyTorch with a GPU is.\nlevel = {}\nnumber = {}\nname = \"{}\"\n",
            self.level, self.number, self.name
        );
        if let Some(commit) = commit {
            let _ = writeln!(out, "commit = \"{commit}\"");
        }
        if let Some(fault) = self.fault {
            let _ = writeln!(out, "fault = \"{fault}\"");
        }
        for input in self.inputs.iter().flatten() {
            let _ = match input {
                Input::Tensor(it) => writeln!(
                    out,
                    "\n[[input]]\ndtype = \"{}\"\nshape = {:?}",
                    it.dtype, it.shape
                ),
                Input::Number(it) => writeln!(out, "\n[[input]]\nnumber = {:?}", it),
            };
        }
        out
    }
}
