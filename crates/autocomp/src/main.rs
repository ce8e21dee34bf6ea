//! The `autocomp` command: makes kernels for tensor accelerators faster,
//! automatically, and proves it.
//!
//! This crate is the only one that prints, reads the environment and knows
//! exit codes. One command is one file in `commands/` plus one line in
//! `commands/mod.rs`.

mod bench_report;
mod commands;
mod error;
mod evaluation_text;
mod exit_code;
mod given_file;
mod measuring;
mod model_usage;
mod open_files;
mod output;
mod progress;
mod proposing;
mod registry;
mod run_errors;
mod settings;
mod workplace;

use clap::Parser;
use error::CliError;
use output::{Format, Output};
use std::process::ExitCode;

/// Makes kernels for tensor accelerators faster, automatically, and proves it
#[derive(Debug, Parser)]
#[command(
    name = "autocomp",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
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

#[cfg(test)]
mod tests {
    use super::Arguments;
    use clap::Parser;
    use clap::error::ErrorKind;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn documents() -> Vec<(PathBuf, String)> {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let docs = fs::read_dir(root.join("docs")).unwrap();
        let mut files: Vec<PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
        files.extend(["README.md", "CHANGELOG.md"].map(|name| root.join(name)));
        let text = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap());
        files.into_iter().map(text).collect()
    }

    /// Returns the command lines in a document: code within lines and lines of code.
    fn command_lines(text: &str) -> Vec<String> {
        let spans = text.split('`').skip(1).step_by(2);
        let starts = ["autocomp ", "cargo run --release -- "];
        let lines = spans.chain(text.lines()).filter_map(|line| {
            let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
            let end = rest.find(['#', '>', '|', '\n']).unwrap_or(rest.len());
            Some(rest[..end].trim().to_owned())
        });
        // Sentences that begin with the name go on with a small word.
        lines
            .filter(|line| !line.ends_with('.') && !line.is_empty())
            .collect()
    }

    #[test]
    fn command_lines_of_the_documents_are_understood() {
        let mut n_lines = 0;
        for (path, text) in documents() {
            for line in command_lines(&text) {
                n_lines += 1;
                // The one placeholder whose values are listed.
                let is_question = line.starts_with("ask ");
                let line = line.replace("PHASE", if is_question { "menu" } else { "plan" });
                let words = || ["autocomp"].into_iter().chain(line.split(' '));
                let Err(error) = Arguments::try_parse_from(words()) else {
                    continue;
                };
                // A command that is only named needs no more than to be there.
                let is_named = error.kind() == ErrorKind::MissingRequiredArgument
                    || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
                let help = Arguments::try_parse_from(words().chain(["--help"]));
                let is_there = help.is_err_and(|it| it.kind() == ErrorKind::DisplayHelp);
                assert!(
                    is_named && is_there,
                    "{}: autocomp {line}\n{error}",
                    path.display()
                );
            }
        }
        assert!(30 < n_lines, "{n_lines}");
    }
}
