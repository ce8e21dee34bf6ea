//! `autocomp export`: runs for other programs.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::run_errors::run_error;
use crate::written_file::{write_bytes, write_text};
use autocomp_reports::{RunData, csv, json_lines, parquet, spans, write_mlflow};
use autocomp_runner::RunView;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Write runs in forms that other programs read
///
/// CSV and Parquet have one row for each kernel; JSON Lines has one object for each, with plan,
/// code and evaluation.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run folders
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Form to write
    #[arg(long, alias = "format", value_name = "FORMAT", default_value = "csv")]
    to: Format,
    /// File to write [default: standard output]; for MLflow, the folder of its file store
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Comma-separated values with a header
    Csv,
    /// JSON Lines
    Jsonl,
    /// Apache Parquet
    Parquet,
    /// The file store of MLflow
    Mlflow,
    /// Spans of OpenTelemetry, one line of OTLP as JSON for each run
    Otlp,
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
    let mut views = Vec::new();
    for folder in &arguments.runs {
        views.push(RunView::open(folder).map_err(|error| run_error(&error))?);
    }
    let runs: Vec<RunData> = views.iter().map(RunData::of).collect();
    let kernels = runs.iter().map(|run| run.kernels.len()).sum();
    let told = |path: &Path| {
        let report = Exported {
            kernels,
            file: Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned())),
            table: None,
        };
        output.result(&report, || {
            format!("{kernels} kernels are in {}", path.display())
        })
    };
    let needs_out = |what: &str| {
        CliError::usage(format!("{what} is not printed")).hint("say where with `--out`")
    };
    let table = match arguments.to {
        Format::Csv => csv(&runs),
        Format::Jsonl => json_lines(&runs),
        Format::Otlp => views.iter().map(spans).collect(),
        Format::Parquet => {
            let path = arguments.out.as_ref();
            let path = path.ok_or_else(|| needs_out("a Parquet file"))?;
            write_bytes(path, &parquet(&runs))?;
            told(path)?;
            return Ok(exit_code::SUCCESS);
        }
        Format::Mlflow => {
            let path = arguments.out.as_ref();
            let path = path.ok_or_else(|| needs_out("a file store"))?;
            write_mlflow(&runs, path).map_err(|error| not_written(path, &error))?;
            told(path)?;
            return Ok(exit_code::SUCCESS);
        }
    };
    let Some(path) = &arguments.out else {
        let report = Exported {
            kernels,
            file: None,
            table: Some(table.clone()),
        };
        output.exact_result(&report, || table)?;
        return Ok(exit_code::SUCCESS);
    };
    write_text(path, &table)?;
    told(path)?;
    Ok(exit_code::SUCCESS)
}

fn not_written(path: &Path, error: &std::io::Error) -> CliError {
    CliError::environment(format!("failed to write {}: {error}", path.display()))
        .hint("name a place that exists and can be written to with `--out`")
}
