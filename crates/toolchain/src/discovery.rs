//! Finding a compiler: configured, on the machine, or installed by us.

use super::compiler::{Command, Family, Toolchain};
use super::installation::{self, WHEEL};
use autocomp_eval::EvalError;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where to look for a compiler. Library code reads no environment, so the
/// caller passes in what it found there.
#[derive(Clone, Debug)]
pub struct ToolchainSearch {
    /// A compiler that the user named: `zig`, `clang` or a RISC-V GCC. If it
    /// is given, nothing else is tried.
    pub configured: Option<PathBuf>,
    /// The value of `PATH`.
    pub path: Option<OsString>,
    /// autocomp's private cache folder, for an installation of our own.
    pub cache_folder: PathBuf,
    /// Whether the pinned compiler may be installed with pip if none is found.
    pub install: bool,
}

/// Finds a compiler in this order: the configured one; `zig`, or `ziglang` of
/// a Python on `PATH`; clang 17 or later with lld; a riscv64 GCC; the pinned
/// `ziglang` wheel, which pip installs into the private cache folder.
///
/// `progress` gets a line before anything that takes long or uses the network.
///
/// # Errors
/// [`EvalError::Environment`] with everything that was tried and the remedies.
pub fn find_toolchain(
    search: &ToolchainSearch,
    progress: &mut dyn FnMut(&str),
) -> Result<Toolchain, EvalError> {
    let mut tried = Vec::new();
    if let Some(configured) = &search.configured {
        return from_configured(configured, search).map_err(|reason| EvalError::Environment {
            message: format!(
                "the configured compiler {} does not work: {reason}",
                configured.display()
            ),
            remedies: vec![
                "name a zig, a clang 17 or later that has ld.lld beside it, or a riscv64 GCC"
                    .into(),
                "or remove the setting: autocomp then looks for a compiler itself".into(),
            ],
        });
    }
    for attempt in [zig_on_path, zig_of_python, clang_on_path, gcc_on_path] {
        match attempt(search) {
            Ok(toolchain) => return Ok(toolchain),
            Err(reasons) => tried.extend(reasons),
        }
    }
    match installation::find_or_install(search, &tried, progress) {
        Ok(zig) => match zig_toolchain(&zig, "installed by autocomp") {
            Ok(toolchain) => return Ok(toolchain),
            Err(reason) => tried.push(format!("{}: {reason}", zig.display())),
        },
        Err(reasons) => tried.extend(reasons),
    }
    Err(EvalError::Environment {
        message: format!("no C compiler for RISC-V found; tried {}", tried.join("; ")),
        remedies: vec![
            format!("python3 -m pip install {WHEEL}"),
            "or install clang 17 or later and lld (Debian, Ubuntu: apt-get install clang-19 lld-19)".into(),
            "or install a cross compiler (Debian, Ubuntu: apt-get install gcc-riscv64-unknown-elf)".into(),
            "or name a compiler with `--compiler PATH`".into(),
        ],
    })
}

/// Either a toolchain or what was tried, one line each.
type Attempt = Result<Toolchain, Vec<String>>;

fn from_configured(path: &Path, search: &ToolchainSearch) -> Result<Toolchain, String> {
    let path = match fs::canonicalize(path) {
        Ok(_) => path.to_owned(),
        // A bare name is looked up like a command.
        Err(error) => on_path(search, &path.to_string_lossy()).ok_or_else(|| error.to_string())?,
    };
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if name.contains("zig") {
        zig_toolchain(&path, "configured")
    } else if name.contains("gcc") {
        gcc_toolchain(&path, "configured")
    } else if name.contains("clang") {
        clang_toolchain(&path, search, "configured")
    } else {
        Err("its name is neither zig nor clang nor a gcc".into())
    }
}

fn zig_on_path(search: &ToolchainSearch) -> Attempt {
    let zig = on_path(search, "zig").ok_or_else(|| vec!["zig: not on PATH".into()])?;
    zig_toolchain(&zig, "on PATH").map_err(|reason| vec![format!("{}: {reason}", zig.display())])
}

fn zig_of_python(search: &ToolchainSearch) -> Attempt {
    let mut tried = Vec::new();
    for name in ["python3", "python"] {
        let Some(python) = on_path(search, name) else {
            tried.push(format!("{name}: not on PATH"));
            continue;
        };
        let script = "import importlib.util as u; s = u.find_spec('ziglang'); \
                      print(s.submodule_search_locations[0] if s else '')";
        match output(&python, &["-c", script]) {
            Ok(folder) if !folder.trim().is_empty() => {
                let zig = Path::new(folder.trim()).join("zig");
                match zig_toolchain(&zig, &format!("ziglang of {}", python.display())) {
                    Ok(toolchain) => return Ok(toolchain),
                    Err(reason) => tried.push(format!("{}: {reason}", zig.display())),
                }
            }
            Ok(_) => tried.push(format!("{name} -m ziglang: no such module")),
            Err(reason) => tried.push(format!("{name} -m ziglang: {reason}")),
        }
    }
    Err(tried)
}

/// Versions of clang whose names are tried, newest first. Older ones lack
/// features that generated vector kernels use.
const CLANG_VERSIONS: std::ops::RangeInclusive<u32> = 17..=23;

fn clang_on_path(search: &ToolchainSearch) -> Attempt {
    let names = std::iter::once("clang".to_owned()).chain(
        CLANG_VERSIONS
            .rev()
            .map(|version| format!("clang-{version}")),
    );
    let mut tried = Vec::new();
    for clang in names.filter_map(|name| on_path(search, &name)) {
        match clang_toolchain(&clang, search, "on PATH") {
            Ok(toolchain) => return Ok(toolchain),
            Err(reason) => tried.push(format!("{}: {reason}", clang.display())),
        }
    }
    if tried.is_empty() {
        tried.push("clang: not on PATH".into());
    }
    Err(tried)
}

const GCC_NAMES: &[&str] = &[
    "riscv64-unknown-elf-gcc",
    "riscv64-elf-gcc",
    "riscv64-none-elf-gcc",
    "riscv64-unknown-linux-gnu-gcc",
    "riscv64-linux-gnu-gcc",
];

fn gcc_on_path(search: &ToolchainSearch) -> Attempt {
    let mut tried = Vec::new();
    for gcc in GCC_NAMES.iter().filter_map(|name| on_path(search, name)) {
        match gcc_toolchain(&gcc, "on PATH") {
            Ok(toolchain) => return Ok(toolchain),
            Err(reason) => tried.push(format!("{}: {reason}", gcc.display())),
        }
    }
    if tried.is_empty() {
        tried.push("riscv64-unknown-elf-gcc, riscv64-linux-gnu-gcc: not on PATH".into());
    }
    Err(tried)
}

fn zig_toolchain(zig: &Path, origin: &str) -> Result<Toolchain, String> {
    // The binary finds its libraries by its real place.
    let zig = fs::canonicalize(zig).map_err(|error| error.to_string())?;
    let folder = zig.parent().unwrap_or(Path::new("/"));
    let headers = [
        "lib/include",
        "../lib/zig/include",
        "../lib/include",
        "../lib/include",
    ]
    .iter()
    .map(|place| folder.join(place))
    .find(|place| place.join("stdint.h").is_file())
    .ok_or("its headers are not beside it")?;
    let version = output(&zig, &["version"])?;
    let clang = clang_version(&output(&zig, &["clang", "--version"])?)?;
    let mut toolchain = Toolchain {
        family: Family::Zig,
        name: format!("zig {} (clang {clang})", version.trim()),
        origin: origin.to_owned(),
        sandbox: None,
        compile: Command::new(&zig, &["clang"]),
        link: Command::new(&zig, &["ld.lld"]),
        headers,
        // Linked statically, as it usually is, it needs nothing else.
        executable: vec![zig.clone()],
    };
    match tried(toolchain.clone()) {
        Ok(toolchain) => Ok(toolchain),
        Err(_) => {
            toolchain.executable = executable_files(&[&zig]);
            tried(toolchain)
        }
    }
}

fn clang_toolchain(
    clang: &Path,
    search: &ToolchainSearch,
    origin: &str,
) -> Result<Toolchain, String> {
    let version = clang_version(&output(clang, &["--version"])?)?;
    let major: u32 = version
        .split('.')
        .next()
        .and_then(|major| major.parse().ok())
        .unwrap_or(0);
    if major < *CLANG_VERSIONS.start() {
        return Err(format!(
            "is version {version}, older than {}",
            CLANG_VERSIONS.start()
        ));
    }
    let real = fs::canonicalize(clang).map_err(|error| error.to_string())?;
    let beside = |folder: Option<&Path>| folder.map(|folder| folder.join("ld.lld"));
    let linker = [beside(clang.parent()), beside(real.parent())]
        .into_iter()
        .flatten()
        .find(|linker| linker.is_file())
        .or_else(|| on_path(search, &format!("ld.lld-{major}")))
        .or_else(|| on_path(search, "ld.lld"))
        .ok_or_else(|| format!("is version {version}, but has no ld.lld"))?;
    let resources = output(clang, &["-print-resource-dir"])?;
    let toolchain = Toolchain {
        family: Family::Clang,
        name: format!("clang {version}"),
        origin: origin.to_owned(),
        sandbox: None,
        executable: executable_files(&[clang, &linker]),
        compile: Command::new(clang, &[]),
        link: Command::new(&linker, &[]),
        headers: Path::new(resources.trim()).join("include"),
    };
    tried(toolchain)
}

fn gcc_toolchain(gcc: &Path, origin: &str) -> Result<Toolchain, String> {
    let version = output(gcc, &["-dumpfullversion"])?;
    let headers = output(gcc, &["-print-file-name=include"])?;
    let name = gcc
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let toolchain = Toolchain {
        family: Family::Gcc,
        name: format!("{name} {}", version.trim()),
        origin: origin.to_owned(),
        sandbox: None,
        executable: executable_files(&[gcc]),
        compile: Command::new(gcc, &[]),
        link: Command::new(gcc, &[]),
        headers: PathBuf::from(headers.trim()),
    };
    tried(toolchain)
}

/// Returns the toolchain if it builds a trial program.
fn tried(toolchain: Toolchain) -> Result<Toolchain, String> {
    let sandbox = Some(crate::build::try_toolchain(&toolchain)?);
    Ok(Toolchain {
        sandbox,
        ..toolchain
    })
}

/// Returns what dynamically linked tools must be able to execute and load:
/// the system's libraries, themselves, and the programs and libraries of
/// their prefix. Headers and data of the system are not among them.
fn executable_files(tools: &[&Path]) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = [
        "/lib",
        "/lib64",
        "/usr/lib",
        "/usr/lib64",
        "/etc/ld.so.cache",
    ]
    .map(PathBuf::from)
    .to_vec();
    for tool in tools {
        for tool in [
            (*tool).to_owned(),
            fs::canonicalize(tool).unwrap_or_else(|_| (*tool).to_owned()),
        ] {
            // A tool in `<prefix>/bin` uses `<prefix>/lib` and the like; a
            // cross compiler also `<prefix>/<target>`.
            let in_bin = tool
                .parent()
                .filter(|folder| folder.file_name() == Some(OsStr::new("bin")));
            if let Some(prefix) = in_bin.and_then(Path::parent) {
                paths.extend(["bin", "lib", "lib64", "libexec"].map(|folder| prefix.join(folder)));
                let name = tool
                    .file_name()
                    .map(OsStr::to_string_lossy)
                    .unwrap_or_default();
                if let Some((target, _)) = name.rsplit_once('-') {
                    paths.push(prefix.join(target));
                }
            }
            paths.push(tool);
        }
    }
    paths
}

fn clang_version(text: &str) -> Result<String, String> {
    text.split_whitespace()
        .skip_while(|word| *word != "version")
        .nth(1)
        .map(str::to_owned)
        .ok_or_else(|| {
            format!(
                "does not tell its version: {:?}",
                text.lines().next().unwrap_or("")
            )
        })
}

/// Runs a tool of the machine, not of a candidate, and returns its stdout.
pub(super) fn output(program: &Path, args: &[&str]) -> Result<String, String> {
    let output = std::process::Command::new(program)
        .args(args)
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("")
            .trim()
            .to_owned();
        return Err(format!("fails with {}: {last}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns the first executable file called `name` on the search path.
pub(super) fn on_path(search: &ToolchainSearch, name: &str) -> Option<PathBuf> {
    std::env::split_paths(search.path.as_deref()?)
        .map(|folder| folder.join(name))
        .filter(|file| file.is_absolute())
        .find(|file| {
            fs::metadata(file)
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}
