//! Systems without the mechanisms that confine a child: none is started.

use crate::policy::SandboxPolicy;
use crate::report::{Exit, SandboxError, SandboxReport};
use rustix::process::Pid;
use std::convert::Infallible;
use std::ffi::OsStr;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::Path;

/// Refuses to run `program`.
///
/// # Errors
/// Always [`SandboxError::Unavailable`].
pub fn run<A: AsRef<OsStr>>(
    _policy: &SandboxPolicy,
    _program: &Path,
    _args: &[A],
    _stdin: &[u8],
) -> Result<SandboxReport, SandboxError> {
    Err(SandboxError::Unavailable)
}

/// Refuses to run `program`.
///
/// # Errors
/// As [`run`].
pub fn run_while<A: AsRef<OsStr>>(
    _policy: &SandboxPolicy,
    _program: &Path,
    _args: &[A],
    _stdin: &[u8],
    _wanted: Option<BorrowedFd<'_>>,
) -> Result<SandboxReport, SandboxError> {
    Err(SandboxError::Unavailable)
}

/// Refuses to start `program`.
///
/// # Errors
/// As [`run`].
pub fn start<A: AsRef<OsStr>>(
    _policy: &SandboxPolicy,
    _program: &Path,
    _args: &[A],
    _descriptors: &[BorrowedFd<'_>],
) -> Result<Session, SandboxError> {
    Err(SandboxError::Unavailable)
}

/// A child that was started; there is none here.
#[derive(Debug)]
pub struct Session(Infallible);

impl Session {
    /// Returns the identifier of the child's process.
    #[must_use]
    pub fn pid(&self) -> Pid {
        match self.0 {}
    }

    /// Returns whether the child has ended.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn has_ended(&self) -> io::Result<bool> {
        match self.0 {}
    }

    /// Kills the child and returns how it ended.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn end(&mut self) -> io::Result<Exit> {
        match self.0 {}
    }
}
