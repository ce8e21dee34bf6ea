//! The `autocomp` program: makes kernels for tensor accelerators faster,
//! automatically, and proves it. [`run`] is given the families of targets that it
//! can work for.
//!
//! This crate is the only one that prints, reads the environment and knows
//! exit codes. One command is one file in `commands/` plus one line in
//! `commands/mod.rs`.

mod bench_report;
mod commands;
mod environment;
mod error;
mod evaluating;
mod evaluation_text;
mod exit_code;
mod given_file;
mod measuring;
mod model_usage;
mod open_files;
mod output;
mod progress;
mod proposing;
mod queueing;
mod registry;
mod remembering;
mod run_errors;
mod settings;
mod side_by_side;
mod sparkline;
mod table;
mod vouching;
mod workplace;
mod written_file;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::bench_report::{
        BenchReport, Row, geometric_mean, means, report_text, row, set_side_by_side,
    };
    pub use crate::commands::bench::{added_kernels, joined, named_path};
    pub use crate::commands::optimize::preparing::estimate::run_shape;
    pub use crate::commands::study::course::Course;
    pub use crate::commands::study::file::StudyFile;
    pub use crate::commands::study::interval::{Interval, median};
    #[cfg(feature = "watch")]
    pub use crate::commands::watch::drawing::draw;
    #[cfg(feature = "watch")]
    pub use crate::commands::watch::screen::Screen;
    pub use crate::output::{BOLD, GOOD, NAME, harmless, harmless_json};
    pub use crate::progress::line::Line;
    pub use crate::progress::live::LiveView;
    pub use crate::settings::Settings;
    pub use crate::sparkline::sparkline;
    pub use crate::table::{Cell, Table};
    pub use autocomp_eval::text::is_command;

    /// Returns the command line of the program with these families.
    pub fn command_line(families: &'static [&'static dyn autocomp_eval::Family]) -> clap::Command {
        crate::registry::register(families);
        crate::command_line()
    }
}

use autocomp_eval::Family;
use clap::Parser;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use error::CliError;
use output::{Format, Output};
use std::ffi::OsString;
use std::process::ExitCode;

/// Makes kernels for tensor accelerators faster, automatically, and proves it
#[derive(Debug, Parser)]
#[command(name = "autocomp", version, max_term_width = 100)]
struct Arguments {
    /// Print the result as one JSON object on standard output
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: commands::Command,
}

/// Returns the command line of the program, for its completions and its manual.
fn command_line() -> clap::Command {
    <Arguments as clap::CommandFactory>::command()
}

/// Runs the program for `families` with the arguments of the process.
pub fn run(families: &'static [&'static dyn Family]) -> ExitCode {
    registry::register(families);
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(mut error) => {
            // That an unknown flag could be passed as a value helps nobody.
            if error.kind() == ErrorKind::UnknownArgument {
                error.remove(ContextKind::Suggested);
            }
            // Clap's own names options that variables of the environment give as needed.
            if error.get(ContextKind::Usage).is_some() {
                let usage = usage_of(std::env::args_os().skip(1));
                error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
            }
            return ExitCode::from(refuse(&error));
        }
    };
    let format = if arguments.json {
        Format::Json
    } else {
        Format::Text
    };
    let output = Output { format };
    match open_files::raise_limit().and_then(|()| commands::run(arguments.command, output)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output.error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

/// Returns how the command that `words` name is used.
fn usage_of(words: impl Iterator<Item = OsString>) -> StyledStr {
    let mut command = command_line();
    command.build();
    let mut named = &command;
    for word in words {
        if let Some(deeper) = named.find_subcommand(&word) {
            named = deeper;
        }
    }
    named.clone().render_usage()
}

/// Prints what is wrong with the command line, or the help that it asks for.
fn refuse(error: &clap::Error) -> u8 {
    // Help and version are results; everything else is a usage error.
    let text = error.render().to_string();
    let redacted = output::redacted(&text);
    if redacted == text {
        let _ = error.print();
    } else {
        Output {
            format: Format::Text,
        }
        .message(redacted.trim_end());
    }
    if !error.use_stderr() {
        return exit_code::SUCCESS;
    }
    if std::env::args_os().any(|argument| argument == "--json") {
        let message = text.trim_start_matches("error: ").trim_end();
        Output {
            format: Format::Json,
        }
        .error_object(&CliError::usage(message));
    }
    exit_code::USAGE
}
