//! The evaluator of a run, and how the run is executed.

use crate::error::CliError;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::settings::Settings;
use crate::workplace::Workplace;
use autocomp_core::Seed;
use autocomp_eval::EvaluatorSettings;
use autocomp_runner::{Limits, RunOptions};
use std::time::Duration;

pub(super) fn open_bench(
    workplace: &mut Workplace,
    settings: &Settings,
    output: Output,
) -> Result<Bench, CliError> {
    let standard = evaluator_settings(true);
    let machine = settings.machine.as_deref();
    open_bench_on(workplace, settings, machine, standard.seed, output)
}

/// Opens the evaluator of the run's problem on a machine, with inputs that follow from
/// `seed`.
pub(in super::super) fn open_bench_on(
    workplace: &mut Workplace,
    settings: &Settings,
    machine: Option<&str>,
    seed: Seed,
    output: Output,
) -> Result<Bench, CliError> {
    let problem = settings.problem.as_deref().unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = settings.workers.unwrap_or(processors).max(1);
    let bench = Bench::open(
        workplace,
        problem,
        machine,
        EvaluatorSettings {
            seed,
            // Each worker has an evaluator of its own, which knows nothing of the others.
            threads: (processors / workers).max(1),
            // Only models read the feedback.
            experiments: !settings.language_models().is_empty(),
            ..evaluator_settings(true)
        },
        output,
    )?;
    bench.tell_doubts(&workplace.cache_folder, output)?;
    Ok(bench)
}

pub(super) fn run_options(settings: &Settings, workplace: &Workplace) -> RunOptions {
    let at_a_time = || workplace.evaluations_at_a_time();
    let mut options = RunOptions::new(settings.workers.unwrap_or_else(at_a_time));
    options.limits = Limits {
        max_wall: settings
            .max_minutes
            .map(|minutes| Duration::from_secs_f64(minutes.min(1e9) * 60.0)),
        ..Limits::default()
    };
    options
}
