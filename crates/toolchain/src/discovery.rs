//! Finding a compiler: the pinned one, unless another was asked for by name.

use super::installation;
use super::pins::PINS;
use super::toolchain::{Command, Family, Toolchain};
use autocomp_eval::{EvalError, Surroundings};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds the recorded compiler, or the configured one, or else the pinned one, which is installed
/// into the private cache folder if needed and known by its content: whether it works here is
/// seen when it is used ([`Toolchain::confirm`]). Others have built a trial program. Whatever
/// else the machine has is left alone, so that equal kernels cost the same everywhere.
///
/// `progress` gets a line before anything that takes long or uses the network.
///
/// # Errors
/// [`EvalError::Environment`] with the reason and the remedies.
pub fn find_toolchain(
    search: &Surroundings,
    progress: &mut dyn FnMut(&str),
) -> Result<Toolchain, EvalError> {
    if !autocomp_sandbox::IS_AVAILABLE {
        return Err(EvalError::Environment {
            message: autocomp_sandbox::ONLY_ON_LINUX.to_owned(),
            remedies: vec![autocomp_sandbox::ELSEWHERE.to_owned()],
        });
    }
    Ok(Toolchain {
        path: search.path.clone(),
        ..found(search, progress)?
    })
}

fn found(search: &Surroundings, progress: &mut dyn FnMut(&str)) -> Result<Toolchain, EvalError> {
    if let Some(name) = &search.recorded_compiler {
        return recorded_toolchain(search, name, progress);
    }
    let Some(configured) = &search.compiler else {
        return pinned_toolchain(search, &PINS[0], progress);
    };
    from_configured(configured, search).map_err(|reason| EvalError::Environment {
        message: format!(
            "the configured compiler {} does not work: {reason}",
            configured.display()
        ),
        remedies: vec![
            "name a zig, a clang 17 or later that has ld.lld beside it, or a riscv64 GCC".into(),
            "or remove the setting: the compiler is then the one that autocomp brings along".into(),
        ],
    })
}

/// Finds the compiler called `name`.
fn recorded_toolchain(
    search: &Surroundings,
    name: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Toolchain, EvalError> {
    if let Some(pin) = PINS.iter().find(|pin| pin.name == name) {
        return pinned_toolchain(search, pin, progress);
    }
    let configured = search.compiler.iter().cloned();
    let known = known_on_path(search).into_iter().map(PathBuf::from);
    configured
        .chain(known)
        .filter_map(|path| from_configured(&path, search).ok())
        .find(|toolchain| toolchain.name == name)
        .ok_or_else(|| EvalError::Environment {
            message: format!("the run was measured with {name}, which is not found here"),
            remedies: vec![
                "install it, or say where it is with `--compiler PATH`".into(),
                "or start a new run".into(),
            ],
        })
}

fn pinned_toolchain(
    search: &Surroundings,
    pin: &super::pins::Pin,
    progress: &mut dyn FnMut(&str),
) -> Result<Toolchain, EvalError> {
    let place = installation::find_or_install(search, pin, progress)?;
    pin.toolchain(&place)
        .map_err(|reason| EvalError::Environment {
            message: format!(
                "the C compiler {} in {} does not work here: {reason}",
                pin.wheel,
                place.display()
            ),
            remedies: vec!["remove that folder: it is installed again".into()],
        })
}

/// Names that compilers for RISC-V usually have; `clang` with a version, too.
const KNOWN_NAMES: &[&str] = &[
    "zig",
    "clang",
    "riscv64-unknown-elf-gcc",
    "riscv64-elf-gcc",
    "riscv64-none-elf-gcc",
    "riscv64-unknown-linux-gnu-gcc",
    "riscv64-linux-gnu-gcc",
];

/// Returns the names of compilers on `PATH` that may make programs for RISC-V.
pub(super) fn known_on_path(search: &Surroundings) -> Vec<String> {
    let names = KNOWN_NAMES.iter().map(|name| (*name).to_owned());
    names
        .chain(CLANG_VERSIONS.map(|version| format!("clang-{version}")))
        .filter(|name| on_path(search.path.as_deref(), name).is_some())
        .collect()
}

/// Versions of clang that can be used. Older ones lack features that generated
/// vector kernels use; newer ones than these can be named by their path.
const CLANG_VERSIONS: std::ops::RangeInclusive<u32> = 17..=23;

fn from_configured(path: &Path, search: &Surroundings) -> Result<Toolchain, String> {
    let path = match fs::metadata(path) {
        // Absolute, since tools run in folders of their own.
        Ok(_) => std::path::absolute(path).map_err(|error| error.to_string())?,
        // A bare name is looked up like a command.
        Err(error) => on_path(search.path.as_deref(), &path.to_string_lossy())
            .ok_or_else(|| error.to_string())?,
    };
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if name.contains("zig") {
        let found = zig_toolchain(&path, "configured", None)?;
        if found.tried().is_ok() {
            return Ok(found);
        }
        tried(Toolchain {
            executable: executable_files(&[found.program()]),
            trial: Arc::default(),
            ..found
        })
    } else if name.contains("gcc") {
        gcc_toolchain(&path, "configured")
    } else if name.contains("clang") {
        clang_toolchain(&path, search, "configured")
    } else {
        Err("its name is neither zig nor clang nor a gcc".into())
    }
}

/// Returns the toolchain in a zig binary, which is asked for its name unless
/// that is known.
pub(super) fn zig_toolchain(
    zig: &Path,
    origin: &str,
    name: Option<&str>,
) -> Result<Toolchain, String> {
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
    let name = match name {
        Some(name) => name.to_owned(),
        None => {
            let version = output(&zig, &["version"])?;
            let clang = clang_version(&output(&zig, &["clang", "--version"])?)?;
            format!("zig {} (clang {clang})", version.trim())
        }
    };
    Ok(Toolchain {
        family: Family::Zig,
        name,
        origin: origin.to_owned(),
        compile: Command::new(&zig, &["clang"]),
        link: Command::new(&zig, &["ld.lld"]),
        headers,
        // Linked statically, as it usually is, it needs nothing else.
        executable: vec![zig.clone()],
        path: None,
        trial: Arc::default(),
    })
}

fn clang_toolchain(clang: &Path, search: &Surroundings, origin: &str) -> Result<Toolchain, String> {
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
        .or_else(|| on_path(search.path.as_deref(), &format!("ld.lld-{major}")))
        .or_else(|| on_path(search.path.as_deref(), "ld.lld"))
        .ok_or_else(|| format!("is version {version}, but has no ld.lld"))?;
    let resources = output(clang, &["-print-resource-dir"])?;
    let toolchain = Toolchain {
        family: Family::Clang,
        name: format!("clang {version}"),
        origin: origin.to_owned(),
        executable: executable_files(&[clang, &linker]),
        compile: Command::new(clang, &[]),
        link: Command::new(&linker, &[]),
        headers: Path::new(resources.trim()).join("include"),
        path: None,
        trial: Arc::default(),
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
        executable: executable_files(&[gcc]),
        compile: Command::new(gcc, &[]),
        link: Command::new(gcc, &[]),
        headers: PathBuf::from(headers.trim()),
        path: None,
        trial: Arc::default(),
    };
    tried(toolchain)
}

/// Returns the toolchain if it builds a trial program.
fn tried(toolchain: Toolchain) -> Result<Toolchain, String> {
    toolchain.tried()?;
    Ok(toolchain)
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
fn output(program: &Path, args: &[&str]) -> Result<String, String> {
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

/// Returns the first executable file called `name` on a search path.
#[must_use]
pub fn on_path(path: Option<&OsStr>, name: &str) -> Option<PathBuf> {
    std::env::split_paths(path?)
        .map(|folder| folder.join(name))
        .filter(|file| file.is_absolute())
        .find(|file| {
            fs::metadata(file)
                .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
        })
}
