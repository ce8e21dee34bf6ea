//! One problem on one simulated machine: runs, compares and times kernels.

use std::collections::BTreeMap;
use std::sync::Arc;

use autocomp_catalog::{Buffer, DataType, Problem, ReferenceLanguage, Roofline, Tolerance, Work};
use autocomp_core::{
    ContentHash, ContentHasher, Cost, Diagnostic, Evaluation, Feedback, Language, LineCost,
    Measurement, Outcome, Seed, Severity, SourceLocation, Stage, Unit,
};
use autocomp_eval::doubts::{self, Peaks, Refutation, WorkField};
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::{Profile, Profiled};
use autocomp_eval::{
    Bench, BenchFacts, EvalError, Evaluations, Evaluator, Opening, ThreadCount, TierClock, Verdict,
    comparison,
};
use autocomp_native::Reference;

use super::cost::Timed;
use super::machine_of;
use super::sections::sections;
use autocomp_trainium_sim::timing::Machine;
use autocomp_trainium_sim::{
    Array, Failure, FailureKind, Input, Options, POISON, Remark, evaluate,
};

/// Hash of everything in this crate and the simulator that decides results.
const SOURCES: &str = env!("AUTOCOMP_TRAINIUM_HASH");
/// Hash of what of them costs come from, which a run goes on with.
const IDENTITY: &str = env!("AUTOCOMP_TRAINIUM_IDENTITY");
/// Name of kernels in diagnostics.
const KERNEL_FILE: &str = "kernel.py";
/// Most bytes of tensors that a kernel may hold in the simulator.
const MOST_BYTES: u64 = 2 << 30;
/// Most work on data in an evaluation, all input sets together: about a minute of a processor.
const MOST_WORK: u64 = 60_000_000_000;
/// Codes of remarks on what the device leaves undefined.
const UNDEFINED: [&str; 3] = ["unwritten-memory", "unset-accumulator", "activation-range"];
/// Other reads of memory that nothing has written that are told of a wrong kernel.
const MOST_UNWRITTEN: usize = 3;
/// Side of the matrix engine's array.
const TILE: usize = 128;

/// One problem on one simulated NeuronCore.
#[derive(Debug)]
pub(crate) struct TrainiumBench {
    problem: Problem,
    machine: Machine,
    engine: String,
    floor: Cost,
    roofline: Roofline,
    /// Name of the target that has it.
    target: String,
    seed: Seed,
    reference: Reference,
    evaluations: Evaluations,
    identity: ContentHash,
    threads: ThreadCount,
}

impl TrainiumBench {
    pub(crate) fn open(opening: Opening<'_>) -> Result<Self, EvalError> {
        let (problem, target) = (opening.problem, opening.target);
        super::parameters::check(problem)?;
        let machine = machine_of(target, opening.machine)?;
        let roofline = target.roofline.filter(|it| it.unit == Unit::Nanoseconds);
        let roofline = roofline.ok_or_else(|| EvalError::Input {
            message: format!("target {} has no roofline in nanoseconds", target.name),
            remedies: vec![
                "give `peak_macs_per_ns` and `bytes_per_ns` in `[roofline]` of its target.toml"
                    .into(),
            ],
        })?;
        let folder = &opening.surroundings.cache_folder;
        let surroundings = opening.surroundings;
        let reference = match problem.reference_language {
            ReferenceLanguage::C => {
                let found = autocomp_toolchain::find_toolchain(surroundings, opening.progress)?;
                Reference::new(problem, found, folder)?
            }
            ReferenceLanguage::Python => {
                Reference::in_python(problem, surroundings.path.as_deref(), folder)?
            }
        };
        let text = target.machine(Some(opening.machine)).unwrap_or_default();
        let hash = |code: &str| {
            let mut hasher = ContentHasher::new("trainium evaluation");
            hasher.update(&problem.oracle_hash.0);
            hasher.update(code.as_bytes());
            hasher.update(reference.key().as_bytes());
            hasher.update(text.as_bytes());
            hasher.update(&roofline.peak_macs.to_le_bytes());
            hasher.update(&roofline.bytes.to_le_bytes());
            hasher.update(&opening.settings.seed.0.to_le_bytes());
            hasher.finish()
        };
        let (base, identity) = (hash(SOURCES), hash(IDENTITY));
        Ok(Self {
            problem: problem.clone(),
            engine: format!("nki {} machine={}", target.name, opening.machine),
            floor: roofline.floor(&problem.work),
            roofline,
            target: target.name.clone(),
            machine,
            seed: opening.settings.seed,
            reference,
            evaluations: Evaluations::simulated(
                base,
                opening.settings.use_cache.then_some(folder.as_path()),
            ),
            identity,
            threads: ThreadCount::new(opening.settings.threads),
        })
    }

    /// Draws the inputs for a kernel, when they are asked for: those of fresh sets are its own, so
    /// that no kernel can hold their answers.
    pub(crate) fn cases(
        &self,
        source: &str,
    ) -> Result<impl Iterator<Item = Result<Arc<Case>, EvalError>>, EvalError> {
        self.reference.cases(source, self.seed)
    }

    pub(crate) fn judge(
        &self,
        source: &str,
        clock: &mut TierClock,
    ) -> Result<Result<Timed, Verdict>, EvalError> {
        let _busy = self.threads.take();
        let mut cases = clock.measure("test", || self.cases(source))?;
        let mut timed: Option<Timed> = None;
        let mut remarks: Vec<Remark> = Vec::new();
        // What is left for the sets to come.
        let mut work = MOST_WORK;
        while let Some(case) = clock.measure("test", || cases.next()) {
            let case = &case?;
            let run = clock.measure("test", || self.run(source, case, work, false));
            let evaluation = match run {
                Ok(evaluation) => {
                    work = work.saturating_sub(evaluation.work);
                    evaluation
                }
                Err(failure) => {
                    let (outcome, mut found) = self.diagnose(source, *failure);
                    found.notes.push(format!("input set: {}", case.name));
                    return Ok(Err(Verdict::failed(outcome, vec![found])));
                }
            };
            let known = |it: &Remark| {
                remarks
                    .iter()
                    .any(|at| (&at.code, at.line) == (&it.code, it.line))
            };
            let new = evaluation.remarks.iter().filter(|it| !known(it));
            let new: Vec<Remark> = new.cloned().collect();
            remarks.extend(new);
            let found = clock.measure("test", || self.compare(case, &evaluation.outputs));
            if let Some(mut found) = found {
                if 0 < evaluation.unwritten {
                    self.tell_unwritten(source, case, work, &mut found);
                } else {
                    // What the device leaves undefined may be why.
                    let undefined = remarks.iter().filter(|it| it.code == "unset-accumulator");
                    let notes = undefined.map(|it| format!("line {}: {}", it.line, it.message));
                    found.notes.extend(notes);
                }
                return Ok(Err(Verdict::failed(Outcome::Wrong, vec![found])));
            }
            // Where shapes alone decide what is done, the first set tells the time of all.
            if timed.is_none() || evaluation.depends_on_data {
                let own =
                    clock.measure("time", || Timed::of(&evaluation, &self.machine, &case.name));
                if (timed.as_ref()).is_none_or(|it: &Timed| it.latency_ns < own.latency_ns) {
                    timed = Some(own);
                }
            }
        }
        let mut timed = timed.ok_or_else(|| EvalError::Input {
            message: format!("{} has no input set", self.problem.name),
            remedies: vec!["add an `[[input_set]]` to its problem.toml".into()],
        })?;
        timed.remarks.extend(remarks);
        if timed.latency_ns < self.floor_on(timed.cores).value {
            let work = self.problem.work;
            let macs = Work { bytes: 0, ..work };
            let bytes = Work { macs: 0, ..work };
            let refuted = [(WorkField::Macs, macs), (WorkField::Bytes, bytes)];
            let refuted = refuted.iter().filter(|(_, of_one)| {
                timed.latency_ns * timed.cores < self.roofline.floor(of_one).value
            });
            let refutation = Refutation {
                problem: &self.problem,
                fields: &refuted.map(|(field, _)| *field).collect::<Vec<_>>(),
                peaks: Some(Peaks::of_roofline(&self.target, self.roofline.unit)),
                floor: self.floor,
                cost: Cost::nanoseconds(timed.latency_ns, 0),
                did: String::new(),
                kernel: self.key(source).short(),
            };
            return Err(refutation.error());
        }
        Ok(Ok(timed))
    }

    fn run(
        &self,
        source: &str,
        case: &Case,
        work: u64,
        finds_unwritten: bool,
    ) -> Result<autocomp_trainium_sim::Evaluation, Box<Failure>> {
        let options = Options {
            dialect: Some(super::dialect_of(&self.machine)),
            generation: self.machine.generation,
            cores: self.machine.cores,
            byte_limit: MOST_BYTES,
            work_limit: work,
            finds_unwritten,
            ..Options::default()
        };
        let inputs = inputs(&self.problem, case);
        evaluate(source, &self.problem.entry, &inputs, &options)
    }

    /// Says of a wrong output which memory it was computed from that nothing has written, if that
    /// is so: the kernel is run again to see what it reads.
    fn tell_unwritten(&self, source: &str, case: &Case, work: u64, found: &mut Diagnostic) {
        let Ok(second) = self.run(source, case, work, true) else {
            return;
        };
        let mut remarks = second
            .remarks
            .iter()
            .filter(|it| UNDEFINED.contains(&it.code.as_str()));
        let Some(first) = remarks.next() else {
            return;
        };
        found.code.clone_from(&first.code);
        let wrong = found.message.replace("never written", "computed from such");
        found.message = format!("{}; {wrong}", first.message);
        found.location = (0 < first.line).then(|| place(first.line));
        found.remedy = Some(first.remedy.clone()).filter(|it| !it.is_empty());
        let others = remarks.map(|it| format!("line {}: {}", it.line, it.message));
        found.notes.extend(others.take(MOST_UNWRITTEN));
    }

    fn compare(&self, case: &Case, outputs: &[Array]) -> Option<Diagnostic> {
        let mut wanted = self.problem.buffers.iter().zip(&case.after);
        let wanted: Vec<_> = wanted
            .by_ref()
            .filter(|(buffer, _)| buffer.is_written())
            .collect();
        let note = || vec![format!("input set: {}", case.name)];
        if wanted.len() != outputs.len() {
            let message = format!(
                "the kernel returns {} tensors instead of {}",
                outputs.len(),
                wanted.len()
            );
            return Some(wrong_shape(message, note()));
        }
        for ((buffer, right), output) in wanted.into_iter().zip(outputs) {
            let shape: Vec<u64> = output.shape.iter().map(|extent| *extent as u64).collect();
            if shape != buffer.shape || output.dtype != super::parameters::element(buffer.dtype) {
                let message = format!(
                    "{} is {}{shape:?} instead of {}{:?}",
                    buffer.name,
                    output.dtype.name(),
                    buffer.dtype.name(),
                    buffer.shape
                );
                return Some(wrong_shape(message, note()));
            }
            let right = right.as_deref().unwrap_or_default();
            if let Some(mut found) = never_written(buffer, right, &output.data) {
                found.notes.insert(0, format!("input set: {}", case.name));
                return Some(found);
            }
            let got = bytes(buffer.dtype, &output.data);
            let poison = unwritten(buffer.dtype, output.data.len());
            let tolerance = self.problem.tolerance;
            let found = comparison::compare(buffer, right, &got, &poison, tolerance, TILE);
            if let Some(mut found) = found {
                found.notes.insert(0, format!("input set: {}", case.name));
                return Some(found);
            }
        }
        None
    }

    pub(crate) fn diagnose(&self, source: &str, failure: Failure) -> (Outcome, Diagnostic) {
        let (outcome, stage) = match failure.kind {
            _ if failure.code == "evaluation-failed" => (Outcome::Fault, Stage::Test),
            FailureKind::Syntax | FailureKind::Unsupported => (Outcome::BuildFailed, Stage::Build),
            FailureKind::Python | FailureKind::Input => (Outcome::Crashed, Stage::Test),
            FailureKind::Rejected => (Outcome::Illegal, Stage::Test),
            FailureKind::Limit => (Outcome::TimedOut, Stage::Test),
        };
        let line = source.lines().nth((failure.line as usize).wrapping_sub(1));
        let found = Diagnostic {
            stage,
            severity: Severity::Error,
            code: failure.code,
            message: failure.message,
            location: (0 < failure.line).then(|| place(failure.line)),
            notes: line
                .map(|line| line.trim().to_owned())
                .into_iter()
                .collect(),
            remedy: Some(failure.remedy).filter(|remedy| !remedy.is_empty()),
        };
        (outcome, found)
    }

    pub(crate) fn problem(&self) -> &Problem {
        &self.problem
    }

    /// Compares outputs as they lie in memory, in the order of the problem.
    pub(crate) fn compare_bytes(&self, case: &Case, outputs: &[Vec<u8>]) -> Option<Diagnostic> {
        let wanted = self.problem.buffers.iter().zip(&case.after);
        let wanted = wanted.filter(|(buffer, _)| buffer.is_written());
        for ((buffer, right), got) in wanted.zip(outputs) {
            let poison = vec![u8::MAX; got.len()];
            let right = right.as_deref().unwrap_or_default();
            let tolerance = self.problem.tolerance;
            let found = comparison::compare(buffer, right, got, &poison, tolerance, TILE);
            if let Some(mut found) = found {
                found.notes.insert(0, format!("input set: {}", case.name));
                return Some(found);
            }
        }
        None
    }

    /// What the work takes at the least on so many cores at their best rates.
    fn floor_on(&self, cores: u64) -> Cost {
        Cost::nanoseconds(self.floor.value.div_ceil(cores), 0)
    }

    fn right(&self, timed: &Timed) -> Verdict {
        let cost = Cost::nanoseconds(timed.latency_ns, 0);
        let floor = self.floor_on(timed.cores);
        let report = &timed.report;
        let lines = report.lines.iter().filter(|line| 0 < line.line);
        let mut counters = BTreeMap::from([
            ("lower_bound_us".to_owned(), report.lower_bound_us),
            ("hbm_read_bytes".to_owned(), report.hbm_read_bytes as f64),
            ("hbm_write_bytes".to_owned(), report.hbm_write_bytes as f64),
            (
                "compulsory_bytes".to_owned(),
                report.compulsory_bytes as f64,
            ),
            (
                "spill_reload_bytes".to_owned(),
                report.spill_reload_bytes as f64,
            ),
            ("mean_transfer_bytes".to_owned(), report.mean_transfer_bytes),
            ("peak_sbuf_bytes".to_owned(), report.peak_sbuf_bytes as f64),
            (
                "tensor_utilization_percent".to_owned(),
                report.tensor_utilization_percent,
            ),
        ]);
        for engine in &report.engines {
            counters.insert(
                format!("{}_active_percent", engine.engine.name()),
                engine.active_time_percent,
            );
        }
        Verdict {
            outcome: Outcome::Ok,
            diagnostics: timed.remarks.iter().map(warning).collect(),
            measurement: Some(Measurement {
                cost,
                floor,
                percent_of_peak: floor.percent_of(cost),
                samples: Vec::new(),
                ratio_to_baseline: None,
                engine: self.engine.clone(),
                compiler: self.compiler().to_owned(),
                figures: BTreeMap::from([("instructions".to_owned(), timed.instructions)]),
            }),
            feedback: Some(Feedback {
                bottleneck: timed.summary.clone(),
                counters,
                lines: lines
                    .map(|line| LineCost {
                        location: place(line.line),
                        cost: Cost::nanoseconds((line.active_us * 1000.0).round() as u64, 0),
                        cause: format!("{} on {}", line.operation, line.engine.name()),
                    })
                    .collect(),
            }),
        }
    }
}

impl TrainiumBench {
    /// Returns name and version of what compiles references.
    pub(crate) fn compiler(&self) -> &str {
        self.reference.compiler()
    }
}

impl Evaluator for TrainiumBench {
    fn key(&self, source: &str) -> ContentHash {
        self.evaluations.key(source)
    }

    fn identity(&self) -> ContentHash {
        self.identity
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        super::PythonNki.normal_form(source)
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.evaluations.get(source, None, |clock| {
            let judged = self.judge(source, clock)?;
            Ok(judged.map_or_else(|verdict| verdict, |timed| self.right(&timed)))
        })
    }
}

impl Bench for TrainiumBench {
    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        // Fresh sets, too: those that a kernel without a text gets.
        let cases = self.cases("")?.map(|case| Ok((*case?).clone()));
        let cases: Vec<Case> = cases.collect::<Result<_, EvalError>>()?;
        Ok(doubts::of_problem(&self.problem, &cases))
    }

    fn facts(&self) -> BenchFacts {
        BenchFacts {
            key_base: self.evaluations.base(),
            identity: self.identity,
            unit: Unit::Nanoseconds,
            engine: self.engine.clone(),
            tools: vec![self.compiler().to_owned()],
            floor: self.floor,
            device: None,
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
        let mut data = serde_json::to_value(&timed.report)
            .map_err(|error| EvalError::Fault(error.to_string()))?;
        data["summary"] = timed.summary.as_str().into();
        Ok(Profiled::Right(Box::new(Profile {
            sections: sections(&timed, source, self.machine.sbuf_bytes),
            data,
            timeline: Some(super::timeline::timeline(
                &timed.schedule,
                self.machine.launch_ns,
                source,
            )),
        })))
    }
}

/// What a kernel of `problem` gets in a case.
pub(crate) fn inputs(problem: &Problem, case: &Case) -> Vec<(String, Input)> {
    super::parameters::given(problem, |number, buffer| {
        let content = case.before[number].as_deref().unwrap_or(&[]);
        super::parameters::array(buffer, numbers(buffer.dtype, content))
    })
}

/// Returns whether what a kernel returns is within `tolerance` of what another one does.
pub(crate) fn are_right(
    problem: &Problem,
    found: &[Array],
    right: &[Array],
    tolerance: Tolerance,
) -> bool {
    let written = problem.buffers.iter().filter(|it| it.is_written());
    let mut pairs = written.zip(found.iter().zip(right));
    found.len() == right.len()
        && pairs.all(|(buffer, (found, right))| {
            let [found_bytes, right_bytes] = [found, right].map(|it| bytes(buffer.dtype, &it.data));
            let poison = unwritten(buffer.dtype, found.data.len());
            found.shape == right.shape
                && comparison::are_right(buffer, &right_bytes, &found_bytes, &poison, tolerance)
        })
}

/// Elements as the interpreter holds them; integers beyond 2²⁴ lose precision.
fn numbers(dtype: DataType, content: &[u8]) -> Vec<f32> {
    let elements = content.chunks_exact(dtype.bytes());
    match dtype {
        DataType::Float32 => {
            let (words, _) = content.as_chunks::<4>();
            words.iter().map(|word| f32::from_le_bytes(*word)).collect()
        }
        _ => elements.map(|it| dtype.value(it) as f32).collect(),
    }
}

/// Elements as a buffer holds them. Poison stays a pattern of its own where the type has one.
fn bytes(dtype: DataType, data: &[f32]) -> Vec<u8> {
    match dtype {
        DataType::Float32 => flattened(data, f32::to_le_bytes),
        // Values are rounded already: the upper half is the element.
        DataType::BFloat16 => {
            flattened(data, |value| ((value.to_bits() >> 16) as u16).to_le_bytes())
        }
        _ => {
            let mut bytes = Vec::with_capacity(data.len() * dtype.bytes());
            for value in data {
                dtype.push(f64::from(*value), &mut bytes);
            }
            bytes
        }
    }
}

/// So many elements that nothing has written, as a buffer holds them.
fn unwritten(dtype: DataType, count: usize) -> Vec<u8> {
    bytes(dtype, &[f32::from_bits(POISON)]).repeat(count)
}

/// The bytes of all elements, made at once.
fn flattened<const N: usize>(data: &[f32], element: impl Fn(f32) -> [u8; N]) -> Vec<u8> {
    let elements: Vec<[u8; N]> = data.iter().copied().map(element).collect();
    elements.into_flattened()
}

/// What a right kernel must be told.
fn warning(remark: &Remark) -> Diagnostic {
    Diagnostic {
        stage: Stage::Test,
        severity: Severity::Warning,
        code: remark.code.clone(),
        message: remark.message.clone(),
        location: (0 < remark.line).then(|| place(remark.line)),
        notes: Vec::new(),
        remedy: Some(remark.remedy.clone()).filter(|remedy| !remedy.is_empty()),
    }
}

/// Finds elements that nothing has written in an output whose type has no pattern for such: an
/// integer would look like a number.
fn never_written(buffer: &Buffer, right: &[u8], data: &[f32]) -> Option<Diagnostic> {
    let unknown = |value: f32| value.abs().to_bits() == POISON;
    if !super::parameters::element(buffer.dtype).is_integer() || !data.iter().copied().any(unknown)
    {
        return None;
    }
    let right = numbers(buffer.dtype, right);
    let pairs = right.iter().zip(data);
    let marked = pairs.map(|(right, value)| if unknown(*value) { *value } else { *right });
    let marked: Vec<f32> = marked.collect();
    let floats = Buffer {
        dtype: DataType::Float32,
        ..buffer.clone()
    };
    let (wanted, got) = (
        flattened(&right, f32::to_le_bytes),
        flattened(&marked, |value| {
            f32::to_le_bytes(if unknown(value) { value.abs() } else { value })
        }),
    );
    let unset = unwritten(floats.dtype, data.len());
    comparison::compare(&floats, &wanted, &got, &unset, Tolerance::Exact {}, TILE)
}

fn place(line: u32) -> SourceLocation {
    SourceLocation {
        file: KERNEL_FILE.to_owned(),
        line,
        column: None,
    }
}

fn wrong_shape(message: String, notes: Vec<String>) -> Diagnostic {
    Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code: "output-shape".to_owned(),
        message,
        location: None,
        notes,
        remedy: Some("return the outputs of the problem, in its order, shapes and types".into()),
    }
}
