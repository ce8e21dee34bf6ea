//! `autocomp ask`: puts one question about a problem to a model.

use super::eval::kernel_source;
use crate::error::CliError;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::proposing::proposing;
use crate::run_errors::eval_error;
use crate::settings::{AskingOptions, BudgetSettings, Settings};
use crate::workplace::{Workplace, WorkplaceOptions};
use crate::written_file::{check_place, write_bytes};
use autocomp_agents::{IdeasRequest, LlmProposer, PlanRequest, ProposeError, Reply, usage_of};
use autocomp_core::{
    Evaluation, MenuItem, Outcome, PlanKind, Purpose, Scope, SearchSettings, Seed, TaskKey, Usage,
};
use autocomp_eval::Evaluator as _;
use autocomp_eval::text;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Ask a model one question about a problem: for an analysis, menu items or a kernel
///
/// A kernel that comes back is evaluated at once; the exit code is then that of
/// `eval`. `autocomp prompt` shows the prompts.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// What to ask for
    #[arg(long, value_enum, default_value_t = Question::Analyze)]
    phase: Question,
    /// Language model, as for `optimize`; more are asked if the first fails
    #[arg(long = "model", required = true, value_name = "MODEL")]
    models: Vec<String>,
    /// Kernel to start from: a file, or the name of one of the problem's kernels
    #[arg(long, default_value = "baseline", value_name = "FILE")]
    kernel: String,
    /// Target to write for, if the problem has several [default: the one that fits this machine]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Second kernel, for `combine`
    #[arg(long, value_name = "FILE", required_if_eq("phase", "combine"))]
    other: Option<String>,
    /// File for the kernel that comes back [default: standard output]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file of `--output` if there is one
    #[arg(long, requires = "output")]
    overwrite: bool,
    /// Dollars that it may cost at most
    #[arg(long, value_name = "DOLLARS")]
    max_usd: Option<f64>,
    #[command(flatten)]
    asking: AskingOptions,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// What can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Question {
    /// What limits the kernel, in words
    Analyze,
    /// Menu items that the target's menu does not have
    Menu,
    /// A first kernel from the problem's reference
    Translate,
    /// One kernel from two
    Combine,
    /// A better kernel in one step, without a plan
    Direct,
}

#[derive(Serialize)]
struct AskReport {
    model: Option<String>,
    analysis: Option<String>,
    menu_items: Option<Vec<MenuItem>>,
    kernel: Option<String>,
    outcome: Option<Outcome>,
    cycles: Option<u64>,
    usage: Usage,
}

/// What came back.
enum Answer {
    Analysis(String),
    MenuItems(Vec<MenuItem>),
    Kernel(String),
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    if let Some(path) = &arguments.output {
        check_place(path, arguments.overwrite)?;
    }
    let mut workplace = Workplace::open(&arguments.workplace)?;
    workplace.prefer_target(arguments.target.as_deref());
    let problem = workplace.problem(&arguments.problem)?;
    let kernel = kernel_source(&problem, &arguments.kernel)?;
    let other = arguments.other.as_deref();
    let other = other
        .map(|name| kernel_source(&problem, name))
        .transpose()?;
    let asked = Asked::open(
        &mut workplace,
        &arguments.problem,
        (&arguments.models, arguments.max_usd, &arguments.asking),
        "the rewriter answers no questions",
        output,
    )?;
    let question = Asking {
        phase: arguments.phase,
        kernel,
        other,
    };
    let reply = asked
        .runtime
        .block_on(question.ask(&asked.proposer, &asked.bench))?;
    let reply = reply.map_err(unanswered)?;
    answer(arguments, &asked.bench, reply, output)
}

/// Models that are asked about a problem outside of a run.
pub(super) struct Asked {
    pub settings: Settings,
    pub bench: Bench,
    pub proposer: Arc<LlmProposer>,
    pub runtime: Runtime,
}

impl Asked {
    /// Opens the problem's bench and gets the models ready; `refusal` says what cannot be done
    /// without any.
    pub(super) fn open(
        workplace: &mut Workplace,
        problem: &str,
        (models, max_usd, asking): (&[String], Option<f64>, &AskingOptions),
        refusal: &str,
        output: Output,
    ) -> Result<Self, CliError> {
        let settings = asking_settings(models, max_usd, asking)?;
        settings.check()?;
        let bench = Bench::open(workplace, problem, None, evaluator_settings(true), output)?;
        let models = proposing(&settings, &bench, &Usage::default())?.models;
        let models =
            models.ok_or_else(|| CliError::usage(refusal).hint("name a language model"))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| CliError::environment(format!("failed to start a thread: {error}")))?;
        Ok(Self {
            settings,
            bench,
            proposer: models.proposer,
            runtime,
        })
    }
}

/// Says that no model has answered.
pub(super) fn unanswered(error: ProposeError) -> CliError {
    CliError::environment(format!("no answer: {}", error.message))
        .hint("`autocomp models check MODEL` tries a model")
}

/// Returns the settings with which models are asked outside of a run.
fn asking_settings(
    models: &[String],
    max_usd: Option<f64>,
    asking: &AskingOptions,
) -> Result<Settings, CliError> {
    Ok(Settings {
        models: models.to_vec(),
        budget: BudgetSettings {
            max_usd,
            ..BudgetSettings::default()
        },
        asking: asking.settings()?,
        ..Settings::default()
    })
}

/// A question with its kernels.
struct Asking {
    phase: Question,
    kernel: String,
    other: Option<String>,
}

/// Menu items that are asked for at most.
const IDEAS: usize = 5;

impl Asking {
    async fn ask(
        &self,
        proposer: &LlmProposer,
        bench: &Bench,
    ) -> Result<Result<Reply<Answer>, ProposeError>, CliError> {
        let key = TaskKey {
            iteration: 1,
            parent: 0,
            plan: 0,
            draft: 0,
            repair: 0,
            purpose: Purpose::Plan,
        };
        let seed = Seed(0);
        if self.phase == Question::Translate {
            let reply = proposer
                .translate(&key, seed, &bench.problem.reference)
                .await;
            return Ok(reply.map(|reply| map(reply, |draft| Answer::Kernel(draft.source))));
        }
        let evaluation = evaluate(bench, &self.kernel)?;
        let request = |evaluation: Evaluation| PlanRequest {
            key,
            place: 0,
            number: 0,
            seed,
            iterations: SearchSettings::default().iterations,
            kernel: self.kernel.clone(),
            evaluation: Arc::new(evaluation),
            ancestors: Arc::default(),
            tried: Arc::default(),
            earlier: Arc::default(),
            lessons: Arc::default(),
            first_asked: None,
            kind: PlanKind::Step,
            menu: steps(bench.target.menu_for(&bench.problem)),
            hidden: Vec::new(),
            other: None,
            reused: None,
        };
        Ok(match (self.phase, &self.other) {
            (Question::Analyze, _) => proposer
                .analyze(&key, seed, &self.kernel, &evaluation)
                .await
                .map(|reply| map(reply, Answer::Analysis)),
            (Question::Menu, _) => proposer
                .generate_menu(&IdeasRequest {
                    key,
                    seed,
                    kernel: self.kernel.clone(),
                    evaluation: Arc::new(evaluation),
                    menu: steps(bench.target.menu_for(&bench.problem)),
                    count: IDEAS,
                })
                .await
                .map(|reply| map(reply, |items| Answer::MenuItems(for_files(items)))),
            (Question::Combine, Some(other)) => {
                let second = evaluate(bench, other)?;
                proposer
                    .combine(&key, seed, (&self.kernel, &evaluation), (other, &second))
                    .await
                    .map(|reply| map(reply, |draft| Answer::Kernel(draft.source)))
            }
            _ => proposer
                .direct(&request(evaluation))
                .await
                .map(|reply| map(reply, |(_, draft)| Answer::Kernel(draft.source))),
        })
    }
}

/// Returns items as a menu's file may have them.
fn for_files(items: Vec<MenuItem>) -> Vec<MenuItem> {
    let step = |item| MenuItem {
        scope: Scope::Step,
        ..item
    };
    items.into_iter().map(step).collect()
}

/// Returns the items of a menu that ask for one change.
fn steps(menu: Vec<MenuItem>) -> Vec<MenuItem> {
    let is_step = |item: &MenuItem| item.scope == Scope::Step;
    menu.into_iter().filter(is_step).collect()
}

fn map<T, U>(reply: Reply<T>, change: impl FnOnce(T) -> U) -> Reply<U> {
    Reply {
        value: change(reply.value),
        exchanges: reply.exchanges,
    }
}

/// Evaluates a kernel.
pub(super) fn evaluate(bench: &Bench, kernel: &str) -> Result<Evaluation, CliError> {
    bench
        .evaluator
        .evaluate(kernel)
        .map_err(|error| eval_error(&error))
}

/// Prints what came back, after evaluating a kernel.
fn answer(
    arguments: &Arguments,
    bench: &Bench,
    reply: Reply<Answer>,
    output: Output,
) -> Result<u8, CliError> {
    let mut report = AskReport {
        model: reply
            .exchanges
            .last()
            .map(|exchange| exchange.model.clone()),
        analysis: None,
        menu_items: None,
        kernel: None,
        outcome: None,
        cycles: None,
        usage: usage_of(&reply.exchanges),
    };
    output.message(format!(
        "{} answered: {} tokens in, {} out, {}",
        report.model.as_deref().unwrap_or("nobody"),
        text::grouped(report.usage.input_tokens + report.usage.cached_tokens),
        text::grouped(report.usage.output_tokens),
        text::dollars(report.usage.cost.0),
    ));
    let mut words = String::new();
    match reply.value {
        Answer::Analysis(analysis) => {
            words.clone_from(&analysis);
            report.analysis = Some(analysis);
        }
        Answer::MenuItems(items) => {
            for item in &items {
                let table = toml::to_string(item).map_err(CliError::internal)?;
                words += &format!("[[item]]\n{table}\n");
            }
            report.menu_items = Some(items);
        }
        Answer::Kernel(kernel) => {
            let evaluation = evaluate(bench, &kernel)?;
            output.message(
                crate::evaluation_text::evaluation_text(&evaluation, crate::output::PROSE)
                    .trim_end(),
            );
            if let Some(path) = &arguments.output {
                write_bytes(path, kernel.as_bytes())?;
            } else {
                words.clone_from(&kernel);
            }
            report.outcome = Some(evaluation.outcome);
            report.cycles = evaluation.cost().and_then(autocomp_core::Cost::in_cycles);
            report.kernel = Some(kernel);
        }
    }
    output.result(&report, || words)?;
    Ok(match report.outcome {
        None | Some(Outcome::Ok) => exit_code::SUCCESS,
        Some(_) => exit_code::NEGATIVE,
    })
}
