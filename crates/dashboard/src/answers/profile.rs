//! Where the cost of a kernel goes, and when what happened during its call: the program itself
//! profiles the kernel again. Of its trace a page gets as much as it has columns for.

pub(crate) mod trace;

use super::kernel::{OfKernel, named};
use super::{Refused, of_run};
use crate::Shared;
use autocomp_core::ContentHash;
use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use trace::Timeline;

/// Profiles kept in memory at most.
const MOST_KEPT: usize = 6;
/// Longest trace that is read, in bytes.
const MOST_BYTES: u64 = 300 << 20;
/// How long profiling a kernel may take.
const LIMIT: Duration = Duration::from_secs(180);
/// Columns of one answer at most.
const MOST_COLUMNS: usize = 2_000;

/// A kernel that was profiled again.
pub struct Profile {
    /// Sections with title and text.
    sections: Value,
    timeline: Option<Timeline>,
}

/// Profiles by what they are of. One is made at a time.
#[derive(Default)]
pub struct Profiles {
    kept: Mutex<VecDeque<(ContentHash, Arc<Profile>)>>,
    turn: tokio::sync::Mutex<()>,
}

/// What part of which timeline.
#[derive(Deserialize)]
pub struct OfTimeline {
    run: String,
    kernel: String,
    #[serde(default)]
    from: u64,
    to: Option<u64>,
    #[serde(default)]
    columns: usize,
}

/// Where the cost of a kernel goes, as `autocomp profile` tells it.
pub async fn profile(State(shared): State<Shared>, Query(of): Query<OfKernel>) -> Response {
    let found = find(shared, of).await;
    found
        .map(|found| Json(json!({ "sections": found.sections })))
        .into_response()
}

/// A part of the timeline of a kernel.
pub async fn timeline(State(shared): State<Shared>, Query(of): Query<OfTimeline>) -> Response {
    let columns = match of.columns {
        0 => 800,
        columns => columns.min(MOST_COLUMNS),
    };
    let kernel = OfKernel {
        run: of.run,
        kernel: of.kernel,
    };
    let found = find(shared, kernel).await.and_then(|found| {
        let timeline = found.timeline.as_ref();
        let none = || super::not_found("kernels for this target have no timeline".to_owned());
        timeline
            .ok_or_else(none)
            .map(|it| it.part(of.from, of.to, columns))
    });
    found.map(Json).into_response()
}

/// What a kernel is profiled with.
struct Wanted {
    key: ContentHash,
    problem: String,
    source: String,
    settings: String,
    has_timeline: bool,
}

async fn find(shared: Shared, of: OfKernel) -> Result<Arc<Profile>, Refused> {
    let name = of.run.clone();
    let about = Arc::clone(&shared.settings);
    let wanted = of_run(shared.clone(), name, move |run| {
        let kernel = named(run, &of.kernel)?;
        if kernel.cost.is_none() {
            let message = "only kernels that are right have a profile\n".to_owned();
            return Err((StatusCode::NOT_FOUND, message));
        }
        let source = run.texts.source(kernel).map_err(super::not_found)?;
        let settings = run.settings.clone().unwrap_or_default();
        let problem = run.report.problem.clone();
        Ok(Wanted {
            key: ContentHash::of(format!("{problem}\n{settings}\n{source}").as_bytes()),
            problem,
            source,
            settings,
            has_timeline: (about.has_timeline)(&run.report.target),
        })
    });
    let wanted = wanted.await?;
    let profiles = &shared.profiles;
    if let Some(found) = profiles.get(wanted.key) {
        return Ok(found);
    }
    let _turn = profiles.turn.lock().await;
    if let Some(found) = profiles.get(wanted.key) {
        return Ok(found);
    }
    let key = wanted.key;
    let made = Arc::new(make(&shared.settings.program, wanted).await?);
    profiles.keep(key, Arc::clone(&made));
    Ok(made)
}

impl Profiles {
    fn get(&self, key: ContentHash) -> Option<Arc<Profile>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|it| it.0 == key);
        found.map(|it| Arc::clone(&it.1))
    }

    fn keep(&self, key: ContentHash, profile: Arc<Profile>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((key, profile));
        if MOST_KEPT < kept.len() {
            kept.pop_front();
        }
    }
}

/// The settings of a run that say where its problem is and what it was measured on.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Place {
    problem: Option<String>,
    machine: Option<String>,
    compiler: Option<String>,
    data: Vec<String>,
}

fn trouble(message: String) -> Refused {
    (StatusCode::UNPROCESSABLE_ENTITY, message + "\n")
}

fn failed(error: std::io::Error) -> Refused {
    trouble(format!("the kernel cannot be profiled: {error}"))
}

/// Profiles a kernel in a process of its own.
async fn make(program: &Path, wanted: Wanted) -> Result<Profile, Refused> {
    let place: Place = toml::from_str(&wanted.settings).unwrap_or_default();
    let folder = tempfile::TempDir::new().map_err(failed)?;
    let (kernel, trace) = (folder.path().join("kernel"), folder.path().join("trace"));
    std::fs::write(&kernel, &wanted.source).map_err(failed)?;
    let problem = place.problem.unwrap_or(wanted.problem);
    let has_trace = wanted.has_timeline;
    let mut command = tokio::process::Command::new(program);
    command
        .arg("profile")
        .arg(format!("--kernel={}", kernel.display()))
        .args(has_trace.then(|| format!("--trace={}", trace.display())))
        .args(place.machine.map(|it| format!("--machine={it}")))
        .args(place.compiler.map(|it| format!("--compiler={it}")))
        .args(place.data.iter().map(|it| format!("--data={it}")))
        .args(["--json", "--", &problem])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(LIMIT, command.output()).await;
    let ended = ended
        .map_err(|_| trouble("profiling the kernel takes too long".to_owned()))?
        .map_err(failed)?;
    if !ended.status.success() {
        return Err(trouble(reason(&ended.stdout, &ended.stderr)));
    }
    super::work(move || {
        let told: Value = serde_json::from_slice(&ended.stdout)
            .map_err(|error| trouble(format!("the profile is damaged: {error}")))?;
        let timeline = has_trace.then(|| read_trace(&trace)).transpose()?;
        drop(folder);
        Ok(Profile {
            sections: told["sections"].clone(),
            timeline,
        })
    })
    .await
}

fn read_trace(path: &Path) -> Result<Timeline, Refused> {
    let mut text = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text))
        .map_err(failed)?;
    Timeline::read(&text).map_err(|error| trouble(format!("the trace is damaged: {error}")))
}

/// Returns why a kernel has no profile: what is wrong with it now, or what the program said
/// last, without the words around it.
fn reason(stdout: &[u8], stderr: &[u8]) -> String {
    let told: Value = serde_json::from_slice(stdout).unwrap_or_default();
    let words = String::from_utf8_lossy(stderr);
    let told = told["error"]["message"]
        .as_str()
        .or_else(|| told["diagnostics"][0]["message"].as_str())
        .or_else(|| words.lines().last())
        .unwrap_or("the program said no reason");
    format!("the kernel cannot be profiled again: {told}")
}
