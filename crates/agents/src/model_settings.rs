//! The settings of models, as they stand in a settings file, and what is made of them.

use crate::facts::PromptFacts;
use crate::llm_proposer::{CodeForm, LlmProposer, LlmProposerSettings};
use crate::prompt::{TemplateError, Templates};
use autocomp_core::{Usage, UsdMicros};
use autocomp_llm::{
    Amount, Budget, Caps, ConnectError, ConnectSettings, Connector, PriceError, PriceTable,
    ReasoningEffort, RetryPolicy, Secrets, SecretsError,
};
use autocomp_targets::{Problem, Target};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The longest time that can be set, in seconds: a year.
const LONGEST_TIME_S: f64 = 365.0 * 24.0 * 3600.0;

/// How models are asked, and what they may cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelSettings {
    /// Models that write plans, as model strings.
    pub planners: Vec<String>,
    /// Models that write code; those that plan, if empty.
    pub coders: Vec<String>,
    /// The most the run may cost, in dollars.
    pub max_cost_usd: Option<f64>,
    /// The most tokens the run may use, prompts and replies together.
    pub max_tokens: Option<u64>,
    /// The most requests the run may send, retries included.
    pub max_requests: Option<u64>,
    /// The most tokens of one reply, reasoning included.
    pub max_output_tokens: u32,
    /// Sampling temperature; the model's own if absent.
    pub temperature: Option<f64>,
    /// How hard models think; their own choice if absent.
    pub reasoning: Option<ReasoningEffort>,
    /// The form in which code is asked for.
    pub code_form: CodeForm,
    /// Most worked examples per prompt.
    pub most_examples: usize,
    /// Time limit of one call, in seconds.
    pub timeout_s: f64,
    /// Time limit of an answer in a mailbox, in seconds.
    pub answer_timeout_s: f64,
    /// Time limit of one request with all its retries, in seconds.
    pub deadline_s: f64,
    /// Calls per request, retries included.
    pub max_attempts: usize,
    /// How long to wait when all models are set aside, in seconds, before the
    /// run stops, resumable.
    pub patience_s: f64,
    /// Calls at once, per provider.
    pub concurrency: usize,
    /// Calls started per minute, per provider.
    pub requests_per_minute: Option<u32>,
    /// Whether models without a known price may be used; their cost counts as zero.
    pub allow_unknown_prices: bool,
    /// A file of prices that override the built-in table.
    pub price_file: Option<PathBuf>,
    /// A file of keys that only its owner may read.
    pub key_file: Option<PathBuf>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        let connect = ConnectSettings::standard();
        let proposer = LlmProposerSettings::standard();
        Self {
            planners: Vec::new(),
            coders: Vec::new(),
            max_cost_usd: None,
            max_tokens: None,
            max_requests: None,
            max_output_tokens: proposer.max_output_tokens,
            temperature: proposer.temperature,
            reasoning: proposer.reasoning,
            code_form: proposer.code_form,
            most_examples: proposer.most_examples,
            timeout_s: connect.timeout.as_secs_f64(),
            answer_timeout_s: connect.answer_timeout.as_secs_f64(),
            deadline_s: connect.retry.deadline.as_secs_f64(),
            max_attempts: connect.retry.max_attempts,
            patience_s: proposer.patience.as_secs_f64(),
            concurrency: connect.concurrency,
            requests_per_minute: connect.requests_per_minute,
            allow_unknown_prices: connect.allow_unknown_prices,
            price_file: None,
            key_file: None,
        }
    }
}

/// Models cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ModelSetupError {
    /// A setting has an impossible value.
    #[error("{name} = {value} is not possible: {reason}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is possible.
        reason: &'static str,
    },
    /// No model is named.
    #[error("no model is named; give at least one, such as openai::gpt-5.4")]
    NoModel,
    /// The price file cannot be read.
    #[error("cannot read the price file {path}: {source}")]
    PriceFile {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The price file is wrong.
    #[error("{path}: {source}")]
    Prices {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: PriceError,
    },
    /// The key file cannot be used.
    #[error(transparent)]
    Keys(#[from] SecretsError),
    /// A model cannot be set up.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// A prompt template of the target is wrong.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

impl ModelSettings {
    /// Makes the connector: reads price file and key file, and opens a budget of
    /// which `spent` is used up already (by an earlier part of a resumed run).
    ///
    /// `secrets` holds the keys from the environment, which win over the file's.
    ///
    /// # Errors
    /// A [`ModelSetupError`] that names the setting or the file.
    pub fn connector(
        &self,
        mut secrets: Secrets,
        spent: &Usage,
    ) -> Result<Connector, ModelSetupError> {
        if let Some(path) = &self.key_file {
            secrets.add_file(path)?;
        }
        let settings = self.connect_settings()?;
        let tokens = spent.input_tokens + spent.cached_tokens + spent.output_tokens;
        let spent = Amount {
            cost: spent.cost,
            tokens,
            requests: spent.requests,
        };
        let budget = Budget::new(self.caps()?, spent);
        Ok(Connector::new(settings, Arc::new(secrets), budget))
    }

    /// Makes the proposer for a problem.
    ///
    /// # Errors
    /// A [`ModelSetupError`] that names the model, setting or template. Nothing is sent.
    pub fn proposer(
        &self,
        connector: &Connector,
        target: &Target,
        problem: &Problem,
    ) -> Result<LlmProposer, ModelSetupError> {
        if self.planners.is_empty() && self.coders.is_empty() {
            return Err(ModelSetupError::NoModel);
        }
        let either = |models: &'_ [String], others: &'_ [String]| -> Vec<String> {
            if models.is_empty() {
                others.to_vec()
            } else {
                models.to_vec()
            }
        };
        let planners = connector.connect(&either(&self.planners, &self.coders))?;
        let coders = connector.connect(&either(&self.coders, &self.planners))?;
        if self.max_output_tokens == 0 {
            return Err(setting("max_output_tokens", &0, "give at least 1"));
        }
        if let Some(temperature) = self.temperature
            && !(0.0..=2.0).contains(&temperature)
        {
            return Err(setting(
                "temperature",
                &temperature,
                "give a number from 0 to 2",
            ));
        }
        let settings = LlmProposerSettings {
            max_output_tokens: self.max_output_tokens,
            temperature: self.temperature,
            reasoning: self.reasoning,
            code_form: self.code_form,
            most_examples: self.most_examples,
            patience: seconds("patience_s", self.patience_s)?,
        };
        let facts = Arc::new(PromptFacts::of(target, problem));
        let templates = Templates::new(&target.templates)?;
        Ok(LlmProposer::new(
            facts, templates, planners, coders, settings,
        ))
    }

    fn connect_settings(&self) -> Result<ConnectSettings, ModelSetupError> {
        let standard = ConnectSettings::standard();
        if self.max_attempts == 0 {
            return Err(setting("max_attempts", &0, "give at least 1"));
        }
        if self.concurrency == 0 {
            return Err(setting("concurrency", &0, "give at least 1"));
        }
        if self.requests_per_minute == Some(0) {
            return Err(setting("requests_per_minute", &0, "give at least 1"));
        }
        let mut prices = standard.prices;
        if let Some(path) = &self.price_file {
            let text =
                std::fs::read_to_string(path).map_err(|source| ModelSetupError::PriceFile {
                    path: path.clone(),
                    source,
                })?;
            let table = PriceTable::parse(&text).map_err(|source| ModelSetupError::Prices {
                path: path.clone(),
                source,
            })?;
            prices.override_with(table);
        }
        Ok(ConnectSettings {
            timeout: seconds("timeout_s", self.timeout_s)?,
            answer_timeout: seconds("answer_timeout_s", self.answer_timeout_s)?,
            retry: RetryPolicy {
                max_attempts: self.max_attempts,
                deadline: seconds("deadline_s", self.deadline_s)?,
                ..standard.retry
            },
            breaker: standard.breaker,
            concurrency: self.concurrency,
            requests_per_minute: self.requests_per_minute,
            prices,
            allow_unknown_prices: self.allow_unknown_prices,
        })
    }

    fn caps(&self) -> Result<Caps, ModelSetupError> {
        let cost = match self.max_cost_usd {
            None => None,
            Some(dollars) if (0.0..=1e9).contains(&dollars) => {
                Some(UsdMicros((dollars * 1e6).round() as u64))
            }
            Some(dollars) => {
                return Err(setting(
                    "max_cost_usd",
                    &dollars,
                    "give dollars from 0 to a billion",
                ));
            }
        };
        Ok(Caps {
            cost,
            tokens: self.max_tokens,
            requests: self.max_requests,
        })
    }
}

fn setting(
    name: &'static str,
    value: &dyn std::fmt::Display,
    reason: &'static str,
) -> ModelSetupError {
    ModelSetupError::Setting {
        name,
        value: value.to_string(),
        reason,
    }
}

fn seconds(name: &'static str, value: f64) -> Result<Duration, ModelSetupError> {
    if (0.0..=LONGEST_TIME_S).contains(&value) {
        Ok(Duration::from_secs_f64(value))
    } else {
        Err(setting(name, &value, "give seconds from 0 to a year"))
    }
}
