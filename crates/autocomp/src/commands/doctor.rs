//! `autocomp doctor`: what works on this machine, and how to mend the rest.

use crate::error::CliError;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::registry;
use crate::run_errors::eval_error;
use crate::workplace::{Workplace, WorkplaceOptions};
use autocomp_core::Outcome;
use autocomp_eval::Evaluator as _;
use autocomp_eval::Finding;
use autocomp_sandbox::{Limits, ProcessRule, SandboxPolicy};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Check what works on this machine
///
/// Exits with 0 if everything needed works, and with 1 otherwise.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

#[derive(Serialize)]
struct DoctorReport {
    healthy: bool,
    checks: Vec<Check>,
}

#[derive(Serialize)]
struct Check {
    name: String,
    ok: bool,
    detail: String,
    remedies: Vec<String>,
}

impl Check {
    /// Makes the check of something that no family owns.
    fn new(name: &str, result: Result<String, CliError>) -> Self {
        match result {
            Ok(detail) => Self {
                name: name.to_owned(),
                ok: true,
                detail,
                remedies: Vec::new(),
            },
            Err(error) => Self {
                name: name.to_owned(),
                ok: false,
                detail: error.message,
                remedies: error.hints,
            },
        }
    }

    /// Makes the check of something that a family needs.
    fn of(family: &str, name: &str, result: Result<String, CliError>) -> Self {
        Self::new(&format!("{family}: {name}"), result)
    }

    /// Passes on what a family found by itself.
    fn found(family: &str, finding: Finding) -> Self {
        Self {
            name: format!("{family}: {}", finding.name),
            ok: finding.ok,
            detail: finding.detail,
            remedies: finding.remedies,
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let mut checks = vec![
        Check::new("catalog", catalog(&mut workplace)),
        Check::new("cache", cache(&workplace)),
    ];
    checks.push(Check::new("sandbox", sandbox()));
    let settings = evaluator_settings(false);
    for family in registry::families() {
        let name = family.name();
        checks.extend(
            family
                .examine(&workplace.surroundings())
                .into_iter()
                .map(|finding| Check::found(name, finding)),
        );
        match Bench::open(
            &mut workplace,
            family.probe(),
            None,
            settings.clone(),
            output,
        ) {
            Err(error) => checks.push(Check::of(name, "compiler", Err(error))),
            Ok(bench) => {
                checks.push(Check::of(name, "compiler", Ok(bench.compiler.clone())));
                checks.push(Check::of(name, "evaluation", evaluation(&bench)));
            }
        }
    }
    let report = DoctorReport {
        healthy: checks.iter().all(|check| check.ok),
        checks,
    };
    output.result(&report, || {
        let mut out = String::new();
        for check in &report.checks {
            out += &format!(
                "{} {}: {}\n",
                if check.ok { "ok  " } else { "FAIL" },
                check.name,
                check.detail
            );
            for remedy in &check.remedies {
                out += &format!("       hint: {remedy}\n");
            }
        }
        out
    })?;
    Ok(if report.healthy {
        exit_code::SUCCESS
    } else {
        exit_code::NEGATIVE
    })
}

fn catalog(workplace: &mut Workplace) -> Result<String, CliError> {
    let names: Vec<String> = workplace
        .catalog
        .problem_names()
        .map(str::to_owned)
        .collect();
    for name in &names {
        workplace.problem(name)?;
    }
    let targets: Vec<String> = workplace
        .catalog
        .target_names()
        .map(str::to_owned)
        .collect();
    for name in &targets {
        let target = workplace.target(name)?;
        registry::family(&target)?
            .check_target(&target)
            .map_err(|error| eval_error(&error))?;
    }
    Ok(format!(
        "{} problems for {} targets",
        names.len(),
        targets.len()
    ))
}

fn cache(workplace: &Workplace) -> Result<String, CliError> {
    workplace.check_cache()?;
    Ok(workplace.cache_folder.display().to_string())
}

fn sandbox() -> Result<String, CliError> {
    let policy = SandboxPolicy {
        working_folder: PathBuf::from("/"),
        readable: vec![PathBuf::from("/")],
        executable: vec![PathBuf::from("/")],
        writable: Vec::new(),
        environment: Vec::new(),
        limits: Limits {
            wall: Duration::from_secs(10),
            cpu_seconds: 10,
            address_space_bytes: 1 << 32,
            file_bytes: 1 << 20,
            output_bytes: 1 << 10,
            open_files: 64,
            processes: ProcessRule::Single,
        },
    };
    let report = autocomp_sandbox::run::<&str>(&policy, Path::new("/bin/true"), &[], b"");
    let report = report.map_err(|error| {
        let here = CliError::environment(error);
        if autocomp_sandbox::IS_AVAILABLE {
            here
        } else {
            here.hint(autocomp_sandbox::ELSEWHERE)
        }
    })?;
    let enforcement = report.enforcement;
    let files = enforcement.landlock_abi.map_or_else(
        || "files are NOT confined (this kernel has no Landlock)".to_owned(),
        |abi| format!("files confined by Landlock {abi}"),
    );
    let calls = if enforcement.seccomp {
        "system calls filtered"
    } else {
        "system calls NOT filtered"
    };
    let limits = if enforcement.resource_limits {
        "limits set"
    } else {
        "limits NOT set"
    };
    Ok(format!("{files}, {calls}, {limits}"))
}

fn evaluation(bench: &Bench) -> Result<String, CliError> {
    let source = bench
        .problem
        .kernel("baseline")
        .map_err(crate::workplace::catalog_error)?;
    let evaluation = bench
        .evaluator
        .evaluate(source)
        .map_err(|error| eval_error(&error))?;
    if evaluation.outcome != Outcome::Ok {
        let text = crate::evaluation_text::evaluation_text(&evaluation, crate::output::PROSE);
        return Err(CliError::internal(format!(
            "the baseline of {} is not ok:\n{text}",
            bench.problem.name
        )));
    }
    let tiers: Vec<String> = evaluation
        .tiers
        .iter()
        .map(|tier| format!("{} {:.0} ms", tier.tier, tier.wall_ns.0 as f64 / 1e6))
        .collect();
    Ok(format!(
        "the baseline of {} is ok by {} ({})",
        bench.problem.name,
        bench.facts.engine,
        tiers.join(", ")
    ))
}
