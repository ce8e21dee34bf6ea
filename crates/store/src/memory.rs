//! The memory: lessons of earlier runs in one file, a JSON object on each line, which a
//! person can read and edit.

use crate::error::StoreError;
use autocomp_core::Lesson;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The most lessons that are kept; the oldest go first.
pub const MOST_LESSONS: usize = 500;
/// The largest file that is read, in bytes.
const LARGEST_FILE: u64 = 4 << 20;

/// The lessons in a file, the oldest first.
#[derive(Debug)]
pub struct Memory {
    path: PathBuf,
}

impl Memory {
    /// Names the file; it need not exist.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    /// Reads all lessons; none if there is no file. Texts are bounded, whoever wrote them.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is no lesson; the error names the line.
    pub fn read(&self) -> Result<Vec<Lesson>, StoreError> {
        let mut text = String::new();
        let file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            file => file.map_err(|error| self.failed("read", &error))?,
        };
        file.take(LARGEST_FILE + 1)
            .read_to_string(&mut text)
            .map_err(|error| self.failed("read", &error))?;
        if LARGEST_FILE < text.len() as u64 {
            return Err(self.corrupt(format!("it is larger than {LARGEST_FILE} bytes")));
        }
        let lines = (1..).zip(text.lines());
        lines
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(number, line)| {
                let lesson: Lesson = serde_json::from_str(line)
                    .map_err(|error| self.corrupt(format!("line {number}: {error}")))?;
                Ok(lesson.bounded())
            })
            .collect()
    }

    /// Lets `change` change the lessons, while no other process does, and returns what it
    /// returns. The file is replaced as a whole, so a process that dies leaves it as it was.
    ///
    /// # Errors
    /// As [`read`](Self::read), or the file cannot be written.
    pub fn change<T>(&self, change: impl FnOnce(&mut Vec<Lesson>) -> T) -> Result<T, StoreError> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| self.failed("create the folder of", &error))?;
        }
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.beside("lock"))
            .map_err(|error| self.failed("lock", &error))?;
        // Held until the file is closed; a process that dies lets it go.
        lock.lock().map_err(|error| self.failed("lock", &error))?;
        let mut lessons = self.read()?;
        let result = change(&mut lessons);
        let surplus = lessons.len().saturating_sub(MOST_LESSONS);
        lessons.drain(..surplus);
        let mut text = String::new();
        for lesson in lessons {
            text += &serde_json::to_string(&lesson.bounded()).expect("lessons are plain data");
            text.push('\n');
        }
        let new = self.beside("new");
        let written = File::create(&new).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        written
            .and_then(|()| fs::rename(&new, &self.path))
            .map_err(|error| self.failed("write", &error))?;
        Ok(result)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(".");
        name.push(ending);
        self.path.with_file_name(name)
    }

    fn failed(&self, action: &'static str, error: &io::Error) -> StoreError {
        StoreError::Memory {
            path: self.path.clone(),
            reason: format!("failed to {action} it: {error}"),
        }
    }

    fn corrupt(&self, reason: String) -> StoreError {
        StoreError::Memory {
            path: self.path.clone(),
            reason,
        }
    }
}
