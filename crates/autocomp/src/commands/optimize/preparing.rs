//! Gets a run ready: settings, evaluator, proposer, run folder.

use super::super::eval::kernel_source;
use super::Arguments;
use super::forking::Origin;
use super::reusing::{Reuse, Wanted};
use crate::error::CliError;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::{Output, redacted};
use crate::proposing::{Proposing, proposing, rewriter};
use crate::run_errors::{run_error, store_error};
use crate::settings::{Settings, run_folder};
use crate::workplace::Workplace;
use autocomp_agents::{Estimate, Proposer, Replay, RunShape};
use autocomp_core::{MenuItem, Scope, SearchSettings, Seed, Usage};
use autocomp_eval::EvaluatorSettings;
use autocomp_eval::text;
use autocomp_runner::{Extension, Limits, NewRun, RecordedRun, RunOptions, RunSession, RunView};
use autocomp_search::allot;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A run ready to go.
pub struct Prepared {
    /// The run folder, locked.
    pub session: RunSession,
    /// What proposes.
    pub proposing: Proposing,
    /// What evaluates.
    pub bench: Bench,
    /// How to execute.
    pub options: RunOptions,
    /// How the problem is named on the command line.
    pub problem: String,
    /// What the whole run is expected to cost; absent without models.
    pub estimate: Option<Estimate>,
}

impl Prepared {
    fn new(
        session: RunSession,
        proposing: Proposing,
        bench: Bench,
        settings: &Settings,
        estimate: Option<Estimate>,
    ) -> Self {
        Self {
            session,
            proposing,
            bench,
            options: run_options(settings),
            problem: problem_words(settings),
            estimate,
        }
    }
}

/// Attempts at repairing a draft of a model, unless told otherwise.
const REPAIRS_OF_MODELS: u32 = 2;
/// Changes by the rewriter for each survivor of models, unless told otherwise.
const POLISH_OF_MODELS: u32 = 2;
/// Lines that are not understood of which each is told.
const SHOWN_LINES: usize = 8;

/// Opens everything that the run needs; the run folder last, so that a mistake
/// leaves none behind.
pub fn prepare(
    arguments: &Arguments,
    workplace: &mut Workplace,
    output: Output,
) -> Result<Prepared, CliError> {
    if let Some(folder) = &arguments.resume {
        return resume(arguments, folder, workplace, output);
    }
    if let Some(recorded) = &arguments.replay {
        return replay(arguments, recorded, workplace, output);
    }
    start(arguments, workplace, output)
}

fn start(
    arguments: &Arguments,
    workplace: &mut Workplace,
    output: Output,
) -> Result<Prepared, CliError> {
    let (mut settings, origin) = effective_settings(arguments)?;
    let Some(problem_name) = settings.problem.clone() else {
        return Err(CliError::usage("no problem is given")
            .hint("name one on the command line, or as `problem = \"…\"` in the settings file"));
    };
    settings.check()?;
    add_data(workplace, &settings)?;
    let problem = workplace.problem(&problem_name)?;
    check_run_dir(arguments)?;
    let baseline = match &origin {
        // The run's own, which its file may no longer hold.
        Some(origin) if has_baseline_of(origin, arguments, &problem.name) => origin
            .view
            .blobs()
            .get_text(origin.view.search.started().baseline)
            .map_err(|error| store_error(&error))?,
        _ => kernel_source(&problem, settings.baseline.as_deref().unwrap_or("baseline"))?,
    };
    let taken = origin.as_ref().map(Origin::kernels).transpose()?;
    let reuse = match &settings.reuse {
        Some(_) if origin.is_some() => {
            return Err(CliError::usage(
                "a run cannot both start from kernels of another run and reuse a schedule",
            )
            .hint("set `from` or `reuse`, not both"));
        }
        Some(given) => {
            let target = workplace.target_of(&problem)?;
            let wanted = Wanted {
                problem: &problem,
                target: &target,
                runs: &folder_of_runs(arguments),
            };
            Some(Reuse::find(given, &wanted, workplace)?)
        }
        None => None,
    };
    settings.reuse = reuse.as_ref().map(|reuse| reuse.name.clone());
    workplace.prefer_compiler(settings.compiler.as_deref(), None);
    let bench = open_bench(workplace, &settings, output)?;
    if arguments.polish.is_none() && rewriter(&bench)?.is_none() {
        settings.search.polish = 0;
    }
    let proposing = proposing(&settings, &bench, &Usage::default())?;
    let estimate = announce_estimate(&proposing, &settings, &bench, &baseline, output)?;
    let mut stored = in_stored_form(&settings, workplace);
    // A bare name is looked up again when the run is resumed.
    stored.compiler = workplace
        .named_compiler()
        .map(|named| match named.exists() {
            true => std::path::absolute(named).unwrap_or_else(|_| named.to_owned()),
            false => named.to_owned(),
        });
    let started = baseline.clone();
    let new = NewRun {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        target: bench.target.name.clone(),
        problem: bench.problem.name.clone(),
        compiler: bench.compiler.clone(),
        proposers: proposing.names.clone(),
        seed: Seed(settings.seed),
        settings: settings.search.clone(),
        menu: settings.menu_of(&bench.target.menu),
        baseline,
        taken: taken.unwrap_or_default(),
        reused: reuse
            .as_ref()
            .map_or_else(Vec::new, |it| it.schedule.clone()),
        extensions: Vec::new(),
        spec: Some(redacted(&stored.to_toml()?)),
    };
    let (folder, session) = create(arguments, &settings, new, &bench)?;
    let n_taken = session.search().started().taken.len();
    if let Some(origin) = &origin {
        output.message(format!(
            "starting from {n_taken} kernels of {}",
            origin.name
        ));
    }
    if let Some(reuse) = &reuse {
        output.message(reuse.told());
    }
    output.message(format!(
        "{} on {} (machine {}), compiled by {}\nrun folder {}",
        bench.problem.name,
        bench.target.name,
        bench.machine,
        bench.compiler,
        folder.display()
    ));
    tell_what_is_not_understood(&proposing, &settings, &bench, &started, output)?;
    Ok(Prepared::new(
        session, proposing, bench, &settings, estimate,
    ))
}

/// Tells, before anything is evaluated, which lines the rewriter leaves as they are.
fn tell_what_is_not_understood(
    proposing: &Proposing,
    settings: &Settings,
    bench: &Bench,
    kernel: &str,
    output: Output,
) -> Result<(), CliError> {
    let takes_part = proposing.models.is_none() || 0 < settings.search.polish;
    if !takes_part {
        return Ok(());
    }
    let found = rewriter(bench)?.map_or_else(Vec::new, |it| it.not_understood(kernel));
    for it in found.iter().take(SHOWN_LINES) {
        output.message(format!(
            "line {}: {}; the rewriter leaves it as it is",
            it.line, it.reason
        ));
    }
    if SHOWN_LINES < found.len() {
        let more = found.len() - SHOWN_LINES;
        output.message(format!(
            "and {more} more lines that the rewriter leaves as they are"
        ));
    }
    Ok(())
}

fn resume(
    arguments: &Arguments,
    folder: &Path,
    workplace: &mut Workplace,
    output: Output,
) -> Result<Prepared, CliError> {
    let view = RunView::open(folder).map_err(|error| run_error(&error))?;
    let mut settings = stored_settings(&view)?;
    // What was under way when its process died may have been billed.
    let mut spent = view.search.usage();
    spent.add(&view.search.unsettled());
    let compiler = view.search.started().compiler.clone();
    let baseline = view
        .blobs()
        .get_text(view.search.started().baseline)
        .map_err(|error| store_error(&error))?;
    refuse_other_course(arguments, &settings, workplace)?;
    let extension = Extension {
        iterations: arguments.iterations,
        max_evaluations: arguments.max_evaluations,
        patience: arguments.patience,
    };
    take_bounds(arguments, &mut settings.search);
    settings.check()?;
    let extended = extension
        .of(&view.search)
        .map_err(|error| CliError::usage(&error).hint(error.remedy()))?;
    if let Some(extended) = &extended {
        settings.search.iterations = extended.iterations;
    }
    drop(view);
    take_limits(arguments, &mut settings);
    settings.check()?;
    add_data(workplace, &settings)?;
    workplace.prefer_compiler(settings.compiler.as_deref(), Some(&compiler));
    let bench = open_bench(workplace, &settings, output)?;
    if bench.compiler != compiler {
        return Err(CliError::environment(format!(
            "the run was measured with {compiler}, but the compiler named is {}",
            bench.compiler
        ))
        .hint("leave `--compiler` out, name the same compiler with it, or start a new run"));
    }
    let proposing = proposing(&settings, &bench, &spent)?;
    let estimate = announce_estimate(&proposing, &settings, &bench, &baseline, output)?;
    let mut session =
        RunSession::resume(folder, env!("CARGO_PKG_VERSION")).map_err(|error| run_error(&error))?;
    session
        .extend(extension, bench.evaluator.as_ref())
        .map_err(|error| run_error(&error))?;
    if 0 < session.n_dropped() {
        output.message(format!(
            "note: the last {} events had lost their texts and will be done again",
            session.n_dropped()
        ));
    }
    output.message(format!("resuming {}", folder.display()));
    if let Some(extended) = extended {
        let most = extended.max_evaluations.map(u64::from);
        output.message(format!(
            "extended to {} evaluations and {} iterations",
            most.map_or("any number of".to_owned(), text::grouped),
            extended.iterations,
        ));
    }
    Ok(Prepared::new(
        session, proposing, bench, &settings, estimate,
    ))
}

fn replay(
    arguments: &Arguments,
    recorded: &Path,
    workplace: &mut Workplace,
    output: Output,
) -> Result<Prepared, CliError> {
    let view = RunView::open(recorded).map_err(|error| run_error(&error))?;
    let mut settings = stored_settings(&view)?;
    let mut new = view.to_new_run().map_err(|error| run_error(&error))?;
    settings.workers = arguments.workers.or(settings.workers);
    settings.max_minutes = arguments.max_minutes;
    settings.check()?;
    add_data(workplace, &settings)?;
    check_run_dir(arguments)?;
    workplace.prefer_compiler(settings.compiler.as_deref(), Some(&new.compiler));
    let bench = match open_bench(workplace, &settings, output) {
        // A replay may be measured with another one.
        Err(_) if workplace.forget_preferred_compiler() => {
            open_bench(workplace, &settings, output)?
        }
        opened => opened?,
    };
    if bench.compiler != new.compiler {
        output.message(format!(
            "note: the recorded run was measured with {}, this one is with {}; cycles may differ",
            new.compiler, bench.compiler
        ));
        new.compiler.clone_from(&bench.compiler);
    }
    let recording = RecordedRun::open(recorded).map_err(|error| run_error(&error))?;
    let (folder, session) = create(arguments, &settings, new, &bench)?;
    output.message(format!(
        "replaying {} into {}",
        recorded.display(),
        folder.display()
    ));
    let proposer: Arc<dyn Proposer> = Arc::new(Replay::new(recording));
    let proposing = Proposing {
        names: vec![proposer.name().to_owned()],
        proposer,
        models: None,
    };
    Ok(Prepared::new(session, proposing, bench, &settings, None))
}

/// Returns the folder that holds the new run's folder.
fn folder_of_runs(arguments: &Arguments) -> PathBuf {
    let given = arguments.run_dir.as_deref().and_then(Path::parent);
    match given {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => PathBuf::from("runs"),
    }
}

/// Creates the folder of a run.
fn create(
    arguments: &Arguments,
    settings: &Settings,
    new: NewRun,
    bench: &Bench,
) -> Result<(PathBuf, RunSession), CliError> {
    let folder = run_folder(
        arguments.run_dir.as_deref(),
        &bench.problem.name,
        settings.seed,
    );
    let session = RunSession::create(&folder, new, bench.evaluator.as_ref())
        .map_err(|error| run_error(&error))?;
    Ok((folder, session))
}

/// Complains about a run folder that is taken before anything is installed,
/// built or asked for it.
fn check_run_dir(arguments: &Arguments) -> Result<(), CliError> {
    match &arguments.run_dir {
        Some(folder) => RunSession::check_vacant(folder).map_err(|error| run_error(&error)),
        None => Ok(()),
    }
}

/// Returns defaults, overridden by the settings file, overridden by flags; and the
/// run to start from, if there is one, whose settings take the place of defaults
/// unless there is a file.
fn effective_settings(arguments: &Arguments) -> Result<(Settings, Option<Origin>), CliError> {
    let (mut settings, set) = match &arguments.config {
        Some(path) => Settings::read(path)?,
        None => (Settings::default(), BTreeSet::new()),
    };
    let origin = arguments.from.as_ref().or(settings.from.as_ref());
    let origin = origin.map(|from| Origin::open(from)).transpose()?;
    match &origin {
        Some(origin) if arguments.config.is_none() => {
            settings = stored_settings(&origin.view)?;
            let is_other = arguments.problem.is_some() && arguments.problem != settings.problem;
            if is_other {
                settings.baseline = None;
            }
            take_course(arguments, &mut settings, |_| arguments.models.is_empty());
        }
        _ => take_course(arguments, &mut settings, |name| set.contains(name)),
    }
    settings.from = origin.as_ref().map(|origin| origin.name.clone());
    if origin.is_some() && arguments.config.is_none() {
        // The other run's kernels already have what it reused.
        settings.reuse = None;
    }
    if arguments.reuse.is_some() {
        settings.reuse.clone_from(&arguments.reuse);
    }
    take_bounds(arguments, &mut settings.search);
    take_limits(arguments, &mut settings);
    Ok((settings, origin))
}

/// Returns whether a run that starts from `origin` has its baseline, too.
fn has_baseline_of(origin: &Origin, arguments: &Arguments, problem: &str) -> bool {
    let is_told = arguments.baseline.is_some() || arguments.config.is_some();
    !is_told && origin.view.search.started().problem == problem
}

/// Takes the flags that decide the course of a run.
/// `is_set` says whether a setting of the search has a value that defaults must
/// not replace.
fn take_course(arguments: &Arguments, settings: &mut Settings, is_set: impl Fn(&str) -> bool) {
    let Arguments {
        problem,
        baseline,
        machine,
        ..
    } = arguments;
    for (field, flag) in [
        (&mut settings.problem, problem),
        (&mut settings.baseline, baseline),
        (&mut settings.machine, machine),
    ] {
        if flag.is_some() {
            field.clone_from(flag);
        }
    }
    settings.data.extend_from_slice(&arguments.workplace.data);
    settings.seed = arguments.seed.unwrap_or(settings.seed);
    if !arguments.models.is_empty() {
        settings.models.clone_from(&arguments.models);
        settings.coding_models.clone_from(&arguments.coding_models);
    }
    let has_models = !settings.language_models().is_empty();
    let search = &mut settings.search;
    search.beam = arguments.beam.unwrap_or(search.beam);
    search.plans = arguments.plans.unwrap_or(search.plans);
    search.drafts = arguments.drafts.unwrap_or(search.drafts);
    if let Some(strategy) = &arguments.strategy {
        search.strategy.clone_from(strategy);
    }
    // Models learn from diagnostics, the rewriter does not.
    if has_models && !is_set("repairs") {
        search.repairs = REPAIRS_OF_MODELS;
    }
    if has_models && !is_set("polish") {
        search.polish = POLISH_OF_MODELS;
    }
    search.polish = arguments.polish.unwrap_or(search.polish);
    search.repairs = arguments.repairs.unwrap_or(search.repairs);
}

/// Takes the flags that bound a run, and that can be raised when it is resumed.
fn take_bounds(arguments: &Arguments, search: &mut SearchSettings) {
    search.iterations = arguments.iterations.unwrap_or(search.iterations);
    search.max_evaluations = arguments.max_evaluations.or(search.max_evaluations);
    search.patience = arguments.patience.unwrap_or(search.patience);
}

/// Refuses to resume with a flag that says otherwise than the run was started
/// with; flags that say the same are fine, so that a command line can be
/// repeated with `--resume` added to it.
fn refuse_other_course(
    arguments: &Arguments,
    started: &Settings,
    workplace: &Workplace,
) -> Result<(), CliError> {
    let mut asked = started.clone();
    asked.data.clear();
    take_course(arguments, &mut asked, |_| true);
    let asked = in_stored_form(&asked, workplace);
    let mut started = started.clone();
    if asked.data.is_empty() {
        started.data.clear();
    }
    let Some(differs) = started.first_difference(&asked)? else {
        return Ok(());
    };
    Err(CliError::usage(format!(
        "the run was started with `{} = {}`, but {} is asked for now; its course is fixed",
        differs.name, differs.here, differs.there
    ))
    .hint("leave the flag out to continue the run, or start a new one"))
}

/// Brings the user's folders into the catalog.
fn add_data(workplace: &mut Workplace, settings: &Settings) -> Result<(), CliError> {
    for folder in &settings.data {
        workplace.add_data(folder)?;
    }
    Ok(())
}

/// Returns the settings as they are stored with the run: good from any folder.
fn in_stored_form(settings: &Settings, workplace: &Workplace) -> Settings {
    let mut stored = settings.clone();
    stored.make_paths_absolute();
    let folder = settings
        .problem
        .as_deref()
        .filter(|name| workplace.is_folder(name));
    if let Some(folder) = folder.and_then(|folder| std::path::absolute(folder).ok()) {
        stored.problem = Some(folder.display().to_string());
    }
    stored
}

/// Returns the problem as a user would name it to another command.
fn problem_words(settings: &Settings) -> String {
    let mut words = settings.problem.clone().unwrap_or_default();
    for folder in &settings.data {
        words += &format!(" --data {}", folder.display());
    }
    words
}

/// Takes the flags that may change when a run is resumed.
fn take_limits(arguments: &Arguments, settings: &mut Settings) {
    settings.workers = arguments.workers.or(settings.workers);
    settings.max_minutes = arguments.max_minutes.or(settings.max_minutes);
    let budget = &mut settings.budget;
    budget.max_usd = arguments.max_usd.or(budget.max_usd);
    budget.max_tokens = arguments.max_tokens.or(budget.max_tokens);
    budget.max_requests = arguments.max_requests.or(budget.max_requests);
    if arguments.keys.is_some() {
        settings.asking.keys.clone_from(&arguments.keys);
    }
    if arguments.prices.is_some() {
        settings.asking.prices.clone_from(&arguments.prices);
    }
    settings.asking.allow_unknown_prices |= arguments.allow_unknown_prices;
}

/// Returns how many samples a run draws whose beam is full from the second
/// iteration on, as its iterations allot them.
fn run_shape(search: &SearchSettings) -> RunShape {
    let mut shape = RunShape {
        iterations: search.iterations,
        ..RunShape::default()
    };
    // The baseline is evaluated first.
    let mut remaining = search.max_evaluations.map(|most| most.saturating_sub(1));
    for iteration in 1..=search.iterations {
        let survivors = if iteration == 1 { 1 } else { search.beam };
        let allotment = allot(search, iteration, remaining, survivors);
        let places = allotment.slots.iter().filter(|plans| !plans.is_empty());
        shape.parents += if iteration == 1 {
            1
        } else {
            places.count() as u64
        };
        let slots = || allotment.slots.iter().flatten();
        let drafts: u32 = slots().sum();
        shape.plans += slots().filter(|drafts| 0 < **drafts).count() as u64;
        shape.drafts += u64::from(drafts);
        shape.repairs += u64::from(drafts) * u64::from(allotment.repairs);
        let used = drafts + allotment.polish;
        remaining = remaining.map(|remaining| remaining.saturating_sub(used));
    }
    shape
}

/// Says what the run will cost, before it starts.
fn announce_estimate(
    proposing: &Proposing,
    settings: &Settings,
    bench: &Bench,
    baseline: &str,
    output: Output,
) -> Result<Option<Estimate>, CliError> {
    let Some(models) = &proposing.models else {
        return Ok(None);
    };
    let shape = run_shape(&settings.search);
    let menu = bench.target.menu.iter();
    let steps: Vec<MenuItem> = menu
        .filter(|item| item.scope == Scope::Step)
        .cloned()
        .collect();
    let estimate = models
        .proposer
        .estimate(&shape, baseline, None, &steps)
        .map_err(CliError::input)?;
    output.message(format!(
        "estimate for the whole run: up to {} calls for {} if nothing fails ({} without prompt caching), up to {} for {} if every draft needs all its repairs; {} if every reply is as long as allowed",
        text::grouped(estimate.calls),
        text::dollars(estimate.cost.0),
        text::dollars(estimate.cost_without_cache.0),
        text::grouped(estimate.calls_with_failures),
        text::dollars(estimate.cost_with_failures.0),
        text::dollars(estimate.highest_cost.0),
    ));
    for model in &estimate.models {
        output.message(format!(
            "  {}: {} plans, {} drafts, at most {} repairs, {} to {}",
            model.model,
            text::grouped(model.plan_calls),
            text::grouped(model.draft_calls),
            text::grouped(model.repair_calls),
            text::dollars(model.cost.0),
            text::dollars(model.cost_with_failures.0),
        ));
    }
    Ok(Some(estimate))
}

/// Returns the effective settings that a run was started with.
pub(super) fn stored_settings(view: &RunView) -> Result<Settings, CliError> {
    let started = view.search.started();
    let Some(spec) = started.spec else {
        return Err(CliError::input("the run was stored without its settings")
            .hint("start a new run with the same seed"));
    };
    let text = view
        .blobs()
        .get_text(spec)
        .map_err(|error| store_error(&error))?;
    let mut settings = Settings::parse(&text, "the settings stored with the run")?;
    // The run may have been extended since.
    settings.search.clone_from(&started.settings);
    Ok(settings)
}

fn open_bench(
    workplace: &mut Workplace,
    settings: &Settings,
    output: Output,
) -> Result<Bench, CliError> {
    let problem = settings.problem.as_deref().unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = settings.workers.unwrap_or(processors).max(1);
    Bench::open(
        workplace,
        problem,
        settings.machine.as_deref(),
        EvaluatorSettings {
            // Each worker has an evaluator of its own, which knows nothing of the others.
            threads: (processors / workers).max(1),
            // Only models read the feedback.
            experiments: !settings.language_models().is_empty(),
            ..evaluator_settings(true)
        },
        output,
    )
}

fn run_options(settings: &Settings) -> RunOptions {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let mut options = RunOptions::new(settings.workers.unwrap_or_else(processors));
    options.limits = Limits {
        max_wall: settings
            .max_minutes
            .map(|minutes| Duration::from_secs_f64(minutes.min(1e9) * 60.0)),
        ..Limits::default()
    };
    options
}

#[cfg(test)]
mod tests {
    use super::run_shape;
    use autocomp_core::SearchSettings;

    #[test]
    fn a_run_draws_what_its_iterations_allot() {
        let search = SearchSettings {
            beam: 4,
            plans: 3,
            drafts: 2,
            repairs: 2,
            iterations: 8,
            max_evaluations: None,
            ..SearchSettings::default()
        };
        let shape = run_shape(&search);
        assert_eq!(shape.parents, 1 + 7 * 4);
        assert_eq!((shape.plans, shape.drafts), (8 * 4 * 3, 8 * 4 * 3 * 2));
        assert_eq!(shape.repairs, 2 * shape.drafts);
        let bounded = run_shape(&SearchSettings {
            max_evaluations: Some(41),
            ..search
        });
        assert_eq!(bounded.drafts, 40);
        assert!(bounded.plans <= 40);
    }
}
