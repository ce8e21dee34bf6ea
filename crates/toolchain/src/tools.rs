//! Running a compiler or linker in a sandbox.

use crate::Toolchain;
use autocomp_eval::EvalError;
use autocomp_sandbox::{Limits, ProcessRule, SandboxPolicy, SandboxReport};
use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Wall time of one tool in processor times, room for busy machines.
const WALL_PER_PROCESSOR_TIME: u64 = 20;
/// Largest file that a tool may write, bytes.
const FILE_BYTES: u64 = 64 << 20;
/// Address space of a tool, bytes.
const ADDRESS_SPACE_BYTES: u64 = 4 << 30;
/// Output kept of a tool, bytes.
const OUTPUT_BYTES: usize = 64 << 10;

/// Returns what a tool may see when it works in `folder` for a source that
/// may include what is in `readable`, with `cpu_seconds` of processor time.
pub(crate) fn policy(
    toolchain: &Toolchain,
    folder: &Path,
    readable: &[&Path],
    cpu_seconds: u64,
) -> SandboxPolicy {
    let mut readable: Vec<PathBuf> = readable.iter().map(|path| (*path).to_owned()).collect();
    readable.push(toolchain.headers.clone());
    SandboxPolicy {
        working_folder: folder.to_owned(),
        readable,
        executable: toolchain.executable.clone(),
        writable: vec![folder.to_owned()],
        environment: [
            ("LC_ALL", "C".into()),
            ("TMPDIR", folder.as_os_str().to_owned()),
        ]
        .into_iter()
        .chain([("PATH", OsString::from("/usr/bin:/bin"))])
        .map(|(name, value)| (name.into(), value))
        .collect(),
        limits: Limits {
            wall: Duration::from_secs(cpu_seconds * WALL_PER_PROCESSOR_TIME),
            cpu_seconds,
            address_space_bytes: ADDRESS_SPACE_BYTES,
            file_bytes: FILE_BYTES,
            output_bytes: OUTPUT_BYTES,
            open_files: 256,
            // The drivers start the compiler proper, assembler and linker; zig
            // starts itself for assembly.
            processes: ProcessRule::Children,
        },
    }
}

/// Runs a tool; its failure is in the report.
pub(crate) fn run(
    policy: &SandboxPolicy,
    program: &Path,
    args: &[OsString],
) -> Result<SandboxReport, EvalError> {
    run_while(policy, program, args, None)
}

/// Runs a tool as long as its result is wanted, see [`autocomp_sandbox::run_while`].
pub(crate) fn run_while(
    policy: &SandboxPolicy,
    program: &Path,
    args: &[OsString],
    wanted: Option<BorrowedFd<'_>>,
) -> Result<SandboxReport, EvalError> {
    autocomp_sandbox::run_while(policy, program, args, b"", wanted).map_err(|error| {
        let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
        EvalError::Environment {
            message: format!("{error}{}", source.unwrap_or_default()),
            remedies: vec!["run `autocomp doctor` to see what this machine allows".into()],
        }
    })
}
