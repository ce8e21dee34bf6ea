//! A machine and how it is reached.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use autocomp_eval::EvalError;
use serde::Deserialize;

use crate::Folder;

/// Bytes that are kept of what a command prints, for each of its two streams.
pub const MOST_OUTPUT: usize = 1 << 20;

/// Exit code with which `ssh` says that it did not reach the machine (`man ssh`, EXIT STATUS).
const UNREACHED: i32 = 255;

/// Options of `ssh`: it asks nobody for a password, and gives up a machine that does not answer
/// for a minute.
const OPTIONS: [&str; 9] = [
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=20",
    "-o",
    "ServerAliveInterval=20",
    "-o",
    "ServerAliveCountMax=3",
    "--",
];

/// The name of a machine as `ssh` knows it (`user@host`). It is never an option of `ssh`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Host(String);

impl TryFrom<String> for Host {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        if name.is_empty() || name.starts_with('-') {
            return Err(format!("`{name}` is no name of a host"));
        }
        Ok(Self(name))
    }
}

/// What a command did.
#[derive(Debug)]
pub struct Done {
    /// Its exit code; 124 where its time was over.
    pub code: i32,
    /// The first [`MOST_OUTPUT`] bytes of its output.
    pub stdout: String,
    /// The first [`MOST_OUTPUT`] bytes of its error output.
    pub stderr: String,
}

/// How a machine is treated that is reached over a network.
#[derive(Clone, Copy, Debug)]
pub struct Manners {
    /// How often a command is tried whose connection cannot be made or is lost, at least once.
    /// What ran before the loss runs again.
    pub attempts: u32,
    /// How long is waited before it is tried again; each time twice as long.
    pub pause: Duration,
    /// Least time from the beginning of one command to that of the next.
    pub interval: Duration,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            attempts: 1,
            pause: Duration::ZERO,
            interval: Duration::ZERO,
        }
    }
}

/// A machine that has a device.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) host: Option<Host>,
    path: OsString,
    manners: Manners,
    /// When the next command over a network may begin.
    next: Arc<Mutex<Option<Instant>>>,
}

/// What a program of this computer printed, and how it ended.
pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Machine {
    /// The machine `host`, or this computer without one. Programs of this computer, `ssh` among
    /// them, are looked for in `path`, the value of `PATH`.
    #[must_use]
    pub fn new(host: Option<&Host>, path: Option<&OsStr>) -> Self {
        Self {
            host: host.cloned(),
            path: path.map_or_else(|| "/usr/bin:/bin".into(), ToOwned::to_owned),
            manners: Manners::default(),
            next: Arc::default(),
        }
    }

    /// Treats the machine otherwise from now on, if it is another one.
    #[must_use]
    pub fn with_manners(self, manners: Manners) -> Self {
        Self { manners, ..self }
    }

    /// Waits until the next command may begin.
    fn wait(&self) {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let begin = next.unwrap_or(now).max(now);
        *next = Some(begin + self.manners.interval);
        drop(next);
        std::thread::sleep(begin - now);
    }

    /// The name of the machine for messages: its host, or `this computer`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.host.as_ref().map_or("this computer", |host| &host.0)
    }

    /// Whether the machine is this computer.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.host.is_none()
    }

    /// Makes a folder on the machine, and those that it lies in.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine is not reached or the folder cannot be made.
    pub fn folder(&self, path: PathBuf) -> Result<Folder<'_>, EvalError> {
        Folder::make(self, path)
    }

    /// The value of `PATH` on this computer.
    pub(crate) fn path(&self) -> &OsStr {
        &self.path
    }

    /// Runs a program of this computer with `input`. Of what it prints, `most` bytes are kept.
    pub(crate) fn local(
        &self,
        program: &Path,
        arguments: &[String],
        input: &[u8],
        most: usize,
    ) -> Result<Output, EvalError> {
        let problem = |error: std::io::Error| {
            failed(
                format!("{} does not start: {error}", program.display()),
                "install it, or correct the machine's file",
            )
        };
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .env("PATH", &self.path)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(problem)?;
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if let Some(mut stdin) = stdin {
                    // A command that does not read its input says so by how it ends.
                    let _ = stdin.write_all(input);
                }
            });
            let errors = scope.spawn(move || kept(stderr, MOST_OUTPUT));
            let stdout = kept(stdout, most);
            let stderr = errors.join().unwrap_or_default();
            let status = child.wait().map_err(problem)?;
            Ok(Output {
                status,
                stdout,
                stderr,
            })
        })
    }

    /// Runs a line of the shell on the other machine `host`.
    pub(crate) fn over_ssh(
        &self,
        host: &Host,
        line: String,
        input: &[u8],
        most: usize,
    ) -> Result<Output, EvalError> {
        let mut arguments: Vec<String> = OPTIONS.map(str::to_owned).to_vec();
        arguments.extend([host.0.clone(), line]);
        let mut pause = self.manners.pause;
        for _ in 1..self.manners.attempts {
            self.wait();
            let output = self.local(Path::new("ssh"), &arguments, input, most)?;
            if output.status.code() != Some(UNREACHED) {
                return Ok(output);
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
        self.wait();
        let output = self.local(Path::new("ssh"), &arguments, input, most)?;
        if output.status.code() == Some(UNREACHED) {
            return Err(failed(
                format!("ssh {}: {}", host.0, output.error()),
                "make `ssh` reach the machine without a password, then try again",
            ));
        }
        Ok(output)
    }
}

impl Output {
    /// The last lines of the error output.
    pub(crate) fn error(&self) -> String {
        last_lines(&String::from_utf8_lossy(&self.stderr))
    }

    /// Returns the same as texts.
    pub(crate) fn done(self) -> Done {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Done {
            code: self.status.code().unwrap_or(-1),
            stdout: text(self.stdout),
            stderr: text(self.stderr),
        }
    }
}

/// Reads a stream to its end and returns its first `most` bytes.
fn kept(stream: Option<impl Read>, most: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        // A stream that breaks has ended.
        let _ = stream.by_ref().take(most as u64).read_to_end(&mut bytes);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    }
    bytes
}

/// Returns the error for a machine that does not do what it should.
pub(crate) fn failed(message: String, remedy: &str) -> EvalError {
    EvalError::Environment {
        message,
        remedies: vec![remedy.to_owned()],
    }
}

/// Returns the last three lines of a text that are not blank, in one line of at most 600 letters.
#[must_use]
pub fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines[lines.len().saturating_sub(3)..].join("; ");
    last.chars().take(600).collect()
}
