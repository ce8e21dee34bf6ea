//! What became of a child.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// The first bytes of an output stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedText {
    /// The bytes kept.
    pub bytes: Vec<u8>,
    /// Bytes that were read and dropped because the limit was reached.
    pub dropped_bytes: u64,
}

impl CapturedText {
    /// Returns the bytes as text, with replacement characters where they are not UTF-8.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Which mechanisms confined a child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforcement {
    /// Version of Landlock that restricted files (from 1) and TCP (from 4), or
    /// absent if the kernel has none.
    pub landlock_abi: Option<u32>,
    /// Whether a seccomp filter denied sockets, tracing, mounting and leaving
    /// the session.
    pub seccomp: bool,
    /// Whether limits on processor time, memory, files and core dumps were set.
    pub resource_limits: bool,
}

impl Enforcement {
    /// Returns whether files outside the policy were out of reach.
    #[must_use]
    pub fn confines_files(&self) -> bool {
        self.landlock_abi.is_some()
    }
}

/// What became of a child.
#[derive(Clone, Debug)]
pub struct SandboxReport {
    /// How it ended.
    pub exit: Exit,
    /// Standard output.
    pub stdout: CapturedText,
    /// Standard error.
    pub stderr: CapturedText,
    /// Whether it was killed because the wall time was over.
    pub timed_out: bool,
    /// Whether it was killed because nobody wanted the result any more.
    pub unwanted: bool,
    /// Wall time from start to end.
    pub wall: Duration,
    /// Which mechanisms confined it.
    pub enforcement: Enforcement,
}

impl SandboxReport {
    /// Returns whether the child ended by itself with code 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.exit == Exit::Code(0) && !self.timed_out
    }
}

/// A child could not be started or watched. Says nothing about what it ran.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The program could not be started.
    #[error("cannot start {program:?} in a sandbox")]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The child could not be watched; it was killed.
    #[error("cannot watch a sandboxed process")]
    Watch(#[source] std::io::Error),
    /// Landlock or seccomp exist but could not be set up.
    #[error("cannot set up the sandbox: {0}")]
    Confinement(String),
    /// Programs are confined on Linux only, and nothing runs unconfined.
    #[error("{}", crate::ONLY_ON_LINUX)]
    Unavailable,
}
