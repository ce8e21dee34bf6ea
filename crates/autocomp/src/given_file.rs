//! Files that the user names: read whole, if they are files and not too large.

use crate::error::CliError;
pub use autocomp_eval::given_file::{
    LARGEST_PROGRAM, LONGEST_TEXT, check_is_file, read_file, read_text,
};
use std::io::{self, Read};
use std::path::Path;

/// Says that a file that the command line names cannot be read. One that is not there is a
/// mistake of the command line, like a run or a problem that is not there.
pub fn not_read(what: &str, path: &Path, error: &io::Error) -> CliError {
    let message = format!("failed to read the {what} {}: {error}", path.display());
    match error.kind() {
        io::ErrorKind::NotFound => CliError::usage(message),
        _ => CliError::input(message),
    }
}

/// Reads a kernel from standard input.
pub fn read_kernel_from_input() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let read = io::stdin()
        .lock()
        .take(LONGEST_TEXT + 1)
        .read_to_end(&mut bytes);
    read.map_err(|error| {
        CliError::input(format!(
            "failed to read the kernel from standard input: {error}"
        ))
    })?;
    if LONGEST_TEXT < bytes.len() as u64 {
        return Err(CliError::input(format!(
            "the kernel on standard input is longer than the {LONGEST_TEXT} bytes that are read at most"
        )));
    }
    source_of(bytes, "kernel", Path::new("-"))
}

/// Reads a kernel from a file.
pub fn read_kernel(path: &Path) -> Result<String, CliError> {
    read_source("kernel", path)
}

/// Reads a program that is to become a kernel from a file.
pub fn read_program(path: &Path) -> Result<String, CliError> {
    read_source("program", path)
}

fn read_source(what: &str, path: &Path) -> Result<String, CliError> {
    let bytes = read_file(path, LONGEST_TEXT)
        .map_err(|error| {
            not_read(what, path, &error)
                .hint("check the path; a kernel of the problem's own is given by its name alone, such as `baseline`")
        })?;
    source_of(bytes, what, path)
}

fn source_of(bytes: Vec<u8>, what: &str, path: &Path) -> Result<String, CliError> {
    let text = String::from_utf8(bytes);
    // Editors put a mark of the order of bytes in front.
    let text = text.map(|it| it.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(it));
    text.map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..offset]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        CliError::input(format!(
            "the {what} {} is not UTF-8 text: line {line}, byte {offset}",
            path.display()
        ))
        .hint("give source text, saved as UTF-8")
    })
}
