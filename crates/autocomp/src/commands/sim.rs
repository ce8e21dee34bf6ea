//! `autocomp sim`: the simulators of families by themselves.

mod calibration;
mod program;

use crate::error::CliError;
use crate::output::Output;
use calibration::CalibrateArguments;
use clap::Subcommand;
use program::RunArguments;

/// Use the simulator by itself
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArguments),
    Calibrate(CalibrateArguments),
}

/// Runs the command.
pub fn run(command: Command, output: Output) -> Result<u8, CliError> {
    match command {
        Command::Run(arguments) => program::run(&arguments, output),
        Command::Calibrate(arguments) => calibration::run(&arguments, output),
    }
}
