//! `autocomp translate`: a kernel of the problem's target from a program that does without it.

use super::ask::{Asked, evaluate, unanswered};
use super::{eval, optimize};
use crate::error::CliError;
use crate::evaluation_text::evaluation_text;
use crate::exit_code;
use crate::measuring::Bench;
use crate::output::{Output, PROSE};
use crate::settings::AskingOptions;
use crate::workplace::{Workplace, WorkplaceOptions};
use crate::written_file::{check_place, write_bytes};
use autocomp_agents::{
    Exchange, LlmProposer, ProposeError, Proposer as _, RepairRequest, Reply, usage_of,
};
use autocomp_core::{
    CostObject, Evaluation, MenuItem, Outcome, Plan, Purpose, Scope, Seed, TaskKey, Usage,
};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Percent from which on next to nothing of the original is left.
const COMPLETE: f64 = 95.0;

/// Translate a program in NumPy, PyTorch or C to a kernel of the problem's target
///
/// Models write a kernel; one that fails is repaired with its diagnostics. How much of the work
/// the target does is computed, not asked. Where something of the original is left and the
/// target has items that translate, a search goes on until nothing is.
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
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    check_place(&arguments.output, arguments.overwrite)?;
    let mut workplace = Workplace::open(&arguments.workplace)?;
    workplace.prefer_target(arguments.target.as_deref());
    let problem = workplace.problem(&arguments.problem)?;
    let original = match &arguments.from {
        Some(file) => eval::kernel_source(&problem, file)?,
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
    };
    let best = asked
        .runtime
        .block_on(translating.kernel(arguments, output))?;
    let (kernel, evaluation) = best.ok_or_else(|| {
        CliError::usage("no kernel was asked for").hint("give `--tries` 1 or more")
    })?;
    write_bytes(&arguments.output, kernel.as_bytes())?;
    let percent = (evaluation.outcome == Outcome::Ok).then(|| evaluation.translated_percent());
    let report = TranslateReport {
        kernel: arguments.output.clone(),
        outcome: evaluation.outcome,
        cost: evaluation.cost().map(CostObject::from),
        translated_percent: percent,
        drafts: translating.drafts,
        usage: usage_of(&translating.exchanges),
    };
    let words = || {
        let done = match percent {
            Some(percent) if COMPLETE <= percent => "nothing of the original is left".to_owned(),
            Some(percent) => format!("the target does {percent:.1} % of the work"),
            None => "no kernel is right; this is the last one".to_owned(),
        };
        format!("{}: {done}\n", arguments.output.display())
    };
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

/// A translation under way.
struct Translating<'t> {
    proposer: &'t LlmProposer,
    bench: &'t Bench,
    original: String,
    exchanges: Vec<Exchange>,
    /// Kernels that came back.
    drafts: u32,
}

impl Translating<'_> {
    /// Returns the first kernel that is right, or else the last one; none if none came back.
    async fn kernel(
        &mut self,
        arguments: &Arguments,
        output: Output,
    ) -> Result<Option<(String, Evaluation)>, CliError> {
        let mut last = None;
        for draft in 0..arguments.tries {
            let key = TaskKey {
                iteration: 1,
                parent: 0,
                plan: 0,
                draft,
                repair: 0,
                purpose: Purpose::Draft,
            };
            let seed = Seed(0).derive(&format!("translation {draft}"));
            let reply = self.proposer.translate(&key, seed, &self.original).await;
            let mut failed = self.taken(reply)?;
            for attempt in 0..=arguments.repairs {
                let evaluation = evaluate(self.bench, &failed.source)?;
                output.message(evaluation_text(&evaluation, PROSE).trim_end());
                if evaluation.outcome == Outcome::Ok {
                    return Ok(Some((failed.source, evaluation)));
                }
                last = Some((failed.source.clone(), evaluation.clone()));
                if attempt == arguments.repairs {
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
                        proposer: failed.proposer.clone(),
                    },
                    draft: failed,
                    failure: evaluation,
                };
                let reply = self.proposer.repair(&request).await;
                failed = self.taken(reply)?;
            }
        }
        Ok(last)
    }

    /// Notes what a reply has cost and returns what it says.
    fn taken<T>(&mut self, reply: Result<Reply<T>, ProposeError>) -> Result<T, CliError> {
        let reply = reply.map_err(unanswered)?;
        self.drafts += 1;
        self.exchanges.extend(reply.exchanges);
        Ok(reply.value)
    }
}
