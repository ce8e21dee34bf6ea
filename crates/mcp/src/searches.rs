//! Searches: started as processes, watched, stopped.

use crate::Shared;
use crate::answer::message;
use crate::budget::Taken;
use crate::calls::{Form, Refusal, Words, kernel};
use crate::place::word;
use crate::process::{self, Ended};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// Searches that are remembered; their runs stay where they are.
const MOST_REMEMBERED: usize = 100;
/// Evaluations of a search that names no bound.
const USUAL_EVALUATIONS: u32 = 200;
/// How often it is looked whether a search has begun, and how long between.
const LOOKS: u32 = 200;
const LOOK: Duration = Duration::from_millis(50);
/// How often it is looked whether a resumed search that has said something is refused.
const LOOKS_AT_RESUMED: u32 = 10;
/// How long a search may take to stop.
const STOPPING: Duration = Duration::from_secs(20);

/// What a search is started with.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartCall {
    problem: Option<String>,
    kernel: Option<String>,
    source: Option<String>,
    target: Option<String>,
    machine: Option<String>,
    /// A run to start from, or a kernel of it.
    from: Option<String>,
    /// A run to go on with.
    resume: Option<String>,
    name: Option<String>,
    strategy: Option<String>,
    seed: Option<u64>,
    model: Option<String>,
    max_evaluations: Option<u32>,
    max_minutes: Option<f64>,
    max_usd: Option<f64>,
    iterations: Option<u32>,
    #[serde(default)]
    pub form: Form,
}

/// A search that was started here.
#[derive(Clone)]
pub struct Search {
    /// `runs/NAME`.
    pub name: String,
    pub folder: PathBuf,
    /// Evaluations that it may make.
    pub granted: u32,
    /// Whether its run was there before.
    is_resumed: bool,
    pid: Option<u32>,
    course: watch::Receiver<Course>,
}

/// How far a search is.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// The last line that it said.
    pub line: String,
    /// How it ended.
    pub ended: Option<Arc<Ended>>,
}

impl Search {
    pub fn course(&self) -> Course {
        self.course.borrow().clone()
    }

    /// Returns what tells of its course from now on.
    pub fn follow(&self) -> watch::Receiver<Course> {
        self.course.clone()
    }

    /// Waits until there is a run, and returns how the search ended if it did before.
    pub async fn refused(&self) -> Option<Arc<Ended>> {
        let mut n_heard = 0;
        for _ in 0..LOOKS {
            let course = self.course();
            if let Some(ended) = course.ended {
                return Some(ended).filter(|it| it.code != Some(0));
            }
            // Of a run that was there before only what it says tells that it goes on.
            n_heard += u32::from(!course.line.is_empty());
            let has_begun = match self.is_resumed {
                true => LOOKS_AT_RESUMED < n_heard,
                false => self.folder.join("run.sqlite").is_file(),
            };
            if has_begun {
                return None;
            }
            tokio::time::sleep(LOOK).await;
        }
        None
    }

    /// Waits until it has ended.
    pub async fn ended(&self) {
        let mut course = self.follow();
        // Whoever tells of it tells of its end.
        let _ = course.wait_for(|it| it.ended.is_some()).await;
    }

    /// Stops it as by Ctrl-C: what is under way may finish, and it can be gone on with.
    pub async fn stop(&self) {
        let pid = self.pid.and_then(|it| Pid::from_raw(it.cast_signed()));
        if let Some(pid) = pid
            && self.course().ended.is_none()
        {
            let _ = kill_process(pid, Signal::INT);
            let _ = tokio::time::timeout(STOPPING, self.ended()).await;
        }
    }
}

/// The searches of a server, by name.
#[derive(Default)]
pub struct Searches(Mutex<BTreeMap<String, Search>>);

impl Searches {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Search>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a search that was started here.
    pub fn get(&self, name: &str) -> Option<Search> {
        let searches = self.all();
        let found = searches
            .get(name)
            .or_else(|| searches.get(&format!("runs/{name}")));
        found.cloned()
    }

    fn running(&self) -> Vec<Search> {
        let searches = self.all();
        let running = searches.values().filter(|it| it.course().ended.is_none());
        running.cloned().collect()
    }

    /// Stops all that go on.
    pub async fn stop_all(&self) {
        let running = self.running();
        let handles = running
            .into_iter()
            .map(|it| tokio::spawn(async move { it.stop().await }));
        for handle in handles.collect::<Vec<_>>() {
            let _ = handle.await;
        }
    }
}

/// How many evaluations a run has made, and how many it may make, if that is bounded.
#[derive(Clone, Copy, Debug, Default)]
struct Effort {
    made: u32,
    most: Option<u32>,
}

/// Returns what is known of a run; nothing where it cannot be read.
async fn effort(shared: &Shared, folder: &Path) -> Option<Effort> {
    if !folder.join("run.sqlite").is_file() {
        return Some(Effort::default());
    }
    let mut words = Words::new("show");
    words.flag("json");
    words.rest([folder]);
    let settings = &shared.settings;
    let child = process::start(settings, &words, &settings.environment).ok()?;
    let ended = process::ended(child, |_| {}).await;
    let result: Value = serde_json::from_str(&ended.result).ok()?;
    let number = |name: &str| u32::try_from(result["progress"][name].as_u64()?).ok();
    Some(Effort {
        made: number("evaluations")?,
        most: number("max_evaluations"),
    })
}

/// Returns how many evaluations a search asks for beyond those that its run has made.
fn wanted(call: &StartCall, before: Effort) -> Result<u32, Refusal> {
    if call.max_evaluations == Some(0) {
        return Err(Refusal::new("`max_evaluations` must be at least 1"));
    }
    if let (Some(asked), Some(most)) = (call.max_evaluations, before.most)
        && asked < most
    {
        return Err(Refusal::new(format!(
            "the run goes on until {most} evaluations, and cannot be shortened to {asked}"
        )));
    }
    let usual = before.most.filter(|it| before.made < *it);
    let usual = usual.unwrap_or(before.made.saturating_add(USUAL_EVALUATIONS));
    let most = call.max_evaluations.unwrap_or(usual);
    Ok(most.saturating_sub(before.made))
}

/// Starts a search.
pub async fn start(shared: &Arc<Shared>, call: &StartCall) -> Result<Search, Refusal> {
    // Nothing is waited for between what is looked at below and what follows from it.
    let before = match &call.resume {
        Some(run) => {
            let before = effort(shared, &shared.place.run(run)?).await;
            before.ok_or_else(|| Refusal::new(format!("the run {run} cannot be read")))?
        }
        None => Effort::default(),
    };
    let limits = shared.settings.limits;
    let running = shared.searches.running();
    if limits.searches <= running.len() {
        let names: Vec<String> = running.into_iter().map(|it| it.name).collect();
        return Err(
            Refusal::new(format!("{} is going on already", names.join(", ")))
                .hint("wait for it with `search_status`, or stop it with `search_cancel`"),
        );
    }
    let (mut words, name, folder) = subject(shared, call)?;
    for (option, value) in [
        ("strategy", &call.strategy),
        ("machine", &call.machine),
        ("target", &call.target),
    ] {
        if let Some(value) = value {
            words.option(option, word(&format!("a {option}"), value, "")?);
        }
    }
    for (option, value) in [
        ("seed", call.seed),
        ("iterations", call.iterations.map(u64::from)),
    ] {
        if let Some(value) = value {
            words.option(option, value.to_string());
        }
    }
    let minutes = positive("max_minutes", call.max_minutes)?.unwrap_or(limits.minutes);
    words.option("max-minutes", minutes.min(limits.minutes).to_string());
    let micros = model(shared, call, &mut words)?;
    let wanted = wanted(call, before)?;
    shared.budget.take_micros(micros)?;
    let taken = move |evaluations| Taken {
        evaluations,
        micros,
    };
    let granted = shared.budget.take_evaluations(wanted);
    let granted = granted.inspect_err(|_| shared.budget.give_back(taken(0)))?;
    let most = before.made.saturating_add(granted);
    if granted < wanted && before.most.is_some_and(|it| most < it) {
        shared.budget.give_back(taken(granted));
        return Err(Refusal::new(format!(
            "{name} may still make {wanted} evaluations, and {granted} are left here; a run cannot be shortened"
        ))
        .hint("whoever started the server may start it again with a higher `--max-evaluations`"));
    }
    words.option("max-evaluations", most.to_string());
    words.flag("json");
    if let Some(problem) = &call.problem {
        words.rest([problem]);
    }
    let environment = match micros {
        0 => &shared.settings.environment,
        _ => &shared.settings.environment_of_models,
    };
    // Another server on the folder may have taken the name meanwhile.
    let made = match call.resume {
        Some(_) => Ok(()),
        None => fs::create_dir(&folder),
    };
    let made = made.map_err(|error| {
        Refusal::new(format!("the run folder {name} cannot be made: {error}")).hint("ask again")
    });
    let child = made.and_then(|()| process::start(&shared.settings, &words, environment));
    let child = child.inspect_err(|_| shared.budget.give_back(taken(granted)))?;
    let (sender, course) = watch::channel(Course::default());
    let search = Search {
        name: name.clone(),
        folder: folder.clone(),
        granted,
        is_resumed: call.resume.is_some(),
        pid: child.id(),
        course,
    };
    let mut searches = shared.searches.all();
    if MOST_REMEMBERED <= searches.len() {
        let old = searches.iter().find(|(_, it)| it.course().ended.is_some());
        if let Some(old) = old.map(|(name, _)| name.clone()) {
            searches.remove(&old);
        }
    }
    searches.insert(name, search.clone());
    drop(searches);
    let shared = shared.clone();
    tokio::spawn(async move {
        let ended = process::ended(child, |line| {
            sender.send_modify(|course| {
                course.line = message(line);
            });
        });
        let ended = ended.await;
        // What never began leaves an empty folder.
        let _ = fs::remove_dir(&folder);
        // Models may bill what no journal knows; evaluations that nothing tells of count as made.
        let after = effort(&shared, &folder).await;
        let made = after.map_or(granted, |it| it.made.saturating_sub(before.made));
        shared.budget.give_back(Taken {
            evaluations: granted.saturating_sub(made),
            micros: 0,
        });
        sender.send_modify(|course| course.ended = Some(Arc::new(ended)));
    });
    Ok(search)
}

/// Returns the command line with what is searched from, and the run.
fn subject(shared: &Shared, call: &StartCall) -> Result<(Words, String, PathBuf), Refusal> {
    let mut words = Words::new("optimize");
    words.add(&shared.settings.common);
    if let Some(run) = &call.resume {
        if call.problem.is_some()
            || call.from.is_some()
            || call.kernel.is_some()
            || call.source.is_some()
        {
            return Err(Refusal::new(
                "a run that is resumed has its problem and its kernel",
            ));
        }
        let folder = shared.place.run(run)?;
        words.option("resume", &folder);
        return Ok((words, shared.place.shown(&folder), folder));
    }
    let mut usual = "fork".to_owned();
    if let Some(problem) = &call.problem {
        let problem = shared.place.problem(problem)?;
        let given = (call.kernel.as_deref(), call.source.as_deref());
        if given != (None, None) {
            words.option("baseline", kernel(shared, problem, given)?.0);
        }
        let last = problem.rsplit('/').next().unwrap_or(problem);
        usual = format!("{last}-s{}", call.seed.unwrap_or(0));
    }
    if let Some(from) = &call.from {
        let (run, kernel) = match from.split_once(':') {
            Some((run, kernel)) => (run, Some(word("a kernel", kernel, "")?)),
            None => (from.as_str(), None),
        };
        let mut path = shared.place.run(run)?.into_os_string();
        if let Some(kernel) = kernel {
            path.push(":");
            path.push(kernel);
        }
        words.option("from", path);
    } else if call.problem.is_none() {
        return Err(Refusal::new(
            "name the `problem`, or a run to start `from` or to `resume`",
        ));
    }
    let (name, folder) = shared.place.new_run(call.name.as_deref(), &usual)?;
    words.option("run-dir", &folder);
    Ok((words, name, folder))
}

/// Adds the model that is asked, and returns what it may cost in millionths of a dollar.
fn model(shared: &Shared, call: &StartCall, words: &mut Words) -> Result<u64, Refusal> {
    let Some(model) = call.model.as_deref().filter(|it| *it != "rewriter") else {
        return match call.max_usd {
            Some(_) => Err(Refusal::new(
                "`max_usd` is for a model; the rewriter costs nothing",
            )),
            None => Ok(0),
        };
    };
    if !shared.settings.models.iter().any(|it| it == model) {
        let known = shared.settings.models.iter().map(String::as_str);
        let known: Vec<&str> = ["rewriter"].into_iter().chain(known).collect();
        return Err(Refusal::new("searches here may not ask that model")
            .hint(format!("there are: {}", known.join(", "))));
    }
    let Some(usd) = positive("max_usd", call.max_usd)? else {
        return Err(Refusal::new(
            "say with `max_usd` what the model may cost at most",
        ));
    };
    words.option("model", model);
    words.option("max-usd", usd.to_string());
    Ok((usd * 1e6).ceil().max(1.0) as u64)
}

fn positive(what: &str, value: Option<f64>) -> Result<Option<f64>, Refusal> {
    match value {
        Some(value) if !(value.is_finite() && 0.0 < value) => {
            Err(Refusal::new(format!("`{what}` must be more than 0")))
        }
        value => Ok(value),
    }
}
