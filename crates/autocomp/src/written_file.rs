//! Files that commands write where the user says.

use crate::error::CliError;
use crate::output::redacted;
use crate::run_errors::store_error;
use autocomp_store::{is_run_folder, replace_file};
use std::fs;
use std::path::Path;

/// Writes a text that was asked for, without any key.
pub fn write_text(path: &Path, text: &str) -> Result<(), CliError> {
    write_bytes(path, redacted(text).as_bytes())
}

/// Writes a file that was asked for. In a run folder, which may come from somebody else, nothing
/// is written through a link.
pub fn write_bytes(path: &Path, content: &[u8]) -> Result<(), CliError> {
    let hint = "name a file in a folder that exists and can be written to with `--out FILE`";
    let folder = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Some(Path::new(".")),
        parent => parent,
    };
    let name = path.file_name().and_then(|name| name.to_str());
    if let (Some(folder), Some(name)) = (folder, name)
        && is_run_folder(folder)
    {
        return replace_file(folder, name, content).map_err(|error| store_error(&error).hint(hint));
    }
    fs::write(path, content).map_err(|error| {
        CliError::environment(format!("failed to write {}: {error}", path.display())).hint(hint)
    })
}
