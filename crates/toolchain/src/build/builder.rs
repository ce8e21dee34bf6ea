//! From a source to a program, through the cache.

use super::object_file;
use super::runtime::{Runtime, object_name};
use crate::compiler_output::{diagnostic, location, source_line};
use crate::{Compiler, Toolchain};
use autocomp_c::{Expanded, MAX_SOURCE_BYTES, templates};
use autocomp_core::{ContentHash, ContentHasher, Diagnostic, Severity, Stage};
use autocomp_eval::EvalError;
use autocomp_eval::cache::{LEFTOVER_AGE, remove_older};
use autocomp_eval::{CachePart, FileStore, unwritable};
use autocomp_sandbox::{SandboxPolicy, SandboxReport};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::TempDir;

/// Version of what builds mean; part of every key.
const BUILD_VERSION: u32 = 2;

/// Name of what compiling and expanding write: the same, so that no source sees a
/// difference.
const OBJECT: &str = "kernel.o";

/// Name of a header that comes last.
const FORGET_FILES: &str = "forget_files.h";

/// Takes away what shows a source which files there are. Rules cannot: of a macro in an
/// `#if` nothing is left when it is expanded.
const FORGETTING_FILES: &str =
    "#undef __has_include\n#undef __has_include_next\n#undef __has_embed\n";

/// Bytes that a kernel may have when its macros are expanded, and memory for expanding it:
/// eight times the largest source, and ten times what expanding that takes.
const EXPANDED_BYTES: u64 = 8 * MAX_SOURCE_BYTES as u64;
const EXPANDING_BYTES: u64 = 1 << 30;

/// Bytes of code and data that a program may have unless it is said otherwise.
const MOST_BYTES: u64 = 1 << 30;

/// Static arrays named where there are too many bytes of them.
const MOST_NAMED: usize = 3;

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
    /// Whether it must obey the rules for kernels when its macros are expanded.
    pub rules: Rules,
}

/// Who a source comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Anybody: no assembly but the header's, no files, no attributes that place things.
    Kernel,
    /// The author of the problem, who may write what the compiler takes.
    Reference,
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
    /// The source would build, but does what is not allowed.
    Refused(Vec<Diagnostic>),
}

/// What is found out about a source whose macros are expanded.
enum Checked {
    /// It may be compiled.
    Passed,
    /// It cannot be expanded; the compiler will say more.
    Failed(Build),
    /// It is refused, or too large, whatever the compiler says.
    Decided(Build),
}

/// What compiling ended with.
enum Compiled {
    /// An object file.
    Object(Vec<u8>),
    /// The source's fault.
    Failed(Build),
    /// Nobody wanted the result any more.
    Unwanted,
}

/// Builds programs from one source file and the runtime of a target.
///
/// Threads may share it, and processes its cache folder.
#[derive(Debug)]
pub struct Builder {
    compiler: Compiler,
    cache: Option<FileStore>,
    scratch: PathBuf,
    runtime: Runtime,
    objects: Vec<PathBuf>,
    script: PathBuf,
    /// Templates of assembly in the runtime's headers.
    templates: BTreeSet<String>,
    runtime_key: ContentHash,
    /// Bytes of code and data that a source may be compiled to.
    most_bytes: u64,
    /// What else is part of every key.
    deciding: String,
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
        compiler: Compiler,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
        entry: &str,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        let files: Vec<_> = files.into_iter().collect();
        let mut hasher = ContentHasher::new("autocomp runtime");
        hasher.update(&BUILD_VERSION.to_le_bytes());
        hasher.update(compiler.toolchain().name.as_bytes());
        hasher.update(compiler.flags().join(" ").as_bytes());
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
            |folder, name| compile_runtime_file(&compiler, folder, name, entry),
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
            templates: files
                .iter()
                .filter(|(name, _)| name.ends_with(".h"))
                .flat_map(|(_, contents)| templates(&String::from_utf8_lossy(contents)))
                .collect(),
            runtime,
            compiler,
            cache: Some(cache),
            scratch: cache_folder.join("scratch"),
            runtime_key,
            most_bytes: MOST_BYTES,
            deciding: String::new(),
        })
    }

    /// Limits the processor time of every compiler run, in seconds.
    #[must_use]
    pub fn with_cpu_seconds(self, cpu_seconds: u64) -> Self {
        Self {
            compiler: self.compiler.with_cpu_seconds(cpu_seconds),
            ..self
        }
    }

    /// Limits the bytes of code and data that a source may be compiled to.
    #[must_use]
    pub fn with_most_bytes(self, most_bytes: u64) -> Self {
        Self { most_bytes, ..self }
    }

    /// Builds everything anew, and keeps nothing of it.
    #[must_use]
    pub fn without_cache(self) -> Self {
        Self {
            cache: None,
            ..self
        }
    }

    /// Makes `hash` a part of every key: of the sources of autocomp that decide what is
    /// built and what is refused.
    #[must_use]
    pub fn decided_by(self, hash: &str) -> Self {
        Self {
            deciding: hash.to_owned(),
            ..self
        }
    }

    /// Returns the compiler in use.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        self.compiler.toolchain()
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
        let build = self.build_anew(source)?;
        if let Some(cache) = &self.cache {
            cache.put(&key, &encode(&build));
        }
        Ok(build)
    }

    fn key(&self, source: &Source<'_>) -> ContentHash {
        let mut hasher = ContentHasher::new("autocomp build");
        hasher.update(&self.runtime_key.0);
        hasher.update(self.deciding.as_bytes());
        for text in [source.name, source.header.unwrap_or(""), source.text] {
            hasher.update(text.as_bytes());
        }
        hasher.update(&[
            u8::from(source.loops == Loops::Unrolled),
            u8::from(source.rules == Rules::Kernel),
        ]);
        for (name, value) in source.macros {
            hasher.update(name.as_bytes());
            hasher.update(value.as_bytes());
        }
        hasher.finish()
    }

    fn build_anew(&self, source: &Source<'_>) -> Result<Build, EvalError> {
        let unusable = |error| EvalError::Environment {
            message: format!("no pipe: {error}"),
            remedies: vec!["end other programs".into()],
        };
        let (wanted, wants) = std::io::pipe().map_err(unusable)?;
        // Both see the same, each in a folder of its own whose name nobody can know, so that
        // the kernel that is checked is the one that is compiled.
        let (compiled, checked) = std::thread::scope(|scope| {
            let checked = scope.spawn(move || {
                let checked = self.check_expanded(source);
                let is_open = matches!(checked, Ok(Checked::Passed | Checked::Failed(_)));
                // Otherwise nothing that the compiler says counts, and it is ended.
                (checked, is_open.then_some(wants))
            });
            let compiled = self.compile(source, wanted.as_fd());
            let (checked, _wants) = checked.join().unwrap_or_else(|panic| resume_unwind(panic));
            (compiled, checked)
        });
        let object = match (checked?, compiled?) {
            (Checked::Decided(build), _) => return Ok(build),
            (_, Compiled::Failed(failed)) | (Checked::Failed(failed), _) => return Ok(failed),
            (Checked::Passed, Compiled::Object(object)) => object,
            (Checked::Passed, Compiled::Unwanted) => {
                return Err(EvalError::Fault(
                    "a compiler was ended for no reason".into(),
                ));
            }
        };
        if let Some(reason) = object_file::refusal(&object) {
            return Ok(Build::Refused(vec![Diagnostic {
                stage: Stage::Build,
                severity: Severity::Error,
                code: "object-file".into(),
                message: format!("the compiled kernel {reason}"),
                location: None,
                notes: vec![
                    "a kernel brings code and data, and nothing for the linker to do".into(),
                ],
                remedy: Some(
                    "leave out attributes, pragmas and declarations that are about linking".into(),
                ),
            }]));
        }
        let data = object_file::Loaded::of(&object);
        match data.filter(|data| self.most_bytes < data.bytes) {
            Some(data) => Ok(Build::Failed(vec![self.too_large(&data, source)])),
            None => self.link(&object, source),
        }
    }

    /// Returns what is said of a source whose code and data are too large.
    fn too_large(&self, data: &object_file::Loaded, source: &Source<'_>) -> Diagnostic {
        let message = format!(
            "code and data take {} bytes; at most {} are there for them",
            data.bytes, self.most_bytes
        );
        let largest = data.largest.iter().take(MOST_NAMED);
        let named = largest.map(|(name, bytes)| format!("`{name}` takes {bytes} bytes"));
        let lines = data.largest.iter().filter_map(|(name, _)| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            let mut lines = (1..).zip(source.text.lines());
            lines.find(|(_, text)| text.split(|c| !is_part(c)).any(|word| word == name))
        });
        let line = lines.map(|(line, _)| line).next();
        Diagnostic {
            location: line.map(|line| location(source.name, line, None)),
            notes: named
                .chain(line.and_then(|line| source_line(source.text, line)))
                .collect(),
            remedy: Some("make static arrays smaller, and their alignment".into()),
            ..diagnostic("program-too-large", &message)
        }
    }

    /// Makes a folder for one tool with `files` in it; returns the policy for working there.
    fn working_folder(
        &self,
        files: &[(&str, &[u8])],
    ) -> Result<(TempDir, SandboxPolicy), EvalError> {
        let unwritable = |error| unwritable(&self.scratch, &error);
        let folder = tempfile::tempdir_in(&self.scratch).map_err(unwritable)?;
        for (name, content) in files {
            fs::write(folder.path().join(name), content).map_err(unwritable)?;
        }
        let readable = [self.runtime.folder()];
        let policy = self.compiler.policy(folder.path(), &readable);
        Ok((folder, policy))
    }

    /// Makes a folder to compile or expand the source in.
    fn source_folder(&self, source: &Source<'_>) -> Result<(TempDir, SandboxPolicy), EvalError> {
        self.working_folder(&[
            (source.name, source.text.as_bytes()),
            (FORGET_FILES, FORGETTING_FILES.as_bytes()),
        ])
    }

    fn extra_args(&self, source: &Source<'_>) -> Vec<String> {
        let mut extra: Vec<String> = source
            .macros
            .iter()
            .map(|(name, value)| format!("-D{name}={value}"))
            .collect();
        if source.loops == Loops::Unrolled {
            let flags = self.compiler.unrolling_flags().iter();
            extra.extend(flags.map(|flag| (*flag).to_owned()));
        }
        let last = (source.rules == Rules::Kernel).then_some(FORGET_FILES);
        for header in source.header.into_iter().chain(last) {
            extra.extend(["-include".to_owned(), header.to_owned()]);
        }
        extra
    }

    /// Expands the macros of the source and holds what is left of it to the rules.
    fn check_expanded(&self, source: &Source<'_>) -> Result<Checked, EvalError> {
        if source.rules == Rules::Reference {
            return Ok(Checked::Passed);
        }
        let (folder, mut policy) = self.source_folder(source)?;
        policy.limits.file_bytes = EXPANDED_BYTES;
        policy.limits.address_space_bytes = EXPANDING_BYTES;
        let report = self.made("-E", &policy, source, None)?;
        if !report.succeeded() {
            let failed = self.failure(&report, source)?;
            let limit = self
                .compiler
                .broken_limit(&report, (source.name, source.text));
            return Ok(match limit {
                Some(_) => Checked::Decided(failed),
                None => Checked::Failed(failed),
            });
        }
        let text = read(&folder.path().join(OBJECT))?;
        let rules = Expanded {
            file: source.name,
            source: source.text,
            templates: &self.templates,
        };
        let found = rules.check(&String::from_utf8_lossy(&text));
        Ok(match found.is_empty() {
            true => Checked::Passed,
            false => Checked::Decided(Build::Refused(found)),
        })
    }

    /// Expands or compiles the source, as `action` says.
    fn made(
        &self,
        action: &str,
        policy: &SandboxPolicy,
        source: &Source<'_>,
        wanted: Option<BorrowedFd<'_>>,
    ) -> Result<SandboxReport, EvalError> {
        let made = (action, Path::new(source.name), Path::new(OBJECT));
        let (folder, extra) = (self.runtime.folder(), self.extra_args(source));
        self.compiler.compile(policy, made, folder, &extra, wanted)
    }

    /// Compiles the source as long as that is `wanted`.
    fn compile(&self, source: &Source<'_>, wanted: BorrowedFd<'_>) -> Result<Compiled, EvalError> {
        let (folder, policy) = self.source_folder(source)?;
        let report = self.made("-c", &policy, source, Some(wanted))?;
        if report.unwanted {
            return Ok(Compiled::Unwanted);
        }
        if !report.succeeded() {
            return self.failure(&report, source).map(Compiled::Failed);
        }
        read(&folder.path().join(OBJECT)).map(Compiled::Object)
    }

    /// Links an object file that has been checked, in a folder where nothing else is.
    fn link(&self, object: &[u8], source: &Source<'_>) -> Result<Build, EvalError> {
        let (folder, policy) = self.working_folder(&[(OBJECT, object)])?;
        let objects = self.objects.iter().map(|path| path.as_os_str());
        let script = [OsStr::new("-T"), self.script.as_os_str()];
        let inputs = script
            .into_iter()
            .chain(objects)
            .chain([OsStr::new(OBJECT)]);
        let report = self.compiler.link(&policy, inputs, "program.elf")?;
        if !report.succeeded() {
            return self.failure(&report, source);
        }
        let elf = read(&folder.path().join("program.elf"))?;
        Ok(Build::Built(Program { elf }))
    }

    /// Returns what a failed tool says of the source, unless it fails whatever the source.
    fn failure(&self, report: &SandboxReport, source: &Source<'_>) -> Result<Build, EvalError> {
        let (source, folder) = ((source.name, source.text), self.runtime.folder());
        let found = self
            .compiler
            .blamed(report, source, folder, &self.scratch)?;
        Ok(Build::Failed(found))
    }
}

/// Reads what a tool has written.
fn read(path: &Path) -> Result<Vec<u8>, EvalError> {
    fs::read(path).map_err(|error| unwritable(path, &error))
}

fn is_source(name: &str) -> bool {
    name.ends_with(".c") || name.ends_with(".S")
}

fn compile_runtime_file(
    compiler: &Compiler,
    folder: &Path,
    name: &str,
    entry: &str,
) -> Result<(), EvalError> {
    let policy = compiler.policy(folder, &[]);
    let extra = [format!("-DAUTOCOMP_ENTRY={entry}")];
    let object = object_name(name);
    let made = ("-c", Path::new(name), Path::new(&object));
    let report = compiler.compile(&policy, made, folder, &extra, None)?;
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
            compiler.toolchain().name
        ),
        remedies: vec!["use another compiler, or check the target's runtime folder".into()],
    })
}

const BUILT: u8 = 1;
const FAILED: u8 = 0;
const REFUSED: u8 = 2;

fn encode(build: &Build) -> Vec<u8> {
    match build {
        Build::Built(program) => [&[BUILT], program.elf.as_slice()].concat(),
        Build::Failed(diagnostics) => described(FAILED, diagnostics),
        Build::Refused(diagnostics) => described(REFUSED, diagnostics),
    }
}

fn described(kind: u8, diagnostics: &[Diagnostic]) -> Vec<u8> {
    let text = serde_json::to_vec(diagnostics).expect("diagnostics are plain data");
    [&[kind], text.as_slice()].concat()
}

fn decode(bytes: &[u8]) -> Option<Build> {
    match bytes.split_first()? {
        (&BUILT, elf) => Some(Build::Built(Program { elf: elf.to_vec() })),
        (&FAILED, text) => serde_json::from_slice(text).ok().map(Build::Failed),
        (&REFUSED, text) => serde_json::from_slice(text).ok().map(Build::Refused),
        _ => None,
    }
}
