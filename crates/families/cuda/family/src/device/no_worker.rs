//! Systems on which no process of its own talks to the driver: devices are used on Linux only.

use std::io;
use std::time::Duration;

/// How a worker ended.
#[derive(Debug)]
pub enum Ended {
    /// It answered.
    Answered(Vec<u8>),
    /// It had not answered when its time was over.
    Late,
    /// It ended without an answer.
    Died(String),
}

/// Refuses to run `job`.
///
/// # Errors
/// Always.
pub fn run(_time: Duration, _job: impl FnOnce() -> Vec<u8>) -> io::Result<Ended> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "devices are used on Linux only",
    ))
}
