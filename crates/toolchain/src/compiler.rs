//! A compiler for one target: compiles, links, and says what is wrong with a source.

use crate::absent;
use crate::compiler_output::{self, Blame};
use crate::target::CompileTarget;
use crate::toolchain::{Family, Toolchain};
use crate::tools;
use autocomp_core::Diagnostic;
use autocomp_eval::EvalError;
use autocomp_sandbox::{SandboxPolicy, SandboxReport};
use std::ffi::OsStr;
use std::io::Write;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// Bytes written to see whether the machine lets anybody write: more than most objects have.
const TRIAL_BYTES: usize = 1 << 20;

/// Processor time of one run of a tool, seconds. Kernels compile in well under one.
const CPU_SECONDS: u64 = 10;

/// A toolchain, and what it makes programs for.
#[derive(Clone, Debug)]
pub struct Compiler {
    toolchain: Toolchain,
    target: CompileTarget,
    cpu_seconds: u64,
    /// What is said to who wants more of a C library than there is.
    library: Option<&'static str>,
}

impl Compiler {
    /// Has `toolchain` make programs for `target`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if it makes them for another processor only.
    pub fn new(toolchain: Toolchain, target: CompileTarget) -> Result<Self, EvalError> {
        if !target.is_of(toolchain.family) {
            return Err(EvalError::Environment {
                message: format!("{} compiles for another processor only", toolchain.name),
                remedies: vec![
                    "python3 -m pip install ziglang==0.17.0".into(),
                    "or name a zig or a clang 17 or later with `--compiler PATH`".into(),
                ],
            });
        }
        Ok(Self {
            toolchain,
            target,
            cpu_seconds: CPU_SECONDS,
            library: None,
        })
    }

    /// Limits the processor time of every run of a tool, in seconds.
    #[must_use]
    pub fn with_cpu_seconds(self, cpu_seconds: u64) -> Self {
        Self {
            cpu_seconds,
            ..self
        }
    }

    /// Sets what is said to who wants more of a C library than there is: its functions.
    #[must_use]
    pub fn with_library(self, library: &'static str) -> Self {
        Self {
            library: Some(library),
            ..self
        }
    }

    /// Returns the toolchain.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Returns the flags that every source file is compiled with, the same on
    /// every machine: they are part of cache keys.
    #[must_use]
    pub fn flags(&self) -> Vec<String> {
        self.target.flags(self.toolchain.family)
    }

    /// Returns further flags that unroll loops and change no result.
    pub(crate) fn unrolling_flags(&self) -> &'static [&'static str] {
        match self.toolchain.family {
            Family::Zig | Family::Clang => &[
                "-mllvm",
                "-unroll-allow-partial",
                "-mllvm",
                "-unroll-runtime",
            ],
            Family::Gcc => &["-funroll-loops"],
        }
    }

    /// Returns what a tool may see when it works in `folder` for a source that
    /// may include what is in `readable`.
    #[must_use]
    pub fn policy(&self, folder: &Path, readable: &[&Path]) -> SandboxPolicy {
        tools::policy(&self.toolchain, folder, readable, self.cpu_seconds)
    }

    /// Makes `result` of `source` (`action` is `-c`, `-E` or `-S`), which may include what is
    /// in `folder`, as long as that is `wanted`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to run tools. That the
    /// compiler fails is in the report.
    pub fn compile(
        &self,
        policy: &SandboxPolicy,
        (action, source, result): (&str, &Path, &Path),
        folder: &Path,
        extra: &[String],
        wanted: Option<BorrowedFd<'_>>,
    ) -> Result<SandboxReport, EvalError> {
        let made = (action, source, result);
        let args = self
            .target
            .source_args(&self.toolchain, made, folder, extra);
        tools::run_while(policy, &self.toolchain.compile.program, &args, wanted)
    }

    /// Links `program` with what `inputs` say: objects, and further flags of the linker.
    ///
    /// # Errors
    /// As for [`Compiler::compile`].
    pub fn link<'i>(
        &self,
        policy: &SandboxPolicy,
        inputs: impl IntoIterator<Item = &'i OsStr>,
        program: &str,
    ) -> Result<SandboxReport, EvalError> {
        let args = self.target.link_args(&self.toolchain, inputs, program);
        tools::run(policy, &self.toolchain.link.program, &args)
    }

    /// Returns which limit ended a tool that worked on the source `name` with this `text`.
    pub(crate) fn broken_limit(
        &self,
        report: &SandboxReport,
        source: (&str, &str),
    ) -> Option<Diagnostic> {
        compiler_output::broken_limit(report, self.cpu_seconds, source)
    }

    /// Returns what a failed tool says of the source `name` with this `text`. Places in
    /// `folder` are told by their names alone; tools write to `scratch`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if it fails whatever the source.
    pub fn blamed(
        &self,
        report: &SandboxReport,
        (name, text): (&str, &str),
        folder: &Path,
        scratch: &Path,
    ) -> Result<Vec<Diagnostic>, EvalError> {
        let mut found = match self.broken_limit(report, (name, text)) {
            Some(found) => vec![found],
            None => {
                let output = report.stderr.text();
                let output = output.replace(&format!("{}/", folder.display()), "");
                match compiler_output::read(&output, name, text) {
                    Blame::Source(found) => found,
                    // A source that makes the compiler say so is found out.
                    Blame::Environment(_) if can_write(scratch) => {
                        compiler_output::diagnostics(&output, name, text)
                    }
                    Blame::Environment(line) => return Err(cannot_work(&line, scratch)),
                }
            }
        };
        if let Some(library) = self.library {
            for found in &mut found {
                let wants_more = found.code == "undefined-symbol"
                    || found.message.contains("file not found")
                    || found.message.contains("undeclared function");
                if wants_more {
                    found.remedy = Some(library.to_owned());
                }
            }
        }
        for found in &mut found {
            if let Some(remedy) = absent::remedy(&found.message) {
                found.remedy = Some(remedy.to_owned());
            }
        }
        self.toolchain.confirm()?;
        Ok(found)
    }
}

fn cannot_work(line: &str, scratch: &Path) -> EvalError {
    EvalError::Environment {
        message: format!("the compiler cannot work: {line}"),
        remedies: vec![
            format!("make room on the disk of {}", scratch.display()),
            "or set AUTOCOMP_CACHE_DIR to a folder on another disk".into(),
        ],
    }
}

/// Returns whether the machine lets tools write what they have to: then a tool that
/// says otherwise only quotes its source.
fn can_write(scratch: &Path) -> bool {
    let trial = vec![0x5a; TRIAL_BYTES];
    tempfile::NamedTempFile::new_in(scratch)
        .and_then(|mut file| {
            file.write_all(&trial)?;
            file.as_file().sync_all()
        })
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::Compiler;
    use crate::build::{Builder, Loops, Rules, Source};
    use crate::toolchain::Command;
    use crate::{CompileTarget, Family, Toolchain};
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
            path: None,
            trial: Arc::default(),
        };
        let script = [("link.ld", &b"SECTIONS {}"[..])];
        let compiler = Compiler::new(toolchain, CompileTarget::rv64("rv64gc")).expect("for RISC-V");
        let builder = Builder::new(compiler, script, "kernel", folder.path()).expect("a builder");
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
