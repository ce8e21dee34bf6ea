//! From the text of a kernel to the program of a worker.
//!
//! The program has no C library: it consists of the kernel, a few functions
//! that C compilers and kernels expect, and the code that calls the kernel.

mod library;

use crate::kind::Kind;
use autocomp_catalog::Problem;
use autocomp_core::{ContentHash, ContentHasher, Diagnostic};
use autocomp_eval::cache::working_folder;
use autocomp_eval::{CachePart, EvalError, FileStore, unwritable};
use autocomp_sandbox::{SandboxPolicy, SandboxReport};
use autocomp_toolchain::{CommonHeader, CompileTarget, Compiler, Toolchain};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What every source sees before its own text.
pub const HEADER: &str = include_str!("../runtime/kernel.h");

/// Definitions of the functions that the header declares, for families whose kernels run on
/// simulated cores: plain C that sees the header.
pub const FUNCTIONS: &str = include_str!("../runtime/math.c");

/// Files that every program is built with.
const RUNTIME: [(&str, &str); 3] = [
    ("platform.h", include_str!("../runtime/platform.h")),
    ("runner.c", include_str!("../runtime/runner.c")),
    ("math.c", FUNCTIONS),
];

/// Headers of a C library: what there is of it.
const HEADERS: [(&str, &str); 3] = [
    ("math.h", include_str!("../runtime/c/math.h")),
    ("string.h", include_str!("../runtime/c/string.h")),
    ("stdlib.h", include_str!("../runtime/c/stdlib.h")),
];
/// Their folder, in that of the runtime.
const HEADER_FOLDER: &str = "c";

/// Names the functions that there are everywhere.
macro_rules! functions {
    () => {
        "there is no C library but: memcpy, memmove, memset, memcmp; exp, log, tanh, erf, sqrt, fabs, fmax, fmin, each with f, too"
    };
}

/// Names what headers have beside them.
macro_rules! headers {
    () => {
        "; in math.h floor, ceil, trunc, rint, copysign, isnan, isinf; in stdlib.h abs; the headers string.h, stdint.h, stddef.h, stdbool.h, float.h, limits.h"
    };
}

/// What is told to whoever wants more of a C library than [`FUNCTIONS`], the
/// [headers](library_header) and what compilers call.
pub const LIBRARY: &str = concat!(functions!(), headers!());

/// The same of what there is on the computer at hand.
const WHAT_THERE_IS: &str = concat!(
    functions!(),
    headers!(),
    " and those of the processor's intrinsics"
);

/// Returns a header of a C library by its name, as far as it is there beside the compiler's.
#[must_use]
pub fn library_header(name: &str) -> Option<&'static str> {
    let found = HEADERS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

/// What a source becomes before it is linked.
const OBJECT: &str = "kernel.o";
/// Processor time of one run of the compiler, seconds: intrinsics are many.
const CPU_SECONDS: u64 = 20;

/// A file that is removed when nobody uses it any more.
#[derive(Debug)]
pub struct Program {
    folder: tempfile::TempDir,
    is_library: bool,
}

impl Program {
    /// Returns whether a library of the system does the work, which is loaded into the worker.
    #[must_use]
    pub fn is_library(&self) -> bool {
        self.is_library
    }

    /// Returns the file, an ELF program.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("worker")
    }

    /// Returns the bytes of memory that its segments take, static arrays included; nothing
    /// if the file cannot be read.
    pub fn static_bytes(&self) -> Option<u64> {
        self.loaded_bytes(|_| true)
    }

    /// Returns the bytes of those segments that the program may write to, in which its variables
    /// lie; nothing if the file cannot be read.
    pub fn variable_bytes(&self) -> Option<u64> {
        self.loaded_bytes(|flags| flags.contains(object::elf::PF_W))
    }

    /// Returns the bytes that the segments with such flags take in memory.
    fn loaded_bytes(&self, is_counted: fn(object::elf::ProgramFlags) -> bool) -> Option<u64> {
        use object::read::elf::{FileHeader, ProgramHeader};
        let file = fs::File::open(self.path()).ok()?;
        let mut head = Vec::new();
        // The headers of segments follow the header of the file.
        std::io::Read::read_to_end(&mut std::io::Read::take(file, 64 << 10), &mut head).ok()?;
        let header = object::elf::FileHeader64::<object::Endianness>::parse(&*head).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, &*head).ok()?;
        let loaded = segments
            .iter()
            .filter(|it| it.p_type(endian) == object::elf::PT_LOAD)
            .filter(|it| is_counted(it.p_flags(endian)));
        Some(
            loaded
                .map(|it| it.p_memsz(endian))
                .fold(0, u64::saturating_add),
        )
    }
}

/// Builds programs of workers for one problem and one machine.
#[derive(Debug)]
pub struct Builder {
    compiler: Compiler,
    /// The function that is called.
    entry: String,
    /// Definitions for sources of the problem, as flags.
    macros: Vec<String>,
    /// Folder with the runtime and its objects.
    runtime: tempfile::TempDir,
    is_runtime_made: Mutex<bool>,
    header: CommonHeader,
    scratch: PathBuf,
}

impl Builder {
    /// Prepares to build kernels and reference of `problem`; `architecture` and `flags` are
    /// those of the machine. The runtime is compiled for the first program.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the compiler cannot do that.
    pub fn new(
        toolchain: Toolchain,
        architecture: &str,
        flags: &[String],
        problem: &Problem,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        let target = CompileTarget::linux(architecture, flags);
        let compiler = Compiler::new(toolchain, target)?
            .with_cpu_seconds(CPU_SECONDS)
            .with_library(WHAT_THERE_IS);
        let scratch = working_folder(cache_folder, "host-workers")?;
        let runtime = folder_in(&scratch)?;
        for (name, text) in RUNTIME {
            write(&runtime.path().join(name), text)?;
        }
        let store = FileStore::new(cache_folder, CachePart::Builds);
        let header = CommonHeader::new(HEADER, &scratch, store)?;
        let headers = runtime.path().join(HEADER_FOLDER);
        fs::create_dir(&headers).map_err(|error| unwritable(&headers, &error))?;
        for (name, text) in HEADERS {
            write(&headers.join(name), text)?;
        }
        Ok(Self {
            compiler,
            entry: problem.entry_symbol().to_owned(),
            macros: problem
                .macros
                .iter()
                .map(|(name, value)| format!("-D{name}={value}"))
                .collect(),
            runtime,
            is_runtime_made: Mutex::new(false),
            header,
            scratch,
        })
    }

    /// Compiles the runtime, unless that was done.
    fn make_runtime(&self) -> Result<(), EvalError> {
        let mut is_made = self
            .is_runtime_made
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if *is_made {
            return Ok(());
        }
        let define = format!("-DAUTOCOMP_ENTRY={}", self.entry);
        for name in ["runner", "math"] {
            let source = self.runtime.path().join(format!("{name}.c"));
            let object = self.runtime.path().join(format!("{name}.o"));
            let key = self.key_of(&["object", name]);
            self.header.store().restore(&key, &object, || {
                if name == "runner" {
                    let extra = [&[define.as_str()], Kind::Reference.flags()].concat();
                    return self.compile_own(&source, &object, &extra);
                }
                let header = self.header(Kind::Reference)?;
                let extra = [&["-include-pch", &header], Kind::Reference.flags()].concat();
                self.compile_own(&source, &object, &extra)
            })?;
        }
        *is_made = true;
        Ok(())
    }

    /// Returns what names a text that is compiled here, or anything else that `texts` decide.
    fn key_of(&self, texts: &[&str]) -> ContentHash {
        let mut hasher = ContentHasher::new("autocomp program of a worker");
        for text in [&*self.key(), &self.entry, &self.macros.join("\0")] {
            hasher.update(text.as_bytes());
        }
        for text in texts {
            hasher.update(text.as_bytes());
        }
        hasher.finish()
    }

    /// Returns the compiled header for sources of a kind.
    fn header(&self, kind: Kind) -> Result<String, EvalError> {
        let flags: Vec<String> = kind.flags().iter().map(|it| (*it).to_owned()).collect();
        let path = self.header.compiled(&self.compiler, &flags)?;
        Ok(path.to_string_lossy().into_owned())
    }

    /// Compiles a source of ours, which is there whatever the kernel.
    fn compile_own(&self, source: &Path, output: &Path, extra: &[&str]) -> Result<(), EvalError> {
        let made = ("-c", source, output);
        let report = self.compile(self.runtime.path(), made, extra)?;
        if report.succeeded() {
            return Ok(());
        }
        self.compiler.toolchain().confirm()?;
        Err(EvalError::Fault(format!(
            "{} does not compile the runtime of the host: {}",
            self.compiler(),
            report.stderr.text()
        )))
    }

    /// Returns everything that decides what a source becomes: compiler, flags, runtime.
    #[must_use]
    pub fn key(&self) -> String {
        let texts = RUNTIME.iter().chain(&HEADERS);
        let runtime: Vec<&str> = texts.map(|(_, text)| *text).collect();
        format!(
            "{}\n{}\n{HEADER}{}",
            self.compiler(),
            self.compiler.flags().join(" "),
            runtime.concat()
        )
    }

    /// Returns the tools of this machine.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        self.compiler.toolchain()
    }

    /// Returns the compiler's name and version.
    #[must_use]
    pub fn compiler(&self) -> &str {
        &self.compiler.toolchain().name
    }

    /// Builds the program of `text`, which diagnostics call `name`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to build.
    pub fn build(
        &self,
        name: &str,
        text: &str,
        kind: Kind,
    ) -> Result<Result<Program, Vec<Diagnostic>>, EvalError> {
        self.make_runtime()?;
        let folder = folder_in(&self.scratch)?;
        let source = folder.path().join(name);
        write(&source, text)?;
        let object = folder.path().join(OBJECT);
        // A kernel is built once, the problem's own texts by each process.
        let key = (kind != Kind::Kernel).then(|| self.key_of(&[&format!("{kind:?}"), name, text]));
        if let Some(bytes) = key.and_then(|key| self.header.store().get(&key)) {
            write(&object, bytes)?;
        } else {
            let mut report = self.object(folder.path(), name, kind)?;
            if report.succeeded() && kind == Kind::IntegerReference {
                report = self.object(folder.path(), name, Kind::KnownIntegerReference)?;
            }
            if !report.succeeded() {
                return self.blamed(&report, (name, text)).map(Err);
            }
            if let (Some(key), Ok(bytes)) = (key, fs::read(&object)) {
                self.header.store().put(&key, &bytes);
            }
        }
        let report = self.link(folder.path())?;
        if !report.succeeded() {
            return self.blamed(&report, (name, text)).map(Err);
        }
        Ok(Ok(Program {
            folder,
            is_library: false,
        }))
    }

    /// Compiles the file `name` of `folder`.
    fn object(&self, folder: &Path, name: &str, kind: Kind) -> Result<SandboxReport, EvalError> {
        let header = self.header(kind)?;
        let mut extra = vec!["-include-pch", &header];
        extra.extend(kind.flags());
        extra.extend(self.macros.iter().map(String::as_str));
        // A bare name, so that diagnostics and line tables show nothing else.
        let made = ("-c", Path::new(name), Path::new(OBJECT));
        self.compile(folder, made, &extra)
    }

    /// Returns the assembly of `text`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to compile.
    pub fn assembly(&self, text: &str) -> Result<Option<String>, EvalError> {
        let folder = folder_in(&self.scratch)?;
        write(&folder.path().join("kernel.c"), text)?;
        let header = self.header(Kind::Kernel)?;
        let mut extra = vec!["-include-pch", &header, "-fverbose-asm"];
        extra.extend(Kind::Kernel.flags());
        extra.extend(self.macros.iter().map(String::as_str));
        let output = folder.path().join("kernel.s");
        let made = ("-S", Path::new("kernel.c"), &*output);
        let report = self.compile(folder.path(), made, &extra)?;
        Ok(report
            .succeeded()
            .then(|| fs::read_to_string(&output).ok())
            .flatten())
    }

    /// Makes `result` of `source` (`action` is `-c` or `-S`) in `folder`.
    fn compile(
        &self,
        folder: &Path,
        made: (&str, &Path, &Path),
        extra: &[&str],
    ) -> Result<SandboxReport, EvalError> {
        let (policy, headers) = (self.policy(folder), self.runtime.path().join(HEADER_FOLDER));
        let extra: Vec<String> = extra.iter().map(|flag| (*flag).to_owned()).collect();
        self.compiler.compile(&policy, made, &headers, &extra, None)
    }

    fn link(&self, folder: &Path) -> Result<SandboxReport, EvalError> {
        let objects = ["runner.o", "math.o"].map(|object| self.runtime.path().join(object));
        let flags = ["-static", "-z", "noexecstack", OBJECT].map(OsStr::new);
        let inputs = flags
            .into_iter()
            .chain(objects.iter().map(|it| it.as_os_str()));
        self.compiler.link(&self.policy(folder), inputs, "worker")
    }

    /// Returns what a tool may see that works in `folder`.
    fn policy(&self, folder: &Path) -> SandboxPolicy {
        let [text, compiled] = self.header.readable();
        self.compiler
            .policy(folder, &[self.runtime.path(), text, compiled])
    }

    /// Returns what a failed tool says of a source.
    fn blamed(
        &self,
        report: &SandboxReport,
        source: (&str, &str),
    ) -> Result<Vec<Diagnostic>, EvalError> {
        let folder = self.runtime.path();
        self.compiler.blamed(report, source, folder, &self.scratch)
    }
}

/// Builds a program that is autocomp's or the problem's own.
///
/// # Errors
/// [`EvalError::Input`] if it does not build.
pub fn built(
    builder: &Builder,
    name: &str,
    source: &str,
    kind: Kind,
) -> Result<Program, EvalError> {
    builder.build(name, source, kind)?.map_err(|found| {
        let at = |found: &Diagnostic| match &found.location {
            Some(place) => format!("line {}: {}", place.line, found.message),
            None => found.message.clone(),
        };
        let said: Vec<String> = found.iter().map(at).collect();
        let said = said.join("; ");
        let mut remedies = vec![format!("correct {name} of the problem")];
        let told = found.into_iter().filter_map(|found| found.remedy);
        remedies.extend(told.collect::<BTreeSet<String>>());
        if said.contains("unknown type name") {
            remedies.push(
                "in C, elements of `float16` and `bfloat16` are `uint16_t`, which holds their bits"
                    .into(),
            );
        }
        EvalError::Input {
            message: format!("{name} does not build: {said}"),
            remedies,
        }
    })
}

fn folder_in(scratch: &Path) -> Result<tempfile::TempDir, EvalError> {
    tempfile::tempdir_in(scratch).map_err(|error| unwritable(scratch, &error))
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<(), EvalError> {
    fs::write(path, text).map_err(|error| unwritable(path, &error))
}
