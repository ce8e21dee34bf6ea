//! The files that are read: those that are named, those in folders, and those that an index
//! (`llms.txt`, `SKILL.md`) names beside it.

use super::block::Block;
use super::{Limits, Place, ReadError, html, markdown, notebook, pdf, source};
use encoding_rs::{Encoding, WINDOWS_1252};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Markdown,
    Html,
    Pdf,
    Notebook,
    Source,
    Text,
}

/// Endings of files, and what such files are.
const ENDINGS: &[(&str, Form)] = &[
    ("md", Form::Markdown),
    ("markdown", Form::Markdown),
    ("mdx", Form::Markdown),
    ("html", Form::Html),
    ("htm", Form::Html),
    ("xhtml", Form::Html),
    ("pdf", Form::Pdf),
    ("ipynb", Form::Notebook),
    ("txt", Form::Text),
    ("text", Form::Text),
    ("rst", Form::Text),
    ("adoc", Form::Text),
    ("tex", Form::Text),
    ("org", Form::Text),
];

/// Endings of programs.
const PROGRAMS: &str = "c h cc hh cpp hpp cxx hxx cu cuh py pyi rs scala sv svh v vh vhd s asm \
    inc td mlir ll java js ts go jl lua m mm metal cl hs ml toml yaml yml json cfg ini";

/// Names of files that name others beside them.
const INDICES: [&str; 3] = ["llms.txt", "llms-full.txt", "SKILL.md"];

/// Addresses that are told at most of those that an index names elsewhere.
const NAMED_ELSEWHERE: usize = 5;

/// A file to be read.
#[derive(Debug)]
pub struct File {
    /// Its name in citations.
    pub name: String,
    path: PathBuf,
    form: Form,
}

/// The files, and what is not read.
#[derive(Debug, Default)]
pub struct Gathered {
    /// In order.
    pub files: Vec<File>,
    /// One line each.
    pub unread: Vec<String>,
}

/// Finds the files at `paths`.
pub fn gather(paths: &[PathBuf], limits: &Limits) -> Result<Gathered, ReadError> {
    let mut gathering = Gathering {
        limits,
        out: Gathered::default(),
        known: BTreeSet::new(),
        names: BTreeSet::new(),
        indices: Vec::new(),
        endings: BTreeMap::new(),
    };
    for path in paths {
        let failed = |message: String| ReadError {
            path: path.clone(),
            message,
        };
        // The path itself may be a link: the user has named it.
        let metadata = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
        let resolved = path
            .canonicalize()
            .map_err(|error| failed(error.to_string()))?;
        let name = resolved.file_name();
        let name = name.map_or("documents".into(), |it| it.to_string_lossy());
        if metadata.is_dir() {
            gathering.folder(&resolved, &name, 0);
        } else if metadata.is_file() {
            gathering.named(&resolved, &name);
        } else {
            return Err(failed("it is neither a file nor a folder".to_owned()));
        }
    }
    for (path, name) in std::mem::take(&mut gathering.indices) {
        gathering.index(&path, &name, false);
    }
    let endings = std::mem::take(&mut gathering.endings);
    for (ending, count) in endings {
        let files = if count == 1 { "file" } else { "files" };
        gathering.unread(format!("{count} {files} of another kind ({ending})"));
    }
    Ok(gathering.out)
}

struct Gathering<'a> {
    limits: &'a Limits,
    out: Gathered,
    known: BTreeSet<PathBuf>,
    names: BTreeSet<String>,
    /// Indices in folders, and their names.
    indices: Vec<(PathBuf, String)>,
    /// How many files of other kinds there are, by their endings.
    endings: BTreeMap<String, usize>,
}

impl Gathering<'_> {
    fn folder(&mut self, path: &Path, name: &str, depth: usize) {
        if self.limits.depth < depth {
            self.unread(format!("{name}: folders are nested too deeply"));
            return;
        }
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => {
                self.unread(format!("{name}: {error}"));
                return;
            }
        };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let own = entry.file_name().to_string_lossy().into_owned();
            if own.starts_with('.') {
                continue;
            }
            let name = format!("{name}/{own}");
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => {
                    self.unread(format!("{name}: links are not followed"));
                }
                Ok(kind) if kind.is_dir() => self.folder(&entry.path(), &name, depth + 1),
                Ok(kind) if kind.is_file() => match form_of(&own) {
                    Some(form) => {
                        self.add(&entry.path(), &name, form);
                        if INDICES.contains(&own.as_str()) {
                            self.indices.push((entry.path(), name));
                        }
                    }
                    None => {
                        let ending = own.rsplit_once('.').map_or(own.as_str(), |it| it.1);
                        let ending: String = ending.chars().take(20).collect();
                        *self.endings.entry(ending).or_default() += 1;
                    }
                },
                Ok(_) => self.unread(format!("{name}: it is no file")),
                Err(error) => self.unread(format!("{name}: {error}")),
            }
        }
    }

    /// Adds a file that the user has named, and those that it names itself.
    fn named(&mut self, path: &Path, name: &str) {
        self.add(path, name, form_of(name).unwrap_or(Form::Text));
        if INDICES.contains(&name) {
            self.index(path, name, true);
        }
    }

    /// Tells what an index names elsewhere, and `adds` what it names beside it; where the index
    /// lies in a folder that is read, so does the latter.
    fn index(&mut self, path: &Path, name: &str, adds: bool) {
        let Some(folder) = path.parent() else { return };
        let Ok(bytes) = read(path, self.limits.text_bytes) else {
            return;
        };
        let folder_name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut elsewhere = Vec::new();
        for link in autocomp_knowledge::links(&String::from_utf8_lossy(&bytes)) {
            let link = link.split(['#', '?']).next().unwrap_or_default();
            if link.is_empty() {
                continue;
            }
            let relative = Path::new(link);
            let is_below = relative
                .components()
                .all(|it| matches!(it, Component::Normal(_) | Component::CurDir));
            let is_url = link.contains("://") || link.starts_with("mailto:");
            if is_url || !is_below {
                let found = folder.join(relative).canonicalize();
                if is_url || !found.is_ok_and(|it| self.known.contains(&it)) {
                    elsewhere.push(link.to_owned());
                }
                continue;
            }
            let target = folder.join(relative);
            let name = format!("{folder_name}/{}", relative.display());
            // A folder on the way may be a link that leads elsewhere.
            let is_own = target
                .canonicalize()
                .is_ok_and(|it| it == normal(&target) && it.is_file());
            match form_of(link) {
                Some(form) if is_own && adds => self.add(&normal(&target), &name, form),
                Some(_) if is_own && self.known.contains(&normal(&target)) => {}
                _ => self.unread(format!("{name}: it is not there, or no document")),
            }
        }
        if !elsewhere.is_empty() {
            let count = elsewhere.len();
            elsewhere.truncate(NAMED_ELSEWHERE);
            let further = if elsewhere.len() < count { ", …" } else { "" };
            let names = elsewhere.join(", ");
            self.unread(format!(
                "{name}: what it names elsewhere is not fetched ({count}: {names}{further})"
            ));
        }
    }

    fn add(&mut self, path: &Path, name: &str, form: Form) {
        if self.limits.files <= self.out.files.len() {
            let all = "further files: there are more than are read".to_owned();
            if self.out.unread.last() != Some(&all) {
                self.unread(all);
            }
            return;
        }
        if !self.known.insert(path.to_owned()) {
            return;
        }
        let mut free = name.to_owned();
        for number in 2_u32.. {
            if self.names.insert(free.clone()) {
                break;
            }
            free = format!("{name} ({number})");
        }
        self.out.files.push(File {
            name: free,
            path: path.to_owned(),
            form,
        });
    }

    fn unread(&mut self, line: String) {
        self.out.unread.push(line);
    }
}

/// Returns a path without parts that mean the folder itself.
fn normal(path: &Path) -> PathBuf {
    path.components()
        .filter(|it| !matches!(it, Component::CurDir))
        .collect()
}

fn form_of(name: &str) -> Option<Form> {
    if INDICES.contains(&name) || name == "README" {
        return Some(Form::Markdown);
    }
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    let found = ENDINGS.iter().find(|(it, _)| *it == ending);
    let is_program = || PROGRAMS.split_whitespace().any(|it| it == ending);
    found
        .map(|it| it.1)
        .or_else(|| is_program().then_some(Form::Source))
}

impl File {
    /// Reads the file.
    pub fn blocks(&self, limits: &Limits) -> Result<Vec<Block>, String> {
        let is_pdf = self.form == Form::Pdf;
        let most = match is_pdf {
            true => limits.pdf_bytes,
            false => limits.text_bytes,
        };
        let bytes = read(&self.path, most)?;
        if is_pdf {
            return pdf::blocks(&bytes);
        }
        let text = text_of(&bytes)?;
        Ok(match self.form {
            Form::Markdown => markdown::blocks(&text, &|first, last| Place::Lines(first, last)),
            Form::Html => html::blocks(&text),
            Form::Notebook => notebook::blocks(&text)?,
            Form::Source => source::blocks(&text),
            Form::Text | Form::Pdf => source::paragraphs(&text),
        })
    }
}

/// Reads a file that is one itself, no link to one.
fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    // A pipe in its place would otherwise be waited for.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
        .map_err(|error| error.to_string())?;
    let metadata = file.metadata().map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("it is no file".to_owned());
    }
    let too_long = || format!("it is longer than the {} MiB that are read", most >> 20);
    if most < metadata.len() {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    let read = file.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if most < bytes.len() as u64 {
        return Err(too_long());
    }
    Ok(bytes)
}

/// Returns the text of a file: that of the mark at its beginning, or UTF-8. Where more is broken
/// than not, the text is read as older pages are, in Windows-1252.
fn text_of(bytes: &[u8]) -> Result<String, String> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        let (text, _) = encoding.decode_without_bom_handling(&bytes[length..]);
        return Ok(text.into_owned());
    }
    if bytes.iter().take(8192).any(|byte| *byte == 0) {
        return Err("it is no text".to_owned());
    }
    let text = String::from_utf8_lossy(bytes);
    let n_broken = text.matches(char::REPLACEMENT_CHARACTER).count();
    let n_foreign = text.chars().filter(|c| !c.is_ascii()).count();
    if n_foreign < 2 * n_broken {
        return Ok(WINDOWS_1252
            .decode_without_bom_handling(bytes)
            .0
            .into_owned());
    }
    Ok(text.into_owned())
}
