//! `autocomp memory`: the lessons of earlier runs.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::remembering::default_memory;
use crate::run_errors::store_error;
use autocomp_core::Lesson;
use autocomp_eval::text;
use autocomp_reports::change::times;
use autocomp_store::Memory;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Look at what earlier runs have taught, correct it, or forget it
///
/// Runs with `--memory` put lessons into a file when they are finished, and are told of
/// those that fit when they start. The file has a JSON object on each line.
#[derive(Debug, Args)]
pub struct Arguments {
    /// File of lessons [default: `autocomp/memory.jsonl` in the folder for users' data]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Show or prune the lessons of this target only
    #[arg(long)]
    target: Option<String>,
    /// Change the lesson with this identifier, by `--plan` and `--finding`
    #[arg(long, value_name = "ID", conflicts_with_all = ["remove", "prune"])]
    edit: Option<String>,
    /// The change that the lesson is about, in words
    #[arg(long, value_name = "TEXT", requires = "edit")]
    plan: Option<String>,
    /// Why it failed, or what limits the result
    #[arg(long, value_name = "TEXT", requires = "edit")]
    finding: Option<String>,
    /// Forget the lesson with this identifier; may be repeated
    #[arg(long, value_name = "ID", conflicts_with = "prune")]
    remove: Vec<String>,
    /// Forget all but the newest lessons
    #[arg(long)]
    prune: bool,
    /// How many stay
    #[arg(long, value_name = "N", default_value_t = 0, requires = "prune")]
    keep: usize,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct MemoryReport {
    file: PathBuf,
    removed: usize,
    lessons: Vec<Lesson>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let file = match &arguments.file {
        Some(file) => file.clone(),
        None => default_memory()?,
    };
    let memory = Memory::new(&file);
    let is_wanted =
        |lesson: &Lesson| (arguments.target.as_ref()).is_none_or(|target| *target == lesson.target);
    let mut removed = 0;
    if let Some(id) = &arguments.edit {
        if arguments.plan.is_none() && arguments.finding.is_none() {
            return Err(
                CliError::usage("nothing is said that the lesson is to be changed to")
                    .hint("give `--plan` or `--finding`"),
            );
        }
        let is_found = memory.change(|lessons| {
            let Some(lesson) = lessons.iter_mut().find(|it| it.id == *id) else {
                return false;
            };
            if let Some(plan) = &arguments.plan {
                lesson.plan.clone_from(plan);
            }
            if let Some(finding) = &arguments.finding {
                lesson.finding.clone_from(finding);
            }
            true
        });
        if !is_found.map_err(|error| store_error(&error))? {
            return Err(unknown(id));
        }
    } else if !arguments.remove.is_empty() {
        let known = memory.read().map_err(|error| store_error(&error))?;
        for id in &arguments.remove {
            if known.iter().all(|it| it.id != *id) {
                return Err(unknown(id));
            }
        }
        removed = forget(&memory, |_, lesson| arguments.remove.contains(&lesson.id))?;
    } else if arguments.prune {
        let known = memory.read().map_err(|error| store_error(&error))?;
        let surplus = known.iter().filter(|it| is_wanted(it)).count();
        let surplus = surplus.saturating_sub(arguments.keep);
        let mut seen = 0;
        removed = forget(&memory, |_, lesson| {
            seen += usize::from(is_wanted(lesson));
            is_wanted(lesson) && seen <= surplus
        })?;
    }
    let mut lessons = memory.read().map_err(|error| store_error(&error))?;
    lessons.retain(is_wanted);
    let report = MemoryReport {
        file,
        removed,
        lessons,
    };
    output.result(&report, || report_text(&report))?;
    Ok(exit_code::SUCCESS)
}

/// Removes the lessons that `is_out` says, the oldest first, and returns how many.
fn forget(
    memory: &Memory,
    mut is_out: impl FnMut(usize, &Lesson) -> bool,
) -> Result<usize, CliError> {
    let removed = memory.change(|lessons| {
        let before = lessons.len();
        let mut idx = 0;
        lessons.retain(|lesson| {
            idx += 1;
            !is_out(idx - 1, lesson)
        });
        before - lessons.len()
    });
    removed.map_err(|error| store_error(&error))
}

fn unknown(id: &str) -> CliError {
    CliError::usage(format!("there is no lesson {id}"))
        .hint("`autocomp memory` lists the lessons with their identifiers")
}

fn report_text(report: &MemoryReport) -> String {
    let file = report.file.display();
    let forgotten = match report.removed {
        0 => String::new(),
        1 => "1 lesson forgotten\n".to_owned(),
        n => format!("{n} lessons forgotten\n"),
    };
    if report.lessons.is_empty() {
        return format!(
            "{file}\n{forgotten}no lessons; a run with `--memory` that is finished brings some\n"
        );
    }
    let mut rows = vec![
        ["lesson", "problem", "item", "result", "tries"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(report.lessons.iter().map(|it| {
        vec![
            it.id.clone(),
            it.problem.clone(),
            it.menu_item.clone(),
            result_text(it),
            it.attempts.to_string(),
        ]
    }));
    let mut out = format!("{file}\n{forgotten}\n{}", text::table(&rows, &[4]));
    for it in &report.lessons {
        out += &format!("\n{}  {}\n", it.id, it.plan);
        if !it.finding.is_empty() {
            out += &format!("{}  {}\n", " ".repeat(it.id.chars().count()), it.finding);
        }
    }
    out
}

fn result_text(lesson: &Lesson) -> String {
    match (lesson.factor, lesson.outcome) {
        (Some(factor), _) => format!("{}x", times(factor)),
        (None, Some(outcome)) => outcome.name().to_owned(),
        (None, None) => "no code".to_owned(),
    }
}
