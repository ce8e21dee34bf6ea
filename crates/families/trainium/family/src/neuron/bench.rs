//! One problem on one real NeuronCore: checked in the simulator, compiled, run and profiled on the
//! instance.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use autocomp_core::{
    ContentHash, Cost, Diagnostic, Feedback, Measurement, Outcome, Severity, Stage,
};
use autocomp_eval::inputs::Case;
use autocomp_eval::profile::{Profile, Section};
use autocomp_eval::{Bench, EvalError, Opening, TierClock, Verdict};
use autocomp_measuring::{Twin, TwinBench};
use autocomp_remote::{Done, Folder, Machine, Task, last_lines};

use super::Settings;
use super::summary::{self, Summary};
use crate::TrainiumBench;
use crate::explanation::SENTENCES;
use autocomp_trainium_sim::Dialect;

/// Hash of what works the device.
const SOURCES: &str = env!("AUTOCOMP_TRAINIUM_DEVICE");
/// The program that runs beside the vendor's tools.
const DRIVER: &str = include_str!("driver.py");
const EXECUTABLE: &str = "kernel.neff";
/// Where packages of the vendor are installed.
const VENDOR_FOLDER: &str = "/opt/aws";

/// One problem on one device.
#[derive(Debug)]
pub(crate) struct NeuronBench {
    /// Checks kernels before they may run on the device.
    simulated: TrainiumBench,
    settings: Settings,
    machine: Machine,
    /// What the vendor's compiler may read on this computer.
    readable: Vec<PathBuf>,
}

impl NeuronBench {
    pub(crate) fn open(
        opening: Opening<'_>,
        settings: Settings,
    ) -> Result<TwinBench<Self>, EvalError> {
        if let Some(name) = opening.problem.arguments.keys().next() {
            return Err(EvalError::Input {
                message: format!(
                    "{} gives the argument `{name}`, which is not handed over on a device yet",
                    opening.problem.name
                ),
                remedies: vec!["make it the default of the kernel's parameter".into()],
            });
        }
        let use_cache = opening.settings.use_cache;
        let path = opening.surroundings.path.as_deref();
        let machine = Machine::new(settings.host.as_ref(), path);
        let (target, name) = (opening.target, opening.machine);
        let text = target.machine(Some(name)).unwrap_or_default();
        let mut readable = settings.readable.clone();
        readable.push(VENDOR_FOLDER.into());
        let simulated = TrainiumBench::open(Opening {
            problem: opening.problem,
            target: opening.target,
            machine: &settings.simulated,
            settings: opening.settings,
            surroundings: opening.surroundings,
            progress: &mut *opening.progress,
        })?;
        let engine = format!(
            "neuron {} machine={name} on {}",
            target.name,
            machine.name()
        );
        let of_device = ("neuron evaluation", &[text, SOURCES][..]);
        let device = Self {
            simulated,
            machine,
            readable,
            settings,
        };
        Ok(TwinBench::new(device, engine, of_device, use_cache))
    }

    fn on_device(
        &self,
        source: &str,
        dialect: Dialect,
        folder: &Folder<'_>,
        clock: &mut TierClock,
    ) -> Result<Result<Summary, Verdict>, EvalError> {
        let driver = folder.file("driver.py");
        let place = folder.path().to_string_lossy();
        let executable = folder.file(EXECUTABLE);
        let dialect = if dialect == Dialect::V1 {
            "nki1"
        } else {
            "nki2"
        };
        folder.put("driver.py", DRIVER.as_bytes())?;
        folder.put("kernel.py", source.as_bytes())?;
        // Compilations go on in parallel, and see shapes only.
        folder.put("inputs.json", self.inputs(None).as_bytes())?;
        let arguments: Vec<String> = [
            &*driver,
            "compile",
            &*place,
            &self.simulated.problem().entry,
            dialect,
            &executable,
        ]
        .map(|it| it.to_string())
        .to_vec();
        let seconds = self.settings.compile_seconds;
        let task = Self::task(&self.settings.python, &arguments, seconds);
        let done = clock.measure("build", || folder.run_confined(&task, &self.readable))?;
        if done.code != 0 {
            let found = told(
                "neuron-compile",
                Stage::Build,
                "the compiler refuses the kernel",
                &done,
                seconds,
            );
            return Ok(Err(Verdict::failed(Outcome::BuildFailed, vec![found])));
        }
        for case in self.simulated.cases(source)? {
            let case = case?;
            if let Some(verdict) =
                clock.measure("test", || self.test(&case, folder, &driver, &executable))?
            {
                return Ok(Err(verdict));
            }
        }
        clock
            .measure("time", || self.time(folder, &executable))
            .map(Ok)
    }

    /// A task of the instance that uses no core.
    fn task<'t>(program: &'t Path, arguments: &'t [String], seconds: u64) -> Task<'t> {
        Task {
            program,
            arguments,
            environment: &[],
            seconds,
            lock: None,
        }
    }

    /// Runs a program of the instance while nobody else who uses this backend runs on the core.
    fn alone(
        &self,
        folder: &Folder<'_>,
        program: &Path,
        arguments: &[String],
    ) -> Result<Done, EvalError> {
        let core = self.settings.core;
        let lock = self.settings.folder.join(format!("core{core}.lock"));
        folder.run(&Task {
            environment: &[("NEURON_RT_VISIBLE_CORES", core.to_string())],
            lock: Some(&lock),
            ..Self::task(program, arguments, self.settings.run_seconds)
        })
    }

    /// Runs one input set on the device; the verdict if that goes wrong.
    fn test(
        &self,
        case: &Case,
        folder: &Folder<'_>,
        driver: &str,
        executable: &str,
    ) -> Result<Option<Verdict>, EvalError> {
        folder.put("inputs.json", self.inputs(Some(case)).as_bytes())?;
        for (at, content) in case.before.iter().enumerate() {
            if let Some(content) = content {
                folder.put(&format!("input{at}.bin"), content)?;
            }
        }
        let library = self.settings.library.to_string_lossy();
        let place = folder.path().to_string_lossy();
        let arguments = [driver, "run", &*place, executable, &*library].map(str::to_owned);
        let seconds = self.settings.run_seconds;
        let done = self.alone(folder, &self.settings.python, &arguments)?;
        if done.code != 0 {
            let outcome = if done.code == 124 {
                Outcome::TimedOut
            } else {
                Outcome::Crashed
            };
            let mut found = told(
                "neuron-run",
                Stage::Test,
                "the kernel does not run on the device",
                &done,
                seconds,
            );
            found.notes.push(format!("input set: {}", case.name));
            return Ok(Some(Verdict::failed(outcome, vec![found])));
        }
        let mut outputs = Vec::new();
        let written = self
            .simulated
            .problem()
            .buffers
            .iter()
            .filter(|buffer| buffer.is_written());
        for (at, buffer) in written.enumerate() {
            let content = folder.get(&format!("output{at}.bin"))?;
            let content = content.filter(|it| it.len() == buffer.bytes());
            let Some(content) = content else {
                let found = Diagnostic {
                    stage: Stage::Test,
                    severity: Severity::Error,
                    code: "output-shape".to_owned(),
                    message: format!(
                        "the device returns no {} of {} bytes",
                        buffer.name,
                        buffer.bytes()
                    ),
                    location: None,
                    notes: vec![format!("input set: {}", case.name)],
                    remedy: Some(
                        "return the outputs of the problem, in its order, shapes and types".into(),
                    ),
                };
                return Ok(Some(Verdict::failed(Outcome::Wrong, vec![found])));
            };
            outputs.push(content);
        }
        let found = self.simulated.compare_bytes(case, &outputs);
        Ok(found.map(|found| Verdict::failed(Outcome::Wrong, vec![found])))
    }

    /// Profiles the executable. What the profiler cannot do is the machine's fault: the kernel ran.
    fn time(&self, folder: &Folder<'_>, executable: &str) -> Result<Summary, EvalError> {
        let problem = |message: String| {
            EvalError::Environment {
            message,
            remedies: vec!["correct `profiler` in the machine's file, or install the vendor's tools on the instance".into()],
        }
        };
        let executions = self.settings.executions.to_string();
        let seconds = self.settings.run_seconds;
        let session = folder.file("profile.ntff");
        let capture = [
            "capture",
            "-n",
            executable,
            "-s",
            &session,
            "--num-exec",
            &executions,
            "--profile-nth-exec",
            &executions,
        ]
        .map(str::to_owned);
        let done = self.alone(folder, &self.settings.profiler, &capture)?;
        if done.code != 0 {
            return Err(problem(format!(
                "the profiler cannot capture (exit code {}): {}",
                done.code,
                last_lines(&done.stderr)
            )));
        }
        let profiled = folder.file(&format!("profile_exec_{executions}.ntff"));
        let view = [
            "view",
            "-n",
            executable,
            "-s",
            &profiled,
            "--output-format=summary-json",
        ]
        .map(str::to_owned);
        let done = folder.run(&Self::task(&self.settings.profiler, &view, seconds))?;
        if done.code != 0 {
            return Err(problem(format!(
                "the profiler cannot view (exit code {}): {}",
                done.code,
                last_lines(&done.stderr)
            )));
        }
        summary::parse(&done.stdout).map_err(problem)
    }

    /// `inputs.json`: the inputs in their order, with contents if there is a case.
    fn inputs(&self, case: Option<&Case>) -> String {
        let buffers = self.simulated.problem().buffers.iter().enumerate();
        let read = buffers.filter(|(_, buffer)| buffer.is_read());
        let entries: Vec<serde_json::Value> = read
            .map(|(at, buffer)| {
                let file = case.map(|_| format!("input{at}.bin")).unwrap_or_default();
                serde_json::json!({"dtype": buffer.dtype.name(), "shape": buffer.shape, "file": file})
            })
            .collect();
        serde_json::Value::Array(entries).to_string()
    }
}

/// What failed, in the tool's last words.
fn told(code: &str, stage: Stage, what: &str, done: &Done, seconds: u64) -> Diagnostic {
    let message = match done.code {
        124 => format!("{what}: not done after {seconds} seconds"),
        exit => format!("{what} (exit code {exit})"),
    };
    let said = if done.stderr.trim().is_empty() {
        &done.stdout
    } else {
        &done.stderr
    };
    Diagnostic {
        stage,
        severity: Severity::Error,
        code: code.to_owned(),
        message,
        location: None,
        notes: said
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .take(12)
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect(),
        remedy: Some(
            "the simulator accepts this kernel; change what the tool complains of".to_owned(),
        ),
    }
}

/// The busiest engine, as the profiler counts.
fn words(summary: &Summary) -> String {
    let busy = summary
        .counters
        .iter()
        .filter(|(name, _)| name.ends_with("_active_time_percent"));
    let busiest = busy.max_by(|a, b| a.1.total_cmp(b.1));
    let mut said = SENTENCES.paragraph();
    let total = format!("{:.1}", summary.total_ns as f64 / 1000.0);
    said.say("measured", &[("total", &total)]);
    if let Some((name, share)) = busiest {
        let engine = name
            .trim_end_matches("_active_time_percent")
            .replace('_', " ");
        // The profiler gives some shares as fractions.
        let share = if *share <= 1.0 { 100.0 * share } else { *share };
        let share = format!("{share:.0}");
        said.say(
            "busiest-measured",
            &[("engine", &engine), ("share", &share)],
        );
    }
    said.text()
}

impl Twin for NeuronBench {
    type Measured = Summary;

    fn simulated(&self) -> &dyn Bench {
        &self.simulated
    }

    fn floor(&self) -> Cost {
        self.simulated.facts().floor
    }

    fn judge(
        &self,
        source: &str,
        key: ContentHash,
        clock: &mut TierClock,
    ) -> Result<Result<Summary, Verdict>, EvalError> {
        let evaluated = match self.simulated.judge(source, clock)? {
            Ok(timed) => timed,
            Err(verdict) => return Ok(Err(verdict)),
        };
        if let Err(failure) = autocomp_trainium_sim::plain::check(source, evaluated.dialect) {
            let (outcome, found) = self.simulated.diagnose(source, *failure);
            return Ok(Err(Verdict::failed(outcome, vec![found])));
        }
        let folder = self.settings.folder.join(key.to_string());
        let folder = self.machine.folder(folder)?;
        self.on_device(source, evaluated.dialect, &folder, clock)
    }

    fn verdict(&self, summary: &Summary, engine: &str) -> Verdict {
        let cost = Cost::nanoseconds(summary.total_ns, 0);
        let floor = self.simulated.facts().floor;
        Verdict {
            outcome: Outcome::Ok,
            diagnostics: Vec::new(),
            measurement: Some(Measurement {
                cost,
                floor,
                percent_of_peak: floor.percent_of(cost),
                samples: Vec::new(),
                ratio_to_baseline: None,
                engine: engine.to_owned(),
                compiler: self.simulated.compiler().to_owned(),
                figures: BTreeMap::new(),
            }),
            feedback: Some(Feedback {
                bottleneck: words(summary),
                counters: summary.counters.clone(),
                lines: Vec::new(),
            }),
        }
    }

    fn profile(&self, summary: &Summary) -> Profile {
        let lines: Vec<String> = summary
            .counters
            .iter()
            .map(|(name, value)| format!("  {name:<44} {value}"))
            .collect();
        let section = |title: Option<&str>, text: String| Section {
            title: title.map(str::to_owned),
            text,
        };
        Profile {
            sections: vec![
                section(None, format!("{}\n", words(summary))),
                section(
                    Some("counters of the device's profiler"),
                    lines.join("\n") + "\n",
                ),
            ],
            data: serde_json::json!({"total_ns": summary.total_ns, "counters": summary.counters}),
            timeline: None,
        }
    }
}
