//! `autocomp report`: what happened in runs, as one file to keep and to pass on.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::run_errors::run_error;
use crate::written_file::write_text;
use autocomp_reports::{ReportFormat, RunData, report};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Write a report of a run, or of several side by side
///
/// The page stands by itself: it loads nothing and runs no script.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run folders
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// File to write; `-` for standard output [default: report.html in the run folder, or in the
    /// current one for several runs]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Form of the report [default: by the end of the file's name, or html]
    #[arg(long)]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A page
    Html,
    /// Text with tables
    Md,
    /// Everything as one object
    Json,
    /// One row for each kernel
    Csv,
}

impl Format {
    fn to_report(self) -> (&'static str, ReportFormat) {
        match self {
            Self::Html => ("html", ReportFormat::Html),
            Self::Md => ("md", ReportFormat::Markdown),
            Self::Json => ("json", ReportFormat::Json),
            Self::Csv => ("csv", ReportFormat::Csv),
        }
    }
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Written {
    report: PathBuf,
    format: &'static str,
    bytes: usize,
    runs: Vec<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let (name, format) = chosen_format(arguments)?;
    let runs = open(&arguments.runs)?;
    let text = report(&runs, format).map_err(CliError::internal)?;
    if arguments.out.as_deref() == Some(Path::new("-")) {
        output.file(&text)?;
        return Ok(exit_code::SUCCESS);
    }
    let path = arguments.out.clone().unwrap_or_else(|| {
        let file = format!("report.{name}");
        match arguments.runs.as_slice() {
            [run] => run.join(file),
            _ => PathBuf::from(file),
        }
    });
    write_text(&path, &text)?;
    let written = Written {
        report: std::path::absolute(&path).unwrap_or_else(|_| path.clone()),
        format: name,
        bytes: text.len(),
        runs: arguments.runs.clone(),
    };
    output.result(&written, || format!("the report is in {}", path.display()))?;
    Ok(exit_code::SUCCESS)
}

/// Reads runs.
fn open(folders: &[PathBuf]) -> Result<Vec<RunData>, CliError> {
    let open =
        |folder: &PathBuf| RunData::open_with_history(folder).map_err(|error| run_error(&error));
    folders.iter().map(open).collect()
}

fn chosen_format(arguments: &Arguments) -> Result<(&'static str, ReportFormat), CliError> {
    if let Some(format) = arguments.format {
        return Ok(format.to_report());
    }
    let Some(out) = arguments
        .out
        .as_deref()
        .filter(|out| *out != Path::new("-"))
    else {
        return Ok(Format::Html.to_report());
    };
    let end = out
        .extension()
        .map(|end| end.to_string_lossy().to_lowercase());
    let named = |name: &&(&'static str, ReportFormat)| Some(name.0) == end.as_deref();
    ReportFormat::ALL
        .iter()
        .find(named)
        .copied()
        .ok_or_else(|| {
            CliError::usage(format!(
                "{} does not end like a report: .html, .md, .json or .csv",
                out.display()
            ))
            .hint("rename it, or say which form is wanted with `--format`")
        })
}
