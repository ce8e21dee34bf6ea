//! The cascade check, build, test, time for one problem.

use super::cases::Cases;
use super::engine::{ENGINE_HASH, Engine, FAMILY_HASH};
use super::findings::{self, Kernel};
use super::image::{Image, code_hash};
use super::oracle::{Oracle, with_declaration};
use super::timed_calls::Judged;
use super::trial::Trial;
use crate::profile::Profile;
use autocomp_c::{C, check, doubts};
use autocomp_catalog::{Problem, Roofline, Target};
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
use autocomp_gemmini::{GemminiConfig, LoopConvLayout};
use autocomp_riscv::Limits;
use autocomp_toolchain::build::{Build, Builder, Loops, Rules, Source};
use autocomp_toolchain::{CompileTarget, Compiler, Toolchain};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// Name of kernels in diagnostics.
const KERNEL_FILE: &str = "kernel.c";

/// Header of the target's runtime that every kernel sees.
const HEADER: &str = "gemmini.h";

/// Instructions that any kernel may take.
const MIN_INSTRUCTIONS: u64 = 20_000_000;

/// Instructions beyond that, per cycle of the physical floor. A kernel that
/// computes on the core alone needs about 1500 and is told that it is too slow.
const INSTRUCTIONS_PER_IDEAL_CYCLE: u64 = 200;

/// Cycles that a kernel may take, per instruction that it may take.
const CYCLES_PER_INSTRUCTION: u64 = 8;

/// What profiling a kernel gives.
#[derive(Clone, Debug)]
pub enum Explained {
    /// The kernel is right; this is where its cycles go.
    Right {
        /// Sums.
        profile: Box<Profile>,
        /// What happened when.
        timeline: Timeline,
    },
    /// The kernel is not right, and there is nothing to profile.
    Failed(Box<Evaluation>),
}

/// Evaluates kernels for one problem on the simulator of a Gemmini target.
///
/// Threads may share it, and processes its cache folder.
#[derive(Debug)]
pub struct GemminiEvaluator {
    pub(super) problem: Problem,
    pub(super) engine: Engine,
    builder: Builder,
    header: Option<&'static str>,
    macros: Vec<(String, String)>,
    /// Remedy for calls of the usual library that there are not.
    library_calls: Option<String>,
    evaluations: Evaluations,
    answers: FileStore,
    cache_folder: PathBuf,
    cases: OnceLock<Vec<Case>>,
    /// Held while right answers are computed.
    computing: Mutex<()>,
    pub(super) settings: EvaluatorSettings,
    threads: ThreadCount,
    /// Cycles that no kernel can be below.
    pub(super) ideal: u64,
    pub(super) roofline: Roofline,
    identity: ContentHash,
}

impl GemminiEvaluator {
    /// Prepares to evaluate kernels for `problem` on the machine called
    /// `machine` of `target`, its default if none.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine description is not valid, the
    /// runtime does not build, or the cache folder cannot be written.
    pub fn new(
        problem: &Problem,
        target: &Target,
        machine: Option<&str>,
        toolchain: Toolchain,
        cache_folder: &Path,
        settings: EvaluatorSettings,
    ) -> Result<Self, EvalError> {
        let engine = Engine::new(target, machine)?;
        let files = target
            .runtime
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
        let compiler = Compiler::new(toolchain, CompileTarget::rv64("rv64gc"))?;
        let mut builder =
            Builder::new(compiler, files, &problem.entry, cache_folder)?.decided_by(ENGINE_HASH);
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
        let hash = |code: &str| {
            let mut hasher = ContentHasher::new("autocomp evaluation");
            hasher.update(&problem.oracle_hash.0);
            hasher.update(&builder.runtime_key().0);
            hasher.update(code.as_bytes());
            hasher.update(engine.text.as_bytes());
            hasher.update(&ideal.to_le_bytes());
            hasher.update(&settings.seed.0.to_le_bytes());
            hasher.update(&settings.max_instructions.unwrap_or(0).to_le_bytes());
            hasher.update(&[u8::from(settings.experiments)]);
            hasher.finish()
        };
        let (base_key, identity) = (hash(ENGINE_HASH), hash(FAMILY_HASH));
        Ok(Self {
            header: target.runtime.contains_key(HEADER).then_some(HEADER),
            macros: problem
                .macros
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .chain(machine_macros(&engine.config.accelerator))
                .collect(),
            library_calls: library_calls(target),
            evaluations: Evaluations::simulated(
                base_key,
                settings.use_cache.then_some(cache_folder),
            ),
            answers: FileStore::new(cache_folder, CachePart::Answers),
            cache_folder: cache_folder.to_owned(),
            cases: OnceLock::new(),
            computing: Mutex::new(()),
            threads: ThreadCount::new(settings.threads),
            problem: problem.clone(),
            identity,
            engine,
            builder,
            settings,
            ideal,
            roofline,
        })
    }

    /// Returns the compiler in use.
    #[must_use]
    pub fn toolchain(&self) -> &Toolchain {
        self.builder.toolchain()
    }

    /// Returns what measures (`sim gemmini-int8-16 machine=fpga model=1a2b3c4d`).
    #[must_use]
    pub fn engine(&self) -> &str {
        &self.engine.name
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
    pub fn explain(&self, source: &str) -> Result<Explained, EvalError> {
        let evaluation = self.evaluate(source)?;
        if evaluation.outcome != Outcome::Ok {
            return Ok(Explained::Failed(Box::new(evaluation)));
        }
        let (_, profiled) = self.judge(source, true, None, &mut TierClock::default())?;
        match profiled {
            Some((profile, Some(timeline))) => Ok(Explained::Right {
                profile: Box::new(profile),
                timeline,
            }),
            _ => Err(EvalError::Fault(
                "a kernel that was right is not right when it is profiled".into(),
            )),
        }
    }

    /// Returns the problem and its input sets with right answers.
    pub(super) fn known(&self) -> Result<(&Problem, &[Case]), EvalError> {
        Ok((&self.problem, self.known_cases()?))
    }

    pub(super) fn known_cases(&self) -> Result<&[Case], EvalError> {
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

    pub(super) fn oracle(&self) -> Oracle<'_> {
        Oracle {
            problem: &self.problem,
            builder: &self.builder,
            machine: &self.engine.config,
            header: self.header,
            macros: &self.macros,
            store: &self.answers,
            cache_folder: &self.cache_folder,
            threads: self.settings.threads,
        }
    }

    /// Returns the seed of everything that is the same for all kernels.
    pub(super) fn problem_seed(&self) -> Seed {
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
    fn cases_for(&self, seed: Seed) -> Result<Cases<'_>, EvalError> {
        Ok(Cases::new(self, self.known_cases()?, seed))
    }

    pub(super) fn limits(&self) -> Limits {
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
    ) -> Result<Judged, EvalError> {
        let _first = self.threads.take();
        let refusals = clock.measure("check", || check(source, KERNEL_FILE, &self.problem));
        if !refusals.is_empty() {
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
        let program = match Image::read(&elf, &self.problem.entry) {
            Ok(program) => program,
            Err(error) => {
                let found = vec![findings::no_image(&error)];
                return Ok((Verdict::failed(Outcome::BuildFailed, found), None));
            }
        };
        let seed = self.kernel_seed(source);
        let cases = self.cases_for(seed)?;
        let cases = cases.all();
        let trial = Trial {
            evaluator: self,
            program: &program,
            kernel: Kernel {
                file: KERNEL_FILE,
                source,
            },
            seed,
            with_timeline,
            bound,
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
        if matches!(verdict.outcome, Outcome::Wrong | Outcome::Illegal) {
            verdict.diagnostics.extend(doubts(source, KERNEL_FILE));
        }
        Ok((verdict, profiled))
    }

    /// Builds a kernel. Names of the problem's harness that it uses and does not define
    /// are defined for it.
    fn build(&self, source: &str) -> Result<Build, EvalError> {
        let mut names = BTreeSet::new();
        loop {
            let mut text = String::new();
            for name in &names {
                // Writing to a text cannot fail.
                let _ = writeln!(text, "#define {name} {}", self.problem.harness[*name]);
            }
            if !names.is_empty() {
                let _ = writeln!(text, "#line 1 \"{KERNEL_FILE}\"");
            }
            text += &with_declaration(source, &self.problem);
            let build = self.build_text(source, &text)?;
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
    fn build_text(&self, source: &str, text: &str) -> Result<Build, EvalError> {
        let build = self.builder.build(&Source {
            name: KERNEL_FILE,
            text,
            header: self.header,
            macros: &self.macros,
            loops: Loops::Plain,
            rules: Rules::Kernel,
        })?;
        let lines = source.lines().count() as u32;
        Ok(match build {
            Build::Built(_) | Build::Refused(_) => build,
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
                for diagnostic in &mut found {
                    if diagnostic.remedy.is_none() && is_unknown_library_call(&diagnostic.message) {
                        diagnostic.remedy = self.library_calls.clone();
                    }
                }
                Build::Failed(found)
            }
        })
    }
}

/// Returns what the target's headers must know of the machine.
fn machine_macros(machine: &GemminiConfig) -> Option<(String, String)> {
    let is_square = machine.loop_conv_layout == LoopConvLayout::Square;
    is_square.then(|| ("GEMMINI_LOOP_CONV_SQUARE".to_owned(), "1".to_owned()))
}

/// Returns the names of `harness` that the compiler has not found.
fn lacking<'h>(found: &[Diagnostic], harness: &'h BTreeMap<String, String>) -> Vec<&'h str> {
    let undeclared = found.iter().filter(|it| it.message.contains("undeclared"));
    let quoted = undeclared.filter_map(|it| it.message.split(['\'', '`']).nth(1));
    let names = quoted.filter_map(|name| harness.get_key_value(name));
    names.map(|(name, _)| name.as_str()).collect()
}

/// Beginning of the names of the library's functions for whole operations.
const LIBRARY_PREFIX: &str = "tiled_";

/// Returns whether a compiler's message is about a function of the usual library that the
/// target's headers do not have.
fn is_unknown_library_call(message: &str) -> bool {
    let is_undeclared = ["undeclared", "implicit declaration"]
        .iter()
        .any(|word| message.contains(word));
    let name = message.split(['\'', '`']).nth(1);
    is_undeclared && name.is_some_and(|name| name.starts_with(LIBRARY_PREFIX))
}

/// Returns what there is in place of other functions of the usual library, if the target's
/// headers have any of it.
fn library_calls(target: &Target) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut names = BTreeSet::new();
    for bytes in target.runtime.values() {
        let text = String::from_utf8_lossy(bytes);
        for (at, _) in text.match_indices(LIBRARY_PREFIX) {
            let starts = !text[..at].ends_with(is_part);
            let end = text[at..]
                .find(|c| !is_part(c))
                .map_or(text.len(), |len| at + len);
            if starts && text[end..].starts_with('(') {
                names.insert(text[at..end].to_owned());
            }
        }
    }
    let names: Vec<String> = names.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "of the library's functions there are {}; all else is sent as commands, see the ISA reference",
            names.join(", ")
        )
    })
}

impl Evaluator for GemminiEvaluator {
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
        if !check(source, KERNEL_FILE, &self.problem).is_empty() {
            return Ok(None);
        }
        let Build::Built(program) = self.build(source)? else {
            return Ok(None);
        };
        let image = Image::read(&program.elf, &self.problem.entry);
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
