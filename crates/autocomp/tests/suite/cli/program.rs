//! Runs the program in a folder of its own, with the cache that all tests share.

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Once;
use tempfile::TempDir;

/// Variables that must not leak from the machine into a test.
const FOREIGN_VARIABLES: &[&str] = &[
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "RUST_LOG",
    "CLICOLOR_FORCE",
];

/// Returns the cache that all tests share: the compiler is installed once, and
/// unchanged kernels are built once.
pub fn cache() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache")
}

/// Returns a file or folder of the tests' own data.
pub fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder of the small problem.
pub fn problem() -> String {
    data("gemm-64")
}

/// Copies a folder, since what is called may write into it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A folder to work in, thrown away with the value.
pub struct Place {
    folder: TempDir,
}

/// How a call ended.
pub struct Ended {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output, paths replaced.
    pub stdout: String,
    /// Standard error, paths replaced.
    pub stderr: String,
}

impl Place {
    pub fn new() -> Self {
        Self {
            folder: TempDir::new().unwrap(),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.display().to_string()
    }

    /// Returns the program, ready for arguments.
    pub fn command(&self) -> Command {
        Command::from_std(self.std_command())
    }

    /// Returns the program, ready for arguments and to be started in the background.
    pub fn std_command(&self) -> std::process::Command {
        // What all tests share is there before the first one looks at what takes how long.
        static READY: Once = Once::new();
        READY.call_once(|| {
            let folder = TempDir::new().unwrap();
            let mut command = self.bare_command();
            let command = command.current_dir(&folder).args(["eval", &problem()]);
            let output = command.output().unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
        });
        self.bare_command()
    }

    fn bare_command(&self) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_autocomp"));
        command
            .current_dir(self.path())
            .env("AUTOCOMP_CACHE_DIR", cache());
        for name in FOREIGN_VARIABLES {
            command.env_remove(name);
        }
        command
    }

    /// Calls the program with these arguments.
    pub fn call(&self, arguments: &[&str]) -> Ended {
        self.ended(&self.command().args(arguments).output().unwrap())
    }

    /// Runs lines of a shell, for which the program is `autocomp`, until one fails.
    pub fn shell(&self, lines: &str) -> Ended {
        let program = self.std_command();
        let folder = Path::new(program.get_program()).parent().unwrap();
        let rest = std::env::var_os("PATH").unwrap();
        let folders = [folder.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&rest));
        let mut shell = std::process::Command::new("sh");
        shell
            .args(["-eu", "-c", lines])
            .current_dir(self.path())
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("AUTOCOMP_CACHE_DIR", cache())
            .stdin(std::process::Stdio::null());
        for name in FOREIGN_VARIABLES {
            shell.env_remove(name);
        }
        self.ended(&shell.output().unwrap())
    }

    /// Calls the program with these arguments and `--json`; there must be
    /// exactly one object on standard output.
    pub fn json(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let output = self
            .command()
            .args(arguments)
            .arg("--json")
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!(
                "{error} in {:?}\n{stderr}",
                String::from_utf8_lossy(&output.stdout)
            )
        });
        (output.status.code(), value)
    }

    /// Replaces what differs from machine to machine.
    pub fn ended(&self, output: &Output) -> Ended {
        let text = |bytes: &[u8]| self.redacted(&String::from_utf8_lossy(bytes));
        Ended {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    fn redacted(&self, text: &str) -> String {
        let place = self.path().canonicalize().unwrap();
        text.replace(&place.display().to_string(), "[PLACE]")
            .replace(&self.path().display().to_string(), "[PLACE]")
            .replace(&cache().display().to_string(), "[CACHE]")
            .replace(&data(""), "[DATA]/")
    }
}

impl Ended {
    /// Returns exit code and both streams as one text.
    pub fn transcript(&self) -> String {
        let code = self
            .code
            .map_or_else(|| "signal".to_owned(), |code| code.to_string());
        // Whichever test is first installs the compiler, if there is none.
        let is_result = |line: &&str| {
            !line.starts_with("installing the C compiler")
                && !line.starts_with("waiting for another process that is installing")
        };
        let stderr: String = self
            .stderr
            .split_inclusive('\n')
            .filter(is_result)
            .collect();
        format!(
            "exit code {code}\n--- stdout\n{}--- stderr\n{stderr}",
            self.stdout
        )
    }
}

/// Replaces every number by `#`, for texts whose numbers follow the simulator's
/// calibration.
pub fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut in_number = false;
    for c in text.chars() {
        let is_part = c.is_ascii_digit() || (in_number && matches!(c, ',' | '.'));
        if !is_part {
            out.push(c);
        } else if !in_number {
            out.push('#');
        }
        in_number = is_part;
    }
    out
}
