//! A folder in which the binary is run, and what it printed there.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;
use wiremock::MockServer;

/// A problem small enough to be measured in a moment.
pub const PROBLEM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../families/gemmini/family/tests/data/problems/gemm-64x64x64"
);

/// Prices of the servers in dollars per million tokens, and the tokens of a reply.
pub const INPUT_PRICE: u64 = 2;
pub const OUTPUT_PRICE: u64 = 10;
pub const INPUT_TOKENS: u64 = 500;
pub const OUTPUT_TOKENS: u64 = 100;
pub const REPLY_COST: f64 =
    (INPUT_TOKENS * INPUT_PRICE + OUTPUT_TOKENS * OUTPUT_PRICE) as f64 / 1e6;

pub const KEY: &str = "sk-planted-key-0007";

/// Returns the cache that all tests share: the compiler is installed once.
pub fn cache() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache")
}

/// A folder of its own for a test, with everything that it writes.
pub struct Bench {
    pub root: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        Self { root }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// Settings for models at `servers`: patient with none, small searches.
    pub fn settings(&self, servers: &[&MockServer]) -> PathBuf {
        let mut prices = "version = 1\n".to_owned();
        for server in servers {
            prices += &format!(
                "[[price]]\nmodel = \"{}\"\ninput = {INPUT_PRICE}.0\noutput = {OUTPUT_PRICE}.0\n\
                 as_of = \"2026-01-01\"\nsource = \"test\"\n",
                model_at(server),
            );
        }
        let prices = self.write("prices.toml", &prices);
        let models: Vec<String> = servers.iter().map(|server| model_at(server)).collect();
        let settings = json!({
            "problem": PROBLEM,
            "models": models,
            "workers": 2,
            "asking": {
                "prices": prices,
                "max_output_tokens": 2000,
                // Only a model that never answers takes that long.
                "timeout_s": 5,
                "attempts": 2,
                "first_wait_ms": 10,
                "pause_s": 600,
            },
            "search": { "beam": 2, "plans": 2, "drafts": 1, "repairs": 0, "iterations": 3 },
        });
        self.write("settings.toml", &toml::to_string(&settings).unwrap())
    }

    /// A command with nothing in its environment that is not needed.
    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_autocomp"));
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path())
            .env("AUTOCOMP_CACHE_DIR", cache())
            .env("OPENAI_API_KEY", KEY)
            .current_dir(self.root.path());
        if let Some(compiler) = std::env::var_os("AUTOCOMP_COMPILER") {
            command.env("AUTOCOMP_COMPILER", compiler);
        }
        command
    }

    pub fn run(&self, words: &[&str]) -> Ended {
        Ended::of(self.command().args(words).output().unwrap())
    }

    /// Runs a search with these settings and `more` words, in the folder `run`.
    pub fn optimize(&self, settings: &Path, more: &[&str]) -> Ended {
        let settings = settings.to_str().unwrap();
        let words = [
            "optimize",
            "--config",
            settings,
            "--run-dir",
            "run",
            "--json",
        ];
        self.run(&[&words, more].concat())
    }

    /// Repeats that search from its record, in the folder `again`.
    pub fn replay(&self) -> Ended {
        let words = [
            "optimize",
            "--replay",
            "run",
            "--run-dir",
            "again",
            "--json",
        ];
        self.run(&words)
    }
}

/// What a process left behind.
pub struct Ended {
    pub code: i32,
    pub out: String,
    pub messages: String,
}

impl Ended {
    pub fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            messages: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Returns the JSON it printed, after it ended with `code`.
    pub fn json(&self, code: i32) -> Value {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.messages);
        serde_json::from_str(&self.out).unwrap()
    }
}

pub fn model_at(server: &MockServer) -> String {
    format!("openai@{}/v1::m", server.uri())
}

pub fn assert_close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-9, "{left} and {right}");
}
