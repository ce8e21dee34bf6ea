//! `autocomp problems`: what can be optimized.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_catalog::Problem;
use autocomp_eval::text;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;

/// List the problems, or show one
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the problem to show, or a folder
    problem: Option<String>,
    /// Print the source of one of its kernels (`baseline`) or of the `reference`
    #[arg(long, value_name = "NAME", requires = "problem")]
    kernel: Option<String>,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

#[derive(Serialize)]
struct ProblemReport {
    name: String,
    /// The target taken on this machine.
    target: String,
    /// All targets that its kernels can be written for.
    targets: Vec<String>,
    family: String,
    language: String,
    description: String,
    signature: String,
    /// What kernels get beside buffers.
    arguments: BTreeMap<String, String>,
    macs: u64,
    bytes: u64,
    input_sets: Vec<String>,
    kernels: Vec<String>,
    content_hash: String,
}

#[derive(Serialize)]
struct ProblemsReport {
    problems: Vec<ProblemReport>,
}

#[derive(Serialize)]
struct KernelReport<'a> {
    problem: &'a str,
    kernel: &'a str,
    source: &'a str,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let Some(name) = &arguments.problem else {
        let names: Vec<String> = workplace
            .catalog
            .problem_names()
            .map(str::to_owned)
            .collect();
        let mut problems = Vec::new();
        for name in &names {
            let problem = workplace.problem(name)?;
            problems.push(report(&workplace, problem)?);
        }
        let report = ProblemsReport { problems };
        output.result(&report, || {
            let rows: Vec<Vec<String>> = report
                .problems
                .iter()
                .map(|problem| {
                    vec![
                        problem.name.clone(),
                        problem.target.clone(),
                        text::grouped(problem.macs),
                        "MACs".to_owned(),
                        problem.kernels.join(", "),
                    ]
                })
                .collect();
            text::table(&rows, &[2])
        })?;
        return Ok(exit_code::SUCCESS);
    };
    let problem = workplace.problem(name)?;
    if let Some(kernel) = &arguments.kernel {
        let source = if kernel == "reference" {
            &problem.reference
        } else {
            problem
                .kernel(kernel)
                .map_err(crate::workplace::catalog_error)?
        };
        output.exact_result(
            &KernelReport {
                problem: &problem.name,
                kernel,
                source,
            },
            || source.to_owned(),
        )?;
        return Ok(exit_code::SUCCESS);
    }
    let report = report(&workplace, problem)?;
    output.result(&report, || {
        let values = report.arguments.iter();
        let values: Vec<String> = values
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let arguments = match values.as_slice() {
            [] => String::new(),
            values => format!("arguments: {}\n", values.join(", ")),
        };
        format!(
            "{}: {}\ntarget: {}\nsignature: {}\n{arguments}work: {} MACs, {} bytes at least\ninput sets: {}\nkernels: {}\n",
            report.name,
            report.description,
            report.target,
            report.signature,
            text::grouped(report.macs),
            text::grouped(report.bytes),
            report.input_sets.join(", "),
            match report.kernels.as_slice() {
                [] => "none".to_owned(),
                kernels => kernels.join(", "),
            },
        )
    })?;
    Ok(exit_code::SUCCESS)
}

fn report(workplace: &Workplace, problem: Problem) -> Result<ProblemReport, CliError> {
    let target = workplace.target_of(&problem)?;
    Ok(ProblemReport {
        name: problem.name,
        target: target.name,
        targets: problem.targets,
        family: target.family,
        language: target.language,
        description: problem.description,
        arguments: problem
            .arguments
            .iter()
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect(),
        signature: problem.signature,
        macs: problem.work.macs,
        bytes: problem.work.bytes,
        input_sets: problem.input_sets.into_iter().map(|set| set.name).collect(),
        kernels: problem.kernels.into_keys().collect(),
        content_hash: problem.content_hash.to_string(),
    })
}
