//! Options of commands that ask models without running a search.

use super::{AskingSettings, Settings};
use crate::error::CliError;
use clap::Args;
use std::path::PathBuf;

/// How models are asked
#[derive(Clone, Debug, Args)]
pub struct AskingOptions {
    /// Settings file (TOML) of a run, whose `[asking]` holds here, too; flags win over it
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Tokens that a model may write for an answer, thoughts included [default: 16384]
    #[arg(long, value_name = "N")]
    max_output_tokens: Option<u32>,
    /// File with keys of providers, readable by its owner only
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
    /// Price file (TOML) that adds to the built-in prices or overrides them
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// Use models without a known price, at a cost counted as zero
    #[arg(long)]
    allow_unknown_prices: bool,
}

impl AskingOptions {
    /// Returns how models are asked: by default, by the file, by the flags.
    pub fn settings(&self) -> Result<AskingSettings, CliError> {
        let mut settings = match &self.config {
            Some(path) => Settings::read(path)?.0,
            None => Settings::default(),
        };
        let asking = &mut settings.asking;
        if let Some(most) = self.max_output_tokens {
            asking.max_output_tokens = most;
        }
        if self.keys.is_some() {
            asking.keys.clone_from(&self.keys);
        }
        if self.prices.is_some() {
            asking.prices.clone_from(&self.prices);
        }
        asking.allow_unknown_prices |= self.allow_unknown_prices;
        settings.check()?;
        Ok(settings.asking)
    }
}
