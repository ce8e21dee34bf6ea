//! Starting, watching and killing a child.

use crate::confinement::Confinement;
use crate::policy::SandboxPolicy;
use crate::program::Program;
use crate::report::{CapturedText, Exit, SandboxError, SandboxReport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use std::ffi::OsStr;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
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
    run_while(policy, program, args, stdin, None)
}

/// The same, but also ends when nobody wants the result any more: when something is written
/// to the other end of the pipe `wanted`, or nobody holds that end.
///
/// # Errors
/// As [`run`].
pub fn run_while<A: AsRef<OsStr>>(
    policy: &SandboxPolicy,
    program: &Path,
    args: &[A],
    stdin: &[u8],
    wanted: Option<BorrowedFd<'_>>,
) -> Result<SandboxReport, SandboxError> {
    let confinement = Confinement::prepare(policy)?;
    let start_error = |source| start_error(program, source);
    let input = input_file(stdin).map_err(start_error)?;
    let (stdout, output) = io::pipe().map_err(start_error)?;
    let (stderr, errors) = io::pipe().map_err(start_error)?;

    let started = Instant::now();
    let streams = [input.as_fd(), output.as_fd(), errors.as_fd()];
    let mut session = started_program(policy, program, args, streams, &[], &confinement)?;
    // The child alone holds the writing ends now, so that they close with it.
    drop((output, errors));
    let deadline = started + policy.limits.wall;
    let (stdout, stderr, killed) = watch(
        &session,
        [stdout.into(), stderr.into()],
        deadline,
        wanted,
        policy.limits.output_bytes,
    )
    .map_err(SandboxError::Watch)?;
    let exit = session.end().map_err(SandboxError::Watch)?;
    Ok(SandboxReport {
        exit,
        stdout,
        stderr,
        timed_out: killed == Some(Killed::OutOfTime),
        unwanted: killed == Some(Killed::Unwanted),
        wall: started.elapsed(),
        enforcement: confinement.enforcement().clone(),
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
    let nothing = nothing().map_err(|source| start_error(program, source))?;
    let streams = [nothing.as_fd(); 3];
    started_program(policy, program, args, streams, descriptors, &confinement)
}

fn started_program<A: AsRef<OsStr>>(
    policy: &SandboxPolicy,
    path: &Path,
    args: &[A],
    streams: [BorrowedFd<'_>; 3],
    descriptors: &[BorrowedFd<'_>],
    confinement: &Confinement,
) -> Result<Session, SandboxError> {
    let program = Program {
        path,
        arguments: args.iter().map(AsRef::as_ref).collect(),
        environment: &policy.environment,
        working_folder: &policy.working_folder,
        streams,
        descriptors,
    };
    let started = program.start(confinement);
    let leader = started.map_err(|source| start_error(path, source))?;
    Ok(Session {
        leader,
        reaped: false,
    })
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
    leader: Pid,
    reaped: bool,
}

impl Session {
    /// Returns the identifier of the child's process.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.leader
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
        let status = self.reap()?;
        self.reaped = true;
        Ok(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Exit::Code(code),
            (None, signal) => Exit::Signal(signal.unwrap_or(libc::SIGKILL)),
        })
    }

    fn reap(&self) -> io::Result<WaitIdStatus> {
        let ended = retry_on_intr(|| waitid(WaitId::Pid(self.leader), WaitIdOptions::EXITED))?;
        ended.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            let _ = self.reap();
        }
    }
}

/// Why a child was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Killed {
    OutOfTime,
    Unwanted,
}

/// Reads both streams until the leader ends, `deadline` passes, or `wanted` says that nobody
/// wants the result.
fn watch(
    session: &Session,
    streams: [OwnedFd; 2],
    deadline: Instant,
    wanted: Option<BorrowedFd<'_>>,
    output_bytes: usize,
) -> io::Result<(CapturedText, CapturedText, Option<Killed>)> {
    let [stdout, stderr] = streams;
    let mut streams = [
        Stream::new(stdout, output_bytes)?,
        Stream::new(stderr, output_bytes)?,
    ];
    let pidfd = rustix::process::pidfd_open(session.pid(), PidfdFlags::empty()).ok();
    let mut killed = None;
    loop {
        if session.has_ended()? {
            break;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            killed = Some(Killed::OutOfTime);
            break;
        }
        if wait_for_news(&streams, pidfd.as_ref(), wanted, left)? {
            killed = Some(Killed::Unwanted);
            break;
        }
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
    Ok((stdout, stderr, killed))
}

/// Waits until there is something to read or to see, and returns whether `wanted` has news.
fn wait_for_news(
    streams: &[Stream; 2],
    pidfd: Option<&OwnedFd>,
    wanted: Option<BorrowedFd<'_>>,
    left: Duration,
) -> io::Result<bool> {
    let descriptors = streams
        .iter()
        .filter_map(|stream| stream.pipe.as_ref())
        .chain(pidfd)
        .map(AsFd::as_fd);
    let mut polled: Vec<PollFd<'_>> = wanted
        .into_iter()
        .chain(descriptors)
        .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN))
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
        Ok(_) => Ok(wanted.is_some() && !polled[0].revents().is_empty()),
        Err(rustix::io::Errno::INTR) => Ok(false),
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
    fn new(pipe: OwnedFd, limit: usize) -> io::Result<Self> {
        let flags = rustix::fs::fcntl_getfl(&pipe)?;
        rustix::fs::fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        Ok(Self {
            pipe: Some(pipe),
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
fn input_file(stdin: &[u8]) -> io::Result<OwnedFd> {
    if stdin.is_empty() {
        return nothing();
    }
    let mut file = tempfile::tempfile()?;
    file.write_all(stdin)?;
    file.rewind()?;
    Ok(file.into())
}

/// Opens the device that is empty and takes everything.
fn nothing() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    Ok(rustix::fs::open("/dev/null", flags, Mode::empty())?)
}
