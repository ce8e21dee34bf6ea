//! The runs below a folder, read when they are asked for and kept as long as they do not
//! change.

use autocomp_reports::RunData;
use autocomp_runner::{RunState, RunView};
use autocomp_store::list_runs;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How far below the folder runs are looked for.
const DEEPEST: usize = 4;
/// Folders looked into at most.
const MOST_FOLDERS: usize = 5_000;
/// Runs kept in memory at most.
const MOST_KEPT: usize = 64;

/// The runs below a folder.
pub struct Runs {
    folder: PathBuf,
    kept: Mutex<BTreeMap<String, Arc<Mutex<Kept>>>>,
}

struct Kept {
    view: RunView,
    data: Arc<RunData>,
    references: usize,
    was_live: bool,
}

/// A run that cannot be read.
#[derive(Debug, Serialize)]
pub struct Damaged {
    /// Its name.
    pub run: String,
    /// Why.
    pub message: String,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept is replaced as a whole, never left half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            kept: Mutex::default(),
        }
    }

    /// Returns the run folders by name: their path below the folder, `.` for itself.
    pub fn folders(&self) -> BTreeMap<String, PathBuf> {
        let mut found = BTreeMap::new();
        if self.folder.join("run.sqlite").is_file() {
            found.insert(".".to_owned(), self.folder.clone());
            return found;
        }
        let mut waiting = vec![(self.folder.clone(), 0)];
        let mut n_folders = 0;
        while let Some((folder, depth)) = waiting.pop() {
            n_folders += 1;
            if MOST_FOLDERS < n_folders {
                break;
            }
            let runs = list_runs(&folder).unwrap_or_default();
            for run in &runs {
                found.insert(self.name(run), run.clone());
            }
            if depth == DEEPEST {
                continue;
            }
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                let path = entry.path();
                if is_folder && !is_hidden && !runs.contains(&path) {
                    waiting.push((path, depth + 1));
                }
            }
        }
        found
    }

    fn name(&self, run: &Path) -> String {
        let below = run.strip_prefix(&self.folder).unwrap_or(run);
        below.to_string_lossy().into_owned()
    }

    /// Returns a run as it is now.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read: in words.
    pub fn get(&self, name: &str) -> Result<Arc<RunData>, String> {
        let kept = locked(&self.kept).get(name).cloned();
        if let Some(kept) = kept {
            return locked(&kept).fresh();
        }
        // Names come from requests: only those that were found are opened.
        let folders = self.folders();
        let folder = folders.get(name).ok_or("there is no such run")?;
        let view = RunView::open(folder).map_err(|error| error.to_string())?;
        let data = Arc::new(RunData::of(&view));
        let mut all = locked(&self.kept);
        if MOST_KEPT <= all.len() {
            all.pop_first();
        }
        let kept = Kept {
            was_live: data.is_live(),
            references: data.references.len(),
            data: Arc::clone(&data),
            view,
        };
        all.insert(name.to_owned(), Arc::new(Mutex::new(kept)));
        Ok(data)
    }

    /// Returns all runs, and those that cannot be read.
    pub fn all(&self) -> (Vec<(String, Arc<RunData>)>, Vec<Damaged>) {
        let (mut runs, mut damaged) = (Vec::new(), Vec::new());
        for name in self.folders().into_keys() {
            match self.get(&name) {
                Ok(run) => runs.push((name, run)),
                Err(message) => damaged.push(Damaged { run: name, message }),
            }
        }
        (runs, damaged)
    }
}

impl Kept {
    /// Reads on, and returns what the run is now.
    fn fresh(&mut self) -> Result<Arc<RunData>, String> {
        let n_new = self.view.read_on().map_err(|error| error.to_string())?;
        let references = autocomp_reports::references(&self.data.report.run).len();
        // A process that ends without having finished its run leaves no event.
        let is_live = matches!(self.view.state(), RunState::Running { .. });
        if 0 < n_new || is_live != self.was_live || references != self.references {
            self.data = Arc::new(RunData::of(&self.view));
            self.was_live = is_live;
            self.references = references;
        }
        Ok(Arc::clone(&self.data))
    }
}
