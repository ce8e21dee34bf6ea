//! Files of a run folder, opened without following links.
//!
//! A run folder may come from somebody else. A file in it that is a symbolic link, or a second
//! name of another file, would lead whatever is written in the folder to a place that its maker
//! has chosen; a pipe or a device would have to be waited for. So each step of a path below the
//! run folder is opened by itself, and refused unless it is a plain folder or a plain file. The
//! run folder itself is named by the user, and may be reached through links.

use crate::error::StoreError;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// What is done with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It is read, and has to be there.
    Read,
    /// It is read and written, and made if it is not there.
    Make,
}

/// Opens a file by its path below the run folder, such as `blobs/pack`.
///
/// # Errors
/// [`StoreError::NotPlain`] for anything but plain folders on the way and a plain file at the
/// end; a file with several names is only read. Else what the system says.
pub(crate) fn open_file(folder: &Path, name: &str, usage: Use) -> Result<File, StoreError> {
    let path = folder.join(name);
    let action = match usage {
        Use::Read => "read",
        Use::Make => "open",
    };
    let failed = |error: Errno| failed(action, &path, error);
    let (parent, last) = parent_of(folder, name)?;
    check_entry(&parent, last, &path, usage != Use::Read)?;
    let access = match usage {
        Use::Read => OFlags::RDONLY,
        Use::Make => OFlags::RDWR | OFlags::CREATE,
    };
    // Whoever changes the folder meanwhile gains nothing: no link is followed, no pipe waited for.
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&parent, last, flags, Mode::from_raw_mode(0o666)).map_err(failed)?;
    let about = rustix::fs::fstat(&file).map_err(failed)?;
    check_kind(&about, &path, usage != Use::Read)?;
    Ok(File::from(file))
}

/// Checks a file by its path below the run folder, if it is there: it has to be a plain file, and
/// to have no second name if `is_written`.
pub(crate) fn check_file(folder: &Path, name: &str, is_written: bool) -> Result<bool, StoreError> {
    let (parent, last) = match parent_of(folder, name) {
        Err(StoreError::Missing { .. }) => return Ok(false),
        found => found?,
    };
    check_entry(&parent, last, &folder.join(name), is_written)
}

/// Returns whether there is a plain folder of that name in the run folder.
pub(crate) fn check_folder(folder: &Path, name: &str) -> Result<bool, StoreError> {
    match open_folder(folder, &format!("{name}/")) {
        Err(StoreError::Missing { .. }) => Ok(false),
        found => found.map(|_| true),
    }
}

/// Checks that a file of a run folder may be replaced, before work is done for its content.
///
/// # Errors
/// As [`replace_file`].
pub fn check_replaceable(folder: &Path, name: &str) -> Result<(), StoreError> {
    let (parent, last) = parent_of(folder, name)?;
    check_entry(&parent, last, &folder.join(name), true).map(|_| ())
}

/// Puts a file with this content into a run folder, in the place of one of the same name. A
/// process that dies leaves the file that was there.
///
/// # Errors
/// [`StoreError::NotPlain`] if a link, a pipe or a device of that name is there. Else what the
/// system says.
pub fn replace_file(folder: &Path, name: &str, content: &[u8]) -> Result<(), StoreError> {
    let path = folder.join(name);
    let (parent, last) = parent_of(folder, name)?;
    check_entry(&parent, last, &path, true)?;
    let failed = |error: &io::Error| StoreError::from_io("write", &path, error);
    let temporary = format!(".{last}.{}.new", std::process::id());
    let _ = unlinkat(&parent, &temporary, AtFlags::empty());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let written = openat(&parent, &temporary, flags, Mode::from_raw_mode(0o666))
        .map_err(io::Error::from)
        .and_then(|file| File::from(file).write_all(content))
        .and_then(|()| Ok(renameat(&parent, &temporary, &parent, last)?));
    written.map_err(|error| {
        let _ = unlinkat(&parent, &temporary, AtFlags::empty());
        failed(&error)
    })
}

/// Reads a file of a run folder, of at most `most` bytes; nothing if it is not there.
///
/// # Errors
/// [`StoreError::NotPlain`] if it is a link, a pipe or a device; it is longer; or what the system
/// says.
pub fn read_file(folder: &Path, name: &str, most: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let file = match open_file(folder, name, Use::Read) {
        Err(StoreError::Missing { .. }) => return Ok(None),
        file => file?,
    };
    let path = folder.join(name);
    let mut bytes = Vec::new();
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| StoreError::from_io("read", &path, &error))?;
    if most < bytes.len() as u64 {
        return Err(StoreError::TooLarge { path, most });
    }
    Ok(Some(bytes))
}

/// Opens the folder in which the file of that path is, and returns the file's own name.
fn parent_of<'a>(folder: &Path, name: &'a str) -> Result<(OwnedFd, &'a str), StoreError> {
    let last = name.rsplit('/').next().unwrap_or(name);
    Ok((open_folder(folder, &name[..name.len() - last.len()])?, last))
}

/// Opens a folder by its path below the run folder, each part of which ends in `/`.
fn open_folder(folder: &Path, below: &str) -> Result<OwnedFd, StoreError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut path = folder.to_owned();
    let mut opened = rustix::fs::open(folder, flags, Mode::empty())
        .map_err(|error| failed("open", &path, error))?;
    for part in below.split_terminator('/') {
        path.push(part);
        opened = match openat(&opened, part, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(below) => below,
            Err(Errno::LOOP | Errno::NOTDIR) => {
                let found = statat(&opened, part, AtFlags::SYMLINK_NOFOLLOW);
                return Err(StoreError::NotPlain {
                    path,
                    kind: found.map_or("no folder", |it| kind_of(&it)),
                });
            }
            Err(error) => return Err(failed("open", &path, error)),
        };
    }
    Ok(opened)
}

/// Checks what has that name in a folder; returns whether anything has.
fn check_entry(
    parent: impl AsFd,
    name: &str,
    path: &Path,
    is_written: bool,
) -> Result<bool, StoreError> {
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => check_kind(&found, path, is_written).map(|()| true),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(failed("look at", path, error)),
    }
}

fn failed(action: &'static str, path: &Path, error: Errno) -> StoreError {
    let owned = || path.to_owned();
    match error {
        Errno::NOENT => StoreError::Missing { path: owned() },
        // A link that was put there since the entry was looked at.
        Errno::LOOP => StoreError::NotPlain {
            path: owned(),
            kind: "a symbolic link",
        },
        _ => StoreError::from_io(action, path, &error.into()),
    }
}

fn check_kind(found: &rustix::fs::Stat, path: &Path, is_written: bool) -> Result<(), StoreError> {
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile if is_written && 1 < found.st_nlink => "a file with several names",
        FileType::RegularFile => return Ok(()),
        _ => kind_of(found),
    };
    Err(StoreError::NotPlain {
        path: path.to_owned(),
        kind,
    })
}

fn kind_of(found: &rustix::fs::Stat) -> &'static str {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => "a file",
        FileType::Symlink => "a symbolic link",
        FileType::Directory => "a folder",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        _ => "a device",
    }
}

/// Forces everything written to the file system of `folder` to the disk; where the system cannot
/// do that for one alone, to all.
pub(crate) fn sync_file_system(folder: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(folder)?;
    #[cfg(not(target_os = "linux"))]
    {
        rustix::fs::sync();
        folder.sync_all()?;
    }
    Ok(())
}
