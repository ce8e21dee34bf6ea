//! What a client asks for, as a command line of the program.

use crate::Shared;
use crate::place::word;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::Path;

/// Why something is not done, and what a client can do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error: {message}{}", hints.iter().map(|it| format!("\nhint: {it}")).collect::<String>())]
pub struct Refusal {
    pub message: String,
    pub hints: Vec<String>,
}

impl Refusal {
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hints: Vec::new(),
        }
    }

    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

/// In which form a result comes back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// What people read.
    #[default]
    Text,
    /// The object that the command prints with `--json`.
    Json,
}

/// The words of a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<OsString>);

impl Words {
    pub fn new(command: &str) -> Self {
        Self(vec![command.into()])
    }

    pub fn words(&self) -> &[OsString] {
        &self.0
    }

    /// Adds `--name=value`; what a client wrote never stands alone.
    pub fn option(&mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) {
        let mut word = OsString::from(format!("--{name}="));
        word.push(value);
        self.0.push(word);
    }

    /// Adds `--name`.
    pub fn flag(&mut self, name: &str) {
        self.0.push(format!("--{name}").into());
    }

    pub fn add(&mut self, words: &[OsString]) {
        self.0.extend_from_slice(words);
    }

    /// Adds words behind which there are no options.
    pub fn rest(&mut self, words: impl IntoIterator<Item = impl Into<OsString>>) {
        self.flag("");
        self.0.extend(words.into_iter().map(Into::into));
    }
}

/// A call that one run of the program answers.
#[derive(Clone, Debug)]
pub struct Call {
    pub words: Words,
    pub form: Form,
    /// Evaluations that it may make.
    pub evaluations: u32,
    /// What a client is told before the answer.
    pub note: Option<String>,
}

/// Reads the arguments of a tool.
pub fn arguments<T: DeserializeOwned>(given: Map<String, Value>) -> Result<T, Refusal> {
    serde_json::from_value(Value::Object(given))
        .map_err(|error| Refusal::new(format!("the arguments are not those of the tool: {error}")))
}

/// A kernel for a problem, by name, by path or as text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelCall {
    problem: String,
    kernel: Option<String>,
    source: Option<String>,
    target: Option<String>,
    machine: Option<String>,
    count: Option<u32>,
    #[serde(default)]
    form: Form,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemsCall {
    problem: Option<String>,
    kernel: Option<String>,
    #[serde(default)]
    form: Form,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetsCall {
    target: Option<String>,
    #[serde(default)]
    form: Form,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunsCall {
    problem: Option<String>,
    #[serde(default)]
    form: Form,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShowCall {
    run: String,
    kernel: Option<String>,
    #[serde(default)]
    code: bool,
    #[serde(default)]
    all: bool,
    limit: Option<u32>,
    #[serde(default)]
    form: Form,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffCall {
    run: String,
    from: Option<String>,
    to: Option<String>,
    #[serde(default)]
    form: Form,
}

/// Proposals that are asked for at most.
const MOST_PROPOSALS: u32 = 12;

/// Returns the command line for a tool; none if it is not one that a command answers.
pub fn call(
    shared: &Shared,
    tool: &str,
    given: Map<String, Value>,
) -> Result<Option<Call>, Refusal> {
    let call = match tool {
        "problems" => problems(shared, arguments(given)?),
        "targets" => targets(shared, arguments(given)?),
        "evaluate" => of_kernel(shared, "eval", arguments(given)?),
        "profile" => of_kernel(shared, "profile", arguments(given)?),
        "explain" => of_kernel(shared, "explain", arguments(given)?),
        "propose" => of_kernel(shared, "propose", arguments(given)?),
        "runs" => runs(shared, arguments(given)?),
        "show" => show(shared, arguments(given)?),
        "diff" => diff(shared, arguments(given)?),
        _ => return Ok(None),
    };
    call.map(Some)
}

fn finished(
    mut words: Words,
    form: Form,
    rest: impl IntoIterator<Item = impl Into<OsString>>,
) -> Call {
    if form == Form::Json {
        words.flag("json");
    }
    words.rest(rest);
    Call {
        words,
        form,
        evaluations: 0,
        note: None,
    }
}

fn problems(shared: &Shared, call: ProblemsCall) -> Result<Call, Refusal> {
    let mut words = Words::new("problems");
    words.add(&shared.settings.common);
    if let Some(kernel) = &call.kernel {
        words.option("kernel", word("a kernel", kernel, "")?);
    }
    let problem = call.problem.as_deref();
    let problem = problem.map(|it| shared.place.problem(it)).transpose()?;
    Ok(finished(words, call.form, problem))
}

fn targets(shared: &Shared, call: TargetsCall) -> Result<Call, Refusal> {
    let mut words = Words::new("targets");
    words.add(&shared.settings.common);
    let target = call.target.as_deref();
    let target = target.map(|it| word("a target", it, "")).transpose()?;
    Ok(finished(words, call.form, target))
}

/// Returns the path of a kernel that a client names, or its name in the problem; the second
/// is said to a client that handed over a text.
pub fn kernel(
    shared: &Shared,
    problem: &str,
    (name, source): (Option<&str>, Option<&str>),
) -> Result<(OsString, Option<String>), Refusal> {
    match (name, source) {
        (Some(_), Some(_)) => Err(Refusal::new(
            "a kernel is given by `kernel` or by `source`, not both",
        )),
        (None, None) => Ok(("baseline".into(), None)),
        (None, Some(source)) => {
            let extension = (shared.settings.extension)(problem);
            let path = shared.place.keep_kernel(source, &extension)?;
            let note = format!("the kernel is kept as {}", shared.place.shown(&path));
            Ok((path.into(), Some(note)))
        }
        (Some(name), None) if name.contains(['/', '.']) => {
            Ok((shared.place.file("kernel", name)?.into(), None))
        }
        (Some(name), None) => {
            let word = word("a kernel", name, "")?;
            // The command takes what is no kernel of the problem for a file.
            if shared.place.has(word) {
                shared.place.file("kernel", word)?;
            }
            Ok((word.into(), None))
        }
    }
}

fn of_kernel(shared: &Shared, tool: &str, call: KernelCall) -> Result<Call, Refusal> {
    let problem = shared.place.problem(&call.problem)?;
    let given = (call.kernel.as_deref(), call.source.as_deref());
    let (kernel, note) = kernel(shared, problem, given)?;
    let mut words = match tool {
        "explain" => {
            let mut words = Words::new("profile");
            words.flag("brief");
            words
        }
        command => Words::new(command),
    };
    words.add(&shared.settings.common);
    words.option("kernel", kernel);
    if let Some(target) = &call.target {
        words.option("target", word("a target", target, "")?);
    }
    if let Some(machine) = &call.machine {
        words.option("machine", word("a machine", machine, "")?);
    }
    if tool == "propose" {
        let count = call.count.unwrap_or(6);
        if !(1..=MOST_PROPOSALS).contains(&count) {
            return Err(Refusal::new(format!(
                "`count` is from 1 to {MOST_PROPOSALS}"
            )));
        }
        words.option("count", count.to_string());
        let folder = shared.place.fresh_folder("proposals")?;
        words.option("out", shared.place.shown(&folder));
    }
    let evaluations = u32::from(tool != "propose");
    Ok(Call {
        evaluations,
        note,
        ..finished(words, call.form, [problem])
    })
}

fn runs(shared: &Shared, call: RunsCall) -> Result<Call, Refusal> {
    let mut words = Words::new("runs");
    if let Some(problem) = &call.problem {
        words.option("problem", word("a problem", problem, "/")?);
    }
    for run in shared.place.runs_outside()? {
        words.option("without", run);
    }
    let none: [&Path; 0] = [];
    Ok(finished(words, call.form, none))
}

fn show(shared: &Shared, call: ShowCall) -> Result<Call, Refusal> {
    let run = shared.place.run(&call.run)?;
    let mut words = Words::new("show");
    let mut rest = vec![run.into_os_string()];
    match (&call.kernel, call.all) {
        (Some(_), true) => return Err(Refusal::new("`all` lists all kernels; leave `kernel` out")),
        (Some(kernel), false) if call.code => {
            words.option("kernel", word("a kernel", kernel, "")?);
        }
        (Some(kernel), false) => rest.push(word("a kernel", kernel, "")?.into()),
        (None, true) => {
            words.flag("all");
            let limit = call.limit.unwrap_or(50);
            if limit == 0 {
                return Err(Refusal::new("`limit` is at least 1"));
            }
            words.option("limit", limit.to_string());
        }
        (None, false) => {}
    }
    Ok(finished(words, call.form, rest))
}

fn diff(shared: &Shared, call: DiffCall) -> Result<Call, Refusal> {
    let run = shared.place.run(&call.run)?;
    let mut rest = vec![run.into_os_string()];
    if call.to.is_some() && call.from.is_none() {
        return Err(Refusal::new("`to` needs `from`"));
    }
    for kernel in call.from.iter().chain(&call.to) {
        rest.push(word("a kernel", kernel, "")?.into());
    }
    Ok(finished(Words::new("diff"), call.form, rest))
}
