//! What every source sees before its own text, compiled once for a computer: reading the
//! intrinsics of a processor takes many times as long as compiling a kernel.

use super::{Builder, Kind};
use autocomp_core::{ContentHash, ContentHasher};
use autocomp_eval::{EvalError, unwritable};
use std::fs;
use std::path::PathBuf;
use std::sync::PoisonError;
use std::time::SystemTime;

impl Builder {
    /// Returns the precompiled header for sources of a kind. Objects are the same, byte for
    /// byte, as with its text.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to compile,
    /// [`EvalError::Fault`] if the compiler does not take our header.
    pub(super) fn header(&self, kind: Kind) -> Result<PathBuf, EvalError> {
        let mut made = self.headers.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.runtime.path().join(format!("{kind:?}.pch"));
        if made.contains(&kind) {
            return Ok(path);
        }
        let key = self.header_key(kind);
        match self.compiled.get(&key) {
            Some(bytes) => fs::write(&path, bytes).map_err(|error| unwritable(&path, &error))?,
            None => {
                // Its name and size stay in what is compiled, times do not.
                let mut extra = vec!["-x", "c-header", "-Xclang", "-fno-pch-timestamp"];
                extra.extend(kind.flags());
                self.compile_own("header", &self.header, &path, &extra)?;
                if let Ok(bytes) = fs::read(&path) {
                    self.compiled.put(&key, &bytes);
                }
            }
        }
        made.push(kind);
        Ok(path)
    }

    /// Returns what decides whether a compiled header is of use. A compiler takes none of
    /// another build of it, even where both have one name.
    fn header_key(&self, kind: Kind) -> ContentHash {
        let program = fs::metadata(self.compiler.toolchain().program()).ok();
        let (size, changed) = program.map_or((0, None), |program| {
            let changed = program.modified().ok();
            let since = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            (program.len(), since)
        });
        let mut hasher = ContentHasher::new("autocomp host header");
        for text in [&self.key(), &*self.header.to_string_lossy()] {
            hasher.update(text.as_bytes());
        }
        hasher.update(format!("{kind:?} {size} {changed:?}").as_bytes());
        hasher.finish()
    }
}
