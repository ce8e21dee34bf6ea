//! `autocomp bench`: the kernels of a suite side by side.

use crate::bench_report::{BenchReport, Row, means, report_text, row, set_side_by_side};
use crate::error::CliError;
use crate::exit_code;
use crate::given_file::read_kernel;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::queueing::QueueOptions;
use crate::run_errors::eval_error;
use crate::side_by_side::side_by_side;
use crate::workplace::{Workplace, WorkplaceOptions, catalog_error};
use autocomp_catalog::{Problem, Suite, nearest};
use autocomp_eval::Evaluator as _;
use autocomp_eval::text::grouped;
use autocomp_eval::{EvalError, EvaluatorSettings};
use clap::Args;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread;

/// Order of the customary kernels; others come after them.
const CUSTOMARY: [&str; 5] = ["baseline", "software", "library", "fsm", "expert"];

/// Evaluate all kernels of a suite, or of one problem, side by side
///
/// A kernel that fails is a row of the table and does not end the comparison, and so are the kernels
/// of a problem that cannot be used, if there are others.
/// Exits with 0 if all kernels are ok, and with 1 if one is not.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Suite or problem, by name, or a folder with problems of your own; several are compared
    /// as one
    #[arg(required = true, value_name = "SUITE")]
    suites: Vec<String>,
    /// Only the kernel of this name; may be repeated
    #[arg(long = "kernel", value_name = "NAME")]
    kernels: Vec<String>,
    /// Only problems whose name contains this; may be repeated
    #[arg(long = "problem", value_name = "TEXT")]
    problems: Vec<String>,
    /// Compare a kernel of your own too: a file, or a folder with one for each
    /// problem, called as the problem is after its last `/`; may be repeated
    #[arg(long = "add", value_name = "NAME=PATH", value_parser = named_path)]
    added: Vec<(String, PathBuf)>,
    /// Target to write for, if the problem has several [default: the one that fits this machine]
    #[arg(long, value_name = "NAME")]
    target: Option<String>,
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
    queue: QueueOptions,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// A kernel to evaluate.
struct Task {
    bench: usize,
    kernel: String,
    source: String,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?
        .evaluating_by(arguments.queue.connect("bench", None, output)?);
    workplace.prefer_target(arguments.target.as_deref());
    let mut loaded = BTreeMap::new();
    let mut suites = Vec::new();
    for (place, name) in arguments.suites.iter().enumerate() {
        if !arguments.suites[..place].contains(name) {
            let asked_for = &arguments.problems;
            suites.push(find_suite(&mut workplace, name, asked_for, &mut loaded)?);
        }
    }
    let suite = joined(suites);
    let problems: Vec<&String> = suite
        .problems
        .iter()
        .filter(|name| is_wanted(name, &arguments.problems))
        .collect();
    if problems.is_empty() {
        return Err(no_such_problem(&suite, &arguments.problems));
    }
    let mut kernels: Vec<String> = Vec::new();
    let asked_for = match arguments.kernels.as_slice() {
        [] => &suite.kernels,
        asked_for => asked_for,
    };
    for kernel in asked_for {
        if !kernels.contains(kernel) {
            kernels.push(kernel.clone());
        }
    }
    if kernels.is_empty() && arguments.added.is_empty() {
        return Err(
            CliError::input(format!("no problem of {} has a kernel", suite.name))
                .hint(format!(
                    "put one into the folder of a problem, such as that of `{}`, as `baseline` with the ending of its language (`.c`, `.cu`, `.py`)",
                    problems[0]
                ))
                .hint("or add your own with `--add NAME=PATH`"),
        );
    }
    // A mistake in these must not wait for a compiler.
    let mut added = added_kernels(&arguments.added, &problems, &kernels)?;
    kernels.extend(arguments.added.iter().map(|(name, _)| name.clone()));
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let workers = arguments.workers.map_or(processors, usize::from);
    let mut benches = Vec::new();
    let mut tasks = Vec::new();
    for name in problems {
        let problem = match loaded.remove(name) {
            Some(problem) => problem,
            None => workplace.problem(name)?,
        };
        let found: Vec<Task> = kernels
            .iter()
            .filter_map(|kernel| {
                let source = added
                    .remove(&(name.clone(), kernel.clone()))
                    .or_else(|| problem.kernels.get(kernel).cloned())?;
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
        let settings = EvaluatorSettings {
            // Every problem has an evaluator of its own, which knows nothing of
            // the work of the others.
            threads: (processors / workers.max(1)).max(1),
            ..evaluator_settings(!arguments.no_cache)
        };
        benches.push(Bench::of(
            &workplace,
            problem,
            arguments.machine.as_deref(),
            settings,
            output,
        )?);
    }
    if tasks.is_empty() {
        return Err(CliError::usage("no problem has one of these kernels")
            .hint("`autocomp problems NAME` lists the kernels of a problem"));
    }
    let mut rows = evaluate_all(&benches, &tasks, workers, output)?;
    set_side_by_side(&mut rows);
    let geometric_means = means(&rows, &kernels);
    let all_ok = rows.iter().all(|row| row.cost.is_some());
    let machines: BTreeSet<String> = benches
        .iter()
        .map(|bench| format!("{}/{}", bench.target.name, bench.machine))
        .collect();
    let report = BenchReport {
        suite: suite.name,
        description: suite.description,
        machines: machines.into_iter().collect(),
        compiler: benches[0].compiler.clone(),
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

/// Reads `NAME=PATH`.
pub fn named_path(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => {
            Ok((name.to_owned(), PathBuf::from(path)))
        }
        _ => Err("write a name for the kernel and its path, as in `mine=best.c`".to_owned()),
    }
}

/// Reads the user's kernels, by problem and name.
pub fn added_kernels(
    added: &[(String, PathBuf)],
    problems: &[&String],
    kernels: &[String],
) -> Result<BTreeMap<(String, String), String>, CliError> {
    let mut sources = BTreeMap::new();
    let mut names: BTreeSet<&String> = kernels.iter().collect();
    for (name, path) in added {
        if !names.insert(name) {
            return Err(
                CliError::usage(format!("there is a kernel `{name}` already"))
                    .hint("choose another name for yours"),
            );
        }
        let is_folder = path.is_dir();
        if !is_folder && let [_, _, ..] = problems {
            return Err(CliError::usage(format!(
                "{} is a kernel for one problem, and {} are compared",
                path.display(),
                problems.len()
            ))
            .hint("choose one with `--problem TEXT`, or name a folder with a file for each"));
        }
        let mut is_any = false;
        for problem in problems {
            let file = if is_folder {
                let stem = problem.rsplit('/').next().unwrap_or(problem);
                path.join(format!("{stem}.c"))
            } else {
                path.clone()
            };
            if is_folder && !file.exists() {
                continue;
            }
            is_any = true;
            sources.insert(((*problem).clone(), name.clone()), read_kernel(&file)?);
        }
        if !is_any {
            let stem = problems[0].rsplit('/').next().unwrap_or(problems[0]);
            return Err(CliError::usage(format!(
                "{} has a kernel for none of the problems",
                path.display()
            ))
            .hint(format!("the file for {} would be {stem}.c", problems[0])));
        }
    }
    Ok(sources)
}

/// Makes one suite of several; what they share is there once.
pub fn joined(suites: Vec<Suite>) -> Suite {
    let mut suites = suites.into_iter();
    let mut all = suites.next().expect("the command line requires one");
    for suite in suites {
        all.name = format!("{}, {}", all.name, suite.name);
        all.description = format!("{}; {}", all.description, suite.description);
        for problem in suite.problems {
            if !all.problems.contains(&problem) {
                all.problems.push(problem);
            }
        }
        for kernel in suite.kernels {
            if !all.kernels.contains(&kernel) {
                all.kernels.push(kernel);
            }
        }
    }
    all
}

/// Returns whether a problem is among those asked for, by parts of their names.
fn is_wanted(problem: &str, asked_for: &[String]) -> bool {
    asked_for.is_empty() || asked_for.iter().any(|text| problem.contains(text.as_str()))
}

fn no_such_problem(suite: &Suite, asked_for: &[String]) -> CliError {
    let error = CliError::usage(format!("no problem of {} has such a name", suite.name));
    let known = || suite.problems.iter().map(String::as_str);
    let near = asked_for.iter().find_map(|text| nearest(text, known()));
    match near {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error,
    }
    .hint(format!("its problems are {}", suite.problems.join(", ")))
}

/// Finds a suite by name, or makes one of a problem or of a folder's problems. Only those
/// asked for are looked into, and put into `loaded`.
fn find_suite(
    workplace: &mut Workplace,
    name: &str,
    asked_for: &[String],
    loaded: &mut BTreeMap<String, Problem>,
) -> Result<Suite, CliError> {
    let is_known = workplace.catalog.suite_names().any(|known| known == name);
    let path = Path::new(name);
    if is_known {
        return workplace.catalog.suite(name).map_err(catalog_error);
    }
    let is_problem = workplace.catalog.problem_names().any(|known| known == name);
    if is_problem {
        let problem = workplace.problem(name)?;
        let suite = Suite {
            name: name.to_owned(),
            description: problem.description.clone(),
            problems: vec![name.to_owned()],
            kernels: in_order(problem.kernels.keys().cloned().collect()),
        };
        loaded.insert(name.to_owned(), problem);
        return Ok(suite);
    }
    if !path.is_dir() && name.contains('/') {
        // Only problems have such names.
        workplace.problem(name)?;
    }
    if !path.is_dir() {
        return workplace.catalog.suite(name).map_err(|error| {
            catalog_error(error).hint("a problem, or a folder with problems, is a suite too")
        });
    }
    let added = workplace.add_data(path)?;
    if let [only] = added.suites.as_slice() {
        return workplace.catalog.suite(only).map_err(catalog_error);
    }
    if added.problems.is_empty() {
        let what = match added.suites.as_slice() {
            [] => "only targets".to_owned(),
            suites => format!("{} suites ({})", suites.len(), suites.join(", ")),
        };
        return Err(
            CliError::usage(format!("{name} holds {what}, and problems are needed"))
                .hint(format!("name suites to compare and pass `--data {name}`")),
        );
    }
    let mut kernels = BTreeSet::new();
    let wanted = |problem: &&String| is_wanted(problem, asked_for);
    for problem in added.problems.iter().filter(wanted) {
        let read = workplace.problem(problem)?;
        kernels.extend(read.kernels.keys().cloned());
        loaded.insert(problem.clone(), read);
    }
    Ok(Suite {
        name: name.to_owned(),
        description: format!("The problems in {name}"),
        problems: added.problems,
        kernels: in_order(kernels),
    })
}

/// Returns names of kernels in the order in which they are shown: what others are compared
/// with comes first.
fn in_order(kernels: BTreeSet<String>) -> Vec<String> {
    let place = |kernel: &String| {
        let known = CUSTOMARY.iter().position(|name| name == kernel);
        known.unwrap_or(CUSTOMARY.len())
    };
    let mut kernels: Vec<String> = kernels.into_iter().collect();
    kernels.sort_by_key(place);
    kernels
}

/// Evaluates all tasks, several at once; rows come in the order of the tasks.
fn evaluate_all(
    benches: &[Bench],
    tasks: &[Task],
    workers: usize,
    output: Output,
) -> Result<Vec<Row>, CliError> {
    let mut rows: Vec<Option<Row>> = vec![None; tasks.len()];
    let mut done = 0;
    let evaluate = |task: &Task| benches[task.bench].evaluator.evaluate(&task.source);
    side_by_side(tasks, workers, evaluate, |idx, result| {
        let (task, problem) = (&tasks[idx], &benches[tasks[idx].bench].problem.name);
        let row = match result {
            // Without an environment nothing can be evaluated.
            Err(error @ EvalError::Environment { .. }) => return Err(eval_error(&error)),
            // A problem without a right answer is a row where there are others.
            Err(error @ EvalError::Input { .. }) if benches.len() == 1 => {
                return Err(eval_error(&error));
            }
            result => row(problem, &task.kernel, result),
        };
        done += 1;
        let cost = row
            .cost
            .map_or_else(|| row.outcome.clone(), |it| grouped(it.value));
        output.message(format!(
            "[{done}/{}] {problem} {}: {cost}",
            tasks.len(),
            task.kernel
        ));
        rows[idx] = Some(row);
        Ok(())
    })?;
    Ok(rows.into_iter().flatten().collect())
}
