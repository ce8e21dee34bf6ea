//! The effective settings of a run: defaults, then a TOML file, then flags.

mod asking;
mod difference;
mod options;
mod overrides;
mod ranges;

pub use asking::AskingSettings;
pub use options::AskingOptions;

use crate::error::CliError;
use crate::given_file::{not_read, read_text};
use autocomp_agents::RewriterProposer;
use autocomp_core::{MenuItem, Scope, SearchSettings};
use autocomp_llm::conceal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The name of the rewriter among models.
pub const REWRITER: &str = RewriterProposer::NAME;

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
    /// Run to start from: its folder, or the folder, a colon and a kernel of it (`best`, `c12`).
    pub from: Option<String>,
    /// Run whose schedule is replayed first, by its folder, or `auto` for the nearest one; `none`
    /// for no run.
    pub reuse: Option<String>,
    /// File of lessons that the run is told and adds its own to; none for no memory.
    pub memory: Option<PathBuf>,
    /// Target to write kernels for, if the problem has several [default: the one that fits
    /// this machine].
    pub target: Option<String>,
    /// Machine of the target to measure on [default: the target's].
    pub machine: Option<String>,
    /// Machines of the target on which the best kernels are confirmed, beside the one of
    /// the search, which has new inputs then; see `search.confirm`.
    pub confirm_on: Vec<String>,
    /// C compiler, by path or name [default: the pinned one].
    pub compiler: Option<PathBuf>,
    /// Seed of all random streams.
    pub seed: u64,
    /// Evaluations at a time [default: one for each processor].
    pub workers: Option<usize>,
    /// Minutes after which the run stops, resumable.
    pub max_minutes: Option<f64>,
    /// Models that plan, and that write code unless `coding_models` are given;
    /// `rewriter` for the rewriter's turn among them; none for the rewriter alone.
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

impl Settings {
    /// Reads a settings file; also returns which of the search's settings it has.
    pub fn read(path: &Path) -> Result<(Self, BTreeSet<String>), CliError> {
        let text = read_text(path).map_err(|error| {
            not_read("settings file", path, &error).hint("check the path after `--config`")
        })?;
        let settings = Self::parse(&text, &path.display().to_string())?;
        let table: Option<toml::Table> = toml::from_str(&text).ok();
        let search = table
            .as_ref()
            .and_then(|table| table.get("search")?.as_table());
        let names = search.map(|search| search.keys().cloned().collect());
        Ok((settings, names.unwrap_or_default()))
    }

    /// Parses settings; `name` is the file's name for messages.
    pub fn parse(text: &str, name: &str) -> Result<Self, CliError> {
        // The library's message has line, column, the source line and a caret.
        toml::from_str(text).map_err(|error| {
            // The excerpt may show a key that stands at a wrong place.
            let (text, _) = conceal(error.to_string().trim_end());
            let error = CliError::input(format!("{name}: {text}"));
            let error = match overrides::did_you_mean(&text) {
                Some(known) => error.hint(format!("did you mean `{known}`?")),
                None => error,
            };
            error.hint("`autocomp optimize --help` names the settings; the file has the same names")
        })
    }

    /// Returns the language models among the models: all but the rewriter.
    pub fn language_models(&self) -> Vec<String> {
        let models = self.models.iter();
        models.filter(|model| *model != REWRITER).cloned().collect()
    }

    /// Returns the items of `menu` that a run with these settings can use: plans
    /// of whole schedules and combinations are for language models.
    pub fn menu_of(&self, menu: &[MenuItem]) -> Vec<MenuItem> {
        let has_models = !self.language_models().is_empty();
        let is_wanted = |item: &&MenuItem| match item.scope {
            Scope::Step => true,
            Scope::Translation => 0 < self.search.translation,
            Scope::Idea => false,
            Scope::Schedule => has_models && self.asking.whole_schedules,
            Scope::Combination => has_models && self.asking.combine,
        };
        menu.iter().filter(is_wanted).cloned().collect()
    }

    /// Makes paths absolute, so that the run can be resumed from any folder.
    pub fn make_paths_absolute(&mut self) {
        let resolve = |path: &mut PathBuf| {
            if let Ok(absolute) = std::path::absolute(&*path) {
                *path = absolute;
            }
        };
        self.data.iter_mut().for_each(resolve);
        self.memory.iter_mut().for_each(resolve);
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
