//! Kernels that call a shared library of the system.

use super::{Builder, Program, folder_in, write};
use autocomp_core::Diagnostic;
use autocomp_eval::EvalError;
use std::ffi::OsStr;
use std::path::Path;

impl Builder {
    /// Builds the program of `text`, a few lines that call the shared library at
    /// `library`. It is loaded by the system's loader when the worker starts.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to build.
    pub fn build_with_library(
        &self,
        name: &str,
        text: &str,
        library: &Path,
    ) -> Result<Result<Program, Vec<Diagnostic>>, EvalError> {
        let folder = folder_in(&self.scratch)?;
        write(&folder.path().join(name), text)?;
        let header = self.header.text().to_string_lossy();
        let define = format!("-DAUTOCOMP_ENTRY={}", self.entry);
        let runner = self.runtime.path().join("runner.c");
        let of_runner = [
            define.as_str(),
            "-DAUTOCOMP_LIBRARY",
            "-O2",
            "-ffp-contract=off",
        ];
        let of_kernel = ["-include", &header, "-O2"];
        let sources = [
            (runner.as_path(), "runner.o", &of_runner[..]),
            (Path::new(name), "kernel.o", &of_kernel[..]),
        ];
        for (source, object, extra) in sources {
            let report = self.compile(folder.path(), ("-c", source, Path::new(object)), extra)?;
            if !report.succeeded() {
                return self.blamed(&report, (name, text)).map(Err);
            }
        }
        let loader = match std::env::consts::ARCH {
            "aarch64" => "/lib/ld-linux-aarch64.so.1",
            _ => "/lib64/ld-linux-x86-64.so.2",
        };
        let inputs = [
            "--allow-shlib-undefined",
            "-dynamic-linker",
            loader,
            "kernel.o",
            "runner.o",
        ];
        let inputs = inputs
            .map(OsStr::new)
            .into_iter()
            .chain([library.as_os_str()]);
        let mut policy = self.policy(folder.path());
        policy.readable.push(library.to_owned());
        let report = self.compiler.link(&policy, inputs, "worker")?;
        if !report.succeeded() {
            return self.blamed(&report, (name, text)).map(Err);
        }
        Ok(Ok(Program {
            folder,
            is_library: true,
        }))
    }
}
