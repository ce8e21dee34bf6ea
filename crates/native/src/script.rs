//! References in Python: called in a sandbox, and their answers kept.

mod exchange;
mod files;
mod refusals;
#[cfg(target_os = "linux")]
mod standing;

use crate::interpreter::Interpreter;
use autocomp_catalog::{Buffer, Problem, ReferenceLanguage};
use autocomp_core::{ContentHash, ContentHasher, Seed};
use autocomp_eval::inputs::Case;
use autocomp_eval::symmetry::Answer;
use autocomp_eval::{CachePart, EvalError, FileStore, unwritable};
use autocomp_sandbox::{Limits, ProcessRule, SandboxPolicy};
pub use exchange::parts;
use exchange::{outputs, push_case, received, sent_bytes, told};
use files::Files;
use refusals::contradicted;
use serde::Deserialize;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
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
/// Processor time of a start up to which there is nothing to be saved, seconds.
const QUICK_START: f64 = 0.5;
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
    /// Whether a process is kept for what is asked for later.
    starts_slowly: bool,
    /// That process.
    #[cfg(target_os = "linux")]
    standing: std::sync::Mutex<Option<standing::Standing>>,
    /// What it is asked for again each time: nothing else tells of a reference that keeps something
    /// from call to call.
    control: OnceLock<Case>,
    /// Whether answers of it were asked for twice and were the same, here or when they were kept.
    is_consistent: AtomicBool,
}

/// What calls of a reference gave.
struct Answered {
    answers: Vec<Answer>,
    /// What it read and spent.
    spent: Spent,
}

/// What is told of the calls of a reference. It decides no answer.
#[derive(Default, Deserialize)]
struct Spent {
    /// The files that it read.
    files: Vec<PathBuf>,
    /// Processor time of starting, and of the calls, seconds.
    start_s: f64,
    calls_s: f64,
    calls: u32,
}

impl Spent {
    fn starts_slowly(&self) -> bool {
        let call_s = self.calls_s / f64::from(self.calls.max(1));
        QUICK_START < self.start_s && call_s < self.start_s
    }
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
            starts_slowly: false,
            #[cfg(target_os = "linux")]
            standing: std::sync::Mutex::default(),
            control: OnceLock::new(),
            is_consistent: AtomicBool::new(false),
        };
        let files = script.read_files(problem)?;
        script.files = files.hash();
        script.starts_slowly = files.starts_slowly;
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
        let spent = self.called(problem, &[&case])?.spent;
        let starts_slowly = spent.starts_slowly();
        let files = Files::now(spent.files, starts_slowly);
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
    /// are not computed again. The first ones are asked for twice, later ones once, and of a process
    /// that is kept where starting Python and large packages takes longer than answering.
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
                Some(after) => {
                    case.after = after;
                    self.note_control(case);
                }
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
            let answers = match is_consistent {
                true => self.standing_answers(problem, &inputs)?,
                false => None,
            };
            let answers = match answers {
                Some(answers) => answers,
                None => self.run(problem, &inputs)?,
            };
            let again = match is_consistent {
                true => Vec::new(),
                false => self.run(problem, &reversed)?,
            };
            let expected = answers.iter().rev().chain(answers.last());
            let pairs = expected.zip(&again).zip(&reversed);
            let other = pairs.into_iter().find(|((one, again), _)| one != again);
            if let Some((_, case)) = other {
                return Err(contradicted(problem, &case.name));
            }
            for ((case, key), after) in batch.iter_mut().zip(answers) {
                let written: Vec<u8> = after.iter().flatten().flatten().copied().collect();
                self.answers.put(key, &written);
                case.after = after;
                self.note_control(case);
            }
        }
        if !cases.is_empty() {
            self.is_consistent.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Keeps a case with its answer, by which a process that is kept is examined.
    fn note_control(&self, case: &Case) {
        if self.starts_slowly {
            self.control.get_or_init(|| case.clone());
        }
    }

    /// Nothing is kept where nothing can be started.
    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    fn standing_answers(
        &self,
        _problem: &Problem,
        _cases: &[&Case],
    ) -> Result<Option<Vec<Answer>>, EvalError> {
        Ok(None)
    }

    /// Computes the answers of `cases` in one process.
    ///
    /// # Errors
    /// As for [`Script::answer`].
    pub fn run(&self, problem: &Problem, cases: &[&Case]) -> Result<Vec<Answer>, EvalError> {
        self.called(problem, cases).map(|it| it.answers)
    }

    fn called(&self, problem: &Problem, cases: &[&Case]) -> Result<Answered, EvalError> {
        let told = serde_json::to_vec(&told(problem));
        let mut stdin = told.map_err(|error| EvalError::Fault(error.to_string()))?;
        stdin.push(b'\n');
        for case in cases {
            push_case(problem, case, &mut stdin);
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
        let spent = match rest.split_first() {
            Some((&READ, json)) => serde_json::from_slice(json).unwrap_or_default(),
            _ => Spent::default(),
        };
        Ok(Answered { answers, spent })
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
}
