//! Loading a wheel with pip, which knows the machine's mirrors and proxies.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A way to call pip.
#[derive(Debug)]
pub(super) struct Pip {
    program: PathBuf,
    first_args: &'static [&'static str],
}

/// What pip says about a wheel's registry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Registry {
    /// It may be reached, as far as pip can tell.
    Likely,
    /// It cannot be reached: why, one line.
    Unreachable(String),
    /// There is no pip behind the program.
    NoPip(String),
}

/// Seconds for a connection of the first look, and for each answer.
const LOOK_SECONDS: &str = "2";
/// Seconds without any data after which a download is given up.
const LOAD_SECONDS: &str = "30";

/// Texts of connections that were not made, in what pip tells of its network
/// library. A slow answer is none of them.
const UNREACHABLE: &[&str] = &[
    "Failed to establish a new connection",
    "Failed to resolve",
    "NewConnectionError",
    "ConnectTimeoutError",
    "(connect timeout=",
    "Cannot connect to proxy",
    "Unable to connect to proxy",
];

impl Pip {
    /// Returns the ways to call pip that `find` finds a program for.
    pub(super) fn all(find: impl Fn(&str) -> Option<PathBuf>) -> Vec<Self> {
        let ways: [(&str, &'static [&'static str]); 4] = [
            ("python3", &["-m", "pip"]),
            ("python", &["-m", "pip"]),
            ("pip3", &[]),
            ("pip", &[]),
        ];
        ways.into_iter()
            .filter_map(|(name, first_args)| {
                let program = find(name)?;
                Some(Self {
                    program,
                    first_args,
                })
            })
            .collect()
    }

    /// Asks for the versions of a package, which shows within seconds whether
    /// the registry can be reached, wherever pip is told to find it.
    pub(super) fn look(&self, wheel: &str) -> Registry {
        let package = wheel.split('=').next().unwrap_or(wheel);
        let limits = ["--retries", "0", "--timeout", LOOK_SECONDS, "-vv"];
        let args = [&["index", "versions", package], &limits[..]].concat();
        match self.run(&args) {
            Ok(_) => Registry::Likely,
            Err(text) if text.contains("No module named pip") => Registry::NoPip(last_line(&text)),
            Err(text) => {
                let told = |line: &&str| UNREACHABLE.iter().any(|words| line.contains(words));
                match text.lines().find(told) {
                    Some(line) => Registry::Unreachable(short_reason(line)),
                    // An old pip lacks the command.
                    None => Registry::Likely,
                }
            }
        }
    }

    /// Loads a wheel into `folder`, which is made. To install it would unpack 20,000 files
    /// of which nobody here reads one.
    ///
    /// # Errors
    /// The last line of what pip said.
    pub(super) fn load(&self, wheel: &str, folder: &Path) -> Result<(), String> {
        let folder = folder.to_string_lossy();
        let args = [
            "download",
            "--quiet",
            "--retries",
            "2",
            "--timeout",
            LOAD_SECONDS,
            "--no-deps",
            "--only-binary=:all:",
            "--dest",
            &folder,
            wheel,
        ];
        self.run(&args)
            .map_err(|text| format!("{}: {}", self.program.display(), last_line(&text)))?;
        Ok(())
    }

    /// Returns both streams of a call that succeeded, or of one that did not.
    fn run(&self, args: &[&str]) -> Result<String, String> {
        let output = Command::new(&self.program)
            .args(self.first_args)
            .args(args)
            .args(["--no-input", "--disable-pip-version-check"])
            // Names that nobody resolves are given up as fast as connections.
            .env("RES_OPTIONS", "timeout:2 attempts:1")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| error.to_string())?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push('\n');
        text += &String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            Ok(text)
        } else {
            Err(text)
        }
    }
}

/// Returns the cause at the end of a line that nests several.
fn short_reason(line: &str) -> String {
    let line = line.trim().trim_end_matches(" - skipping");
    let start = UNREACHABLE
        .iter()
        .filter_map(|words| line.find(words))
        .max();
    let reason = start.map_or(line, |start| &line[start..]);
    reason.trim_end_matches([')', '"', '\'']).to_owned()
}

fn last_line(text: &str) -> String {
    let mut lines = text.lines().rev().map(str::trim);
    lines
        .find(|line| !line.is_empty())
        .unwrap_or("it failed and said nothing")
        .to_owned()
}
