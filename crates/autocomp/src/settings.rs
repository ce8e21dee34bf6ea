//! The effective settings of a run: defaults, then a TOML file, then flags.

use crate::error::CliError;
use autocomp_agents::{CodeForm, LlmProposerSettings};
use autocomp_core::SearchSettings;
use autocomp_llm::{ConnectSettings, ReasoningEffort};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The most evaluations at a time.
const MOST_WORKERS: usize = 1024;

/// Everything that can be set for a run; also the form of the settings file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Problem to optimize, by name or folder.
    pub problem: Option<String>,
    /// Folders with targets or problems of the user's.
    pub data: Vec<PathBuf>,
    /// Kernel to start from: one of the problem's, or a file [default: baseline].
    pub baseline: Option<String>,
    /// Machine of the target to measure on [default: the target's].
    pub machine: Option<String>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Evaluations at a time [default: one for each processor].
    pub workers: Option<usize>,
    /// Minutes after which the run stops, resumable.
    pub max_minutes: Option<f64>,
    /// Models that plan, and that write code unless `coding_models` are given;
    /// none for the rewriter.
    pub models: Vec<String>,
    /// Models that write code.
    pub coding_models: Vec<String>,
    /// Caps on models; absent for none.
    pub budget: BudgetSettings,
    /// How models are asked.
    pub asking: AskingSettings,
    /// How to search.
    pub search: SearchSettings,
}

/// Hard caps on what models may use in the whole run, resumes included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetSettings {
    /// Dollars.
    pub max_usd: Option<f64>,
    /// Tokens of prompts and replies.
    pub max_tokens: Option<u64>,
    /// Requests, retries included.
    pub max_requests: Option<u64>,
}

/// How models are asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AskingSettings {
    /// File with keys, readable by its owner only; the environment wins over it.
    pub keys: Option<PathBuf>,
    /// File with prices that add to the built-in table or override it.
    pub prices: Option<PathBuf>,
    /// Whether a model without a price may be used, at a cost counted as zero.
    pub allow_unknown_prices: bool,
    /// The most tokens per reply, reasoning included.
    pub max_output_tokens: u32,
    /// Sampling temperature; absent for the model's own.
    pub temperature: Option<f64>,
    /// How hard to think; absent for the model's own.
    pub reasoning: Option<ReasoningEffort>,
    /// The form in which code is asked for: `whole` or `edits`.
    pub code_form: CodeForm,
    /// Most worked examples per prompt.
    pub most_examples: usize,
    /// Seconds that one request may take.
    pub timeout_s: u64,
    /// Requests at once to each provider.
    pub concurrency: usize,
    /// Requests started per minute for each provider; absent for no limit.
    pub requests_per_minute: Option<u32>,
}

impl Default for AskingSettings {
    fn default() -> Self {
        let asking = LlmProposerSettings::standard();
        let connect = ConnectSettings::standard();
        Self {
            keys: None,
            prices: None,
            allow_unknown_prices: connect.allow_unknown_prices,
            max_output_tokens: asking.max_output_tokens,
            temperature: asking.temperature,
            reasoning: asking.reasoning,
            code_form: asking.code_form,
            most_examples: asking.most_examples,
            timeout_s: connect.timeout.as_secs(),
            concurrency: connect.concurrency,
            requests_per_minute: connect.requests_per_minute,
        }
    }
}

impl Settings {
    /// Reads a settings file.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let text = fs::read_to_string(path).map_err(|error| {
            CliError::input(format!(
                "failed to read the settings file {}: {error}",
                path.display()
            ))
            .hint("check the path after `--config`")
        })?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Parses settings; `name` is the file's name for messages.
    pub fn parse(text: &str, name: &str) -> Result<Self, CliError> {
        // The library's message has line, column, the source line and a caret.
        toml::from_str(text).map_err(|error| {
            CliError::input(format!("{name}: {}", error.to_string().trim_end()))
                .hint("`autocomp optimize --help` names the settings; the file has the same names")
        })
    }

    /// Checks that every number makes sense.
    pub fn check(&self) -> Result<(), CliError> {
        let wrong = |name: &str, value: &dyn std::fmt::Display, expected: &str| {
            Err(CliError::usage(format!(
                "setting `{name}` is {value}, but must be {expected}"
            ))
            .hint("change the flag or the settings file"))
        };
        self.search
            .check()
            .map_err(|error| CliError::usage(error).hint("change the flag or the settings file"))?;
        if let Some(workers) = self
            .workers
            .filter(|workers| !(1..=MOST_WORKERS).contains(workers))
        {
            return wrong("workers", &workers, &format!("from 1 to {MOST_WORKERS}"));
        }
        if let Some(minutes) = self
            .max_minutes
            .filter(|minutes| !(0.0 < *minutes && minutes.is_finite()))
        {
            return wrong("max_minutes", &minutes, "a number above 0");
        }
        if let Some(usd) = self
            .budget
            .max_usd
            .filter(|usd| !(0.0 <= *usd && usd.is_finite()))
        {
            return wrong("max_usd", &usd, "0 or a number above it");
        }
        Ok(())
    }

    /// Makes paths absolute, so that the run can be resumed from any folder.
    pub fn make_paths_absolute(&mut self) {
        let resolve = |path: &mut PathBuf| {
            if let Ok(absolute) = std::path::absolute(&*path) {
                *path = absolute;
            }
        };
        self.data.iter_mut().for_each(resolve);
        self.asking
            .keys
            .iter_mut()
            .chain(&mut self.asking.prices)
            .for_each(resolve);
    }

    /// Returns the settings as a settings file.
    pub fn to_toml(&self) -> Result<String, CliError> {
        toml::to_string_pretty(self).map_err(CliError::internal)
    }
}

/// Reads a kernel from a file.
pub fn read_kernel(path: &Path) -> Result<String, CliError> {
    let bytes = fs::read(path)
        .map_err(|error| {
            CliError::input(format!("failed to read the kernel {}: {error}", path.display()))
                .hint("check the path; a kernel of the problem's own is given by its name alone, such as `baseline`")
        })?;
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..offset]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        CliError::input(format!(
            "the kernel {} is not UTF-8 text: line {line}, byte {offset}",
            path.display()
        ))
        .hint("give C source text, saved as UTF-8")
    })
}

/// Returns the folder for a new run: as given, else a fresh one below `runs/`.
pub fn run_folder(given: Option<&Path>, problem: &str, seed: u64) -> PathBuf {
    if let Some(folder) = given {
        return folder.to_owned();
    }
    let stem: String = problem
        .rsplit('/')
        .next()
        .unwrap_or(problem)
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '-' {
                c
            } else {
                '-'
            }
        })
        .collect();
    let base = PathBuf::from("runs").join(format!("{stem}-s{seed}"));
    (1..)
        .map(|n| {
            if n == 1 {
                base.clone()
            } else {
                base.with_file_name(format!("{stem}-s{seed}-{n}"))
            }
        })
        .find(|folder| !folder.exists())
        .unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use super::Settings;

    #[test]
    fn a_file_round_trips() {
        let settings =
            Settings::parse("problem = \"p\"\nseed = 3\n[search]\nbeam = 2\n", "s.toml").unwrap();
        assert_eq!((settings.search.beam, settings.seed), (2, 3));
        assert_eq!(
            Settings::parse(&settings.to_toml().unwrap(), "s.toml").unwrap(),
            settings
        );
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        let error = |text: &str| Settings::parse(text, "s.toml").unwrap_err().to_string();
        insta::assert_snapshot!(error("[search]\nbeem = 2\n"));
        insta::assert_snapshot!(error("seed = \"one\"\n"));
        insta::assert_snapshot!(error("seed = \n"));
    }
}
