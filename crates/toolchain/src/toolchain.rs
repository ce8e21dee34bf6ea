//! A compiler and linker, wherever they came from.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Whose command line the compiler understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The clang and lld inside a zig binary.
    Zig,
    /// Clang with lld beside it.
    Clang,
    /// A GCC cross compiler with GNU ld.
    Gcc,
}

/// A compiler and linker.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Whose command line it understands.
    pub family: Family,
    /// Name and version, part of every measurement and cache key
    /// (`zig 0.17.0 (clang 22.1.8)`).
    pub name: String,
    /// How it was found, for people (`on PATH`, `installed by autocomp`).
    pub origin: String,
    /// The program that compiles, and the arguments that come first.
    pub(crate) compile: Command,
    /// The program that links, and the arguments that come first.
    pub(crate) link: Command,
    /// Folder with the compiler's own headers (`stdint.h`).
    pub(crate) headers: PathBuf,
    /// Files and folders that the tools execute and load.
    pub(crate) executable: Vec<PathBuf>,
    /// The value of `PATH` where it was found, for other tools.
    pub(crate) path: Option<OsString>,
    /// Whether it has built a trial program, or why not, once that was tried.
    pub(crate) trial: Arc<OnceLock<Result<(), String>>>,
}

/// A program and the arguments that always come first.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) program: PathBuf,
    pub(crate) first_args: Vec<OsString>,
}

impl Command {
    pub(crate) fn new(program: &Path, first_args: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            first_args: first_args.iter().map(OsString::from).collect(),
        }
    }

    /// Returns all arguments for one call.
    pub(crate) fn args(&self, rest: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Vec<OsString> {
        let mut args = self.first_args.clone();
        args.extend(rest.into_iter().map(|arg| arg.as_ref().to_owned()));
        args
    }
}

impl Toolchain {
    /// Returns the program that compiles.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.compile.program
    }

    /// Returns the value of `PATH` where it was found, for other tools.
    #[must_use]
    pub fn path(&self) -> Option<&OsStr> {
        self.path.as_deref()
    }
}
