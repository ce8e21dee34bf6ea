//! What every source sees before its own text, compiled once for a computer: reading a header
//! takes many times as long as compiling a kernel.

use crate::compiler::Compiler;
use autocomp_core::{ContentHash, ContentHasher};
use autocomp_eval::cache::remove_older;
use autocomp_eval::{EvalError, FileStore, unwritable};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// A compiled header that nobody has made for so long is removed. Whoever still uses it makes it
/// again.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A header of ours, and what compilers made of it.
#[derive(Debug)]
pub struct CommonHeader {
    /// Its text, in a place that stays: what is compiled names it.
    text: PathBuf,
    /// Where compiled headers lie, for all processes, each in a folder.
    folder: PathBuf,
    store: FileStore,
    made: Mutex<BTreeMap<ContentHash, PathBuf>>,
}

impl CommonHeader {
    /// Writes `text` into `scratch`, an absolute folder that is there; compiled headers are kept in
    /// `store`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if `scratch` cannot be written.
    pub fn new(text: &str, scratch: &Path, store: FileStore) -> Result<Self, EvalError> {
        let wrong = |error: std::io::Error| unwritable(scratch, &error);
        let folder = scratch.join("compiled-headers");
        fs::create_dir_all(&folder).map_err(wrong)?;
        if let Some(before) = SystemTime::now().checked_sub(KEPT) {
            remove_older(&folder, before, &[]);
        }
        let name = format!("{}.h", ContentHash::of(text.as_bytes()).short());
        let path = scratch.join(&name);
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            put(&path, text.as_bytes())?;
        }
        Ok(Self {
            text: path,
            folder,
            store,
            made: Mutex::default(),
        })
    }

    /// Returns the file with its text.
    #[must_use]
    pub fn text(&self) -> &Path {
        &self.text
    }

    /// Returns the store in which compiled headers are kept.
    #[must_use]
    pub fn store(&self) -> &FileStore {
        &self.store
    }

    /// Returns what a compiler reads that is given the header, compiled or not.
    #[must_use]
    pub fn readable(&self) -> [&Path; 2] {
        [&self.text, &self.folder]
    }

    /// Returns what `-include-pch` takes in sources that are compiled with `flags`, and with
    /// further ones that define macros only. Objects are the same as with the text.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to compile,
    /// [`EvalError::Fault`] if the compiler does not take the header.
    pub fn compiled(&self, compiler: &Compiler, flags: &[String]) -> Result<PathBuf, EvalError> {
        let key = self.key(compiler, flags);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = made.get(&key).filter(|it| it.exists()) {
            return Ok(path.clone());
        }
        let bytes = match self.store.get(&key) {
            Some(bytes) => bytes,
            None => {
                let bytes = self.make(compiler, flags)?;
                self.store.put(&key, &bytes);
                bytes
            }
        };
        let folder = self.folder.join(key.short());
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
        let path = folder.join("header.pch");
        if fs::read(&path).ok().as_ref() != Some(&bytes) {
            put(&path, &bytes)?;
        }
        made.insert(key, path.clone());
        Ok(path)
    }

    /// Compiles the header.
    fn make(&self, compiler: &Compiler, flags: &[String]) -> Result<Vec<u8>, EvalError> {
        let wrong = |error: std::io::Error| unwritable(&self.folder, &error);
        let working = tempfile::tempdir_in(&self.folder).map_err(wrong)?;
        let working = working.path();
        let path = working.join("header.pch");
        let result = path.to_string_lossy();
        // Its name and size stay in what is compiled, times do not.
        let own = ["-emit-pch", "-fno-pch-timestamp", "-o", &result];
        let own = own.iter().flat_map(|it| ["-Xclang", it]);
        let extra = flags.iter().map(String::as_str).chain(own);
        let extra: Vec<String> = extra.map(str::to_owned).collect();
        let policy = compiler.policy(working, &[&self.text]);
        let made = ("-fsyntax-only", &*self.text, &*path);
        let report = compiler.compile(&policy, made, working, &extra, None)?;
        if report.succeeded() {
            return fs::read(&path).map_err(wrong);
        }
        compiler.toolchain().confirm()?;
        Err(EvalError::Fault(format!(
            "{} does not compile the header of kernels: {}",
            compiler.toolchain().name,
            report.stderr.text()
        )))
    }

    /// Returns what decides whether a compiled header is of use. A compiler takes none of
    /// another build of it, even where both have one name.
    fn key(&self, compiler: &Compiler, flags: &[String]) -> ContentHash {
        let toolchain = compiler.toolchain();
        let program = fs::metadata(toolchain.program()).ok();
        let (size, changed) = program.map_or((0, None), |program| {
            let changed = program.modified().ok();
            let since = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            (program.len(), since)
        });
        let mut hasher = ContentHasher::new("autocomp header");
        // The name of the file is the hash of its text.
        for text in [&*toolchain.name, &self.text.to_string_lossy()] {
            hasher.update(text.as_bytes());
        }
        let flags = [&compiler.flags(), flags].concat();
        hasher.update(format!("{flags:?} {size} {changed:?}").as_bytes());
        hasher.finish()
    }
}

/// Writes a file that other processes may read at the same time.
fn put(path: &Path, bytes: &[u8]) -> Result<(), EvalError> {
    let wrong = |error: std::io::Error| unwritable(path, &error);
    let folder = path.parent().unwrap_or(path);
    let readable = fs::Permissions::from_mode(0o644);
    let fresh = tempfile::Builder::new()
        .permissions(readable)
        .tempfile_in(folder);
    let mut file = fresh.map_err(wrong)?;
    file.write_all(bytes).map_err(wrong)?;
    file.persist(path).map_err(|error| wrong(error.error))?;
    Ok(())
}
