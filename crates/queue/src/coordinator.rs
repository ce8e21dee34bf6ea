//! The side of whoever searches: demands workers, publishes jobs, takes answers that fit.

mod choosing;
mod publishing;

use crate::access::Access;
use crate::demand::Demand;
use crate::error::QueueError;
use crate::job::PROTOCOL;
use crate::names::{self, ALL_WORKERS, HELLO};
use crate::place::Place;
use crate::presence::Presence;
use crate::server::Server;
use crate::streams::{Known, Streams};
use autocomp_core::{ContentHash, ContentHasher, Cost};
use autocomp_eval::isolation::{Failure, Reply, Request};
use autocomp_eval::{EvalError, Setup};
use futures::StreamExt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// How long somebody may be silent until it is taken for gone, in beats.
const SILENCE: u32 = 6;

/// How a coordinator works.
pub struct CoordinatorOptions {
    /// What is worked on, for people.
    pub title: String,
    /// Unguessable text that is another one for each coordinator.
    pub session: String,
    /// How large a share of workers it gets beside others, at least 1.
    pub weight: u32,
    /// Whether costs may be measured on several devices of a kind.
    pub any_machine: bool,
    /// The device that costs were measured on before, if the work goes on.
    pub held: Option<Place>,
    /// After how long a job whose worker is not heard of goes to another one.
    pub lease: Duration,
    /// How often demands are told.
    pub beat: Duration,
    /// Takes a line about workers and the server.
    pub tell: Box<dyn Fn(&str) + Send + Sync>,
}

/// Demands workers and gives them jobs. Threads may share it.
pub struct Coordinator {
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
}

impl std::fmt::Debug for Coordinator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Coordinator")
            .field("server", &self.shared.server)
            .finish_non_exhaustive()
    }
}

struct Shared {
    server: Server,
    user: String,
    options: CoordinatorOptions,
    streams: Known,
    demands: Mutex<BTreeMap<ContentHash, Wanted>>,
    /// The device that all is measured on, once it is known; locked behind the demands.
    held: Mutex<Option<Place>>,
    /// The worker that measures there.
    holder: Mutex<Option<String>>,
    workers: Mutex<BTreeMap<String, (Presence, Instant)>>,
    /// Changes with every word of a worker.
    heard: watch::Sender<u64>,
    /// When it was last told that nobody works for a search.
    reminded: Mutex<Option<Instant>>,
    /// What was told of, so that it is not told again.
    told: Mutex<std::collections::BTreeSet<String>>,
}

/// A demand with the text of its setup.
struct Wanted {
    demand: Demand,
    setup: String,
    /// What any kernel costs at least where costs are simulated, by problem and target.
    least: Option<Cost>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Coordinator {
    /// Connects to the queue.
    ///
    /// # Errors
    /// [`QueueError`] if the server is not to be had or has no room for streams.
    pub fn connect(access: &Access, options: CoordinatorOptions) -> Result<Self, QueueError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .map_err(|error| QueueError::Machine {
                what: format!("failed to start threads: {error}"),
                remedy: "allow more threads (`ulimit -u`)".to_owned(),
            })?;
        let name = format!("autocomp search {}", options.title);
        let server = runtime.block_on(Server::connect(access, &name))?;
        let streams = runtime.block_on(server.streams())?;
        let (heard, _) = watch::channel(0);
        let shared = Arc::new(Shared {
            server,
            user: access.user().to_owned(),
            held: Mutex::new(options.held.clone().filter(|_| !options.any_machine)),
            holder: Mutex::default(),
            options,
            streams: Known::new(streams),
            demands: Mutex::default(),
            workers: Mutex::default(),
            heard,
            reminded: Mutex::default(),
            told: Mutex::default(),
        });
        let workers = runtime.block_on(shared.server.subscribe(ALL_WORKERS.to_owned()))?;
        runtime.spawn(hear(shared.clone(), workers));
        runtime.block_on(shared.server.check_rights())?;
        runtime.spawn(beat(shared.clone()));
        Ok(Self {
            runtime: Some(runtime),
            shared,
        })
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is there until the end")
    }

    /// Has the bench of `setup` opened by workers and returns what the first one says of it.
    /// Lines about what takes long go to `tell`.
    pub fn open(&self, setup: &str, tell: &mut dyn FnMut(&str)) -> Reply {
        let opened = self.runtime().block_on(self.shared.open(setup, tell));
        match opened {
            Ok(facts) => Reply::Opened { facts },
            Err(error) => Reply::Failed(Failure::from(error)),
        }
    }

    /// Has a worker answer a request to the bench of `setup`, which is open.
    pub fn ask(&self, setup: &str, request: Request) -> Reply {
        self.runtime().block_on(self.shared.ask(setup, request))
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        let shared = self.shared.clone();
        // Whoever hears of it stops working for it at once, others in a minute.
        let goodbye = async move {
            let ended: Vec<Demand> = {
                let mut demands = locked(&shared.demands);
                demands.values_mut().for_each(|it| it.demand.ended = true);
                demands.values().map(|it| it.demand.clone()).collect()
            };
            for demand in ended {
                let subject = names::demand(&demand.user, &demand.queue);
                let _ = shared.server.tell(subject, &demand).await;
            }
        };
        let (done, is_done) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            let _ = tokio::time::timeout(Duration::from_secs(1), goodbye).await;
            let _ = done.send(());
        });
        let _ = is_done.recv_timeout(Duration::from_secs(2));
        runtime.shutdown_background();
    }
}

/// Takes what workers tell.
async fn hear(shared: Arc<Shared>, mut workers: async_nats::Subscriber) {
    while let Some(message) = workers.next().await {
        let Some(presence) = Presence::read(&message.subject, &message.payload) else {
            continue;
        };
        {
            let mut workers = locked(&shared.workers);
            match presence.ended {
                true => {
                    workers.remove(&presence.worker);
                }
                false => {
                    workers.insert(presence.worker.clone(), (presence, Instant::now()));
                }
            }
        }
        shared.heard.send_modify(|it| *it = it.wrapping_add(1));
    }
}

/// Tells demands every few seconds, and whenever somebody asks or the server is there again.
async fn beat(shared: Arc<Shared>) {
    let mut reconnected = shared.server.reconnected();
    let Ok(mut hello) = shared.server.subscribe(HELLO.to_owned()).await else {
        return;
    };
    loop {
        shared.tell_demands().await;
        tokio::select! {
            () = tokio::time::sleep(shared.options.beat) => {}
            Some(_) = hello.next() => {}
            Ok(()) = reconnected.changed() => {
                // It may have lost everything.
                shared.streams.forget().await;
                shared.keep_setups().await;
            }
        }
    }
}

impl Shared {
    /// Returns the streams, which are made anew if they may be gone.
    async fn streams(&self) -> Result<Streams, QueueError> {
        self.streams.of(&self.server).await
    }

    /// Tells a line, once.
    fn tell_once(&self, line: String) {
        if locked(&self.told).insert(line.clone()) {
            (self.options.tell)(&line);
        }
    }

    async fn tell_demands(&self) {
        self.choose_holder();
        let demands: Vec<Demand> = {
            let demands = locked(&self.demands);
            demands.values().map(|it| it.demand.clone()).collect()
        };
        for demand in demands {
            self.tell_of_misfits(&demand);
            let subject = names::demand(&demand.user, &demand.queue);
            if let Err(error) = self.server.tell(subject, &demand).await {
                tracing::warn!(%error, "a demand could not be told");
            }
        }
    }

    /// Puts the texts of all setups into the store, as far as they are not there.
    async fn keep_setups(&self) {
        let setups: Vec<String> = {
            let demands = locked(&self.demands);
            demands.values().map(|it| it.setup.clone()).collect()
        };
        for setup in setups {
            if let Err(error) = self.keep_setup(&setup).await {
                tracing::warn!(%error, "a setup could not be stored");
            }
        }
    }

    async fn keep_setup(&self, setup: &str) -> Result<ContentHash, QueueError> {
        let streams = self.streams().await?;
        self.server.store(&streams, setup).await
    }

    /// Returns the name of the queue of a setup.
    fn queue(&self, setup: ContentHash) -> String {
        let mut hasher = ContentHasher::new("autocomp queue");
        hasher.update(self.options.session.as_bytes());
        hasher.update(&setup.0);
        hasher.finish().to_string()[..24].to_owned()
    }

    /// Makes the demand of a setup, unless there is one.
    async fn demand(&self, setup: &str) -> Result<ContentHash, EvalError> {
        let hash = ContentHash::of(setup.as_bytes());
        if locked(&self.demands).contains_key(&hash) {
            return Ok(hash);
        }
        let parsed = Setup::parse(setup)?;
        let content = parsed.content();
        let roofline = parsed.target.roofline;
        let least = roofline.map(|it| it.floor(&parsed.problem.work));
        if let Some(named) = parsed.tools.compiler.or(parsed.tools.carried) {
            return Err(EvalError::Usage {
                message: format!(
                    "{} is a path on this machine, and workers take no program from a run",
                    named.display()
                ),
                remedies: vec![
                    "leave `--compiler` and `--toolchain` out, and give them to `autocomp worker`"
                        .to_owned(),
                ],
            });
        }
        self.keep_setup(setup)
            .await
            .map_err(|error| unavailable(&error))?;
        let demand = Demand {
            protocol: PROTOCOL,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            user: self.user.clone(),
            queue: self.queue(hash),
            title: format!("{} on {}", parsed.problem.name, parsed.target.name),
            target: parsed.target.name,
            setup: hash,
            content,
            weight: self.options.weight.max(1),
            lease_ms: u64::try_from(self.options.lease.as_millis()).unwrap_or(u64::MAX),
            chosen: None,
            held: locked(&self.held).clone(),
            holder: locked(&self.holder).clone(),
            refused: Vec::new(),
            ended: false,
        };
        let wanted = Wanted {
            demand,
            setup: setup.to_owned(),
            least,
        };
        locked(&self.demands).entry(hash).or_insert(wanted);
        self.tell_demands().await;
        Ok(hash)
    }
}

fn unavailable(error: &QueueError) -> EvalError {
    EvalError::Environment {
        message: error.to_string(),
        remedies: vec![error.remedy().to_owned()],
    }
}
