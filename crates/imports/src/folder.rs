//! A run of the original Autocomp as it lies in a folder, or a single trace.

use crate::literal::{CANDIDATE, candidate};
use crate::tree::LeftOut;
use crate::{ImportError, OldRun, python_json};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Longest file that is read, in bytes.
const LONGEST: u64 = 64 << 20;
/// Entries of a folder that are looked at at most.
const MOST_ENTRIES: usize = 50_000;
/// Longest text of a failure that is kept, in bytes.
const LONGEST_FAILURE: usize = 4_000;

/// The file that tells a run folder.
pub const METADATA: &str = "run_metadata.json";

/// Returns the size of a file that is one itself, no link to one.
pub(crate) fn size(path: &Path) -> Result<u64, ImportError> {
    let failed = |message: String| ImportError::new(path, message);
    let metadata = fs::symlink_metadata(path).map_err(|error| failed(error.to_string()))?;
    match metadata.is_file() {
        true => Ok(metadata.len()),
        false => Err(failed("it is no file".to_owned())),
    }
}

/// Reads a file that is one itself, no link to one.
pub(crate) fn read(path: &Path) -> Result<String, ImportError> {
    let failed = |message: String| ImportError::new(path, message);
    let size = size(path)?;
    if LONGEST < size {
        return Err(failed(format!(
            "it has {size} bytes, and {LONGEST} are read at most"
        )));
    }
    fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

/// Returns the entries of a folder by name.
pub(crate) fn entries(folder: &Path) -> Result<BTreeMap<String, PathBuf>, ImportError> {
    let failed = |error: std::io::Error| ImportError::new(folder, error.to_string());
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        found.insert(
            entry.file_name().to_string_lossy().into_owned(),
            entry.path(),
        );
        if MOST_ENTRIES < found.len() {
            return Err(ImportError::new(
                folder,
                format!("it has more than {MOST_ENTRIES} entries"),
            ));
        }
    }
    Ok(found)
}

/// Returns the number in a name between a beginning and an end.
fn number(name: &str, before: &str, behind: &str) -> Option<u32> {
    name.strip_prefix(before)?
        .strip_suffix(behind)?
        .parse()
        .ok()
}

/// Returns the files of a folder with a number in their names, in its order.
fn numbered(folder: &Path, before: &str, behind: &str) -> Result<Vec<(u32, PathBuf)>, ImportError> {
    let of_entry = |(name, path): (String, PathBuf)| Some((number(&name, before, behind)?, path));
    let mut found: Vec<(u32, PathBuf)> =
        entries(folder)?.into_iter().filter_map(of_entry).collect();
    found.sort();
    Ok(found)
}

/// Reads what is at `path`: a run folder, or a file with one candidate and all that it was made
/// from.
///
/// # Errors
/// There is no run, or a file of it is unusable.
pub fn read_run(path: &Path) -> Result<OldRun, ImportError> {
    if path.is_file() {
        return read_trace(path);
    }
    let found = entries(path)?;
    let iterations = |before: &str| -> BTreeMap<u32, &PathBuf> {
        let numbers = found.iter();
        let numbers = numbers.filter_map(|(name, path)| Some((number(name, before, "")?, path)));
        numbers.collect()
    };
    let beams = iterations("candidates-iter-");
    if beams.is_empty() {
        let is_run = |(_, path): &(&String, &PathBuf)| path.join("candidates-iter-0").is_dir();
        let below: Vec<&str> = found
            .iter()
            .filter(is_run)
            .map(|(name, _)| name.as_str())
            .collect();
        return Err(match below.as_slice() {
            [] => ImportError::new(
                path,
                "it has no folder `candidates-iter-0`, so it is no run of Autocomp",
            ),
            names => ImportError::new(
                path,
                format!("it holds runs; name one of them: {}", names.join(", ")),
            ),
        });
    }
    let mut run = OldRun::default();
    match found.get(METADATA).map(|file| value_in(file)).transpose() {
        Ok(Some(metadata)) => {
            run.metadata = metadata;
            run.note_settings();
        }
        Ok(None) => run.unmapped.push(format!(
            "there is no {METADATA}: settings and models are those of the candidates"
        )),
        Err(error) => run.note_damaged(&error),
    }
    let results = iterations("eval-results-iter-");
    let numbers: BTreeSet<u32> = beams.keys().chain(results.keys()).copied().collect();
    let mut unread = found.clone();
    for iteration in numbers {
        if let Some(folder) = results.get(&iteration) {
            read_results(folder, iteration, &mut run)?;
            unread.extend(others(folder, "code_")?);
        }
        if let Some(folder) = beams.get(&iteration) {
            let mut beam = Vec::new();
            for (_, file) in numbered(folder, "candidate_", ".txt")? {
                let added = read(&file).and_then(|text| add(&file, &text, iteration, &mut run));
                match added {
                    Ok(added) => beam.extend(added),
                    Err(error) => run.note_damaged(&error),
                }
            }
            beam.dedup();
            run.beams.insert(iteration, beam);
            unread.extend(others(folder, "candidate_")?);
        }
    }
    run.note_unread(&unread);
    finish(path, run)
}

/// Returns what lies in a folder and is not called `part` and a number, by the folder and its
/// name.
fn others(folder: &Path, part: &str) -> Result<BTreeMap<String, PathBuf>, ImportError> {
    let is_known = |name: &str| {
        let number = name.strip_prefix(part);
        number.is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()))
    };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let below = entries(folder)?.into_iter();
    let below = below.filter(|(name, _)| !is_known(name));
    Ok(below
        .map(|(below, path)| (format!("{name}/{below}"), path))
        .collect())
}

/// Reads a file of JSON.
fn value_in(file: &Path) -> Result<Value, ImportError> {
    python_json::value(&read(file)?).map_err(|error| ImportError::new(file, error.to_string()))
}

/// Reads a file with one candidate.
fn read_trace(path: &Path) -> Result<OldRun, ImportError> {
    let mut run = OldRun::default();
    add(path, &read(path)?, 0, &mut run)?;
    run.unmapped.push(
        "a trace has neither settings nor what failed beside the way to its candidate".to_owned(),
    );
    finish(path, run)
}

fn finish(path: &Path, run: OldRun) -> Result<OldRun, ImportError> {
    let roots = run
        .tree
        .nodes
        .iter()
        .filter(|it| it.parent.is_none())
        .count();
    match roots {
        0 => Err(ImportError::new(
            path,
            match run.unmapped.iter().find(|it| it.contains(DAMAGED)) {
                Some(line) => format!("it has no candidate: {line}"),
                None => "it has no candidate".to_owned(),
            },
        )),
        1 => Ok(run),
        _ => Err(ImportError::new(
            path,
            format!(
                "it has {roots} kernels that were made from no other, and a run begins with one"
            ),
        )),
    }
}

fn add(
    file: &Path,
    text: &str,
    iteration: u32,
    run: &mut OldRun,
) -> Result<Option<usize>, ImportError> {
    let value = candidate(text).map_err(|error| ImportError::new(file, error.to_string()))?;
    let added = run.tree.add(value, iteration);
    if let Err(left_out) = added {
        let why = match left_out {
            LeftOut::NoCode => "a candidate without code",
            LeftOut::Stray => "a candidate that was made from no kernel of the run, not taken over",
        };
        run.unmapped.push(format!("{}: {why}", shown(file)));
    }
    Ok(added.ok())
}

/// Returns the last two parts of a path.
fn shown(path: &Path) -> String {
    let parts: Vec<_> = path
        .iter()
        .rev()
        .take(2)
        .map(|it| it.to_string_lossy())
        .collect();
    let parts: Vec<_> = parts.into_iter().rev().collect();
    parts.join("/")
}

/// Reads what became of all candidates of an iteration.
fn read_results(folder: &Path, iteration: u32, run: &mut OldRun) -> Result<(), ImportError> {
    for (_, file) in numbered(folder, "code_", "_result.txt")? {
        if let Err(error) = read_result(&file, iteration, run) {
            run.note_damaged(&error);
        }
    }
    Ok(())
}

/// Reads what became of a candidate.
fn read_result(file: &Path, iteration: u32, run: &mut OldRun) -> Result<(), ImportError> {
    let result = value_in(file)?;
    let whole = file
        .to_string_lossy()
        .replace("_result.txt", "_result_full.txt");
    let text = read(Path::new(&whole)).unwrap_or_default();
    // The candidate stands last; a program may have printed what looks like one.
    let mark = format!("\n{CANDIDATE}parent=");
    let begins = text.match_indices(&mark).map(|it| it.0);
    let mut added = None;
    for begin in begins {
        let one = add(Path::new(&whole), &text[begin..], iteration, run);
        let is_read = one.is_ok();
        // Of several that cannot be read, the first is told.
        if is_read || added.is_none() {
            added = Some(one);
        }
        if is_read {
            break;
        }
    }
    let Some(added) = added else {
        run.unmapped.push(format!(
            "{}: nothing tells of which kernel it is the result",
            shown(file)
        ));
        return Ok(());
    };
    let Some(added) = added? else { return Ok(()) };
    let field = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
    let is_so = |name: &str| result.get(name).and_then(Value::as_bool);
    let latency = result.get("latency").and_then(Value::as_f64);
    let unit = unit_in(field("stdout"));
    let is_other = unit.is_some() && run.unit.is_some() && unit != run.unit;
    let node = &mut run.tree.nodes[added];
    if is_other {
        node.is_wrong = true;
        node.failure = Some(format!(
            "its latency is told in {}, that of others in {}",
            unit.unwrap_or_default(),
            run.unit.as_deref().unwrap_or_default()
        ));
    } else if is_so("correct") != Some(true) {
        node.is_wrong = true;
        node.is_unbuilt |= is_so("compiled") == Some(false);
        node.failure = Some(last_lines(field("stderr"), field("stdout")));
    } else {
        run.unit = run.unit.take().or(unit);
        node.score = node.score.or(latency);
    }
    Ok(())
}

/// Returns the unit of the first latency that a program has printed.
fn unit_in(stdout: &str) -> Option<String> {
    let (_, behind) = stdout.split_once("Latency: ")?;
    let mut words = behind.split_whitespace();
    words.next()?.parse::<f64>().ok()?;
    words.next().map(str::to_owned)
}

pub(crate) fn last_lines(stderr: &str, stdout: &str) -> String {
    let text = match stderr.trim() {
        "" => stdout.trim(),
        stderr => stderr,
    };
    let mut from = text.len().saturating_sub(LONGEST_FAILURE);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text[from..].to_owned()
}

/// What is told of a file that cannot be read.
const DAMAGED: &str = "damaged, not taken over";

/// Settings of the original that have a counterpart here, or name what was searched.
const SETTINGS: [&str; 7] = [
    "beam_size",
    "num_plan_candidates",
    "num_code_candidates",
    "dropout_menu_options",
    "plan_models",
    "code_models",
    "problem",
];

impl OldRun {
    /// Notes a file that cannot be read.
    fn note_damaged(&mut self, error: &ImportError) {
        let (file, message) = (shown(&error.path), &error.message);
        self.unmapped.push(format!("{file}: {DAMAGED}: {message}"));
    }

    /// Notes settings that have no counterpart.
    fn note_settings(&mut self) {
        let names = self.metadata.as_object().into_iter().flatten();
        let names = names.map(|it| it.0.as_str());
        let others: Vec<&str> = names.filter(|it| !SETTINGS.contains(it)).collect();
        if !others.is_empty() {
            let others = others.join(", ");
            self.unmapped.push(format!("settings: {others}"));
        }
    }

    /// Notes what lies in the folder and was not read.
    fn note_unread(&mut self, found: &BTreeMap<String, PathBuf>) {
        let is_read = |name: &str| {
            name == METADATA
                || !name.contains('/')
                    && ["candidates-iter-", "eval-results-iter-"]
                        .iter()
                        .any(|it| name.starts_with(it))
        };
        let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
        for name in found.keys().filter(|name| !is_read(name)) {
            let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
        for (kind, count) in kinds {
            let kind = match kind.ends_with('-') {
                true => format!("{kind}*"),
                false => kind,
            };
            self.unmapped.push(format!("{kind} ({count}): not read"));
        }
    }
}
