//! Processes that evaluate: how this program starts them, and what it does as one of them.

use crate::environment::{search_path, variables_of_evaluators};
use crate::error::CliError;
use crate::registry;
use autocomp_eval::isolation::{Isolation, IsolationLimits, Link, Pipes, serve};
use autocomp_eval::{Bench, EvalError, Opening, Setup};
use clap::Args;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The command with which the program starts processes of its own that evaluate.
pub const EVALUATOR: &str = "evaluator";

/// What a process that evaluates is told when it is started; all else comes with a request.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Private cache of the process
    #[arg(long, value_name = "FOLDER")]
    cache_dir: PathBuf,
}

/// Returns the processes on this machine that evaluate with the private cache in
/// `cache_folder`; none is started yet.
pub fn local(cache_folder: &Path) -> Isolation {
    local_with(cache_folder, &[])
}

/// As [`local`], with further variables.
pub fn local_with(cache_folder: &Path, variables: &[(&'static str, OsString)]) -> Isolation {
    let variables = variables.to_vec();
    let more = variables.clone();
    let command = |cache_folder: &Path| {
        let mut command = Command::new(own_program());
        command.arg0("autocomp").arg(EVALUATOR);
        command.arg("--cache-dir").arg(cache_folder);
        command
    };
    let link = |command| Ok(Box::new(Pipes::start(command)?) as Box<dyn Link>);
    let of_evaluators = cache_folder.to_owned();
    let evaluator = move || {
        let mut command = command(&of_evaluators);
        command.env_clear().envs(variables_of_evaluators());
        command.envs(more.iter().cloned());
        link(command)
    };
    // Tools are installed as the user's settings say: by a mirror, through a proxy.
    let cache_folder = cache_folder.to_owned();
    let opener = move || {
        let mut command = command(&cache_folder);
        command.envs(variables.iter().cloned());
        link(command)
    };
    Isolation::new(Box::new(evaluator), IsolationLimits::standard()).opened_by(Box::new(opener))
}

/// Returns the path of this very program; on Linux, even if another has taken its place on the
/// disk.
fn own_program() -> PathBuf {
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".into();
    }
    std::env::current_exe().unwrap_or_else(|_| "autocomp".into())
}

/// Evaluates for the process that started this one.
pub fn evaluate_for_parent(arguments: &Arguments) -> io::Result<()> {
    serve(io::stdin(), io::stdout(), |setup, tell| {
        open(setup, &arguments.cache_dir, tell)
    })
}

fn open(
    setup: &str,
    cache_folder: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<Arc<dyn Bench>, EvalError> {
    let setup = Setup::parse(setup)?;
    let family = registry::family(&setup.target).map_err(as_input)?;
    family.open(Opening {
        problem: &setup.problem,
        target: &setup.target,
        machine: &setup.machine,
        settings: setup.settings.clone(),
        surroundings: &setup.tools.within(cache_folder, search_path()),
        progress: tell,
    })
}

fn as_input(error: CliError) -> EvalError {
    EvalError::Input {
        message: error.message,
        remedies: error.hints,
    }
}
