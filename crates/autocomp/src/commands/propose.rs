//! `autocomp propose`: what the rewriter would do with a kernel.

use super::eval::kernel_source;
use crate::error::CliError;
use crate::exit_code;
use crate::output::{NAME, Output};
use crate::proposing::{no_rewriter, rewriter_for};
use crate::registry;
use crate::workplace::{Workplace, WorkplaceOptions, catalog_error};
use crate::written_file::write_bytes;
use autocomp_core::{MenuItem, NotUnderstood, PlanChoice, RewriteError, Rewriter, Scope};
use autocomp_eval::text;
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Propose changes to a kernel by the rewriter, without any model
///
/// Nothing is evaluated: drafts may be wrong or slower, which `eval` tells. Exits with 1 if
/// nothing applies.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Problem, by name or folder
    problem: String,
    /// Kernel: a file, or the name of one of the problem's kernels
    #[arg(long, default_value = "baseline", value_name = "FILE")]
    kernel: String,
    /// Target to write for, if the problem has several [default: the one that fits this machine]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
    /// Machine to write for [default: the target's]
    #[arg(long)]
    machine: Option<String>,
    /// Proposals at most, the most promising first
    #[arg(long, value_name = "N", default_value_t = 6)]
    count: u32,
    /// Folder for the drafts, one file each [default: they are printed]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct ProposeReport {
    problem: String,
    target: String,
    machine: String,
    kernel: String,
    proposals: Vec<ProposalReport>,
    /// Why there are no more.
    reason: Option<String>,
    /// Lines of the kernel that the rewriter leaves as they are.
    not_understood: Vec<NotUnderstood>,
}

#[derive(Serialize)]
struct ProposalReport {
    menu_item: String,
    plan: String,
    /// Where the draft was written, if it was.
    file: Option<PathBuf>,
    /// The draft, if it was not written.
    source: Option<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    workplace.prefer_target(arguments.target.as_deref());
    let problem = workplace.problem(&arguments.problem)?;
    let kernel = kernel_source(&problem, &arguments.kernel)?;
    let target = workplace.target_of(&problem)?;
    let machine = arguments.machine.as_deref();
    let machine = machine.unwrap_or(&target.default_machine);
    target.machine(Some(machine)).map_err(catalog_error)?;
    let rewriter = rewriter_for(&problem, &target, machine)?;
    let rewriter = rewriter.ok_or_else(|| no_rewriter(&target))?;
    let menu = target.menu_for(&problem).into_iter();
    let menu: Vec<MenuItem> = menu.filter(|item| item.scope == Scope::Step).collect();
    let (drafts, reason) = drafts(&*rewriter, &kernel, &menu, arguments.count);
    let extension = registry::language(&target)?.extension();
    let mut proposals = Vec::new();
    for (number, draft) in drafts.into_iter().enumerate() {
        let name = format!("p{number}-{}.{extension}", draft.menu_item);
        proposals.push(draft.reported(arguments.out.as_deref(), &name)?);
    }
    let report = ProposeReport {
        problem: problem.name,
        machine: machine.to_owned(),
        target: target.name,
        kernel: arguments.kernel.clone(),
        proposals,
        reason: reason.map(|it| it.to_string()),
        not_understood: rewriter.not_understood(&kernel),
    };
    output.result(&report, || report_text(&report, output))?;
    Ok(match report.proposals.is_empty() {
        true => exit_code::NEGATIVE,
        false => exit_code::SUCCESS,
    })
}

/// A change that can be made, and what comes of it.
struct Draft {
    menu_item: String,
    plan: String,
    source: String,
}

impl Draft {
    fn reported(self, folder: Option<&Path>, name: &str) -> Result<ProposalReport, CliError> {
        let file = folder.map(|folder| folder.join(name));
        if let (Some(folder), Some(file)) = (folder, &file) {
            std::fs::create_dir_all(folder).map_err(|error| {
                CliError::environment(format!(
                    "the folder {} cannot be made: {error}",
                    folder.display()
                ))
                .hint("name a folder that can be written with `--out`")
            })?;
            write_bytes(file, self.source.as_bytes())?;
        }
        Ok(ProposalReport {
            menu_item: self.menu_item,
            plan: self.plan,
            source: file.is_none().then_some(self.source),
            file,
        })
    }
}

/// Returns up to `count` different drafts, and why there are no more.
fn drafts(
    rewriter: &dyn Rewriter,
    kernel: &str,
    menu: &[MenuItem],
    count: u32,
) -> (Vec<Draft>, Option<RewriteError>) {
    let mut drafts: Vec<Draft> = Vec::new();
    let mut plan = 0;
    // Several plans may come to the same text.
    while drafts.len() < count as usize && plan < count.saturating_mul(4) {
        let choice = PlanChoice {
            menu,
            iteration: 1,
            place: 0,
            plan,
            earlier: &[],
        };
        plan += 1;
        let made = match rewriter.plan(kernel, choice) {
            Ok(made) => made,
            Err(error) => return (drafts, Some(error)),
        };
        let source = rewriter.implement(kernel, &made.payload, 0);
        // A plan that cannot be carried out is no proposal.
        let Ok(source) = source else { continue };
        if source != kernel && drafts.iter().all(|it| it.source != source) {
            drafts.push(Draft {
                menu_item: made.menu_item,
                plan: made.text,
                source,
            });
        }
    }
    (drafts, None)
}

fn report_text(report: &ProposeReport, output: Output) -> String {
    let mut out = String::new();
    for (number, proposal) in report.proposals.iter().enumerate() {
        let item = NAME.paint(&proposal.menu_item, output.is_coloured());
        out += &format!("p{number}  {item}");
        if let Some(file) = &proposal.file {
            out += &format!("  {}", file.display());
        }
        out.push('\n');
        out += &text::wrapped(&proposal.plan, output.prose_width(), "    ");
        if let Some(source) = &proposal.source {
            out += &format!("\n{source}\n");
        }
    }
    if let Some(reason) = &report.reason {
        out += &match report.proposals.is_empty() {
            true => format!("nothing to propose: {reason}\n"),
            false => format!("no more: {reason}\n"),
        };
    }
    if let Some(first) = report.not_understood.first() {
        out += &format!(
            "{} lines are not understood, the first of them line {}: {}\n",
            report.not_understood.len(),
            first.line,
            first.reason
        );
    }
    out
}
