//! `autocomp models`: language models, their prices, and whether they answer.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::proposing::{connector, prices};
use crate::settings::{AskingOptions, AskingSettings, BudgetSettings};
use autocomp_core::Usage;
use autocomp_eval::text;
use autocomp_llm::{Caching, CheckSettings, ModelCheck, PROVIDERS, Price, check_models};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::PathBuf;

/// List language models and prices, or check that models answer
#[derive(Debug, Subcommand)]
pub enum Command {
    List(ListArguments),
    Check(CheckArguments),
}

/// List the providers and the price table
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Price file (TOML) that adds to the built-in prices or overrides them
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

/// Try each model with one small request, asked like those of a run
///
/// Exits with 0 if all answer, and with 1 otherwise.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Models, such as `openai::gpt-5`
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<String>,
    #[command(flatten)]
    asking: AskingOptions,
}

#[derive(Serialize)]
struct ListReport {
    providers: Vec<ProviderReport>,
    prices_version: u32,
    prices: Vec<Price>,
}

#[derive(Serialize)]
struct ProviderReport {
    name: &'static str,
    description: &'static str,
    key_variable: Option<&'static str>,
    caching: Caching,
    structured_output: bool,
}

#[derive(Serialize)]
struct CheckReport {
    ok: bool,
    models: Vec<ModelCheck>,
}

/// Runs the command.
pub fn run(command: Command, output: Output) -> Result<u8, CliError> {
    match command {
        Command::List(arguments) => list(&arguments, output),
        Command::Check(arguments) => check(&arguments, output),
    }
}

fn list(arguments: &ListArguments, output: Output) -> Result<u8, CliError> {
    let prices = prices(arguments.prices.as_deref())?;
    let providers = PROVIDERS
        .iter()
        .map(|info| ProviderReport {
            name: info.name,
            description: info.description,
            key_variable: info.key_variable,
            caching: info.caching,
            structured_output: info.structured_output,
        })
        .collect();
    let report = ListReport {
        providers,
        prices_version: prices.version,
        prices: prices.prices,
    };
    output.result(&report, || {
        let mut rows = vec![
            ["provider", "key", "prompt cache", "JSON schema"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(report.providers.iter().map(|provider| {
            vec![
                provider.name.to_owned(),
                provider.key_variable.unwrap_or("none").to_owned(),
                caching_words(Some(provider.caching)).to_owned(),
                yes_or_no(Some(provider.structured_output)).to_owned(),
            ]
        }));
        let mut out = text::table(&rows, &[]);
        out += &format!(
            "\nprices, version {}, in dollars per million tokens (* not from the seller's own page):\n",
            report.prices_version
        );
        let mut rows = vec![
            ["model", "input", "cached", "output", "as of", ""]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(report.prices.iter().map(|price| {
            vec![
                price.model.clone(),
                format!("{:.3}", price.input),
                price
                    .cached
                    .map_or_else(|| "-".to_owned(), |cached| format!("{cached:.3}")),
                format!("{:.3}", price.output),
                price.as_of.clone(),
                if price.first_hand { "" } else { "*" }.to_owned(),
            ]
        }));
        out + &text::table(&rows, &[1, 2, 3])
    })?;
    Ok(exit_code::SUCCESS)
}

fn check(arguments: &CheckArguments, output: Output) -> Result<u8, CliError> {
    let asking = AskingSettings {
        // That a model refuses twice is what whoever checks it wants to know.
        attempts: 2,
        ..arguments.asking.settings()?
    };
    let as_runs_ask = CheckSettings {
        max_output_tokens: asking.max_output_tokens,
        temperature: asking.temperature,
        reasoning: asking.reasoning,
    };
    let connector = connector(&asking, &BudgetSettings::default(), &Usage::default())?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment(format!("failed to start a thread: {error}")))?;
    let models = runtime.block_on(check_models(&connector, &arguments.models, as_runs_ask));
    let report = CheckReport {
        ok: models.iter().all(|model| model.ok),
        models,
    };
    output.result(&report, || {
        let heads = [
            "",
            "model",
            "latency",
            "price of a million tokens",
            "prompt cache",
            "JSON schema",
            "tells usage",
            "",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        rows.extend(report.models.iter().map(|model| {
            vec![
                if model.ok { "ok" } else { "FAIL" }.to_owned(),
                model.model.clone(),
                format!("{} ms", model.latency_ms),
                model.price.as_ref().map_or_else(
                    || "no price".to_owned(),
                    |price| format!("${:.2} in, ${:.2} out", price.input, price.output),
                ),
                caching_words(model.caching).to_owned(),
                yes_or_no(model.structured_output).to_owned(),
                yes_or_no(model.reports_usage).to_owned(),
                model.error.clone().unwrap_or_default(),
            ]
        }));
        text::table(&rows, &[2])
    })?;
    Ok(if report.ok {
        exit_code::SUCCESS
    } else {
        exit_code::NEGATIVE
    })
}

fn caching_words(caching: Option<Caching>) -> &'static str {
    match caching {
        Some(Caching::Automatic) => "automatic",
        Some(Caching::OnRequest) => "asked for",
        Some(Caching::Unknown) | None => "unknown",
    }
}

fn yes_or_no(answer: Option<bool>) -> &'static str {
    match answer {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    }
}
