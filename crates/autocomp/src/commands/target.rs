//! `autocomp target`: what is known of a target, for others and from others.

mod build;
mod built_folder;

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::registry;
use crate::workplace::{Workplace, WorkplaceOptions, catalog_error};
use autocomp_catalog::Catalog;
use autocomp_knowledge::{
    Difference, Knowledge, KnowledgeError, Standing, differences, read_knowledge, write_skill,
    write_target,
};
use clap::{Args, Subcommand};
use serde::Serialize;
use std::path::PathBuf;

/// Make targets of documents or of what others know, or write one for agents
#[derive(Debug, Subcommand)]
pub enum Command {
    Build(Box<build::Arguments>),
    Export(ExportArguments),
    Import(ImportArguments),
    Diff(DiffArguments),
}

/// Write a target as an agent skill: SKILL.md with references
#[derive(Debug, Args)]
pub struct ExportArguments {
    /// Name of the target
    target: String,
    /// Folder of the skill, in which none of its files may be
    #[arg(long, value_name = "FOLDER")]
    skill: PathBuf,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// Make a target of an agent skill, or of an agent that the original Autocomp has built
///
/// The new target stands on one that there is, which says how kernels are evaluated: architecture,
/// instructions, menu, rules and examples are those of the folder, as far as it has them.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// Folder with SKILL.md, or with agent_config.yaml
    folder: PathBuf,
    /// Name of the new target
    #[arg(long)]
    name: String,
    /// Target that it stands on
    #[arg(long, value_name = "TARGET")]
    like: String,
    /// Folder for the target, to be named with `--data`
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// Tell what is known of one target and not of another one
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// Name of the first target
    first: String,
    /// Name of the second
    second: String,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result of `diff`; field names are stable.
#[derive(Serialize)]
struct DiffReport {
    differences: Vec<Difference>,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct TargetReport {
    files: Vec<PathBuf>,
    /// What was not taken over, one line each.
    unmapped: Vec<String>,
}

/// Runs the command.
pub fn run(command: &Command, output: Output) -> Result<u8, CliError> {
    let (report, next) = match command {
        Command::Build(arguments) => return build::run(arguments, output),
        Command::Export(arguments) => export(arguments)?,
        Command::Import(arguments) => import(arguments)?,
        Command::Diff(arguments) => return diff(arguments, output),
    };
    output.result(&report, || {
        let files = report.files.iter().map(|it| format!("{}\n", it.display()));
        let mut out: String = files.collect();
        if !report.unmapped.is_empty() {
            out += "not taken over:\n";
            for line in &report.unmapped {
                out += &format!("  - {line}\n");
            }
        }
        out + &next
    })?;
    Ok(exit_code::SUCCESS)
}

fn knowledge_error(error: KnowledgeError) -> CliError {
    let error_of = match error.path.exists() {
        true => CliError::input,
        false => CliError::usage,
    };
    error_of(error.to_string())
}

fn export(arguments: &ExportArguments) -> Result<(TargetReport, String), CliError> {
    let workplace = Workplace::open(&arguments.workplace)?;
    let knowledge = Knowledge::of(&workplace.target(&arguments.target)?);
    let files = write_skill(&knowledge, &arguments.skill).map_err(|error| {
        knowledge_error(error)
            .hint("name a folder that has none of the skill's files with `--skill FOLDER`")
    })?;
    let report = TargetReport {
        files,
        unmapped: knowledge.unmapped,
    };
    Ok((report, String::new()))
}

/// Refuses what is no name of a target.
fn check_name(name: &str) -> Result<(), CliError> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) || name.starts_with('-') {
        return Err(
            CliError::usage(format!("`{name}` is not the name of a target"))
                .hint("use small letters, digits and dashes, as in `my-target`"),
        );
    }
    Ok(())
}

fn import(arguments: &ImportArguments) -> Result<(TargetReport, String), CliError> {
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let like = workplace.target(&arguments.like)?;
    check_name(&arguments.name)?;
    if workplace.target(&arguments.name).is_ok() {
        return Err(
            CliError::usage(format!("there is a target `{}` already", arguments.name))
                .hint("give it another name with `--name`"),
        );
    }
    let mut knowledge = read_knowledge(&arguments.folder).map_err(|error| {
        knowledge_error(error).hint("name a folder with SKILL.md, or with agent_config.yaml")
    })?;
    if !knowledge.family.is_empty() && knowledge.family != like.family {
        return Err(CliError::usage(format!(
            "{} is about a target of the family `{}`, and {} is of `{}`",
            arguments.folder.display(),
            knowledge.family,
            like.name,
            like.family
        ))
        .hint(
            "name a target of its family with `--like`; `autocomp targets --json` tells families",
        ));
    }
    let parent = workplace
        .catalog
        .inherited(&like.name)
        .map_err(catalog_error)?;
    let standing = Standing {
        like: &like,
        parent: parent.as_deref(),
        name: &arguments.name,
        extension: registry::language(&like)?.extension(),
    };
    check_target(&knowledge, standing, &mut workplace.catalog, arguments)?;
    let files = write_target(&knowledge, standing, &arguments.out).map_err(|error| {
        knowledge_error(error).hint("name a folder that has no such target with `--out FOLDER`")
    })?;
    let report = TargetReport {
        files,
        unmapped: std::mem::take(&mut knowledge.unmapped),
    };
    let next = format!(
        "use it      autocomp optimize PROBLEM --target {} --data {}\n",
        arguments.name,
        arguments.out.display()
    );
    Ok((report, next))
}

/// Refuses what makes no target that can be used, before any of it is written where it is asked for.
/// The catalog has the target then.
fn check_target(
    knowledge: &Knowledge,
    standing: Standing<'_>,
    catalog: &mut Catalog,
    arguments: &ImportArguments,
) -> Result<(), CliError> {
    let trial = tempfile::tempdir()
        .map_err(|error| CliError::environment(format!("failed to make a folder: {error}")))?;
    write_target(knowledge, standing, trial.path()).map_err(knowledge_error)?;
    let loaded = catalog.add_folder(trial.path());
    let loaded = loaded.and_then(|_| catalog.target(&arguments.name).map(drop));
    loaded.map_err(|error| {
        let trial = format!("{}/", trial.path().display());
        CliError::input(format!(
            "{} makes no target that can be used: {}",
            arguments.folder.display(),
            error.to_string().replace(&trial, "")
        ))
        .hint("mend the folder; nothing was written")
    })
}

fn diff(arguments: &DiffArguments, output: Output) -> Result<u8, CliError> {
    let workplace = Workplace::open(&arguments.workplace)?;
    let first = Knowledge::of(&workplace.target(&arguments.first)?);
    let second = Knowledge::of(&workplace.target(&arguments.second)?);
    let report = DiffReport {
        differences: differences(&first, &second),
    };
    output.result(&report, || {
        if report.differences.is_empty() {
            return "the same is known of both\n".to_owned();
        }
        let mut out = String::new();
        for part in &report.differences {
            out += &format!("{}\n", part.part);
            let lists = [
                (&part.only_first, &arguments.first),
                (&part.only_second, &arguments.second),
            ];
            for (names, target) in lists {
                for name in names {
                    out += &format!("  only {target}: {name}\n");
                }
            }
            for name in &part.changed {
                out += &format!("  other: {name}\n");
            }
        }
        out
    })?;
    Ok(exit_code::SUCCESS)
}
