//! Installing a pinned compiler into the private cache folder, and checking
//! what is there.

use super::discovery::{known_on_path, on_path};
use super::pins::{Mismatch, PARTS, Pin, machine};
use super::pip::{Pip, Registry};
use autocomp_eval::{EvalError, Surroundings};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder with the checked installation of `pin`, which is made if
/// needed and allowed.
///
/// # Errors
/// [`EvalError::Environment`] with what is in the way, and the remedies.
pub(super) fn find_or_install(
    search: &Surroundings,
    pin: &Pin,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, EvalError> {
    let installation = Installation { search, pin };
    if pin.digest().is_none() {
        let message = format!("there is no pinned C compiler for {}", machine());
        return Err(installation.error(message, &[]));
    }
    let place = pin.place(&search.cache_folder);
    let folder = search.cache_folder.join("toolchains");
    if pin.check(&place).is_ok() {
        return Ok(place);
    }
    let failed = |what: &str, error: &dyn std::fmt::Display| {
        let message = format!("cannot {what} {}: {error}", folder.display());
        installation.error(message, &[])
    };
    if search.carried.is_none() && !search.install {
        let state = match place.exists() {
            true => "damaged",
            false => "not installed",
        };
        let message = format!("{} is {state}, and must not be installed", pin.wheel);
        return Err(installation.error(message, &[]));
    }
    fs::create_dir_all(&folder).map_err(|error| failed("make", &error))?;
    // One process installs; the others wait here and find its work.
    let lock = File::create(folder.join("lock")).map_err(|error| failed("lock", &error))?;
    if lock.try_lock().is_err() {
        progress("waiting for another process that is installing the C compiler");
        lock.lock().map_err(|error| failed("lock", &error))?;
    }
    match pin.check(&place) {
        Ok(()) => return Ok(place),
        Err(Mismatch::Missing) => {}
        Err(Mismatch::Unreadable(error)) => return Err(failed("read", &error)),
        Err(Mismatch::Changed) => progress(&format!(
            "the C compiler in {} is damaged and will be installed again",
            place.display()
        )),
    }
    // Beside its final place, so that the rename is atomic: a folder with the
    // final name was complete once.
    let staging = tempfile::Builder::new()
        .prefix("installing-")
        .tempdir_in(&folder)
        .map_err(|error| failed("write to", &error))?;
    let target = staging.path().join("wheel");
    match &search.carried {
        Some(carried) => installation.carry(carried, &target, progress)?,
        None => installation.load(&target, &folder, progress)?,
    }
    if let Err(mismatch) = pin.check(&target) {
        let of = match &search.carried {
            Some(carried) => format!("{} holds", carried.display()),
            None => "pip installed".to_owned(),
        };
        let message = match mismatch {
            Mismatch::Unreadable(error) => return Err(failed("read", &error)),
            Mismatch::Missing => format!("{of} no {}", pin.wheel),
            Mismatch::Changed => format!(
                "{of} a compiler that is not the pinned {} for {}",
                pin.wheel,
                machine()
            ),
        };
        return Err(installation.error(message, &[]));
    }
    if place.exists() {
        fs::remove_dir_all(&place).map_err(|error| failed("write to", &error))?;
    }
    fs::rename(&target, &place).map_err(|error| failed("write to", &error))?;
    Ok(place)
}

/// What is installed, and for whom.
struct Installation<'a> {
    search: &'a Surroundings,
    pin: &'a Pin,
}

impl Installation<'_> {
    /// Loads the wheel with pip and installs it into `target`.
    fn load(
        &self,
        target: &Path,
        folder: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), EvalError> {
        let wheel = self.pin.wheel;
        let loaded = target.with_file_name("loaded");
        let mut reasons = Vec::new();
        for pip in Pip::all(|name| on_path(self.search.path.as_deref(), name)) {
            match pip.look(wheel) {
                Registry::Likely => {}
                Registry::NoPip(reason) => {
                    reasons.push(reason);
                    continue;
                }
                // Another pip has the same network.
                Registry::Unreachable(reason) => {
                    let message = format!(
                        "no network: the C compiler {wheel} is not installed yet, and pip cannot reach its registry ({reason})"
                    );
                    let remedy = "connect once, or tell pip of your mirror or proxy (`pip config`, HTTPS_PROXY)";
                    return Err(self.error(message, &[remedy.to_owned()]));
                }
            }
            progress(&format!(
                "installing the C compiler {wheel} with pip into {} (100 MB to load, once)",
                folder.display(),
            ));
            let installed = pip.load(wheel, &loaded).and_then(|()| {
                let file = self.wheel_in(&loaded).ok_or("pip loaded no wheel")?;
                self.unpack(&file, target)
            });
            match installed {
                Ok(()) => return Ok(()),
                Err(reason) => reasons.push(reason),
            }
            // Half an installation must not be taken for one.
            let _ = fs::remove_dir_all(target);
        }
        if reasons.is_empty() {
            reasons.push("there is no pip (python3 -m pip, pip3, pip)".into());
        }
        let message = format!(
            "the C compiler {wheel} cannot be installed: {}",
            reasons.join("; ")
        );
        let remedy = "install Python 3 with pip (Debian, Ubuntu: apt-get install python3-pip)";
        Err(self.error(message, &[remedy.to_owned()]))
    }

    /// Takes what was carried over from another machine into `target`.
    fn carry(
        &self,
        carried: &Path,
        target: &Path,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), EvalError> {
        let failed = |reason: String| {
            let message = format!("{} cannot be used: {reason}", carried.display());
            self.error(message, &[])
        };
        let name = self.pin.folder_name();
        if !carried.exists() {
            return Err(failed("there is no such file or folder".into()));
        }
        let found = [
            PathBuf::from("zig"),
            PathBuf::from("ziglang/zig"),
            Path::new(&name).join("ziglang/zig"),
            Path::new("toolchains").join(&name).join("ziglang/zig"),
        ]
        .into_iter()
        .map(|zig| carried.join(zig))
        .find(|zig| zig.is_file());
        progress(&format!(
            "installing the C compiler from {}",
            carried.display()
        ));
        if let Some(folder) = found.as_deref().and_then(Path::parent) {
            return copy_parts(folder, &target.join("ziglang"))
                .map_err(|error| failed(error.to_string()));
        }
        let wheel = if carried.is_dir() {
            self.wheel_in(carried).ok_or_else(|| {
                failed(format!(
                    "it holds neither a wheel {name}-…{}.whl nor `ziglang/zig`",
                    std::env::consts::ARCH
                ))
            })?
        } else {
            carried.to_owned()
        };
        self.unpack(&wheel, target).map_err(failed)
    }

    /// Returns the wheel for this architecture in `folder`.
    fn wheel_in(&self, folder: &Path) -> Option<PathBuf> {
        let start = format!("{}-", self.pin.folder_name());
        let entries = fs::read_dir(folder).ok()?.flatten();
        entries.map(|entry| entry.path()).find(|path| {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            file.starts_with(&start)
                && file.ends_with(".whl")
                && file.contains(std::env::consts::ARCH)
        })
    }

    /// Unpacks what is used of a wheel into `target`.
    fn unpack(&self, wheel: &Path, target: &Path) -> Result<(), String> {
        let python = ["python3", "python"]
            .iter()
            .find_map(|name| on_path(self.search.path.as_deref(), name))
            .ok_or("there is no python3 to unpack it with; unpack it with `unzip` and name the folder with `--toolchain`")?;
        let output = Command::new(python)
            .args(["-c", UNPACKING])
            .args([wheel, target])
            .args(PARTS.iter().map(|part| format!("ziglang/{part}")))
            .output()
            .map_err(|error| error.to_string())?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(text.lines().last().unwrap_or_default().to_owned());
        }
        // A wheel is a zip archive, in which no file is marked as executable.
        let zig = target.join("ziglang").join("zig");
        if zig.is_file() {
            fs::set_permissions(&zig, fs::Permissions::from_mode(0o755))
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Returns an error with `remedies`, and those that help in every case.
    fn error(&self, message: String, remedies: &[String]) -> EvalError {
        let wheel = self.pin.wheel;
        let mut remedies = remedies.to_vec();
        if self.pin.digest().is_some() {
            remedies.push(format!(
                "or carry it over: `python3 -m pip download --no-deps {wheel}` on a machine of this kind that has a network, \
                 and `--toolchain FOLDER` here, with the folder or the wheel in it"
            ));
            remedies.push(format!(
                "or copy a whole cache folder that has it ({} here)",
                self.search.cache_folder.display()
            ));
        }
        let others = known_on_path(self.search);
        remedies.push(match others.first() {
            None => "or name another compiler with `--compiler PATH` (zig, clang 17 or later with lld, a riscv64 GCC); its costs differ".to_owned(),
            Some(other) => format!("or use another compiler, whose costs differ: `--compiler {other}`"),
        });
        EvalError::Environment { message, remedies }
    }
}

/// Unpacks files and folders of an archive; arguments are the archive, where to, and names.
const UNPACKING: &str = "\
import sys, zipfile
archive, target, *parts = sys.argv[1:]
with zipfile.ZipFile(archive) as wheel:
    for name in wheel.namelist():
        if any(name == part or name.startswith(part + '/') for part in parts):
            wheel.extract(name, target)
";

/// Copies those of [`PARTS`] that `from` has; permissions are kept.
fn copy_parts(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for part in PARTS {
        let (from, to) = (from.join(part), to.join(part));
        if from.is_dir() {
            copy_folder(&from, &to)?;
        } else if from.is_file() {
            fs::copy(from, to)?;
        }
    }
    Ok(())
}

/// Copies a folder with everything in it; permissions are kept.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if fs::metadata(entry.path())?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Installation, PARTS};
    use crate::pins::PINS;
    use autocomp_eval::Surroundings;
    use std::fs;
    use std::process::Command;

    #[test]
    fn of_a_wheel_only_what_is_used_is_unpacked() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in [
            "zig",
            "zigzag",
            "lib/include/stdint.h",
            "lib/includes.h",
            "lib/libc/x.c",
        ] {
            let file = at("ziglang").join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, name).expect("written");
        }
        let (wheel, target) = (at("a.whl"), at("target"));
        let packed = Command::new("python3")
            .args(["-m", "zipfile", "-c"])
            .args([&wheel, &at("ziglang")])
            .status();
        assert!(packed.expect("Python").success());
        let search = Surroundings::installing(at("cache"), std::env::var_os("PATH"));
        let installation = Installation {
            search: &search,
            pin: &PINS[0],
        };
        installation.unpack(&wheel, &target).expect("unpacked");
        let unpacked = target.join("ziglang");
        assert!(PARTS.iter().all(|part| unpacked.join(part).exists()));
        assert!(unpacked.join("lib/include/stdint.h").is_file());
        for name in ["zigzag", "lib/includes.h", "lib/libc"] {
            assert!(!unpacked.join(name).exists(), "{name}");
        }
    }
}
