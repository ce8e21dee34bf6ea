//! What a child may do.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Whether a child may start processes of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessRule {
    /// Threads only; starting a process fails with `EPERM`.
    Single,
    /// Processes are allowed, and die with the child.
    Children,
}

/// Limits on the resources of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall time, after which the whole session is killed.
    pub wall: Duration,
    /// Processor time of each process, seconds.
    pub cpu_seconds: u64,
    /// Address space of each process, bytes.
    pub address_space_bytes: u64,
    /// Largest file that can be written, bytes.
    pub file_bytes: u64,
    /// Bytes kept of each of stdout and stderr; the rest is read and dropped.
    pub output_bytes: usize,
    /// Open files per process.
    pub open_files: u64,
    /// Whether processes may be started.
    pub processes: ProcessRule,
}

/// What a child may see and use.
///
/// Paths that do not exist are ignored: they grant nothing.
#[derive(Clone, Debug)]
pub struct SandboxPolicy {
    /// Folder in which the child starts.
    pub working_folder: PathBuf,
    /// Files and folders that may be read, folders with all they contain.
    pub readable: Vec<PathBuf>,
    /// Files and folders that may be read and executed.
    pub executable: Vec<PathBuf>,
    /// Folders in which files may be read, made, changed and removed.
    pub writable: Vec<PathBuf>,
    /// The whole environment of the child.
    pub environment: Vec<(OsString, OsString)>,
    /// Limits on resources.
    pub limits: Limits,
}
