//! The server of one client.

use crate::Shared;
use crate::answer::{self, PAGE, refused, structured, text};
use crate::budget::Taken;
use crate::calls::{Call, Form, Refusal, arguments, call};
use crate::place::page;
use crate::process::{self, Ended};
use crate::searches::{Search, StartCall, start};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, CreateTaskResult, ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use rmcp::task_manager::{TaskExit, TaskOptions};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The longest that `search_status` waits.
const LONGEST_WAIT: Duration = Duration::from_secs(300);
/// How often a client is to ask for a task, in milliseconds.
const POLL_MS: u64 = 2_000;
/// The exit code of a program that does not take its words.
const USAGE: i32 = 2;

/// The server of one client.
#[derive(Clone)]
pub struct Server {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunCall {
    run: String,
    wait_s: Option<f64>,
    #[serde(default)]
    form: Form,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadCall {
    path: String,
    #[serde(default)]
    offset: u64,
    #[serde(default)]
    form: Form,
}

/// Tells a client how a call goes on, if it wants to know.
pub struct Progress {
    to: Option<(Peer<RoleServer>, ProgressToken)>,
    told: f64,
}

impl Progress {
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let token = context.meta.get_progress_token();
        Self {
            to: token.map(|token| (context.peer.clone(), token)),
            told: 0.0,
        }
    }

    async fn tell(&mut self, line: &str) {
        let message = answer::message(line);
        if let Some((peer, token)) = &self.to
            && !message.is_empty()
        {
            self.told += 1.0;
            let param = ProgressNotificationParam::new(token.clone(), self.told);
            // A client that went away is noticed where it is answered.
            let _ = peer.notify_progress(param.with_message(message)).await;
        }
    }
}

impl Server {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Runs the program for a call, within the limit on time.
    async fn run(&self, call: &Call, progress: &mut Progress) -> Result<Ended, Refusal> {
        let evaluations = match call.evaluations {
            0 => 0,
            wanted => self.shared.budget.take_evaluations(wanted)?,
        };
        let limit = self.shared.settings.limits.call;
        let turn = self.shared.turns.acquire().await;
        let _turn = turn.map_err(|_| Refusal::new("the server is ending"))?;
        let settings = &self.shared.settings;
        let child = process::start(settings, &call.words, &settings.environment)?;
        let (lines, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let ended = process::ended(child, move |line| {
            // Whoever hears may have gone.
            let _ = lines.send(line.to_owned());
        });
        let telling = async {
            while let Some(line) = heard.recv().await {
                progress.tell(&line).await;
            }
        };
        let both = async { tokio::join!(ended, telling).0 };
        let ended = tokio::time::timeout(limit, both).await.map_err(|_| {
            Refusal::new(format!(
                "the call took longer than {} s and was ended",
                limit.as_secs()
            ))
        })?;
        // Words that the program does not take are found before anything is evaluated.
        if ended.code == Some(USAGE) {
            self.shared.budget.give_back(Taken {
                evaluations,
                micros: 0,
            });
        }
        Ok(ended)
    }

    pub async fn answered(
        &self,
        tool: &str,
        given: serde_json::Map<String, Value>,
        progress: &mut Progress,
    ) -> Result<CallToolResult, Refusal> {
        let shared = &self.shared;
        match tool {
            "search_start" => {
                let call: StartCall = arguments(given)?;
                let search = start(shared, &call).await?;
                // What cannot begin is told here, not when somebody asks how far it is.
                if let Some(ended) = search.refused().await {
                    return Ok(answer::of_call(
                        &shared.place,
                        tool,
                        call.form,
                        None,
                        &ended,
                    ));
                }
                Ok(self.started(&search, call.form))
            }
            "search_status" => {
                let call: RunCall = arguments(given)?;
                self.status(&call, progress).await
            }
            "search_result" => {
                let call: RunCall = arguments(given)?;
                self.result(&call.run, call.form, progress).await
            }
            "search_cancel" => {
                let call: RunCall = arguments(given)?;
                let search = shared
                    .searches
                    .get(&call.run)
                    .ok_or_else(|| not_here(&call.run))?;
                search.stop().await;
                self.status(&call, progress).await
            }
            "read" => self.read(&arguments(given)?),
            _ => {
                let call = call(shared, tool, given)?;
                let call =
                    call.ok_or_else(|| Refusal::new(format!("there is no tool `{tool}`")))?;
                let ended = self.run(&call, progress).await?;
                let note = call.note.as_deref();
                Ok(answer::of_call(
                    &shared.place,
                    tool,
                    call.form,
                    note,
                    &ended,
                ))
            }
        }
    }

    fn started(&self, search: &Search, form: Form) -> CallToolResult {
        let taken = self.shared.budget.taken();
        let left = self
            .shared
            .settings
            .limits
            .evaluations
            .saturating_sub(taken.evaluations);
        match form {
            Form::Json => structured(json!({
                "run": search.name,
                "evaluations_granted": search.granted,
                "evaluations_left": left,
            })),
            Form::Text => text(format!(
                "started {} with at most {} evaluations; {left} evaluations are left for other calls\n\
                 ask `search_status` with `wait_s`, then `search_result`\n",
                search.name, search.granted
            )),
        }
    }

    /// Tells how far a search is: of one that was started here what it says, of any what its
    /// run folder says.
    async fn status(
        &self,
        call: &RunCall,
        progress: &mut Progress,
    ) -> Result<CallToolResult, Refusal> {
        let search = self.shared.searches.get(&call.run);
        let wait = Duration::try_from_secs_f64(call.wait_s.unwrap_or(0.0));
        let wait = wait.map_err(|_| Refusal::new("`wait_s` is not a number of seconds"))?;
        if let Some(search) = &search {
            let mut course = search.follow();
            let until_ended = async {
                loop {
                    let now = course.borrow_and_update().clone();
                    progress.tell(&now.line).await;
                    if now.ended.is_some() || course.changed().await.is_err() {
                        return;
                    }
                }
            };
            let _ = tokio::time::timeout(wait.min(LONGEST_WAIT), until_ended).await;
        }
        let course = search.as_ref().map(Search::course);
        let ended = course.as_ref().and_then(|it| it.ended.clone());
        let folder = match &search {
            Some(search) => search.folder.clone(),
            None => self.shared.place.run(&call.run)?,
        };
        let name = self.shared.place.shown(&folder);
        // Before its folder is there, only the process can tell.
        let is_there = folder.join("run.sqlite").is_file();
        if let Some(ended) = &ended
            && !is_there
        {
            return Ok(answer::of_call(
                &self.shared.place,
                "search",
                call.form,
                None,
                ended,
            ));
        }
        let state = match (&course, &ended) {
            (Some(_), None) => "going on",
            (Some(_), Some(ended)) if ended.code == Some(0) => "finished",
            (Some(_), Some(_)) => "stopped",
            (None, _) => "not started here",
        };
        let said = course
            .as_ref()
            .map(|it| it.line.clone())
            .unwrap_or_default();
        let shown = match is_there {
            true => Some(self.shown(&name, Form::Json, progress).await?),
            false => None,
        };
        let object: Value = shown
            .and_then(|it| serde_json::from_str(&it.result).ok())
            .unwrap_or_default();
        let status = json!({
            "run": name,
            "process": state,
            "said": said,
            "problem": object["problem"],
            "status": object["status"],
            "evaluations": object["progress"]["evaluations"],
            "baseline": object["lineage"][0]["cost"],
            "best": object["progress"]["best"],
            "speedup": object["speedup"],
        });
        Ok(match call.form {
            Form::Json => structured(status),
            Form::Text => text(status_text(&status, ended.as_deref())),
        })
    }

    async fn shown(
        &self,
        run: &str,
        form: Form,
        progress: &mut Progress,
    ) -> Result<Ended, Refusal> {
        let given = json!({ "run": run, "form": if form == Form::Json { "json" } else { "text" } });
        let given = given.as_object().cloned().unwrap_or_default();
        let call =
            call(&self.shared, "show", given)?.ok_or_else(|| Refusal::new("no such tool"))?;
        self.run(&call, progress).await
    }

    /// Shows what a search found, with the file of its best kernel.
    async fn result(
        &self,
        run: &str,
        form: Form,
        progress: &mut Progress,
    ) -> Result<CallToolResult, Refusal> {
        let place = &self.shared.place;
        if let Some(search) = self.shared.searches.get(run)
            && let Some(ended) = search.course().ended
            && !search.folder.join("run.sqlite").is_file()
        {
            return Ok(answer::of_call(place, "search", form, None, &ended));
        }
        let folder = place.run(run)?;
        let ended = self.shown(&place.shown(&folder), form, progress).await?;
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut files = files.map(|it| it.path());
        let best =
            files.find(|it| it.file_stem().is_some_and(|stem| stem == "best") && it.is_file());
        let note = best.map(|it| format!("the best kernel is {}", place.shown(&it)));
        Ok(answer::of_call(
            place,
            "search",
            form,
            note.as_deref(),
            &ended,
        ))
    }

    fn read(&self, call: &ReadCall) -> Result<CallToolResult, Refusal> {
        let path = self.shared.place.file("file", &call.path)?;
        let (page, end, length) = page(&path, call.offset, PAGE)?;
        Ok(match call.form {
            Form::Json => structured(json!({ "text": page, "end": end, "length": length })),
            Form::Text if end < length => text(format!(
                "{page}\n… {end} of {length} bytes; go on with offset {end}\n"
            )),
            Form::Text => text(page),
        })
    }

    /// Starts a search as a task, whose result is what the search found.
    pub async fn start_task(&self, call: &StartCall) -> Result<CreateTaskResult, Refusal> {
        let search = start(&self.shared, call).await?;
        let form = call.form;
        let server = self.clone();
        let options = TaskOptions::new()
            // A search has its own limit on time.
            .with_ttl_ms(None)
            .with_poll_interval_ms(POLL_MS)
            .with_status_message(format!("searching in {}", search.name));
        let task = self.shared.tasks.spawn(options, move |context| {
            Box::pin(async move {
                let mut course = search.follow();
                while course.borrow_and_update().ended.is_none() {
                    tokio::select! {
                        changed = course.changed() => if changed.is_err() { break },
                        () = context.cancelled() => {
                            search.stop().await;
                            return Err(TaskExit::Cancelled);
                        }
                    }
                    context.set_status_message(course.borrow().line.clone());
                }
                let mut progress = Progress {
                    to: None,
                    told: 0.0,
                };
                let result = server.result(&search.name, form, &mut progress).await;
                Ok(result.unwrap_or_else(|refusal| refused(&refusal)))
            })
        });
        Ok(CreateTaskResult::new(task))
    }
}

fn not_here(run: &str) -> Refusal {
    Refusal::new(format!("no search `{run}` was started here"))
}

fn status_text(status: &Value, ended: Option<&Ended>) -> String {
    let text = |value: &Value| match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut out = format!("{}: {}\n", text(&status["run"]), text(&status["process"]));
    let cost = |value: &Value| format!("{} {}", text(&value["value"]), text(&value["unit"]));
    if !status["evaluations"].is_null() {
        out += &format!("evaluations  {}\n", text(&status["evaluations"]));
    }
    if let Some(speedup) = status["speedup"].as_f64() {
        out += &format!("baseline     {}\n", cost(&status["baseline"]));
        out += &format!(
            "best         {}, {speedup:.3}x\n",
            cost(&status["best"]["cost"])
        );
    }
    match ended {
        Some(ended) if ended.code != Some(0) => out += ended.said.trim(),
        _ => out += &format!("said last    {}", text(&status["said"])),
    }
    out.push('\n');
    out
}
