//! The memory of earlier runs: what a run is told, and what it adds.

use crate::environment::data_home;
use crate::error::CliError;
use crate::output::Output;
use crate::run_errors::{run_error, store_error};
use crate::settings::Settings;
use autocomp_core::Lesson;
use autocomp_runner::{RunView, chosen, merge};
use autocomp_store::Memory;
use std::path::{Path, PathBuf};

/// Returns the file of lessons for those who name none.
pub fn default_memory() -> Result<PathBuf, CliError> {
    let folder = data_home().ok_or_else(|| {
        CliError::environment("no folder for the memory: HOME is not set")
            .hint("name the file: `--memory FILE`, or `autocomp memory --file FILE`")
    })?;
    Ok(folder.join("autocomp").join("memory.jsonl"))
}

/// Returns the lessons that a run is told, if it has a memory.
pub fn lessons_for(
    settings: &Settings,
    target: &str,
    problem: &str,
) -> Result<Vec<Lesson>, CliError> {
    let Some(path) = &settings.memory else {
        return Ok(Vec::new());
    };
    let lessons = Memory::new(path)
        .read()
        .map_err(|error| store_error(&error))?;
    Ok(chosen(&lessons, target, problem, settings.asking.lessons))
}

/// Puts the lessons of a finished run into its memory. A memory that cannot be written is
/// told of, and takes nothing from the run.
pub fn remember(memory: Option<&Path>, folder: &Path, output: Output) -> Result<(), CliError> {
    let Some(path) = memory else {
        return Ok(());
    };
    let view = RunView::open(folder).map_err(|error| run_error(&error))?;
    if view.search.finish().is_none() {
        return Ok(());
    }
    let lessons = view.lessons().map_err(|error| run_error(&error))?;
    let count = lessons.len();
    match Memory::new(path).change(|known| merge(known, lessons)) {
        Ok(()) => output.message(format!(
            "{count} lessons of this run are in {}",
            path.display()
        )),
        Err(error) => output.message(format!("note: {error}; {}", error.remedy())),
    }
    Ok(())
}
