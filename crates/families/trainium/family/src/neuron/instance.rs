//! Commands and files on the instance: this computer, or another one over SSH.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use autocomp_eval::EvalError;
use autocomp_sandbox::{Exit, Limits, ProcessRule, SandboxPolicy};

use super::settings::Settings;

/// Bytes kept of what a command prints.
const MOST_OUTPUT: usize = 1 << 20;
/// Largest output of a kernel that is fetched.
const MOST_BYTES: usize = 1 << 30;

/// What a command did.
#[derive(Debug)]
pub(super) struct Done {
    /// Its exit code; 124 where its time was over.
    pub(super) code: i32,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The instance and a folder of one evaluation there.
#[derive(Debug)]
pub(super) struct Instance<'a> {
    pub(super) settings: &'a Settings,
    /// Value of `PATH` on this computer.
    pub(super) path: Option<&'a std::ffi::OsStr>,
    pub(super) folder: PathBuf,
}

fn failed(message: String, remedy: &str) -> EvalError {
    EvalError::Environment {
        message,
        remedies: vec![remedy.to_owned()],
    }
}

/// A word that a shell takes as it is.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn utf8(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Instance<'_> {
    fn path_variable(&self) -> OsString {
        self.path
            .map_or_else(|| "/usr/bin:/bin".into(), ToOwned::to_owned)
    }

    /// A command of this computer with input, whose output is limited.
    fn local(
        &self,
        program: &Path,
        arguments: &[String],
        input: &[u8],
    ) -> Result<std::process::Output, EvalError> {
        let problem = |error: std::io::Error| {
            failed(
                format!("{} does not start: {error}", program.display()),
                "install it, or correct the machine's file",
            )
        };
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .env("PATH", self.path_variable())
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(problem)?;
        let mut stdin = child.stdin.take();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if let Some(stdin) = &mut stdin {
                    // A command that does not read its input says so by how it ends.
                    let _ = stdin.write_all(input);
                }
            });
            child.wait_with_output().map_err(problem)
        })
    }

    /// A line for the shell of the other computer.
    fn over_ssh(
        &self,
        host: &str,
        line: String,
        input: &[u8],
    ) -> Result<std::process::Output, EvalError> {
        let options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "--"];
        let mut arguments: Vec<String> = options.map(str::to_owned).to_vec();
        arguments.extend([host.to_owned(), line]);
        let output = self.local(Path::new("ssh"), &arguments, input)?;
        if output.status.code() == Some(255) {
            return Err(failed(
                format!(
                    "ssh {host}: {}",
                    last_lines(&String::from_utf8_lossy(&output.stderr))
                ),
                "make `ssh` reach the instance without a password, then try again",
            ));
        }
        Ok(output)
    }

    /// Makes the folder of this evaluation.
    pub(super) fn prepare(&self) -> Result<(), EvalError> {
        let problem = |what: String| {
            failed(
                format!(
                    "the folder {} cannot be made: {what}",
                    self.folder.display()
                ),
                "correct `folder` in the machine's file",
            )
        };
        match &self.settings.host {
            None => {
                std::fs::create_dir_all(&self.folder).map_err(|error| problem(error.to_string()))
            }
            Some(host) => {
                let line = format!("mkdir -p {}", quoted(&utf8(&self.folder)));
                let output = self.over_ssh(host, line, b"")?;
                let error = String::from_utf8_lossy(&output.stderr);
                if output.status.success() {
                    Ok(())
                } else {
                    Err(problem(last_lines(&error)))
                }
            }
        }
    }

    /// Removes the folder of this evaluation; what fails is left for the next one.
    pub(super) fn clean(&self) {
        match &self.settings.host {
            None => {
                let _ = std::fs::remove_dir_all(&self.folder);
            }
            Some(host) => {
                let _ = self.over_ssh(host, format!("rm -rf {}", quoted(&utf8(&self.folder))), b"");
            }
        }
    }

    /// Writes a file into the folder.
    pub(super) fn put(&self, name: &str, content: &[u8]) -> Result<(), EvalError> {
        let path = self.folder.join(name);
        let problem = |what: String| {
            failed(
                format!("{} cannot be written: {what}", path.display()),
                "make room on the instance",
            )
        };
        match &self.settings.host {
            None => std::fs::write(&path, content).map_err(|error| problem(error.to_string())),
            Some(host) => {
                let output =
                    self.over_ssh(host, format!("cat > {}", quoted(&utf8(&path))), content)?;
                let error = String::from_utf8_lossy(&output.stderr);
                if output.status.success() {
                    Ok(())
                } else {
                    Err(problem(last_lines(&error)))
                }
            }
        }
    }

    /// Reads a file of the folder; `None` where there is none or it is too large.
    pub(super) fn get(&self, name: &str) -> Result<Option<Vec<u8>>, EvalError> {
        let path = self.folder.join(name);
        match &self.settings.host {
            None => {
                let small = std::fs::metadata(&path)
                    .is_ok_and(|it| it.is_file() && it.len() <= MOST_BYTES as u64);
                Ok(if small {
                    std::fs::read(&path).ok()
                } else {
                    None
                })
            }
            Some(host) => {
                let line = format!("head -c {} {}", MOST_BYTES + 1, quoted(&utf8(&path)));
                let output = self.over_ssh(host, line, b"")?;
                let whole = output.status.success() && output.stdout.len() <= MOST_BYTES;
                Ok(whole.then_some(output.stdout))
            }
        }
    }

    /// Runs a program of the instance in the folder. `alone`: nobody else who uses this backend
    /// runs on the core meanwhile.
    pub(super) fn run(
        &self,
        program: &Path,
        arguments: &[String],
        seconds: u64,
        alone: bool,
    ) -> Result<Done, EvalError> {
        let mut words = Vec::new();
        if alone {
            let lock = self
                .settings
                .folder
                .join(format!("core{}.lock", self.settings.core));
            words.extend(["flock".to_owned(), utf8(&lock)]);
        }
        words.extend([
            "timeout".to_owned(),
            "-k".to_owned(),
            "5".to_owned(),
            seconds.to_string(),
        ]);
        words.push(utf8(program));
        words.extend(arguments.iter().cloned());
        let core = format!("NEURON_RT_VISIBLE_CORES={}", self.settings.core);
        let output = match &self.settings.host {
            None => {
                words.insert(0, core);
                words.insert(0, format!("--chdir={}", utf8(&self.folder)));
                self.local(Path::new("env"), &words, b"")?
            }
            Some(host) => {
                let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                let folder = quoted(&utf8(&self.folder));
                self.over_ssh(
                    host,
                    format!("cd {folder} && {core} {}", words.join(" ")),
                    b"",
                )?
            }
        };
        Ok(done(output))
    }

    /// Runs the compiler, which runs the kernel's Python: on this computer in the sandbox.
    pub(super) fn compile(&self, arguments: &[String], seconds: u64) -> Result<Done, EvalError> {
        if self.settings.host.is_some() {
            return self.run(&self.settings.python, arguments, seconds, false);
        }
        let system = [
            "/usr",
            "/bin",
            "/lib",
            "/lib64",
            "/opt/aws",
            "/etc/ld.so.cache",
            "/dev/null",
            "/dev/urandom",
            "/proc",
        ];
        let mut executable: Vec<PathBuf> = system.iter().map(PathBuf::from).collect();
        executable.extend(self.settings.readable.iter().cloned());
        executable.extend(
            self.settings
                .python
                .parent()
                .and_then(Path::parent)
                .map(Path::to_owned),
        );
        let environment: [(&str, OsString); 4] = [
            ("LC_ALL", "C".into()),
            ("HOME", self.folder.clone().into()),
            ("TMPDIR", self.folder.clone().into()),
            ("PATH", self.path_variable()),
        ];
        let policy = SandboxPolicy {
            working_folder: self.folder.clone(),
            readable: Vec::new(),
            executable,
            writable: vec![self.folder.clone()],
            environment: environment
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
            limits: Limits {
                wall: Duration::from_secs(seconds),
                cpu_seconds: 8 * seconds,
                address_space_bytes: 64 << 30,
                file_bytes: 4 << 30,
                output_bytes: MOST_OUTPUT,
                open_files: 1024,
                processes: ProcessRule::Children,
            },
        };
        let report = autocomp_sandbox::run(&policy, &self.settings.python, arguments, b"")
            .map_err(|error| failed(error.to_string(), "correct `python` in the machine's file"))?;
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
}

fn done(output: std::process::Output) -> Done {
    let text = |bytes: &[u8]| {
        let bytes = bytes.get(..MOST_OUTPUT).unwrap_or(bytes);
        String::from_utf8_lossy(bytes).into_owned()
    };
    Done {
        code: output.status.code().unwrap_or(-1),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// The last lines of a text that say something.
pub(super) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let last = lines[lines.len().saturating_sub(3)..].join("; ");
    last.chars().take(600).collect()
}
