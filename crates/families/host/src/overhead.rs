//! What running a kernel costs whatever it does: measured with one that does nothing, which
//! also tells whether this machine can start workers at all.

use autocomp_catalog::Problem;
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_measuring::statistics::median;
use autocomp_native::{Calls, Death, Offence, Placement, Program, Spent, WorkerSettings};

/// Measurements that the median is taken of.
const MEASUREMENTS: usize = 31;
/// Calls of a command that tells what a call adds.
const CALLS: usize = 16;

/// A kernel that does nothing, and what its calls cost.
#[derive(Debug)]
pub(crate) struct Overhead {
    program: Program,
    /// Processor time of a command with one call, nanoseconds.
    command_ns: f64,
    /// What each further call adds.
    call_ns: f64,
}

impl Overhead {
    /// Measures `program`, whose kernel does nothing.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if workers cannot be started here.
    pub(crate) fn of(
        program: Program,
        problem: &Problem,
        settings: WorkerSettings,
    ) -> Result<Self, EvalError> {
        let sets = [Placement::AtTheStart; CALLS];
        let started = Calls::start(problem, &program, &sets, settings, Seed(0))?;
        let mut calls = started.map_err(|_| cannot_start())?;
        let (mut of_one, mut of_many) = (Vec::new(), Vec::new());
        for _ in 0..MEASUREMENTS {
            for (count, times) in [(1, &mut of_one), (CALLS, &mut of_many)] {
                let spent = calls.run(0..count, settings.command_time);
                let spent = spent.map_err(|offence| {
                    EvalError::Fault(format!("a kernel that does nothing fails: {offence:?}"))
                })?;
                times.push(spent.cpu_ns as f64);
            }
        }
        let command_ns = median(&of_one);
        let more_ns = (median(&of_many) - command_ns).max(0.0);
        Ok(Self {
            program,
            command_ns,
            call_ns: more_ns / (CALLS - 1) as f64,
        })
    }

    /// Returns whether the kernel of a program has variables, which hold over calls.
    pub(crate) fn is_exceeded_by_variables_of(&self, program: &Program) -> bool {
        self.program.variable_bytes() < program.variable_bytes()
    }

    /// Returns what of a command with so many calls is the kernel's own, nanoseconds.
    pub(crate) fn own_ns(&self, spent: Spent, calls: usize) -> f64 {
        let others = self.command_ns + self.call_ns * (calls - 1) as f64;
        (spent.cpu_ns as f64 - others).max(1.0)
    }

    /// Starts `program` as [`Calls::start`] does. The inner error is the kernel's doing.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if not even a kernel that does nothing starts.
    pub(crate) fn start<'p>(
        &self,
        problem: &'p Problem,
        program: &Program,
        sets: &[Placement],
        settings: WorkerSettings,
        seed: Seed,
    ) -> Result<Result<Calls<'p>, Offence>, EvalError> {
        let start = |program| Calls::start(problem, program, sets, settings, seed);
        let death = match start(program) {
            Ok(Ok(calls)) => return Ok(Ok(calls)),
            Ok(Err(death @ Death::TooLarge { .. })) => death,
            failed => match start(&self.program) {
                // The machine is not to blame.
                Ok(Ok(_)) => Death::NotStarted,
                _ => return Err(failed.err().unwrap_or_else(cannot_start)),
            },
        };
        Ok(Err(Offence::Died { death, place: None }))
    }
}

fn cannot_start() -> EvalError {
    EvalError::Environment {
        message:
            "cannot run a kernel on this machine: one that does nothing ended before it was called"
                .into(),
        remedies: vec![
            "make memory free: other programs may have it".into(),
            "run `autocomp doctor` to see what this machine allows".into(),
        ],
    }
}
