//! A compiler and linker for RV64GC bare metal, and the flags they get.

use autocomp_eval::EvalError;
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

/// A compiler and linker that make RV64GC bare-metal programs.
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

/// Flags of every family: the code of a plain bare-metal `-O2` program.
///
/// `-ffp-contract=off` keeps references bit-stable; line tables do not change
/// the code and give diagnostics their source lines. Nothing else on the
/// machine is included, and dates are not either.
const COMMON: &[&str] = &[
    "-march=rv64gc",
    "-mabi=lp64d",
    "-mcmodel=medany",
    "-O2",
    "-std=gnu11",
    "-ffreestanding",
    "-fno-common",
    "-fno-pic",
    "-fno-stack-protector",
    "-fomit-frame-pointer",
    "-fno-asynchronous-unwind-tables",
    "-fno-unwind-tables",
    "-ffp-contract=off",
    "-nostdinc",
    "-Werror=date-time",
    // Arrays of rows are passed for arrays of elements, as published kernels do: a
    // warning for the compilers that these were written for.
    "-Wno-error=incompatible-pointer-types",
];

/// Clang: a bounded number of errors, one line each.
const CLANG: &[&str] = &[
    "--target=riscv64-unknown-elf",
    "-gline-tables-only",
    "-gdwarf-4",
    "-ffile-compilation-dir=.",
    "-ferror-limit=20",
    "-fno-caret-diagnostics",
    "-fno-color-diagnostics",
    "-Wno-unused-command-line-argument",
];

/// GCC: the same; loops stay loops instead of becoming library calls, as in
/// the harnesses that published numbers come from.
const GCC: &[&str] = &[
    "-g1",
    "-gdwarf-4",
    "-fno-tree-loop-distribute-patterns",
    "-fmax-errors=20",
    "-fno-diagnostics-show-caret",
    "-fdiagnostics-color=never",
];

impl Toolchain {
    /// Has it build a small program, unless that was done. Who builds with it asks for this
    /// when a build has failed, so that no source is blamed for a compiler that does not work
    /// here. To try every compiler before it is used would take longer than most commands do.
    ///
    /// # Errors
    /// [`EvalError::Environment`] with the reason and the remedies.
    pub fn confirm(&self) -> Result<(), EvalError> {
        self.tried().map_err(|reason| EvalError::Environment {
            message: format!(
                "the C compiler {} in {} does not work here: {reason}",
                self.name,
                self.compile.program.display()
            ),
            remedies: vec![
                "run `autocomp doctor` to see what this machine allows".into(),
                "or name another compiler with `--compiler PATH`; its cycles differ".into(),
            ],
        })
    }

    /// Has it build a small program, unless that was done.
    ///
    /// # Errors
    /// Why it does not, one line.
    pub(crate) fn tried(&self) -> Result<(), String> {
        let trial = || crate::build::try_toolchain(self);
        self.trial.get_or_init(trial).clone()
    }

    /// Returns the program that compiles.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.compile.program
    }

    /// Returns the flags that every source file is compiled with, the same on
    /// every machine: they are part of cache keys.
    #[must_use]
    pub fn flags(&self) -> Vec<&'static str> {
        let own = match self.family {
            Family::Zig | Family::Clang => CLANG,
            Family::Gcc => GCC,
        };
        [COMMON, own].concat()
    }

    /// Returns further flags that unroll loops and change no result.
    pub(crate) fn unrolling_flags(&self) -> &'static [&'static str] {
        match self.family {
            Family::Zig | Family::Clang => &[
                "-mllvm",
                "-unroll-allow-partial",
                "-mllvm",
                "-unroll-runtime",
            ],
            Family::Gcc => &["-funroll-loops"],
        }
    }

    /// Returns the arguments that compile `source` to `object`; both are names
    /// in the working folder.
    pub(crate) fn compile_args(
        &self,
        source: &str,
        object: &str,
        include_folder: &Path,
        extra: &[String],
    ) -> Vec<OsString> {
        self.source_args("-c", source, object, include_folder, extra)
    }

    /// Returns the arguments that write what the compiler is left with of `source` when
    /// files are included and macros expanded.
    pub(crate) fn preprocess_args(
        &self,
        source: &str,
        preprocessed: &str,
        include_folder: &Path,
        extra: &[String],
    ) -> Vec<OsString> {
        self.source_args("-E", source, preprocessed, include_folder, extra)
    }

    fn source_args(
        &self,
        action: &str,
        source: &str,
        result: &str,
        include_folder: &Path,
        extra: &[String],
    ) -> Vec<OsString> {
        let mut args = self.compile.args(self.flags());
        args.extend(["-isystem".into(), self.headers.clone().into_os_string()]);
        args.extend(["-I".into(), include_folder.as_os_str().to_owned()]);
        args.extend(extra.iter().map(OsString::from));
        args.extend([action, source, "-o", result].map(OsString::from));
        args
    }

    /// Returns the arguments that link `objects` to `program`.
    pub(crate) fn link_args(
        &self,
        objects: &[&OsStr],
        script: &Path,
        program: &str,
    ) -> Vec<OsString> {
        let mut args = self.link.args(match self.family {
            Family::Zig | Family::Clang => &[
                "-m",
                "elf64lriscv",
                "-static",
                "--threads=1",
                "--build-id=none",
                // Objects name no libraries.
                "--no-dependent-libraries",
            ] as &[&str],
            Family::Gcc => &[
                "-march=rv64gc",
                "-mabi=lp64d",
                "-nostdlib",
                "-nostartfiles",
                "-static",
                "-Wl,--build-id=none",
                "-Wl,--no-warn-rwx-segments",
                // Kernels are called without start code that sets `gp`.
                "-Wl,--no-relax",
            ],
        });
        args.extend(["-T".into(), script.as_os_str().to_owned()]);
        args.extend(objects.iter().map(|object| (*object).to_owned()));
        args.extend(["-o", program].map(OsString::from));
        args
    }

    /// Returns the program that compiles, and the arguments that come first,
    /// for those who compile for another machine than flags here are for.
    #[must_use]
    pub fn compiler(&self) -> (&Path, &[OsString]) {
        (&self.compile.program, &self.compile.first_args)
    }

    /// Returns the program that links, and the arguments that come first.
    #[must_use]
    pub fn linker(&self) -> (&Path, &[OsString]) {
        (&self.link.program, &self.link.first_args)
    }

    /// Returns the folder with the compiler's own headers.
    #[must_use]
    pub fn headers(&self) -> &Path {
        &self.headers
    }

    /// Returns the files and folders that the tools execute and load.
    #[must_use]
    pub fn executable(&self) -> &[PathBuf] {
        &self.executable
    }
}

#[cfg(test)]
mod tests {
    use super::{Command, Family, Toolchain};
    use crate::build::{Builder, Loops, Rules, Source};
    use autocomp_eval::EvalError;
    use std::path::Path;
    use std::sync::Arc;

    #[test]
    fn no_source_is_blamed_for_a_compiler_that_does_not_work() {
        let folder = tempfile::tempdir().expect("a folder");
        let failing = Command::new(Path::new("/bin/false"), &[]);
        let toolchain = Toolchain {
            family: Family::Zig,
            name: "a broken one".into(),
            origin: "a test".into(),
            compile: failing.clone(),
            link: failing,
            headers: folder.path().to_owned(),
            executable: ["/bin", "/lib", "/lib64", "/usr"].map(Into::into).to_vec(),
            trial: Arc::default(),
        };
        let script = [("link.ld", &b"SECTIONS {}"[..])];
        let builder = Builder::new(toolchain, script, "kernel", folder.path()).expect("a builder");
        let built = builder.build(&Source {
            name: "kernel.c",
            text: "void kernel(void) {}\n",
            header: None,
            macros: &[],
            loops: Loops::Plain,
            rules: Rules::Reference,
        });
        let Err(EvalError::Environment { message, remedies }) = built else {
            panic!("{built:?}");
        };
        assert!(
            message.starts_with("the C compiler a broken one in /bin/false does not work here: "),
            "{message}"
        );
        assert_eq!(remedies.len(), 2);
    }
}
