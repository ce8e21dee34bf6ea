//! Installing the pinned compiler into the private cache folder.

use super::discovery::{ToolchainSearch, on_path, output};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The wheel that holds clang and lld in one binary, for Linux on x86-64 and
/// aarch64 and for macOS.
pub(super) const WHEEL: &str = "ziglang==0.17.0";

/// Returns the zig binary of our own installation, which is made if needed.
///
/// # Errors
/// What was tried, one line each.
pub(super) fn find_or_install(
    search: &ToolchainSearch,
    tried: &[String],
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, Vec<String>> {
    let folder = search.cache_folder.join("toolchains");
    let place = folder.join(WHEEL.replace("==", "-"));
    let zig = place.join("ziglang").join("zig");
    if zig.is_file() {
        return Ok(zig);
    }
    if !search.install {
        return Err(vec![format!("{WHEEL}: installing is switched off")]);
    }
    let installers = installers(search);
    if installers.is_empty() {
        return Err(vec![format!(
            "{WHEEL}: no pip that could install it (python3 -m pip, pip3, pip)"
        )]);
    }
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        vec![format!(
            "{WHEEL}: cannot {what} {}: {error}",
            folder.display()
        )]
    };
    fs::create_dir_all(&folder).map_err(|error| failed("make", &error))?;
    // One process installs; the others wait here and find its work.
    let lock = File::create(folder.join("lock")).map_err(|error| failed("lock", &error))?;
    if lock.try_lock().is_err() {
        progress("waiting for another process that is installing the RISC-V compiler");
        lock.lock().map_err(|error| failed("lock", &error))?;
    }
    if zig.is_file() {
        return Ok(zig);
    }
    progress(&format!(
        "installing the C compiler {WHEEL} with pip into {} (100 MB to load, once), because this machine has none for RISC-V: {}",
        folder.display(),
        tried.join("; "),
    ));
    let mut reasons = Vec::new();
    for (program, args) in installers {
        match install(&program, &args, &folder, &place) {
            Ok(()) if zig.is_file() => return Ok(zig),
            Ok(()) => reasons.push(format!("{WHEEL}: pip installed no {}", zig.display())),
            Err(reason) => reasons.push(format!("{WHEEL} with {}: {reason}", program.display())),
        }
    }
    Err(reasons)
}

/// Returns the ways to call a pip that works.
fn installers(search: &ToolchainSearch) -> Vec<(PathBuf, Vec<&'static str>)> {
    let candidates: [(&str, &[&'static str]); 4] = [
        ("python3", &["-m", "pip"]),
        ("python", &["-m", "pip"]),
        ("pip3", &[]),
        ("pip", &[]),
    ];
    candidates
        .into_iter()
        .filter_map(|(name, args)| Some((on_path(search, name)?, args.to_vec())))
        .filter(|(program, args)| output(program, &[args, &["--version"] as &[_]].concat()).is_ok())
        .collect()
}

fn install(program: &Path, args: &[&str], folder: &Path, place: &Path) -> Result<(), String> {
    // Beside its final place, so that the rename is atomic: a folder with the
    // final name is always complete.
    let staging = tempfile::Builder::new()
        .prefix("installing-")
        .tempdir_in(folder)
        .map_err(|error| error.to_string())?;
    let target = staging.path().join("wheel");
    let target_text = target.to_string_lossy().into_owned();
    let mut all = args.to_vec();
    all.extend([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--no-deps",
    ]);
    all.extend([
        "--only-binary=:all:",
        "--no-compile",
        "--target",
        &target_text,
        WHEEL,
    ]);
    output(program, &all)?;
    if place.exists() {
        fs::remove_dir_all(place).map_err(|error| error.to_string())?;
    }
    fs::rename(&target, place).map_err(|error| error.to_string())
}
