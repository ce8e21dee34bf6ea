//! The Python of this computer, which runs references that are written in it.

use crate::library;
use autocomp_eval::EvalError;
use autocomp_toolchain::on_path;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names of the interpreter, the first that is found counts.
const NAMES: [&str; 2] = ["python3", "python"];

/// What it is asked, in a folder with nothing in it that could be imported.
const QUESTION: &str = "import json, sys; print(json.dumps({
    'program': sys.executable, 'version': sys.version.split()[0],
    'folders': [sys.prefix, sys.base_prefix, sys.exec_prefix],
    'path': [it for it in sys.path if it]}))";

/// An interpreter, as it describes itself.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Interpreter {
    /// The program itself, behind any starter of it.
    pub(crate) program: PathBuf,
    pub(crate) version: String,
    /// Where it lies.
    folders: Vec<PathBuf>,
    /// Where it looks for packages, which the user's environment decides.
    path: Vec<PathBuf>,
}

impl Interpreter {
    /// Finds the interpreter on the search path, where that of an active virtual environment
    /// comes first, and asks it in `folder`, which is empty.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if there is none that runs.
    pub(crate) fn find(path: Option<&OsStr>, folder: &Path) -> Result<Self, EvalError> {
        let missing = |what: String| EvalError::Environment {
            message: format!("a reference in Python needs Python 3, {what}"),
            remedies: vec![
                "install it (Debian, Ubuntu: apt-get install python3)".into(),
                "or write the reference in C, as reference.c".into(),
            ],
        };
        let found = NAMES.iter().find_map(|name| on_path(path, name));
        let found = found.ok_or_else(|| missing("which is not on PATH".into()))?;
        let shown = found.display();
        let output = Command::new(&found)
            .args(["-c", QUESTION])
            .current_dir(folder)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| missing(format!("and {shown} does not start: {error}")))?;
        let answer = String::from_utf8_lossy(&output.stdout);
        // A starter may say something first.
        let described = answer
            .lines()
            .last()
            .and_then(|line| serde_json::from_str::<Self>(line).ok());
        let described = described.filter(|it| it.version.starts_with("3."));
        described.ok_or_else(|| missing(format!("which {shown} is not")))
    }

    /// Returns what it reads and executes.
    pub(crate) fn readable(&self) -> Vec<PathBuf> {
        let of_the_system = ["/", "/usr", "/usr/local", "/home", "/root"].map(Path::new);
        let own = self.folders.iter().chain(&self.path);
        let own = own.chain(std::iter::once(&self.program));
        own.filter(|it| it.is_absolute() && !of_the_system.contains(&it.as_path()))
            .cloned()
            .chain(library::folders())
            .chain(self.program.canonicalize())
            .collect()
    }

    /// Returns where it looks for packages, as it wants to be told in its environment.
    pub(crate) fn search_path(&self) -> OsString {
        let absolute = self.path.iter().filter(|it| it.is_absolute());
        std::env::join_paths(absolute).unwrap_or_default()
    }

    /// Returns how a package is installed for it.
    pub(crate) fn installing(&self, package: &str) -> String {
        format!("{} -m pip install {package}", self.program.display())
    }
}
