//! Whether a kernel is right.

use super::HostBench;
use super::preparation::Prepared;
use crate::counters::{Counters, availability};
use crate::timing_core::TimingCore;
use autocomp_core::{Diagnostic, Outcome};
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_native::{
    Calls, Kind, Numbers, Offence, Placement, Program, WorkerSettings, library, verdict,
};
use std::time::Duration;

/// A kernel that takes longer is tested on each input set only once, nanoseconds.
const TEST_ONCE_NS: f64 = 1e8;

/// What tests found.
#[derive(Debug)]
pub enum Tested {
    /// All outputs are right.
    Right(Right),
    /// Something is wrong.
    Failed(Outcome, Box<Diagnostic>),
}

/// A kernel that passed all tests.
#[derive(Clone, Copy, Debug)]
pub struct Right {
    /// Processor time of its fastest call, nanoseconds.
    pub call_ns: f64,
    /// Processor time of all tests.
    pub spent: Duration,
}

impl HostBench {
    /// Builds a kernel.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine does not allow to build.
    pub fn build(&self, source: &str) -> Result<Result<Program, Vec<Diagnostic>>, EvalError> {
        if let Some(name) = library::wanted(source, &self.problem) {
            return match library::find(name) {
                Ok(place) => self.builder.build_with_library("kernel.c", source, &place),
                Err(found) => Ok(Err(vec![*found])),
            };
        }
        let text = self.completed(source);
        let built = self.builder.build("kernel.c", &text, Kind::Kernel)?;
        let lines = source.lines().count() as u32;
        Ok(built.map_err(|mut found| {
            for diagnostic in &mut found {
                if diagnostic
                    .location
                    .take_if(|place| lines < place.line)
                    .is_some()
                {
                    diagnostic.notes.clear();
                    diagnostic.remedy =
                        Some(format!("define `{} {{ … }}`", self.problem.signature));
                }
            }
            found
        }))
    }

    /// Tests a kernel: once where buffers end at the end of their pages, so that a read
    /// beyond them is told with its line; then in another worker on every input set, in order
    /// and again in the opposite order, which shows what is kept between calls.
    ///
    /// # Errors
    /// [`EvalError`] if the machine does not allow to run kernels.
    pub fn test(&self, program: &Program, source: &str) -> Result<Tested, EvalError> {
        let prepared = self.prepared()?;
        let mut testing = Testing {
            bench: self,
            prepared,
            program,
            call_ns: f64::INFINITY,
            spent: Duration::ZERO,
        };
        let tested = match testing.at_the_end_of_pages()? {
            Ok(()) => testing.on_all_sets()?,
            failed => failed,
        };
        Ok(match tested {
            Ok(()) => Tested::Right(Right {
                call_ns: testing.call_ns,
                spent: testing.spent,
            }),
            Err(offence) => {
                let (outcome, found) = verdict(offence, program, source);
                Tested::Failed(outcome, Box::new(found))
            }
        })
    }

    /// Counts events in the processor during one call of a kernel that is right.
    ///
    /// # Errors
    /// Why nothing was counted, in a sentence for people.
    pub(crate) fn count(&self, program: &Program) -> Result<Vec<(&'static str, f64)>, String> {
        availability()?;
        let said = |error: EvalError| error.to_string();
        let prepared = self.prepared().map_err(said)?;
        let core = TimingCore::take(&self.settings.cache_folder).map_err(said)?;
        let settings = WorkerSettings {
            core: core.core(),
            ..self.worker
        };
        let sets = [Placement::AtTheStart, Placement::NearTheEnd];
        let seed = self.settings.seed;
        let started = Calls::start(&self.problem, program, &sets, settings, seed).map_err(said)?;
        let mut calls = started.map_err(|death| format!("no worker starts: {death:?}"))?;
        let counters = Counters::of(calls.process())?;
        for (set, is_counted) in [(0, false), (1, true)] {
            let case = &prepared.timed[set % prepared.timed.len()];
            calls.fill(set, case);
            counters.run(is_counted);
            let called = calls.call(set, &[case], settings.command_time);
            counters.run(false);
            called.map_err(|offence| format!("the counted call went wrong: {offence:?}"))?;
        }
        Ok(counters.read())
    }
}

/// The tests of one kernel.
struct Testing<'b> {
    bench: &'b HostBench,
    prepared: &'b Prepared,
    program: &'b Program,
    /// Processor time of the fastest call so far, nanoseconds.
    call_ns: f64,
    /// Processor time of all calls so far.
    spent: Duration,
}

impl Testing<'_> {
    fn on_all_sets(&mut self) -> Result<Result<(), Offence>, EvalError> {
        let bench = self.bench;
        let tests = &self.prepared.tests;
        let sets: Vec<Placement> = (0..tests.len())
            .map(|set| [Placement::AtTheStart, Placement::NearTheEnd][set % 2])
            .collect();
        let overhead = &self.prepared.overhead;
        let seed = bench.settings.seed;
        let started = overhead.start(&bench.problem, self.program, &sets, bench.worker, seed)?;
        let mut calls = match started {
            Ok(calls) => calls,
            Err(offence) => return Ok(Err(offence)),
        };
        let forward: Vec<usize> = (0..tests.len()).collect();
        let backward: Vec<usize> = forward.iter().rev().copied().collect();
        for (pass, order) in [forward, backward].into_iter().enumerate() {
            for set in order {
                calls.fill(set, &tests[set]);
                if let Err(offence) = self.call(&mut calls, set, &tests[set]) {
                    return Ok(Err(offence));
                }
            }
            if pass == 0 && TEST_ONCE_NS < self.call_ns {
                break;
            }
        }
        if !overhead.is_exceeded_by_variables_of(self.program) {
            return Ok(Ok(()));
        }
        // What is kept may be taken for the result of other inputs that are alike in part.
        for case in bench.alike(self.prepared)? {
            calls.fill(0, case);
            if let Err(offence) = self.call(&mut calls, 0, case) {
                return Ok(Err(offence));
            }
        }
        Ok(Ok(()))
    }

    /// Makes calls whose buffers end where their pages do. Those of an odd size are not
    /// aligned there: a kernel that needs what the problem promises of alignment is called
    /// as near to the end as that allows.
    fn at_the_end_of_pages(&mut self) -> Result<Result<(), Offence>, EvalError> {
        match self.among_numbers(Placement::AtTheEnd)? {
            Err(offence) if offence.is_misalignment() && !self.bench.is_aligned_at_the_end() => {
                self.among_numbers(Placement::NearTheEnd)
            }
            called => Ok(called),
        }
    }

    /// Makes a call with each kind of ordinary numbers around the buffers.
    fn among_numbers(&mut self, placement: Placement) -> Result<Result<(), Offence>, EvalError> {
        let bench = self.bench;
        let Some(case) = self.prepared.tests.first() else {
            return Ok(Ok(()));
        };
        let overhead = &self.prepared.overhead;
        let sets = Numbers::ALL.map(|_| placement);
        let seed = bench.settings.seed.derive("end of pages");
        let started = overhead.start(&bench.problem, self.program, &sets, bench.worker, seed)?;
        let mut calls = match started {
            Ok(calls) => calls,
            Err(offence) => return Ok(Err(offence)),
        };
        for (set, numbers) in Numbers::ALL.into_iter().enumerate() {
            calls.fill_among_numbers(set, case, numbers);
            if let Err(offence) = self.call(&mut calls, set, case) {
                return Ok(Err(offence));
            }
        }
        Ok(Ok(()))
    }

    /// Makes a call on a set that was filled with a case.
    fn call(&mut self, calls: &mut Calls<'_>, set: usize, case: &Case) -> Result<(), Offence> {
        let allowed = self.bench.settings.evaluation_time;
        let left = allowed.saturating_sub(self.spent);
        let spent = calls.call(set, &[case], left)?;
        let own_ns = self.prepared.overhead.own_ns(spent, 1);
        self.call_ns = self.call_ns.min(own_ns);
        self.spent += Duration::from_nanos(spent.cpu_ns);
        match self.spent < allowed {
            true => Ok(()),
            false => Err(Offence::TooSlow {
                call_ns: self.call_ns,
                allowed,
            }),
        }
    }
}
