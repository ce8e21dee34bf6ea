//! The compiler in use unless another is asked for, known by its content.

use super::discovery::zig_toolchain;
use super::toolchain::Toolchain;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A version of the compiler that autocomp installs.
#[derive(Debug)]
pub(super) struct Pin {
    /// What pip calls it, with its version.
    pub(super) wheel: &'static str,
    /// Its name in records of measurements.
    pub(super) name: &'static str,
    /// Machines that it is pinned for, and what its [`PARTS`] there hash to.
    digests: &'static [(&'static str, &'static str)],
}

/// The pinned compilers, the one in use first. Earlier ones stay in this list
/// as long as runs that were measured with them are to be resumed.
///
/// One wheel holds clang and lld in one binary, for Linux and macOS on x86-64
/// and aarch64. Source: <https://pypi.org/project/ziglang/>.
pub(super) const PINS: &[Pin] = &[Pin {
    wheel: "ziglang==0.17.0",
    name: "zig 0.17.0 (clang 22.1.8)",
    digests: &[
        (
            "x86_64-linux",
            "7015897b35cad3616436a1ac9788b490643f8056c6a5fd6752c538a0151bc11a",
        ),
        (
            "aarch64-linux",
            "de3e79dd1b18d2164280d0b0b3c854238155b0494d3427fa84da40c33c71b22b",
        ),
    ],
}];

/// What is used of a compiler, from the folder that holds it: the binary, and
/// the compiler's own headers. Nothing else of it is installed.
pub(super) const PARTS: &[&str] = &["zig", "lib/include"];
/// A file that has not changed for this long has another time when it changes again.
const SETTLED_SECONDS: i64 = 2;

/// What is wrong with the files of a pinned compiler.
#[derive(Debug)]
pub(super) enum Mismatch {
    /// There are none.
    Missing,
    /// There are others than the pinned ones.
    Changed,
    /// They cannot be read.
    Unreadable(io::Error),
}

impl Pin {
    /// Returns the digest of the files for this kind of machine, if the
    /// compiler is pinned for it.
    pub(super) fn digest(&self) -> Option<&'static str> {
        let here = machine();
        let found = self.digests.iter().find(|(machine, _)| *machine == here);
        found.map(|(_, digest)| *digest)
    }

    /// Returns the name of its folder, wherever that is.
    pub(super) fn folder_name(&self) -> String {
        self.wheel.replace("==", "-")
    }

    /// Returns the folder of an installation in the cache folder.
    pub(super) fn place(&self, cache_folder: &Path) -> PathBuf {
        cache_folder.join("toolchains").join(self.folder_name())
    }

    /// Checks that `place` holds exactly this compiler, by the content of all
    /// that is used of it: 200 MB, which takes a tenth of a second. What was right once
    /// and was not changed since, as the file system says, is not read again.
    pub(super) fn check(&self, place: &Path) -> Result<(), Mismatch> {
        let folder = place.join("ziglang");
        match remembered(&folder, &place.join("checked"), SystemTime::now()) {
            Ok(digest) if Some(digest.as_str()) == self.digest() => Ok(()),
            Ok(_) => Err(Mismatch::Changed),
            Err(_) if !folder.exists() => Err(Mismatch::Missing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Mismatch::Changed),
            Err(error) => Err(Mismatch::Unreadable(error)),
        }
    }

    /// Returns the compiler of a place that was checked.
    pub(super) fn toolchain(&self, place: &Path) -> Result<Toolchain, String> {
        let zig = place.join("ziglang").join("zig");
        zig_toolchain(&zig, "installed by autocomp", Some(self.name))
    }
}

/// Returns the names of the folders of all pinned compilers, in `toolchains` of
/// a cache folder.
#[must_use]
pub fn pinned_folders() -> Vec<String> {
    PINS.iter().map(Pin::folder_name).collect()
}

/// Returns the kind of this machine, as in `x86_64-linux`.
pub(super) fn machine() -> String {
    format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)
}

/// A file: its name in a folder, where it is, and what the file system knows of it.
type Listed = (PathBuf, PathBuf, Metadata);

/// Returns the files of [`PARTS`] in `folder`, in the order of their names.
fn files(folder: &Path) -> io::Result<Vec<Listed>> {
    let mut files = Vec::new();
    for part in PARTS {
        collect(&folder.join(part), Path::new(part), &mut files)?;
    }
    files.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(files)
}

/// Returns the [`digest`] of `folder`: the one that the file `memory` holds, if no file has
/// changed since it was computed.
fn remembered(folder: &Path, memory: &Path, now: SystemTime) -> io::Result<String> {
    let before = state(folder, now)?;
    let known = fs::read_to_string(memory).unwrap_or_default();
    if let Some((state, digest)) = known.split_once(' ')
        && Some(state) == before.as_deref()
    {
        return Ok(digest.to_owned());
    }
    let digest = digest(folder)?;
    if let Some(state) = before {
        // Where nothing can be written, everything is read every time.
        let _ = remember(memory, &format!("{state} {digest}"));
    }
    Ok(digest)
}

/// Writes `text` to `memory`, which others read meanwhile.
fn remember(memory: &Path, text: &str) -> io::Result<()> {
    let folder = memory.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(memory)?;
    Ok(())
}

/// Returns the hash of what the file system knows of the files: names, sizes, places and times
/// of the last change. There is none if a file has changed just now: it could change again
/// within what the clock of the file system tells apart.
fn state(folder: &Path, now: SystemTime) -> io::Result<Option<String>> {
    let mut hasher = blake3::Hasher::new();
    let mut newest = 0;
    for (name, _, file) in files(folder)? {
        newest = newest.max(file.ctime());
        hasher.update(name.as_os_str().as_encoded_bytes());
        let numbers = [
            file.len(),
            file.dev(),
            file.ino(),
            file.ctime().cast_unsigned(),
            file.ctime_nsec().cast_unsigned(),
            file.mtime().cast_unsigned(),
            file.mtime_nsec().cast_unsigned(),
        ];
        for number in numbers {
            hasher.update(&number.to_le_bytes());
        }
    }
    let now = now.duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |time| time.as_secs().cast_signed());
    let is_settled = newest + SETTLED_SECONDS < now;
    Ok(is_settled.then(|| hasher.finalize().to_hex().to_string()))
}

/// Returns the hash of names and contents of [`PARTS`] in `folder`.
fn digest(folder: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    for (name, path, _) in files(folder)? {
        let file = File::open(path)?;
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update(&[0]);
        hasher.update(&file.metadata()?.len().to_le_bytes());
        hasher.update_reader(file)?;
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Adds the files at and below `path`, which is called `name`.
fn collect(path: &Path, name: &Path, files: &mut Vec<Listed>) -> io::Result<()> {
    let file = fs::metadata(path)?;
    if !file.is_dir() {
        files.push((name.to_owned(), path.to_owned(), file));
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        collect(&entry.path(), &name.join(entry.file_name()), files)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Mismatch, PINS, digest, remembered};
    use std::fs::{self, File, FileTimes};
    use std::time::Duration;

    #[test]
    fn what_has_not_changed_is_not_read_again() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("ziglang");
        let (zig, memory) = (folder.join("zig"), place.path().join("checked"));
        fs::create_dir_all(folder.join("lib/include")).expect("made");
        fs::write(&zig, "program").expect("written");
        let written = fs::metadata(&zig).expect("there").modified();
        let written = written.expect("known");
        let right = digest(&folder).expect("readable");
        let said = |seconds| {
            let now = written + Duration::from_secs(seconds);
            remembered(&folder, &memory, now).expect("readable")
        };
        // Just written: it may change again at the same time.
        assert_eq!(said(1), right);
        assert!(!memory.exists());
        assert_eq!(said(60), right);
        let known = fs::read_to_string(&memory).expect("written");
        fs::write(&memory, known.replace(&right, "as remembered")).expect("written");
        assert_eq!(said(60), "as remembered");
        // Another content of the same length, with the same time of modification, and later
        // by more than the clock of the file system tells apart.
        std::thread::sleep(Duration::from_millis(50));
        fs::write(&zig, "Program").expect("written");
        let file = File::options().write(true).open(&zig).expect("there");
        let times = FileTimes::new().set_modified(written);
        file.set_times(times).expect("set");
        assert_eq!(said(60), digest(&folder).expect("readable"));
        assert_ne!(said(60), right);
    }

    #[test]
    fn a_digest_tells_every_change() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("ziglang");
        let headers = folder.join("lib/include");
        fs::create_dir_all(&headers).expect("made");
        fs::write(folder.join("zig"), "program").expect("written");
        fs::write(headers.join("stdint.h"), "types").expect("written");
        fs::write(folder.join("README"), "not in use").expect("written");
        let whole = digest(&folder).expect("readable");
        let changed = |change: &dyn Fn()| {
            change();
            digest(&folder).ok()
        };
        assert_eq!(
            changed(&|| fs::write(folder.join("README"), "").expect("written")),
            Some(whole.clone())
        );
        let mut seen = vec![Some(whole)];
        for change in [
            &|| fs::write(folder.join("zig"), "Program").expect("written") as (),
            &|| fs::write(headers.join("stdint.h"), "").expect("written"),
            &|| fs::write(headers.join("more.h"), "").expect("written"),
            &|| fs::rename(headers.join("more.h"), headers.join("less.h")).expect("renamed"),
            &|| fs::remove_file(folder.join("zig")).expect("removed"),
        ] as [&dyn Fn(); 5]
        {
            let digest = changed(change);
            assert!(!seen.contains(&digest), "{digest:?}");
            seen.push(digest);
        }
        let pin = &PINS[0];
        assert!(matches!(pin.check(place.path()), Err(Mismatch::Changed)));
        let nowhere = place.path().join("nowhere");
        assert!(matches!(pin.check(&nowhere), Err(Mismatch::Missing)));
    }
}
