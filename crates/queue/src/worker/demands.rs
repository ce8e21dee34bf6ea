//! How the worker stands to each demand.

use super::{SILENCE, Standing, Worker, locked};
use crate::demand::Demand;
use crate::error::QueueError;
use crate::job::PROTOCOL;
use crate::presence::State;
use autocomp_eval::{Bench, BenchFacts, EvalError, Setup};
use futures::StreamExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Benches that a worker has for one user at most; a search needs one or two.
const MOST_DEMANDS: usize = 32;

/// Benches that a worker has at most: what it tells of all of them has to fit into one message.
const MOST_STANDS: usize = 128;

/// How often, a beat apart, a worker looks for a setup that the server lacks.
const MOST_MISSED: u32 = 40;

/// The longest names of engine and tools that a bench may have, bytes.
const LONGEST_FACTS: usize = 2000;

impl Worker {
    /// Takes what coordinators tell.
    pub(super) async fn hear(self: Arc<Self>, mut demands: async_nats::Subscriber) {
        while let Some(message) = demands.next().await {
            let Ok(mut demand) = serde_json::from_slice::<Demand>(&message.payload) else {
                continue;
            };
            if !demand.is_sound() {
                continue;
            }
            // The server lets users tell demands below their own names only.
            let mut tokens = message.subject.split('.').skip(2);
            if tokens.next() == Some(demand.user.as_str())
                && tokens.next() == Some(demand.queue.as_str())
            {
                self.clone().stand_to(demand);
            }
        }
    }

    fn stand_to(self: Arc<Self>, demand: Demand) {
        let targets = &self.options.targets;
        if !targets.is_empty() && !targets.contains(&demand.target) {
            return;
        }
        let mut stands = locked(&self.stands);
        if demand.ended {
            if let Some(standing) = stands.remove(&demand.key()) {
                drop(stands);
                self.forget(standing);
            }
            return;
        }
        // A bench answers in the name of what it was opened for.
        let is_other = |it: &Standing| !it.demand.is_for_bench_of(&demand);
        if stands.get(&demand.key()).is_some_and(is_other)
            && let Some(standing) = stands.remove(&demand.key())
        {
            self.forget(standing);
        }
        if let Some(standing) = stands.get_mut(&demand.key()) {
            standing.heard = Instant::now();
            if standing.demand != demand {
                standing.demand = demand;
                self.compare(standing);
                let is_to_open = self.move_over(standing);
                self.changed.notify_one();
                self.opened.notify_waiters();
                drop(stands);
                if is_to_open {
                    tokio::spawn(self.clone().open_next());
                }
            }
            return;
        }
        let of_user = stands.values().filter(|it| it.demand.user == demand.user);
        if MOST_DEMANDS <= of_user.count() || MOST_STANDS <= stands.len() {
            tracing::warn!(user = demand.user, "more demands than there may be");
            return;
        }
        let is_understood = demand.protocol == PROTOCOL;
        let key = demand.key();
        let device = self.held_here(&demand).unwrap_or_else(|| {
            let held_by = |it: &u32| stands.values().filter(|of| of.device == *it).count();
            let devices = 0..self.options.measuring.max(1);
            devices.min_by_key(held_by).unwrap_or_default()
        });
        let standing = Standing {
            heard: Instant::now(),
            state: match is_understood {
                true => State::Opening,
                false => State::Unable {
                    message: format!(
                        "its autocomp {} speaks version {PROTOCOL} of the language of workers, \
                         the search's {} speaks version {}, and they do not understand each other",
                        env!("CARGO_PKG_VERSION"),
                        demand.program,
                        demand.protocol
                    ),
                    remedies: vec!["use the same version of autocomp on both sides".to_owned()],
                    is_input: false,
                },
            },
            bench: None,
            folder: self.new_folder(),
            device,
            running: 0,
            is_begun: !is_understood,
            missed: 0,
            demand,
        };
        stands.insert(key, standing);
        drop(stands);
        self.changed.notify_one();
        if is_understood {
            tokio::spawn(self.clone().open_next());
        }
    }

    /// Returns a folder for one bench: the folder of one that is closed may be removed while another
    /// one is opened for the same demand.
    fn new_folder(&self) -> PathBuf {
        let number = self.folders.fetch_add(1, Ordering::Relaxed);
        self.options.folder.join(number.to_string())
    }

    /// Returns the device of this machine that the run of a demand holds.
    fn held_here(&self, demand: &Demand) -> Option<u32> {
        let held = demand.held.as_ref()?;
        (held.machine == self.options.machine).then_some(held.device)
    }

    /// Has the bench of a demand opened again if its run holds another device of this machine;
    /// returns whether that is to be done.
    fn move_over(&self, standing: &mut Standing) -> bool {
        let held = self.held_here(&standing.demand);
        let (State::Differs(_), Some(held)) =
            (&standing.state, held.filter(|it| *it != standing.device))
        else {
            return false;
        };
        standing.device = held;
        standing.bench = None;
        standing.state = State::Opening;
        standing.is_begun = false;
        true
    }

    /// Returns the demand whose bench is opened next: of the user for whom fewest were opened, so
    /// that one user's many keep nobody waiting.
    fn next_to_open(&self) -> Option<(Demand, PathBuf, u32)> {
        let mut stands = locked(&self.stands);
        let mut benches = locked(&self.benches);
        let waiting = stands.values_mut().filter(|it| !it.is_begun);
        let next = waiting.min_by_key(|it| {
            let opened = benches.get(&it.demand.user).copied().unwrap_or_default();
            (opened, it.heard)
        })?;
        next.is_begun = true;
        *benches.entry(next.demand.user.clone()).or_default() += 1;
        Some((next.demand.clone(), next.folder.clone(), next.device))
    }

    /// Opens the bench of the demand that is next.
    async fn open_next(self: Arc<Self>) {
        let Ok(_one_by_one) = self.opening.acquire().await else {
            return;
        };
        let Some((demand, folder, device)) = self.next_to_open() else {
            return;
        };
        let key = demand.key();
        let text = self.setup_text(&demand).await;
        // A server that has lost it gets it again from the search.
        if matches!(text, Ok(None)) && self.is_missed_once_more(&demand) {
            self.clone().open_later();
            return;
        }
        self.say(&format!("{} asks for {}", demand.user, demand.title));
        let opened = match self.setup(&demand, text) {
            Ok(mut setup) => {
                setup.tools.device = device;
                self.clone().open_bench(setup, folder.clone()).await
            }
            Err(error) => Err(error),
        };
        let mut stands = locked(&self.stands);
        let Some(standing) = stands.get_mut(&key).filter(|it| it.folder == folder) else {
            // Nobody asks for it any more.
            drop(stands);
            remove(opened.ok().map(|(bench, _)| bench), folder);
            return;
        };
        match opened {
            Ok((bench, facts)) => {
                standing.bench = Some(bench);
                standing.state = State::Opened(facts);
                self.compare(standing);
            }
            Err(error) => standing.state = unable(error),
        }
        if let State::Unable { message, .. } = &standing.state {
            self.say(&format!("{} is not possible here: {message}", demand.title));
        }
        drop(stands);
        self.changed.notify_one();
        self.opened.notify_waiters();
    }

    /// Returns the text of the setup of a demand, if the server has it.
    async fn setup_text(&self, demand: &Demand) -> Result<Option<String>, QueueError> {
        let streams = self.streams().await?;
        let text = self
            .server
            .text_if_there(&streams, &demand.user, demand.setup);
        text.await
    }

    /// Has the bench of a demand opened later; returns false if that was done too often.
    fn is_missed_once_more(&self, demand: &Demand) -> bool {
        let mut stands = locked(&self.stands);
        let Some(standing) = stands.get_mut(&demand.key()) else {
            return false;
        };
        let is_again = standing.missed < MOST_MISSED;
        standing.missed += 1;
        standing.is_begun = !is_again;
        is_again
    }

    fn open_later(self: Arc<Self>) {
        tokio::spawn(async move {
            tokio::time::sleep(self.options.beat).await;
            self.open_next().await;
        });
    }

    /// Returns the setup of a demand of its text.
    fn setup(
        &self,
        demand: &Demand,
        text: Result<Option<String>, QueueError>,
    ) -> Result<Setup, EvalError> {
        let lacks = || {
            let what = "piece 0 is not there";
            self.server.lacks_text(&demand.user, demand.setup, &what)
        };
        let text = text.and_then(|it| it.ok_or_else(lacks));
        let text = text.map_err(|error| EvalError::Environment {
            message: error.to_string(),
            remedies: vec![error.remedy().to_owned()],
        })?;
        let setup = Setup::parse(&text)?;
        // Answers are for all whose setup has this content.
        if setup.content() != demand.content {
            return Err(EvalError::Fault(
                "the setup has another content than the demand says".to_owned(),
            ));
        }
        if setup.target.name != demand.target {
            return Err(EvalError::Fault(
                "the setup is for another target".to_owned(),
            ));
        }
        // Nobody elsewhere says which program is started here.
        if setup.tools.compiler.is_some() || setup.tools.carried.is_some() {
            return Err(EvalError::Fault(
                "the setup names programs of this machine".to_owned(),
            ));
        }
        Ok(setup)
    }

    async fn open_bench(
        self: Arc<Self>,
        setup: Setup,
        folder: PathBuf,
    ) -> Result<(Arc<dyn Bench>, BenchFacts), EvalError> {
        let opened = tokio::task::spawn_blocking(move || {
            let tell = &mut |line: &str| self.say(line);
            let bench = (self.options.open)(setup, &folder, tell)?;
            let facts = bench.facts();
            let length = facts.engine.len() + facts.tools.iter().map(String::len).sum::<usize>();
            match length <= LONGEST_FACTS {
                true => Ok((bench, facts)),
                false => Err(EvalError::Fault(
                    "the names of its engine and tools are too long".to_owned(),
                )),
            }
        });
        opened.await.unwrap_or_else(|error| {
            Err(EvalError::Environment {
                message: format!("the worker failed to open it: {error}"),
                remedies: Vec::new(),
            })
        })
    }

    /// Compares the worker's facts with those of a demand.
    fn compare(&self, standing: &mut Standing) {
        let name = &self.options.name;
        let Some(bench) = &standing.bench else {
            return;
        };
        let facts = bench.facts();
        if let State::Unable { .. } = standing.state {
            return;
        }
        if standing.demand.refused.contains(name) {
            let message = "answers of this worker did not fit their jobs, and none are taken any \
                           more";
            self.say(&format!(
                "no longer working for {}: {message}",
                standing.demand.title
            ));
            standing.state = State::Unable {
                message: message.to_owned(),
                remedies: vec!["see what answers in the name of this worker".to_owned()],
                is_input: false,
            };
            return;
        }
        let demand = &standing.demand;
        let state = match demand.difference(&facts, name, &self.options.machine) {
            None => State::Opened(facts),
            Some(how) => State::Differs(how),
        };
        // Once: what it differs by may be another text every time.
        if let State::Differs(how) = &state
            && !matches!(standing.state, State::Differs(_))
        {
            self.say(&format!(
                "refusing {}: this worker, {name}, differs from {} ({how})",
                demand.title,
                demand.compared_with()
            ));
        }
        standing.state = state;
    }

    /// Stops working for a demand that this worker turns out not to be able to fulfil.
    pub(super) fn withdraw(&self, demand: &Demand, error: EvalError) {
        let mut stands = locked(&self.stands);
        if let Some(standing) = stands.get_mut(&demand.key()) {
            standing.state = unable(error);
            if let State::Unable { message, .. } = &standing.state {
                let title = &standing.demand.title;
                self.say(&format!("no longer working for {title}: {message}"));
            }
        }
        drop(stands);
        self.changed.notify_one();
    }

    /// Drops demands that nobody tells of any more.
    pub(super) fn drop_silent(&self) {
        let silent = self.options.beat * SILENCE;
        let gone: Vec<Standing> = {
            let mut stands = locked(&self.stands);
            let queues: Vec<String> = stands
                .iter()
                .filter(|(_, it)| silent < it.heard.elapsed())
                .map(|(queue, _)| queue.clone())
                .collect();
            queues.iter().filter_map(|it| stands.remove(it)).collect()
        };
        for standing in gone {
            self.forget(standing);
        }
    }

    /// Leaves nothing of a demand behind.
    fn forget(&self, standing: Standing) {
        let Standing {
            demand,
            bench,
            folder,
            state,
            is_begun,
            ..
        } = standing;
        self.say(&format!(
            "{} asks no more for {}",
            demand.user, demand.title
        ));
        // What is being opened is removed by who opens it.
        if !(is_begun && state == State::Opening) {
            remove(bench, folder);
        }
        self.changed.notify_one();
    }
}

/// Leaves nothing of a bench behind. A job that still runs holds the bench; what it writes then goes
/// with the worker.
fn remove(bench: Option<Arc<dyn Bench>>, folder: PathBuf) {
    tokio::task::spawn_blocking(move || {
        drop(bench);
        let _ = std::fs::remove_dir_all(folder);
    });
}

fn unable(error: EvalError) -> State {
    let (message, remedies, is_input) = match error {
        EvalError::Environment { message, remedies } | EvalError::Usage { message, remedies } => {
            (message, remedies, false)
        }
        EvalError::Input { message, remedies } => (message, remedies, true),
        error => (error.to_string(), Vec::new(), false),
    };
    State::Unable {
        message,
        remedies,
        is_input,
    }
}
