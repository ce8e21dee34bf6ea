//! `autocomp prompt`: the exact prompt that a model would get.

use super::eval::kernel_source;
use crate::error::CliError;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::proposing::proposer_settings;
use crate::registry;
use crate::run_errors::eval_error;
use crate::settings::Settings;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_agents::{
    CodeForm, ImplementRequest, LlmProposer, Phase, PlanRequest, Prompt, PromptFacts, PromptForm,
    PromptInput, Templates,
};
use autocomp_catalog::{Problem, Target};
use autocomp_core::{Evaluation, MenuItem, Plan, PlanKind, Purpose, Scope, Seed, TaskKey};
use autocomp_eval::Evaluator as _;
use autocomp_eval::EvaluatorSettings;
use autocomp_llm::ModelSet;
use autocomp_search::menu_after_dropout;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// Print the exact prompt of a phase, with an estimate of its tokens
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// Phase: plan, schedule, implement, implement_edits, repair, combine, direct, analyze, translate,
    /// menu or isa
    #[arg(long, default_value = "plan")]
    phase: String,
    /// Kernel to write about: a file, or the name of one of the problem's kernels
    /// [default: baseline; the problem's reference for `translate`]
    #[arg(long, value_name = "FILE")]
    kernel: Option<String>,
    /// Target to write for, if the problem has several [default: the one that fits this machine]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
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
    /// Menu item of that plan
    #[arg(long, default_value = "other", value_name = "ITEM")]
    menu_item: String,
    /// Settings file (TOML) that says how models are asked
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
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
    let settings = match &arguments.config {
        Some(path) => Settings::read(path)?.0,
        None => Settings::default(),
    };
    let mut workplace = Workplace::open(&arguments.workplace)?;
    workplace.prefer_target(arguments.target.as_deref());
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
    let asked = Asked {
        phase,
        kernel,
        other,
        failed,
        evaluations,
    };
    let (phase, prompt) = asked.prompt(arguments, &settings, &target, &problem)?;
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

/// What a prompt is about.
struct Asked {
    phase: Phase,
    kernel: String,
    other: String,
    failed: String,
    /// Of the kernel, and of the other or the failed one.
    evaluations: Vec<Evaluation>,
}

impl Asked {
    /// Returns the prompt as a run with these settings would send it for this
    /// kernel and plan, and its phase: code may be asked for as edits.
    fn prompt(
        &self,
        arguments: &Arguments,
        settings: &Settings,
        target: &Target,
        problem: &Problem,
    ) -> Result<(Phase, Prompt), CliError> {
        let none = || ModelSet::new(Vec::new());
        let templates = Templates::new(&target.templates).map_err(CliError::input)?;
        let family = registry::family(target)?;
        let unit = family.unit(target, &target.default_machine);
        let unit = unit.map_err(|error| eval_error(&error))?;
        let syntax = (registry::language(target)?, unit);
        let figures = family.figures(target, &target.default_machine);
        let figures = figures.map_err(|error| eval_error(&error))?;
        let facts = Arc::new(PromptFacts::of(target, problem, syntax, &figures));
        let mut asking = proposer_settings(&settings.asking);
        if self.phase == Phase::ImplementEdits {
            asking.code_form = CodeForm::Edits;
        }
        let code_form = asking.code_form;
        let rewriter = registry::family(target)?
            .rewriter(problem, target, &target.default_machine)
            .map_err(|error| eval_error(&error))?;
        let proposer = LlmProposer::new(facts, templates, none(), none(), asking);
        let proposer = proposer.with_scripts(rewriter);
        let form = PromptForm {
            isa: None,
            structured: arguments.structured,
        };
        let seed = Seed(arguments.seed);
        let evaluation = self.evaluations.first();
        let second = self.evaluations.get(1);
        let plan = Plan {
            menu_item: arguments.menu_item.clone(),
            text: arguments.plan.clone(),
            payload: String::new(),
            proposer: String::new(),
        };
        let (steps, set_aside): (Vec<MenuItem>, Vec<MenuItem>) = target
            .menu_for(problem)
            .into_iter()
            .filter(|item| item.is_mentioned_in(&self.kernel))
            .partition(|item| item.scope == Scope::Step);
        let menu: Vec<MenuItem> = match self.phase {
            Phase::Schedule => set_aside
                .into_iter()
                .filter(|item| item.scope == Scope::Schedule)
                .take(1)
                .collect(),
            _ => menu_after_dropout(&steps, evaluation, arguments.menu_dropout, seed),
        };
        let is_shown = |item: &MenuItem| menu.iter().any(|it| it.id == item.id);
        let hidden = steps.into_iter().filter(|item| !is_shown(item)).collect();
        let iterations = settings.search.iterations;
        let key = TaskKey {
            iteration: 1,
            purpose: Purpose::Plan,
            ..TaskKey::BASELINE
        };
        let prompt = match (self.phase, evaluation, second) {
            (Phase::Plan | Phase::Schedule, Some(evaluation), _) => proposer.plan_prompt(
                &PlanRequest {
                    key,
                    place: 0,
                    number: 0,
                    seed,
                    iterations,
                    kernel: self.kernel.clone(),
                    evaluation: Arc::new(evaluation.clone()),
                    ancestors: Arc::default(),
                    tried: Arc::default(),
                    earlier: Arc::default(),
                    lessons: Arc::default(),
                    first_asked: None,
                    kind: PlanKind::Step,
                    menu,
                    hidden,
                    other: None,
                    reused: None,
                },
                form,
            ),
            (Phase::Implement | Phase::ImplementEdits, Some(evaluation), _) => proposer
                .implement_prompt(
                    &ImplementRequest {
                        key,
                        seed,
                        kernel: self.kernel.clone(),
                        evaluation: Arc::new(evaluation.clone()),
                        plan,
                        number: 0,
                        repeats: 0,
                        other: None,
                        first_asked: None,
                    },
                    form,
                ),
            // Without measurements there is no request, but there are words.
            _ => {
                let cost = second.and_then(Evaluation::cost);
                let input = PromptInput {
                    menu: &menu,
                    plan: Some((&plan.menu_item, &plan.text)),
                    iterations,
                    most_examples: settings.asking.most_examples,
                    structured: arguments.structured,
                    failed: second.map(|evaluation| (self.failed.as_str(), evaluation)),
                    other: Some((&self.other, cost.map(|cost| cost.value))),
                    ..PromptInput::new(&self.kernel, evaluation, seed)
                };
                proposer.render(self.phase, &input)
            }
        };
        let phase = match (self.phase, code_form) {
            (Phase::Implement, CodeForm::Edits) if evaluation.is_some() => Phase::ImplementEdits,
            (phase, _) => phase,
        };
        Ok((phase, prompt.map_err(CliError::input)?))
    }
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
