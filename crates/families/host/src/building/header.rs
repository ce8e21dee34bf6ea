//! What every source sees before its own text, compiled once for many sources: reading the
//! intrinsics of a processor takes many times as long as compiling a kernel.

use super::{Builder, Kind};
use autocomp_eval::EvalError;
use std::path::PathBuf;
use std::sync::PoisonError;

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
        let mut extra = vec!["-x", "c-header"];
        extra.extend(kind.flags());
        let text = self.runtime.path().join("kernel.h");
        let report = self.compile(self.runtime.path(), &text, &path, &extra)?;
        if !report.succeeded() {
            return Err(EvalError::Fault(format!(
                "{} does not compile the header of the host: {}",
                self.toolchain.name,
                report.stderr.text()
            )));
        }
        made.push(kind);
        Ok(path)
    }
}
