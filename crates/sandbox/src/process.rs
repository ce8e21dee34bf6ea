//! Starting, watching and killing a child.

use crate::confinement::Confinement;
use crate::policy::SandboxPolicy;
use crate::report::{CapturedText, Exit, SandboxError, SandboxReport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::OsStr;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
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
    let start_error = |source| start_error(program, source);
    let mut command = command(policy, program, args);
    command
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

/// Starts `program` under `policy` and returns at once; it is killed when the
/// result is dropped. It has no input, its output is dropped, and
/// `descriptors` are open in it under the numbers they have here.
///
/// Nobody watches its wall time: that is the caller's.
///
/// # Errors
/// A [`SandboxError`] if the child could not be started.
pub fn start<A: AsRef<OsStr>>(
    policy: &SandboxPolicy,
    program: &Path,
    args: &[A],
    descriptors: &[BorrowedFd<'_>],
) -> Result<Session, SandboxError> {
    let confinement = Confinement::prepare(policy)?;
    let inherited: Vec<RawFd> = descriptors.iter().map(AsRawFd::as_raw_fd).collect();
    let mut command = command(policy, program, args);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // SAFETY: both make system calls only; the descriptors are open until the
    // child was started.
    unsafe {
        command.pre_exec(move || {
            confinement.enter()?;
            inherited.iter().copied().try_for_each(keep_open)
        });
    }
    let child = command
        .spawn()
        .map_err(|source| start_error(program, source))?;
    Ok(Session {
        child,
        reaped: false,
    })
}

/// Keeps a descriptor open in the program that the calling process becomes.
fn keep_open(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: a plain system call.
    match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn command<A: AsRef<OsStr>>(policy: &SandboxPolicy, program: &Path, args: &[A]) -> Command {
    let mut command = Command::new(program);
    command
        .args(args)
        .env_clear()
        .envs(policy.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&policy.working_folder);
    command
}

fn start_error(program: &Path, source: io::Error) -> SandboxError {
    SandboxError::Start {
        program: program.to_owned(),
        source,
    }
}

/// A child that leads its session; dropping it kills the session.
#[derive(Debug)]
pub struct Session {
    child: Child,
    reaped: bool,
}

impl Session {
    /// Returns the identifier of the child's process.
    #[must_use]
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Returns whether the leader has ended, without reaping it: as long as
    /// it is not reaped, its process group cannot be somebody else's.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn has_ended(&self) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.pid()), options)?.is_some())
    }

    fn kill(&self) {
        // The group is empty if the leader is the only member and has ended.
        let _ = kill_process_group(self.pid(), Signal::KILL);
    }

    /// Kills the child with everything it started, unless it has ended before,
    /// and returns how it ended.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn end(&mut self) -> io::Result<Exit> {
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
