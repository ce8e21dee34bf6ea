//! One problem on one simulated GPU: runs, compares and times kernels.

use crate::compiler::{Compiled, KernelCompiler};
use crate::diagnosis::diagnose;
use crate::feedback::{self, Timed};
use crate::requests::{Recording, Request};
use autocomp_c::MAX_SOURCE_BYTES;
use autocomp_catalog::{Problem, Ranking, Tolerance};
use autocomp_core::{
    ContentHash, ContentHasher, Cost, Diagnostic, Evaluation, Language, Measurement, Outcome, Seed,
    Severity, Stage, Unit,
};
use autocomp_cuda_sim::machine::{DeviceMemory, Fault, Finding, Order, Run};
use autocomp_cuda_sim::timing::{self, Machine};
use autocomp_cuda_sim::{Kernel, Module, decode, parse};
use autocomp_eval::Evaluations;
use autocomp_eval::doubts::{self, Refutation, WorkField};
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::{Profile, Profiled};
use autocomp_eval::{
    Bench, BenchFacts, EvalError, Evaluator, Opening, ThreadCount, TierClock, Verdict, comparison,
};
use autocomp_native::Reference;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Hash of everything in this crate and the simulator that decides results.
const SOURCES: &str = env!("AUTOCOMP_CUDA_HASH");
/// Hash of what of them is the family's own.
const IDENTITY: &str = env!("AUTOCOMP_CUDA_IDENTITY");
/// Instructions of warps that one run of a kernel may take: some ten seconds of a processor.
const MOST_STEPS: u64 = 200_000_000;
/// Those of a kernel in which races and reads of unwritten memory are looked for.
const MOST_WATCHED_STEPS: u64 = 20_000_000;
/// Blocks of a launch that tell how long all take.
const TIMED_BLOCKS: u32 = 12;
/// Side of what a mismatch is said to be a part of.
const TILE: usize = 32;

/// One problem on one simulated GPU.
#[derive(Debug)]
pub(crate) struct CudaBench {
    problem: Problem,
    machine: Machine,
    engine: String,
    seed: Seed,
    reference: Reference,
    compiler: KernelCompiler,
    evaluations: Evaluations,
    identity: ContentHash,
    threads: ThreadCount,
}

/// A kernel that is ready to run.
struct Ready {
    module: Module,
    kernels: BTreeMap<String, Kernel>,
    recording: Recording,
}

/// How a kernel is run.
#[derive(Clone, Copy)]
struct How {
    order: Order,
    is_watched: bool,
    most_steps: u64,
}

impl CudaBench {
    pub(crate) fn open(opening: Opening<'_>, machine: Machine) -> Result<Self, EvalError> {
        let (problem, target) = (opening.problem, opening.target);
        autocomp_eval::refuse_arguments(problem)?;
        let folder = &opening.surroundings.cache_folder;
        let toolchain = autocomp_toolchain::find_toolchain(opening.surroundings, opening.progress)?;
        let reference = Reference::new(problem, toolchain.clone(), folder)?;
        let compiler = KernelCompiler::new(problem, toolchain, &machine.architecture, folder)?;
        let text = target.machine(Some(opening.machine)).unwrap_or_default();
        let hash = |code: &str| {
            let mut hasher = ContentHasher::new("cuda evaluation");
            hasher.update(&problem.oracle_hash.0);
            hasher.update(code.as_bytes());
            hasher.update(reference.builder().key().as_bytes());
            hasher.update(compiler.key().as_bytes());
            hasher.update(text.as_bytes());
            hasher.update(&opening.settings.seed.0.to_le_bytes());
            hasher.finish()
        };
        let (base, identity) = (hash(SOURCES), hash(IDENTITY));
        Ok(Self {
            problem: problem.clone(),
            engine: format!("sim {} machine={} model=ptx", target.name, opening.machine),
            machine,
            seed: opening.settings.seed,
            reference,
            compiler,
            evaluations: Evaluations::simulated(
                base,
                opening.settings.use_cache.then_some(folder.as_path()),
            ),
            identity,
            threads: ThreadCount::new(opening.settings.threads),
        })
    }

    /// Returns the cases of a kernel: those of fresh sets are its own.
    fn cases(&self, source: &str) -> Result<Vec<Arc<Case>>, EvalError> {
        self.reference.cases(source, self.seed)?.collect()
    }

    /// Returns what a kernel must do at least, with nothing but that.
    fn floor_parts(&self) -> (f64, f64) {
        let work = self.problem.work;
        let widths = self
            .problem
            .buffers
            .iter()
            .map(|it| it.dtype.bytes() as u32);
        let narrowest = widths.min().unwrap_or(4);
        // Where so much error is right, the matrix units may take shortened floats.
        let is_loose = match self.problem.tolerance {
            Tolerance::Exact {} => false,
            Tolerance::Close { relative, .. } => 1e-4 <= relative,
        };
        let matrix = (narrowest < 4 || is_loose).then_some(narrowest);
        let macs = self.machine.macs_ns(work.macs, matrix);
        let bytes = self.machine.bytes_ns(work.bytes, self.is_in_l2());
        (macs, bytes)
    }

    /// Returns the cost that no right kernel can be below.
    fn floor(&self) -> Cost {
        let (macs, bytes) = self.floor_parts();
        Cost::nanoseconds(macs.max(bytes).floor() as u64, 0)
    }

    /// Returns whether all buffers stay in the L2 from call to call.
    fn is_in_l2(&self) -> bool {
        let bytes: u64 = self
            .problem
            .buffers
            .iter()
            .map(|it| it.bytes() as u64)
            .sum();
        self.problem.ranking == Ranking::Warm && bytes <= self.machine.l2_bytes
    }

    fn prepare(&self, source: &str) -> Result<Result<Ready, Verdict>, EvalError> {
        let failed = |outcome, found: Vec<Diagnostic>| Ok(Err(Verdict::failed(outcome, found)));
        if MAX_SOURCE_BYTES < source.len() {
            let mut found = plain_error(
                "too-large",
                format!(
                    "the kernel has {} bytes, of which it may have {MAX_SOURCE_BYTES}",
                    source.len()
                ),
            );
            found.stage = Stage::Check;
            return failed(Outcome::Rejected, vec![found]);
        }
        if crate::CudaCpp.flaw(source, &self.problem.entry).is_some() {
            let mut found = plain_error(
                "no-entry",
                format!(
                    "it is no whole kernel file that defines the host function {}",
                    self.problem.entry
                ),
            );
            found.stage = Stage::Check;
            return failed(Outcome::Rejected, vec![found]);
        }
        let Compiled { ptx, recording } = match self.compiler.compile(source)? {
            Ok(compiled) => compiled,
            Err(found) => {
                let is_run = found.first().is_some_and(|it| it.stage == Stage::Test);
                let outcome = if is_run {
                    Outcome::Crashed
                } else {
                    Outcome::BuildFailed
                };
                return failed(outcome, found);
            }
        };
        let read = parse(&ptx, crate::compiler::KERNEL_FILE).and_then(|module| {
            let kernels = decode(&module)?;
            Ok((module, kernels))
        });
        let (module, kernels) = match read {
            Ok(read) => read,
            Err(error) => {
                let message = match error.is_unsupported {
                    true => format!(
                        "the simulated GPU does not have what the kernel asks for: {}",
                        error.message
                    ),
                    false => error.to_string(),
                };
                let mut found = plain_error("not-simulated", message);
                found.stage = Stage::Build;
                let line = ptx.lines().nth((error.line as usize).saturating_sub(1));
                found
                    .notes
                    .extend(line.map(|line| format!("PTX: {}", line.trim())));
                return failed(Outcome::BuildFailed, vec![found]);
            }
        };
        let kernels: BTreeMap<String, Kernel> = kernels
            .into_iter()
            .map(|it| (it.name.clone(), it))
            .collect();
        for request in &recording.requests {
            if let Request::Launch(launch) = request
                && !kernels.contains_key(&launch.kernel)
            {
                let found = plain_error(
                    "host-part",
                    format!(
                        "the host part launches {}, which is no kernel of the file",
                        launch.kernel
                    ),
                );
                return failed(Outcome::Crashed, vec![found]);
            }
        }
        Ok(Ok(Ready {
            module,
            kernels,
            recording,
        }))
    }

    /// Returns the memory of a device before a call.
    fn memory(&self, ready: &Ready, case: &Case, seed: Seed) -> DeviceMemory {
        let mut memory = DeviceMemory::new(&ready.module);
        let poisoned = case.clone().poisoned(&self.problem, seed);
        for (buffer, content) in self.problem.buffers.iter().zip(poisoned.before) {
            memory.add_buffer(content.unwrap_or_default(), buffer.is_read());
        }
        for bytes in &ready.recording.memory {
            let mut content = vec![0; *bytes as usize];
            autocomp_eval::inputs::poison(&mut content, autocomp_catalog::DataType::Float32, seed);
            memory.add_buffer(content, false);
        }
        memory
    }

    /// Does what the host part asked for.
    fn call(
        &self,
        ready: &Ready,
        memory: &mut DeviceMemory,
        how: How,
    ) -> Result<u64, Box<Finding>> {
        let mut steps = 0;
        for request in &ready.recording.requests {
            match request {
                Request::Launch(launch) => {
                    let run = Run {
                        order: how.order,
                        is_watched: how.is_watched,
                        most_steps: how.most_steps.saturating_sub(steps),
                        limits: self.machine.limits(),
                    };
                    steps += launch.run(&ready.kernels[&launch.kernel], memory, run)?;
                }
                Request::Set { to, value, bytes } => memory.set(*to, *value, *bytes)?,
                Request::Copy { to, from, bytes } => memory.copy(*to, *from, *bytes)?,
            }
        }
        Ok(steps)
    }

    /// Compares what a call left with what is right.
    fn compare(&self, case: &Case, memory: &DeviceMemory, seed: Seed) -> Option<Diagnostic> {
        let poisoned = case.clone().poisoned(&self.problem, seed);
        let buffers = self
            .problem
            .buffers
            .iter()
            .zip(&case.after)
            .zip(&poisoned.before);
        for (((buffer, right), before), number) in buffers.zip(0..) {
            let got = memory.buffer(number);
            let before = before.as_deref().unwrap_or_default();
            let Some(right) = right else {
                if got != before {
                    return Some(plain_error(
                        "input-changed",
                        format!("the kernel changes {}, which is an input", buffer.name),
                    ));
                }
                continue;
            };
            if let Some(found) =
                comparison::compare(buffer, right, got, before, self.problem.tolerance, TILE)
            {
                return Some(found);
            }
        }
        None
    }

    /// Tests a kernel on every input set, the first one in three orders of blocks. Returns what
    /// there is to say of a right one.
    fn test(
        &self,
        source: &str,
        ready: &Ready,
    ) -> Result<Result<Vec<Diagnostic>, Verdict>, EvalError> {
        const ORDERS: [Order; 3] = [
            Order::Forward,
            Order::Backward,
            Order::Mixed(0x9e37_79b9_7f4a_7c15),
        ];
        let seed = self.seed.derive("poison of a device");
        let cases = self.cases(source)?;
        let mut watched = MOST_WATCHED_STEPS;
        let mut is_cut = false;
        for (case, number) in cases.iter().zip(0..) {
            let orders = if number == 0 {
                &ORDERS[..]
            } else {
                &ORDERS[..1]
            };
            for order in orders {
                let failed = |finding: &Finding| {
                    let (outcome, mut found) = diagnose(&self.problem, source, finding);
                    found.notes.push(format!("input set: {}", case.name));
                    Verdict::failed(outcome, vec![found])
                };
                let mut result = None;
                if *order == Order::Forward && 0 < watched {
                    let mut memory = self.memory(ready, case, seed);
                    let how = How {
                        order: *order,
                        is_watched: true,
                        most_steps: watched,
                    };
                    match self.call(ready, &mut memory, how) {
                        Ok(steps) => {
                            watched -= steps.min(watched);
                            result = Some(memory);
                        }
                        // It goes on without being watched.
                        Err(finding) if matches!(finding.fault, Fault::TooLong { .. }) => {
                            is_cut |= number == 0;
                            watched = 0;
                        }
                        Err(finding) => return Ok(Err(failed(&finding))),
                    }
                }
                let memory = match result {
                    Some(memory) => memory,
                    None => {
                        let mut memory = self.memory(ready, case, seed);
                        let how = How {
                            order: *order,
                            is_watched: false,
                            most_steps: MOST_STEPS,
                        };
                        if let Err(finding) = self.call(ready, &mut memory, how) {
                            return Ok(Err(failed(&finding)));
                        }
                        memory
                    }
                };
                if let Some(mut found) = self.compare(case, &memory, seed) {
                    if *order != Order::Forward {
                        found.code = "depends-on-block-order".into();
                        found.message = format!(
                            "the result is wrong when blocks run in another order, though it is right when they run as they are numbered: {}",
                            found.message
                        );
                        found.remedy = Some("blocks of a launch run in any order: let none rely on another that has not published its part".into());
                    }
                    found.notes.insert(0, format!("input set: {}", case.name));
                    return Ok(Err(Verdict::failed(Outcome::Wrong, vec![found])));
                }
            }
        }
        let mut told = Vec::new();
        if is_cut {
            let mut found = plain_error(
                "watched-in-part",
                format!(
                    "races and reads of what nobody wrote were looked for in the first {MOST_WATCHED_STEPS} instructions of warps only"
                ),
            );
            found.severity = Severity::Warning;
            told.push(found);
        }
        Ok(Ok(told))
    }

    /// Estimates how long a right kernel takes on the last input set.
    fn time(&self, source: &str, ready: &Ready) -> Result<Result<Timed, Verdict>, EvalError> {
        let seed = self.seed.derive("poison of a device");
        let cases = self.cases(source)?;
        // Nothing that a message told is in the last one, which is fresh for each kernel.
        let case = cases.last().ok_or_else(|| EvalError::Input {
            message: format!("{} has no input set", self.problem.name),
            remedies: vec!["add an `[[input_set]]` to its problem.toml".into()],
        })?;
        let mut memory = self.memory(ready, case, seed);
        let buffers: u64 = self
            .problem
            .buffers
            .iter()
            .map(|it| it.bytes() as u64)
            .sum();
        let surroundings = timing::Surroundings {
            footprint: buffers + ready.recording.memory.iter().sum::<u64>(),
            is_warm: self.problem.ranking == Ranking::Warm,
        };
        // Which blocks are traced follows from the text, so that a kernel cannot spare them.
        let mut word = [0; 8];
        word.copy_from_slice(&ContentHash::of(source.as_bytes()).0[..8]);
        let of_source = u64::from_le_bytes(word);
        let mut timed = Timed::default();
        let broken = |finding: Box<Finding>| {
            let (outcome, found) = diagnose(&self.problem, source, &finding);
            Ok(Err(Verdict::failed(outcome, vec![found])))
        };
        for request in &ready.recording.requests {
            match request {
                Request::Launch(launch) => {
                    let kernel = &ready.kernels[&launch.kernel];
                    let sample = (TIMED_BLOCKS, of_source, MOST_STEPS);
                    let estimate = timing::estimate(
                        launch,
                        kernel,
                        &mut memory,
                        &self.machine,
                        sample,
                        surroundings,
                    );
                    match estimate {
                        Ok(estimate) => timed.add(launch, estimate),
                        Err(finding) => return broken(finding),
                    }
                }
                Request::Set { to, value, bytes } => {
                    timed.add_transfer(
                        *bytes as f64 / self.machine.dram_bytes_per_ns + self.machine.launch_ns,
                    );
                    if let Err(finding) = memory.set(*to, *value, *bytes) {
                        return broken(finding);
                    }
                }
                Request::Copy { to, from, bytes } => {
                    timed.add_transfer(
                        2.0 * *bytes as f64 / self.machine.dram_bytes_per_ns
                            + self.machine.launch_ns,
                    );
                    if let Err(finding) = memory.copy(*to, *from, *bytes) {
                        return broken(finding);
                    }
                }
            }
        }
        Ok(Ok(timed))
    }

    fn judge(
        &self,
        source: &str,
        clock: &mut TierClock,
    ) -> Result<Result<Timed, Verdict>, EvalError> {
        let _busy = self.threads.take();
        let ready = match clock.measure("build", || self.prepare(source))? {
            Ok(ready) => ready,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let told = match clock.measure("test", || self.test(source, &ready))? {
            Ok(told) => told,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let mut timed = match clock.measure("time", || self.time(source, &ready))? {
            Ok(timed) => timed,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let (macs, bytes) = self.floor_parts();
        let refuted = [(WorkField::Macs, macs), (WorkField::Bytes, bytes)];
        let fields: Vec<WorkField> = refuted
            .into_iter()
            .filter(|(_, floor)| timed.ns < *floor)
            .map(|(field, _)| field)
            .collect();
        if !fields.is_empty() {
            let refutation = Refutation {
                problem: &self.problem,
                fields: &fields,
                floor: self.floor(),
                cost: self.cost(&timed),
                did: String::new(),
                kernel: self.key(source).short(),
            };
            return Err(refutation.error());
        }
        timed.told = told;
        Ok(Ok(timed))
    }

    fn cost(&self, timed: &Timed) -> Cost {
        let spread = (self.machine.spread_percent * 10_000.0) as u32;
        Cost::nanoseconds(timed.ns.round().max(1.0) as u64, spread)
    }

    fn right(&self, timed: &Timed) -> Verdict {
        let cost = self.cost(timed);
        Verdict {
            outcome: Outcome::Ok,
            diagnostics: timed.told.clone(),
            measurement: Some(Measurement {
                cost,
                floor: self.floor(),
                percent_of_peak: self.floor().percent_of(cost),
                samples: Vec::new(),
                ratio_to_baseline: None,
                engine: self.engine.clone(),
                compiler: self.compiler.name().to_owned(),
                figures: BTreeMap::from([("launches".to_owned(), timed.launches.len() as u64)]),
            }),
            feedback: Some(feedback::feedback(timed)),
        }
    }
}

impl Evaluator for CudaBench {
    fn key(&self, source: &str) -> ContentHash {
        self.evaluations.key(source)
    }

    fn identity(&self) -> ContentHash {
        self.identity
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.evaluations.get(source, None, |clock| {
            let judged = self.judge(source, clock)?;
            Ok(judged.map_or_else(|verdict| verdict, |timed| self.right(&timed)))
        })
    }
}

impl Bench for CudaBench {
    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        let cases: Vec<Case> = self
            .cases("")?
            .iter()
            .map(|case| (**case).clone())
            .collect();
        let mut found = doubts::trivial_outputs(&self.problem, &cases);
        found.extend(doubts::too_little_work(&self.problem));
        Ok(found)
    }

    fn facts(&self) -> BenchFacts {
        BenchFacts {
            key_base: self.evaluations.base(),
            identity: self.identity,
            unit: Unit::Nanoseconds,
            engine: self.engine.clone(),
            tools: vec![self.compiler.name().to_owned()],
            floor: self.floor(),
        }
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        let mut clock = TierClock::default();
        let timed = match self.judge(source, &mut clock)? {
            Ok(timed) => timed,
            Err(verdict) => {
                let evaluation = clock.finish(self.key(source), verdict);
                return Ok(Profiled::Failed(Box::new(evaluation)));
            }
        };
        Ok(Profiled::Right(Box::new(Profile {
            sections: feedback::sections(&timed, source),
            data: feedback::data(&timed),
            timeline: None,
        })))
    }
}

fn plain_error(code: &str, message: String) -> Diagnostic {
    Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code: code.to_owned(),
        message,
        location: None,
        notes: Vec::new(),
        remedy: None,
    }
}
