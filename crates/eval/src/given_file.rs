//! Files that the user names: read whole, if they are files and not too large.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a text that is read at most: a kernel, settings, prices.
pub const LONGEST_TEXT: u64 = 16 << 20;

/// Bytes of a program that is read at most.
pub const LARGEST_PROGRAM: u64 = 1 << 30;

/// Refuses what is neither file nor folder, without opening it: a device may have no end,
/// and a pipe may have to be waited for.
///
/// # Errors
/// The path is not there, or names something else.
pub fn check_is_file(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    Err(io::Error::other(
        "it is a device, a pipe or a socket, and only regular files are read",
    ))
}

/// Reads a file of at most `most` bytes.
///
/// # Errors
/// It is no file, is longer, or cannot be read.
pub fn read_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    check_is_file(path)?;
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if most < bytes.len() as u64 {
        return Err(io::Error::other(format!(
            "it is longer than the {most} bytes that are read at most"
        )));
    }
    Ok(bytes)
}

/// Reads a text of at most [`LONGEST_TEXT`] bytes.
///
/// # Errors
/// As [`read_file`], or it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path, LONGEST_TEXT)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}
