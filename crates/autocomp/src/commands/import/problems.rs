//! `autocomp import problems`: test programs of the original as problems.

use crate::error::{CliError, ErrorKind};
use crate::exit_code;
use crate::given_file::{not_read, read_text};
use crate::measuring::{Bench, evaluator_settings};
use crate::output::Output;
use crate::registry;
use crate::workplace::{Workplace, WorkplaceOptions};
use crate::written_file::write_bytes;
use autocomp_imports::{Asked, adapted, read_harness};
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind as ErrorOfFile;
use std::path::{Path, PathBuf};

/// Make test programs of the original (`harnesses/TYPE/testN.c`) problems
///
/// Shapes, drawn inputs and what is compared are read from the text, which is not executed. A set
/// of inputs of either sign is added to those that it draws, which are zeros and ones. Known
/// kernels for it (`sols/TYPE/solN_NAME.c` of the same copy) become kernels of the problem. Each
/// problem is loaded, and its definition built and run, before it counts. What does not map is
/// listed.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Test programs in C
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The target of the problems: one whose kernels are in C
    #[arg(long, value_name = "NAME")]
    target: String,
    /// Folder for the problems, in which none of their names may be
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Report {
    /// Folders of the problems written.
    problems: Vec<PathBuf>,
    /// Files of which no problem could be made, and what of others does not map.
    unmapped: Vec<String>,
    /// What is to be seen to in the problems written.
    remarks: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let target = Workplace::open(&arguments.workplace)?.target(&arguments.target)?;
    let language = registry::language(&target)?;
    if language.extension() != "c" {
        return Err(CliError::usage(format!(
            "kernels of target {} are written in {}, and the definitions of these problems in C",
            target.name,
            language.name()
        ))
        .hint("name a target whose kernels are in C: `autocomp targets` lists them"));
    }
    let mut report = Report {
        problems: Vec::new(),
        unmapped: Vec::new(),
        remarks: Vec::new(),
    };
    for file in &arguments.files {
        let text = match read_text(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorOfFile::NotFound => {
                return Err(not_read("test program", file, &error));
            }
            Err(error) => {
                report.unmapped.push(format!("{}: {error}", file.display()));
                continue;
            }
        };
        let read = match file.extension().is_some_and(|it| it == "c") {
            true => read_harness(&text, &arguments.target),
            false => Err("only programs in C are read: what others compare with is a kernel, so that the definition has to be written".into()),
        };
        let mut made = match read {
            Ok(made) => made,
            Err(why) => {
                report.unmapped.push(format!("{}: {why}", file.display()));
                continue;
            }
        };
        let folder = arguments.out.join(name(file));
        if folder.exists() {
            return Err(
                CliError::usage(format!("{} is there already", folder.display()))
                    .hint("name another folder with `--out`"),
            );
        }
        let asked = Asked {
            entry: "solution",
            signature: &made.signature,
            meaningful_indentation: false,
        };
        for (kernel, path) in known_kernels(file) {
            let text = match read_text(&path) {
                Ok(text) => text,
                Err(error) => {
                    report.unmapped.push(format!("{}: {error}", path.display()));
                    continue;
                }
            };
            let text = match made.files.contains_key(&format!("{kernel}.c")) {
                true => Err(format!("`{kernel}.c` is another file of the problem")),
                false => adapted(&text, asked, ""),
            };
            match text {
                Ok(text) => drop(made.files.insert(format!("{kernel}.c"), text)),
                Err(why) => report.unmapped.push(format!("{}: {why}", path.display())),
            }
        }
        if !made.files.contains_key("baseline.c") {
            made.remarks
                .push("no kernel to start from was found: write it as baseline.c".into());
        }
        if let Err(error) = write(&made.files, &folder, arguments, output) {
            if !matches!(error.kind, ErrorKind::Input) {
                return Err(error);
            }
            let why = format!("{}: {}", file.display(), error.message);
            report.unmapped.push(why);
            continue;
        }
        let remarks = made.remarks.into_iter();
        let remarks = remarks.map(|it| format!("{}: {it}", file.display()));
        report.remarks.extend(remarks);
        report.problems.push(folder);
    }
    let code = match report.problems.is_empty() {
        true => exit_code::NEGATIVE,
        false => exit_code::SUCCESS,
    };
    output.result(&report, || {
        let problems = report.problems.iter();
        let mut out: String = problems
            .map(|folder| format!("autocomp eval {}\n", folder.display()))
            .collect();
        for line in &report.unmapped {
            out += &format!("not taken over: {line}\n");
        }
        for line in &report.remarks {
            out += &format!("to be seen to: {line}\n");
        }
        out
    })?;
    Ok(code)
}

/// Writes a problem beside its place and gives it that once it was checked: what is stopped midway,
/// or is no problem, leaves nothing that looks like one.
fn write(
    files: &BTreeMap<String, String>,
    folder: &Path,
    arguments: &Arguments,
    output: Output,
) -> Result<(), CliError> {
    let out = &arguments.out;
    let was_there = out.exists();
    let not_made = |error: std::io::Error| {
        CliError::environment(format!("failed to make {}: {error}", folder.display()))
    };
    let write = || {
        let beside = Beside::make(out).map_err(not_made)?;
        let made = beside.path.join(folder.file_name().unwrap_or_default());
        fs::create_dir(&made).map_err(not_made)?;
        for (name, text) in files {
            write_bytes(&made.join(name), text.as_bytes())?;
        }
        check(&made, arguments, output)?;
        fs::rename(&made, folder).map_err(not_made)
    };
    let written = write();
    if written.is_err() && !was_there {
        // Only if there is nothing else in it.
        let _ = fs::remove_dir(out);
    }
    written
}

/// What folders in which a problem is made are called, in front of a number.
const BESIDE: &str = ".importing-";

/// A folder in which a problem is made. It goes with the value; one that was left by an import
/// that was killed goes when the next import makes its own.
struct Beside {
    path: PathBuf,
    /// Held as long as the import lives.
    _lock: fs::File,
}

impl Beside {
    fn make(out: &Path) -> std::io::Result<Self> {
        fs::create_dir_all(out)?;
        // Nobody may take a folder that is not locked yet for one that was left.
        let all = fs::File::open(out)?;
        let is_alone = all.lock().is_ok();
        for entry in fs::read_dir(out)?.filter_map(Result::ok) {
            let is_one = entry.file_name().to_string_lossy().starts_with(BESIDE);
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            let path = entry.path();
            let is_left = || fs::File::open(&path).is_ok_and(|it| it.try_lock().is_ok());
            if is_alone && is_one && is_folder && is_left() {
                let _ = fs::remove_dir_all(&path);
            }
        }
        let path = out.join(format!("{BESIDE}{}", std::process::id()));
        fs::create_dir(&path)?;
        let lock = fs::File::open(&path)?;
        // Where files cannot be locked, none is taken for left.
        let _ = lock.try_lock();
        Ok(Self { path, _lock: lock })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Loads a problem that was written, builds its definition, and has it compute right answers.
fn check(folder: &Path, arguments: &Arguments, output: Output) -> Result<(), CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let name = folder.display().to_string();
    let settings = evaluator_settings(true);
    let bench = Bench::open(&mut workplace, &name, None, settings, output)?;
    bench.tell_doubts(&workplace.cache_folder, output)
}

/// Returns the name of the problem of a test program: `gemm-7` for `gemm/test7.c`.
fn name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let kind = file.parent().and_then(Path::file_name);
    let kind = kind.map(|it| format!("{}-", it.to_string_lossy()));
    format!(
        "{}{}",
        kind.unwrap_or_default(),
        stem.strip_prefix("test").unwrap_or(&stem)
    )
}

/// Returns the kernels that the original knows for a test program, by their names. The first
/// one that is called a baseline is that of the problem.
fn known_kernels(file: &Path) -> Vec<(String, PathBuf)> {
    let find = || {
        let kind = file.parent()?.file_name()?;
        let number = file.file_stem()?.to_str()?.strip_prefix("test")?;
        let folder = file.parent()?.parent()?.parent()?.join("sols").join(kind);
        let prefix = format!("sol{number}_");
        let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
        let mut found: Vec<(String, PathBuf)> = entries
            .filter_map(|entry| {
                let name = entry.file_name().to_str()?.strip_suffix(".c")?.to_owned();
                Some((name.strip_prefix(&prefix)?.to_owned(), entry.path()))
            })
            .collect();
        found.sort();
        if let Some(first) = found.iter_mut().find(|it| it.0.contains("baseline")) {
            first.0 = "baseline".into();
        }
        Some(found)
    };
    find().unwrap_or_default()
}
