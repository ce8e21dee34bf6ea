//! Systems on which no worker can be confined: none starts.

use super::{Death, Spent, WorkerSettings};
use crate::builder::Program;
use crate::shared_memory::SharedMemory;
use autocomp_eval::EvalError;
use autocomp_sandbox::{ELSEWHERE, ONLY_ON_LINUX};
use std::convert::Infallible;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// Refuses to make the file that a worker and its parent would share.
///
/// # Errors
/// Always.
pub(crate) fn memory_file() -> io::Result<OwnedFd> {
    Err(io::Error::new(io::ErrorKind::Unsupported, ONLY_ON_LINUX))
}

/// A worker; there is none here.
#[derive(Debug)]
pub struct Worker(Infallible);

impl Worker {
    /// Refuses to start `program`.
    ///
    /// # Errors
    /// Always [`EvalError::Environment`].
    pub fn start(
        _program: &Program,
        _memory: &mut SharedMemory,
        _settings: WorkerSettings,
    ) -> Result<Result<Self, Death>, EvalError> {
        Err(EvalError::Environment {
            message: ONLY_ON_LINUX.to_owned(),
            remedies: vec![ELSEWHERE.to_owned()],
        })
    }

    /// Returns the number of its process.
    pub fn process(&self) -> i32 {
        match self.0 {}
    }

    /// Calls the kernel.
    ///
    /// # Errors
    /// What the kernel did instead.
    pub fn call(&mut self, _calls: &[Vec<u64>], _time: Duration) -> Result<Spent, Death> {
        match self.0 {}
    }
}

/// Returns the name of a system call; no worker makes one here.
pub(crate) fn name_of(_number: u64) -> String {
    String::new()
}
