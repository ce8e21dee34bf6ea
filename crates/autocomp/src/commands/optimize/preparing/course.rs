//! The settings of a run: from defaults, files, flags and the run that it goes on from.

use super::super::Arguments;
use super::super::forking::Origin;
use crate::error::CliError;
use crate::remembering::default_memory;
use crate::run_errors::store_error;
use crate::settings::Settings;
use crate::workplace::Workplace;
use autocomp_catalog::Target;
use autocomp_core::{Scope, SearchSettings};
use autocomp_runner::RunView;
use std::collections::BTreeSet;

/// Attempts at repairing a draft of a model, unless told otherwise.
const REPAIRS_OF_MODELS: u32 = 2;

/// Changes by the rewriter for each survivor of models, unless told otherwise.
const POLISH_OF_MODELS: u32 = 2;

/// Returns defaults, overridden by the settings file, overridden by flags; and the
/// run to start from, if there is one, whose settings take the place of defaults
/// unless there is a file.
pub(super) fn effective_settings(
    arguments: &Arguments,
) -> Result<(Settings, Option<Origin>), CliError> {
    let (mut settings, mut set) = match &arguments.config {
        Some(path) => Settings::read(path)?,
        None => (Settings::default(), BTreeSet::new()),
    };
    set.extend(settings.set(&arguments.set)?);
    let origin = arguments.from.as_ref().or(settings.from.as_ref());
    let origin = origin.map(|from| Origin::open(from)).transpose()?;
    match &origin {
        Some(origin) if arguments.config.is_none() => {
            settings = stored_settings(&origin.view)?;
            settings.set(&arguments.set)?;
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
    // An arm of a study takes back what its settings say for all.
    settings.reuse.take_if(|it| it == "none");
    match &arguments.memory {
        Some(Some(file)) => settings.memory = Some(file.clone()),
        Some(None) => settings.memory = Some(default_memory()?),
        None => {}
    }
    take_bounds(arguments, &mut settings.search);
    take_limits(arguments, &mut settings);
    Ok((settings, origin))
}

/// Refuses to translate where nobody can: that takes a model, and menu items for it.
pub(super) fn check_translation(settings: &Settings, target: &Target) -> Result<(), CliError> {
    if settings.search.translation == 0 {
        return Ok(());
    }
    if settings.language_models().is_empty() {
        return Err(
            CliError::usage("iterations that translate need a language model")
                .hint("name one with `--model`, or leave `translation` at 0"),
        );
    }
    let mut items = target.menu.iter();
    if items.all(|item| item.scope != Scope::Translation) {
        return Err(CliError::usage(format!(
            "the menu of target {} has no items that translate",
            target.name
        ))
        .hint("add some with `scope = \"translation\"` to its `menu.toml`"));
    }
    Ok(())
}

/// Returns whether a run that starts from `origin` has its baseline, too.
pub(super) fn has_baseline_of(origin: &Origin, arguments: &Arguments, problem: &str) -> bool {
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
        target,
        machine,
        ..
    } = arguments;
    for (field, flag) in [
        (&mut settings.problem, problem),
        (&mut settings.baseline, baseline),
        (&mut settings.target, target),
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
    search.translation = arguments.translation.unwrap_or(search.translation);
    search.bandit |= arguments.bandit;
    if let Some(when) = arguments.exhaustive {
        search.exhaustive = when;
    }
    settings.asking.direct |= arguments.direct;
}

/// Takes the flags that bound a run, and that can be raised when it is resumed.
pub(super) fn take_bounds(arguments: &Arguments, search: &mut SearchSettings) {
    search.iterations = arguments.iterations.unwrap_or(search.iterations);
    search.max_evaluations = arguments.max_evaluations.or(search.max_evaluations);
    search.patience = arguments.patience.unwrap_or(search.patience);
}

/// Refuses to resume with a flag that says otherwise than the run was started
/// with; flags that say the same are fine, so that a command line can be
/// repeated with `--resume` added to it.
pub(super) fn refuse_other_course(
    arguments: &Arguments,
    started: &Settings,
    workplace: &Workplace,
) -> Result<(), CliError> {
    let mut asked = started.clone();
    asked.set(&arguments.set)?;
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

/// Returns the settings as they are stored with the run: good from any folder.
pub(super) fn in_stored_form(settings: &Settings, workplace: &Workplace) -> Settings {
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
pub(super) fn problem_words(settings: &Settings) -> String {
    let mut words = settings.problem.clone().unwrap_or_default();
    for folder in &settings.data {
        words += &format!(" --data {}", folder.display());
    }
    words
}

/// Takes the flags that may change when a run is resumed.
pub(super) fn take_limits(arguments: &Arguments, settings: &mut Settings) {
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

/// Returns the effective settings that a run was started with.
pub(in super::super) fn stored_settings(view: &RunView) -> Result<Settings, CliError> {
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
