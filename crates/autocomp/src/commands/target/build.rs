//! `autocomp target build`: a target from documents.

use super::built_folder::BuiltFolder;
use super::{check_name, knowledge_error};
use crate::error::CliError;
use crate::exit_code;
use crate::measuring::{Bench, evaluator_settings};
use crate::output::{Output, redacted};
use crate::proposing::{connect_error, connector};
use crate::registry;
use crate::run_errors::eval_error;
use crate::settings::{AskingOptions, BudgetSettings};
use crate::workplace::{Workplace, WorkplaceOptions, catalog_error};
use autocomp_building::{
    BuildError, Builder, BuilderSettings, Built, Documents, Estimate, Finding, Flaw, Incomplete,
    Limits, LintInput, Part, Record, evidence_text, lint, read_documents,
};
use autocomp_catalog::{Catalog, Example, Rules, Target};
use autocomp_core::{Outcome, Scope};
use autocomp_eval::Evaluator as _;
use autocomp_eval::text::grouped;
use autocomp_knowledge::{Knowledge, Standing, write_target};
use autocomp_llm::ReservationJournal;
use clap::Args;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// Make a target of documents: text, Markdown, HTML, PDF, notebooks and programs
///
/// A model says which passages are of use for what, and writes each part as statements that cite
/// them. What no passage supports is dropped. What was answered is kept below `.build` in the
/// folder of `--out`: a second call asks only what is missing. The new target stands on one that
/// there is, which says how kernels are evaluated and has what the documents do not say.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Name of the new target
    name: String,
    /// Documents: files, folders with all that is in them, an llms.txt or SKILL.md with the files
    /// that it names beside it; nothing is fetched
    #[arg(long, required = true, num_args = 1.., value_name = "PATH")]
    from: Vec<PathBuf>,
    /// What is wanted, in a sentence or two: which machine, which kernels
    #[arg(long, value_name = "TEXT")]
    scope: String,
    /// Target that it stands on
    #[arg(long, value_name = "TARGET")]
    like: String,
    /// Folder for the target, to be named with `--data`
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// Language model, as for `optimize`; several take turns
    #[arg(long = "model", required = true, value_name = "MODEL")]
    models: Vec<String>,
    /// Part to be asked for; of the others, answers of earlier calls count. One of architecture,
    /// isa, menu, translation, rules, examples, figures [default: all]
    #[arg(long = "part", value_name = "PART")]
    parts: Vec<Part>,
    /// Ask for these parts anew, although there are answers
    #[arg(long)]
    again: bool,
    /// Only tell what it would cost
    #[arg(long)]
    estimate: bool,
    /// Dollars that it may cost at most, all calls for this target together; needed for models
    /// that cost something
    #[arg(long, value_name = "DOLLARS")]
    max_usd: Option<f64>,
    /// Requests at most, all calls for this target together
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,
    /// Problem with which examples that are whole kernels are evaluated
    #[arg(long, value_name = "NAME")]
    problem: Option<String>,
    #[command(flatten)]
    asking: AskingOptions,
    #[command(flatten)]
    workplace: WorkplaceOptions,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct BuildReport {
    /// Whether everything that was asked for was answered; nothing is written otherwise.
    complete: bool,
    /// The folder of the target.
    target: Option<PathBuf>,
    documents: usize,
    passages: usize,
    /// What was not read, one line each.
    unread: Vec<String>,
    parts: Vec<PartReport>,
    findings: Vec<Finding>,
    /// What was left to be asked when the command began.
    estimate: Estimate,
    /// Requests that were not answered, and why.
    failures: Vec<Failure>,
    /// What all calls for this target have cost, in dollars.
    usd: f64,
    /// And how many requests.
    requests: u64,
}

/// What became of a part.
#[derive(Serialize)]
struct PartReport {
    part: Part,
    /// Passages that are of use for it.
    passages: usize,
    statements: usize,
    dropped: BTreeMap<Flaw, usize>,
    /// `documents`, or the target that has it in their place, or `none`.
    origin: String,
}

#[derive(Serialize)]
struct Failure {
    request: String,
    why: String,
}

/// Runs the command.
pub(super) fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    check_name(&arguments.name)?;
    if redacted(&arguments.name) != arguments.name {
        return Err(
            CliError::usage("the name of the target has a key in it").hint("give it another name")
        );
    }
    if arguments.scope.trim().is_empty() {
        return Err(CliError::usage("`--scope` says nothing")
            .hint("say in a sentence which machine and which kernels are meant"));
    }
    let mut workplace = Workplace::open(&arguments.workplace)?;
    let like = workplace.target(&arguments.like)?;
    let place = BuiltFolder::new(&arguments.out, &arguments.name);
    place.check()?;
    if !place.target.exists() && workplace.target(&arguments.name).is_ok() {
        return Err(
            CliError::usage(format!("there is a target `{}` already", arguments.name))
                .hint("give the new one another name"),
        );
    }
    let mut documents = read_documents(&arguments.from, &Limits::standard()).map_err(|error| {
        let error_of = match error.path.exists() {
            true => CliError::input,
            false => CliError::usage,
        };
        error_of(error.to_string()).hint("name documents, or folders of them, with `--from PATH`")
    })?;
    let machine = flat(&like)?;
    let asking = arguments.asking.settings()?;
    let mut settings = BuilderSettings {
        scope: arguments.scope.clone(),
        language: registry::language(&like)?.name().to_owned(),
        parts: match arguments.parts.as_slice() {
            [] => Part::ALL.to_vec(),
            parts => parts.to_vec(),
        },
        again: arguments.again,
        parameters: machine.keys().cloned().collect(),
        menu: like
            .menu
            .iter()
            .filter(|it| it.scope == Scope::Step)
            .map(|it| it.id.clone())
            .collect(),
        max_output_tokens: asking.max_output_tokens,
    };
    let (record, spent) = Record::open(&place.record).map_err(|error| {
        CliError::environment(error.to_string())
            .hint("wait for another build in it to end, or name another folder that can be written to with `--out FOLDER`")
    })?;
    let record = Arc::new(record);
    let budget = BudgetSettings {
        max_usd: arguments.max_usd,
        max_requests: arguments.max_requests,
        ..BudgetSettings::default()
    };
    let connector = connector(&asking, &budget, &spent)?;
    // No key is shown to a model, nor written to the target or its record.
    let secrets = connector.secrets();
    documents.masked(|text| secrets.redact(text));
    settings.scope = secrets.redact(&settings.scope);
    let models = match arguments.estimate {
        true => connector.estimating(&arguments.models),
        false => connector.connect(&arguments.models),
    };
    let models = models.map_err(|error| connect_error(&error))?;
    let journal: Arc<dyn ReservationJournal> = record.clone();
    connector.budget().journal_reservations(&journal);
    let builder = Builder::new(&settings, &documents, &record);
    let estimate = builder.estimate(&models);
    output.message(estimate_text(&documents, &estimate));
    let mut report = BuildReport {
        complete: false,
        target: None,
        documents: documents.files.len(),
        passages: documents.passages.len(),
        unread: documents.unread.clone(),
        parts: Vec::new(),
        findings: Vec::new(),
        estimate,
        failures: Vec::new(),
        usd: spent.cost.0 as f64 / 1e6,
        requests: spent.requests,
    };
    if arguments.estimate {
        output.result(&report, || text(&report, arguments))?;
        return Ok(exit_code::SUCCESS);
    }
    if 0.0 < estimate.usd.most && arguments.max_usd.is_none() {
        return Err(CliError::usage(format!(
            "it may cost up to ${:.2}, and no bound is set",
            estimate.usd.most
        ))
        .hint("set one with `--max-usd DOLLARS`; what is answered until then is kept"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment(format!("failed to start a thread: {error}")))?;
    let tell = |it: autocomp_building::Progress| {
        output.message(format!("{} of {}  {}", it.done, it.of, it.label));
    };
    let built = runtime.block_on(builder.build(&models, &tell));
    for notice in connector.take_notices() {
        output.message(notice);
    }
    let used = connector.budget().spent();
    report.usd = used.cost.0 as f64 / 1e6;
    report.requests = used.requests;
    let built = match built {
        Ok(built) => built,
        Err(BuildError::Record(error)) => return Err(CliError::environment(error.to_string())),
        Err(BuildError::Incomplete(left)) => {
            return incomplete(report, left, arguments, output);
        }
    };
    report.parts = parts(&built, &like);
    let knowledge = built.assembly.knowledge(&arguments.name, &settings.scope);
    let evidence = evidence_text(&built.assembly, &documents);
    let target = written(arguments, &workplace, &like, &place, (knowledge, &evidence))?;
    report.complete = true;
    report.target = Some(place.target.clone());
    let supported = built.assembly.menu();
    let flaw = example_flaw(arguments, &mut workplace, output)?;
    report.findings = lint(&LintInput {
        target: &target,
        like: &like,
        supported: &supported,
        machine: &machine,
        figures: &built.assembly.figures(&documents),
        example_flaw: &*flaw,
    });
    output.result(&report, || text(&report, arguments))?;
    Ok(exit_code::SUCCESS)
}

fn incomplete(
    mut report: BuildReport,
    left: Incomplete,
    arguments: &Arguments,
    output: Output,
) -> Result<u8, CliError> {
    let failures = left.failures.into_iter();
    report.failures = failures
        .map(|(request, why)| Failure { request, why })
        .collect();
    output.result(&report, || text(&report, arguments))?;
    Ok(exit_code::ENVIRONMENT)
}

/// Writes the target, and returns it as it is loaded.
fn written(
    arguments: &Arguments,
    workplace: &Workplace,
    like: &Target,
    place: &BuiltFolder,
    (mut knowledge, evidence): (Knowledge, &str),
) -> Result<Target, CliError> {
    // How kernels are judged, documents do not say.
    if knowledge.rules != Rules::default() {
        knowledge.rules = like.rules.followed_by(&knowledge.rules);
    }
    let parent = workplace
        .catalog
        .inherited(&like.name)
        .map_err(catalog_error)?;
    let standing = Standing {
        like,
        parent: parent.as_deref(),
        name: &arguments.name,
        extension: registry::language(like)?.extension(),
    };
    let next = place.record.join("next");
    let failed = |error: std::io::Error| {
        CliError::environment(format!("failed to write {}: {error}", next.display()))
    };
    if next.exists() {
        fs::remove_dir_all(&next).map_err(failed)?;
    }
    write_target(&knowledge, standing, &next).map_err(knowledge_error)?;
    let made = next.join("targets").join(&arguments.name);
    fs::write(made.join("evidence.md"), evidence).map_err(failed)?;
    // What nobody can use is told of before it takes the place of anything.
    let mut catalog = Catalog::built_in().map_err(catalog_error)?;
    for data in &arguments.workplace.data {
        let is_out = data.canonicalize().ok() == arguments.out.canonicalize().ok();
        if !is_out {
            catalog.add_folder(data).map_err(catalog_error)?;
        }
    }
    catalog.add_folder(&next).map_err(catalog_error)?;
    let target = catalog.target(&arguments.name).map_err(catalog_error)?;
    place.replace(&made)?;
    Ok(target)
}

fn parts(built: &Built, like: &Target) -> Vec<PartReport> {
    let part = |part: Part| {
        let statements = built.assembly.statements.get(&part).map_or(0, Vec::len);
        let is_none = matches!(part, Part::Examples | Part::Translation | Part::Figures);
        PartReport {
            part,
            passages: built.routed.get(&part).copied().unwrap_or(0),
            statements,
            dropped: built
                .assembly
                .dropped
                .get(&part)
                .cloned()
                .unwrap_or_default(),
            origin: match statements {
                0 if is_none => "none".to_owned(),
                0 => like.name.clone(),
                _ => "documents".to_owned(),
            },
        }
    };
    Part::ALL.into_iter().map(part).collect()
}

/// Returns the parameters of the default machine of a target by name.
fn flat(target: &Target) -> Result<BTreeMap<String, String>, CliError> {
    fn add(table: &toml::Table, name: &str, out: &mut BTreeMap<String, String>) {
        for (key, value) in table {
            let name = match name {
                "" => key.clone(),
                name => format!("{name}.{key}"),
            };
            match value {
                toml::Value::Table(table) => add(table, &name, out),
                toml::Value::Array(_) => {}
                value => {
                    out.insert(name, value.to_string());
                }
            }
        }
    }
    let text = target.machine(None).map_err(catalog_error)?;
    let table: toml::Table = text.parse().map_err(CliError::input)?;
    let mut out = BTreeMap::new();
    add(&table, "", &mut out);
    Ok(out)
}

type ExampleFlaw = dyn Fn(&Example) -> Option<String>;

/// Returns who says what is wrong with examples: those that are whole kernels are evaluated, if
/// there is a problem.
fn example_flaw(
    arguments: &Arguments,
    workplace: &mut Workplace,
    output: Output,
) -> Result<Box<ExampleFlaw>, CliError> {
    let Some(problem) = &arguments.problem else {
        return Ok(Box::new(|_| None));
    };
    let bench = Bench::open(workplace, problem, None, evaluator_settings(true), output)?;
    let language = registry::language(&bench.target)?;
    Ok(Box::new(move |example| {
        let codes = [("before", &example.before), ("after", &example.after)];
        codes.into_iter().find_map(|(part, code)| {
            if language.flaw(code, &bench.problem.entry).is_some() {
                return None;
            }
            match bench.evaluator.evaluate(code) {
                Ok(evaluation) if evaluation.outcome == Outcome::Ok => None,
                Ok(evaluation) => Some(format!(
                    "the kernel `{part}` is not right ({:?})",
                    evaluation.outcome
                )),
                Err(error) => Some(eval_error(&error).message),
            }
        })
    }))
}

fn estimate_text(documents: &Documents, estimate: &Estimate) -> String {
    let count = |number: f64| grouped(number.ceil() as u64);
    let requests = |number: f64| counted(number.ceil() as usize, "request");
    format!(
        "{} of {}; left to ask: about {}, {} tokens in, {} out, ${:.2}; at most {}, ${:.2}",
        counted(documents.passages.len(), "passage"),
        counted(documents.files.len(), "document"),
        requests(estimate.requests.expected),
        count(estimate.input_tokens.expected),
        count(estimate.output_tokens.expected),
        estimate.usd.expected,
        requests(estimate.requests.most),
        estimate.usd.most,
    )
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{} {what}s", grouped(count as u64)),
    }
}

fn text(report: &BuildReport, arguments: &Arguments) -> String {
    let mut out = String::new();
    if !report.unread.is_empty() {
        out += "not read:\n";
        for line in &report.unread {
            out += &format!("  - {line}\n");
        }
    }
    for part in &report.parts {
        let dropped: Vec<String> = part
            .dropped
            .iter()
            .map(|(flaw, count)| format!("{count} {}", flaw.words()))
            .collect();
        let dropped = match dropped.is_empty() {
            true => String::new(),
            false => format!("; dropped: {}", dropped.join(", ")),
        };
        let origin = match part.origin.as_str() {
            "documents" | "none" => String::new(),
            origin => format!("; {origin} stands in"),
        };
        out += &format!(
            "{:<13} {} from {}{dropped}{origin}\n",
            part.part.name(),
            counted(part.statements, "statement"),
            counted(part.passages, "passage"),
        );
    }
    if !report.findings.is_empty() {
        out += "looks wrong:\n";
        for finding in &report.findings {
            out += &format!("  - {} ({})\n", finding.text, finding.kind);
        }
    }
    out += &format!(
        "cost         ${:.4}, {}\n",
        report.usd,
        counted(report.requests as usize, "request"),
    );
    if let Some(target) = &report.target {
        out += &format!(
            "target       {}\nevidence     {}\ncompare      autocomp target diff {} {} --data {}\n",
            target.display(),
            target.join("evidence.md").display(),
            arguments.like,
            arguments.name,
            arguments.out.display(),
        );
    }
    if !report.failures.is_empty() {
        out += "not answered:\n";
        for failure in &report.failures {
            out += &format!("  - {}: {}\n", failure.request, failure.why);
        }
        out += "what was answered is kept: the same command asks for the rest\n";
    }
    out
}
