//! The cascade check, build, test, time for one problem.

use crate::cases::Cases;
use crate::findings::{self, Kernel};
use crate::image::{Image, PROGRAM_BYTES, code_hash};
use crate::inclusions;
use crate::misuse::Misuse;
use crate::oracle::{Oracle, with_declaration};
use crate::platform::{Platform, SourceHashes};
use crate::runtime;
use crate::timed_calls::Judged;
use crate::trial::Trial;
use autocomp_c::{C, check, doubts};
use autocomp_catalog::{InputSet, Problem, ReferenceLanguage, Roofline, Target};
use autocomp_core::{
    ContentHash, ContentHasher, Cost, Diagnostic, Evaluation, Language, Outcome, Seed, Unit,
};
use autocomp_eval::ThreadCount;
use autocomp_eval::TierClock;
use autocomp_eval::Verdict;
use autocomp_eval::inputs::Case;
use autocomp_eval::timeline::Timeline;
use autocomp_eval::{CachePart, FileStore};
use autocomp_eval::{EvalError, Evaluations, Evaluator, EvaluatorSettings};
use autocomp_native::{Reference, Script};
use autocomp_riscv::Limits;
use autocomp_toolchain::build::{Build, Builder, Loops, Rules, Source};
use autocomp_toolchain::{Compiler, Toolchain};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex, OnceLock};

/// Name of kernels in diagnostics.
const KERNEL_FILE: &str = "kernel.c";

/// Instructions that any kernel may take.
const MIN_INSTRUCTIONS: u64 = 20_000_000;

/// Instructions beyond that, per cycle of the physical floor. A kernel that
/// computes on the core alone needs about 1500 and is told that it is too slow.
const INSTRUCTIONS_PER_IDEAL_CYCLE: u64 = 200;

/// Cycles that a kernel may take, per instruction that it may take.
const CYCLES_PER_INSTRUCTION: u64 = 8;

/// What profiling a kernel gives.
#[derive(Clone, Debug)]
pub enum Explained<T> {
    /// The kernel is right; this is where its cycles go.
    Right {
        /// Sums.
        profile: Box<T>,
        /// What happened when, if the platform tells.
        timeline: Option<Timeline>,
    },
    /// The kernel is not right, and there is nothing to profile.
    Failed(Box<Evaluation>),
}

/// Evaluates kernels for one problem on the simulated machines of a platform.
///
/// Threads may share it, and processes its cache folder.
#[derive(Debug)]
pub struct KernelEvaluator<P> {
    pub(crate) problem: Problem,
    pub(crate) platform: P,
    builder: Builder,
    /// What decides answers beside the problem, where Python gives them.
    reference_key: String,
    header: Option<String>,
    macros: Vec<(String, String)>,
    pub(crate) evaluations: Evaluations,
    answers: FileStore,
    cache_folder: PathBuf,
    cases: OnceLock<Vec<Case>>,
    host: OnceLock<Arc<Reference>>,
    /// Held while right answers are computed.
    computing: Mutex<()>,
    pub(crate) settings: EvaluatorSettings,
    threads: ThreadCount,
    /// Cycles that no kernel can be below.
    pub(crate) ideal: u64,
    pub(crate) roofline: Roofline,
    /// Name of the target that has it.
    pub(crate) target: String,
    identity: ContentHash,
}

impl<P: Platform> KernelEvaluator<P> {
    /// Prepares to evaluate kernels for `problem` on the machines of `platform`, which is
    /// one of `target`.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the runtime does not build or the cache folder cannot
    /// be written; [`EvalError::Input`] if the target has no roofline in cycles.
    pub fn new(
        platform: P,
        problem: &Problem,
        target: &Target,
        toolchain: Toolchain,
        cache_folder: &Path,
        settings: EvaluatorSettings,
    ) -> Result<Self, EvalError> {
        let SourceHashes { all, family } = platform.sources();
        let files = runtime::files(target);
        let mut compiler = Compiler::new(toolchain, platform.compile_target())?;
        if let Some(library) = platform.library() {
            compiler = compiler.with_library(library);
        }
        let mut builder = Builder::new(compiler, files, problem.entry_symbol(), cache_folder)?
            .with_most_bytes(PROGRAM_BYTES)
            .decided_by(all);
        if !settings.use_cache {
            builder = builder.without_cache();
        }
        let roofline = target.roofline.filter(|it| it.unit == Unit::Cycles);
        let roofline = roofline.ok_or_else(|| EvalError::Input {
            message: format!("target {} has no roofline in cycles", target.name),
            remedies: vec![
                "give `peak_macs_per_cycle` and `bytes_per_cycle` in `[roofline]` of its target.toml".into(),
            ],
        })?;
        let ideal = roofline.floor(&problem.work).value;
        let reference_key = match problem.reference_language {
            // The builder's key stands for it.
            ReferenceLanguage::C => String::new(),
            ReferenceLanguage::Python => {
                Script::new(problem, builder.toolchain().path(), cache_folder)?.key()
            }
        };
        let hash = |code: &str| {
            let mut hasher = ContentHasher::new("autocomp evaluation");
            hasher.update(&problem.oracle_hash.0);
            hasher.update(reference_key.as_bytes());
            hasher.update(&builder.runtime_key().0);
            hasher.update(code.as_bytes());
            hasher.update(platform.description().as_bytes());
            hasher.update(&ideal.to_le_bytes());
            hasher.update(&settings.seed.0.to_le_bytes());
            hasher.update(&settings.max_instructions.unwrap_or(0).to_le_bytes());
            hasher.update(&[u8::from(settings.experiments)]);
            hasher.finish()
        };
        let (base_key, identity) = (hash(all), hash(family));
        Ok(Self {
            header: platform.header().map(str::to_owned),
            macros: problem
                .macros
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .chain(platform.macros())
                .collect(),
            evaluations: Evaluations::simulated(
                base_key,
                settings.use_cache.then_some(cache_folder),
            ),
            answers: FileStore::new(cache_folder, CachePart::Answers),
            cache_folder: cache_folder.to_owned(),
            cases: OnceLock::new(),
            host: OnceLock::new(),
            computing: Mutex::new(()),
            threads: ThreadCount::new(settings.threads),
            problem: problem.clone(),
            identity,
            platform,
            builder,
            reference_key,
            settings,
            ideal,
            roofline,
            target: target.name.clone(),
        })
    }

    /// Returns the compiler in use.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        self.builder.toolchain()
    }

    /// Returns the platform.
    #[must_use]
    pub fn platform(&self) -> &P {
        &self.platform
    }

    /// Returns the problem.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Returns the roofline of the target, in cycles.
    #[must_use]
    pub fn roofline(&self) -> Roofline {
        self.roofline
    }

    /// Returns the cycles that no kernel can be below.
    #[must_use]
    pub fn ideal_cycles(&self) -> u64 {
        self.ideal
    }

    /// Computes the right answers of all input sets, unless that has been
    /// done before, now or in an earlier process. Takes seconds per set;
    /// evaluating does it too when it must.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the reference is broken.
    pub fn prepare(&self) -> Result<(), EvalError> {
        self.known_cases().map(|_| ())
    }

    /// Evaluates a kernel and says where the cycles of its ranked call go.
    ///
    /// # Errors
    /// An [`EvalError`] if autocomp or its environment failed.
    pub fn explain(&self, source: &str) -> Result<Explained<P::Profile>, EvalError> {
        let evaluation = self.evaluate(source)?;
        if evaluation.outcome != Outcome::Ok {
            return Ok(Explained::Failed(Box::new(evaluation)));
        }
        let (_, profiled) = self.judge(source, true, None, &mut TierClock::default())?;
        match profiled {
            Some((profile, timeline)) => Ok(Explained::Right {
                profile: Box::new(profile),
                timeline,
            }),
            _ => Err(EvalError::Fault(
                "a kernel that was right is not right when it is profiled".into(),
            )),
        }
    }

    /// Returns the input sets with right answers.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn known_cases(&self) -> Result<&[Case], EvalError> {
        if let Some(cases) = self.cases.get() {
            return Ok(cases);
        }
        let poisoned = |_| EvalError::Fault("computing right answers panicked".into());
        let _guard = self.computing.lock().map_err(poisoned)?;
        if self.cases.get().is_none() {
            let oracle = self.oracle();
            let cases = oracle.cases(&self.problem.input_sets, self.problem_seed(), true)?;
            // Nobody else sets it while the guard is held.
            let _ = self.cases.set(cases);
        }
        Ok(self.cases.get().map_or(&[], Vec::as_slice))
    }

    /// Returns the program of a kernel; nothing if it does not build.
    ///
    /// # Errors
    /// An [`EvalError`] if autocomp or its environment failed.
    pub fn image(&self, source: &str) -> Result<Option<Image>, EvalError> {
        let Build::Built(program) = self.build(source)? else {
            return Ok(None);
        };
        Ok(Image::read(&program.elf, self.problem.entry_symbol()).ok())
    }

    /// Returns the input sets with right answers that a kernel is tested with.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn cases_of(&self, source: &str) -> Result<Vec<Case>, EvalError> {
        let cases = self.cases_for(self.kernel_seed(source))?;
        let all = cases.all();
        all.into_iter().map(|case| case.get().cloned()).collect()
    }

    /// Draws an input set of timed calls that no kernel has been given, with right answers.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn drawn_case(&self, seed: Seed) -> Result<Case, EvalError> {
        self.drawn(self.timed_set()?, seed)
    }

    /// Returns the input set of timed calls.
    pub(crate) fn timed_set(&self) -> Result<&InputSet, EvalError> {
        let set = self.problem.timed_set();
        set.ok_or_else(|| EvalError::Fault("the problem has no input set".into()))
    }

    pub(crate) fn drawn(&self, set: &InputSet, seed: Seed) -> Result<Case, EvalError> {
        let sets = std::slice::from_ref(set);
        let drawn = self.oracle().cases(sets, seed, false)?;
        let case = drawn.into_iter().next();
        case.ok_or_else(|| EvalError::Fault("no case drawn".into()))
    }

    pub(crate) fn oracle(&self) -> Oracle<'_, P> {
        Oracle {
            problem: &self.problem,
            builder: &self.builder,
            platform: &self.platform,
            header: self.header.as_deref(),
            macros: &self.macros,
            reference_key: &self.reference_key,
            store: &self.answers,
            cache_folder: &self.cache_folder,
            host: &self.host,
            threads: self.settings.threads,
        }
    }

    /// Returns the seed of everything that is the same for all kernels.
    #[must_use]
    pub fn problem_seed(&self) -> Seed {
        Seed(0).derive(&self.problem.oracle_hash.to_string())
    }

    /// Returns the seed of what differs from kernel to kernel: fresh inputs,
    /// the places of buffers, poison. The same in every run and version.
    fn kernel_seed(&self, source: &str) -> Seed {
        let kernel = ContentHash::of(source.as_bytes());
        self.settings
            .seed
            .derive(&self.problem.oracle_hash.to_string())
            .derive(&kernel.to_string())
    }

    /// Returns the cases for one kernel: those of the fresh input sets are its own.
    fn cases_for(&self, seed: Seed) -> Result<Cases<'_, P>, EvalError> {
        Ok(Cases::new(self, self.known_cases()?, seed))
    }

    /// Returns the limits of one call.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let beyond = self.ideal.saturating_mul(INSTRUCTIONS_PER_IDEAL_CYCLE);
        let derived = MIN_INSTRUCTIONS.saturating_add(beyond);
        let instructions = self.settings.max_instructions.unwrap_or(derived);
        Limits {
            instructions,
            cycles: instructions.saturating_mul(CYCLES_PER_INSTRUCTION),
        }
    }

    /// Checks, builds, tests and times a kernel.
    fn judge(
        &self,
        source: &str,
        with_timeline: bool,
        bound: Option<u64>,
        clock: &mut TierClock,
    ) -> Result<Judged<P>, EvalError> {
        let _first = self.threads.take();
        let mut refusals = clock.measure("check", || self.refusals(source));
        if !refusals.is_empty() {
            self.add_remedies(&mut refusals, source);
            return Ok((Verdict::failed(Outcome::Rejected, refusals), None));
        }
        let build = clock.measure("build", || self.build(source))?;
        let elf = match build {
            Build::Built(program) => program.elf,
            Build::Failed(found) => {
                return Ok((Verdict::failed(Outcome::BuildFailed, found), None));
            }
            Build::Refused(found) => {
                return Ok((Verdict::failed(Outcome::Rejected, found), None));
            }
        };
        let program = match Image::read(&elf, self.problem.entry_symbol()) {
            Ok(program) => program,
            Err(error) => {
                let found = vec![findings::no_image(&error)];
                return Ok((Verdict::failed(Outcome::BuildFailed, found), None));
            }
        };
        let seed = self.kernel_seed(source);
        let cases = self.cases_for(seed)?;
        let cases = cases.all();
        let has_seen = AtomicU8::new(0);
        let trial = Trial {
            evaluator: self,
            platform: &self.platform,
            program: &program,
            kernel: Kernel {
                file: KERNEL_FILE,
                source,
            },
            seed,
            with_timeline,
            bound,
            has_seen: &has_seen,
        };
        // The last case is tested by the timed calls. A single one is tested too, by
        // calling the kernel twice.
        let Some((timed, tested)) = cases.split_last() else {
            return Err(EvalError::Fault("the problem has no input set".into()));
        };
        let (timed, tested) = match tested {
            [] => (*timed, std::slice::from_ref(timed)),
            _ => (*timed, tested),
        };
        let (mut verdict, profiled) = match self.threads.take_spare() {
            Some(_second) => trial.test_while_timing(tested, timed, clock)?,
            None => trial.test_then_time(tested, timed, clock)?,
        };
        if verdict.outcome == Outcome::Ok {
            let second = self.threads.take_spare();
            let test = || match trial.test_elsewhere(&cases, second.is_some())? {
                None => trial.test_fillings(),
                failed => Ok(failed),
            };
            if let Some(failed) = clock.measure("test", test)? {
                return Ok((failed, None));
            }
            let tell = || trial.told_elsewhere(&cases, second.is_some());
            verdict.diagnostics.extend(clock.measure("test", tell)?);
        }
        if matches!(verdict.outcome, Outcome::Wrong | Outcome::Illegal) {
            verdict.diagnostics.extend(doubts(source, KERNEL_FILE));
        }
        Ok((verdict, profiled))
    }

    /// Returns why a kernel is refused for its text.
    fn refusals(&self, source: &str) -> Vec<Diagnostic> {
        let headers = self.platform.headers();
        let text = inclusions::without(source, headers, &[]).text;
        let mut found = check(&text, KERNEL_FILE, &self.problem);
        let inclusions = found.iter_mut().filter(|it| it.code == "include");
        for (one, remedy) in inclusions.zip(std::iter::repeat(inclusions::remedy(headers))) {
            one.remedy = remedy.or(one.remedy.take());
        }
        found
    }

    /// Builds a kernel. Names of the problem's harness that it uses and does not define
    /// are defined for it.
    fn build(&self, source: &str) -> Result<Build, EvalError> {
        let given = self.platform.headers_for(source);
        let own = inclusions::without(source, self.platform.headers(), given);
        let source = &own.text;
        let text = with_declaration(source, &self.problem);
        let mut names: BTreeSet<&str> = BTreeSet::new();
        loop {
            let given = names
                .iter()
                .map(|name| (*name, &self.problem.harness[*name]));
            let given = given.map(|(name, value)| (name.to_owned(), value.clone()));
            let macros = self.macros.iter().chain(&own.macros).cloned();
            let macros: Vec<(String, String)> = macros.chain(given).collect();
            let build = self.build_text(source, &text, &macros)?;
            let known = names.len();
            if let Build::Failed(found) = &build {
                names.extend(lacking(found, &self.problem.harness));
            }
            if names.len() == known {
                return Ok(build);
            }
        }
    }

    /// Builds `text`, which is a kernel's `source` and what is added to it.
    fn build_text(
        &self,
        source: &str,
        text: &str,
        macros: &[(String, String)],
    ) -> Result<Build, EvalError> {
        let build = self.builder.build(&Source {
            name: KERNEL_FILE,
            text,
            header: self.header.as_deref(),
            macros,
            loops: Loops::Plain,
            rules: Rules::Kernel,
        })?;
        let lines = source.lines().count() as u32;
        Ok(match build {
            Build::Built(_) => build,
            Build::Refused(mut found) => {
                self.add_remedies(&mut found, text);
                Build::Refused(found)
            }
            Build::Failed(mut found) => {
                for diagnostic in &mut found {
                    let place = diagnostic.location.take_if(|place| lines < place.line);
                    if place.is_none() {
                        continue;
                    }
                    diagnostic
                        .notes
                        .retain(|note| !note.contains(&self.problem.signature));
                    if diagnostic.message.contains(&self.problem.entry) {
                        diagnostic.remedy =
                            Some(format!("define `{} {{ … }}`", self.problem.signature));
                    } else {
                        diagnostic
                            .notes
                            .push(format!("at the end of {KERNEL_FILE}"));
                    }
                }
                self.add_remedies(&mut found, text);
                Build::Failed(found)
            }
        })
    }

    /// Adds what helps on this target to what is wrong with the text of a kernel.
    fn add_remedies(&self, found: &mut [Diagnostic], text: &str) {
        for diagnostic in found {
            let misuse = Misuse::of(diagnostic, text);
            if let Some(remedy) = misuse.and_then(|misuse| self.platform.remedy(misuse)) {
                diagnostic.remedy = Some(remedy);
            }
        }
    }
}

/// Returns the names of `harness` that the compiler has not found.
fn lacking<'h>(found: &[Diagnostic], harness: &'h BTreeMap<String, String>) -> Vec<&'h str> {
    let undeclared = found.iter().filter(|it| it.message.contains("undeclared"));
    let quoted = undeclared.filter_map(|it| it.message.split(['\'', '`']).nth(1));
    let names = quoted.filter_map(|name| harness.get_key_value(name));
    names.map(|(name, _)| name.as_str()).collect()
}

impl<P: Platform> Evaluator for KernelEvaluator<P> {
    fn key(&self, source: &str) -> ContentHash {
        self.evaluations.key(source)
    }

    fn identity(&self) -> ContentHash {
        self.identity
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        C.normal_form(source)
    }

    fn machine_code(&self, source: &str) -> Result<Option<ContentHash>, EvalError> {
        let _first = self.threads.take();
        // What is refused for its text has no part in what it would be made into.
        if !self.refusals(source).is_empty() {
            return Ok(None);
        }
        let Build::Built(program) = self.build(source)? else {
            return Ok(None);
        };
        let image = Image::read(&program.elf, self.problem.entry_symbol());
        Ok(image.ok().and_then(|_| code_hash(&program.elf)))
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.evaluate_within(source, None)
    }

    fn evaluate_within(&self, source: &str, bound: Option<Cost>) -> Result<Evaluation, EvalError> {
        self.evaluations.get(source, bound, |clock| {
            let cycles = bound.and_then(Cost::in_cycles);
            let (verdict, _) = self.judge(source, false, cycles, clock)?;
            Ok(verdict)
        })
    }
}
