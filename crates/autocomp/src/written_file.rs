//! Files that commands write where the user says.

use crate::error::CliError;
use crate::output::redacted;
use crate::run_errors::store_error;
use autocomp_store::{is_run_folder, replace_file};
use std::fs;
use std::path::Path;

/// Refuses a place for a kernel at which a file is, unless it `may_replace` it, and one in no
/// folder: before the kernel is asked for, which may cost something.
pub fn check_place(path: &Path, may_replace: bool) -> Result<(), CliError> {
    let shown = path.display();
    let refused = |what: &str| Err(CliError::usage(format!("{shown} {what}")));
    if path.is_dir() {
        return refused("is a folder")
            .map_err(|error| error.hint("name a file in it with `--output FILE`"));
    }
    if path.is_file() && !may_replace {
        return refused("is there already").map_err(|error| {
            error.hint("name another file with `--output`, or give `--overwrite`")
        });
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    if folder.is_some_and(|it| !it.is_dir()) {
        return refused("stands in no folder")
            .map_err(|error| error.hint("make the folder, or name another file with `--output`"));
    }
    Ok(())
}

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
