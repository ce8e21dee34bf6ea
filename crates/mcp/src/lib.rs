//! The commands of the program as tools of the Model Context Protocol, for agents.
//!
//! A tool is a command line of the program itself, run as a process of its own: what a client
//! can ask for is what the commands can do, less what would let it run programs, reach other
//! machines, see keys, or read and write elsewhere than below one folder. What a session may
//! spend is fixed when the server starts.

mod answer;
mod budget;
mod calls;
mod handler;
mod http;
mod parameters;
mod place;
mod process;
mod searches;
mod server;
mod stdio;
mod tools;

use budget::Budget;
use place::Place;
use rmcp::ServiceExt as _;
use rmcp::task_manager::TaskManager;
use searches::Searches;
use server::Server;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

pub use http::serve_http;

/// A name and a value of the environment of a process.
pub type Variable = (OsString, OsString);

/// What a server offers, and to which bounds.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// The program itself.
    pub program: PathBuf,
    /// The folder that a client reads and writes below, canonical.
    pub folder: PathBuf,
    /// Arguments that every command gets which names problems, such as `--data=FOLDER`.
    pub common: Vec<OsString>,
    /// The whole environment of the processes: no key.
    pub environment: Vec<Variable>,
    /// The environment of searches that ask models.
    pub environment_of_models: Vec<Variable>,
    /// Models that a search may ask.
    pub models: Vec<String>,
    /// The ending of kernels of a problem, without a dot.
    pub extension: fn(&str) -> String,
    /// What all sessions together may spend.
    pub limits: McpLimits,
    /// The skill that teaches an agent the work: name of each file, and its text.
    pub skill: &'static [(&'static str, &'static str)],
}

/// What all sessions of a server together may spend.
#[derive(Clone, Copy, Debug)]
pub struct McpLimits {
    /// Evaluations, those of searches included.
    pub evaluations: u32,
    /// Minutes of one search.
    pub minutes: f64,
    /// Millionths of a dollar that models cost, all searches together.
    pub micros: u64,
    /// Searches at a time.
    pub searches: usize,
    /// The longest that a call may take.
    pub call: Duration,
}

/// What all sessions share.
pub(crate) struct Shared {
    settings: McpSettings,
    place: Place,
    budget: Budget,
    searches: Searches,
    tasks: TaskManager,
    /// Calls of the program at a time, beside searches.
    turns: Semaphore,
}

/// Calls of the program at a time; further ones wait.
const CALLS_AT_A_TIME: usize = 2;

impl Shared {
    fn new(settings: McpSettings) -> Arc<Self> {
        Arc::new(Self {
            place: Place::new(settings.folder.clone()),
            budget: Budget::new(settings.limits),
            searches: Searches::default(),
            tasks: TaskManager::new(),
            turns: Semaphore::new(CALLS_AT_A_TIME),
            settings,
        })
    }
}

/// How long the last answers may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Serves one client on standard input and output, until it goes away or `end` is cancelled. Searches that go on
/// then are stopped, resumable.
///
/// # Errors
/// The client does not speak the protocol, or the streams fail.
pub async fn serve_stdio(settings: McpSettings, end: CancellationToken) -> io::Result<()> {
    let shared = Shared::new(settings);
    let server = Server::new(shared.clone());
    let failed = |error: &dyn std::fmt::Display| io::Error::other(error.to_string());
    let streams = stdio::streams(tokio::io::stdin(), tokio::io::stdout());
    let served = async {
        let running = server
            .serve((streams.input, streams.output))
            .await
            .map_err(|error| failed(&error))?;
        running.waiting().await.map_err(|error| failed(&error))?;
        Ok(())
    };
    let served = tokio::select! {
        served = served => served,
        () = end.cancelled() => Ok(()),
    };
    shared.searches.stop_all().await;
    // What was answered last.
    let _ = tokio::time::timeout(LAST_WORDS, streams.written).await;
    served
}
