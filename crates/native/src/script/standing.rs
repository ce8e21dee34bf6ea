//! A process that has started a reference and answers one case after the other.

use super::exchange::{outputs, push_case, received, sent_bytes, told};
use super::{ANSWERED, CALLER_FILE, Script, WALL_PER_PROCESSOR_TIME, contradicted};
use crate::worker::{counted_ns, cpu_clock};
use autocomp_catalog::Problem;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_eval::symmetry::Answer;
use autocomp_sandbox::{SandboxPolicy, Session};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

/// Cases that one process answers; then another takes its place.
const MOST_CASES: usize = 128;
/// What it says when it has started.
const READY: u8 = 3;
/// How long it is waited for before its clock is looked at.
const LOOK: Duration = Duration::from_millis(50);

impl Script {
    /// Returns the answers of the process that is kept, which is started if need be. None where
    /// there is no use for one, another thread asks it, or it does not answer: a process of its own
    /// for the same cases answers then, or tells why there is no answer.
    ///
    /// # Errors
    /// [`EvalError::Input`] if it answers what was asked before otherwise now.
    pub(super) fn standing_answers(
        &self,
        problem: &Problem,
        cases: &[&Case],
    ) -> Result<Option<Vec<Answer>>, EvalError> {
        let (Some(control), Ok(mut kept)) = (self.control.get(), self.standing.try_lock()) else {
            return Ok(None);
        };
        let kept_before = kept.take().filter(|it| it.has_room(cases.len() + 1));
        let Some(mut standing) = kept_before.or_else(|| self.started(problem)) else {
            return Ok(None);
        };
        let length = 1 + outputs(problem).map(sent_bytes).sum::<usize>();
        let mut answers = Vec::new();
        for case in cases.iter().chain([&control]) {
            let mut request = Vec::new();
            push_case(problem, case, &mut request);
            let said = standing.ask(&request, length);
            let Some((&ANSWERED, content)) = said.as_deref().and_then(<[u8]>::split_first) else {
                return Ok(None);
            };
            answers.push(received(problem, &case.name, content)?);
        }
        if answers.pop().as_ref() != Some(&control.after) {
            return Err(contradicted(problem, &control.name));
        }
        *kept = Some(standing);
        Ok(Some(answers))
    }

    fn started(&self, problem: &Problem) -> Option<Standing> {
        let mut told = serde_json::to_vec(&told(problem)).ok()?;
        told.push(b'\n');
        let policy = self.policy(problem, MOST_CASES);
        let cpu = Duration::from_secs(self.call_seconds);
        let patience = Patience {
            cpu,
            wall: cpu * WALL_PER_PROCESSOR_TIME as u32,
        };
        let arguments = ["-B", CALLER_FILE];
        Standing::start(
            &policy,
            &self.interpreter.program,
            &arguments,
            &told,
            patience,
        )
    }

    /// Returns the number of the process that is kept, if there is one.
    #[doc(hidden)]
    pub fn standing_process(&self) -> Option<i32> {
        let kept = self.standing.lock().ok()?;
        kept.as_ref().map(Standing::process)
    }
}

/// The process; dropping it kills it.
#[derive(Debug)]
pub(super) struct Standing {
    // Killed before its pipes are closed.
    session: Session,
    to: OwnedFd,
    from: OwnedFd,
    clock: libc::clockid_t,
    limits: Patience,
    n_cases: usize,
}

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Processor time.
    cpu: Duration,
    wall: Duration,
}

impl Standing {
    /// Starts `program` on `arguments`, behind which it is told the numbers of its pipes, and says
    /// `told` to it. Nothing if it does not get ready: who starts it for a single request finds why.
    fn start(
        policy: &SandboxPolicy,
        program: &Path,
        arguments: &[&str],
        told: &[u8],
        limits: Patience,
    ) -> Option<Self> {
        let (input, to) = pipe_with(PipeFlags::CLOEXEC).ok()?;
        let (from, output) = pipe_with(PipeFlags::CLOEXEC).ok()?;
        for end in [&to, &from] {
            fcntl_setfl(end, fcntl_getfl(end).ok()? | OFlags::NONBLOCK).ok()?;
        }
        let numbers = [&input, &output].map(|it| it.as_raw_fd().to_string());
        let arguments: Vec<&str> = (arguments.iter().copied())
            .chain(numbers.iter().map(String::as_str))
            .collect();
        let descriptors = [input.as_fd(), output.as_fd()];
        let session = autocomp_sandbox::start(policy, program, &arguments, &descriptors).ok()?;
        // The process alone holds its ends now, so that they close with it.
        drop((input, output));
        let clock = cpu_clock(session.pid()).ok()?;
        let standing = Self {
            session,
            to,
            from,
            clock,
            limits,
            n_cases: 0,
        };
        let said = standing.exchange(told, 1)?;
        (said == [READY]).then_some(standing)
    }

    /// Returns whether it may answer `more` cases.
    fn has_room(&self, more: usize) -> bool {
        self.n_cases + more <= MOST_CASES
    }

    /// Returns the number of its process.
    fn process(&self) -> i32 {
        self.session.pid().as_raw_nonzero().get()
    }

    /// Returns `length` bytes that it says to a case. Nothing if it says less, or too late, or said
    /// something unasked; it is of no use any more then.
    fn ask(&mut self, case: &[u8], length: usize) -> Option<Vec<u8>> {
        self.n_cases += 1;
        match rustix::io::read(&self.from, &mut [0; 1]) {
            Err(Errno::AGAIN) => self.exchange(case, length),
            _ => None,
        }
    }

    fn exchange(&self, mut request: &[u8], length: usize) -> Option<Vec<u8>> {
        let cpu_end_ns = counted_ns(self.clock) + self.limits.cpu.as_nanos() as u64;
        let wall_end = Instant::now() + self.limits.wall;
        let mut said = Vec::with_capacity(length);
        let mut buffer = vec![0; 64 << 10];
        while !request.is_empty() || said.len() < length {
            if cpu_end_ns < counted_ns(self.clock) || wall_end < Instant::now() {
                return None;
            }
            self.wait(!request.is_empty());
            if !request.is_empty() {
                match rustix::io::write(&self.to, request) {
                    Ok(count) => request = &request[count..],
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(_) => return None,
                }
            }
            let room = buffer.len().min(length - said.len());
            if room == 0 {
                continue;
            }
            match rustix::io::read(&self.from, &mut buffer[..room]) {
                Ok(0) => return None,
                Ok(count) => said.extend_from_slice(&buffer[..count]),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        Some(said)
    }

    /// Waits for a while until it says something, or takes something if it is to be told more.
    fn wait(&self, has_more: bool) {
        let time = Timespec {
            tv_sec: 0,
            tv_nsec: LOOK.subsec_nanos().into(),
        };
        let mut polled = vec![PollFd::new(&self.from, PollFlags::IN)];
        if has_more {
            polled.push(PollFd::new(&self.to, PollFlags::OUT));
        }
        // Whatever comes of it, both are looked at.
        let _ = poll(&mut polled, Some(&time));
    }
}
