//! One problem on a board: kernels are checked on a simulated machine, and only what is right
//! there runs and is timed on the board.

use crate::device::{Board, State, runner};
use crate::job::Job;
use crate::pairs::{Duel, Failure, alike, calls_for};
use crate::settings::Settings;
use autocomp_bare_metal::{Image, KernelEvaluator, Platform};
use autocomp_catalog::Ranking;
use autocomp_core::{ContentHash, Cost, Diagnostic, Outcome, Seed, Severity, Stage};
use autocomp_eval::comparison::compare as differences;
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::Profile;
use autocomp_eval::{Bench, EvalError, Evaluator, Opening, TierClock, Verdict};
use autocomp_measuring::statistics::median;
use autocomp_measuring::{
    Compared, Effort, Lease, Paired, Side, Twin, TwinBench, clock_changed, compare,
    measured_profile,
};
use autocomp_remote::Machine;
use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

/// Hash of what works the board.
const SOURCES: &str = env!("AUTOCOMP_BOARD_HASH");

/// Share of what the simulated machine needs at least that is certain on a board, whose clock may
/// be higher.
const CERTAIN: f64 = 0.5;

/// A measurement takes a connection: fewer rounds, and more time for them.
const EFFORT: Effort = Effort {
    least_rounds: 7,
    most_rounds: 20,
    wall: Duration::from_secs(60),
    half_width: 0.01,
    confidence: 0.99,
    confirmation: 1,
    far: 2.0,
};

/// Input sets that timed calls draw from.
const TIMED_CASES: usize = 2;

/// Bytes that are in no cache of a board.
const BEYOND_CACHES: usize = 16 << 20;

/// What a board says of a right kernel.
#[derive(Debug)]
pub struct Measured {
    paired: Paired,
    before: State,
    after: State,
    simulated: Cost,
}

impl Measured {
    fn compared(&self) -> Compared<'_> {
        Compared {
            candidate_ns: &self.paired.candidate_ns,
            ratio: self.paired.interval.ends(),
        }
    }
}

/// One problem on one board.
#[derive(Debug)]
pub struct BoardBench<P: Platform> {
    simulated: KernelEvaluator<P>,
    settings: Settings,
    machine: Machine,
    /// Of the simulated core, cycles in a microsecond.
    megahertz: u64,
    /// What compilers call the instructions that kernels are compiled to.
    instructions: &'static str,
    cache_folder: PathBuf,
    runner: OnceLock<Vec<u8>>,
}

impl<P: Platform> BoardBench<P> {
    /// Opens a board beside the evaluator on the machine that simulates it, which has so many
    /// cycles in a microsecond. `instructions` are what compilers call those that the board must
    /// have (`rv64gc`).
    pub fn open(
        opening: &Opening<'_>,
        settings: Settings,
        simulated: KernelEvaluator<P>,
        megahertz: u64,
        instructions: &'static str,
    ) -> TwinBench<Self> {
        let (target, name) = (opening.target, opening.machine);
        let surroundings = opening.surroundings;
        let path = surroundings.path.as_deref();
        let machine = Machine::new(settings.host.as_ref(), path).with_manners(settings.manners());
        let engine = format!("board {} machine={name} on {}", target.name, machine.name());
        let text = target.machine(Some(name)).unwrap_or_default();
        let of_board = ("evaluation on a board", &[text, SOURCES][..]);
        let use_cache = opening.settings.use_cache;
        let board = Self {
            simulated,
            settings,
            machine,
            megahertz: megahertz.max(1),
            instructions,
            cache_folder: surroundings.cache_folder.clone(),
            runner: OnceLock::new(),
        };
        TwinBench::new(board, engine, of_board, use_cache)
    }

    fn runner(&self) -> Result<&[u8], EvalError> {
        if let Some(runner) = self.runner.get() {
            return Ok(runner);
        }
        let made = runner(self.simulated.toolchain(), &self.cache_folder)?;
        Ok(self.runner.get_or_init(|| made))
    }

    fn image(&self, source: &str) -> Result<Image, EvalError> {
        let image = self.simulated.image(source)?;
        image.ok_or_else(|| EvalError::Fault("a kernel that was right does not build".into()))
    }

    /// Tests a kernel on the board, and times it against the problem's own.
    fn on_board(
        &self,
        source: &str,
        key: ContentHash,
    ) -> Result<Result<(Paired, [State; 2]), Verdict>, EvalError> {
        let problem = self.simulated.problem();
        let baseline = problem
            .kernel("baseline")
            .map_err(|error| EvalError::Input {
                message: error.to_string(),
                remedies: vec!["add baseline.c to the problem".into()],
            })?;
        let (candidate, base) = (self.image(source)?, self.image(baseline)?);
        // Nobody's to know.
        let own = Seed(RandomState::new().build_hasher().finish());
        let folder = format!("{key}-{:016x}", own.0);
        let folder = self.settings.folder.join(folder);
        let name = self.machine.name().replace('/', "_");
        let lease = Lease::take(
            &self.cache_folder,
            &format!("board-{name}-{}", self.settings.core),
        )?;
        let board = Board::new(self.machine.folder(folder)?, self.runner()?, &self.settings)?;
        for (number, case) in self.simulated.cases_of(source)?.iter().enumerate() {
            let seed = own.derive(&format!("test {number}"));
            let tested = self.test(&board, (&candidate, "test"), case, seed)?;
            if let Err(verdict) = tested {
                return Ok(Err(verdict));
            }
        }
        let before = board.cool()?;
        let mut jobs = [Vec::new(), Vec::new()];
        let mut calls = [0; 2];
        for number in 0..TIMED_CASES {
            let seed = own.derive(&format!("timed {number}"));
            let case = self.simulated.drawn_case(seed)?;
            for (idx, image) in [&candidate, &base].into_iter().enumerate() {
                let name = format!("job{idx}.{number}");
                match self.test(&board, (image, &name), &case, seed)? {
                    Ok((ns, right)) => {
                        calls[idx] = calls_for(ns);
                        jobs[idx].push((name, right));
                    }
                    Err(verdict) if idx == 0 => return Ok(Err(verdict)),
                    Err(verdict) => return Err(self.base_fails(&verdict)),
                }
            }
        }
        let mut duel = Duel {
            board: &board,
            jobs: [&jobs[0], &jobs[1]],
            calls,
            flushed: self.flushed(),
            seed: own.derive("sets"),
            seconds: self.settings.seconds,
            instructions: self.instructions,
            spent_ns: 0.0,
        };
        match compare(&mut duel, lease.seed(), EFFORT, Duration::MAX) {
            Ok(paired) => Ok(Ok((paired, [before, board.state()?]))),
            Err(Failure::Kernel(Side::Candidate, verdict)) => Ok(Err(*verdict)),
            Err(Failure::Kernel(Side::Base, verdict)) => Err(self.base_fails(&verdict)),
            Err(Failure::Board(error)) => Err(error),
        }
    }

    fn flushed(&self) -> usize {
        match self.simulated.problem().ranking {
            Ranking::Cold => BEYOND_CACHES,
            Ranking::Warm => 0,
        }
    }

    fn base_fails(&self, verdict: &Verdict) -> EvalError {
        let found = verdict.diagnostics.first();
        EvalError::Environment {
            message: format!(
                "baseline.c of {} is right in the simulator and not on the board: {}",
                self.simulated.problem().name,
                found.map_or("it fails", |it| &it.message)
            ),
            remedies: vec![
                "see whether the board is what the target describes".into(),
                format!(
                    "or take a simulated machine: --machine {}",
                    self.settings.simulated
                ),
            ],
        }
    }

    /// Runs a kernel on an input set, whose job gets a name, and compares what it leaves;
    /// returns the nanoseconds of a call and the digest of its results.
    fn test(
        &self,
        board: &Board<'_>,
        (image, name): (&Image, &str),
        case: &Case,
        seed: Seed,
    ) -> Result<Result<(f64, u64), Verdict>, EvalError> {
        let problem = self.simulated.problem();
        let job = Job::new(image, problem, case, seed)?;
        board.put(name, &job)?;
        let ran = board.run(name, 1, self.flushed())?;
        let (times, left) = match alike(ran, self.settings.seconds, self.instructions) {
            Ok(alike) => alike,
            Err(verdict) => return Ok(Err(*verdict)),
        };
        let results = board.results(left)?;
        let mut rest = results.as_slice();
        let mut poisons = job.poisons.iter();
        let mut found = Vec::new();
        for (idx, buffer) in problem.buffers.iter().enumerate() {
            let (true, Some(right)) = (buffer.is_written(), &case.after[idx]) else {
                continue;
            };
            let (Some((got, others)), Some(poison)) =
                (rest.split_at_checked(buffer.bytes()), poisons.next())
            else {
                return Err(EvalError::Fault("the runner left too few results".into()));
            };
            rest = others;
            found.extend(differences(
                buffer,
                right,
                got,
                poison,
                problem.tolerance,
                1,
            ));
        }
        for diagnostic in &mut found {
            let set = format!("on the board, with input set {}", case.name);
            diagnostic.notes.push(set);
            diagnostic
                .notes
                .push("the simulator accepts this kernel".into());
        }
        Ok(match found.is_empty() {
            true => Ok((median(&times), left)),
            false => Err(Verdict::failed(Outcome::Wrong, found)),
        })
    }

    fn words(&self, measured: &Measured) -> String {
        let mut device = self.machine.name().to_owned();
        if let Some(mhz) = measured.before.mhz {
            device += &format!(" at {mhz:.0} MHz");
        }
        let simulated_ns = measured.simulated.value as f64 * 1e3 / self.megahertz as f64;
        let compared = measured.compared();
        compared.words(&device, simulated_ns, &self.settings.simulated)
    }
}

impl<P: Platform> Twin for BoardBench<P> {
    type Measured = Measured;

    fn simulated(&self) -> &dyn Bench {
        &self.simulated
    }

    fn floor(&self) -> Cost {
        let cycles = self.simulated.ideal_cycles() as f64;
        let ns = cycles * 1e3 / self.megahertz as f64 * CERTAIN;
        Cost::nanoseconds(ns as u64, 0)
    }

    fn judge(
        &self,
        source: &str,
        key: ContentHash,
        clock: &mut TierClock,
    ) -> Result<Result<Measured, Verdict>, EvalError> {
        let evaluation = clock.measure("simulate", || self.simulated.evaluate(source))?;
        let Some(simulated) = evaluation.cost() else {
            let found = evaluation.diagnostics;
            return Ok(Err(Verdict::failed(evaluation.outcome, found)));
        };
        let measured = clock.measure("board", || self.on_board(source, key))?;
        Ok(measured.map(|(paired, [before, after])| Measured {
            paired,
            before,
            after,
            simulated,
        }))
    }

    fn verdict(&self, measured: &Measured, engine: &str) -> Verdict {
        let Measured {
            before,
            after,
            simulated,
            ..
        } = measured;
        let mut told = Vec::new();
        if let (Some(before), Some(after)) = (before.mhz, after.mhz) {
            told.extend(clock_changed("the core", before, after));
        }
        let wanted = &self.settings.governor;
        if let Some(governor) = before.governor.as_ref().filter(|it| *it != wanted) {
            told.push(Diagnostic {
                stage: Stage::Time,
                severity: Severity::Warning,
                code: "governor".to_owned(),
                message: format!(
                    "the clock of the core is governed by `{governor}`, not by `{wanted}`"
                ),
                location: None,
                notes: Vec::new(),
                remedy: Some(format!(
                    "on the board: echo {wanted} > /sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor",
                    self.settings.core
                )),
            });
        }
        let of_state = [
            ("mhz", before.mhz),
            ("mhz_after", after.mhz),
            ("celsius", before.celsius),
            ("celsius_after", after.celsius),
        ];
        let mut figures: BTreeMap<String, u64> = of_state
            .into_iter()
            .filter_map(|(name, value)| Some((name.to_owned(), value?.round() as u64)))
            .collect();
        figures.insert("simulated_cycles".to_owned(), simulated.value);
        let compiler = self.simulated.facts().compiler();
        measured.compared().verdict(
            engine,
            (self.floor(), compiler),
            figures,
            (self.words(measured), told),
        )
    }

    fn profile(&self, measured: &Measured) -> Profile {
        let data = serde_json::json!({
            "candidate_ns": measured.paired.candidate_ns,
            "base_ns": measured.paired.base_ns,
        });
        measured_profile(&self.words(measured), data)
    }
}
