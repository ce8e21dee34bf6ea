//! Starting, stopping, extending and forking runs from the browser.
//!
//! Runs are processes of their own, started with the program's own command line, so what a
//! browser can ask for is what `autocomp optimize` can do, less what would let it run
//! programs, reach other machines or write elsewhere than below the folder that is shown.

pub(crate) mod wish;

use crate::Shared;
use crate::answers::{Refused, not_found};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use wish::Wish;

/// Runs that were started here and are going on, at most.
const MOST_RUNNING: usize = 4;
/// Runs remembered.
const MOST_REMEMBERED: usize = 20;
/// How much of what a run printed last is shown, in bytes.
const LAST_WORDS: u64 = 2_000;

/// What the browser may start and stop, and what was started.
pub struct Control {
    /// What a request that changes anything must carry, beside what all must.
    pub token: String,
    started: Mutex<Vec<Process>>,
}

/// A process that was started here.
struct Process {
    number: u64,
    run: String,
    command: String,
    child: Child,
    said: File,
    ended: Option<Ended>,
}

#[derive(Clone, Serialize)]
struct Ended {
    /// Its exit code; none if a signal ended it.
    code: Option<i32>,
    /// What it said last.
    message: String,
}

/// What a page is told of a process that was started here.
#[derive(Serialize)]
pub struct Started {
    number: u64,
    run: String,
    command: String,
    ended: Option<Ended>,
}

impl Control {
    pub fn new(token: String) -> Self {
        Self {
            token,
            started: Mutex::default(),
        }
    }

    fn processes(&self) -> MutexGuard<'_, Vec<Process>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what was started here and what came of it, the latest first.
    pub fn started(&self) -> Vec<Started> {
        let mut processes = self.processes();
        for process in processes.iter_mut() {
            process.look();
        }
        let shown = processes.iter().rev().map(|it| Started {
            number: it.number,
            run: it.run.clone(),
            command: it.command.clone(),
            ended: it.ended.clone(),
        });
        shown.collect()
    }

    /// Starts the program on a run.
    fn start(&self, program: &Path, run: String, words: &[String]) -> Result<(), Refused> {
        let failed = |error: std::io::Error| {
            let message = format!("the run cannot be started: {error}\n");
            (StatusCode::INTERNAL_SERVER_ERROR, message)
        };
        self.started();
        let mut processes = self.processes();
        let n_running = processes.iter().filter(|it| it.ended.is_none()).count();
        if MOST_RUNNING <= n_running {
            let message = format!("{n_running} runs were started here and are going on already\n");
            return Err((StatusCode::CONFLICT, message));
        }
        // Without a name, so it is gone when the last process that has it open is.
        let said = tempfile::tempfile().map_err(failed)?;
        let child = Command::new(program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said.try_clone().map_err(failed)?)
            // Ctrl-C ends the server; runs go on.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let shown: Vec<&str> = words.iter().map(String::as_str).collect();
        let number = processes.last().map_or(0, |it| it.number + 1);
        processes.push(Process {
            number,
            run,
            command: format!("autocomp {}", shown.join(" ")),
            child,
            said,
            ended: None,
        });
        if MOST_REMEMBERED < processes.len()
            && let Some(place) = processes.iter().position(|it| it.ended.is_some())
        {
            processes.remove(place);
        }
        Ok(())
    }
}

impl Process {
    /// Notes whether the process has ended.
    fn look(&mut self) {
        if self.ended.is_some() {
            return;
        }
        let Ok(Some(status)) = self.child.try_wait() else {
            return;
        };
        self.ended = Some(Ended {
            code: status.code(),
            message: last_words(&mut self.said),
        });
    }
}

fn last_words(said: &mut File) -> String {
    let length = said.metadata().map_or(0, |it| it.len());
    let mut bytes = Vec::new();
    let from = SeekFrom::Start(length.saturating_sub(LAST_WORDS));
    let read = said.seek(from).and_then(|_| said.read_to_end(&mut bytes));
    read.map_or_else(
        |_| String::new(),
        |_| String::from_utf8_lossy(&bytes).trim().to_owned(),
    )
}

/// Whether anything may be started and stopped, and what was.
pub async fn state(State(shared): State<Shared>) -> Response {
    let Some(control) = &shared.control else {
        return Json(json!({ "allowed": false, "started": [] })).into_response();
    };
    Json(json!({
        "allowed": true,
        "token": control.token,
        "started": control.started(),
    }))
    .into_response()
}

/// Names of the problems that a run can be started for, as the program lists them.
pub async fn problems(State(shared): State<Shared>) -> Response {
    #[derive(Deserialize)]
    struct Problem {
        name: String,
    }
    #[derive(Deserialize)]
    struct Problems {
        problems: Vec<Problem>,
    }
    let mut command = tokio::process::Command::new(&shared.settings.program);
    command.args(["problems", "--json"]).stdin(Stdio::null());
    command.stderr(Stdio::null()).kill_on_drop(true);
    let listed = command.output().await.ok();
    let listed = listed.and_then(|it| serde_json::from_slice::<Problems>(&it.stdout).ok());
    let names = listed.map_or_else(Vec::new, |it| it.problems);
    Json(names.into_iter().map(|it| it.name).collect::<Vec<_>>()).into_response()
}

/// Does what is wished.
pub async fn act(State(shared): State<Shared>, Json(wish): Json<Wish>) -> Response {
    crate::answers::work(move || {
        let control = shared.control.as_ref();
        let control = control.ok_or_else(|| not_found("nothing may be started here".to_owned()))?;
        let run = wish.done(&shared, control)?;
        Ok((StatusCode::ACCEPTED, Json(json!({ "run": run }))))
    })
    .await
    .into_response()
}
