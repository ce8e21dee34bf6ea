//! A folder of files in memory, whether built in or a user's own.

use crate::error::{CatalogError, Invalid};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The files of the built-in folders by their paths, packed in every profile, so that what is
/// tested is what is shipped.
static BUILT_IN: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/built_in.zst"));
    autocomp_packed_files::unpack(packed).expect("what the build script packed is whole")
});

/// Largest file that is read from a user's folder, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Most files that are read from a user's folder.
const MAX_FILES: usize = 10_000;
/// Deepest nesting that is followed in a user's folder.
const MAX_DEPTH: usize = 12;

/// Files by relative path, with `/` between components.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// What to print before a relative path.
    prefix: String,
    files: BTreeMap<String, File>,
}

#[derive(Clone, Debug)]
struct File {
    /// The path as the user knows it.
    origin: String,
    data: Cow<'static, [u8]>,
}

impl Tree {
    /// Returns the built-in targets, problems and suites, in folders of these names.
    pub(crate) fn built_in() -> Self {
        let file = |(path, data): &'static (String, Vec<u8>)| {
            let file = File {
                origin: path.clone(),
                data: Cow::Borrowed(data),
            };
            (path.clone(), file)
        };
        let files = BUILT_IN.iter().map(file).collect();
        Self {
            prefix: String::new(),
            files,
        }
    }

    /// Reads a user's folder. Hidden files are left out.
    ///
    /// # Errors
    /// If the folder or a file in it cannot be read, or it is far larger than
    /// a folder of targets and problems can be.
    pub(crate) fn read(root: &Path) -> Result<Self, CatalogError> {
        let mut files = BTreeMap::new();
        let prefix = format!("{}/", root.display());
        read_folder(root, &prefix, "", 0, &mut files)?;
        Ok(Self { prefix, files })
    }

    /// Returns the part below `folder` (with no trailing slash; empty for all).
    pub(crate) fn below(&self, folder: &str) -> Self {
        if folder.is_empty() {
            return self.clone();
        }
        let start = format!("{folder}/");
        let files = self
            .files
            .iter()
            .filter_map(|(path, file)| {
                path.strip_prefix(&start)
                    .map(|rest| (rest.to_owned(), file.clone()))
            })
            .collect();
        Self {
            prefix: format!("{}{start}", self.prefix),
            files,
        }
    }

    /// Returns this tree with the files of `under` where it has none, except
    /// those that `own` names as never shared.
    pub(crate) fn over(&self, under: &Self, own: impl Fn(&str) -> bool) -> Self {
        let mut files = self.files.clone();
        for (path, file) in &under.files {
            if !own(path) {
                files.entry(path.clone()).or_insert_with(|| file.clone());
            }
        }
        Self {
            prefix: self.prefix.clone(),
            files,
        }
    }

    /// Returns every path with its content, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files
            .iter()
            .map(|(path, file)| (path.as_str(), file.data.as_ref()))
    }

    /// Returns the folders that hold a file called `name`, in order; the root is "".
    pub(crate) fn folders_with(&self, name: &str) -> Vec<String> {
        self.files
            .keys()
            .filter_map(|path| match path.rsplit_once('/') {
                Some((folder, file)) => (file == name).then(|| folder.to_owned()),
                None => (path == name).then(String::new),
            })
            .collect()
    }

    /// Returns whether the file exists.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Returns the path as the user knows it.
    pub(crate) fn display(&self, path: &str) -> String {
        match self.files.get(path) {
            Some(file) => file.origin.clone(),
            None => format!("{}{path}", self.prefix),
        }
    }

    /// Returns the folder itself as the user knows it.
    pub(crate) fn folder(&self) -> String {
        let text = self.prefix.trim_end_matches('/');
        if text.is_empty() {
            ".".to_owned()
        } else {
            text.to_owned()
        }
    }

    /// Returns a text file.
    ///
    /// # Errors
    /// If it is missing or not UTF-8; `remedy` says what a missing file is for.
    pub(crate) fn text(&self, path: &str, remedy: &str) -> Result<&str, CatalogError> {
        let file = self.files.get(path).ok_or_else(|| CatalogError::Missing {
            folder: self.folder(),
            file: path.to_owned(),
            remedy: remedy.to_owned(),
        })?;
        self.utf8(path, &file.data)
    }

    /// Returns `bytes` of the file `path` as text, without a mark of the order of bytes, which
    /// editors put in front.
    ///
    /// # Errors
    /// If they are not UTF-8.
    pub(crate) fn utf8<'a>(&self, path: &str, bytes: &'a [u8]) -> Result<&'a str, CatalogError> {
        let text = std::str::from_utf8(bytes);
        let text = text.map(|it| it.strip_prefix('\u{feff}').unwrap_or(it));
        text.map_err(|error| {
            CatalogError::Invalid(Box::new(Invalid {
                path: self.display(path),
                line: 0,
                column: 1,
                length: 1,
                source_line: String::new(),
                message: format!("not UTF-8 from byte {} on", error.valid_up_to()),
                remedy: "save the file as UTF-8".to_owned(),
            }))
        })
    }
}

fn read_folder(
    folder: &Path,
    prefix: &str,
    relative: &str,
    depth: usize,
    files: &mut BTreeMap<String, File>,
) -> Result<(), CatalogError> {
    let failed = |path: &Path, source| CatalogError::Read {
        path: path.display().to_string(),
        source,
    };
    let too_much = |path: &Path, what: &str| {
        failed(
            path,
            std::io::Error::other(format!("{what}; is this a folder of targets or problems?")),
        )
    };
    if MAX_DEPTH < depth {
        return Err(too_much(folder, "folders are nested too deeply"));
    }
    let mut entries: Vec<_> = fs::read_dir(folder)
        .and_then(Iterator::collect)
        .map_err(|source| failed(folder, source))?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        let path = entry.path();
        let relative = if relative.is_empty() {
            name
        } else {
            format!("{relative}/{name}")
        };
        let metadata = fs::metadata(&path).map_err(|source| failed(&path, source))?;
        if metadata.is_dir() {
            read_folder(&path, prefix, &relative, depth + 1, files)?;
        } else if metadata.is_file() {
            if MAX_FILE_BYTES < metadata.len() {
                return Err(too_much(&path, "the file has more than 4 MiB"));
            }
            if MAX_FILES <= files.len() {
                return Err(too_much(folder, "there are more than 10,000 files"));
            }
            let data = fs::read(&path).map_err(|source| failed(&path, source))?;
            let origin = format!("{prefix}{relative}");
            files.insert(
                relative,
                File {
                    origin,
                    data: Cow::Owned(data),
                },
            );
        }
    }
    Ok(())
}
