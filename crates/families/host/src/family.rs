//! The host behind the contract of families.

use crate::bench::{HostBench, Settings, Tested, Timed, Timing};
use crate::counters;
use crate::detection::Processor;
use crate::feedback;
use crate::machine::machine_of;
use crate::throughput::find_analyst;
use autocomp_c::{C, check};
use autocomp_catalog::{Problem, Target};
use autocomp_core::{
    ContentHash, Cost, Evaluation, Language, Measurement, Outcome, Ratio, Rewriter, Seed, Unit,
};
use autocomp_eval::doubts::{self, Refutation};
use autocomp_eval::profile::{Profile, Profiled, Section};
use autocomp_eval::{
    Bench, BenchFacts, EvalError, Evaluations, Evaluator, Family, Finding, Opening, Surroundings,
    ThreadCount, TierClock, Verdict,
};
use autocomp_measuring::Effort;
use autocomp_native::library;
use autocomp_nests::{NestRewriter, Resources};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Name of kernels in diagnostics.
const KERNEL_FILE: &str = "kernel.c";
/// Processor time that one command of a worker may take.
const COMMAND_TIME: Duration = Duration::from_secs(20);
/// Processor time that tests and timings of one kernel may take together.
const EVALUATION_TIME: Duration = Duration::from_secs(60);

/// The family of the processors that autocomp itself runs on.
#[derive(Debug)]
pub struct Host;

impl Family for Host {
    fn name(&self) -> &'static str {
        "host"
    }

    fn languages(&self) -> &'static [&'static dyn Language] {
        &[&C]
    }

    fn unit(&self, _target: &Target, _machine: &str) -> Result<Unit, EvalError> {
        Ok(Unit::Nanoseconds)
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        let names = target.machines.keys();
        names
            .into_iter()
            .try_for_each(|name| machine_of(target, name).map(|_| ()))
    }

    fn preferred<'t>(&self, targets: &'t [String]) -> Option<&'t str> {
        let detected = Processor::detect().target();
        let fits = targets.iter().find(|name| Some(name.as_str()) == detected);
        fits.or(targets.first()).map(String::as_str)
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        // Before a compiler is installed for nothing.
        autocomp_eval::check_arguments(opening.problem)?;
        let machine = machine_of(opening.target, opening.machine)?;
        machine.check(&opening.target.name, &Processor::detect())?;
        let surroundings = opening.surroundings;
        let toolchain = autocomp_toolchain::find_toolchain(surroundings, opening.progress)?;
        let settings = Settings {
            toolchain,
            cache_folder: surroundings.cache_folder.clone(),
            effort: Effort::default(),
            command_time: COMMAND_TIME,
            evaluation_time: EVALUATION_TIME,
            seed: opening.settings.seed,
            // Whoever writes a kernel cannot know the inputs that it is timed on.
            timed_seed: unknown_seed(),
        };
        let problem = opening.problem.clone();
        let bench = HostBench::open(problem, opening.target, opening.machine, settings)?;
        Ok(Arc::new(HostEvaluator {
            evaluations: Evaluations::measured(bench.base_key(), opening.settings.use_cache),
            bench,
            threads: ThreadCount::new(opening.settings.threads),
            analyst: find_analyst(surroundings.path.as_deref()),
        }))
    }

    fn rewriter(
        &self,
        problem: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let machine = machine_of(target, machine)?;
        let features = Processor::detect().features;
        Ok(Some(Arc::new(NestRewriter::new(Resources {
            no_divisors: problem.inputs_with_special_numbers(),
            ..machine.resources(&features)
        }))))
    }

    fn examine(&self, surroundings: &Surroundings) -> Vec<Finding> {
        let processor = Processor::detect();
        let model = match processor.model.as_str() {
            "" => processor.architecture.clone(),
            model => model.to_owned(),
        };
        let features = processor.features.join(" ");
        let target = match processor.target() {
            Some(name) => Finding {
                name: "host target",
                ok: true,
                detail: format!("{name}: {model} with {features}"),
                remedies: Vec::new(),
            },
            None => Finding {
                name: "host target",
                ok: false,
                detail: format!("none for {model}, which has neither AVX2 with FMA nor Neon"),
                remedies: vec!["kernels for other families can be optimized here".into()],
            },
        };
        let analyst = find_analyst(surroundings.path.as_deref());
        let analysis = Finding {
            name: "static analysis",
            ok: true,
            detail: match analyst {
                Some(path) => format!("{} looks at innermost loops", path.display()),
                None => "no llvm-mca: feedback says less about innermost loops (Debian, Ubuntu: apt-get install llvm)".into(),
            },
            remedies: Vec::new(),
        };
        let counters = Finding {
            name: "event counters",
            ok: true,
            detail: match counters::availability() {
                Ok(()) => "feedback tells instructions per cycle and cache misses".into(),
                Err(reason) => format!("none: {reason}; feedback does without"),
            },
            remedies: Vec::new(),
        };
        vec![target, analysis, counters]
    }

    fn probe(&self) -> &'static str {
        "host/rmsnorm-f32-500x333"
    }
}

/// Returns a seed that nobody knows.
fn unknown_seed() -> Seed {
    use std::hash::{BuildHasher, Hasher, RandomState};
    Seed(RandomState::new().build_hasher().finish())
}

/// Evaluates kernels for one problem on this computer.
#[derive(Debug)]
pub struct HostEvaluator {
    bench: HostBench,
    threads: ThreadCount,
    evaluations: Evaluations,
    analyst: Option<PathBuf>,
}

impl HostEvaluator {
    fn judge(&self, source: &str, clock: &mut TierClock) -> Result<Verdict, EvalError> {
        let _busy = self.threads.take();
        let problem = self.bench.problem();
        let refusals = clock.measure("check", || match library::wanted(source, problem) {
            Some(_) => Vec::new(),
            None => check(source, KERNEL_FILE, problem),
        });
        if !refusals.is_empty() {
            return Ok(Verdict::failed(Outcome::Rejected, refusals));
        }
        let program = match clock.measure("build", || self.bench.build(source))? {
            Ok(program) => program,
            Err(found) => return Ok(Verdict::failed(Outcome::BuildFailed, found)),
        };
        let right = match clock.measure("test", || self.bench.test(&program, source))? {
            Tested::Right(right) => right,
            Tested::Failed(outcome, found) => return Ok(Verdict::failed(outcome, vec![*found])),
        };
        let counted = self.bench.count(&program);
        let timed = clock.measure("time", || self.bench.time(program, source, right))?;
        let timing = match timed {
            Timed::Cost(timing) => timing,
            Timed::Failed(outcome, found) => return Ok(Verdict::failed(outcome, vec![*found])),
        };
        let measurement = self.measurement(source, &timing)?;
        let analyst = self.analyst.as_deref();
        let found = feedback::look(&self.bench, source, timing.call_ns, analyst, &counted)?;
        Ok(Verdict {
            outcome: Outcome::Ok,
            diagnostics: Vec::new(),
            measurement: Some(measurement),
            feedback: Some(found.feedback),
        })
    }

    fn measurement(&self, source: &str, timing: &Timing) -> Result<Measurement, EvalError> {
        if !self.bench.refuted(timing.call_ns).is_empty() {
            self.bench.raise_peaks()?;
        }
        let floor = self.bench.floor_cost();
        let cost = Cost::nanoseconds(timing.call_ns.max(1.0) as u64, timing.spread_ppm);
        let fields = self.bench.refuted(timing.call_ns);
        if !fields.is_empty() {
            let refutation = Refutation {
                problem: self.bench.problem(),
                fields: &fields,
                peaks: None,
                floor,
                cost,
                did: String::new(),
                kernel: self.key(source).short(),
            };
            return Err(refutation.error());
        }
        let interval = timing.to_baseline;
        Ok(Measurement {
            cost,
            floor,
            percent_of_peak: self.bench.cost_at_peak().percent_of(cost),
            samples: timing
                .paired
                .candidate_ns
                .iter()
                .map(|time| *time as u64)
                .collect(),
            ratio_to_baseline: Some(Ratio {
                value: interval.median,
                low: interval.low,
                high: interval.high,
            }),
            engine: self.bench.engine.clone(),
            compiler: self.bench.builder().compiler().to_owned(),
            figures: BTreeMap::from([
                ("rounds".to_owned(), timing.paired.ratios.len() as u64),
                ("noise_ppm".to_owned(), (timing.noise * 1e6).min(1e9) as u64),
                (
                    "calls".to_owned(),
                    (timing.paired.calls * timing.paired.candidate_ns.len()) as u64,
                ),
            ]),
        })
    }
}

impl Evaluator for HostEvaluator {
    fn key(&self, source: &str) -> ContentHash {
        self.evaluations.key(source)
    }

    fn identity(&self) -> ContentHash {
        self.bench.identity()
    }

    fn normal_form(&self, source: &str) -> Option<String> {
        C.normal_form(source)
    }

    fn evaluate(&self, source: &str) -> Result<Evaluation, EvalError> {
        self.evaluations
            .get(source, None, |clock| self.judge(source, clock))
    }
}

impl Bench for HostEvaluator {
    fn facts(&self) -> BenchFacts {
        BenchFacts {
            key_base: self.evaluations.base(),
            identity: self.bench.identity(),
            unit: Unit::Nanoseconds,
            engine: self.bench.engine.clone(),
            tools: vec![self.bench.builder().compiler().to_owned()],
            floor: self.bench.floor_cost(),
            device: Some(0),
        }
    }

    fn doubts(&self) -> Result<Vec<String>, EvalError> {
        let cases = self.bench.known_answers()?;
        Ok(doubts::of_problem(self.bench.problem(), &cases))
    }

    fn profile(&self, source: &str) -> Result<Profiled, EvalError> {
        let evaluation = self.evaluate(source)?;
        let Some(cost) = evaluation.cost() else {
            return Ok(Profiled::Failed(Box::new(evaluation)));
        };
        let call_ns = cost.value as f64;
        let counted = match self.bench.build(source)? {
            Ok(program) => self.bench.count(&program),
            Err(_) => Err("the kernel does not build any more".into()),
        };
        let analyst = self.analyst.as_deref();
        let found = feedback::look(&self.bench, source, call_ns, analyst, &counted)?;
        let mut sections = vec![Section {
            title: None,
            text: feedback::wrapped(&found.feedback.bottleneck),
        }];
        for innermost in found.loops.iter().take(feedback::MOST_LOOPS) {
            let title = match innermost.line {
                Some(line) => format!("innermost loop at line {line}"),
                None => "innermost loop".to_owned(),
            };
            sections.push(Section {
                title: Some(title),
                text: feedback::listing(innermost),
            });
        }
        let data = serde_json::json!({
            "bottleneck": found.feedback.bottleneck,
            "counters": found.feedback.counters,
            "loops": found.loops,
            "throughput": found.throughput,
            "measurement": evaluation.measurement,
        });
        Ok(Profiled::Right(Box::new(Profile {
            sections,
            data,
            timeline: None,
        })))
    }
}
