//! References in Python: called in a sandbox, once for each case, and their answers kept.

mod exchange;
mod files;

use crate::interpreter::Interpreter;
use autocomp_catalog::{Buffer, Problem, ReferenceLanguage};
use autocomp_core::{ContentHash, ContentHasher, Seed, one_line};
use autocomp_eval::inputs::Case;
use autocomp_eval::{CachePart, EvalError, FileStore, unwritable};
use autocomp_sandbox::{Exit, Limits, ProcessRule, SandboxPolicy, SandboxReport};
pub use exchange::parts;
use exchange::{outputs, push_sent, received, sent_bytes, told};
use files::Files;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What calls the reference.
const CALLER: &str = include_str!("../runtime/answer.py");
/// Its file.
const CALLER_FILE: &str = "answer.py";
/// File of the reference.
const FILE: &str = ReferenceLanguage::Python.file();

/// Processor time that one call may take, seconds; starting, when large packages are read, may
/// take as much.
const CALL_SECONDS: u64 = 30;
/// Wall time in processor times, room for busy machines.
const WALL_PER_PROCESSOR_TIME: u64 = 10;
/// Address space, bytes: large packages reserve far more than they use.
const ADDRESS_SPACE_BYTES: u64 = 16 << 30;
/// Where packages may look for a seed when they start.
const RANDOM_NUMBERS: &str = "/dev/urandom";
/// Bytes of cases that one process gets together.
const BATCH_BYTES: usize = 256 << 20;
/// First byte of an answer, of what is said instead, and of the files that were read.
const ANSWERED: u8 = 0;
const REFUSED: u8 = 1;
const READ: u8 = 2;
/// Bytes that the list of these files may have.
const MOST_LISTED_BYTES: usize = 4 << 20;

/// A reference in Python.
#[derive(Debug)]
pub struct Script {
    interpreter: Interpreter,
    folder: tempfile::TempDir,
    answers: FileStore,
    call_seconds: u64,
    /// What the files say that the reference reads beside its own.
    files: ContentHash,
    /// Whether answers of it were asked for twice and were the same, here or when they were kept.
    is_consistent: AtomicBool,
}

/// What calls of a reference gave.
struct Answered {
    answers: Vec<Vec<Option<Vec<u8>>>>,
    /// The files that it read.
    files: Vec<PathBuf>,
}

/// What the caller says instead of an answer.
#[derive(Deserialize)]
struct Refusal {
    kind: String,
    message: String,
}

impl Script {
    /// Prepares to run the reference of `problem` with the Python on the search path.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if there is no Python here, [`EvalError::Input`] if the
    /// reference gives no answer, where it has not given one before.
    pub fn new(
        problem: &Problem,
        path: Option<&OsStr>,
        cache_folder: &Path,
    ) -> Result<Self, EvalError> {
        Self::within(problem, path, cache_folder, CALL_SECONDS)
    }

    /// Does the same with another processor time for each call, in seconds.
    ///
    /// # Errors
    /// As for [`Script::new`].
    #[doc(hidden)]
    pub fn within(
        problem: &Problem,
        path: Option<&OsStr>,
        cache_folder: &Path,
        call_seconds: u64,
    ) -> Result<Self, EvalError> {
        let scratch = cache_folder.join("references");
        let made = fs::create_dir_all(&scratch).and_then(|()| tempfile::tempdir_in(&scratch));
        let folder = made.map_err(|error| unwritable(&scratch, &error))?;
        let interpreter = Interpreter::find(path, folder.path())?;
        for (name, text) in [(CALLER_FILE, CALLER), (FILE, &problem.reference)] {
            let path = folder.path().join(name);
            fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
        }
        let mut script = Self {
            interpreter,
            folder,
            answers: FileStore::new(cache_folder, CachePart::Answers),
            call_seconds,
            files: Files::default().hash(),
            is_consistent: AtomicBool::new(false),
        };
        script.files = script.read_files(problem)?.hash();
        Ok(script)
    }

    /// Returns the files that the reference reads, as they are now: those that are known of an
    /// earlier process if none has changed since, else those of a call.
    fn read_files(&self, problem: &Problem) -> Result<Files, EvalError> {
        let mut hasher = ContentHasher::new("files of a reference in Python");
        hasher.update(&problem.oracle_hash.0);
        hasher.update(self.key().as_bytes());
        hasher.update(self.interpreter.search_path().as_encoded_bytes());
        let key = hasher.finish();
        let known = self.answers.get(&key);
        let known = known.and_then(|bytes| serde_json::from_slice::<Files>(&bytes).ok());
        if let Some(known) = known.filter(Files::are_unchanged) {
            return Ok(known);
        }
        let Some(set) = problem.input_sets.first() else {
            return Ok(Files::default());
        };
        let case = Case::draw(problem, set, Seed(0));
        let files = Files::now(self.called(problem, &[&case])?.files);
        if let Ok(bytes) = serde_json::to_vec(&files) {
            self.answers.put(&key, &bytes);
        }
        Ok(files)
    }

    /// Returns everything that decides answers beside the reference.
    #[must_use]
    pub fn key(&self) -> String {
        let version = &self.interpreter.version;
        format!("Python {version}\n{CALLER}\n{}", self.files)
    }

    /// Fills in the right answers of `cases`. Those that were given before, of equal inputs,
    /// are not computed again. The first ones are asked for twice, later ones once, since to
    /// start Python and large packages takes seconds.
    ///
    /// # Errors
    /// [`EvalError::Input`] if the reference gives none, or one that does not fit.
    pub fn answer(&self, problem: &Problem, cases: &mut [&mut Case]) -> Result<(), EvalError> {
        let mut missing = Vec::new();
        let n_cases = cases.len();
        for case in cases.iter_mut() {
            let key = self.case_key(problem, case);
            let kept = self.answers.get(&key);
            match kept.and_then(|bytes| parts(problem, &bytes)) {
                Some(after) => case.after = after,
                None => missing.push((case, key)),
            }
        }
        if missing.len() < n_cases {
            self.is_consistent.store(true, Ordering::Relaxed);
        }
        let is_consistent = self.is_consistent.load(Ordering::Relaxed);
        let bytes: usize = problem.buffers.iter().map(Buffer::bytes).sum();
        for batch in missing.chunks_mut((BATCH_BYTES / bytes.max(1)).max(1)) {
            let inputs: Vec<&Case> = batch.iter().map(|(case, _)| &***case).collect();
            // A reference that keeps something from call to call, or draws numbers, is found
            // by asking another process, in the opposite order, and there once more at last:
            // whatever it counts or has kept of the first call, it is something else there.
            let mut reversed: Vec<&Case> = inputs.iter().rev().copied().collect();
            reversed.extend(inputs.last().copied());
            let answers = self.run(problem, &inputs)?;
            let again = match is_consistent {
                true => Vec::new(),
                false => self.run(problem, &reversed)?,
            };
            let expected = answers.iter().rev().chain(answers.last());
            let pairs = expected.zip(&again).zip(&reversed);
            let other = pairs.into_iter().find(|((one, again), _)| one != again);
            if let Some((_, case)) = other {
                return Err(EvalError::Input {
                    message: format!(
                        "{FILE} of {} contradicts itself: called again on input set `{}`, it answers otherwise",
                        problem.name, case.name
                    ),
                    remedies: vec![format!(
                        "correct {FILE}: it must keep nothing from call to call, and draw no numbers"
                    )],
                });
            }
            for ((case, key), after) in batch.iter_mut().zip(answers) {
                let written: Vec<u8> = after.iter().flatten().flatten().copied().collect();
                self.answers.put(key, &written);
                case.after = after;
            }
        }
        if !cases.is_empty() {
            self.is_consistent.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Computes the answers of `cases` in one process.
    ///
    /// # Errors
    /// As for [`Script::answer`].
    pub fn run(
        &self,
        problem: &Problem,
        cases: &[&Case],
    ) -> Result<Vec<Vec<Option<Vec<u8>>>>, EvalError> {
        self.called(problem, cases).map(|it| it.answers)
    }

    fn called(&self, problem: &Problem, cases: &[&Case]) -> Result<Answered, EvalError> {
        let told = serde_json::to_vec(&told(problem, cases.len()));
        let mut stdin = told.map_err(|error| EvalError::Fault(error.to_string()))?;
        stdin.push(b'\n');
        for case in cases {
            for (buffer, content) in problem.buffers.iter().zip(&case.before) {
                if let Some(content) = content.as_deref().filter(|_| buffer.is_read()) {
                    push_sent(buffer.dtype, content, &mut stdin);
                }
            }
        }
        let policy = self.policy(problem, cases.len());
        let report = autocomp_sandbox::run(
            &policy,
            &self.interpreter.program,
            &["-B", CALLER_FILE],
            &stdin,
        )
        .map_err(|error| EvalError::Environment {
            message: error.to_string(),
            remedies: vec!["run `autocomp doctor` to see what this machine allows".into()],
        })?;
        let mut rest = report.stdout.bytes.as_slice();
        let mut answers = Vec::new();
        for case in cases {
            let set = &case.name;
            let Some((ANSWERED, content)) = rest.split_first().map(|(first, rest)| (*first, rest))
            else {
                return Err(self.unanswered(problem, set, rest, &report, cases.len()));
            };
            let size: usize = outputs(problem).map(sent_bytes).sum();
            let Some((content, others)) = content.split_at_checked(size) else {
                return Err(self.unanswered(problem, set, &[], &report, cases.len()));
            };
            rest = others;
            answers.push(received(problem, set, content)?);
        }
        let files = match rest.split_first() {
            Some((&READ, json)) => serde_json::from_slice(json).unwrap_or_default(),
            _ => Vec::new(),
        };
        Ok(Answered { answers, files })
    }

    fn cpu_seconds(&self, cases: usize) -> u64 {
        self.call_seconds * (cases as u64 + 1)
    }

    fn policy(&self, problem: &Problem, cases: usize) -> SandboxPolicy {
        let cpu_seconds = self.cpu_seconds(cases);
        let folder: PathBuf = self.folder.path().to_owned();
        let mut executable = self.interpreter.readable();
        executable.push(folder.clone());
        let one_thread = [
            "OPENBLAS_NUM_THREADS",
            "OMP_NUM_THREADS",
            "MKL_NUM_THREADS",
            "NUMEXPR_NUM_THREADS",
        ];
        let environment = one_thread.map(|name| (name.into(), "1".into()));
        let fixed = [
            ("PYTHONHASHSEED", "0".into()),
            ("PYTHONPATH", self.interpreter.search_path()),
            ("PATH", OsString::new()),
            ("LC_ALL", "C.UTF-8".into()),
        ];
        let fixed = fixed.map(|(name, value)| (name.into(), value));
        let answers: usize = outputs(problem).map(sent_bytes).sum();
        SandboxPolicy {
            working_folder: folder,
            readable: vec![RANDOM_NUMBERS.into()],
            executable,
            writable: Vec::new(),
            environment: environment.into_iter().chain(fixed).collect(),
            limits: Limits {
                wall: Duration::from_secs(cpu_seconds * WALL_PER_PROCESSOR_TIME),
                cpu_seconds,
                address_space_bytes: ADDRESS_SPACE_BYTES,
                file_bytes: 0,
                output_bytes: (answers + 1) * cases + MOST_LISTED_BYTES,
                open_files: 256,
                processes: ProcessRule::Single,
            },
        }
    }

    fn case_key(&self, problem: &Problem, case: &Case) -> ContentHash {
        let mut hasher = ContentHasher::new("answer of a reference in Python");
        hasher.update(&problem.oracle_hash.0);
        hasher.update(problem.reference.as_bytes());
        hasher.update(self.key().as_bytes());
        for (buffer, content) in problem.buffers.iter().zip(&case.before) {
            if let Some(content) = content.as_deref().filter(|_| buffer.is_read()) {
                hasher.update(content);
            }
        }
        hasher.finish()
    }

    /// Returns what is said of a reference that gave no answer to a case, but `rest`.
    fn unanswered(
        &self,
        problem: &Problem,
        set: &str,
        rest: &[u8],
        report: &SandboxReport,
        cases: usize,
    ) -> EvalError {
        let name = &problem.name;
        let refusal = match rest.split_first() {
            Some((&REFUSED, json)) => serde_json::from_slice::<Refusal>(json).ok(),
            _ => None,
        };
        let Some(refusal) = refusal else {
            let is_killed = matches!(report.exit, Exit::Signal(libc::SIGKILL | libc::SIGXCPU));
            let (what, remedy) = if report.timed_out || is_killed {
                let (all, each) = (self.cpu_seconds(cases), self.call_seconds);
                let calls = match cases {
                    1 => "call".to_owned(),
                    cases => format!("of {cases} calls"),
                };
                (
                    format!(
                        "does not end within {all} s of processor time, {each} for each {calls} and the start"
                    ),
                    "make it faster, or the problem smaller; a reference in C is often faster",
                )
            } else {
                (
                    "ended without an answer".to_owned(),
                    "let it return its results, and not end the process",
                )
            };
            let message = format!("{FILE} of {name} {what} (input set `{set}`)");
            let tail = report.stderr.text();
            let last = tail.trim().lines().last().unwrap_or_default();
            let said = match one_line(last, LONGEST_MESSAGE).as_str() {
                "" => String::new(),
                tail => format!("; it said last: {tail}"),
            };
            return EvalError::Input {
                message: format!("{message}{said}"),
                remedies: vec![remedy.into()],
            };
        };
        let Refusal { kind, message } = refusal;
        let message = one_line(&message, LONGEST_MESSAGE);
        if kind == "module" {
            return EvalError::Environment {
                message: format!(
                    "{FILE} of {name} imports `{message}`, which Python {} ({}) does not have",
                    self.interpreter.version,
                    self.interpreter.program.display()
                ),
                remedies: vec![
                    format!(
                        "a module of your own: write what it has into {FILE}, which is all that is read"
                    ),
                    format!(
                        "a package: install it: {}",
                        self.interpreter.installing(&message)
                    ),
                    format!(
                        "or have it in a virtual environment, whose Python comes first on PATH: python3 -m venv FOLDER && FOLDER/bin/pip install {message}, then PATH=FOLDER/bin:$PATH autocomp …"
                    ),
                ],
            };
        }
        let remedy = match kind.as_str() {
            "function" => {
                "define `def reference(…)` with one parameter for each buffer that is read, in their order"
            }
            "count" => "return the outputs in the order of their buffers, several as a tuple",
            "shape" => "return each output in the shape of its `[[buffer]]`",
            "dtype" => {
                "convert it, as in `.astype(np.int8)` or `.to(torch.int8)`, after rounding and clamping as the problem demands"
            }
            "masked" => "say what stands in their place, as in `.filled(0)`",
            "value" => {
                "return an array of NumPy, a tensor of PyTorch or numbers in lists for each output"
            }
            "range" => "clamp it to what the type has, or give the buffer another type",
            "memory" => "make the problem smaller: a reference may use 16 GiB of addresses",
            "confined" => {
                "a reference sees no files, programs or network: constants belong into its text, data into input sets"
            }
            _ => "correct reference.py of the problem",
        };
        let verb = if matches!(kind.as_str(), "exception" | "confined" | "memory") {
            "stops on"
        } else {
            "does not fit on"
        };
        EvalError::Input {
            message: match kind.as_str() {
                "function" => format!("{FILE} of {name} {message}"),
                _ => format!("{FILE} of {name} {verb} input set `{set}`: {message}"),
            },
            remedies: vec![remedy.into()],
        }
    }
}

/// Characters that are told of what a reference says.
const LONGEST_MESSAGE: usize = 300;
