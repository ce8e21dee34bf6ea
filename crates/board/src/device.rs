//! A board with a folder and the runner on it.

use crate::job::{Job, digest};
use crate::settings::Settings;
use autocomp_eval::EvalError;
use autocomp_remote::{Done, Folder, Task, last_lines};
use autocomp_toolchain::{CompileTarget, Compiler, Toolchain};
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

const RUNNER: &str = include_str!("runner.c");

/// Exit code of the runner where the board does not do what it should.
const NOT_THE_KERNELS: i32 = 3;

/// Exit code of a task whose time was over.
const LATE: i32 = 124;

/// How long is waited before a hot board is looked at again.
const COOLING: Duration = Duration::from_secs(5);

/// Builds the runner with the compiler of kernels, for Linux and without a C library.
///
/// # Errors
/// [`EvalError::Environment`] if the compiler cannot make programs for it.
pub(crate) fn runner(toolchain: &Toolchain, cache_folder: &Path) -> Result<Vec<u8>, EvalError> {
    let machine = ["-march=rv64gc", "-mabi=lp64d"].map(str::to_owned);
    let compiler = Compiler::new(toolchain.clone(), CompileTarget::linux("riscv64", &machine))?;
    let unusable = |error: std::io::Error| EvalError::Environment {
        message: format!("the runner of boards cannot be built: {error}"),
        remedies: vec!["make room, or set AUTOCOMP_CACHE_DIR to another folder".into()],
    };
    let scratch = cache_folder.join("board-runners");
    std::fs::create_dir_all(&scratch).map_err(unusable)?;
    let folder = tempfile::tempdir_in(&scratch).map_err(unusable)?;
    let path = std::fs::canonicalize(folder.path()).map_err(unusable)?;
    std::fs::write(path.join("runner.c"), RUNNER).map_err(unusable)?;
    let policy = compiler.policy(&path, &[]);
    let flags = ["-O2", "-fno-builtin"].map(str::to_owned);
    let made = ("-c", Path::new("runner.c"), Path::new("runner.o"));
    let mut report = compiler.compile(&policy, made, &path, &flags, None)?;
    if report.succeeded() {
        let inputs = ["-static", "-z", "noexecstack", "runner.o"].map(OsStr::new);
        report = compiler.link(&policy, inputs, "runner")?;
    }
    if !report.succeeded() {
        toolchain.confirm()?;
        let said = report.stderr.text();
        return Err(EvalError::Fault(format!(
            "{} does not build the runner of boards: {said}",
            toolchain.name
        )));
    }
    std::fs::read(path.join("runner")).map_err(unusable)
}

/// What the board says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub governor: Option<String>,
    pub mhz: Option<f64>,
    /// Of the hottest place.
    pub celsius: Option<f64>,
}

/// What a run of a job did.
pub(crate) enum Ran {
    /// Nanoseconds of each call, all of which left results of this digest.
    Alike(Vec<f64>, u64),
    /// Calls with the same inputs left different results.
    Varied,
    Late,
    /// Exit code of the program.
    Died(i32),
}

/// A folder on a board, with the runner in it.
pub(crate) struct Board<'a> {
    folder: Folder<'a>,
    settings: &'a Settings,
}

impl<'a> Board<'a> {
    /// Puts the runner into a folder of the board.
    pub fn new(
        folder: Folder<'a>,
        runner: &[u8],
        settings: &'a Settings,
    ) -> Result<Self, EvalError> {
        folder.put("runner", runner)?;
        let board = Self { folder, settings };
        let path = board.folder.file("runner");
        let done = board.task(&["chmod", "700", &path], None)?;
        match done.code {
            0 => Ok(board),
            _ => Err(board.unusable(last_lines(&done.stderr))),
        }
    }

    fn unusable(&self, what: String) -> EvalError {
        EvalError::Environment {
            message: format!("the board cannot measure: {what}"),
            remedies: vec!["correct the machine's file, or take a simulated machine".into()],
        }
    }

    fn task(&self, words: &[&str], lock: Option<&Path>) -> Result<Done, EvalError> {
        let (program, arguments) = words.split_first().unwrap_or((&"", &[]));
        let arguments: Vec<String> = arguments.iter().map(|it| (*it).to_owned()).collect();
        self.folder.run(&Task {
            program: Path::new(program),
            arguments: &arguments,
            environment: &[],
            seconds: self.settings.seconds,
            lock,
        })
    }

    /// Puts a job there, under a name.
    pub fn put(&self, name: &str, job: &Job) -> Result<(), EvalError> {
        self.folder.put(name, &job.bytes)
    }

    /// Calls the kernel of a job a few times, on caches without `flushed` bytes of data.
    pub fn run(&self, name: &str, calls: usize, flushed: usize) -> Result<Ran, EvalError> {
        let core = self.settings.core.to_string();
        let (calls, flushed) = (calls.to_string(), flushed.to_string());
        let (runner, job, result) = (
            self.folder.file("runner"),
            self.folder.file(name),
            self.folder.file("result"),
        );
        let mut words: Vec<&str> = self.settings.through.iter().map(String::as_str).collect();
        words.extend([&*runner, &*job, &*result, &*core, &*calls, &*flushed]);
        let lock = self.settings.folder.join(format!("core{core}.lock"));
        let done = self.task(&words, Some(&lock))?;
        match done.code {
            0 => {}
            LATE => return Ok(Ran::Late),
            NOT_THE_KERNELS => return Err(self.unusable(last_lines(&done.stdout))),
            code if done.stdout.is_empty() && code < 128 => {
                return Err(self.unusable(last_lines(&done.stderr)));
            }
            code => return Ok(Ran::Died(code)),
        }
        let calls = done.stdout.lines().map(|line| {
            let (ns, digest) = line.split_once(' ')?;
            Some((ns.parse::<u64>().ok()? as f64, digest.parse::<u64>().ok()?))
        });
        let calls: Option<Vec<(f64, u64)>> = calls.collect();
        let Some(calls) = calls.filter(|it| !it.is_empty()) else {
            let said = last_lines(&done.stdout);
            return Err(self.unusable(format!("the runner's words are not understood: {said}")));
        };
        let of_first = calls[0].1;
        if calls.iter().any(|call| call.1 != of_first) {
            return Ok(Ran::Varied);
        }
        let times = calls.into_iter().map(|call| call.0).collect();
        Ok(Ran::Alike(times, of_first))
    }

    /// Returns what the last call left in all outputs, one behind the other, which has this
    /// digest.
    pub fn results(&self, of_call: u64) -> Result<Vec<u8>, EvalError> {
        let results = self.folder.get("result")?;
        let results = results.filter(|it| digest(it) == of_call);
        results.ok_or_else(|| self.unusable("its results are not those of the last call".into()))
    }

    /// Returns what the board says of itself now.
    pub fn state(&self) -> Result<State, EvalError> {
        let system = self.settings.system.to_string_lossy();
        let frequency = format!(
            "{system}/devices/system/cpu/cpu{}/cpufreq",
            self.settings.core
        );
        let script = "echo governor $(cat \"$1/scaling_governor\"); \
             echo khz $(cat \"$1/scaling_cur_freq\"); \
             for it in \"$2\"/class/thermal/thermal_zone*/temp; do echo heat $(cat \"$it\"); done";
        let done = self.task(&["/bin/sh", "-c", script, "sh", &frequency, &system], None)?;
        let mut state = State::default();
        for line in done.stdout.lines() {
            let Some((name, value)) = line.split_once(' ') else {
                continue;
            };
            match (name, value.parse::<f64>()) {
                ("governor", _) => state.governor = Some(value.to_owned()),
                ("khz", Ok(khz)) => state.mhz = Some(khz / 1e3),
                ("heat", Ok(heat)) => {
                    let hottest = state.celsius.unwrap_or(f64::NEG_INFINITY);
                    state.celsius = Some(hottest.max(heat / 1e3));
                }
                _ => {}
            }
        }
        Ok(state)
    }

    /// Returns what the board says of itself as soon as it is cool enough to measure on.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if it stays too hot.
    pub fn cool(&self) -> Result<State, EvalError> {
        let mut left = Duration::from_secs(self.settings.cooling_seconds);
        loop {
            let state = self.state()?;
            let Some(heat) = state.celsius.filter(|it| self.settings.celsius < *it) else {
                return Ok(state);
            };
            if left.is_zero() {
                return Err(EvalError::Environment {
                    message: format!(
                        "the board has {heat:.0} degrees and does not get cooler; at most {:.0} are wanted",
                        self.settings.celsius
                    ),
                    remedies: vec![
                        "cool the board, or raise `celsius` in the machine's file".into(),
                    ],
                });
            }
            let pause = COOLING.min(left);
            std::thread::sleep(pause);
            left -= pause;
        }
    }
}
