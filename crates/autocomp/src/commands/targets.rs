//! `autocomp targets`: what kernels can be written for.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_core::Unit;
use autocomp_eval::text;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;

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
    family: String,
    language: String,
    machines: Vec<String>,
    default_machine: String,
    /// What the file of the default machine says, by `section.name`; in the list of targets
    /// empty.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
    /// Multiply-accumulate steps per unit of cost; null where it is measured.
    peak_macs: Option<f64>,
    /// What kernels cost; null where it is measured.
    unit: Option<Unit>,
    /// The same as `peak_macs` if the unit is cycles.
    peak_macs_per_cycle: Option<f64>,
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
        let mut report = report(&workplace, &problems_by_target(&workplace), name)?;
        report.parameters = parameters(target.machine(None).unwrap_or_default());
        output.result(&report, || {
            let mut out = format!("{}: {}\n", report.name, report.description);
            out += &format!(
                "machines: {} (default {})\n",
                report.machines.join(", "),
                report.default_machine
            );
            if let (Some(peak), Some(unit)) = (report.peak_macs, report.unit) {
                out += &match unit {
                    Unit::Cycles => format!("peak: {peak} multiply-accumulate steps per cycle\n"),
                    Unit::Nanoseconds => format!("peak: {peak} multiply-accumulate steps per ns\n"),
                };
            }
            out += &format!(
                "family {}, kernels in {}\n\nmenu:\n",
                report.family, report.language
            );
            let rows: Vec<Vec<String>> = target
                .menu
                .iter()
                .map(|item| vec![format!("  {}", item.id), item.text.clone()])
                .collect();
            out += &text::table(&rows, &[]);
            out += &format!("\nmachine {}:\n", report.default_machine);
            let rows: Vec<Vec<String>> = report
                .parameters
                .iter()
                .map(|(name, value)| vec![format!("  {name}"), value.clone()])
                .collect();
            out += &text::table(&rows, &[]);
            out += &format!("\nproblems:\n  {}\n", report.problems.join("\n  "));
            out
        })?;
        return Ok(exit_code::SUCCESS);
    }
    let problems = problems_by_target(&workplace);
    let names: Vec<String> = workplace
        .catalog
        .target_names()
        .map(str::to_owned)
        .collect();
    let targets = names
        .iter()
        .map(|name| report(&workplace, &problems, name))
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

/// Returns what a machine's file says, by `section.name`. A file that cannot be read says
/// nothing here: whoever evaluates on the machine names what is wrong with it.
fn parameters(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let Ok(table) = text.parse::<toml::Table>() else {
        return found;
    };
    let mut open: Vec<(String, toml::Table)> = vec![(String::new(), table)];
    while let Some((prefix, table)) = open.pop() {
        for (name, value) in table {
            match value {
                toml::Value::Table(inner) => open.push((format!("{prefix}{name}."), inner)),
                toml::Value::String(text) => {
                    found.insert(format!("{prefix}{name}"), text);
                }
                other => {
                    found.insert(format!("{prefix}{name}"), other.to_string());
                }
            }
        }
    }
    found
}

/// Returns the names of the problems of each target. A broken problem of the user's must not hide
/// the targets.
fn problems_by_target(workplace: &Workplace) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in workplace.catalog.problem_names() {
        let problem = workplace.catalog.problem(name);
        for target in problem.map(|it| it.targets).unwrap_or_default() {
            found.entry(target).or_default().push(name.to_owned());
        }
    }
    found
}

fn report(
    workplace: &Workplace,
    problems: &BTreeMap<String, Vec<String>>,
    name: &str,
) -> Result<TargetReport, CliError> {
    let target = workplace.target(name)?;
    Ok(TargetReport {
        name: target.name,
        description: target.description,
        family: target.family,
        language: target.language,
        machines: target.machines.keys().cloned().collect(),
        default_machine: target.default_machine,
        parameters: BTreeMap::new(),
        peak_macs: target.roofline.map(|it| it.peak_macs),
        unit: target.roofline.map(|it| it.unit),
        peak_macs_per_cycle: target
            .roofline
            .filter(|it| it.unit == Unit::Cycles)
            .map(|it| it.peak_macs),
        menu: target.menu.iter().map(|item| item.id.clone()).collect(),
        problems: problems.get(name).cloned().unwrap_or_default(),
        content_hash: target.content_hash.to_string(),
    })
}
