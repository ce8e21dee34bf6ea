//! `autocomp prompt`: the exact prompt that a model would get.

use super::eval::kernel_source;
use crate::error::CliError;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_agents::{Phase, PromptFacts, PromptInput, Templates};
use autocomp_core::{Evaluation, Seed};
use autocomp_eval::Evaluator as _;
use autocomp_search::menu_after_dropout;
use clap::Args;
use serde::Serialize;

/// Print the exact prompt of a phase, with an estimate of its tokens
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// Phase: plan, implement, implement_edits, repair, combine, direct, analyze, translate or menu
    #[arg(long, default_value = "plan")]
    phase: String,
    /// Kernel to write about: a C file, or the name of one of the problem's kernels
    #[arg(long, default_value = "baseline", value_name = "FILE")]
    kernel: String,
    /// Plan to carry out, for phases that need one
    #[arg(long, default_value = "(the plan stands here)", value_name = "TEXT")]
    plan: String,
    /// Seed that draws the menu items and examples shown
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Share of the menu that is left out, from 0 to below 1
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    menu_dropout: f64,
    /// Do not measure the kernel: the prompt then has no score and no feedback
    #[arg(long)]
    no_eval: bool,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

#[derive(Serialize)]
struct PromptReport {
    phase: &'static str,
    system: String,
    user: String,
    estimated_tokens: u64,
    estimated_stable_tokens: u64,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let phase = Phase::from_name(&arguments.phase).ok_or_else(|| {
        let names: Vec<&str> = Phase::ALL.iter().map(|phase| phase.name()).collect();
        CliError::usage(format!("there is no phase `{}`", arguments.phase))
            .hint(format!("the phases are {}", names.join(", ")))
    })?;
    if !(0.0..1.0).contains(&arguments.menu_dropout) {
        return Err(CliError::usage(
            "--menu-dropout must be at least 0 and below 1",
        ));
    }
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let problem = workplace.problem(&arguments.problem)?;
    let target = workplace.target(&problem.target)?;
    let kernel = kernel_source(&problem, &arguments.kernel)?;
    let evaluation = evaluation(arguments, &mut workplace, &kernel, output)?;
    let templates = Templates::new(&target.templates).map_err(CliError::input)?;
    let menu = menu_after_dropout(&target.menu, arguments.menu_dropout, Seed(arguments.seed));
    let mut input = PromptInput {
        menu: &menu,
        plan: Some(("other", &arguments.plan)),
        ..PromptInput::new(&kernel, evaluation.as_ref(), Seed(arguments.seed))
    };
    if let Some(evaluation) = &evaluation {
        input.failed = Some((&kernel, evaluation));
    }
    input.other = Some((
        &kernel,
        evaluation
            .as_ref()
            .and_then(Evaluation::cycles)
            .map(|it| it.0),
    ));
    let prompt = templates
        .render(phase, &PromptFacts::of(&target, &problem), &input)
        .map_err(CliError::input)?;
    let report = PromptReport {
        phase: phase.name(),
        estimated_tokens: prompt.estimated_tokens(),
        estimated_stable_tokens: prompt.estimated_stable_tokens(),
        system: prompt.system,
        user: prompt.user,
    };
    output.result(&report, || format!("{}\n\n{}", report.system, report.user))?;
    output.message(format!(
        "about {} tokens, {} of them a stable prefix that providers can cache",
        report.estimated_tokens, report.estimated_stable_tokens
    ));
    Ok(exit_code::SUCCESS)
}

fn evaluation(
    arguments: &Arguments,
    workplace: &mut Workplace,
    kernel: &str,
    output: Output,
) -> Result<Option<Evaluation>, CliError> {
    if arguments.no_eval {
        return Ok(None);
    }
    let bench = Bench::open(
        workplace,
        &arguments.problem,
        None,
        evaluator_settings(true),
        output,
    )?;
    let evaluation = bench
        .evaluator
        .evaluate(kernel)
        .map_err(|error| eval_error(&error))?;
    Ok(Some(evaluation))
}
