//! The effective settings of a run: defaults, then a TOML file, then flags.

mod overrides;

use crate::error::CliError;
use crate::given_file::{LONGEST_TEXT, read_file, read_text};
use autocomp_agents::{
    CodeForm, IsaChoice, LlmProposerSettings, RewriterProposer, StructuredOutput,
};
use autocomp_core::{MenuItem, Scope, SearchSettings};
use autocomp_llm::{ConnectSettings, ReasoningEffort, conceal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The name of the rewriter among models.
pub const REWRITER: &str = RewriterProposer::NAME;

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
    /// Run to start from: its folder, or the folder, a colon and a kernel of it (`best`, `c12`).
    pub from: Option<String>,
    /// Run whose schedule is replayed first, by its folder, or `auto` for the nearest one.
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
    /// Which replies are held to a JSON schema, where the provider can do that:
    /// `never`, `plans` or `all` (edits, too).
    pub structured_output: StructuredOutput,
    /// Kernels before the current one that prompts for plans show, the last ones; 64 at most.
    pub ancestors: usize,
    /// Share of the prompts for plans that show those kernels, from 0 to 1.
    pub ancestors_share: f64,
    /// Share of them that tell what the kernel costs, from 0 to 1; feedback tells it, too.
    pub score_share: f64,
    /// Share of them that tell how much of the peak the kernel reaches, from 0 to 1.
    pub utilization_share: f64,
    /// Share of them that tell what the hardware's counters say, from 0 to 1.
    pub feedback_share: f64,
    /// Attempts on the kernel and its relatives that prompts for plans list; 0 for none.
    pub tried: usize,
    /// Lessons of earlier runs that prompts for plans tell, if the run has a memory.
    pub lessons: usize,
    /// Whether some plans are for a whole schedule instead of one change.
    pub whole_schedules: bool,
    /// Whether some plans combine two kernels.
    pub combine: bool,
    /// Who chooses the sections of the ISA reference in prompts: `symbols` (those
    /// that explain a name in the kernel) or `model` (one more request per kernel).
    pub isa: IsaChoice,
    /// Whether code is asked for directly, without a plan.
    pub direct: bool,
    /// Seconds that one request may take.
    pub timeout_s: u64,
    /// Requests at once to each provider.
    pub concurrency: usize,
    /// Requests started per minute for each provider; absent for no limit.
    pub requests_per_minute: Option<u32>,
    /// Seconds that an answer in a mailbox may take.
    pub answer_timeout_s: u64,
    /// Calls for one request at most, the first included.
    pub attempts: usize,
    /// Seconds that all calls for one request and the waits between them may take.
    pub deadline_s: u64,
    /// Milliseconds before the second call, doubled for each further one, with jitter;
    /// longer if the provider asks for it.
    pub first_wait_ms: u64,
    /// The longest such wait.
    pub longest_wait_ms: u64,
    /// Failures in a row after which a model is set aside.
    pub failures: u32,
    /// Seconds for which it is set aside; doubled each time in a row.
    pub pause_s: u64,
    /// Seconds for which it is set aside at most.
    pub longest_pause_s: u64,
    /// Seconds to wait while every model is set aside, before the run stops.
    pub patience_s: u64,
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
            structured_output: asking.structured_output,
            ancestors: asking.ancestors,
            ancestors_share: asking.shown.ancestors,
            score_share: asking.shown.score,
            utilization_share: asking.shown.utilization,
            feedback_share: asking.shown.feedback,
            tried: asking.tried,
            lessons: 8,
            whole_schedules: true,
            combine: true,
            isa: asking.isa,
            direct: asking.direct,
            timeout_s: connect.timeout.as_secs(),
            concurrency: connect.concurrency,
            requests_per_minute: connect.requests_per_minute,
            answer_timeout_s: connect.answer_timeout.as_secs(),
            attempts: connect.retry.max_attempts,
            deadline_s: connect.retry.deadline.as_secs(),
            first_wait_ms: connect.retry.first_delay.as_millis() as u64,
            longest_wait_ms: connect.retry.longest_delay.as_millis() as u64,
            failures: connect.breaker.failures,
            pause_s: connect.breaker.first_pause.as_secs(),
            longest_pause_s: connect.breaker.longest_pause.as_secs(),
            patience_s: asking.patience.as_secs(),
        }
    }
}

impl Settings {
    /// Reads a settings file; also returns which of the search's settings it has.
    pub fn read(path: &Path) -> Result<(Self, BTreeSet<String>), CliError> {
        let text = read_text(path).map_err(|error| {
            CliError::input(format!(
                "failed to read the settings file {}: {error}",
                path.display()
            ))
            .hint("check the path after `--config`")
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
            CliError::input(format!("{name}: {text}"))
                .hint("`autocomp optimize --help` names the settings; the file has the same names")
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
        if autocomp_search::strategy(&self.search.strategy).is_none() {
            let known: Vec<_> = autocomp_search::REGISTRY
                .iter()
                .map(|it| it.name())
                .collect();
            return wrong(
                "strategy",
                &self.search.strategy,
                &format!("one of {}", known.join(", ")),
            );
        }
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
        let asking = &self.asking;
        let counts = [
            ("max_output_tokens", u64::from(asking.max_output_tokens)),
            ("timeout_s", asking.timeout_s),
            ("concurrency", asking.concurrency as u64),
            ("answer_timeout_s", asking.answer_timeout_s),
            ("attempts", asking.attempts as u64),
            ("deadline_s", asking.deadline_s),
            ("failures", u64::from(asking.failures)),
            (
                "requests_per_minute",
                u64::from(asking.requests_per_minute.unwrap_or(1)),
            ),
        ];
        if let Some((name, count)) = counts.iter().find(|(_, count)| *count == 0) {
            return wrong(name, count, "1 or more");
        }
        let shares = [
            ("ancestors_share", asking.ancestors_share),
            ("score_share", asking.score_share),
            ("utilization_share", asking.utilization_share),
            ("feedback_share", asking.feedback_share),
        ];
        if let Some((name, share)) = shares.iter().find(|(_, it)| !(0.0..=1.0).contains(it)) {
            return wrong(name, share, "from 0 to 1");
        }
        if let Some(temperature) = asking
            .temperature
            .filter(|temperature| !(0.0 <= *temperature && temperature.is_finite()))
        {
            return wrong("temperature", &temperature, "0 or a number above it");
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
        self.memory.iter_mut().for_each(resolve);
        self.asking
            .keys
            .iter_mut()
            .chain(&mut self.asking.prices)
            .for_each(resolve);
    }

    /// Returns the first setting in which `other` differs, in the order of the file.
    pub fn first_difference(&self, other: &Self) -> Result<Option<Difference>, CliError> {
        let table = |settings| toml::Table::try_from(settings).map_err(CliError::internal);
        Ok(first_difference(&table(self)?, &table(other)?))
    }

    /// Returns the settings as a settings file.
    pub fn to_toml(&self) -> Result<String, CliError> {
        toml::to_string_pretty(self).map_err(CliError::internal)
    }
}

/// A setting that differs between two sets of settings, values as in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its name within its table.
    pub name: String,
    /// One value, or `none`.
    pub here: String,
    /// The other value, or `none`.
    pub there: String,
}

fn first_difference(here: &toml::Table, there: &toml::Table) -> Option<Difference> {
    let value = |value: Option<&toml::Value>| value.map_or("none".to_owned(), ToString::to_string);
    let names = here.keys().chain(there.keys());
    names
        .into_iter()
        .find_map(|name| match (here.get(name), there.get(name)) {
            (Some(toml::Value::Table(here)), Some(toml::Value::Table(there))) => {
                first_difference(here, there)
            }
            (one, other) => (one != other).then(|| Difference {
                name: name.clone(),
                here: value(one),
                there: value(other),
            }),
        })
}

/// Reads a kernel from a file.
pub fn read_kernel(path: &Path) -> Result<String, CliError> {
    let bytes = read_file(path, LONGEST_TEXT)
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
mod guide;

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

    /// The documentation shows every setting of models, with its default.
    #[test]
    fn the_documented_file_is_right() {
        let page = include_str!("../../../docs/models.md");
        let section = page.split("\n## Settings\n").nth(1).unwrap();
        let block = section
            .split("```toml\n")
            .nth(1)
            .unwrap()
            .split("```")
            .next()
            .unwrap();
        let documented = Settings::parse(block, "models.md").unwrap();
        let mut asking = documented.asking;
        asking.keys = None;
        asking.prices = None;
        asking.temperature = None;
        asking.reasoning = None;
        asking.requests_per_minute = None;
        assert_eq!(asking, Settings::default().asking);
        assert!(documented.budget.max_usd.is_some() && !documented.models.is_empty());
        let names = toml::Table::try_from(Settings::default().asking).unwrap();
        for name in names.keys() {
            assert!(block.contains(&format!("\n{name} = ")), "{name}");
        }
    }

    /// The documentation explains every setting of the search, and every strategy.
    #[test]
    fn every_setting_of_the_search_is_documented() {
        let page = include_str!("../../../docs/search.md");
        let names = toml::Table::try_from(Settings::default().search).unwrap();
        let strategies = autocomp_search::REGISTRY.iter().map(|it| it.name());
        for name in names.keys().map(String::as_str).chain(strategies) {
            assert!(page.contains(&format!("\n| `{name}` | ")), "{name}");
        }
    }

    /// Every settings file in the documents can be used as it stands.
    #[test]
    fn settings_in_the_documents_can_be_used() {
        let pages = [
            include_str!("../../../README.md"),
            include_str!("../../../docs/models.md"),
        ];
        let mut n_files = 0;
        for page in pages {
            let blocks = page.split("```toml\n").skip(1);
            let blocks = blocks.map(|rest| rest.split("```").next().unwrap());
            for block in blocks.filter(|block| block.contains("models = [")) {
                n_files += 1;
                let settings = Settings::parse(block, "the document").unwrap();
                settings.check().unwrap();
                let prices = autocomp_llm::PriceTable::built_in();
                for model in settings.models.iter().chain(&settings.coding_models) {
                    // Prices of models at an address of one's own are the user's.
                    let has_own_prices = settings.asking.prices.is_some() && model.contains('@');
                    let spec = model.parse().unwrap();
                    assert!(has_own_prices || prices.find(&spec).is_ok(), "{model}");
                }
            }
        }
        assert_eq!(n_files, 3);
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let error = |text: &str| {
            let settings = Settings::parse(text, "s.toml").unwrap();
            settings.check().unwrap_err().message
        };
        for (setting, expected) in [
            ("concurrency = 0", "1 or more"),
            ("attempts = 0", "1 or more"),
            ("max_output_tokens = 0", "1 or more"),
            ("timeout_s = 0", "1 or more"),
            ("answer_timeout_s = 0", "1 or more"),
            ("deadline_s = 0", "1 or more"),
            ("failures = 0", "1 or more"),
            ("requests_per_minute = 0", "1 or more"),
            ("temperature = nan", "0 or a number above it"),
            ("temperature = inf", "0 or a number above it"),
            ("temperature = -0.5", "0 or a number above it"),
        ] {
            let name = setting.split(' ').next().unwrap();
            let message = error(&format!("[asking]\n{setting}\n"));
            let words = [&format!("setting `{name}` is "), expected];
            assert!(words.iter().all(|it| message.contains(*it)), "{message}");
        }
        for text in [
            "max_minutes = nan",
            "[budget]\nmax_usd = nan",
            "[search]\nmenu_dropout = nan",
            "[search]\nleast_gain = nan",
            "[search]\nstop_at_percent_of_peak = nan",
        ] {
            assert!(error(text).contains("but must be"), "{text}");
        }
    }

    #[test]
    fn mistakes_are_shown_where_they_are() {
        let error = |text: &str| Settings::parse(text, "s.toml").unwrap_err().to_string();
        insta::assert_snapshot!(error("[search]\nbeem = 2\n"));
        insta::assert_snapshot!(error("seed = \"one\"\n"));
        insta::assert_snapshot!(error("seed = \n"));
    }
}
