//! What tokens cost: a table as data.

use crate::completion::TokenCount;
use crate::model::ModelSpec;
use autocomp_core::UsdMicros;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Prices of one model, in dollars per million tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The model string, `provider::model` or `provider@url::model`.
    pub model: String,
    /// Prompt tokens.
    pub input: f64,
    /// Prompt tokens read from the cache; as `input` if absent.
    pub cached: Option<f64>,
    /// Prompt tokens written to the cache; as `input` if absent.
    pub cache_write: Option<f64>,
    /// Output tokens, reasoning included.
    pub output: f64,
    /// The longest prompt, in tokens, for which the price holds; any if absent.
    pub prompt_limit: Option<u64>,
    /// The day the price was read, `YYYY-MM-DD`.
    pub as_of: String,
    /// Where it was read.
    pub source: String,
    /// Whether that is the seller's own page; otherwise somebody else says so.
    #[serde(default = "yes")]
    pub first_hand: bool,
}

fn yes() -> bool {
    true
}

impl Price {
    /// Returns the price of a model that costs nothing per token.
    #[must_use]
    pub fn free(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            input: 0.0,
            cached: None,
            cache_write: None,
            output: 0.0,
            prompt_limit: None,
            as_of: String::new(),
            source: "runs on the user's own machine".to_owned(),
            first_hand: true,
        }
    }

    /// Returns what `tokens` cost, rounded up to a millionth of a dollar.
    #[must_use]
    pub fn cost(&self, tokens: &TokenCount) -> UsdMicros {
        // Dollars per million tokens are millionths of a dollar per token.
        let micros = tokens.input as f64 * self.input
            + tokens.cached as f64 * self.cached.unwrap_or(self.input)
            + tokens.cache_write as f64 * self.cache_write.unwrap_or(self.input)
            + tokens.output as f64 * self.output;
        // The subtraction keeps exact products from being rounded up by float noise.
        UsdMicros((micros - 1e-6).max(0.0).ceil() as u64)
    }

    /// Returns an upper bound of the cost of a call before it is made.
    #[must_use]
    pub fn upper_bound(&self, prompt_tokens: u64, output_tokens: u64) -> UsdMicros {
        let dearest = self.input.max(self.cache_write.unwrap_or(0.0));
        let tokens = TokenCount {
            input: prompt_tokens,
            output: output_tokens,
            ..TokenCount::default()
        };
        Self {
            input: dearest,
            ..self.clone()
        }
        .cost(&tokens)
    }
}

/// A table of prices. Later tables override earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct PriceTable {
    /// Version of the built-in table.
    pub version: u32,
    /// The prices, at most one per model.
    pub prices: Vec<Price>,
}

/// A price table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// It is not valid TOML of the expected form.
    #[error("the price table is not valid: {0}")]
    Invalid(String),
    /// A price is negative or no number, or a model stands twice.
    #[error("the price table is wrong at {model}: {reason}")]
    Wrong {
        /// The model string.
        model: String,
        /// What is wrong.
        reason: String,
    },
    /// A model has no price.
    #[error(
        "no price is known for {0}; add it to a price file, or allow unknown prices (its cost then counts as zero and no money cap protects you)"
    )]
    Unknown(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    version: u32,
    #[serde(default)]
    price: Vec<Price>,
}

impl PriceTable {
    /// Returns the built-in table.
    ///
    /// # Panics
    /// Never: the table is checked by a test.
    #[must_use]
    pub fn built_in() -> Self {
        Self::parse(include_str!("../data/prices.toml")).expect("the built-in price table is valid")
    }

    /// Parses a table: `version = 1` and `[[price]]` entries.
    ///
    /// # Errors
    /// A [`PriceError`] that shows line and column, or names the model.
    pub fn parse(text: &str) -> Result<Self, PriceError> {
        let file: PriceFile =
            toml::from_str(text).map_err(|error| PriceError::Invalid(error.to_string()))?;
        let mut seen = BTreeSet::new();
        for price in &file.price {
            let wrong = |reason: &str| {
                Err(PriceError::Wrong {
                    model: price.model.clone(),
                    reason: reason.to_owned(),
                })
            };
            let numbers = [
                Some(price.input),
                price.cached,
                price.cache_write,
                Some(price.output),
            ];
            if numbers
                .into_iter()
                .flatten()
                .any(|number| !(0.0..=1e6).contains(&number))
            {
                return wrong("a price is not between 0 and 1,000,000 dollars per million tokens");
            }
            if price.model.parse::<ModelSpec>().is_err() {
                return wrong("not a model string");
            }
            if !seen.insert(price.model.clone()) {
                return wrong("listed twice");
            }
        }
        Ok(Self {
            version: file.version,
            prices: file.price,
        })
    }

    /// Adds the prices of `other`; where both know a model, `other` wins.
    pub fn override_with(&mut self, other: Self) {
        self.prices
            .retain(|price| other.prices.iter().all(|newer| newer.model != price.model));
        self.prices.extend(other.prices);
    }

    /// Returns the price of a model.
    ///
    /// Self-hosted providers, commands and mailboxes cost nothing unless the
    /// table says otherwise. A model behind an address of its own needs an entry
    /// of its own, as the seller is another one.
    ///
    /// # Errors
    /// [`PriceError::Unknown`] if the table has no entry.
    pub fn find(&self, spec: &ModelSpec) -> Result<Price, PriceError> {
        let name = spec.to_string();
        if let Some(price) = self.prices.iter().find(|price| price.model == name) {
            return Ok(price.clone());
        }
        if spec.provider.info().self_hosted {
            return Ok(Price::free(&name));
        }
        // Both wire formats of one seller share their prices.
        if spec.url.is_none() && spec.provider.info().name == "openai-responses" {
            let chat = format!("openai::{}", spec.name);
            if let Some(price) = self.prices.iter().find(|price| price.model == chat) {
                return Ok(price.clone());
            }
        }
        Err(PriceError::Unknown(name))
    }
}
