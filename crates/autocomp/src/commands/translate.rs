//! `autocomp translate`: a kernel of the problem's target from a program that does without it.

use super::ask::{Asked, evaluate, unanswered};
use super::{eval, optimize};
use crate::error::CliError;
use crate::evaluation_text::evaluation_text;
use crate::exit_code;
use crate::measuring::Bench;
use crate::output::{Output, PROSE};
use crate::run_errors::store_error;
use crate::settings::AskingOptions;
use crate::workplace::{Workplace, WorkplaceOptions};
use crate::written_file::{check_place, write_bytes};
use autocomp_agents::{
    Exchange, LlmProposer, ProposeError, ProposeErrorKind, Proposer as _, RepairRequest, Reply,
    usage_of,
};
use autocomp_core::{
    CostObject, Evaluation, MenuItem, Outcome, Plan, Purpose, Scope, Seed, TaskKey, Usage,
};
use autocomp_store::StoreError;
use clap::Args;
use serde::Serialize;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Percent from which on next to nothing of the original is left.
const COMPLETE: f64 = 95.0;

/// Translate a program in NumPy, PyTorch or C to a kernel of the problem's target
///
/// Models write a kernel; one that fails is repaired with its diagnostics. How much of the work
/// the target does is computed, not asked. Where something of the original is left and the
/// target has items that translate, a search goes on until nothing is.
///
/// Where no kernel is right, the last one is written all the same, and the exit code is 1; where
/// models stop answering, it is 4.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// Program to translate [default: the problem's reference]
    #[arg(long, value_name = "FILE")]
    from: Option<String>,
    /// Target to write for, if the problem has several [default: the one that fits this machine]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// File for the kernel
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Replace the file of `--output` if there is one
    #[arg(long)]
    overwrite: bool,
    /// Language model, as for `optimize`; more are asked in turn
    #[arg(long = "model", required = true, value_name = "MODEL")]
    models: Vec<String>,
    /// Kernels that are begun at most, until one is right
    #[arg(long, value_name = "N", default_value_t = 3)]
    tries: u32,
    /// Attempts at repairing each of them
    #[arg(long, value_name = "R", default_value_t = 2)]
    repairs: u32,
    /// Iterations of a search that translates what is left; 0 for none
    #[arg(long, value_name = "T", default_value_t = 4)]
    iterations: u32,
    /// Folder of that search [default: a fresh one in `runs`]
    #[arg(long, value_name = "FOLDER")]
    run_dir: Option<PathBuf>,
    /// Dollars that the kernel may cost at most, and the search as much again
    #[arg(long, value_name = "DOLLARS")]
    max_usd: Option<f64>,
    #[command(flatten)]
    asking: AskingOptions,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

#[derive(Serialize)]
struct TranslateReport {
    kernel: PathBuf,
    outcome: Outcome,
    cost: Option<CostObject>,
    translated_percent: Option<f64>,
    drafts: u32,
    usage: Usage,
    /// Why models were not asked to the end.
    error: Option<CliError>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    check_place(&arguments.output, arguments.overwrite)?;
    // Told before a model is asked.
    if let Some(path) = &arguments.run_dir
        && fs::read_dir(path).is_ok_and(|mut it| it.next().is_some())
    {
        return Err(store_error(&StoreError::Exists { path: path.clone() }));
    }
    let mut workplace = Workplace::open(&arguments.workplace)?;
    workplace.prefer_target(arguments.target.as_deref());
    let problem = workplace.problem(&arguments.problem)?;
    let original = match &arguments.from {
        Some(file) => eval::program_source(&problem, file)?,
        None => problem.reference.clone(),
    };
    let asked = Asked::open(
        &mut workplace,
        &arguments.problem,
        (&arguments.models, arguments.max_usd, &arguments.asking),
        "the rewriter translates nothing",
        output,
    )?;
    let mut translating = Translating {
        proposer: &asked.proposer,
        bench: &asked.bench,
        original,
        exchanges: Vec::new(),
        drafts: 0,
        last: None,
    };
    let ended = asked
        .runtime
        .block_on(translating.kernel(arguments, output));
    let Some((kernel, evaluation)) = translating.last else {
        return match ended {
            Err(error) => Err(error),
            Ok(()) => {
                Err(CliError::usage("no kernel was asked for").hint("give `--tries` 1 or more"))
            }
        };
    };
    write_bytes(&arguments.output, kernel.as_bytes())?;
    let percent = (evaluation.outcome == Outcome::Ok).then(|| evaluation.translated_percent());
    let report = TranslateReport {
        kernel: arguments.output.clone(),
        outcome: evaluation.outcome,
        cost: evaluation.cost().map(CostObject::from),
        translated_percent: percent,
        drafts: translating.drafts,
        usage: usage_of(&translating.exchanges),
        error: ended.err(),
    };
    let words = || {
        let done = match percent {
            Some(percent) if COMPLETE <= percent => "nothing of the original is left".to_owned(),
            Some(percent) => format!("the target does {percent:.1} % of the work"),
            None => "no kernel is right; this is the last one".to_owned(),
        };
        format!("{}: {done}\n", arguments.output.display())
    };
    if let Some(error) = &report.error {
        output.message(error.to_string());
        output.result(&report, words)?;
        return Ok(error.exit_code());
    }
    let Some(percent) = percent else {
        output.result(&report, words)?;
        return Ok(exit_code::NEGATIVE);
    };
    let can_go_on = (asked.bench.target.menu.iter()).any(|item| item.scope == Scope::Translation);
    if COMPLETE <= percent || arguments.iterations == 0 || !can_go_on {
        output.result(&report, words)?;
        return Ok(exit_code::SUCCESS);
    }
    output.message(words().trim_end());
    // The search opens its own.
    let settings = asked.settings.clone();
    drop(asked);
    let search = optimize::Arguments::of_translation(
        (&arguments.problem, arguments.target.as_deref()),
        &arguments.output,
        arguments.iterations,
        &settings,
        arguments.run_dir.as_deref(),
        &arguments.workplace,
    );
    optimize::run(&search, output)
}

/// What became of a kernel that was begun.
enum Attempt {
    /// It is right.
    Right,
    /// It is wrong, and so were its repairs.
    Failed,
    /// A reply was of no use.
    Unanswered(ProposeError),
}

/// A translation under way.
struct Translating<'t> {
    proposer: &'t LlmProposer,
    bench: &'t Bench,
    original: String,
    exchanges: Vec<Exchange>,
    /// Kernels that came back.
    drafts: u32,
    /// The last one that was evaluated.
    last: Option<(String, Evaluation)>,
}

impl Translating<'_> {
    /// Asks for kernels until one is right, which is then the last one. A reply that is of no use
    /// ends an attempt, as a kernel that cannot be repaired does.
    ///
    /// # Errors
    /// What keeps models from being asked to the end, or why the last attempt has no answer.
    async fn kernel(&mut self, arguments: &Arguments, output: Output) -> Result<(), CliError> {
        let mut useless = None;
        for draft in 0..arguments.tries {
            useless = match self.attempt(draft, arguments.repairs, output).await? {
                Attempt::Right => return Ok(()),
                Attempt::Failed => None,
                Attempt::Unanswered(error) => {
                    output.message(format!("no answer: {}", error.message));
                    Some(error)
                }
            };
        }
        useless.map_or(Ok(()), |error| Err(unanswered(error)))
    }

    /// Asks for one kernel and for repairs of it.
    async fn attempt(
        &mut self,
        draft: u32,
        repairs: u32,
        output: Output,
    ) -> Result<Attempt, CliError> {
        let key = TaskKey {
            iteration: 1,
            parent: 0,
            plan: 0,
            draft,
            repair: 0,
            purpose: Purpose::Draft,
        };
        let seed = Seed(0).derive(&format!("translation {draft}"));
        let mut reply = self.proposer.translate(&key, seed, &self.original).await;
        for attempt in 0..=repairs {
            let made = match reply {
                Ok(reply) => self.taken(reply),
                Err(error) if error.kind == ProposeErrorKind::Exhausted => {
                    return Err(unanswered(error));
                }
                Err(error) => {
                    self.exchanges.extend(error.exchanges.iter().cloned());
                    return Ok(Attempt::Unanswered(error));
                }
            };
            let evaluation = evaluate(self.bench, &made.source)?;
            output.message(evaluation_text(&evaluation, PROSE).trim_end());
            let outcome = evaluation.outcome;
            self.last = Some((made.source.clone(), evaluation.clone()));
            if outcome == Outcome::Ok {
                return Ok(Attempt::Right);
            }
            if attempt == repairs {
                break;
            }
            let request = RepairRequest {
                key: TaskKey {
                    repair: attempt + 1,
                    ..key
                },
                seed: seed.derive(&format!("repair {attempt}")),
                attempt: attempt + 1,
                kernel: self.original.clone(),
                evaluation: Arc::new(evaluation.clone()),
                plan: Plan {
                    menu_item: MenuItem::OTHER.to_owned(),
                    text: "Translate the program to a kernel of the target.".to_owned(),
                    payload: String::new(),
                    proposer: made.proposer.clone(),
                },
                draft: made,
                failure: evaluation,
            };
            reply = self.proposer.repair(&request).await;
        }
        Ok(Attempt::Failed)
    }

    /// Notes what a reply has cost and returns what it says.
    fn taken<T>(&mut self, reply: Reply<T>) -> T {
        self.drafts += 1;
        self.exchanges.extend(reply.exchanges);
        reply.value
    }
}
