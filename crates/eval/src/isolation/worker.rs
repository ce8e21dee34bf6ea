//! The caller's side of one child: asks it, and waits no longer than it may take.

use super::wire::{PREFIX, Reply, Request, write_frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The longest reply that is read, bytes.
const LONGEST_REPLY: u64 = 16 << 20;

/// Of what a child says on its standard error so much is kept, bytes.
const LAST_WORDS: usize = 1000;

/// `SIGXCPU`, with which the system ends processes whose processor time is spent.
const PROCESSOR_TIME_SPENT: i32 = rustix::process::Signal::XCPU.as_raw();

/// A child, which ends with the value.
pub(super) struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    words: Vec<u8>,
    opened: Option<String>,
}

/// Why a child does not answer, and must not be asked again.
#[derive(Debug)]
pub(super) enum Death {
    /// It has ended.
    Ended(Option<ExitStatus>),
    /// It takes too long.
    Late(Duration),
    /// It answers what cannot be understood.
    Garbled(String),
}

impl Death {
    /// Returns whether a limit on time was reached.
    pub(super) fn is_limit(&self) -> bool {
        match self {
            Self::Ended(status) => {
                status.and_then(|status| status.signal()) == Some(PROCESSOR_TIME_SPENT)
            }
            Self::Late(_) => true,
            Self::Garbled(_) => false,
        }
    }

    /// Returns what happened, as the end of a sentence about the process.
    pub(super) fn text(&self, words: &str) -> String {
        let what = match self {
            Self::Ended(Some(status)) if self.is_limit() => {
                format!("used up the processor time that it may take ({status})")
            }
            Self::Ended(Some(status)) => format!("ended without an answer ({status})"),
            Self::Ended(None) => "ended without an answer".to_owned(),
            Self::Late(limit) => format!("gave no answer within {} seconds", limit.as_secs()),
            Self::Garbled(how) => format!("is not to be understood: {how}"),
        };
        what + words
    }
}

impl Worker {
    /// Starts a child with pipes for standard input, output and error, in a process group
    /// of its own: what a terminal sends is for the caller to decide about.
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            // Of a panic only the message is of interest.
            .env("RUST_BACKTRACE", "0")
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("a child without pipes"));
        };
        Ok(Self {
            errors: child.stderr.take(),
            child,
            input,
            output,
            words: Vec::new(),
            opened: None,
        })
    }

    /// Returns whether the evaluator of this setup is open in it.
    pub(super) fn has_opened(&self, setup: &str) -> bool {
        self.opened.as_deref() == Some(setup)
    }

    /// Notes which evaluator is open.
    pub(super) fn set_opened(&mut self, setup: &str) {
        self.opened = Some(setup.to_owned());
    }

    /// Asks the child and waits for its answer.
    pub(super) fn ask(&mut self, request: &Request, wall: Duration) -> Result<Reply, Death> {
        let deadline = Instant::now() + wall;
        if write_frame(&mut self.input, request).is_err() {
            return Err(self.ended());
        }
        let mut frame = Vec::new();
        loop {
            if let Some(text) = whole(&frame)? {
                let garbled = |error| Death::Garbled(format!("{error}"));
                return serde_json::from_slice(text).map_err(garbled);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Death::Late(wall));
            }
            match self.read_on(&mut frame, left) {
                Ok(true) => {}
                Ok(false) | Err(_) => return Err(self.ended()),
            }
        }
    }

    /// Returns the end of what the child has said on its standard error, in parentheses;
    /// nothing if it has said nothing.
    pub(super) fn last_words(&mut self) -> String {
        while let Ok(true) = self.hear(Duration::ZERO) {}
        let from = self.words.len().saturating_sub(LAST_WORDS);
        let words = String::from_utf8_lossy(&self.words[from..]);
        match words.trim() {
            "" => String::new(),
            words => format!(" (it said: {words})"),
        }
    }

    /// Waits for something to read and appends it; returns whether there is more to come.
    fn read_on(&mut self, frame: &mut Vec<u8>, left: Duration) -> io::Result<bool> {
        let mut streams = vec![PollFd::new(&self.output, PollFlags::IN)];
        if let Some(errors) = &self.errors {
            streams.push(PollFd::new(errors, PollFlags::IN));
        }
        wait(&mut streams, left)?;
        let has_output = !streams[0].revents().is_empty();
        let has_errors = streams
            .get(1)
            .is_some_and(|stream| !stream.revents().is_empty());
        if has_errors {
            self.hear(Duration::ZERO)?;
        }
        if !has_output {
            return Ok(true);
        }
        let mut buffer = [0; 64 << 10];
        let n_read = self.output.read(&mut buffer)?;
        frame.extend_from_slice(&buffer[..n_read]);
        Ok(0 < n_read)
    }

    /// Takes in what there is on standard error; returns whether there was something.
    fn hear(&mut self, left: Duration) -> io::Result<bool> {
        let Some(errors) = &mut self.errors else {
            return Ok(false);
        };
        let mut streams = [PollFd::new(errors, PollFlags::IN)];
        wait(&mut streams, left)?;
        if streams[0].revents().is_empty() {
            return Ok(false);
        }
        let mut buffer = [0; 4 << 10];
        let n_read = errors.read(&mut buffer)?;
        if n_read == 0 {
            self.errors = None;
            return Ok(false);
        }
        self.words.extend_from_slice(&buffer[..n_read]);
        let surplus = self.words.len().saturating_sub(2 * LAST_WORDS);
        self.words.drain(..surplus);
        Ok(true)
    }

    fn ended(&mut self) -> Death {
        // It has closed its output, so it ends or is of no use.
        let _ = self.child.kill();
        Death::Ended(self.child.wait().ok())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text of a frame that is whole.
fn whole(frame: &[u8]) -> Result<Option<&[u8]>, Death> {
    let Some((prefix, text)) = frame.split_first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    let length = u64::from_le_bytes(*prefix);
    if LONGEST_REPLY < length {
        return Err(Death::Garbled(format!(
            "a reply of {length} bytes, and at most {LONGEST_REPLY} are read"
        )));
    }
    match (text.len() as u64).cmp(&length) {
        std::cmp::Ordering::Less => Ok(None),
        std::cmp::Ordering::Equal => Ok(Some(text)),
        std::cmp::Ordering::Greater => Err(Death::Garbled("more than one reply".to_owned())),
    }
}

fn wait(streams: &mut [PollFd<'_>], left: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: left.as_secs() as i64,
        tv_nsec: left.subsec_nanos().into(),
    };
    match poll(streams, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
