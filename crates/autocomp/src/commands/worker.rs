//! `autocomp worker`: evaluates for searches on other machines.

mod init;
mod place;
mod serve;

use crate::error::CliError;
use crate::evaluating;
use crate::exit_code;
use crate::output::Output;
use crate::queueing::{BEAT, access, queue_error};
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_catalog::Target;
use autocomp_eval::isolation::IsolatedBench;
use autocomp_eval::{Bench, EvalError, Setup};
use autocomp_queue::{Access, Counts, Open, Worker, WorkerOptions, token};
use clap::{Args, Subcommand};
use place::{Place, machine_identity, machine_name};
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Evaluate kernels for searches on other machines, through a queue
///
/// Takes jobs of all searches that use the queue, as many at a time as it has devices, until
/// Ctrl-C; then it finishes what it has begun. Kernels run in the sandbox as they do at home, and
/// nothing of a job is left when the search or the worker has ended.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Address of the queue, such as `nats://HOST`
    #[arg(long, value_name = "ADDRESS", env = "AUTOCOMP_QUEUE", required = true)]
    queue: Option<String>,
    /// Access file of the queue, which names the files with whatever is secret
    #[arg(long, value_name = "FILE", env = "AUTOCOMP_QUEUE_ACCESS")]
    queue_access: Option<PathBuf>,
    #[command(flatten)]
    working: WorkingOptions,
}

/// What else there is to do
#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Arguments),
    Serve(serve::Arguments),
}

/// How a worker works
#[derive(Debug, Args)]
pub(super) struct WorkingOptions {
    /// Targets to work for [default: all]
    #[arg(long, value_name = "TARGET", num_args = 1.., value_delimiter = ',')]
    targets: Vec<String>,
    /// Jobs at a time: one for each device that costs are measured on, or for each processor to
    /// simulate on [default: one for each processor, and one device]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    devices: Option<u16>,
    /// Name of the worker; no two have the same [default: that of its key, or the machine's with a
    /// number]
    #[arg(long)]
    name: Option<String>,
    /// Jobs of one search that may be under way at a time, on all workers together [default: no
    /// bound]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    most_in_flight: Option<u32>,
    /// Minutes that the jobs of one user may take in a day on this worker [default: no bound]
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(1..))]
    most_minutes: Option<u32>,
    /// Seconds that running jobs may take after Ctrl-C before they are handed to others
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Worked {
    worker: String,
    machine: String,
    #[serde(flatten)]
    counts: Counts,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    match (&arguments.command, &arguments.queue) {
        (Some(Command::Init(arguments)), _) => init::run(arguments, output),
        (Some(Command::Serve(arguments)), _) => serve::run(arguments, output),
        (None, Some(queue)) => {
            let access = access(queue, arguments.queue_access.as_deref())?;
            worked(&access, &arguments.working, output)
        }
        (None, None) => Err(CliError::usage("no queue is named").hint("name one with `--queue`")),
    }
}

/// Works until a signal comes.
fn worked(access: &Access, arguments: &WorkingOptions, output: Output) -> Result<u8, CliError> {
    let workplace = Workplace::open(&arguments.workplace)?;
    for target in &arguments.targets {
        workplace.target(target)?;
    }
    workplace.check_cache()?;
    if workplace.named_compiler().is_some() {
        autocomp_toolchain::find_toolchain(&workplace.surroundings(), &mut |_| ())
            .map_err(|error| eval_error(&error))?;
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let devices = arguments.devices.map_or(processors, usize::from);
    let machine = machine_identity();
    let name = match (&arguments.name, access.worker()) {
        (Some(name), _) if token(name) != *name => {
            return Err(
                CliError::usage(format!("`{name}` cannot be the name of a worker"))
                    .hint("use letters, digits, `-` and `_`, 60 at most"),
            );
        }
        (Some(name), _) => name.clone(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => format!("{}-{}", machine_name(), std::process::id()),
    };
    let name = token(&name);
    let place = Place::make(&workplace.cache_folder, &name)?;
    let options = WorkerOptions {
        name: name.clone(),
        machine: machine.clone(),
        targets: arguments.targets.clone(),
        devices,
        measuring: arguments.devices.unwrap_or(1).into(),
        beat: BEAT,
        most_in_flight: arguments.most_in_flight.map(|it| it as usize),
        most_time: arguments
            .most_minutes
            .map(|it| Duration::from_secs(60 * u64::from(it))),
        folder: place.path().to_owned(),
        open: opener(workplace, place.clone(), (processors / devices).max(1)),
        tell: Box::new(move |line| output.message(line)),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment(format!("failed to start threads: {error}")))?;
    let counts = runtime.block_on(async {
        let worker = Worker::connect(access, options).await?;
        output.message(format!(
            "worker {name} takes {devices} jobs at a time from {}; Ctrl-C ends it",
            access.address()
        ));
        let stop = CancellationToken::new();
        tokio::spawn(stop_on_signal(stop.clone(), output));
        worker
            .work(&stop, Duration::from_secs(arguments.grace))
            .await
    });
    let counts = counts.map_err(|error| queue_error(&error))?;
    runtime.shutdown_background();
    let text = format!(
        "worker {name} has answered {} jobs and handed back {}",
        counts.answered, counts.handed_back
    );
    let worked = Worked {
        worker: name,
        machine,
        counts,
    };
    output.result(&worked, || text)?;
    Ok(exit_code::SUCCESS)
}

/// Returns what opens benches: in a place of their own, with the worker's tools.
fn opener(workplace: Workplace, place: Arc<Place>, threads: usize) -> Box<Open> {
    Box::new(move |setup, folder, tell| open(setup, &workplace, &place, folder, threads, tell))
}

/// Refuses machines that are devices unless the worker has the same: their files name programs,
/// libraries and hosts.
fn check_machines(target: &Target, workplace: &Workplace) -> Result<(), EvalError> {
    let own = workplace.target(&target.name).ok();
    let is_own = |name: &str, text: &str| {
        own.as_ref()
            .is_some_and(|it| it.machines.get(name).is_some_and(|it| it == text))
    };
    let is_simulated = |text: &str| {
        let table = text.parse::<toml::Table>();
        table.is_ok_and(|it| !it.contains_key("backend"))
    };
    let mut machines = target.machines.iter();
    let other = machines.find(|(name, text)| !is_simulated(text) && !is_own(name, text));
    other.map_or(Ok(()), |(name, _)| {
        Err(EvalError::Environment {
            message: format!(
                "the file of machine {name} of {} is another one here, and what a worker \
                 measures with is its own",
                target.name
            ),
            remedies: vec![
                "give the worker the same target with `--data FOLDER`, or correct the file"
                    .to_owned(),
            ],
        })
    })
}

fn open(
    mut setup: Setup,
    workplace: &Workplace,
    place: &Place,
    folder: &Path,
    threads: usize,
    tell: &mut dyn FnMut(&str),
) -> Result<Arc<dyn Bench>, EvalError> {
    check_machines(&setup.target, workplace)?;
    let tools = workplace.wanted_tools();
    setup.settings.threads = threads;
    setup.tools.compiler.clone_from(&tools.compiler);
    setup.tools.carried.clone_from(&tools.carried);
    let language = registry::language(&setup.target).map_err(|error| EvalError::Environment {
        message: error.message,
        remedies: error.hints,
    })?;
    let scratch = place
        .furnish(folder)
        .map_err(|error| EvalError::Environment {
            message: format!("the folder {} cannot be made: {error}", folder.display()),
            remedies: vec!["make room, or name another folder with `--cache-dir`".to_owned()],
        })?;
    let variables = [("TMPDIR", OsString::from(scratch))];
    let isolation = Arc::new(evaluating::local_with(folder, &variables));
    let text = serde_json::to_string(&setup).map_err(|error| EvalError::Environment {
        message: format!("a path of this machine cannot be used: {error}"),
        remedies: vec!["name files and folders by paths in UTF-8".to_owned()],
    })?;
    let bench = IsolatedBench::open(isolation, text, language, tell)?;
    Ok(Arc::new(bench))
}

async fn stop_on_signal(stop: CancellationToken, output: Output) {
    let mut signals = super::optimize::signals();
    if signals.is_empty() {
        return;
    }
    super::optimize::any(&mut signals).await;
    output.message("stopping: running jobs may finish, and others are handed back");
    stop.cancel();
}
