//! `autocomp targets`: what kernels can be written for.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::text;
use crate::workplace::{Workplace, WorkplaceOptions};
use clap::Args;
use serde::Serialize;

/// List the targets, or show one
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the target to show
    target: Option<String>,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

#[derive(Serialize)]
struct TargetReport {
    name: String,
    description: String,
    language: String,
    machines: Vec<String>,
    default_machine: String,
    peak_macs_per_cycle: f64,
    menu: Vec<String>,
    problems: Vec<String>,
    content_hash: String,
}

#[derive(Serialize)]
struct TargetsReport {
    targets: Vec<TargetReport>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let workplace = Workplace::open(&arguments.workplace)?;
    if let Some(name) = &arguments.target {
        let target = workplace.target(name)?;
        let report = report(&workplace, name)?;
        output.result(&report, || {
            let mut out = format!("{}: {}\n", report.name, report.description);
            out += &format!(
                "machines: {} (default {})\n",
                report.machines.join(", "),
                report.default_machine
            );
            out += &format!(
                "peak: {} multiply-accumulate steps per cycle\n\nmenu:\n",
                report.peak_macs_per_cycle
            );
            let rows: Vec<Vec<String>> = target
                .menu
                .iter()
                .map(|item| vec![format!("  {}", item.id), item.text.clone()])
                .collect();
            out += &text::table(&rows, &[]);
            out += &format!("\nproblems:\n  {}\n", report.problems.join("\n  "));
            out
        })?;
        return Ok(exit_code::SUCCESS);
    }
    let names: Vec<String> = workplace
        .catalog
        .target_names()
        .map(str::to_owned)
        .collect();
    let targets = names
        .iter()
        .map(|name| report(&workplace, name))
        .collect::<Result<_, _>>()?;
    let report = TargetsReport { targets };
    output.result(&report, || {
        let rows: Vec<Vec<String>> = report
            .targets
            .iter()
            .map(|target| {
                vec![
                    target.name.clone(),
                    format!("{} problems", target.problems.len()),
                    target.description.clone(),
                ]
            })
            .collect();
        text::table(&rows, &[])
    })?;
    Ok(exit_code::SUCCESS)
}

fn report(workplace: &Workplace, name: &str) -> Result<TargetReport, CliError> {
    let target = workplace.target(name)?;
    let mut problems = Vec::new();
    for problem in workplace.catalog.problem_names() {
        // A broken problem of the user's must not hide the targets.
        if workplace
            .catalog
            .problem(problem)
            .is_ok_and(|problem| problem.target == name)
        {
            problems.push(problem.to_owned());
        }
    }
    Ok(TargetReport {
        name: target.name,
        description: target.description,
        language: target.language,
        machines: target.machines.keys().cloned().collect(),
        default_machine: target.default_machine,
        peak_macs_per_cycle: target.roofline.peak_macs_per_cycle,
        menu: target.menu.iter().map(|item| item.id.clone()).collect(),
        problems,
        content_hash: target.content_hash.to_string(),
    })
}
