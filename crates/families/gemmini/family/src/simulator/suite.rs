//! Suites of programs whose cycles were measured: the built-in one, and those of the user's.

use autocomp_eval::EvalError;
use autocomp_eval::given_file::{LARGEST_PROGRAM, read_file, read_text};
use autocomp_gemmini_sim::CalibrationSuite;
use std::fs;
use std::path::Path;

/// The suite that the simulator is calibrated with, packed when the program is built.
const BUILT_IN_SUITE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/calibration.zst"));

/// Returns the files of the built-in suite by name.
fn built_in_files() -> Result<Vec<(String, Vec<u8>)>, EvalError> {
    autocomp_packed_files::unpack(BUILT_IN_SUITE)
        .map_err(|error| EvalError::Fault(format!("the built-in suite is broken: {error}")))
}

/// Returns the built-in suite with its table of this name.
pub fn built_in_suite(counts: &str) -> Result<CalibrationSuite, EvalError> {
    let (tables, files): (Vec<_>, Vec<_>) = built_in_files()?
        .into_iter()
        .partition(|(name, _)| name.ends_with(".tsv"));
    let table = tables.iter().find(|(name, _)| name == counts);
    let (_, table) = table.ok_or_else(|| {
        let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
        EvalError::Usage {
            message: format!("the built-in suite has no table {counts}"),
            remedies: vec![format!("it has {}", names.join(" and "))],
        }
    })?;
    let counts = String::from_utf8_lossy(table).into_owned();
    let mut programs: Vec<(String, Vec<u8>)> = files
        .into_iter()
        .filter_map(|(name, content)| Some((name.strip_prefix("elf/")?.to_owned(), content)))
        .collect();
    programs.sort();
    Ok(CalibrationSuite { programs, counts })
}

/// Reads the suite of a folder, with the table of this name in it.
pub fn read_suite(folder: &Path, counts: &str) -> Result<CalibrationSuite, EvalError> {
    let unreadable = |path: &Path, error: std::io::Error| {
        EvalError::Input {
            message: format!("failed to read {}: {error}", path.display()),
            remedies: vec!["a suite is a folder with `elf/*.elf` and a table such as `cycles.tsv`: `--suite FOLDER`; without it, the built-in one is taken".to_owned()],
        }
    };
    let table = folder.join(counts);
    let counts = read_text(&table).map_err(|error| unreadable(&table, error))?;
    let elf = folder.join("elf");
    let mut programs = Vec::new();
    for entry in fs::read_dir(&elf).map_err(|error| unreadable(&elf, error))? {
        let path = entry.map_err(|error| unreadable(&elf, error))?.path();
        if path.extension().is_some_and(|extension| extension == "elf") {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            programs.push((
                name,
                read_file(&path, LARGEST_PROGRAM).map_err(|error| unreadable(&path, error))?,
            ));
        }
    }
    programs.sort();
    Ok(CalibrationSuite { programs, counts })
}
