//! `autocomp diff`: what changed from one kernel of a run to another.

use crate::error::CliError;
use crate::exit_code;
use crate::output::{BAD, GOOD, Output, QUIET};
use crate::run_errors::run_error;
use autocomp_core::CostObject;
use autocomp_eval::text;
use autocomp_reports::change::{CONTEXT, FigureChange, Line, LineKind, figure_changes, times};
use autocomp_reports::{Kernel, RunData};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Show what changed from one kernel of a run to another, in code and profile
#[derive(Debug, Args)]
pub struct Arguments {
    /// Run folder
    run: PathBuf,
    /// Kernel: `best`, `baseline`, a candidate such as `c12`, or a task such as `i2.b0.p3.d0`
    #[arg(default_value = "best")]
    kernel: String,
    /// The kernel that is changed into, if two are named [default: the first is compared with the
    /// one that it was made from]
    to: Option<String>,
    /// Unchanged lines around changed ones; `all` for the whole kernel
    #[arg(long, value_name = "LINES", default_value_t = CONTEXT.to_string())]
    context: String,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct DiffReport<'a> {
    from: &'a str,
    to: &'a str,
    from_cost: Option<CostObject>,
    to_cost: Option<CostObject>,
    figures: &'a [FigureChange],
    lines: &'a [Line],
}

/// Returns the kernel of a name.
pub fn kernel_of<'a>(run: &'a RunData, name: &str) -> Result<&'a Kernel, CliError> {
    run.kernel(name).ok_or_else(|| {
        CliError::usage(format!("the run has no kernel `{name}`"))
            .hint("`best`, `baseline`, or a name from `autocomp show RUN --all`, such as `c1`")
    })
}

/// Returns the source of a kernel.
pub fn source_of(run: &RunData, kernel: &Kernel) -> Result<String, CliError> {
    run.texts
        .source(kernel)
        .map_err(|error| CliError::input(error).hint("the run folder is damaged; copy it again"))
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let context = match arguments.context.as_str() {
        "all" => None,
        number => Some(number.parse().map_err(|_| {
            CliError::usage(format!(
                "`--context` is `{number}`, but must be a number or `all`"
            ))
        })?),
    };
    let run = RunData::open(&arguments.run).map_err(|error| run_error(&error))?;
    let first = kernel_of(&run, &arguments.kernel)?;
    let (from, to) = match &arguments.to {
        Some(second) => (first, kernel_of(&run, second)?),
        None => (
            run.parent(first).ok_or_else(|| {
                CliError::usage(format!("{} was made from no other kernel", first.name))
                    .hint("name two kernels: `autocomp diff RUN c0 c12`")
            })?,
            first,
        ),
    };
    let lines = run.difference(&source_of(&run, from)?, &source_of(&run, to)?, context);
    let figures = figure_changes(&from.evaluation, &to.evaluation, 8);
    let report = DiffReport {
        from: &from.name,
        to: &to.name,
        from_cost: from.cost.map(CostObject::from),
        to_cost: to.cost.map(CostObject::from),
        figures: &figures,
        lines: &lines,
    };
    output.result(&report, || {
        let mut out = format!("{}\n", headline(from, to));
        for figure in &figures {
            out += &format!("  {}\n", figure.text());
        }
        out.push('\n');
        out + &diff_text(&lines, output.is_coloured())
    })?;
    Ok(exit_code::SUCCESS)
}

/// Returns which kernels are compared, and what they cost.
fn headline(from: &Kernel, to: &Kernel) -> String {
    let named = |kernel: &Kernel| match kernel.cost {
        Some(cost) => format!(
            "{} ({} {})",
            kernel.name,
            text::grouped(cost.value),
            cost.unit
        ),
        None => format!("{} ({})", kernel.name, kernel.outcome),
    };
    let gain = from.cost.zip(to.cost).map(|(from, to)| to.times(from));
    let gain = gain.map_or_else(String::new, |gain| format!(", {}x", times(gain)));
    format!("{} to {}{gain}", named(from), named(to))
}

/// Returns a difference with numbers of lines and signs.
pub fn diff_text(lines: &[Line], coloured: bool) -> String {
    if lines.iter().all(|line| line.kind == LineKind::Same) {
        return "the code is the same but for white space\n".to_owned();
    }
    let mut out = String::new();
    for line in lines {
        let number = |it: Option<usize>| it.map_or_else(String::new, |it| it.to_string());
        let place = format!("{:>4} {:>4} ", number(line.old), number(line.new));
        let (sign, style) = match line.kind {
            LineKind::Same => (' ', None),
            LineKind::Added => ('+', Some(GOOD)),
            LineKind::Removed => ('-', Some(BAD)),
            LineKind::Gap => {
                out += &format!("{}\n", QUIET.paint("       ...", coloured));
                continue;
            }
        };
        let text = format!("{sign} {}", line.text);
        let text = match style {
            Some(style) => style.paint(&text, coloured),
            None => text,
        };
        out += &format!("{}{text}\n", QUIET.paint(&place, coloured));
    }
    out
}
