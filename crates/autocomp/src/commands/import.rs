//! `autocomp import`: runs, problems and kernels of other programs.

mod problems;

use super::kernelbench;
use crate::error::CliError;
use crate::exit_code;
use crate::given_file::{not_read, read_text};
use crate::output::Output;
use crate::registry;
use crate::run_errors::store_error;
use crate::settings::Settings;
use crate::workplace::{Workplace, WorkplaceOptions};
use crate::written_file::write_bytes;
use autocomp_core::{CostObject, Unit};
use autocomp_imports::{
    Asked, ImportError, Imported, Naming, OldRun, WriteError, adapted, read_openevolve, read_run,
    read_shinka, write_run,
};
use autocomp_store::RunWriter;
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Make runs, problems and kernels of other programs ones of this one
#[derive(Debug, Subcommand)]
pub enum Command {
    Autocomp(Arguments),
    Openevolve(PopulationArguments),
    Shinka(ShinkaArguments),
    Problems(problems::Arguments),
    Kernels(KernelsArguments),
    Kernelbench(kernelbench::Arguments),
}

/// Import a checkpoint of OpenEvolve
///
/// Its programs become a run folder, as with `import autocomp`: each is a kernel, made from its
/// parent. What does not map is listed.
#[derive(Debug, Args)]
pub struct PopulationArguments {
    /// Metric of the programs that is what a kernel costs; less is better
    #[arg(long, value_name = "NAME")]
    metric: String,
    /// Metric that is 1 for right programs and less for others [default: those that are usually
    /// called so, such as `correctness`, `validity`, `error`]
    #[arg(long, value_name = "NAME")]
    right: Option<String>,
    #[command(flatten)]
    arguments: Arguments,
}

/// Import a database of ShinkaEvolve
///
/// Its programs become a run folder, as with `import autocomp`: each is a kernel, made from its
/// parent. What does not map is listed.
#[derive(Debug, Args)]
pub struct ShinkaArguments {
    /// Metric of the programs that is what a kernel costs; less is better
    #[arg(long, value_name = "NAME")]
    metric: String,
    #[command(flatten)]
    arguments: Arguments,
}

/// Import a run of the original Autocomp, or a trace
///
/// Its kernels, plans, models and costs become a run folder, which `show`, `report` and `serve`
/// show and `optimize PROBLEM --from RUN` goes on from. Nothing of it is executed. What does not
/// map is listed.
#[derive(Debug, Args)]
pub struct Arguments {
    /// What is imported: a run folder (`output/NAME`) or a file with one candidate of the
    /// original; a checkpoint or a folder of them of OpenEvolve; a database of ShinkaEvolve
    run: PathBuf,
    /// The problem here that the kernels are for [default: a name made of theirs, which nothing
    /// can be evaluated for]
    #[arg(long, value_name = "NAME")]
    problem: Option<String>,
    /// What a latency is counted in [default: what the programs of the run printed]
    #[arg(long, value_name = "UNIT")]
    unit: Option<OldUnit>,
    /// Text that each kernel needs before it, such as its imports: a file, of which what stands
    /// before a line with `SUBSTITUTE HERE` is taken
    #[arg(long, value_name = "FILE")]
    prelude: Option<PathBuf>,
    /// Folder of the new run; must be absent or empty [default: a fresh one in `runs`]
    #[arg(long, value_name = "FOLDER")]
    run_dir: Option<PathBuf>,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// Make kernels of the original (`sols`) ones for a problem here
///
/// Of a kernel in C the body counts, and gets the header that the problem asks for; one in Python
/// is taken whole, and `test` becomes the name that the problem asks for. Nothing is executed.
#[derive(Debug, Args)]
pub struct KernelsArguments {
    /// Files with a kernel each
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The problem here that they are for
    #[arg(long, value_name = "NAME")]
    problem: String,
    /// Text that each kernel needs before it, such as its imports: a file, of which what stands
    /// before a line with `SUBSTITUTE HERE` is taken
    #[arg(long, value_name = "FILE")]
    prelude: Option<PathBuf>,
    /// Folder for the kernels, in which no file of their names may be
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result of `kernels`; field names are stable.
#[derive(Serialize)]
struct KernelsReport {
    problem: String,
    /// The kernels written.
    files: Vec<PathBuf>,
    /// Files that hold none, and why.
    unmapped: Vec<String>,
}

/// What latencies of the original are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OldUnit {
    Ms,
    Us,
    Ns,
    Cycles,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct ImportReport {
    run: PathBuf,
    problem: String,
    target: String,
    kernels: usize,
    right: usize,
    iterations: u32,
    baseline_cost: Option<CostObject>,
    best_cost: Option<CostObject>,
    /// What does not map, one line each.
    unmapped: Vec<String>,
}

/// Runs the command.
pub fn run(command: &Command, output: Output) -> Result<u8, CliError> {
    let (read, arguments) = match command {
        Command::Autocomp(arguments) => (read_run(&arguments.run), arguments),
        Command::Openevolve(it) => (
            read_openevolve(&it.arguments.run, &it.metric, it.right.as_deref()),
            &it.arguments,
        ),
        Command::Problems(arguments) => return problems::run(arguments, output),
        Command::Kernels(arguments) => return kernels(arguments, output),
        Command::Kernelbench(arguments) => return kernelbench::run(arguments, output),
        Command::Shinka(it) => (read_shinka(&it.arguments.run, &it.metric), &it.arguments),
    };
    let mut old = read.map_err(import_error)?;
    let unit = unit_of(arguments, &old)?;
    let naming = naming(arguments, &mut old, unit)?;
    let folder = match &arguments.run_dir {
        Some(folder) => folder.clone(),
        None => fresh_folder(&arguments.run),
    };
    RunWriter::check_vacant(&folder).map_err(|error| store_error(&error))?;
    let imported = write_run(old, &naming, &folder).map_err(|error| match error {
        WriteError::Store(error) => store_error(&error),
        error => CliError::input(format!(
            "{} cannot be imported: {error}",
            arguments.run.display()
        ))
        .hint("the folder must be as the original left it"),
    })?;
    let report = report(folder, naming, imported);
    output.result(&report, || text(&report))?;
    Ok(exit_code::SUCCESS)
}

/// Makes kernels ones for a problem.
fn kernels(arguments: &KernelsArguments, output: Output) -> Result<u8, CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let problem = workplace.problem(&arguments.problem)?;
    let target = workplace.target_of(&problem)?;
    let language = registry::language(&target)?;
    let asked = Asked {
        entry: &problem.entry,
        signature: &problem.signature,
        meaningful_indentation: language.has_meaningful_indentation(),
    };
    let prelude = arguments.prelude.as_deref().map(prelude).transpose()?;
    let prelude = prelude.unwrap_or_default();
    let mut report = KernelsReport {
        problem: problem.name.clone(),
        files: Vec::new(),
        unmapped: Vec::new(),
    };
    let mut made = Vec::new();
    for file in &arguments.files {
        let text = read_text(file).map_err(|error| not_read("kernel", file, &error))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let path = arguments
            .out
            .join(format!("{stem}.{}", language.extension()));
        if path.exists() || made.iter().any(|(it, _)| *it == path) {
            return Err(
                CliError::usage(format!("{} is there already", path.display()))
                    .hint("name another folder with `--out`"),
            );
        }
        match adapted(&text, asked, &prelude) {
            Ok(kernel) => made.push((path, kernel)),
            Err(why) => report.unmapped.push(format!("{}: {why}", file.display())),
        }
    }
    std::fs::create_dir_all(&arguments.out).map_err(|error| {
        CliError::environment(format!(
            "failed to make {}: {error}",
            arguments.out.display()
        ))
    })?;
    for (path, kernel) in made {
        write_bytes(&path, kernel.as_bytes())?;
        report.files.push(path);
    }
    let code = match report.files.is_empty() {
        true => exit_code::NEGATIVE,
        false => exit_code::SUCCESS,
    };
    output.result(&report, || {
        let mut out = String::new();
        for file in &report.files {
            out += &format!(
                "autocomp eval {} --kernel {}\n",
                report.problem,
                file.display()
            );
        }
        for line in &report.unmapped {
            out += &format!("not taken over: {line}\n");
        }
        out
    })?;
    Ok(code)
}

pub(super) fn import_error(error: ImportError) -> CliError {
    let error_of = match error.path.exists() {
        true => CliError::input,
        false => CliError::usage,
    };
    error_of(error.to_string()).hint("name what is imported as `autocomp import --help` says")
}

fn unit_of(arguments: &Arguments, old: &OldRun) -> Result<OldUnit, CliError> {
    let printed = old
        .unit
        .as_deref()
        .and_then(|it| OldUnit::from_str(it, true).ok());
    arguments.unit.or(printed).ok_or_else(|| {
        CliError::usage(format!(
            "nothing in {} tells what its latencies are counted in",
            arguments.run.display()
        ))
        .hint("say it with `--unit`: `cycles` where a simulator counted them, `ms` or `us` where a device was measured")
    })
}

/// Says what the run is called here, and makes its kernels ones for the problem that is named.
fn naming(arguments: &Arguments, old: &mut OldRun, unit: OldUnit) -> Result<Naming, CliError> {
    let (unit, per_latency) = match unit {
        OldUnit::Ms => (Unit::Nanoseconds, 1e6),
        OldUnit::Us => (Unit::Nanoseconds, 1e3),
        OldUnit::Ns => (Unit::Nanoseconds, 1.0),
        OldUnit::Cycles => (Unit::Cycles, 1.0),
    };
    let mut naming = Naming {
        problem: match old.problem() {
            Some((kind, id)) => format!("imported/{kind}-{id}"),
            None => "imported/unknown".to_owned(),
        },
        target: "imported".to_owned(),
        unit,
        per_latency,
        meaningful_indentation: old.is_python(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        settings: String::new(),
    };
    let prelude = arguments.prelude.as_deref().map(prelude).transpose()?;
    let mut entry = None;
    let mut settings = Settings {
        problem: Some(naming.problem.clone()),
        ..Settings::default()
    };
    if let Some(name) = &arguments.problem {
        let mut workplace = Workplace::open(&arguments.workplace)?;
        let problem = workplace.problem(name)?;
        let target = workplace.target_of(&problem)?;
        naming.meaningful_indentation = registry::language(&target)?.has_meaningful_indentation();
        naming.target = target.name;
        naming.problem = problem.name;
        entry = Some(problem.entry);
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if workplace.is_folder(name) {
            settings.problem = Some(absolute(Path::new(name)).display().to_string());
        } else {
            settings.problem = Some(naming.problem.clone());
        }
        let data = arguments.workplace.data.iter();
        settings.data = data.map(|it| absolute(it)).collect();
    }
    naming.settings = settings.to_toml()?;
    old.adapt(prelude.as_deref().unwrap_or_default(), entry.as_deref());
    Ok(naming)
}

/// Reads what stands before each kernel.
fn prelude(path: &Path) -> Result<String, CliError> {
    let text = read_text(path).map_err(|error| not_read("prelude", path, &error))?;
    let lines = text.split_inclusive('\n');
    Ok(lines
        .take_while(|line| !line.contains("SUBSTITUTE HERE"))
        .collect())
}

/// Returns a folder in `runs` that is not there yet, named after the run.
fn fresh_folder(run: &Path) -> PathBuf {
    let name = run.canonicalize().ok();
    let name = name
        .as_deref()
        .and_then(Path::file_stem)
        .map(|it| it.to_string_lossy());
    let name: String = name
        .as_deref()
        .unwrap_or("imported")
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || "-_".contains(c) {
                c
            } else {
                '-'
            }
        })
        .take(80)
        .collect();
    let folders = (1..).map(|number| match number {
        1 => Path::new("runs").join(&name),
        _ => Path::new("runs").join(format!("{name}-{number}")),
    });
    let mut folders = folders.filter(|it| !it.exists());
    folders.next().unwrap_or_else(|| "runs/imported".into())
}

fn report(folder: PathBuf, naming: Naming, imported: Imported) -> ImportReport {
    ImportReport {
        run: folder,
        problem: naming.problem,
        target: naming.target,
        kernels: imported.kernels,
        right: imported.right,
        iterations: imported.iterations,
        baseline_cost: imported.baseline.map(CostObject::from),
        best_cost: imported.best.map(CostObject::from),
        unmapped: imported.unmapped,
    }
}

fn text(report: &ImportReport) -> String {
    let run = report.run.display();
    let mut out = format!(
        "{} kernels in {} iterations, {} of them right\nrun folder   {run}\nlook closer  autocomp show {run}\n",
        report.kernels, report.iterations, report.right,
    );
    if report.target != "imported" {
        out += &format!("go on        autocomp optimize --from {run}\n");
    }
    if !report.unmapped.is_empty() {
        out += "not taken over:\n";
        for line in &report.unmapped {
            out += &format!("  - {line}\n");
        }
    }
    out
}
