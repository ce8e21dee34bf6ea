//! The commands: one file each, one line in [`Command`], one in [`run`].

mod ask;
pub(crate) mod bench;
mod cache;
mod completions;
mod diff;
mod doctor;
mod eval;
mod export;
mod import;
mod kernelbench;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod models;
pub(crate) mod optimize;
mod problems;
mod profile;
mod prompt;
mod propose;
mod report;
mod runs;
#[cfg(feature = "serve")]
mod serve;
mod show;
mod sim;
pub(crate) mod study;
mod target;
mod targets;
mod translate;
#[cfg(feature = "watch")]
pub(crate) mod watch;
#[cfg(feature = "queue")]
mod worker;
#[cfg(feature = "queue")]
mod workers;

use crate::error::CliError;
use crate::evaluating::{self, EVALUATOR, evaluate_for_parent};
use crate::exit_code;
use crate::output::Output;
use clap::Subcommand;

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Optimize(Box<optimize::Arguments>),
    Eval(eval::Arguments),
    Bench(bench::Arguments),
    Profile(profile::Arguments),
    Propose(propose::Arguments),
    Runs(runs::Arguments),
    Show(show::Arguments),
    Diff(diff::Arguments),
    Report(report::Arguments),
    Export(export::Arguments),
    #[command(subcommand)]
    Import(import::Command),
    #[cfg(feature = "watch")]
    Watch(watch::Arguments),
    #[cfg(feature = "serve")]
    Serve(serve::Arguments),
    #[cfg(feature = "mcp")]
    Mcp(mcp::Arguments),
    Study(study::Arguments),
    #[cfg(feature = "queue")]
    Worker(Box<worker::Arguments>),
    #[cfg(feature = "queue")]
    Workers(workers::Arguments),
    #[command(subcommand)]
    Target(target::Command),
    Targets(targets::Arguments),
    Problems(problems::Arguments),
    Doctor(doctor::Arguments),
    Cache(cache::Arguments),
    Memory(memory::Arguments),
    Prompt(prompt::Arguments),
    Ask(ask::Arguments),
    Translate(Box<translate::Arguments>),
    #[command(subcommand)]
    Models(models::Command),
    #[command(subcommand)]
    Sim(sim::Command),
    Completions(completions::Arguments),
    /// Evaluate for the process that started this one
    #[command(hide = true, name = EVALUATOR)]
    Evaluator(evaluating::Arguments),
}

/// Runs a command and returns the exit code.
pub fn run(command: Command, output: Output) -> Result<u8, CliError> {
    match command {
        Command::Optimize(arguments) => optimize::run(&arguments, output),
        Command::Eval(arguments) => eval::run(&arguments, output),
        Command::Bench(arguments) => bench::run(&arguments, output),
        Command::Profile(arguments) => profile::run(&arguments, output),
        Command::Propose(arguments) => propose::run(&arguments, output),
        Command::Runs(arguments) => runs::run(&arguments, output),
        Command::Show(arguments) => show::run(&arguments, output),
        Command::Diff(arguments) => diff::run(&arguments, output),
        Command::Report(arguments) => report::run(&arguments, output),
        Command::Export(arguments) => export::run(&arguments, output),
        Command::Import(command) => import::run(&command, output),
        Command::Completions(arguments) => completions::run(&arguments, output),
        #[cfg(feature = "watch")]
        Command::Watch(arguments) => watch::run(&arguments, output),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(&arguments, output),
        #[cfg(feature = "mcp")]
        Command::Mcp(arguments) => mcp::run(&arguments, output),
        Command::Study(arguments) => study::run(&arguments, output),
        #[cfg(feature = "queue")]
        Command::Worker(arguments) => worker::run(&arguments, output),
        #[cfg(feature = "queue")]
        Command::Workers(arguments) => workers::run(&arguments, output),
        Command::Target(command) => target::run(&command, output),
        Command::Targets(arguments) => targets::run(&arguments, output),
        Command::Problems(arguments) => problems::run(&arguments, output),
        Command::Cache(arguments) => cache::run(&arguments, output),
        Command::Memory(arguments) => memory::run(&arguments, output),
        Command::Doctor(arguments) => doctor::run(&arguments, output),
        Command::Prompt(arguments) => prompt::run(&arguments, output),
        Command::Ask(arguments) => ask::run(&arguments, output),
        Command::Translate(arguments) => translate::run(&arguments, output),
        Command::Models(command) => models::run(command, output),
        Command::Sim(command) => sim::run(command, output),
        Command::Evaluator(arguments) => match evaluate_for_parent(&arguments) {
            Ok(()) => Ok(exit_code::SUCCESS),
            Err(error) => Err(CliError::environment(error)),
        },
    }
}
