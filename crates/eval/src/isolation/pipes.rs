//! The caller's side of one child: asks it, and waits no longer than it may take.

use super::link::{Death, Link, Reply, Request};
use super::wire::{PREFIX, write_frame};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// Of what a child says on its standard error so much is kept, bytes.
const LAST_WORDS: usize = 1000;

/// Lines that a child may have told before its answer.
const MOST_LINES: u32 = 10_000;

/// A child that answers on its standard output what it is asked on its standard input; it ends
/// with the value.
#[derive(Debug)]
pub struct Pipes {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: Option<ChildStderr>,
    words: Vec<u8>,
}

impl Pipes {
    /// Starts a child with pipes for standard input, output and error, in a process group
    /// of its own: what a terminal sends is for the caller to decide about. The program calls
    /// [`serve`](super::serve) on its standard input and output.
    ///
    /// # Errors
    /// The system starts no process.
    pub fn start(mut command: Command) -> io::Result<Self> {
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
        })
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

impl Link for Pipes {
    fn ask(
        &mut self,
        request: &Request,
        wall: Duration,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Reply, Death> {
        let deadline = Instant::now() + wall;
        if write_frame(&mut self.input, request).is_err() {
            return Err(self.ended());
        }
        let mut frame = Vec::new();
        let mut n_lines = 0;
        loop {
            while let Some((reply, length)) = first(&frame, request.longest_reply())? {
                frame.drain(..length);
                let Reply::Told { line } = reply else {
                    return match frame.is_empty() {
                        true => Ok(reply),
                        false => Err(more_than_one()),
                    };
                };
                n_lines += 1;
                if MOST_LINES < n_lines {
                    return Err(Death::Garbled(format!(
                        "it told more than {MOST_LINES} lines before its answer"
                    )));
                }
                tell(&line);
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

    fn last_words(&mut self) -> String {
        while let Ok(true) = self.hear(Duration::ZERO) {}
        let from = self.words.len().saturating_sub(LAST_WORDS);
        let words = String::from_utf8_lossy(&self.words[from..]);
        match words.trim() {
            "" => String::new(),
            words => format!(" (it said: {words})"),
        }
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the first reply of what was read and the length of its frame, once it is whole.
fn first(read: &[u8], longest: u64) -> Result<Option<(Reply, usize)>, Death> {
    let Some((prefix, text)) = read.split_first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    let length = u64::from_le_bytes(*prefix);
    if longest < length {
        return Err(Death::Garbled(format!(
            "a reply of {length} bytes, and at most {longest} are read"
        )));
    }
    let length = length as usize;
    let Some((text, behind)) = text.split_at_checked(length) else {
        return Ok(None);
    };
    match serde_json::from_slice(text) {
        Ok(reply) => Ok(Some((reply, PREFIX + length))),
        Err(_) if !behind.is_empty() => Err(more_than_one()),
        Err(error) => Err(Death::Garbled(error.to_string())),
    }
}

fn more_than_one() -> Death {
    Death::Garbled("more than one reply".to_owned())
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
