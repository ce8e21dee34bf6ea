//! The worker as Linux confines and watches it.

use super::confinement::{OWN_BYTES, filter, policy, write_setup};
use super::process::{Identity, counted_ns, cpu_clock, field};
pub(crate) use super::system_calls::name_of;
use super::{Death, Spent, WorkerSettings};
use crate::builder::Program;
use crate::shared_memory::SharedMemory;
use autocomp_eval::EvalError;
use autocomp_sandbox::{Exit, Session};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// What a worker says: that it is ready.
const READY: u64 = 1;
/// What a worker says: that it has made the calls.
const DONE: u64 = 2;
/// What a worker says: that the processor or the system stopped the kernel.
const FAULT: u64 = 3;
/// Processor time that a worker has to get ready.
const READY_TIME: Duration = Duration::from_secs(20);
/// Processor time that a worker has to fall asleep after it said that it is done.
const SLEEP_TIME: Duration = Duration::from_millis(200);
/// Time that a process has to end.
const END_TIME: Duration = Duration::from_secs(5);
/// How much more time may pass than a worker may compute, since others have the
/// processor, too; what neither computes nor answers is given up then.
const WALL_PER_PROCESSOR_TIME: u32 = 20;
/// First pause between two looks at a worker, doubled up to the longest.
const LOOK_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_LOOK_PAUSE: Duration = Duration::from_millis(20);

/// Makes the file that a worker and its parent share as memory.
///
/// # Errors
/// If the system has no room for it.
pub(crate) fn memory_file() -> io::Result<OwnedFd> {
    Ok(memfd_create("autocomp-buffers", MemfdFlags::CLOEXEC)?)
}

/// A confined process that calls one kernel.
#[derive(Debug)]
pub struct Worker {
    session: Session,
    commands: Option<OwnedFd>,
    answers: OwnedFd,
    clock: libc::clockid_t,
    settings: WorkerSettings,
    /// What the system says of it when it was set up.
    identity: Identity,
}

/// One answer of a worker.
#[derive(Clone, Copy, Debug)]
struct Answer {
    kind: u64,
    detail: u64,
    address: u64,
    pc: u64,
    access: u64,
}

const ANSWER_BYTES: usize = 40;
/// Pointers that a kernel gets at most.
const MOST_ARGUMENTS: usize = 32;
/// What is written for a call, and at the end of a command: one more than it has pointers, or
/// zero, and those.
const RECORD_WORDS: usize = 1 + MOST_ARGUMENTS;
/// Of the memory that a worker may have, what is not left to static memory, bytes: program
/// and stack.
const NOT_STATIC: u64 = 64 << 20;

impl Worker {
    /// Starts `program` on the buffers in `memory`.
    ///
    /// Inside it returns [`Death::TooLarge`] or [`Death::NotStarted`] of a program that did
    /// not come as far as to wait for a call. Size and form of the program can cause that, and
    /// so can the machine: a program that starts under the same conditions tells which.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to run workers.
    pub fn start(
        program: &Program,
        memory: &mut SharedMemory,
        settings: WorkerSettings,
    ) -> Result<Result<Self, Death>, EvalError> {
        let most = OWN_BYTES - NOT_STATIC;
        if let Some(bytes) = program.static_bytes().filter(|bytes| most < *bytes) {
            return Ok(Err(Death::TooLarge { bytes, most }));
        }
        let is_library = program.is_library();
        let program = &*program.path();
        let failed = |what: String| EvalError::Environment {
            message: format!("cannot run a kernel on this machine: {what}"),
            remedies: vec!["run `autocomp doctor` to see what this machine allows".into()],
        };
        let io = |what: &str, error: &dyn std::fmt::Display| failed(format!("{what}: {error}"));
        let (command_end, commands) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|error| io("no pipe", &error))?;
        let (answers, answer_end) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|error| io("no pipe", &error))?;
        let filter = filter(command_end.as_raw_fd(), answer_end.as_raw_fd(), is_library)
            .map_err(|error| io("no filter of system calls", &error))?;
        write_setup(memory, &filter, settings.tile_state)
            .map_err(|what| failed(what.to_owned()))?;
        let arguments =
            [&command_end, &answer_end].map(|descriptor| descriptor.as_raw_fd().to_string());
        let arguments = [
            arguments[0].clone(),
            arguments[1].clone(),
            memory.file().as_raw_fd().to_string(),
        ];
        let descriptors = [command_end.as_fd(), answer_end.as_fd(), memory.file()];
        let policy = policy((program, is_library), memory, settings);
        let session = autocomp_sandbox::start(&policy, program, &arguments, &descriptors)
            .map_err(|error| io("no sandbox", &error))?;
        drop((command_end, answer_end));
        let pid = session.pid();
        if let Some(core) = settings.core {
            let mut cores = rustix::thread::CpuSet::new();
            cores.set(core);
            match rustix::thread::sched_setaffinity(Some(pid), &cores) {
                // It has ended by now, which is found below.
                Ok(()) | Err(rustix::io::Errno::SRCH) => {}
                Err(error) => return Err(io("it cannot stay on one core", &error)),
            }
        }
        let clock = cpu_clock(pid).map_err(|error| io("no clock of its processor time", &error))?;
        let mut worker = Self {
            session,
            commands: Some(commands),
            answers,
            clock,
            settings,
            identity: Identity::of_nobody(),
        };
        match worker.answer(READY_TIME) {
            Ok(answer) if answer.kind == READY => {}
            _ => return Ok(Err(Death::NotStarted)),
        }
        match worker.asleep() {
            Ok(identity) => worker.identity = identity,
            Err(_) => return Ok(Err(Death::NotStarted)),
        }
        Ok(Ok(worker))
    }

    /// Returns the number of its process.
    pub fn process(&self) -> i32 {
        self.session.pid().as_raw_nonzero().get()
    }

    /// Calls the kernel once for each of `calls`, which are the addresses of its buffers.
    /// The worker reads those of one call when it has made the one before.
    ///
    /// # Errors
    /// What the kernel did instead; the worker is then of no use any more.
    pub fn call(&mut self, calls: &[Vec<u64>], time: Duration) -> Result<Spent, Death> {
        let mut command = Vec::with_capacity((calls.len() + 1) * RECORD_WORDS * 8);
        let records = calls.iter().map(Some).chain([None]);
        for arguments in records {
            let mut words = [0; RECORD_WORDS];
            if let Some(arguments) = arguments {
                words[0] = 1 + arguments.len() as u64;
                words[1..=arguments.len()].copy_from_slice(arguments);
            }
            command.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        }
        let before = self.cpu_ns();
        let started = Instant::now();
        let sent = match &self.commands {
            // One write, which a pipe takes as a whole up to 64 KiB.
            Some(commands) => rustix::io::write(commands, &command) == Ok(command.len()),
            None => false,
        };
        if !sent {
            return Err(self.death());
        }
        let answer = self.answer(time.min(self.settings.command_time))?;
        let wall_ns = started.elapsed().as_nanos() as u64;
        match answer.kind {
            DONE => {}
            FAULT if answer.detail == libc::SIGSYS as u64 => {
                return Err(Death::SystemCall {
                    number: answer.address,
                    pc: answer.pc,
                });
            }
            FAULT => {
                return Err(Death::Fault {
                    signal: answer.detail as i32,
                    address: answer.address,
                    pc: answer.pc,
                    write: answer.access & 1 != 0,
                    no_address: answer.access & 2 != 0,
                    on_stack: answer.access & 4 != 0,
                });
            }
            _ => return Err(Death::WorksAfterReturn),
        }
        let identity = self.asleep()?;
        let after = self.cpu_ns();
        if identity != self.identity {
            return Err(Death::ChangedProcess);
        }
        if self.has_news(Duration::ZERO) {
            return Err(Death::WorksAfterReturn);
        }
        Ok(Spent {
            cpu_ns: after.saturating_sub(before),
            wall_ns,
            changed_modes: answer.detail,
        })
    }

    /// Reads one answer, for which the worker may compute this long.
    fn answer(&mut self, time: Duration) -> Result<Answer, Death> {
        let mut bytes = [0; ANSWER_BYTES];
        let patience = self.patience(time);
        while !self.has_news(LONGEST_LOOK_PAUSE) {
            if patience.is_over(self.cpu_ns()) {
                return Err(Death::TimedOut);
            }
        }
        match rustix::io::read(&self.answers, &mut bytes) {
            Ok(ANSWER_BYTES) => {}
            // What a runtime writes comes in one piece.
            Ok(1..) => return Err(Death::WorksAfterReturn),
            _ => return Err(self.death()),
        }
        let word = |idx: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[idx * 8..idx * 8 + 8]);
            u64::from_ne_bytes(word)
        };
        Ok(Answer {
            kind: word(0),
            detail: word(1),
            address: word(2),
            pc: word(3),
            access: word(4),
        })
    }

    /// Returns whether the worker says something, or ends, within this time.
    fn has_news(&self, time: Duration) -> bool {
        let mut polled = [PollFd::new(&self.answers, PollFlags::IN)];
        let time = Timespec {
            tv_sec: time.as_secs() as i64,
            tv_nsec: time.subsec_nanos().into(),
        };
        // A signal in between is no news.
        matches!(poll(&mut polled, Some(&time)), Ok(1..))
    }

    fn patience(&self, processor_time: Duration) -> Patience {
        Patience {
            cpu_end_ns: self.cpu_ns() + processor_time.as_nanos() as u64,
            wall_end: Instant::now() + processor_time * WALL_PER_PROCESSOR_TIME,
            pause: LOOK_PAUSE,
        }
    }

    /// Waits until the system says that the worker sleeps.
    fn asleep(&mut self) -> Result<Identity, Death> {
        let path = format!("/proc/{}/status", self.session.pid().as_raw_nonzero());
        let mut patience = self.patience(SLEEP_TIME);
        loop {
            let Ok(status) = std::fs::read_to_string(&path) else {
                return Err(self.death());
            };
            match field(&status, "State").chars().next() {
                Some('S') => return Ok(Identity::read(&status)),
                Some('Z' | 'X') => return Err(self.death()),
                _ if patience.is_over(self.cpu_ns()) => return Err(Death::WorksAfterReturn),
                _ => std::thread::sleep(patience.pause()),
            }
        }
    }

    /// Ends the worker, which has said nothing, and tells why it did not.
    fn death(&mut self) -> Death {
        self.commands = None;
        // It may be on its way out.
        let deadline = Instant::now() + END_TIME;
        while Instant::now() < deadline && !self.session.has_ended().unwrap_or(true) {
            std::thread::sleep(LOOK_PAUSE);
        }
        match self.session.end() {
            Ok(Exit::Signal(libc::SIGXCPU)) => Death::TimedOut,
            Ok(Exit::Code(code)) => Death::Exited(code),
            Ok(Exit::Signal(signal)) => Death::Killed(signal),
            Err(_) => Death::Killed(libc::SIGKILL),
        }
    }

    fn cpu_ns(&self) -> u64 {
        counted_ns(self.clock)
    }
}

/// How long a worker is waited for.
struct Patience {
    /// Processor time of the worker at which it is over, nanoseconds.
    cpu_end_ns: u64,
    wall_end: Instant,
    pause: Duration,
}

impl Patience {
    fn is_over(&self, cpu_ns: u64) -> bool {
        self.cpu_end_ns < cpu_ns || self.wall_end < Instant::now()
    }

    /// Returns how long to wait until the next look.
    fn pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_LOOK_PAUSE);
        pause
    }
}
