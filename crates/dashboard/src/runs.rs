//! The runs below a folder: read beforehand, kept up with their journals, and read again
//! only as far as they have changed.
//!
//! One thread looks at the folder as long as anybody asks. Lists are made of what it has
//! found so far, so they never wait for a journal to be read; a page of one run waits for
//! that run alone. The newest are kept whole, since they are opened first; of others that
//! nobody looks at and nobody works on, no more is kept than their line of the list.

use crate::answers::summary;
use autocomp_reports::RunData;
use autocomp_runner::RunView;
use autocomp_store::{list_runs, live_holder};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// How far below the folder runs are looked for.
const DEEPEST: usize = 4;
/// Folders looked into at most.
const MOST_FOLDERS: usize = 5_000;
/// Runs kept whole in memory at most, besides those that are worked on.
const MOST_KEPT: usize = 8;
/// Of these, the newest that are kept before anybody opens them.
const MOST_AHEAD: usize = 2;
/// How often the runs are looked at.
const PERIOD: Duration = Duration::from_millis(700);
/// How long the runs are looked at after somebody asked last.
const AWAKE: Duration = Duration::from_secs(20);
/// How long a list waits for the folder to be looked at for the first time.
const FIRST_LOOK: Duration = Duration::from_millis(300);

/// The runs below a folder.
pub struct Runs {
    folder: PathBuf,
    known: Mutex<Known>,
    asked: Condvar,
}

#[derive(Default)]
struct Known {
    slots: BTreeMap<String, Arc<Slot>>,
    /// Whether the folder was looked at.
    is_seen: bool,
    last_asked: Option<Instant>,
    /// Names of runs that were opened, the latest last.
    recent: Vec<String>,
}

/// A run folder.
struct Slot {
    folder: PathBuf,
    /// What a list says of it; nothing as long as it was not read.
    line: Mutex<Option<Line>>,
    /// What the folder was like when the line was made.
    seen: Mutex<Option<Mark>>,
    whole: Mutex<Option<Whole>>,
}

#[derive(Clone)]
enum Line {
    Read(Arc<Value>),
    Damaged(String),
}

/// A run as it is in memory.
struct Whole {
    view: RunView,
    data: RunData,
    mark: Mark,
}

/// What tells that nothing was written to a run folder.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mark {
    files: Vec<Option<(u64, SystemTime)>>,
    holder: Option<String>,
}

impl Mark {
    fn of(folder: &Path) -> Self {
        let names = ["run.sqlite", "run.sqlite-wal", "references.json"];
        let file = |name: &str| {
            let about = fs::metadata(folder.join(name)).ok()?;
            Some((about.len(), about.modified().ok()?))
        };
        Self {
            files: names.into_iter().map(file).collect(),
            holder: live_holder(folder),
        }
    }
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
    // What is kept is replaced as a whole, or thrown away when an update of it fails.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs {
    /// Begins to look at the runs below a folder.
    pub fn new(folder: PathBuf) -> Arc<Self> {
        let known = Known {
            last_asked: Some(Instant::now()),
            ..Known::default()
        };
        let runs = Arc::new(Self {
            folder,
            known: Mutex::new(known),
            asked: Condvar::new(),
        });
        let weak = Arc::downgrade(&runs);
        // Without this thread, runs are read when they are asked for, and lists stay short.
        let _ = thread::Builder::new()
            .name("runs".to_owned())
            .spawn(move || watch(&weak));
        runs
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the folder of the run with a name, if there is one.
    pub fn folder_of(&self, name: &str) -> Option<PathBuf> {
        self.find(name).map(|slot| slot.folder.clone())
    }

    /// Returns the run folders by name: their path below the folder, `.` for itself.
    fn folders(&self) -> BTreeMap<String, PathBuf> {
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

    /// Looks at the folder: new runs get a slot, those that are gone lose it.
    fn look(&self) -> Vec<(String, Arc<Slot>)> {
        let folders = self.folders();
        let mut known = locked(&self.known);
        known
            .slots
            .retain(|name, slot| folders.get(name) == Some(&slot.folder));
        for (name, folder) in folders {
            known.slots.entry(name).or_insert_with(|| {
                Arc::new(Slot {
                    folder,
                    line: Mutex::default(),
                    seen: Mutex::default(),
                    whole: Mutex::default(),
                })
            });
        }
        known.is_seen = true;
        self.asked.notify_all();
        let slots = known.slots.iter();
        slots
            .map(|(name, slot)| (name.clone(), Arc::clone(slot)))
            .collect()
    }

    /// Notes that somebody asks, which keeps the runs being looked at.
    fn ask(&self) -> MutexGuard<'_, Known> {
        let mut known = locked(&self.known);
        known.last_asked = Some(Instant::now());
        self.asked.notify_all();
        known
    }

    /// Returns the slot of a run. Names come from requests: only folders that were found by
    /// looking are ever opened.
    fn find(&self, name: &str) -> Option<Arc<Slot>> {
        if let Some(slot) = self.ask().slots.get(name) {
            return Some(Arc::clone(slot));
        }
        let slots = self.look();
        let found = slots.into_iter().find(|slot| slot.0 == name);
        found.map(|(_, slot)| slot)
    }

    /// Works out an answer from a run as it is now.
    ///
    /// # Errors
    /// There is no such run, or it cannot be read: in words.
    pub fn with<T>(&self, name: &str, answer: impl FnOnce(&RunData) -> T) -> Result<T, String> {
        let slot = self.find(name).ok_or("there is no such run")?;
        {
            let mut known = locked(&self.known);
            known.recent.retain(|it| it != name);
            known.recent.push(name.to_owned());
            if MOST_KEPT < known.recent.len() {
                known.recent.remove(0);
            }
        }
        let mut whole = locked(&slot.whole);
        slot.refresh(name, &mut whole)?;
        let whole = whole.as_ref().ok_or("the run cannot be read")?;
        Ok(answer(&whole.data))
    }

    /// Returns the lines of all runs, those included that were not read yet, and those that
    /// cannot be read.
    pub fn lines(&self) -> (Vec<Arc<Value>>, Vec<Damaged>) {
        let mut known = self.ask();
        if !known.is_seen {
            let waited = self.asked.wait_timeout(known, FIRST_LOOK);
            known = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let slots: Vec<(String, Arc<Slot>)> = known
            .slots
            .iter()
            .map(|(name, slot)| (name.clone(), Arc::clone(slot)))
            .collect();
        drop(known);
        let (mut lines, mut damaged) = (Vec::new(), Vec::new());
        for (name, slot) in slots {
            let line = locked(&slot.line).clone();
            match line {
                None => lines.push(Arc::new(json!({ "run": name, "unread": true }))),
                Some(Line::Read(line)) => lines.push(line),
                Some(Line::Damaged(message)) => damaged.push(Damaged { run: name, message }),
            }
        }
        (lines, damaged)
    }

    /// Brings everything up to date once.
    fn refresh(&self) {
        let slots = self.look();
        let mut order: Vec<&(String, Arc<Slot>)> = slots.iter().collect();
        // Whoever opens the page looks for the newest run first.
        order.sort_by_cached_key(|it| std::cmp::Reverse(Mark::of(&it.1.folder).files));
        for (place, (name, slot)) in order.into_iter().enumerate() {
            let mut whole = locked(&slot.whole);
            let is_unread = locked(&slot.line).is_none();
            if whole.is_none() && !is_unread && !slot.is_changed() {
                continue;
            }
            // What went wrong stands in the line.
            let _ = slot.refresh(name, &mut whole);
            let is_live = whole.as_ref().is_some_and(|it| it.mark.holder.is_some());
            let is_kept = is_live || place < MOST_AHEAD;
            if !is_kept && !locked(&self.known).recent.contains(name) {
                *whole = None;
            }
        }
    }
}

impl Slot {
    /// Returns whether something was written since the line was made.
    fn is_changed(&self) -> bool {
        *locked(&self.seen) != Some(Mark::of(&self.folder))
    }

    /// Reads on if anything was written, and renews the line.
    fn refresh(&self, name: &str, whole: &mut Option<Whole>) -> Result<(), String> {
        let mark = Mark::of(&self.folder);
        if whole.as_ref().is_some_and(|whole| whole.mark == mark) {
            return Ok(());
        }
        let read = match whole.take() {
            Some(mut it) => it.view.read_on().map(|_| {
                it.data.update(&it.view);
                it.mark = mark.clone();
                it
            }),
            None => RunView::open(&self.folder).map(|view| Whole {
                data: RunData::of(&view),
                mark: mark.clone(),
                view,
            }),
        };
        *locked(&self.seen) = Some(mark);
        match read {
            Ok(read) => {
                let line = Line::Read(Arc::new(summary(name, &read.data)));
                *locked(&self.line) = Some(line);
                *whole = Some(read);
                Ok(())
            }
            Err(error) => {
                let message = error.to_string();
                *locked(&self.line) = Some(Line::Damaged(message.clone()));
                Err(message)
            }
        }
    }
}

/// Looks at the runs from time to time, as long as anybody asks and the server is there.
fn watch(runs: &Weak<Runs>) {
    while let Some(runs) = runs.upgrade() {
        let known = locked(&runs.known);
        if known.last_asked.is_none_or(|at| AWAKE < at.elapsed()) {
            // A while only, so that the end of the server is noticed.
            let _ = runs.asked.wait_timeout(known, Duration::from_secs(2));
            continue;
        }
        drop(known);
        runs.refresh();
        drop(runs);
        thread::sleep(PERIOD);
    }
}
