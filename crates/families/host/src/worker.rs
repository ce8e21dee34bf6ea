//! A confined process that calls one kernel, and what its calls cost.
//!
//! The worker waits for a command, makes the calls, and waits for the next
//! one. A command has been carried out when the operating system says that the
//! worker sleeps, and the only thing it may wait for is a command. Its cost is
//! the processor time that the operating system has charged to it since it
//! slept last: whatever a kernel does meanwhile, and whenever it says that it
//! is done, is in there. No number that a worker tells is used.

use crate::shared_memory::{SETUP_BYTES, SharedMemory};
use autocomp_eval::EvalError;
use autocomp_sandbox::{Exit, Limits, ProcessRule, SandboxPolicy, Session};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// First word of a setup; the runtime has the same.
const MAGIC: u64 = 0x616d_6f74_756f_6361;
/// What a worker says: that it is ready.
const READY: u64 = 1;
/// What a worker says: that it has made the calls.
const DONE: u64 = 2;
/// What a worker says: that the processor or the system stopped the kernel.
const FAULT: u64 = 3;
/// Flag of a setup: the kernel uses the state of matrix tiles.
const TILE_STATE: u64 = 1;
/// Time that a worker has to get ready.
const READY_TIME: Duration = Duration::from_secs(20);
/// Time that a worker has to fall asleep after it said that it is done.
const SLEEP_TIME: Duration = Duration::from_secs(5);
/// Pause between two looks at a worker that does not sleep yet.
const LOOK_PAUSE: Duration = Duration::from_micros(20);
/// Address space of a worker beyond its buffers, bytes: program, stack, static data.
const OWN_BYTES: u64 = 1 << 30;

/// How a worker is to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerSettings {
    /// Core that it runs on, if it is to stay on one.
    pub core: Option<usize>,
    /// Whether kernels use the state of matrix tiles.
    pub tile_state: bool,
    /// Wall time that one command may take.
    pub command_time: Duration,
}

/// What the calls of one command cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Processor time, nanoseconds.
    pub cpu_ns: u64,
    /// Wall time until it said that it is done, nanoseconds.
    pub wall_ns: u64,
    /// Modes of floating point that differ from those at the beginning.
    pub changed_modes: u64,
}

/// Why a worker cannot go on; the kernel's doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    /// It ended by itself instead of returning.
    Exited(i32),
    /// A signal killed it before it could say why.
    Killed(i32),
    /// The processor stopped it.
    Fault {
        /// Number of the signal.
        signal: i32,
        /// Address that was accessed.
        address: u64,
        /// Address of the instruction.
        pc: u64,
        /// Whether it wrote.
        write: bool,
    },
    /// It asked the operating system for something that kernels do not get.
    SystemCall {
        /// Number of the call.
        number: u64,
        /// Address of the instruction behind it.
        pc: u64,
    },
    /// It did not return in time.
    TimedOut,
    /// It went on running after it said that it was done, or said it twice.
    WorksAfterReturn,
    /// It is not alone in its process any more, or changed how signals are taken.
    ChangedProcess,
}

/// A confined process that calls one kernel.
#[derive(Debug)]
pub(crate) struct Worker {
    session: Session,
    commands: Option<OwnedFd>,
    answers: OwnedFd,
    clock: libc::clockid_t,
    settings: WorkerSettings,
    /// What the system says of it when it was set up.
    identity: Identity,
}

/// What must not change about a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Identity {
    threads: String,
    caught: String,
    ignored: String,
    blocked: String,
    seccomp: String,
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

impl Worker {
    /// Starts `program` on the buffers in `memory`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to run workers.
    /// A kernel cannot cause that: none of its code has run.
    pub(crate) fn start(
        program: &Path,
        memory: &mut SharedMemory,
        settings: WorkerSettings,
    ) -> Result<Self, EvalError> {
        let failed = |what: String| EvalError::Environment {
            message: format!("cannot run a kernel on this machine: {what}"),
            remedies: vec!["run `autocomp doctor` to see what this machine allows".into()],
        };
        let io = |what: &str, error: &dyn std::fmt::Display| failed(format!("{what}: {error}"));
        let (command_end, commands) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|error| io("no pipe", &error))?;
        let (answers, answer_end) =
            pipe_with(PipeFlags::CLOEXEC).map_err(|error| io("no pipe", &error))?;
        let filter = filter(command_end.as_raw_fd(), answer_end.as_raw_fd())
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
        let policy = policy(program, memory, settings.command_time);
        let session = autocomp_sandbox::start(&policy, program, &arguments, &descriptors)
            .map_err(|error| io("no sandbox", &error))?;
        drop((command_end, answer_end));
        let pid = session.pid();
        if let Some(core) = settings.core {
            let mut cores = rustix::thread::CpuSet::new();
            cores.set(core);
            rustix::thread::sched_setaffinity(Some(pid), &cores)
                .map_err(|error| io("it cannot stay on one core", &error))?;
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
        match worker.answer(Instant::now() + READY_TIME) {
            Ok(answer) if answer.kind == READY => {}
            Ok(answer) => return Err(failed(format!("the worker says {answer:x?}"))),
            Err(death) => return Err(failed(format!("the worker was not ready: {death:?}"))),
        }
        worker.identity = worker
            .asleep()
            .map_err(|death| failed(format!("the worker did not wait: {death:?}")))?;
        Ok(worker)
    }

    /// Calls the kernel on `count` sets of buffers, from `first` on.
    ///
    /// # Errors
    /// What the kernel did instead; the worker is then of no use any more.
    pub(crate) fn call(&mut self, first: usize, count: usize) -> Result<Spent, Death> {
        let mut command = [0; 16];
        command[..8].copy_from_slice(&(first as u64).to_ne_bytes());
        command[8..].copy_from_slice(&(count as u64).to_ne_bytes());
        let before = self.cpu_ns();
        let started = Instant::now();
        let sent = match &self.commands {
            Some(commands) => rustix::io::write(commands, &command).is_ok(),
            None => false,
        };
        if !sent {
            return Err(self.death());
        }
        let answer = self.answer(started + self.settings.command_time)?;
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
                    write: answer.access != 0,
                });
            }
            _ => return Err(Death::WorksAfterReturn),
        }
        let identity = self.asleep()?;
        let after = self.cpu_ns();
        if identity != self.identity {
            return Err(Death::ChangedProcess);
        }
        if self.has_news() {
            return Err(Death::WorksAfterReturn);
        }
        Ok(Spent {
            cpu_ns: after.saturating_sub(before),
            wall_ns,
            changed_modes: answer.detail,
        })
    }

    /// Reads one answer.
    fn answer(&mut self, deadline: Instant) -> Result<Answer, Death> {
        let mut bytes = [0; ANSWER_BYTES];
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: left.subsec_nanos().into(),
        };
        loop {
            let mut polled = [PollFd::new(&self.answers, PollFlags::IN)];
            match poll(&mut polled, Some(&timeout)) {
                Ok(0) => return Err(Death::TimedOut),
                Ok(_) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return Err(self.death()),
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

    fn has_news(&self) -> bool {
        let mut polled = [PollFd::new(&self.answers, PollFlags::IN)];
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        !matches!(poll(&mut polled, Some(&now)), Ok(0))
    }

    /// Waits until the system says that the worker sleeps.
    fn asleep(&mut self) -> Result<Identity, Death> {
        let path = format!("/proc/{}/status", self.session.pid().as_raw_nonzero());
        let deadline = Instant::now() + SLEEP_TIME;
        loop {
            let Ok(status) = std::fs::read_to_string(&path) else {
                return Err(self.death());
            };
            match field(&status, "State").chars().next() {
                Some('S') => return Ok(Identity::read(&status)),
                Some('Z' | 'X') => return Err(self.death()),
                _ if deadline < Instant::now() => return Err(Death::WorksAfterReturn),
                _ => std::thread::sleep(LOOK_PAUSE),
            }
        }
    }

    /// Ends the worker, which has said nothing, and tells why it did not.
    fn death(&mut self) -> Death {
        self.commands = None;
        // It may be on its way out.
        let deadline = Instant::now() + SLEEP_TIME;
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
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the call writes to `time` only.
        unsafe { libc::clock_gettime(self.clock, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }
}

impl Identity {
    fn of_nobody() -> Self {
        Self::read("")
    }

    fn read(status: &str) -> Self {
        let own = |name| field(status, name).to_owned();
        Self {
            threads: own("Threads"),
            caught: own("SigCgt"),
            ignored: own("SigIgn"),
            blocked: own("SigBlk"),
            seccomp: own("Seccomp"),
        }
    }
}

/// Returns the value of one line of `/proc/PID/status`.
fn field<'s>(status: &'s str, name: &str) -> &'s str {
    status
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
        .unwrap_or("")
        .trim()
}

/// Returns the clock that counts the processor time of a process.
fn cpu_clock(pid: rustix::process::Pid) -> std::io::Result<libc::clockid_t> {
    let mut clock = 0;
    // SAFETY: the call writes to `clock` only.
    match unsafe { libc::clock_getcpuclockid(pid.as_raw_nonzero().get(), &raw mut clock) } {
        0 => Ok(clock),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

fn policy(program: &Path, memory: &SharedMemory, command_time: Duration) -> SandboxPolicy {
    let buffers: usize = memory
        .places()
        .iter()
        .flatten()
        .map(|p| p.region_bytes)
        .sum();
    SandboxPolicy {
        working_folder: "/".into(),
        readable: Vec::new(),
        executable: vec![program.to_owned()],
        writable: Vec::new(),
        environment: Vec::new(),
        limits: Limits {
            wall: command_time,
            // Of all commands together; the parent watches the single ones.
            cpu_seconds: 600,
            address_space_bytes: OWN_BYTES + SETUP_BYTES as u64 + buffers as u64,
            file_bytes: 0,
            output_bytes: 0,
            open_files: 64,
            processes: ProcessRule::Single,
        },
    }
}

/// Returns the filter that a worker confines itself with before it runs the
/// kernel: it may wait for commands, answer, and end.
fn filter(commands: i32, answers: i32) -> Result<BpfProgram, seccompiler::Error> {
    let on = |descriptor: i32| -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
        let is = SeccompCondition::new(
            0,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Eq,
            descriptor as u64,
        )?;
        Ok(vec![SeccompRule::new(vec![is])?])
    };
    let rules = BTreeMap::from([
        (libc::SYS_read, on(commands)?),
        (libc::SYS_write, on(answers)?),
        (libc::SYS_exit_group, Vec::new()),
    ]);
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Trap, SeccompAction::Allow, arch)?;
    Ok(BpfProgram::try_from(filter)?)
}

/// Writes what a worker needs to know.
fn write_setup(
    memory: &mut SharedMemory,
    filter: &BpfProgram,
    tile_state: bool,
) -> Result<(), &'static str> {
    let places = memory.places();
    let n_arguments = places.first().map_or(0, Vec::len);
    let n_places = places.iter().flatten().count();
    let page = memory.page();
    let words = 7 + 4 * n_places + n_places + filter.len();
    let bytes = (words * 8).next_multiple_of(page);
    if SETUP_BYTES < bytes || 16384 < n_places {
        return Err("too many sets of buffers for one worker");
    }
    let mut setup: Vec<u64> = vec![
        MAGIC,
        bytes as u64,
        n_places as u64,
        n_arguments as u64,
        n_places as u64,
        filter.len() as u64,
        if tile_state { TILE_STATE } else { 0 },
    ];
    for place in places.iter().flatten() {
        setup.extend([
            place.address,
            place.region as u64,
            place.region_bytes as u64,
            u64::from(place.writable),
        ]);
    }
    for place in places.iter().flatten() {
        setup.push(place.address + place.inset as u64);
    }
    let mut text: Vec<u8> = setup.iter().flat_map(|word| word.to_ne_bytes()).collect();
    for instruction in filter {
        text.extend(instruction.code.to_ne_bytes());
        text.extend([instruction.jt, instruction.jf]);
        text.extend(instruction.k.to_ne_bytes());
    }
    memory.setup_mut()[..text.len()].copy_from_slice(&text);
    Ok(())
}
