//! What every source sees before its own text, compiled once for a computer: reading a header
//! takes many times as long as compiling a kernel.

use crate::compiler::Compiler;
use autocomp_core::{ContentHash, ContentHasher};
use autocomp_eval::{EvalError, FileStore, unwritable};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// A header of ours, and what compilers made of it.
#[derive(Debug)]
pub struct CommonHeader {
    /// Its text, in a place that stays: what is compiled names it.
    text: PathBuf,
    /// Where compiled headers lie as long as this process uses them.
    folder: tempfile::TempDir,
    store: FileStore,
    made: Mutex<BTreeMap<ContentHash, PathBuf>>,
}

impl CommonHeader {
    /// Writes `text` into `scratch`, a folder that is there; compiled headers are kept in `store`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if `scratch` cannot be written.
    pub fn new(text: &str, scratch: &Path, store: FileStore) -> Result<Self, EvalError> {
        let wrong = |error: std::io::Error| unwritable(scratch, &error);
        let scratch = fs::canonicalize(scratch).map_err(wrong)?;
        let folder = tempfile::tempdir_in(&scratch).map_err(wrong)?;
        let name = format!("{}.h", ContentHash::of(text.as_bytes()).short());
        let path = scratch.join(&name);
        if fs::read_to_string(&path).ok().as_deref() != Some(text) {
            let fresh = folder.path().join(&name);
            fs::write(&fresh, text).map_err(wrong)?;
            fs::rename(&fresh, &path).map_err(wrong)?;
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

    /// Returns what a compiler reads that is given the header, compiled or not.
    #[must_use]
    pub fn readable(&self) -> [&Path; 2] {
        [&self.text, self.folder.path()]
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
        if let Some(path) = made.get(&key) {
            return Ok(path.clone());
        }
        let folder = self.folder.path();
        let path = folder.join(format!("{}.pch", key.short()));
        self.store.restore(&key, &path, || {
            let result = path.to_string_lossy();
            // Its name and size stay in what is compiled, times do not.
            let own = ["-emit-pch", "-fno-pch-timestamp", "-o", &result];
            let own = own.iter().flat_map(|it| ["-Xclang", it]);
            let extra: Vec<String> = flags
                .iter()
                .map(String::as_str)
                .chain(own)
                .map(str::to_owned)
                .collect();
            let policy = compiler.policy(folder, &[&self.text]);
            let done = ("-fsyntax-only", &*self.text, &*path);
            let report = compiler.compile(&policy, done, folder, &extra, None)?;
            if report.succeeded() {
                return Ok(());
            }
            compiler.toolchain().confirm()?;
            Err(EvalError::Fault(format!(
                "{} does not compile the header of kernels: {}",
                compiler.toolchain().name,
                report.stderr.text()
            )))
        })?;
        made.insert(key, path.clone());
        Ok(path)
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
