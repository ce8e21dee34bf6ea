//! `autocomp import kernelbench`: tasks of KernelBench, and how kernels for them did.

use super::import::import_error;
use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::written_file::write_bytes;
use autocomp_imports::kernelbench::{Score, Task, read_kernelbench, score};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Import the tasks of KernelBench, levels 1 to 3
///
/// Each becomes a folder with its text, reference.py, and a record, task.toml: what `forward` is
/// given, and whether the task is known to be faulty. Nothing of it is executed. Kernels for the
/// tasks (`ModelNew`) run where PyTorch with a GPU is; with --results, what KernelBench has
/// measured of them there is told: shares of all tasks that are right and faster, and the
/// geometric mean of the right ones.
#[derive(Debug, Args)]
pub struct Arguments {
    /// A checkout of KernelBench
    folder: PathBuf,
    /// Folder for the records; must be absent or empty
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Results of kernels for one level, as KernelBench writes them (eval_results.json)
    #[arg(long, value_name = "FILE", requires = "baselines", requires = "level")]
    results: Option<PathBuf>,
    /// Times of the tasks on the same GPU, as KernelBench writes them (baseline_time_torch.json)
    #[arg(long, value_name = "FILE", requires = "results")]
    baselines: Option<PathBuf>,
    /// The level of the results
    #[arg(long, value_name = "N", requires = "results", value_parser = clap::value_parser!(u32).range(1..=3))]
    level: Option<u32>,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Report {
    commit: Option<String>,
    tasks: usize,
    /// Tasks whose inputs are known from their text.
    with_inputs: usize,
    /// Tasks that are known to be faulty, and why.
    faulty: BTreeMap<String, String>,
    /// Where the records are.
    out: Option<PathBuf>,
    score: Option<Score>,
    /// What does not map, one line each.
    unmapped: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let found = read_kernelbench(&arguments.folder).map_err(import_error)?;
    let scored = match (&arguments.results, &arguments.baselines, arguments.level) {
        (Some(results), Some(baselines), Some(level)) => {
            Some(score(&found.tasks, level, results, baselines).map_err(import_error)?)
        }
        _ => None,
    };
    if let Some(out) = &arguments.out {
        write(&found.tasks, found.commit.as_deref(), out)?;
    }
    let name = |it: &Task| format!("level{}/{}", it.level, it.name);
    let faulty = found
        .tasks
        .iter()
        .filter_map(|it| Some((name(it), it.fault?.to_owned())));
    let mut unmapped = found.unmapped;
    unmapped.extend(scored.iter().flat_map(|it| it.unmapped.clone()));
    let report = Report {
        commit: found.commit,
        tasks: found.tasks.len(),
        with_inputs: found.tasks.iter().filter(|it| it.inputs.is_ok()).count(),
        faulty: faulty.collect(),
        out: arguments.out.clone(),
        score: scored,
        unmapped,
    };
    output.result(&report, || text(&report))?;
    Ok(exit_code::SUCCESS)
}

/// Writes the records.
fn write(tasks: &[Task], commit: Option<&str>, out: &std::path::Path) -> Result<(), CliError> {
    let is_vacant = std::fs::read_dir(out).map_or(true, |mut entries| entries.next().is_none());
    if !is_vacant {
        return Err(CliError::usage(format!("{} is not empty", out.display()))
            .hint("name another folder with `--out`"));
    }
    for task in tasks {
        let folder = out.join(task.folder());
        std::fs::create_dir_all(&folder).map_err(|error| {
            CliError::environment(format!("failed to make {}: {error}", folder.display()))
        })?;
        write_bytes(&folder.join("reference.py"), task.source.as_bytes())?;
        write_bytes(&folder.join("task.toml"), task.record(commit).as_bytes())?;
    }
    Ok(())
}

fn text(report: &Report) -> String {
    let mut out = format!(
        "{} tasks, of {} of which the inputs are known\n",
        report.tasks, report.with_inputs
    );
    if let Some(folder) = &report.out {
        out += &format!("records      {}\n", folder.display());
    }
    if let Some(score) = &report.score {
        let groups = [
            ("all tasks", &score.all),
            ("without faulty", &score.without_faulty),
        ];
        out += &format!("level {}\n", score.level);
        for (name, group) in groups {
            let fast = group
                .fast
                .iter()
                .map(|(times, share)| format!("fast_{times} {share:.3}"));
            let geomean = group.geomean.map_or_else(
                || "no kernel is right".to_owned(),
                |it| format!("{it:.2}x over the {} right ones", group.right),
            );
            out += &format!(
                "  {name:<15}{} of {} tasks; geomean {geomean}\n",
                fast.collect::<Vec<_>>().join(", "),
                group.tasks
            );
        }
        if !score.doubtful.is_empty() {
            out += &format!(
                "  more than 10 times as fast, to be looked at: {:?}\n",
                score.doubtful
            );
        }
    }
    if !report.faulty.is_empty() {
        out += "faulty: the output does not depend on the input\n";
        for (name, why) in &report.faulty {
            out += &format!("  - {name}: {why}\n");
        }
    }
    if !report.unmapped.is_empty() {
        out += "not taken over:\n";
        for line in &report.unmapped {
            out += &format!("  - {line}\n");
        }
    }
    out
}
