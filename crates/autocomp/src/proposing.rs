//! Makes the proposer that the settings ask for: the rewriter, or models.

use crate::environment;
use crate::error::CliError;
use crate::given_file::{check_is_file, not_read, read_text};
use crate::measuring::Bench;
use crate::output::guard;
use crate::registry;
use crate::run_errors::eval_error;
use crate::settings::{AskingSettings, BudgetSettings, REWRITER, Settings};
use autocomp_agents::{
    Ensemble, LlmProposer, LlmProposerSettings, PromptFacts, Proposer, RewriterProposer, Seat,
    ShownShares, Templates,
};
use autocomp_catalog::{Problem, Target};
use autocomp_core::{Rewriter, Usage, UsdMicros};
use autocomp_llm::{
    Amount, BreakerPolicy, Budget, Caps, ConnectError, ConnectSettings, Connector, PriceTable,
    RetryPolicy,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// What proposes in a run.
pub struct Proposing {
    /// The proposer.
    pub proposer: Arc<dyn Proposer>,
    /// Names for the record.
    pub names: Vec<String>,
    /// The models behind it, if any.
    pub models: Option<Models>,
}

/// Models ready to be asked.
pub struct Models {
    /// Budget, breakers and notices.
    pub connector: Arc<Connector>,
    /// The proposer, for prompts and estimates.
    pub proposer: Arc<LlmProposer>,
}

/// Makes the proposer; `spent` is what earlier sessions of the run have used.
pub fn proposing(settings: &Settings, bench: &Bench, spent: &Usage) -> Result<Proposing, CliError> {
    let models = settings.language_models();
    if models.is_empty() {
        if !settings.coding_models.is_empty() {
            return Err(
                CliError::usage("models for code are given, but none for plans")
                    .hint("name the planning models with `--model`"),
            );
        }
        let rewriter = rewriter(bench)?.ok_or_else(|| no_rewriter(&bench.target))?;
        let proposer = RewriterProposer::new(rewriter);
        let names = vec![proposer.name().to_owned()];
        return Ok(Proposing {
            proposer: Arc::new(proposer),
            names,
            models: None,
        });
    }
    if settings.coding_models.iter().any(|model| model == REWRITER) {
        return Err(
            CliError::usage("the rewriter carries out its own plans and no others")
                .hint("name it with `--model rewriter`"),
        );
    }
    let connector = Arc::new(connector(&settings.asking, &settings.budget, spent)?);
    let planners = connector
        .connect(&models)
        .map_err(|error| connect_error(&error))?;
    let coding = if settings.coding_models.is_empty() {
        &models
    } else {
        &settings.coding_models
    };
    let coders = connector
        .connect(coding)
        .map_err(|error| connect_error(&error))?;
    let templates = Templates::new(&bench.target.templates).map_err(CliError::input)?;
    let family = registry::family(&bench.target)?;
    let figures = family.figures(&bench.target, &bench.machine);
    let figures = figures.map_err(|error| eval_error(&error))?;
    let facts = Arc::new(PromptFacts::of(
        &bench.target,
        &bench.problem,
        (registry::language(&bench.target)?, bench.facts.unit),
        &figures,
    ));
    let asking = proposer_settings(&settings.asking);
    let local = rewriter(bench)?;
    let llm = LlmProposer::new(facts, templates, planners, coders, asking);
    let llm = Arc::new(llm.with_scripts(local.clone()));
    let mut names = settings.models.clone();
    names.extend(
        settings
            .coding_models
            .iter()
            .map(|model| format!("{model} (code)")),
    );
    let has_turns = settings.models.iter().any(|model| model == REWRITER);
    let proposer: Arc<dyn Proposer> = if has_turns || 0 < settings.search.polish {
        let seat = |model: &String| match model.as_str() {
            REWRITER => Seat::Local,
            _ => Seat::Models,
        };
        let seats = settings.models.iter().map(seat).collect();
        let rewriter = local.ok_or_else(|| no_rewriter(&bench.target))?;
        let rewriter = Arc::new(RewriterProposer::new(rewriter));
        Arc::new(Ensemble::new(llm.clone(), rewriter, seats))
    } else {
        llm.clone()
    };
    Ok(Proposing {
        proposer,
        names,
        models: Some(Models {
            connector,
            proposer: llm,
        }),
    })
}

/// Returns the rewriter for the target of a bench, if there is one.
pub fn rewriter(bench: &Bench) -> Result<Option<Arc<dyn Rewriter>>, CliError> {
    rewriter_for(&bench.problem, &bench.target, &bench.machine)
}

/// Returns the rewriter of kernels for a problem on a machine of a target, if there is one.
pub fn rewriter_for(
    problem: &Problem,
    target: &Target,
    machine: &str,
) -> Result<Option<Arc<dyn Rewriter>>, CliError> {
    registry::family(target)?
        .rewriter(problem, target, machine)
        .map_err(|error| eval_error(&error))
}

/// Says that a target has no rewriter.
pub fn no_rewriter(target: &Target) -> CliError {
    CliError::usage(format!(
        "for target {} there is no rewriter, so a model is needed",
        target.name
    ))
    .hint("name one with `--model`, without `rewriter` and `--polish`; `autocomp models list` names the providers")
}

/// Returns how models are asked, in the form of the proposer.
pub fn proposer_settings(asking: &AskingSettings) -> LlmProposerSettings {
    LlmProposerSettings {
        max_output_tokens: asking.max_output_tokens,
        temperature: asking.temperature,
        reasoning: asking.reasoning,
        code_form: asking.code_form,
        most_examples: asking.most_examples,
        structured_output: asking.structured_output,
        ancestors: asking.ancestors,
        shown: ShownShares {
            ancestors: asking.ancestors_share,
            score: asking.score_share,
            utilization: asking.utilization_share,
            feedback: asking.feedback_share,
        },
        tried: asking.tried,
        isa: asking.isa,
        direct: asking.direct,
        patience: seconds(asking.patience_s),
    }
}

/// Sets up keys, prices and the budget.
pub fn connector(
    asking: &AskingSettings,
    budget: &BudgetSettings,
    spent: &Usage,
) -> Result<Connector, CliError> {
    let mut secrets = environment::secrets();
    if let Some(path) = &asking.keys {
        check_is_file(path).map_err(|error| not_read("key file", path, &error))?;
        secrets.add_file(path).map_err(CliError::input)?;
    }
    guard(&secrets);
    let settings = ConnectSettings {
        timeout: seconds(asking.timeout_s.max(1)),
        answer_timeout: seconds(asking.answer_timeout_s.max(1)),
        retry: RetryPolicy {
            max_attempts: asking.attempts.max(1),
            first_delay: Duration::from_millis(asking.first_wait_ms.clamp(1, LONGEST_WAIT_MS)),
            longest_delay: Duration::from_millis(asking.longest_wait_ms.clamp(1, LONGEST_WAIT_MS)),
            deadline: seconds(asking.deadline_s.max(1)),
        },
        breaker: BreakerPolicy {
            failures: asking.failures.max(1),
            first_pause: seconds(asking.pause_s.max(1)),
            longest_pause: seconds(asking.longest_pause_s.max(1)),
        },
        concurrency: asking.concurrency.max(1),
        requests_per_minute: asking.requests_per_minute,
        prices: prices(asking.prices.as_deref())?,
        allow_unknown_prices: asking.allow_unknown_prices,
        variables: environment::variables_of_models(),
    };
    let caps = Caps {
        cost: budget
            .max_usd
            .map(|usd| UsdMicros((usd.max(0.0) * 1e6) as u64)),
        tokens: budget.max_tokens,
        requests: budget.max_requests,
    };
    let spent = Amount {
        cost: spent.cost,
        tokens: spent.tokens(),
        requests: spent.requests,
    };
    Ok(Connector::new(
        settings,
        Arc::new(secrets),
        Budget::new(caps, spent),
    ))
}

/// The longest wait between two calls: an hour.
const LONGEST_WAIT_MS: u64 = 3_600_000;

/// Returns a time limit that cannot overflow a clock: a year at most.
fn seconds(count: u64) -> Duration {
    Duration::from_secs(count.min(365 * 86_400))
}

/// Returns the built-in prices, with those of the user's file over them.
pub fn prices(file: Option<&Path>) -> Result<PriceTable, CliError> {
    let mut prices = PriceTable::built_in();
    if let Some(path) = file {
        let text = read_text(path).map_err(|error| not_read("price file", path, &error))?;
        let own = PriceTable::parse(&text)
            .map_err(|error| CliError::input(format!("{}: {error}", path.display())))?;
        prices.override_with(own);
    }
    Ok(prices)
}

/// Says why a model cannot be used.
pub fn connect_error(error: &ConnectError) -> CliError {
    match error {
        ConnectError::Model(_) => CliError::usage(error)
            .hint("a model is named `provider::model` or `provider@address::model`; `autocomp models list` names the providers"),
        ConnectError::HoldsKey(_) => CliError::usage(error),
        ConnectError::Price(_) => CliError::usage(error)
            .hint("add the price with `--prices FILE`, or accept it with `--allow-unknown-prices`"),
        ConnectError::Client(_) => CliError::environment(error),
    }
}
