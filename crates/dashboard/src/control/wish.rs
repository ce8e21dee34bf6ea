//! What a browser may wish, and the command line that it becomes.

use super::Control;
use crate::Shared;
use crate::answers::{Refused, not_found};
use axum::http::StatusCode;
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use std::path::PathBuf;

/// Longest name, in bytes.
const LONGEST: usize = 120;

/// What the browser wants.
#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Wish {
    /// A new run.
    Start {
        problem: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        strategy: String,
        #[serde(default)]
        seed: Option<u64>,
        #[serde(default)]
        model: String,
        #[serde(default)]
        max_usd: Option<f64>,
        #[serde(default)]
        max_evaluations: Option<u32>,
        #[serde(default)]
        max_minutes: Option<f64>,
    },
    /// The end of a run that is going on, as by Ctrl-C.
    Stop { run: String },
    /// A run that has ended goes on, further if a bound is raised.
    Extend {
        run: String,
        #[serde(default)]
        max_evaluations: Option<u32>,
        #[serde(default)]
        iterations: Option<u32>,
    },
    /// A new run from the beam of another one, or from one of its kernels.
    Fork {
        run: String,
        #[serde(default)]
        kernel: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        max_evaluations: Option<u32>,
    },
}

fn bad(message: impl Into<String>) -> Refused {
    (StatusCode::BAD_REQUEST, message.into() + "\n")
}

/// Returns a word that is one of those that it may be: no flag, no path out of the folder.
pub fn word<'a>(what: &str, text: &'a str, also: &str) -> Result<&'a str, Refused> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_' || c == '-';
    let is_good = !text.is_empty()
        && text.len() <= LONGEST
        && text.chars().all(|c| is_plain(c) || also.contains(c))
        && !text.starts_with(['-', '.', '/'])
        && !text.split('/').any(|part| part.starts_with('.'));
    match is_good {
        true => Ok(text),
        false => Err(bad(format!(
            "{what} may have letters, digits, dots, dashes and underscores only"
        ))),
    }
}

fn flag(words: &mut Vec<String>, name: &str, value: Option<impl ToString>) {
    words.extend(value.map(|value| format!("--{name}={}", value.to_string())));
}

/// Returns a positive number, if one is given.
fn positive(what: &str, value: Option<f64>) -> Result<Option<f64>, Refused> {
    match value {
        Some(value) if !(value.is_finite() && 0.0 < value) => {
            Err(bad(format!("{what} must be more than 0")))
        }
        value => Ok(value),
    }
}

impl Wish {
    /// Does it; returns the name of the run that it is about.
    pub fn done(self, shared: &Shared, control: &Control) -> Result<String, Refused> {
        let program = &shared.settings.program;
        let folder_of = |run: &str| {
            let found = shared.runs.folder_of(run);
            found.ok_or_else(|| not_found("there is no such run".to_owned()))
        };
        let mut words = vec!["optimize".to_owned()];
        match self {
            Self::Stop { run } => {
                let folder = folder_of(&run)?;
                let process = autocomp_store::live_process(&folder);
                let pid = process.and_then(|it| Pid::from_raw(it.cast_signed()));
                let Some(pid) = pid else {
                    let message = "no process of this machine is at work on the run\n";
                    return Err((StatusCode::CONFLICT, message.to_owned()));
                };
                kill_process(pid, Signal::INT).map_err(|error| {
                    let message = format!("the run cannot be stopped: {error}\n");
                    (StatusCode::CONFLICT, message)
                })?;
                Ok(run)
            }
            Self::Extend {
                run,
                max_evaluations,
                iterations,
            } => {
                let folder = folder_of(&run)?;
                if autocomp_store::live_holder(&folder).is_some() {
                    let message = "the run is going on already\n";
                    return Err((StatusCode::CONFLICT, message.to_owned()));
                }
                words.push(format!("--resume={}", folder.display()));
                flag(&mut words, "max-evaluations", max_evaluations);
                flag(&mut words, "iterations", iterations);
                control.start(program, run.clone(), &words)?;
                Ok(run)
            }
            Self::Fork {
                run,
                kernel,
                name,
                max_evaluations,
            } => {
                let folder = folder_of(&run)?;
                let mut from = format!("--from={}", folder.display());
                if !kernel.is_empty() {
                    from += ":";
                    from += word("a kernel", &kernel, "")?;
                }
                let base = match run.as_str() {
                    "." => "run",
                    run => run.rsplit('/').next().unwrap_or(run),
                };
                let (name, place) = new_folder(shared, &name, &format!("{base}-fork"))?;
                words.push(from);
                words.push(format!("--run-dir={}", place.display()));
                flag(&mut words, "max-evaluations", max_evaluations);
                control.start(program, name.clone(), &words)?;
                Ok(name)
            }
            Self::Start {
                problem,
                name,
                strategy,
                seed,
                model,
                max_usd,
                max_evaluations,
                max_minutes,
            } => {
                let problem = word("a problem", &problem, "/")?;
                if !strategy.is_empty() {
                    let strategy = word("a strategy", &strategy, "")?;
                    flag(&mut words, "strategy", Some(strategy));
                }
                flag(&mut words, "seed", seed);
                if !model.is_empty() {
                    words.push(format!("--model={}", provider_model(&model)?));
                    if model != "rewriter" && max_usd.is_none() {
                        return Err(bad("say what the model may cost at most"));
                    }
                }
                flag(
                    &mut words,
                    "max-usd",
                    positive("the most that it costs", max_usd)?,
                );
                flag(&mut words, "max-evaluations", max_evaluations);
                flag(
                    &mut words,
                    "max-minutes",
                    positive("the most minutes", max_minutes)?,
                );
                let last = problem.rsplit('/').next().unwrap_or(problem);
                let usual = format!("{last}-s{}", seed.unwrap_or(0));
                let (name, place) = new_folder(shared, &name, &usual)?;
                words.push(format!("--run-dir={}", place.display()));
                words.push("--".to_owned());
                words.push(problem.to_owned());
                control.start(program, name.clone(), &words)?;
                Ok(name)
            }
        }
    }
}

/// Returns the name of a model of a provider. Programs, folders and addresses as models are for
/// the command line only.
pub fn provider_model(model: &str) -> Result<&str, Refused> {
    let model = word("a model", model, ":/")?;
    let provider = model.split("::").next().unwrap_or_default();
    if model != "rewriter" && (!model.contains("::") || ["command", "mailbox"].contains(&provider))
    {
        return Err(bad(
            "a model is named PROVIDER::NAME here; programs and folders as models are for the \
             command line",
        ));
    }
    Ok(model)
}

/// Returns a run's name and folder, neither of which is there yet.
fn new_folder(shared: &Shared, name: &str, usual: &str) -> Result<(String, PathBuf), Refused> {
    let root = shared.runs.folder();
    if root.join("run.sqlite").is_file() {
        return Err(bad(
            "the dashboard shows one run only; serve the folder above it to start others",
        ));
    }
    if !name.is_empty() {
        let name = word("a name", name, "")?;
        let place = root.join(name);
        return match place.exists() {
            true => Err(bad(format!("there is something named {name} already"))),
            false => Ok((name.to_owned(), place)),
        };
    }
    let names = (1..1000).map(|number| match number {
        1 => usual.to_owned(),
        number => format!("{usual}-{number}"),
    });
    let free = names
        .map(|name| (root.join(&name), name))
        .find(|it| !it.0.exists());
    let (place, name) = free.ok_or_else(|| bad("name the run"))?;
    Ok((name, place))
}
