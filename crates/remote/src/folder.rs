//! A folder of one evaluation on a machine, and what runs in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autocomp_eval::EvalError;
use autocomp_sandbox::{Exit, Limits, ProcessRule, SandboxPolicy};

use crate::machine::{Done, MOST_OUTPUT, Machine, failed};

/// Bytes of the largest file that is fetched.
const MOST_BYTES: usize = 1 << 30;

/// A folder on a machine; dropping it removes it.
#[derive(Debug)]
pub struct Folder<'a> {
    machine: &'a Machine,
    path: PathBuf,
}

/// A program of the machine that runs in a folder.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The program, on the machine.
    pub program: &'a Path,
    /// Its arguments.
    pub arguments: &'a [String],
    /// Variables of its environment. Names are words of the shell.
    pub environment: &'a [(&'a str, String)],
    /// Most seconds that it may take.
    pub seconds: u64,
    /// A file on the machine that stands for its device: tasks with the same file run one after
    /// the other.
    pub lock: Option<&'a Path>,
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn utf8(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl<'a> Folder<'a> {
    pub(crate) fn make(machine: &'a Machine, path: PathBuf) -> Result<Self, EvalError> {
        let problem = |what: String| {
            failed(
                format!("the folder {} cannot be made: {what}", path.display()),
                "correct `folder` in the machine's file",
            )
        };
        match &machine.host {
            None => std::fs::create_dir_all(&path).map_err(|error| problem(error.to_string()))?,
            Some(host) => {
                let line = format!("mkdir -p {}", quoted(&utf8(&path)));
                let output = machine.over_ssh(host, line, b"", MOST_OUTPUT)?;
                if !output.status.success() {
                    return Err(problem(output.error()));
                }
            }
        }
        Ok(Self { machine, path })
    }

    /// Returns the path of the folder on the machine.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file of the folder, for arguments of a task.
    #[must_use]
    pub fn file(&self, name: &str) -> String {
        utf8(&self.path.join(name))
    }

    /// Writes a file into the folder.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine is not reached or has no room.
    pub fn put(&self, name: &str, content: &[u8]) -> Result<(), EvalError> {
        let path = self.path.join(name);
        let problem = |what: String| {
            failed(
                format!("{} cannot be written: {what}", path.display()),
                "make room on the machine",
            )
        };
        match &self.machine.host {
            None => std::fs::write(&path, content).map_err(|error| problem(error.to_string())),
            Some(host) => {
                let line = format!("cat > {}", quoted(&utf8(&path)));
                let output = self.machine.over_ssh(host, line, content, MOST_OUTPUT)?;
                match output.status.success() {
                    true => Ok(()),
                    false => Err(problem(output.error())),
                }
            }
        }
    }

    /// Reads a file of the folder; `None` if there is none or it has more than 1 GiB.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine is not reached.
    pub fn get(&self, name: &str) -> Result<Option<Vec<u8>>, EvalError> {
        let path = self.path.join(name);
        let Some(host) = &self.machine.host else {
            let is_small = std::fs::metadata(&path)
                .is_ok_and(|it| it.is_file() && it.len() <= MOST_BYTES as u64);
            return Ok(is_small.then(|| std::fs::read(&path).ok()).flatten());
        };
        let most = MOST_BYTES + 1;
        let line = format!("head -c {most} {}", quoted(&utf8(&path)));
        let output = self.machine.over_ssh(host, line, b"", most)?;
        let is_whole = output.status.success() && output.stdout.len() < most;
        Ok(is_whole.then_some(output.stdout))
    }

    /// Runs a task in the folder.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine is not reached.
    pub fn run(&self, task: &Task<'_>) -> Result<Done, EvalError> {
        let mut words = Vec::new();
        if let Some(lock) = task.lock {
            words.extend(["flock".to_owned(), utf8(lock)]);
        }
        words.extend(["timeout", "-k", "5"].map(str::to_owned));
        words.extend([task.seconds.to_string(), utf8(task.program)]);
        words.extend(task.arguments.iter().cloned());
        let variables = task.environment.iter();
        let variables = variables.map(|(name, value)| (*name, value.as_str()));
        let output = match &self.machine.host {
            None => {
                let mut all = vec![format!("--chdir={}", utf8(&self.path))];
                all.extend(variables.map(|(name, value)| format!("{name}={value}")));
                all.extend(words);
                let program = Path::new("env");
                self.machine.local(program, &all, b"", MOST_OUTPUT)?
            }
            Some(host) => {
                let variables = variables.map(|(name, value)| format!("{name}={}", quoted(value)));
                let words = words.iter().map(|word| quoted(word));
                let all: Vec<String> = variables.chain(words).collect();
                let line = format!("cd {} && {}", quoted(&utf8(&self.path)), all.join(" "));
                self.machine.over_ssh(host, line, b"", MOST_OUTPUT)?
            }
        };
        Ok(output.done())
    }

    /// Runs a task that executes what a candidate wrote. On this computer it runs in the sandbox,
    /// without the task's environment and lock: it sees the system's programs, the folder that
    /// its own program is installed in, and `readable`, and writes to this folder only. On another
    /// machine it is a task like any other.
    ///
    /// # Errors
    /// [`EvalError::Environment`] if the machine is not reached or the program does not start.
    pub fn run_confined(&self, task: &Task<'_>, readable: &[PathBuf]) -> Result<Done, EvalError> {
        if !self.machine.is_here() {
            return self.run(task);
        }
        let report = autocomp_sandbox::run(
            &self.policy(task, readable),
            task.program,
            task.arguments,
            b"",
        )
        .map_err(|error| {
            let remedy = format!("correct {} in the machine's file", task.program.display());
            failed(error.to_string(), &remedy)
        })?;
        Ok(Done {
            code: match (report.timed_out, report.exit) {
                (true, _) => 124,
                (_, Exit::Code(code)) => code,
                (_, Exit::Signal(signal)) => 128 + signal,
            },
            stdout: report.stdout.text(),
            stderr: report.stderr.text(),
        })
    }

    fn policy(&self, task: &Task<'_>, readable: &[PathBuf]) -> SandboxPolicy {
        let system = [
            "/usr",
            "/bin",
            "/lib",
            "/lib64",
            "/etc/ld.so.cache",
            "/dev/null",
            "/dev/urandom",
            "/proc",
        ];
        let mut executable: Vec<PathBuf> = system.iter().map(PathBuf::from).collect();
        executable.extend(readable.iter().cloned());
        let installed = task.program.parent().and_then(Path::parent);
        executable.extend(installed.map(Path::to_owned));
        let environment: [(&str, OsString); 4] = [
            ("LC_ALL", "C".into()),
            ("HOME", self.path.clone().into()),
            ("TMPDIR", self.path.clone().into()),
            ("PATH", self.machine.path().to_owned()),
        ];
        SandboxPolicy {
            working_folder: self.path.clone(),
            readable: Vec::new(),
            executable,
            writable: vec![self.path.clone()],
            environment: environment
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
            limits: Limits {
                wall: Duration::from_secs(task.seconds),
                cpu_seconds: 8 * task.seconds,
                address_space_bytes: 64 << 30,
                file_bytes: 4 << 30,
                output_bytes: MOST_OUTPUT,
                open_files: 1024,
                processes: ProcessRule::Children,
            },
        }
    }
}

impl Drop for Folder<'_> {
    /// What cannot be removed is left for the next folder of the same path.
    fn drop(&mut self) {
        match &self.machine.host {
            None => {
                let _ = std::fs::remove_dir_all(&self.path);
            }
            Some(host) => {
                let line = format!("rm -rf {}", quoted(&utf8(&self.path)));
                let _ = self.machine.over_ssh(host, line, b"", MOST_OUTPUT);
            }
        }
    }
}
