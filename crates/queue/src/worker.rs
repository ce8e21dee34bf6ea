//! The side of whoever evaluates: opens benches that are demanded, takes jobs, answers.

mod choice;
mod demands;
mod job;

use crate::access::Access;
use crate::demand::Demand;
use crate::error::QueueError;
use crate::fairness::Shares;
use crate::job::PROTOCOL;
use crate::names::{self, ALL_DEMANDS, HELLO, one_line};
use crate::presence::{Counts, Presence, Stand, State, clock_ms, heard};
use crate::quota::Used;
use crate::server::Server;
use crate::streams::{Known, Streams};
use autocomp_core::ContentHash;
use autocomp_eval::{Bench, EvalError, Setup};
use futures::StreamExt;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

/// How long a demand may be silent until it is dropped, in beats.
const SILENCE: u32 = 12;

/// How long others may take to say that they are there.
const GREETING: Duration = Duration::from_millis(500);

/// Opens the bench of a setup, with a folder for whatever is kept of it; lines before what takes
/// long go to the last argument.
pub type Open =
    dyn Fn(Setup, &Path, &mut dyn FnMut(&str)) -> Result<Arc<dyn Bench>, EvalError> + Send + Sync;

/// How a worker works.
pub struct WorkerOptions {
    /// Its name; no two have the same.
    pub name: String,
    /// The machine that it is on.
    pub machine: String,
    /// Targets that it works for; none for all.
    pub targets: Vec<String>,
    /// Jobs that it does at a time, at least 1.
    pub devices: usize,
    /// How many equal devices it has that costs are measured on, at least 1.
    pub measuring: u32,
    /// How often it tells what it is.
    pub beat: Duration,
    /// How many jobs of one search may be in flight, if there is a limit.
    pub most_in_flight: Option<usize>,
    /// How long the jobs of one user may take in a day, all together, if there is a limit.
    pub most_time: Option<Duration>,
    /// For whatever is kept of benches: a folder that goes with the worker.
    pub folder: PathBuf,
    /// Opens benches.
    pub open: Box<Open>,
    /// Takes a line about what it does.
    pub tell: Box<dyn Fn(&str) + Send + Sync>,
}

/// Works for whoever demands it.
pub struct Worker {
    server: Server,
    options: WorkerOptions,
    streams: Known,
    stands: Mutex<BTreeMap<String, Standing>>,
    /// Devices that are measured on now.
    leased: Mutex<BTreeSet<u32>>,
    shares: Mutex<Shares>,
    counts: Mutex<Counts>,
    used: Mutex<Used>,
    /// Jobs that another worker works on for somebody else: the number of what it has noted, and
    /// since when that is the last.
    held: Mutex<BTreeMap<ContentHash, (u64, Instant)>>,
    /// How many folders were named.
    folders: AtomicU64,
    /// How many benches were opened for each user.
    benches: Mutex<BTreeMap<String, u64>>,
    /// Told when what the worker tells has changed.
    changed: Notify,
    /// Told when there is another demand to take jobs for.
    opened: Notify,
    /// Benches are opened one after the other.
    opening: Semaphore,
    started: Instant,
    stopping: CancellationToken,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("name", &self.options.name)
            .finish_non_exhaustive()
    }
}

/// A demand, and how the worker stands to it.
struct Standing {
    demand: Demand,
    heard: Instant,
    state: State,
    bench: Option<Arc<dyn Bench>>,
    folder: PathBuf,
    /// The device that its bench is opened on, if it measures.
    device: u32,
    running: usize,
    /// Whether its bench is being opened, or was.
    is_begun: bool,
    /// How often the server lacked its setup.
    missed: u32,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    /// Connects to the queue.
    ///
    /// # Errors
    /// [`QueueError`] if the server is not to be had or has no room for streams.
    pub async fn connect(access: &Access, options: WorkerOptions) -> Result<Self, QueueError> {
        let name = format!("autocomp worker {}", options.name);
        let server = Server::connect(access, &name).await?;
        let streams = server.streams().await?;
        Ok(Self {
            server,
            options,
            streams: Known::new(streams),
            stands: Mutex::default(),
            leased: Mutex::default(),
            shares: Mutex::default(),
            counts: Mutex::default(),
            used: Mutex::default(),
            held: Mutex::default(),
            folders: AtomicU64::new(0),
            benches: Mutex::default(),
            changed: Notify::new(),
            opened: Notify::new(),
            opening: Semaphore::new(1),
            started: Instant::now(),
            stopping: CancellationToken::new(),
        })
    }

    /// Works until `stop` is cancelled: then it takes no job any more, and hands back those
    /// that it has after `grace`.
    ///
    /// # Errors
    /// [`QueueError`] if the server lets it hear nothing, or another worker has its name.
    pub async fn work(
        self,
        stop: &CancellationToken,
        grace: Duration,
    ) -> Result<Counts, QueueError> {
        let worker = Arc::new(self);
        let there = heard(&worker.server, GREETING).await?;
        if let Some((other, _)) = there
            .iter()
            .find(|(it, _)| it.worker == worker.options.name)
        {
            return Err(QueueError::Machine {
                what: format!(
                    "there is a worker {} already, on {}",
                    other.worker, other.machine
                ),
                remedy: "give this one another name with `--name`".to_owned(),
            });
        }
        let demands = worker.server.subscribe(ALL_DEMANDS.to_owned()).await?;
        let hello = worker.server.subscribe(HELLO.to_owned()).await?;
        let mut tasks = vec![
            tokio::spawn(worker.clone().hear(demands)),
            tokio::spawn(worker.clone().beat(hello)),
        ];
        worker.server.tell(HELLO.to_owned(), &()).await?;
        let own = names::worker(&worker.options.name);
        worker.server.tell(own, &worker.presence()).await?;
        worker.server.check_rights().await?;
        let no_more = stop.child_token();
        let takers: Vec<_> = (0..worker.options.devices.max(1))
            .map(|_| tokio::spawn(worker.clone().keep_taking(no_more.clone())))
            .collect();
        stop.cancelled().await;
        let patience = tokio::time::sleep(grace);
        tokio::pin!(patience);
        for mut taker in takers {
            tokio::select! {
                _ = &mut taker => continue,
                () = &mut patience => worker.stopping.cancel(),
            }
            let _ = taker.await;
        }
        for task in tasks.drain(..) {
            task.abort();
        }
        let mut goodbye = worker.presence();
        goodbye.ended = true;
        let subject = names::worker(&worker.options.name);
        let _ = worker.server.tell(subject, &goodbye).await;
        let counts = locked(&worker.counts).clone();
        Ok(counts)
    }

    /// Tells a line, in which others' words may stand.
    fn say(&self, line: &str) {
        (self.options.tell)(&one_line(line));
    }

    async fn streams(&self) -> Result<Streams, QueueError> {
        self.streams.of(&self.server).await
    }

    /// Tells what the worker is every few seconds, whenever that changes or somebody asks.
    async fn beat(self: Arc<Self>, mut hello: async_nats::Subscriber) {
        let mut reconnected = self.server.reconnected();
        loop {
            let subject = names::worker(&self.options.name);
            if let Err(error) = self.server.tell(subject, &self.presence()).await {
                tracing::warn!(%error, "nobody could be told");
            }
            tokio::select! {
                () = tokio::time::sleep(self.options.beat) => {}
                () = self.changed.notified() => {}
                Some(_) = hello.next() => {}
                // It may have lost everything.
                Ok(()) = reconnected.changed() => self.streams.forget().await,
            }
            self.drop_silent();
        }
    }

    /// Returns what is to be said if a user has had what a user may have in a day.
    fn spent(&self, user: &str) -> Option<String> {
        let most = self.options.most_time?;
        let used = locked(&self.used).of(user, Instant::now());
        (most <= used).then(|| {
            let minutes = most.as_secs_f64() / 60.0;
            format!("{user} has had its {minutes:.0} minutes of this worker for the day")
        })
    }

    fn presence(&self) -> Presence {
        let stands = locked(&self.stands);
        let stands = stands.iter().map(|(queue, standing)| {
            let stand = Stand {
                title: one_line(&standing.demand.title),
                user: standing.demand.user.clone(),
                state: match (&standing.state, self.spent(&standing.demand.user)) {
                    (State::Opened(_), Some(spent)) => State::Spent(spent),
                    (state, _) => state.shortened(),
                },
                running: standing.running,
            };
            (queue.clone(), stand)
        });
        Presence {
            protocol: PROTOCOL,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            worker: self.options.name.clone(),
            machine: self.options.machine.clone(),
            targets: self.options.targets.clone(),
            devices: self.options.devices,
            stands: stands.collect(),
            counts: locked(&self.counts).clone(),
            up_seconds: self.started.elapsed().as_secs(),
            clock_ms: clock_ms(),
            ended: false,
        }
    }
}
