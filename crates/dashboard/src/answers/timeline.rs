//! When what happened during a call of a kernel: the program itself simulates the kernel
//! again and writes a trace, of which a page gets as much as it has columns for.

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
use std::collections::VecDeque;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use trace::Timeline;

/// Timelines kept in memory at most.
const MOST_KEPT: usize = 6;
/// Longest trace that is read, in bytes.
const MOST_BYTES: u64 = 300 << 20;
/// How long simulating a kernel may take.
const LIMIT: Duration = Duration::from_secs(180);
/// Columns of one answer at most.
const MOST_COLUMNS: usize = 2_000;

/// Timelines by what they are of. One is made at a time.
#[derive(Default)]
pub struct Timelines {
    kept: Mutex<VecDeque<(ContentHash, Arc<Timeline>)>>,
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
    let found = find(shared, kernel).await;
    found
        .map(|found| Json(found.part(of.from, of.to, columns)))
        .into_response()
}

/// What a kernel is simulated with.
struct Wanted {
    key: ContentHash,
    problem: String,
    source: String,
    settings: String,
}

async fn find(shared: Shared, of: OfKernel) -> Result<Arc<Timeline>, Refused> {
    let name = of.run.clone();
    let wanted = of_run(shared.clone(), name, move |run| {
        let kernel = named(run, &of.kernel)?;
        if kernel.cost.is_none() {
            let message = "only kernels that are right have a timeline\n".to_owned();
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
        })
    });
    let wanted = wanted.await?;
    let timelines = &shared.timelines;
    if let Some(found) = timelines.get(wanted.key) {
        return Ok(found);
    }
    let _turn = timelines.turn.lock().await;
    if let Some(found) = timelines.get(wanted.key) {
        return Ok(found);
    }
    let key = wanted.key;
    let made = Arc::new(make(&shared.settings.program, wanted).await?);
    timelines.keep(key, Arc::clone(&made));
    Ok(made)
}

impl Timelines {
    fn get(&self, key: ContentHash) -> Option<Arc<Timeline>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|it| it.0 == key);
        found.map(|it| Arc::clone(&it.1))
    }

    fn keep(&self, key: ContentHash, timeline: Arc<Timeline>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push_back((key, timeline));
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
    trouble(format!("the kernel cannot be simulated: {error}"))
}

/// Simulates a kernel in a process of its own.
async fn make(program: &Path, wanted: Wanted) -> Result<Timeline, Refused> {
    let place: Place = toml::from_str(&wanted.settings).unwrap_or_default();
    let folder = tempfile::TempDir::new().map_err(failed)?;
    let (kernel, trace) = (folder.path().join("kernel.c"), folder.path().join("trace"));
    std::fs::write(&kernel, &wanted.source).map_err(failed)?;
    let problem = place.problem.unwrap_or(wanted.problem);
    let mut command = tokio::process::Command::new(program);
    command
        .arg("profile")
        .arg(format!("--kernel={}", kernel.display()))
        .arg(format!("--trace={}", trace.display()))
        .args(place.machine.map(|it| format!("--machine={it}")))
        .args(place.compiler.map(|it| format!("--compiler={it}")))
        .args(place.data.iter().map(|it| format!("--data={it}")))
        .args(["--json", "--", &problem])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let ended = tokio::time::timeout(LIMIT, command.output()).await;
    let ended = ended
        .map_err(|_| trouble("simulating the kernel takes too long".to_owned()))?
        .map_err(failed)?;
    if !ended.status.success() || !trace.is_file() {
        let words = String::from_utf8_lossy(&ended.stderr);
        let last: Vec<&str> = words.lines().rev().take(6).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        return Err(trouble(format!(
            "the kernel cannot be simulated again: {}",
            last.join("\n")
        )));
    }
    super::work(move || {
        let mut text = String::new();
        std::fs::File::open(&trace)
            .and_then(|file| file.take(MOST_BYTES).read_to_string(&mut text))
            .map_err(failed)?;
        drop(folder);
        Timeline::read(&text).map_err(|error| trouble(format!("the trace is damaged: {error}")))
    })
    .await
}
