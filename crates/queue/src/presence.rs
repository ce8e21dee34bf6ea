//! What a worker is and does, as it tells everybody.

use crate::error::QueueError;
use crate::names::{self, ALL_WORKERS, HELLO, one_line, token};
use crate::server::Server;
use autocomp_eval::BenchFacts;
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Remedies that a worker tells of what it cannot do.
const MOST_REMEDIES: usize = 2;

/// What a worker tells every few seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// The version of what is told and asked, [`PROTOCOL`](crate::PROTOCOL).
    pub protocol: u32,
    /// Version of the worker's program.
    pub program: String,
    /// Its name; no two have the same.
    pub worker: String,
    /// The machine that it is on.
    pub machine: String,
    /// Targets that it works for; none for all.
    pub targets: Vec<String>,
    /// Jobs that it does at a time.
    pub devices: usize,
    /// What it works for, by queue.
    pub stands: BTreeMap<String, Stand>,
    /// What it has done since it was started.
    pub counts: Counts,
    /// Seconds since it was started.
    pub up_seconds: u64,
    /// Its clock, milliseconds since 1970.
    pub clock_ms: u64,
    /// Whether it says goodbye.
    pub ended: bool,
}

impl Presence {
    /// Returns what a message says, made safe to be shown; nothing unless it tells of the worker
    /// that its subject names. The server lets workers with keys of their own tell of themselves
    /// only.
    pub(crate) fn read(subject: &str, payload: &[u8]) -> Option<Self> {
        let mut presence: Self = serde_json::from_slice(payload).ok()?;
        let worker = &presence.worker;
        if subject != names::worker(worker) || token(worker) != *worker {
            return None;
        }
        let targets = presence.targets.iter_mut();
        for text in targets.chain([&mut presence.program, &mut presence.machine]) {
            *text = one_line(text);
        }
        for stand in presence.stands.values_mut() {
            stand.title = one_line(&stand.title);
            stand.user = one_line(&stand.user);
            if let State::Opened(facts) = &mut stand.state {
                for text in facts.tools.iter_mut().chain([&mut facts.engine]) {
                    *text = one_line(text);
                }
            }
            if let State::Differs(text) | State::Spent(text) | State::Unable { message: text, .. } =
                &mut stand.state
            {
                *text = one_line(text);
            }
        }
        Some(presence)
    }
}

/// How a worker stands to a demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stand {
    /// What is worked on, for people.
    pub title: String,
    /// Who asks.
    pub user: String,
    /// Whether it works for it.
    pub state: State,
    /// Jobs that it does for it now.
    pub running: usize,
}

/// Whether a worker works for a demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum State {
    /// It opens the bench.
    Opening,
    /// It has opened the bench, of which this is known.
    Opened(BenchFacts),
    /// Its user has had what a user may have of this worker in a day.
    Spent(String),
    /// Its facts are others than those of the demand.
    Differs(String),
    /// It cannot open the bench, or not evaluate with it.
    Unable {
        /// Why.
        message: String,
        /// What a user can do.
        remedies: Vec<String>,
        /// Whether the files of problem or target are to blame, which are the same everywhere.
        is_input: bool,
    },
}

impl State {
    /// Returns it with texts of one line each: what a worker tells of all its demands has to fit
    /// into one message.
    pub(crate) fn shortened(&self) -> Self {
        match self {
            Self::Differs(text) => Self::Differs(one_line(text)),
            Self::Unable {
                message,
                remedies,
                is_input,
            } => Self::Unable {
                message: one_line(message),
                remedies: remedies
                    .iter()
                    .take(MOST_REMEDIES)
                    .map(|it| one_line(it))
                    .collect(),
                is_input: *is_input,
            },
            other => other.clone(),
        }
    }
}

/// What a worker has done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Jobs answered.
    pub answered: u64,
    /// Of these, those whose answer is a fault.
    pub faults: u64,
    /// Jobs handed back.
    pub handed_back: u64,
    /// Jobs given up, since they had been taken too often.
    pub given_up: u64,
    /// Seconds worked on jobs, by user.
    pub seconds: BTreeMap<String, f64>,
}

/// Returns milliseconds since 1970.
pub(crate) fn clock_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| u64::try_from(it.as_millis()).unwrap_or(u64::MAX))
}

/// Asks all workers what they are and listens for a while; returns each with how far its clock
/// is ahead of the own one, milliseconds, the time on the way included.
///
/// # Errors
/// The server cannot be asked.
pub async fn heard(
    server: &Server,
    patience: Duration,
) -> Result<Vec<(Presence, i64)>, QueueError> {
    let mut presences = server.subscribe(ALL_WORKERS.to_owned()).await?;
    server.tell(HELLO.to_owned(), &()).await?;
    let ends = tokio::time::Instant::now() + patience;
    let mut found = BTreeMap::new();
    while let Ok(Some(message)) = tokio::time::timeout_at(ends, presences.next()).await {
        if let Some(presence) = Presence::read(&message.subject, &message.payload) {
            let skew = presence.clock_ms as i64 - clock_ms() as i64;
            found.insert(presence.worker.clone(), (presence, skew));
        }
    }
    Ok(found.into_values().filter(|(it, _)| !it.ended).collect())
}
