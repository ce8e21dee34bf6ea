//! The `autocomp` command: makes kernels for tensor accelerators faster,
//! automatically, and proves it.
//!
//! This crate is the only one that prints, reads the environment and knows
//! exit codes. One command is one file in `commands/` plus one line in
//! `commands/mod.rs`.

mod commands;
mod error;
mod evaluation_text;
mod exit_code;
mod measuring;
mod output;
mod progress;
mod proposing;
mod run_errors;
mod settings;
mod text;
mod workplace;

use clap::Parser;
use output::{Format, Output};
use std::process::ExitCode;

/// Makes kernels for tensor accelerators faster, automatically, and proves it
#[derive(Debug, Parser)]
#[command(name = "autocomp", version, max_term_width = 100, disable_help_subcommand = true)]
struct Arguments {
    /// Print the result as one JSON object on standard output
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are results; everything else is a usage error.
            let _ = error.print();
            let code = if error.use_stderr() { exit_code::USAGE } else { exit_code::SUCCESS };
            return ExitCode::from(code);
        }
    };
    let format = if arguments.json { Format::Json } else { Format::Text };
    let output = Output { format };
    match commands::run(arguments.command, output) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output.error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
