//! The dialect that kernels are written in: its header, its flags, and the compiler for it.

use autocomp_eval::cache::working_folder;
use autocomp_eval::{CachePart, EvalError, FileStore};
use autocomp_sandbox::SandboxReport;
use autocomp_toolchain::{CommonHeader, CompileTarget, Compiler, Toolchain};
use std::fs;
use std::path::{Path, PathBuf};

/// What kernels see before their own text.
pub(crate) const HEADER: &str = concat!(
    include_str!("../runtime/base.h"),
    include_str!("../runtime/host.h"),
    include_str!("../runtime/threads.h"),
    include_str!("../runtime/mathematics.h"),
    include_str!("../runtime/functions.h"),
    include_str!("../runtime/bits.h"),
    include_str!("../runtime/halves.h"),
    include_str!("../runtime/brain_floats.h"),
    include_str!("../runtime/memory.h"),
    include_str!("../runtime/matrices.h"),
    include_str!("../runtime/groups.h"),
    include_str!("../runtime/copies.h"),
    include_str!("../runtime/standard.h"),
    include_str!("../runtime/barriers.h"),
);
/// Headers that kernels name and that hold nothing beside [`HEADER`].
const EMPTY_HEADERS: [&str; 45] = [
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "cuda_fp16.h",
    "cuda_bf16.h",
    "mma.h",
    "cooperative_groups.h",
    "cooperative_groups/reduce.h",
    "cooperative_groups/memcpy_async.h",
    "cuda/barrier",
    "cuda/pipeline",
    "cuda_pipeline.h",
    "cuda_pipeline_primitives.h",
    "stdint.h",
    "stddef.h",
    "math.h",
    "float.h",
    "limits.h",
    "assert.h",
    "cassert",
    "stdio.h",
    "stdlib.h",
    "time.h",
    "cstdio",
    "cstdlib",
    "cstdint",
    "cstddef",
    "cmath",
    "cfloat",
    "climits",
    "vector_types.h",
    "cooperative_groups/scan.h",
    "math_constants.h",
    "algorithm",
    "type_traits",
    "limits",
    "utility",
    "cstring",
    "string.h",
    "cuda/std/cstdint",
    "cuda/std/limits",
    "cuda/std/type_traits",
    "cuda/std/utility",
    "cuda/std/cmath",
];
/// Flags of both halves: C++ without exceptions, libraries and files of the vendor.
pub(crate) const BOTH: &[&str] = &[
    "-std=c++17",
    "-nocudainc",
    "-nocudalib",
    // The compiler looks for the vendor's files all the same, and starts kernels by another
    // function where it finds them.
    "--cuda-path=/nowhere",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-threadsafe-statics",
    "-Wno-everything",
    // What a kernel does is not decided by the second of its build.
    "-Werror=date-time",
];
/// Flags of the half that runs on a GPU.
pub(crate) const DEVICE: &[&str] = &[
    "-O3",
    "-ffp-contract=fast",
    // A variable that one lane sets and a shuffle hands to others may be unset in these: it is an
    // argument all the same.
    "-Xclang",
    "-no-enable-noundef-analysis",
    // The simulator does not jump through tables.
    "-fno-jump-tables",
    // Calls are dissolved: the simulator has none.
    "-mllvm",
    "-inline-threshold=1000000",
    // Loops of a few hundred instructions are unrolled, as by the vendor's compiler: arrays in
    // them would be memory otherwise.
    "-mllvm",
    "-unroll-threshold=20000",
    "-mllvm",
    "-unroll-max-percent-threshold-boost=100",
    // But not whole loops of many turns, unless the kernel says so: the compiler takes four times
    // as long for twice as many.
    "-mllvm",
    "-unroll-full-max-count=256",
];

/// Processor time of one run of the compiler, seconds.
const CPU_SECONDS: u64 = 30;
/// What is told to whoever wants more of the host's library than there is.
const LIBRARY: &str = "the host part has no library: it launches kernels with `<<<…>>>`, and calls cudaMalloc, cudaMemsetAsync, cudaMemcpyAsync on the device and cudaFuncSetAttribute; kernels have what CUDA C++ has without `malloc`, textures and thrust";

/// Name of [`HEADER`] in what compilers say.
const HEADER_NAME: &str = "autocomp-cuda.h";

/// The headers that kernels see, and the folder in which kernels are compiled.
#[derive(Debug)]
pub(crate) struct Dialect {
    scratch: PathBuf,
    folder: tempfile::TempDir,
    header: CommonHeader,
}

impl Dialect {
    /// Writes the headers into a new folder of the cache folder.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if there is no room.
    pub(crate) fn new(cache_folder: &Path) -> Result<Self, EvalError> {
        let scratch = working_folder(cache_folder, "cuda-builds")?;
        let folder = folder_in(&scratch)?;
        let headers = folder.path().join("headers");
        for name in EMPTY_HEADERS {
            let path = headers.join(name);
            let folder = path.parent().unwrap_or(&headers);
            fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
            write(&path, "")?;
        }
        let store = FileStore::new(cache_folder, CachePart::Builds);
        let header = CommonHeader::new(HEADER, &scratch, store)?;
        Ok(Self {
            scratch,
            folder,
            header,
        })
    }

    /// Returns the folder in which others are made for kernels.
    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }

    /// Returns what was compiled of ours.
    pub(crate) fn compiled(&self) -> &FileStore {
        self.header.store()
    }

    /// Returns what a compiler says, with the names of headers without their folders.
    pub(crate) fn with_short_names(&self, text: &str) -> String {
        let own = format!("{}/", self.path().display());
        let header = self.header.text().display().to_string();
        text.replace(&own, "").replace(&header, HEADER_NAME)
    }

    /// Returns the folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Compiles a file of `folder` with `flags` and definitions of `macros`, which the header does
    /// not see; `made` is what is done, from what, to what.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow it.
    pub(crate) fn compile(
        &self,
        compiler: &Compiler,
        folder: &Path,
        made: (&str, &str, &str),
        flags: &[String],
        macros: &[String],
    ) -> Result<SandboxReport, EvalError> {
        let both = BOTH.iter().map(|it| (*it).to_owned());
        let mut extra: Vec<String> = both.chain(flags.iter().cloned()).collect();
        let header = self.header.compiled(compiler, &extra)?;
        let header = [
            "-include-pch".to_owned(),
            header.to_string_lossy().into_owned(),
        ];
        extra.extend(header.into_iter().chain(macros.iter().cloned()));
        let headers = self.path().join("headers");
        let [text, compiled] = self.header.readable();
        let policy = compiler.policy(folder, &[self.path(), text, compiled]);
        let (action, from, to) = made;
        let made = (action, Path::new(from), Path::new(to));
        compiler.compile(&policy, made, &headers, &extra, None)
    }
}

/// Returns a compiler for `target`.
///
/// # Errors
/// [`EvalError::Environment`] if there is none.
pub(crate) fn compiler(
    toolchain: &Toolchain,
    target: CompileTarget,
) -> Result<Compiler, EvalError> {
    let compiler = Compiler::new(toolchain.clone(), target)?;
    Ok(compiler.with_cpu_seconds(CPU_SECONDS).with_library(LIBRARY))
}

/// Returns what makes PTX for `architecture` (`sm_89`).
///
/// # Errors
/// [`EvalError::Environment`] if there is none.
pub(crate) fn device_compiler(
    toolchain: &Toolchain,
    architecture: &str,
) -> Result<Compiler, EvalError> {
    let gpu = format!("--cuda-gpu-arch={architecture}");
    let flags = [
        "-x",
        "cuda",
        "--cuda-device-only",
        &gpu,
        "--cuda-feature=+ptx80",
    ];
    compiler(
        toolchain,
        CompileTarget::linux("x86_64", &flags.map(str::to_owned)),
    )
}

pub(crate) fn folder_in(scratch: &Path) -> Result<tempfile::TempDir, EvalError> {
    tempfile::tempdir_in(scratch).map_err(|error| unusable(scratch, &error))
}

pub(crate) fn write(path: &Path, text: &str) -> Result<(), EvalError> {
    fs::write(path, text).map_err(|error| unusable(path, &error))
}

pub(crate) fn unusable(path: &Path, error: &std::io::Error) -> EvalError {
    EvalError::Environment {
        message: format!("cannot write {}: {error}", path.display()),
        remedies: vec!["make room, or set AUTOCOMP_CACHE_DIR to another folder".into()],
    }
}
