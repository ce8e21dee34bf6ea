//! Files of others, and files for others.

use crate::KnowledgeError;
use std::fs;
use std::path::{Path, PathBuf};
use yaml_rust2::parser::{Event, EventReceiver, Parser};
use yaml_rust2::{Yaml, YamlLoader};

/// Longest file that is read, in bytes.
const LONGEST: u64 = 16 << 20;

/// Reads a text file that is one itself, no link to one.
pub fn read(path: &Path) -> Result<String, KnowledgeError> {
    let failed = |message: String| KnowledgeError::new(path, message);
    let metadata = fs::symlink_metadata(path).map_err(|error| failed(error.to_string()))?;
    if !metadata.is_file() {
        return Err(failed("it is no file".to_owned()));
    }
    if LONGEST < metadata.len() {
        return Err(failed(format!("it is longer than {LONGEST} bytes")));
    }
    fs::read_to_string(path).map_err(|error| failed(error.to_string()))
}

/// Reads a text file, if it is there.
pub fn read_if_there(path: &Path) -> Result<Option<String>, KnowledgeError> {
    match path.exists() {
        true => read(path).map(Some),
        false => Ok(None),
    }
}

/// Writes files below a folder that has none of them.
pub fn write_all(
    folder: &Path,
    files: &[(String, Vec<u8>)],
) -> Result<Vec<PathBuf>, KnowledgeError> {
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.join(name)).collect();
    if let Some(path) = paths.iter().find(|it| it.exists()) {
        return Err(KnowledgeError::new(path, "it is there already"));
    }
    for (path, (_, bytes)) in paths.iter().zip(files) {
        let below = path.parent().unwrap_or(folder);
        let written = fs::create_dir_all(below).and_then(|()| fs::write(path, bytes));
        written.map_err(|error| KnowledgeError::new(path, error.to_string()))?;
    }
    Ok(paths)
}

/// Notes whether a document repeats parts of itself.
#[derive(Default)]
struct Repetitions(bool);

impl EventReceiver for Repetitions {
    fn on_event(&mut self, event: Event) {
        self.0 |= matches!(event, Event::Alias(_));
    }
}

/// Reads a YAML document. One that repeats parts of itself is refused: it may be small and
/// mean more than fits into memory.
pub fn yaml(path: &Path, text: &str) -> Result<Yaml, KnowledgeError> {
    let failed = |error: String| KnowledgeError::new(path, error);
    let mut repetitions = Repetitions::default();
    let parsed = Parser::new_from_str(text).load(&mut repetitions, false);
    parsed.map_err(|error| failed(error.to_string()))?;
    if repetitions.0 {
        return Err(failed(
            "it repeats parts of itself (`*name`), which is not read".to_owned(),
        ));
    }
    let documents = YamlLoader::load_from_str(text).map_err(|error| failed(error.to_string()))?;
    Ok(documents.into_iter().next().unwrap_or(Yaml::Null))
}
