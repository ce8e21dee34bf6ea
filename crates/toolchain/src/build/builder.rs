//! From a source to a program, through the cache.

use super::compiler_output::{self, Blame};
use super::runtime::{Runtime, object_name};
use super::tools;
use crate::Toolchain;
use autocomp_core::{ContentHash, ContentHasher, Diagnostic, Severity, Stage};
use autocomp_eval::EvalError;
use autocomp_eval::cache::{LEFTOVER_AGE, remove_older};
use autocomp_eval::{CachePart, FileStore, unwritable};
use autocomp_sandbox::{Exit, ProcessRule, SandboxReport};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Version of what builds mean; part of every key.
const BUILD_VERSION: u32 = 1;

/// Processor time of one compiler run, seconds. Kernels compile in well under
/// one.
const CPU_SECONDS: u64 = 10;

/// One source file to be linked with the target's runtime.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name, as diagnostics show it (`kernel.c`).
    pub name: &'a str,
    /// The text.
    pub text: &'a str,
    /// Header of the runtime folder that is included first, if any.
    pub header: Option<&'a str>,
    /// Macros and their values.
    pub macros: &'a [(String, String)],
    /// How loops are compiled.
    pub loops: Loops,
}

/// How loops are compiled. Results are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loops {
    /// As every compiler does at `-O2`: for kernels.
    Plain,
    /// Unrolled, which takes fewer instructions: for references.
    Unrolled,
}

/// A linked program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The ELF file.
    pub elf: Vec<u8>,
}

/// What a build ended with.
#[derive(Clone, Debug, PartialEq)]
pub enum Build {
    /// A program.
    Built(Program),
    /// The source's fault.
    Failed(Vec<Diagnostic>),
}

/// Builds programs from one source file and the runtime of a target.
///
/// Threads may share it, and processes its cache folder.
#[derive(Debug)]
pub struct Builder {
    toolchain: Toolchain,
    cache: Option<FileStore>,
    scratch: PathBuf,
    runtime: Runtime,
    objects: Vec<PathBuf>,
    script: PathBuf,
    runtime_key: ContentHash,
    cpu_seconds: u64,
}

impl Builder {
    /// Prepares the runtime: `files` are names and contents of headers,
    /// sources (`.c`, `.S`) and one linker script (`.ld`); `entry` is the
    /// function that its start code calls.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the cache folder cannot be written or the
    /// runtime does not build.
    pub fn new<'f>(
        toolchain: Toolchain,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
        entry: &str,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        let files: Vec<_> = files.into_iter().collect();
        let mut hasher = ContentHasher::new("autocomp runtime");
        hasher.update(&BUILD_VERSION.to_le_bytes());
        hasher.update(toolchain.name.as_bytes());
        hasher.update(toolchain.flags().join(" ").as_bytes());
        hasher.update(entry.as_bytes());
        for (name, contents) in &files {
            hasher.update(name.as_bytes());
            hasher.update(contents);
        }
        let runtime_key = hasher.finish();
        // Absolute, since tools run in folders of their own.
        let cache_folder =
            std::path::absolute(cache_folder).map_err(|error| unwritable(cache_folder, &error))?;
        let sources: Vec<&str> = files
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| is_source(name))
            .collect();
        let cache = FileStore::new(&cache_folder, CachePart::Builds);
        let runtime = Runtime::open(
            cache_folder.join("runtimes").join(runtime_key.short()),
            runtime_key,
            &files,
            &sources,
            &cache,
            |folder, name| compile_runtime_file(&toolchain, folder, name, entry),
        )?;
        // Of builds whose process was killed.
        if let Some(before) = SystemTime::now().checked_sub(LEFTOVER_AGE) {
            remove_older(&cache_folder.join("scratch"), before, &[]);
        }
        let script = files
            .iter()
            .map(|(name, _)| *name)
            .find(|name| name.ends_with(".ld"))
            .ok_or_else(|| EvalError::Fault("the target's runtime has no linker script".into()))?;
        Ok(Self {
            script: runtime.folder().join(script),
            objects: sources
                .iter()
                .map(|name| runtime.folder().join(object_name(name)))
                .collect(),
            runtime,
            toolchain,
            cache: Some(cache),
            scratch: cache_folder.join("scratch"),
            runtime_key,
            cpu_seconds: CPU_SECONDS,
        })
    }

    /// Limits the processor time of every compiler run, in seconds.
    #[must_use]
    pub fn with_cpu_seconds(self, cpu_seconds: u64) -> Self {
        Self {
            cpu_seconds,
            ..self
        }
    }

    /// Builds everything anew, and keeps nothing of it.
    #[must_use]
    pub fn without_cache(self) -> Self {
        Self {
            cache: None,
            ..self
        }
    }

    /// Returns the compiler in use.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        &self.toolchain
    }

    /// Returns the hash of runtime, compiler and flags.
    #[must_use]
    pub fn runtime_key(&self) -> ContentHash {
        self.runtime_key
    }

    /// Compiles and links `source`, or takes an earlier result for the same
    /// source, flags, runtime and compiler.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to build. A
    /// source that does not build is [`Build::Failed`].
    pub fn build(&self, source: &Source<'_>) -> Result<Build, EvalError> {
        let key = self.key(source);
        let known = self.cache.as_ref().and_then(|cache| cache.get(&key));
        if let Some(build) = known.and_then(|bytes| decode(&bytes)) {
            return Ok(build);
        }
        // Others may have changed it since the last build, and a kernel must not
        // be blamed for that.
        self.runtime.ensure()?;
        fs::create_dir_all(&self.scratch).map_err(|error| unwritable(&self.scratch, &error))?;
        let folder = tempfile::tempdir_in(&self.scratch)
            .map_err(|error| unwritable(&self.scratch, &error))?;
        let build = self.build_in(folder.path(), source)?;
        if let Some(cache) = &self.cache {
            cache.put(&key, &encode(&build));
        }
        Ok(build)
    }

    fn key(&self, source: &Source<'_>) -> ContentHash {
        let mut hasher = ContentHasher::new("autocomp build");
        hasher.update(&self.runtime_key.0);
        for text in [source.name, source.header.unwrap_or(""), source.text] {
            hasher.update(text.as_bytes());
        }
        hasher.update(&[u8::from(source.loops == Loops::Unrolled)]);
        for (name, value) in source.macros {
            hasher.update(name.as_bytes());
            hasher.update(value.as_bytes());
        }
        hasher.finish()
    }

    fn build_in(&self, folder: &Path, source: &Source<'_>) -> Result<Build, EvalError> {
        let path = folder.join(source.name);
        fs::write(&path, source.text).map_err(|error| unwritable(folder, &error))?;
        let policy = tools::policy(
            &self.toolchain,
            folder,
            &[self.runtime.folder()],
            self.cpu_seconds,
        );
        let mut extra: Vec<String> = source
            .macros
            .iter()
            .map(|(name, value)| format!("-D{name}={value}"))
            .collect();
        if source.loops == Loops::Unrolled {
            extra.extend(
                self.toolchain
                    .unrolling_flags()
                    .iter()
                    .map(|flag| (*flag).to_owned()),
            );
        }
        if let Some(header) = source.header {
            extra.extend(["-include".to_owned(), header.to_owned()]);
        }
        let args =
            self.toolchain
                .compile_args(source.name, "kernel.o", self.runtime.folder(), &extra);
        let report = tools::run(&policy, &self.toolchain.compile.program, &args)?;
        if !report.succeeded() {
            return self.failure(&report, source);
        }
        let mut objects: Vec<&OsStr> = self.objects.iter().map(|path| path.as_os_str()).collect();
        objects.push(OsStr::new("kernel.o"));
        let args = self
            .toolchain
            .link_args(&objects, &self.script, "program.elf");
        let report = tools::run(&policy, &self.toolchain.link.program, &args)?;
        if !report.succeeded() {
            return self.failure(&report, source);
        }
        let elf =
            fs::read(folder.join("program.elf")).map_err(|error| unwritable(folder, &error))?;
        Ok(Build::Built(Program { elf }))
    }

    fn failure(&self, report: &SandboxReport, source: &Source<'_>) -> Result<Build, EvalError> {
        if let Some(limit) = broken_limit(report) {
            return Ok(Build::Failed(vec![Diagnostic {
                stage: Stage::Build,
                severity: Severity::Error,
                code: "build-limit".into(),
                message: format!("the compiler {limit}"),
                location: None,
                notes: Vec::new(),
                remedy: Some("make the kernel smaller: unroll less, shrink tables".into()),
            }]));
        }
        let text = report
            .stderr
            .text()
            .replace(&format!("{}/", self.runtime.folder().display()), "");
        match compiler_output::read(&text, source.name, source.text) {
            Blame::Source(found) => Ok(Build::Failed(found)),
            Blame::Environment(line) => Err(EvalError::Environment {
                message: format!("the compiler cannot work: {line}"),
                remedies: vec![
                    format!("make room on the disk of {}", self.scratch.display()),
                    "or set AUTOCOMP_CACHE_DIR to a folder on another disk".into(),
                ],
            }),
        }
    }
}

/// Returns which limit ended a tool, if one did.
fn broken_limit(report: &SandboxReport) -> Option<&'static str> {
    // Numbers of signals that are the same on every Linux.
    const SIGABRT: i32 = 6;
    const SIGSEGV: i32 = 11;
    const SIGXCPU: i32 = 24;
    const SIGXFSZ: i32 = 25;
    if report.timed_out {
        return Some("did not finish in time");
    }
    match report.exit {
        Exit::Signal(SIGXCPU) => Some("did not finish in time"),
        Exit::Signal(SIGXFSZ) => Some("wrote too large a file"),
        Exit::Signal(SIGABRT | SIGSEGV) => Some("crashed or ran out of memory"),
        _ => None,
    }
}

fn is_source(name: &str) -> bool {
    name.ends_with(".c") || name.ends_with(".S")
}

fn compile_runtime_file(
    toolchain: &Toolchain,
    folder: &Path,
    name: &str,
    entry: &str,
) -> Result<(), EvalError> {
    let mut policy = tools::policy(toolchain, folder, &[], CPU_SECONDS);
    // For assembly, clang starts a preprocessor and an assembler. These files
    // are the target's, not a candidate's.
    policy.limits.processes = ProcessRule::Children;
    let extra = [format!("-DAUTOCOMP_ENTRY={entry}")];
    let args = toolchain.compile_args(name, &object_name(name), folder, &extra);
    let report = tools::run(&policy, &toolchain.compile.program, &args)?;
    if report.succeeded() {
        return Ok(());
    }
    let text = report.stderr.text();
    let reason = text
        .lines()
        .find(|line| line.contains("error"))
        .unwrap_or("no reason given");
    Err(EvalError::Environment {
        message: format!(
            "{} cannot compile {name} of the target's runtime: {reason}",
            toolchain.name
        ),
        remedies: vec!["use another compiler, or check the target's runtime folder".into()],
    })
}

const BUILT: u8 = 1;
const FAILED: u8 = 0;

fn encode(build: &Build) -> Vec<u8> {
    match build {
        Build::Built(program) => [&[BUILT], program.elf.as_slice()].concat(),
        Build::Failed(diagnostics) => {
            let text = serde_json::to_vec(diagnostics).expect("diagnostics are plain data");
            [&[FAILED], text.as_slice()].concat()
        }
    }
}

fn decode(bytes: &[u8]) -> Option<Build> {
    match bytes.split_first()? {
        (&BUILT, elf) => Some(Build::Built(Program { elf: elf.to_vec() })),
        (&FAILED, text) => serde_json::from_slice(text).ok().map(Build::Failed),
        _ => None,
    }
}
