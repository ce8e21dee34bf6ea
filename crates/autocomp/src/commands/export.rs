//! `autocomp export`: all kernels of runs as a table for other programs.

use super::report::{open, write};
use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use autocomp_reports::{csv, json_lines};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;

/// Write all kernels of runs as a table for other programs
///
/// CSV has one row for each kernel; JSON Lines has one object for each, with plan, code and
/// evaluation.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run folders
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Form of the table
    #[arg(long, value_name = "FORMAT", default_value = "csv")]
    to: Format,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Comma-separated values with a header
    Csv,
    /// JSON Lines
    Jsonl,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Exported {
    kernels: usize,
    file: Option<PathBuf>,
    /// The table, if it goes into no file.
    table: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let runs = open(&arguments.runs)?;
    let table = match arguments.to {
        Format::Csv => csv(&runs),
        Format::Jsonl => json_lines(&runs),
    };
    let kernels = runs.iter().map(|run| run.kernels.len()).sum();
    let Some(path) = &arguments.out else {
        let report = Exported {
            kernels,
            file: None,
            table: Some(table.clone()),
        };
        output.exact_result(&report, || table)?;
        return Ok(exit_code::SUCCESS);
    };
    write(path, &table)?;
    let report = Exported {
        kernels,
        file: Some(std::path::absolute(path).unwrap_or_else(|_| path.clone())),
        table: None,
    };
    output.result(&report, || {
        format!("{kernels} kernels are in {}", path.display())
    })?;
    Ok(exit_code::SUCCESS)
}
