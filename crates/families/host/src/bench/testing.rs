//! Whether a kernel is right.

use super::HostBench;
use crate::building::{Kind, Program};
use crate::calls::Calls;
use crate::counters::{Counters, availability};
use crate::library;
use crate::offences;
use crate::timing_core::TimingCore;
use crate::worker::WorkerSettings;
use autocomp_core::{Diagnostic, Outcome};
use autocomp_eval::EvalError;

/// A kernel that takes longer is tested on each input set only once, nanoseconds.
const TEST_ONCE_NS: f64 = 1e8;

/// What tests found.
#[derive(Debug)]
pub enum Tested {
    /// All outputs are right; roughly what a call takes, nanoseconds.
    Right {
        /// Processor time of the fastest call.
        call_ns: f64,
    },
    /// Something is wrong.
    Failed(Outcome, Box<Diagnostic>),
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
        // The declaration makes the compiler compare the types of parameters.
        let text = format!("{source}\n{};\n", self.problem.signature);
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

    /// Tests a kernel on every input set, in one worker: in order, and again
    /// in the opposite order, which shows what is kept between calls.
    ///
    /// # Errors
    /// [`EvalError`] if the machine does not allow to run kernels.
    pub fn test(&self, program: &Program, source: &str) -> Result<Tested, EvalError> {
        let prepared = self.prepared()?;
        let tests = &prepared.tests;
        let mut calls = Calls::new(&self.problem, tests.len(), self.settings.seed)?;
        let mut worker = calls.start(program, self.worker)?;
        let mut call_ns = f64::INFINITY;
        let forward: Vec<usize> = (0..tests.len()).collect();
        let backward: Vec<usize> = forward.iter().rev().copied().collect();
        for (pass, order) in [forward, backward].into_iter().enumerate() {
            for set in order {
                let case = &tests[set];
                calls.fill(set, case);
                match calls.call(&mut worker, set, &[case]) {
                    Ok(spent) => {
                        let own = spent.cpu_ns as f64 - prepared.overhead_ns;
                        call_ns = call_ns.min(own.max(1.0));
                    }
                    Err(offence) => {
                        let (outcome, found) = offences::verdict(offence, &calls, program, source);
                        return Ok(Tested::Failed(outcome, Box::new(found)));
                    }
                }
            }
            if pass == 0 && TEST_ONCE_NS < call_ns {
                break;
            }
        }
        Ok(Tested::Right { call_ns })
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
        let mut calls = Calls::new(&self.problem, 2, self.settings.seed).map_err(said)?;
        let settings = WorkerSettings {
            core: core.core(),
            ..self.worker
        };
        let mut worker = calls.start(program, settings).map_err(said)?;
        let counters = Counters::of(worker.process())?;
        for (set, is_counted) in [(0, false), (1, true)] {
            let case = &prepared.timed[set % prepared.timed.len()];
            calls.fill(set, case);
            counters.run(is_counted);
            let called = calls.call(&mut worker, set, &[case]);
            counters.run(false);
            called.map_err(|offence| format!("the counted call went wrong: {offence:?}"))?;
        }
        Ok(counters.read())
    }
}
