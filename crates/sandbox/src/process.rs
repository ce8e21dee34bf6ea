//! Starting, watching and killing a child.

use crate::confinement::Confinement;
use crate::policy::SandboxPolicy;
use crate::report::{CapturedText, Exit, SandboxError, SandboxReport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::OsStr;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How often a child is looked at where the kernel cannot announce its end.
const TICK: Duration = Duration::from_millis(5);

/// Runs `program` with `args` under `policy`, feeds it `stdin`, and waits for
/// its end or for the end of its time, whichever is first.
///
/// The child and everything that it started are dead when this returns.
///
/// # Errors
/// A [`SandboxError`] if the child could not be started or watched. Whatever
/// the child itself does is in the report.
pub fn run<A: AsRef<OsStr>>(
    policy: &SandboxPolicy,
    program: &Path,
    args: &[A],
    stdin: &[u8],
) -> Result<SandboxReport, SandboxError> {
    let confinement = Confinement::prepare(policy)?;
    let enforcement = confinement.enforcement().clone();
    let start_error = |source| SandboxError::Start {
        program: program.to_owned(),
        source,
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(policy.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&policy.working_folder)
        .stdin(stdin_file(stdin).map_err(start_error)?)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // SAFETY: `enter` makes system calls only.
    unsafe { command.pre_exec(move || confinement.enter()) };

    let started = Instant::now();
    let child = command.spawn().map_err(start_error)?;
    let mut session = Session {
        child,
        reaped: false,
    };
    let deadline = started + policy.limits.wall;
    let (stdout, stderr, timed_out) =
        watch(&mut session, deadline, policy.limits.output_bytes).map_err(SandboxError::Watch)?;
    let exit = session.end().map_err(SandboxError::Watch)?;
    Ok(SandboxReport {
        exit,
        stdout,
        stderr,
        timed_out,
        wall: started.elapsed(),
        enforcement,
    })
}

/// A child that leads its session; dropping it kills the session.
struct Session {
    child: Child,
    reaped: bool,
}

impl Session {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns whether the leader has ended, without reaping it: as long as
    /// it is not reaped, its process group cannot be somebody else's.
    fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid()), options)?.is_some())
    }

    fn kill(&self) {
        // The group is empty if the leader is the only member and has ended.
        let _ = kill_process_group(self.pid(), Signal::KILL);
    }

    fn end(&mut self) -> io::Result<Exit> {
        self.kill();
        let status = self.child.wait()?;
        self.reaped = true;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(libc::SIGKILL)),
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// Reads both streams until the leader ends or `deadline` passes.
fn watch(
    session: &mut Session,
    deadline: Instant,
    output_bytes: usize,
) -> io::Result<(CapturedText, CapturedText, bool)> {
    let mut streams = [
        Stream::new(session.child.stdout.take().map(OwnedFd::from), output_bytes)?,
        Stream::new(session.child.stderr.take().map(OwnedFd::from), output_bytes)?,
    ];
    let pidfd = rustix::process::pidfd_open(session.pid(), PidfdFlags::empty()).ok();
    let mut timed_out = false;
    loop {
        if session.has_ended()? {
            break;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            timed_out = true;
            break;
        }
        wait_for_news(&streams, pidfd.as_ref(), left)?;
        for stream in &mut streams {
            stream.drain()?;
        }
    }
    // Processes left behind hold the pipes open; nothing more is wanted of them.
    session.kill();
    for stream in &mut streams {
        stream.drain()?;
    }
    let [stdout, stderr] = streams.map(|stream| stream.text);
    Ok((stdout, stderr, timed_out))
}

fn wait_for_news(streams: &[Stream; 2], pidfd: Option<&OwnedFd>, left: Duration) -> io::Result<()> {
    let descriptors = streams
        .iter()
        .filter_map(|stream| stream.pipe.as_ref())
        .chain(pidfd);
    let mut polled: Vec<PollFd<'_>> = descriptors
        .map(|descriptor| PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN))
        .collect();
    let left = if pidfd.is_some() {
        left
    } else {
        left.min(TICK)
    };
    let timeout = Timespec {
        tv_sec: left.as_secs() as i64,
        tv_nsec: left.subsec_nanos().into(),
    };
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// One output stream of the child.
struct Stream {
    pipe: Option<OwnedFd>,
    limit: usize,
    text: CapturedText,
}

impl Stream {
    fn new(pipe: Option<OwnedFd>, limit: usize) -> io::Result<Self> {
        if let Some(pipe) = &pipe {
            let flags = rustix::fs::fcntl_getfl(pipe)?;
            rustix::fs::fcntl_setfl(pipe, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self {
            pipe,
            limit,
            text: CapturedText::default(),
        })
    }

    /// Reads what is there, at most a few pipes full at a time so that a
    /// chatty child cannot hold off its deadline.
    fn drain(&mut self) -> io::Result<()> {
        let mut buffer = [0; 16 * 1024];
        for _ in 0..16 {
            let Some(pipe) = &self.pipe else {
                break;
            };
            match rustix::io::read(pipe, &mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    let room = self.limit - self.text.bytes.len();
                    let kept = count.min(room);
                    self.text.bytes.extend_from_slice(&buffer[..kept]);
                    self.text.dropped_bytes += (count - kept) as u64;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// Returns a file that holds `stdin`, so that feeding it cannot block.
fn stdin_file(stdin: &[u8]) -> io::Result<Stdio> {
    if stdin.is_empty() {
        return Ok(Stdio::null());
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(stdin)?;
    file.rewind()?;
    Ok(file.into())
}
