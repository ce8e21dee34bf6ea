//! `autocomp eval`: the verdict on one kernel.

use crate::error::CliError;
use crate::evaluation_text::evaluation_text;
use crate::exit_code;
use crate::given_file::{read_kernel, read_kernel_from_input, read_program};
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::queueing::QueueOptions;
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions, catalog_error};
use autocomp_catalog::Problem;
use autocomp_core::{
    CostObject, Diagnostic, Evaluation, Feedback, Language, Outcome, Ratio, SourceLocation,
    TierCost,
};
use autocomp_eval::Evaluator as _;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Check, build, test and time one kernel
///
/// Exits with 0 if the kernel is ok, and with 1 if it is not.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// Kernel: a file, or the name of one of the problem's kernels
    #[arg(long, default_value = "baseline", value_name = "FILE")]
    kernel: String,
    /// Target to write for, if the problem has several [default: the one that fits this machine]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Machine to measure on [default: the target's]
    #[arg(long)]
    machine: Option<String>,
    /// Evaluate anew even if the verdict is in the cache
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    queue: QueueOptions,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct EvalReport<'a> {
    problem: &'a str,
    target: &'a str,
    machine: &'a str,
    kernel: &'a str,
    outcome: Outcome,
    /// Ranking figure; null unless the outcome is `ok`.
    cost: Option<CostObject>,
    /// The same if cycles are counted.
    cycles: Option<u64>,
    cold_cycles: Option<u64>,
    ideal_cycles: Option<u64>,
    percent_of_peak: Option<f64>,
    instructions: Option<u64>,
    /// Single measurements; empty if the cost is exact.
    samples: &'a [u64],
    ratio_to_baseline: Option<Ratio>,
    diagnostics: &'a [Diagnostic],
    feedback: Option<&'a Feedback>,
    compiler: &'a str,
    tiers: &'a [TierCost],
    wall_s: f64,
    key: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?
        .evaluating_by(arguments.queue.connect(&arguments.problem, None, output)?);
    workplace.prefer_target(arguments.target.as_deref());
    // The kernel first: a mistake in its name must not wait for a compiler.
    let problem = workplace.problem(&arguments.problem)?;
    let language = registry::language(&workplace.target_of(&problem)?)?;
    registry::check_language(&arguments.kernel, language)?;
    let source = kernel_source(&problem, &arguments.kernel)?;
    let settings = evaluator_settings(!arguments.no_cache);
    let bench = Bench::open(
        &mut workplace,
        &arguments.problem,
        arguments.machine.as_deref(),
        settings,
        output,
    )?;
    bench.tell_doubts(&workplace.cache_folder, output)?;
    let begun = Instant::now();
    let mut evaluation = bench
        .evaluator
        .evaluate(&source)
        .map_err(|error| eval_error(&error))?;
    if is_path(&problem, &arguments.kernel) {
        name_file(&mut evaluation, &arguments.kernel, language);
    }
    let wall_s = begun.elapsed().as_secs_f64();
    let report = report(arguments, &bench, &evaluation, wall_s);
    output.result(&report, || {
        evaluation_text(&evaluation, output.prose_width())
    })?;
    Ok(if evaluation.outcome == Outcome::Ok {
        exit_code::SUCCESS
    } else {
        exit_code::NEGATIVE
    })
}

fn report<'a>(
    arguments: &'a Arguments,
    bench: &'a Bench,
    evaluation: &'a Evaluation,
    wall_s: f64,
) -> EvalReport<'a> {
    let measurement = evaluation.measurement.as_ref();
    let figure = |name: &str| measurement.and_then(|it| it.figures.get(name).copied());
    EvalReport {
        problem: &bench.problem.name,
        target: &bench.target.name,
        machine: &bench.machine,
        kernel: &arguments.kernel,
        outcome: evaluation.outcome,
        cost: measurement.map(|it| it.cost.into()),
        cycles: measurement.and_then(|it| it.cost.in_cycles()),
        cold_cycles: figure("cold_cycles"),
        ideal_cycles: measurement.and_then(|it| it.floor.in_cycles()),
        percent_of_peak: measurement.map(|it| it.percent_of_peak),
        instructions: figure("instructions"),
        samples: measurement.map_or(&[], |it| &it.samples),
        ratio_to_baseline: measurement.and_then(|it| it.ratio_to_baseline),
        diagnostics: &evaluation.diagnostics,
        feedback: evaluation.feedback.as_ref(),
        compiler: &bench.compiler,
        tiers: &evaluation.tiers,
        wall_s,
        key: evaluation.key.to_string(),
    }
}

/// Places in the kernel's text are told with the name of the file that was given, rather than with
/// that of the file that the kernel is built in.
fn name_file(evaluation: &mut Evaluation, path: &str, language: &dyn Language) {
    let Some(name) = Path::new(path).file_name() else {
        return;
    };
    let name = name.to_string_lossy();
    let built = format!("kernel.{}", language.extension());
    let within = |text: &mut String| {
        *text = text.replace(&format!("{built}:"), &format!("{name}:"));
    };
    let named = |location: &mut SourceLocation| {
        if location.file == built {
            name.as_ref().clone_into(&mut location.file);
        }
    };
    for diagnostic in &mut evaluation.diagnostics {
        diagnostic.location.iter_mut().for_each(named);
        within(&mut diagnostic.message);
        diagnostic.notes.iter_mut().for_each(within);
    }
    if let Some(feedback) = &mut evaluation.feedback {
        let lines = feedback.lines.iter_mut();
        lines.map(|it| &mut it.location).for_each(named);
        within(&mut feedback.bottleneck);
    }
}

/// Returns whether a kernel is given as a file rather than by its name in the problem, which
/// comes first: no file that happens to lie here may take its place.
fn is_path(problem: &Problem, kernel: &str) -> bool {
    let path = Path::new(kernel);
    !problem.kernels.contains_key(kernel)
        && (path.is_file() || path.extension().is_some() || kernel.contains('/'))
}

/// Returns the source of a program that is to become a kernel, given as a file or by its name in
/// the problem.
pub fn program_source(problem: &Problem, program: &str) -> Result<String, CliError> {
    match is_path(problem, program) {
        true => read_program(Path::new(program)),
        false => kernel_source(problem, program),
    }
}

/// Returns the source of a kernel given by its name in the problem or as a file.
pub fn kernel_source(problem: &Problem, kernel: &str) -> Result<String, CliError> {
    if kernel == "-" {
        return read_kernel_from_input();
    }
    let path = PathBuf::from(kernel);
    if is_path(problem, kernel) {
        return read_kernel(&path);
    }
    problem.kernel(kernel).map(str::to_owned).map_err(|error| {
        let error = catalog_error(error);
        if path.is_dir() {
            error.hint(format!(
                "{kernel} is a folder here; give the path of a file"
            ))
        } else {
            error.hint("or give the path of a file")
        }
    })
}
