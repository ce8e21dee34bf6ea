//! `autocomp bench`: the kernels of a suite side by side.

use crate::error::CliError;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::run_errors::eval_error;
use crate::text::{grouped, markdown_table, table};
use crate::workplace::{Workplace, WorkplaceOptions, catalog_error};
use autocomp_core::Evaluation;
use autocomp_eval::{EvalError, Evaluator as _};
use autocomp_targets::Suite;
use clap::Args;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Outcome of a kernel that the evaluator could not judge.
const FAULT: &str = "fault";

/// Evaluate all kernels of a suite side by side
///
/// Exits with 0 if all kernels are ok, and with 1 if one is not.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Suite, by name, or a folder with problems of your own
    suite: String,
    /// Only the kernel of this name; may be repeated
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// Only problems whose name contains this; may be repeated
    #[arg(long = "problem", value_name = "TEXT")]
    problems: Vec<String>,
    /// Machine to measure on [default: the target's]
    #[arg(long)]
    machine: Option<String>,
    /// Print the table in Markdown
    #[arg(long)]
    markdown: bool,
    /// Kernels evaluated at once [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: Option<u16>,
    /// Evaluate anew even if the verdict is in the cache
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// One kernel on one problem; field names are stable.
#[derive(Clone, Debug, Serialize)]
struct Row {
    problem: String,
    kernel: String,
    /// `ok`, how it failed, or `fault` if the evaluator could not judge it.
    outcome: String,
    /// Ranking figure; null unless the outcome is `ok`.
    cycles: Option<u64>,
    ideal_cycles: Option<u64>,
    percent_of_peak: Option<f64>,
    /// Cycles of each other kernel divided by the cycles of this one.
    speedup_over: BTreeMap<String, f64>,
    /// Why it is not ok.
    message: Option<String>,
}

/// What a kernel name does over all its problems.
#[derive(Debug, Serialize)]
struct Mean {
    kernel: String,
    /// Problems on which it is ok.
    problems: usize,
    /// Geometric mean over them.
    percent_of_peak: Option<f64>,
    /// Geometric mean over the problems on which both are ok.
    speedup_over: BTreeMap<String, f64>,
}

/// The result; field names are stable.
#[derive(Debug, Serialize)]
struct BenchReport {
    suite: String,
    description: String,
    kernels: Vec<String>,
    rows: Vec<Row>,
    geometric_means: Vec<Mean>,
}

/// A kernel to evaluate.
struct Task {
    bench: usize,
    kernel: String,
    source: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let suite = find_suite(&mut workplace, &arguments.suite)?;
    let problems: Vec<&String> = suite
        .problems
        .iter()
        .filter(|name| {
            arguments.problems.is_empty()
                || arguments
                    .problems
                    .iter()
                    .any(|text| name.contains(text.as_str()))
        })
        .collect();
    if problems.is_empty() {
        return Err(
            CliError::usage(format!("no problem of {} has such a name", suite.name))
                .hint(format!("its problems are {}", suite.problems.join(", "))),
        );
    }
    let kernels = if arguments.kernels.is_empty() {
        suite.kernels.clone()
    } else {
        arguments.kernels.clone()
    };
    let mut benches = Vec::new();
    let mut tasks = Vec::new();
    for name in problems {
        let problem = workplace.problem(name)?;
        let found: Vec<Task> = kernels
            .iter()
            .filter_map(|kernel| {
                let source = problem.kernels.get(kernel)?.clone();
                Some(Task {
                    bench: benches.len(),
                    kernel: kernel.clone(),
                    source,
                })
            })
            .collect();
        if found.is_empty() {
            output.message(format!(
                "{name} has none of the kernels {}",
                kernels.join(", ")
            ));
            continue;
        }
        tasks.extend(found);
        let settings = evaluator_settings(!arguments.no_cache);
        benches.push(Bench::open(
            &mut workplace,
            name,
            arguments.machine.as_deref(),
            settings,
            output,
        )?);
    }
    if tasks.is_empty() {
        return Err(CliError::usage("no problem has one of these kernels")
            .hint("`autocomp problems NAME` lists the kernels of a problem"));
    }
    let workers = arguments.workers.map_or_else(
        || thread::available_parallelism().map_or(1, usize::from),
        usize::from,
    );
    let mut rows = evaluate_all(&benches, &tasks, workers, output)?;
    set_side_by_side(&mut rows);
    let geometric_means = means(&rows, &kernels);
    let all_ok = rows.iter().all(|row| row.cycles.is_some());
    let report = BenchReport {
        suite: suite.name,
        description: suite.description,
        kernels,
        rows,
        geometric_means,
    };
    output.result(&report, || report_text(&report, arguments.markdown))?;
    Ok(if all_ok {
        exit_code::SUCCESS
    } else {
        exit_code::NEGATIVE
    })
}

/// Finds a suite by name, or makes one of a folder's problems.
fn find_suite(workplace: &mut Workplace, name: &str) -> Result<Suite, CliError> {
    let is_known = workplace.catalog.suite_names().any(|known| known == name);
    let path = Path::new(name);
    if is_known || !path.is_dir() {
        return workplace.catalog.suite(name).map_err(|error| {
            let names: Vec<&str> = workplace.catalog.suite_names().collect();
            catalog_error(error).hint(format!(
                "the suites are {}; a folder with problems is a suite too",
                names.join(", ")
            ))
        });
    }
    let added = workplace.catalog.add_folder(path).map_err(catalog_error)?;
    if let [only] = added.suites.as_slice() {
        return workplace.catalog.suite(only).map_err(catalog_error);
    }
    let mut kernels = BTreeSet::new();
    for problem in &added.problems {
        kernels.extend(workplace.problem(problem)?.kernels.into_keys());
    }
    // What others are compared with comes first.
    let (mut first, rest): (Vec<String>, Vec<String>) =
        kernels.into_iter().partition(|kernel| kernel == "baseline");
    first.extend(rest);
    Ok(Suite {
        name: name.to_owned(),
        description: format!("The problems in {name}"),
        problems: added.problems,
        kernels: first,
    })
}

/// Evaluates all tasks, several at once; rows come in the order of the tasks.
fn evaluate_all(
    benches: &[Bench],
    tasks: &[Task],
    workers: usize,
    output: Output,
) -> Result<Vec<Row>, CliError> {
    let next = AtomicUsize::new(0);
    let mut rows: Vec<Option<Row>> = vec![None; tasks.len()];
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers.min(tasks.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((idx, task)) = {
                    let idx = next.fetch_add(1, Ordering::Relaxed);
                    tasks.get(idx).map(|task| (idx, task))
                } {
                    let result = benches[task.bench].evaluator.evaluate(&task.source);
                    if sender.send((idx, result)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut done = 0;
        for (idx, result) in receiver {
            let (task, problem) = (&tasks[idx], &benches[tasks[idx].bench].problem.name);
            let row = match result {
                // Without an environment nothing can be evaluated; the others
                // need not be tried.
                Err(error @ EvalError::Environment { .. }) => {
                    next.store(tasks.len(), Ordering::Relaxed);
                    return Err(eval_error(&error));
                }
                result => row(problem, &task.kernel, result),
            };
            done += 1;
            let cycles = row.cycles.map_or_else(|| row.outcome.clone(), grouped);
            output.message(format!(
                "[{done}/{}] {problem} {}: {cycles}",
                tasks.len(),
                task.kernel
            ));
            rows[idx] = Some(row);
        }
        Ok(())
    })?;
    Ok(rows.into_iter().flatten().collect())
}

fn row(problem: &str, kernel: &str, result: Result<Evaluation, EvalError>) -> Row {
    let mut row = Row {
        problem: problem.to_owned(),
        kernel: kernel.to_owned(),
        outcome: FAULT.to_owned(),
        cycles: None,
        ideal_cycles: None,
        percent_of_peak: None,
        speedup_over: BTreeMap::new(),
        message: None,
    };
    match result {
        Err(error) => row.message = Some(error.to_string()),
        Ok(evaluation) => {
            row.outcome = evaluation.outcome.name().to_owned();
            match &evaluation.measurement {
                Some(measurement) => {
                    row.cycles = Some(measurement.cycles.0);
                    row.ideal_cycles = Some(measurement.ideal_cycles.0);
                    row.percent_of_peak = Some(measurement.percent_of_peak);
                }
                None => {
                    row.message = evaluation.diagnostics.first().map(|found| {
                        let place = found.location.as_ref();
                        let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
                        format!("{place}{}", found.message)
                    });
                }
            }
        }
    }
    row
}

/// Fills in the ratios between the kernels of each problem.
fn set_side_by_side(rows: &mut [Row]) {
    let cycles: Vec<(String, String, u64)> = rows
        .iter()
        .filter_map(|row| Some((row.problem.clone(), row.kernel.clone(), row.cycles?)))
        .collect();
    for row in rows {
        let Some(own) = row.cycles else { continue };
        row.speedup_over = cycles
            .iter()
            .filter(|(problem, kernel, _)| *problem == row.problem && *kernel != row.kernel)
            .map(|(_, kernel, other)| (kernel.clone(), *other as f64 / own.max(1) as f64))
            .collect();
    }
}

fn means(rows: &[Row], kernels: &[String]) -> Vec<Mean> {
    let mean_of = |kernel: &String| {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.kernel == *kernel && row.cycles.is_some())
            .collect();
        let over = |other: &String| {
            geometric_mean(
                own.iter()
                    .filter_map(|row| row.speedup_over.get(other).copied()),
            )
            .map(|mean| (other.clone(), mean))
        };
        Mean {
            kernel: kernel.clone(),
            problems: own.len(),
            percent_of_peak: geometric_mean(own.iter().filter_map(|row| row.percent_of_peak)),
            speedup_over: kernels.iter().filter_map(over).collect(),
        }
    };
    kernels.iter().map(mean_of).collect()
}

/// Returns the geometric mean of positive numbers; nothing if there are none.
fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0u32);
    for value in values {
        sum += value.ln();
        count += 1;
    }
    (0 < count).then(|| (sum / f64::from(count)).exp())
}

fn report_text(report: &BenchReport, markdown: bool) -> String {
    let ratio = |value: Option<&f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
    let percent =
        |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.1}"));
    let mut header = vec![
        "problem".to_owned(),
        "kernel".to_owned(),
        "cycles".to_owned(),
        "% of peak".to_owned(),
    ];
    header.extend(report.kernels.iter().map(|kernel| format!("x {kernel}")));
    let mut lines = vec![header];
    let ratios = |own: &str, speedups: &BTreeMap<String, f64>, is_ok: bool| -> Vec<String> {
        let one = |kernel: &String| match kernel == own && is_ok {
            true => "1".to_owned(),
            false => ratio(speedups.get(kernel)),
        };
        report.kernels.iter().map(one).collect()
    };
    for row in &report.rows {
        let mut line = vec![
            row.problem.clone(),
            row.kernel.clone(),
            row.cycles.map_or_else(|| row.outcome.clone(), grouped),
            percent(row.percent_of_peak),
        ];
        line.extend(ratios(&row.kernel, &row.speedup_over, row.cycles.is_some()));
        lines.push(line);
    }
    for mean in report
        .geometric_means
        .iter()
        .filter(|mean| 0 < mean.problems)
    {
        let mut line = vec![
            format!("geometric mean of {}", mean.problems),
            mean.kernel.clone(),
            String::new(),
            percent(mean.percent_of_peak),
        ];
        line.extend(ratios(&mean.kernel, &mean.speedup_over, true));
        lines.push(line);
    }
    let right: Vec<usize> = (2..lines[0].len()).collect();
    let mut text = format!("{}: {}\n\n", report.suite, report.description);
    text += &if markdown {
        markdown_table(&lines, &right)
    } else {
        table(&lines, &right)
    };
    text += "\n`x baseline` says how many times fewer cycles than that kernel.\n";
    for row in &report.rows {
        if let Some(message) = &row.message {
            text += &format!(
                "{} {}: {}: {message}\n",
                row.problem, row.kernel, row.outcome
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Row> {
        let make = |problem: &str, kernel: &str, cycles: Option<u64>| Row {
            cycles,
            percent_of_peak: cycles.map(|cycles| 100.0 / cycles as f64),
            outcome: if cycles.is_some() { "ok" } else { "wrong" }.to_owned(),
            message: cycles.is_none().then(|| "C[0][0] is 1".to_owned()),
            ..row(problem, kernel, Err(EvalError::Fault(String::new())))
        };
        let mut rows = vec![
            make("p", "baseline", Some(800)),
            make("p", "expert", Some(200)),
            make("q", "baseline", Some(100)),
            make("q", "expert", None),
            make("r", "baseline", Some(100)),
            make("r", "expert", Some(100)),
        ];
        set_side_by_side(&mut rows);
        rows
    }

    #[test]
    fn ratios_are_within_a_problem_and_means_over_those_where_both_are_ok() {
        let rows = rows();
        assert_eq!(
            rows[1].speedup_over,
            BTreeMap::from([("baseline".to_owned(), 4.0)])
        );
        assert_eq!(rows[0].speedup_over["expert"], 0.25);
        assert!(rows[2].speedup_over.is_empty() && rows[3].speedup_over.is_empty());
        let kernels = ["baseline".to_owned(), "expert".to_owned()];
        let means = means(&rows, &kernels);
        assert_eq!((means[0].problems, means[1].problems), (3, 2));
        assert!((means[1].speedup_over["baseline"] - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(std::iter::empty()), None);
    }

    #[test]
    fn rows_have_stable_names_in_json() {
        let rows = serde_json::to_value(rows()).expect("serialises");
        assert_eq!(rows[1]["problem"], "p");
        assert_eq!(rows[1]["kernel"], "expert");
        assert_eq!(rows[1]["outcome"], "ok");
        assert_eq!(rows[1]["cycles"], 200);
        assert_eq!(rows[1]["percent_of_peak"], 0.5);
        assert_eq!(rows[1]["speedup_over"]["baseline"], 4.0);
        assert_eq!(rows[3]["outcome"], "wrong");
        assert!(rows[3]["cycles"].is_null());
    }

    #[test]
    fn a_failed_kernel_is_a_row_of_the_table() {
        let rows = rows();
        let kernels = vec!["baseline".to_owned(), "expert".to_owned()];
        let report = BenchReport {
            suite: "s".into(),
            description: "Some".into(),
            geometric_means: means(&rows, &kernels),
            kernels,
            rows,
        };
        insta::assert_snapshot!(report_text(&report, false));
        insta::assert_snapshot!(report_text(&report, true));
    }
}
