//! `autocomp prompt`: the exact prompt that a model would get.

use super::eval::kernel_source;
use crate::error::CliError;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_agents::{Phase, PromptFacts, PromptInput, Templates};
use autocomp_core::{Evaluation, SearchSettings, Seed};
use autocomp_eval::EvaluatorSettings;
use autocomp_search::menu_after_dropout;
use clap::Args;
use serde::Serialize;

/// Print the exact prompt of a phase, with an estimate of its tokens
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// Phase: plan, implement, implement_edits, repair, combine, direct, analyze, translate,
    /// menu or isa
    #[arg(long, default_value = "plan")]
    phase: String,
    /// Kernel to write about: a C file, or the name of one of the problem's kernels
    /// [default: baseline; the problem's reference for `translate`]
    #[arg(long, value_name = "FILE")]
    kernel: Option<String>,
    /// Second kernel, for `combine` [default: the first one]
    #[arg(long, value_name = "FILE")]
    other: Option<String>,
    /// Kernel that failed, for `repair` [default: the first one]
    #[arg(long, value_name = "FILE")]
    failed: Option<String>,
    /// As for a model that is held to a JSON schema
    #[arg(long)]
    structured: bool,
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
    let target = workplace.target_of(&problem)?;
    let kernel = match &arguments.kernel {
        Some(kernel) => kernel_source(&problem, kernel)?,
        None if phase == Phase::Translate => problem.reference.clone(),
        None => kernel_source(&problem, "baseline")?,
    };
    let source_of = |name: &Option<String>| match name {
        Some(name) => kernel_source(&problem, name),
        None => Ok(kernel.clone()),
    };
    let (other, failed) = (source_of(&arguments.other)?, source_of(&arguments.failed)?);
    let mut evaluations = Vec::new();
    if !arguments.no_eval && phase != Phase::Translate {
        let mut sources = vec![&kernel];
        match phase {
            Phase::Combine => sources.push(&other),
            Phase::Repair => sources.push(&failed),
            _ => {}
        }
        evaluations = evaluate(arguments, &mut workplace, &sources, output)?;
    }
    let (evaluation, second) = (evaluations.first(), evaluations.get(1));
    let templates = Templates::new(&target.templates).map_err(CliError::input)?;
    let menu = menu_after_dropout(&target.menu, arguments.menu_dropout, Seed(arguments.seed));
    let mut input = PromptInput {
        menu: &menu,
        plan: Some(("other", &arguments.plan)),
        iterations: SearchSettings::default().iterations,
        structured: arguments.structured,
        ..PromptInput::new(&kernel, evaluation, Seed(arguments.seed))
    };
    input.failed = second.map(|evaluation| (failed.as_str(), evaluation));
    let cost = second.and_then(Evaluation::cost);
    input.other = Some((&other, cost.map(|cost| cost.value)));
    let (language, unit) = (
        registry::language(&target)?,
        registry::family(&target)?.unit(),
    );
    let facts = PromptFacts::of(&target, &problem, language, unit);
    let prompt = templates
        .render(phase, &facts, &input)
        .map_err(CliError::input)?;
    let report = PromptReport {
        phase: phase.name(),
        estimated_tokens: prompt.estimated_tokens(),
        estimated_stable_tokens: prompt.estimated_stable_tokens(),
        system: prompt.system,
        user: prompt.user,
    };
    output.exact_result(&report, || format!("{}\n\n{}", report.system, report.user))?;
    output.message(format!(
        "about {} tokens, {} of them a stable prefix that providers can cache",
        report.estimated_tokens, report.estimated_stable_tokens
    ));
    Ok(exit_code::SUCCESS)
}

fn evaluate(
    arguments: &Arguments,
    workplace: &mut Workplace,
    kernels: &[&String],
    output: Output,
) -> Result<Vec<Evaluation>, CliError> {
    let bench = Bench::open(
        workplace,
        &arguments.problem,
        None,
        EvaluatorSettings {
            experiments: true,
            ..evaluator_settings(true)
        },
        output,
    )?;
    let evaluate = |kernel: &&String| bench.evaluator.evaluate(kernel);
    let evaluations: Result<_, _> = kernels.iter().map(evaluate).collect();
    evaluations.map_err(|error| eval_error(&error))
}
