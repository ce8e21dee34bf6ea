//! Gets a run ready: settings, evaluator, proposer, run folder.

mod bench;
mod course;
pub(crate) mod estimate;
mod folder;

pub(super) use bench::open_bench_on;
pub(super) use course::stored_settings;

use super::super::eval::kernel_source;
use super::confirming::Confirmers;
use super::device_of_run::Measured;
use super::forking::Origin;
use super::reporting::best_name;
use super::reusing::{Reuse, Wanted};
use super::{Arguments, begin};
use crate::error::CliError;
use crate::measuring::Bench;
use crate::output::{Output, redacted};
use crate::proposing::{Proposing, proposing, rewriter};
use crate::remembering::lessons_for;
use crate::run_errors::{run_error, store_error};
use crate::settings::Settings;
use crate::vouching::{self, Named};
use crate::workplace::Workplace;
use autocomp_agents::{Estimate, Proposer, Replay};
use autocomp_core::{ContentHash, Seed, Usage};
use autocomp_eval::text;
use autocomp_runner::{Extension, NewRun, RecordedRun, RunOptions, RunSession, RunView};
use autocomp_store::check_replaceable;
use bench::{open_bench, run_options};
use course::{
    check_translation, effective_settings, has_baseline_of, in_stored_form, problem_words,
    refuse_other_course, take_bounds, take_limits,
};
use estimate::announce_estimate;
use folder::run_folder;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Lines that are not understood of which each is told.
const SHOWN_LINES: usize = 8;

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
    /// Where the run's lessons go.
    pub memory: Option<PathBuf>,
}

impl Prepared {
    fn new(
        session: RunSession,
        proposing: Proposing,
        bench: Bench,
        settings: &Settings,
        workplace: &Workplace,
        estimate: Option<Estimate>,
    ) -> Self {
        Self {
            session,
            proposing,
            bench,
            options: run_options(settings, workplace),
            problem: problem_words(settings),
            estimate,
            memory: settings.memory.clone(),
        }
    }
}

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
    if let Some(origin) = &origin
        && arguments.config.is_none()
    {
        let named = named_again(arguments, workplace);
        check_origin(&origin.view, origin.folder(), &settings, named, workplace)?;
    }
    set_up(workplace, &settings)?;
    let problem = workplace.problem(&problem_name)?;
    check_run_dir(arguments)?;
    check_translation(&settings, &workplace.target_of(&problem)?)?;
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
    let confirmers = Confirmers::open(workplace, &settings, &bench, output)?;
    let new = NewRun {
        program: env!("CARGO_PKG_VERSION").to_owned(),
        target: bench.target.name.clone(),
        problem: bench.problem.name.clone(),
        compiler: bench.compiler.clone(),
        meaningful_indentation: crate::registry::language(&bench.target)?
            .has_meaningful_indentation(),
        proposers: proposing.names.clone(),
        seed: Seed(settings.seed),
        settings: settings.search.clone(),
        menu: settings.menu_of(&bench.target.menu_for(&bench.problem)),
        baseline,
        taken: taken.unwrap_or_default(),
        reused: reuse
            .as_ref()
            .map_or_else(Vec::new, |it| it.schedule.clone()),
        lessons: lessons_for(&settings, &bench.target.name, &bench.problem.name)?,
        extensions: Vec::new(),
        confirmers: confirmers.records(),
        spec: Some(redacted(&stored.to_toml()?)),
    };
    let (folder, mut session) = create(arguments, &settings, new, &bench)?;
    seal_session(&session, workplace, output);
    confirmers.give_to(&mut session)?;
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
        session, proposing, bench, &settings, workplace, estimate,
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
            "the rewriter does not change line {}: {}",
            it.line, it.reason
        ));
    }
    if SHOWN_LINES < found.len() {
        let more = found.len() - SHOWN_LINES;
        output.message(format!("nor {more} more lines"));
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
        settings.search.patience = extended.patience;
    }
    let named = named_again(arguments, workplace);
    check_origin(&view, folder, &settings, named, workplace)?;
    let measured = Measured::of(&view);
    drop(view);
    take_limits(arguments, &mut settings);
    settings.check()?;
    set_up(workplace, &settings)?;
    workplace.prefer_compiler(settings.compiler.as_deref(), Some(&compiler));
    let bench = open_bench(workplace, &settings, output)?;
    measured.check(arguments, &bench)?;
    // Before anything is evaluated for a kernel that could not be written.
    let best_name = best_name(&bench)?;
    check_replaceable(folder, &best_name).map_err(|error| store_error(&error))?;
    if bench.compiler != compiler {
        return Err(CliError::environment(format!(
            "the run was measured with {compiler}, but the compiler named is {}",
            bench.compiler
        ))
        .hint("leave `--compiler` out, name the same compiler with it, or start a new run"));
    }
    let proposing = proposing(&settings, &bench, &spent)?;
    let estimate = announce_estimate(&proposing, &settings, &bench, &baseline, output)?;
    begin();
    let mut session =
        RunSession::resume(folder, env!("CARGO_PKG_VERSION")).map_err(|error| run_error(&error))?;
    // What was named again, or made here, need not be named again.
    seal_session(&session, workplace, output);
    Confirmers::open(workplace, &settings, &bench, output)?.give_to(&mut session)?;
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
            "extended to {} evaluations, {} iterations and {}",
            most.map_or("any number of".to_owned(), text::grouped),
            extended.iterations,
            match extended.patience {
                0 => "endless patience".to_owned(),
                patience => format!("a patience of {patience}"),
            },
        ));
    }
    Ok(Prepared::new(
        session, proposing, bench, &settings, workplace, estimate,
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
    // What it teaches was learnt when it was recorded.
    settings.memory = None;
    settings.check()?;
    let named = Named {
        // Nobody is asked.
        models: true,
        keys: true,
        ..named_again(arguments, workplace)
    };
    check_origin(&view, recorded, &settings, named, workplace)?;
    set_up(workplace, &settings)?;
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
    let confirmers = Confirmers::open(workplace, &settings, &bench, output)?;
    new.confirmers = confirmers.records();
    let (folder, mut session) = create(arguments, &settings, new, &bench)?;
    seal_session(&session, workplace, output);
    confirmers.give_to(&mut session)?;
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
    Ok(Prepared::new(
        session, proposing, bench, &settings, workplace, None,
    ))
}

/// Returns which of the settings that a run folder may hold the command line names, too.
fn named_again(arguments: &Arguments, workplace: &Workplace) -> Named {
    Named {
        models: !arguments.models.is_empty(),
        compiler: workplace.named_compiler().is_some(),
        keys: arguments.keys.is_some(),
        all: arguments.trust,
    }
}

/// Checks that the settings of a run may be used, wherever its folder comes from.
fn check_origin(
    view: &RunView,
    folder: &Path,
    settings: &Settings,
    named: Named,
    workplace: &Workplace,
) -> Result<(), CliError> {
    let stored = view.search.started().spec.unwrap_or(ContentHash([0; 32]));
    vouching::check(folder, settings, stored, named, workplace)
}

/// Seals the folder of a run that this user has made or vouched for.
fn seal_session(session: &RunSession, workplace: &Workplace, output: Output) {
    if let Some(stored) = session.search().started().spec {
        vouching::seal(session.folder(), stored, workplace, output);
    }
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
    begin();
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

/// Brings the user's folders into the catalog, and has kernels written for the target wanted.
fn set_up(workplace: &mut Workplace, settings: &Settings) -> Result<(), CliError> {
    workplace.prefer_target(settings.target.as_deref());
    for folder in &settings.data {
        workplace.add_data(folder)?;
    }
    Ok(())
}
