//! The folder that a client cannot leave.

use crate::calls::Refusal;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Longest name or path, in bytes.
const LONGEST_NAME: usize = 200;
/// Longest kernel that a client hands over, in bytes.
const LONGEST_KERNEL: usize = 1 << 20;
/// Bytes of kernels and answers that are written at most.
const MOST_WRITTEN: u64 = 256 << 20;
/// Entries of a run folder that are looked at; an honest one has a handful.
const MOST_ENTRIES: usize = 10_000;

/// The folder, and what was written into it.
pub struct Place {
    folder: PathBuf,
    written: AtomicU64,
    number: AtomicU64,
}

impl Place {
    pub fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            written: AtomicU64::new(0),
            number: AtomicU64::new(0),
        }
    }

    /// Returns a path as a client reads it: from the folder.
    pub fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        below.display().to_string()
    }

    /// Returns where something that is there lies, if that is below the folder.
    fn existing(&self, what: &str, name: &str) -> Result<PathBuf, Refusal> {
        let path = Path::new(name);
        let is_plain = |part: Component<'_>| match part {
            Component::Normal(part) => !part.as_encoded_bytes().starts_with(b"."),
            Component::RootDir => true,
            _ => false,
        };
        let below = path.strip_prefix(&self.folder).unwrap_or(path);
        if name.is_empty()
            || LONGEST_NAME < below.as_os_str().len()
            || name.contains('\0')
            || !below.components().all(is_plain)
        {
            return Err(outside(what, name));
        }
        let found = self.folder.join(below).canonicalize();
        let found = found.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Refusal::new(format!("there is no {what} `{name}`")),
            _ => Refusal::new(format!("the {what} `{name}` cannot be reached: {error}")),
        })?;
        match found.starts_with(&self.folder) {
            true => Ok(found),
            // A link that leads out.
            false => Err(outside(what, name)),
        }
    }

    /// Returns whether something of this name is in the folder, if only a link that leads nowhere.
    pub fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.folder.join(name)).is_ok()
    }

    /// Returns the path of a file below the folder.
    pub fn file(&self, what: &str, name: &str) -> Result<PathBuf, Refusal> {
        let path = self.existing(what, name)?;
        match path.is_file() {
            true => Ok(path),
            false => Err(Refusal::new(format!("`{name}` is no file"))),
        }
    }

    /// Checks the name of a problem: one of the catalog, or a folder below the folder.
    pub fn problem<'a>(&self, name: &'a str) -> Result<&'a str, Refusal> {
        let name = word("a problem", name, "/")?;
        if self.folder.join(name).exists() {
            self.whole("problem", name)?;
        }
        Ok(name)
    }

    /// Returns the path of a run below the folder: `runs/NAME`, or `NAME` alone.
    pub fn run(&self, name: &str) -> Result<PathBuf, Refusal> {
        let name = word("a run", name, "/")?;
        let in_runs = format!("runs/{name}");
        let name = match self.folder.join(name).exists() {
            true => name,
            false => &in_runs,
        };
        let path = self.whole("run", name)?;
        match path.join("run.sqlite").is_file() {
            true => Ok(path),
            false => Err(Refusal::new(format!("`{name}` is no run folder"))),
        }
    }

    /// Returns the path of a folder of which nothing leads out.
    fn whole(&self, what: &str, name: &str) -> Result<PathBuf, Refusal> {
        let path = self.existing(what, name)?;
        match leads_out(&path) {
            true => Err(Refusal::new(format!(
                "a link in the {what} `{name}` leads out of it, or it has more than {MOST_ENTRIES} entries"
            ))),
            false => Ok(path),
        }
    }

    /// Returns the names of what lies in `runs` and is, or has, a link that leads out.
    pub fn runs_outside(&self) -> Result<Vec<OsString>, Refusal> {
        let runs = self.folder.join("runs");
        if fs::symlink_metadata(&runs).is_err() {
            return Ok(Vec::new());
        }
        let runs = self.existing("folder", "runs")?;
        let entries = fs::read_dir(&runs).into_iter().flatten().flatten();
        let outside = entries.filter(|entry| {
            let path = entry.path().canonicalize();
            path.map_or(true, |it| !it.starts_with(&self.folder) || leads_out(&it))
        });
        Ok(outside.map(|it| it.file_name()).collect())
    }

    /// Returns the folder of a run that is not there yet, and its name.
    pub fn new_run(&self, wanted: Option<&str>, usual: &str) -> Result<(String, PathBuf), Refusal> {
        let runs = self.made("runs")?;
        if let Some(name) = wanted {
            let name = word("a run", name, "")?;
            let path = runs.join(name);
            return match path.exists() {
                true => Err(
                    Refusal::new(format!("there is a run `runs/{name}` already"))
                        .hint("name another, or leave `name` out"),
                ),
                false => Ok((format!("runs/{name}"), path)),
            };
        }
        let free = (1..).find_map(|number| {
            let name = match number {
                1 => usual.to_owned(),
                _ => format!("{usual}-{number}"),
            };
            let path = runs.join(&name);
            (!path.exists()).then(|| (format!("runs/{name}"), path))
        });
        free.ok_or_else(|| Refusal::new("there is no name left for the run"))
    }

    /// Makes a folder below the folder, unless it is there, and returns its path.
    fn made(&self, name: &str) -> Result<PathBuf, Refusal> {
        let made = fs::create_dir_all(self.folder.join(name));
        made.map_err(|error| Refusal::new(format!("the folder `{name}` cannot be made: {error}")))?;
        self.existing("folder", name)
    }

    /// Makes a new folder in `within`, which nobody else has, and returns its path.
    pub fn fresh_folder(&self, within: &str) -> Result<PathBuf, Refusal> {
        let folder = self.made(within)?;
        loop {
            let number = self.number.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(number.to_string());
            match fs::create_dir(&path) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(Refusal::new(format!(
                        "a folder in `{within}` cannot be made: {error}"
                    )));
                }
            }
        }
    }

    /// Keeps a kernel that a client hands over; equal kernels are one file.
    pub fn keep_kernel(&self, source: &str, extension: &str) -> Result<PathBuf, Refusal> {
        if LONGEST_KERNEL < source.len() {
            return Err(Refusal::new(format!(
                "the kernel has {} bytes, and {LONGEST_KERNEL} are taken at most",
                source.len()
            )));
        }
        let hash = blake3::hash(source.as_bytes()).to_hex();
        let name = format!("k-{}.{extension}", &hash[..12]);
        self.write("kernels", &name, source)
    }

    /// Keeps a long answer, and returns where.
    pub fn keep_answer(&self, tool: &str, text: &str, extension: &str) -> Result<PathBuf, Refusal> {
        let hash = blake3::hash(text.as_bytes()).to_hex();
        self.write(
            "answers",
            &format!("{tool}-{}.{extension}", &hash[..12]),
            text,
        )
    }

    fn write(&self, within: &str, name: &str, text: &str) -> Result<PathBuf, Refusal> {
        let path = self.made(within)?.join(name);
        if fs::symlink_metadata(&path).is_ok() {
            return self.file("file", &format!("{within}/{name}"));
        }
        let length = text.len() as u64;
        if MOST_WRITTEN < self.written.fetch_add(length, Ordering::Relaxed) + length {
            return Err(Refusal::new("this server has written as much as it may"));
        }
        let file = File::options().write(true).create_new(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| {
            Refusal::new(format!("`{within}/{name}` cannot be written: {error}"))
        })?;
        Ok(path)
    }
}

/// Returns up to `most` bytes of a text file from `offset` on, moved to whole characters, with
/// the offset behind them and the file's length.
pub fn page(path: &Path, offset: u64, most: usize) -> Result<(String, u64, u64), Refusal> {
    let failed = |error: io::Error| Refusal::new(format!("the file cannot be read: {error}"));
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(most as u64)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    let n_before = bytes
        .iter()
        .take(4)
        .take_while(|it| **it & 0xc0 == 0x80)
        .count();
    let bytes = &bytes[n_before..];
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character goes on behind.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return Err(Refusal::new("the file is no text")),
    };
    let end = offset + n_before as u64 + text.len() as u64;
    Ok((text.to_owned(), end, length))
}

fn outside(what: &str, name: &str) -> Refusal {
    let shown: String = name.chars().take(LONGEST_NAME).collect();
    Refusal::new(format!("the {what} `{shown}` is not below the folder of this server"))
        .hint("name it by its path from that folder, without `..` and without names that begin with a dot")
}

/// Returns a word that is one of those that it may be: no flag, no path out of the folder.
pub fn word<'a>(what: &str, text: &'a str, also: &str) -> Result<&'a str, Refusal> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c) || also.contains(c);
    let is_good = text.len() <= LONGEST_NAME
        && text.chars().all(is_plain)
        && text
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with(['.', '-']));
    let slashes = if also.contains('/') { ", slashes" } else { "" };
    match is_good {
        true => Ok(text),
        false => Err(Refusal::new(format!(
            "{what} may have letters, digits, dots, dashes{slashes} and underscores only, and no part \
             that begins with a dot or a dash"
        ))
        .hint(format!("it was given as `{}`", text.escape_debug().to_string().chars().take(LONGEST_NAME).collect::<String>()))),
    }
}

/// Returns whether a link in a folder leads out of it, or there are too many entries to tell.
fn leads_out(path: &Path) -> bool {
    let mut open = vec![path.to_owned()];
    let mut n_entries = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            n_entries += 1;
            let kind = entry.file_type().ok();
            let target = || entry.path().canonicalize();
            let is_out = kind.is_none_or(|it| it.is_symlink())
                && !target().is_ok_and(|it| it.starts_with(path));
            if is_out || MOST_ENTRIES < n_entries {
                return true;
            }
            if kind.is_some_and(|it| it.is_dir()) {
                open.push(entry.path());
            }
        }
    }
    false
}
