//! Which job is next.

use super::{Worker, locked};
use crate::demand::Demand;
use crate::place::Place;
use crate::presence::State;
use async_nats::jetstream;
use async_nats::jetstream::consumer::PullConsumer;
use autocomp_eval::Bench;
use futures::StreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long to wait for a job where there is one queue only.
const WAIT: Duration = Duration::from_secs(2);

/// How long to wait for a job of one queue where there are others, too.
const GLANCE: Duration = Duration::from_millis(200);

/// How long to wait after the server did not do what it was asked.
const PAUSE: Duration = Duration::from_millis(500);

/// After so many times without a job it is asked whether the server still has the queue.
const MOST_EMPTY: u32 = 10;

/// A demand that jobs are taken for.
pub(super) struct Served {
    pub(super) demand: Demand,
    pub(super) bench: Arc<dyn Bench>,
}

impl Served {
    /// Returns where the bench measures; nothing if it simulates.
    pub(super) fn place(&self, machine: &str) -> Option<Place> {
        Place::of(&self.bench.facts(), machine)
    }
}

/// A device of the worker, measured on for one job at a time; given back when it is dropped.
pub(super) struct Lease {
    worker: Arc<Worker>,
    device: u32,
}

impl Drop for Lease {
    fn drop(&mut self) {
        locked(&self.worker.leased).remove(&self.device);
        self.worker.opened.notify_waiters();
    }
}

impl Worker {
    /// Takes jobs, one at a time, and does them, whatever becomes of one.
    pub(super) async fn keep_taking(self: Arc<Self>, no_more: CancellationToken) {
        while let Err(error) = tokio::spawn(self.clone().take_jobs(no_more.clone())).await {
            self.say(&format!("a job could not be done: {error}"));
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn take_jobs(self: Arc<Self>, no_more: CancellationToken) {
        let mut takers: BTreeMap<String, PullConsumer> = BTreeMap::new();
        let mut turn = 0_usize;
        let mut reconnected = self.server.reconnected();
        let mut n_empty = 0;
        while !no_more.is_cancelled() {
            let served = self.served();
            takers.retain(|queue, _| served.contains_key(queue));
            // The server answers nothing for what it has lost.
            if reconnected.has_changed().unwrap_or_default() || MOST_EMPTY < n_empty {
                reconnected.mark_unchanged();
                takers.clear();
                n_empty = 0;
            }
            if served.is_empty() {
                tokio::select! {
                    () = self.opened.notified() => {}
                    () = tokio::time::sleep(PAUSE) => {}
                    () = no_more.cancelled() => {}
                }
                continue;
            }
            let names: Vec<&str> = served.keys().map(String::as_str).collect();
            let order = locked(&self.shares).order(&names);
            turn = turn.wrapping_add(1);
            match self
                .next(&served, &order, turn, &mut takers, &no_more)
                .await
            {
                Ok(Some((queue, message, lease))) => {
                    n_empty = 0;
                    let served = &served[&queue];
                    self.count_running(&queue, true);
                    let started = Instant::now();
                    self.do_job(served, &message).await;
                    drop(lease);
                    let took = started.elapsed();
                    self.count_running(&queue, false);
                    locked(&self.shares).charge(&queue, served.demand.weight, took);
                    locked(&self.used).add(&served.demand.user, Instant::now(), took);
                    if self.spent(&served.demand.user).is_some() {
                        self.changed.notify_one();
                    }
                    let mut counts = locked(&self.counts);
                    let seconds = counts.seconds.entry(served.demand.user.clone());
                    *seconds.or_default() += took.as_secs_f64();
                }
                Ok(None) => n_empty += 1,
                Err(error) => {
                    tracing::warn!(%error, "no job could be taken");
                    takers.clear();
                    self.streams.forget().await;
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Takes the device that a demand is measured on; nothing if it is in use.
    fn lease(self: &Arc<Self>, served: &Served) -> Option<Option<Lease>> {
        let Some(device) = served.bench.facts().device else {
            return Some(None);
        };
        let is_free = locked(&self.leased).insert(device);
        is_free.then(|| {
            let worker = self.clone();
            Some(Lease { worker, device })
        })
    }

    /// Returns the demands that jobs are taken for now, by queue: those whose device is free.
    fn served(&self) -> BTreeMap<String, Served> {
        let stands = locked(&self.stands);
        let leased = locked(&self.leased);
        let served = stands.iter().filter_map(|(queue, standing)| {
            let bench = standing.bench.clone()?;
            let is_served = standing.demand.chosen.is_some()
                && matches!(&standing.state, State::Opened(facts)
                    if facts.device.is_none_or(|it| !leased.contains(&it)))
                && self.spent(&standing.demand.user).is_none();
            let demand = standing.demand.clone();
            is_served.then(|| (queue.clone(), Served { demand, bench }))
        });
        served.collect()
    }

    fn count_running(&self, queue: &str, is_more: bool) {
        if let Some(standing) = locked(&self.stands).get_mut(queue) {
            standing.running = match is_more {
                true => standing.running + 1,
                false => standing.running.saturating_sub(1),
            };
        }
    }

    /// Returns the next job and its queue: of the first queue in `order` that has one.
    async fn next(
        self: &Arc<Self>,
        served: &BTreeMap<String, Served>,
        order: &[&str],
        turn: usize,
        takers: &mut BTreeMap<String, PullConsumer>,
        no_more: &CancellationToken,
    ) -> Result<
        Option<(String, jetstream::Message, Option<Lease>)>,
        Box<dyn std::error::Error + Send + Sync>,
    > {
        let streams = self.streams().await?;
        let mut failed = None;
        for queue in order {
            if !takers.contains_key(*queue) {
                let demand = &served[*queue].demand;
                let lease = Duration::from_millis(demand.lease_ms);
                let most = self.options.most_in_flight;
                match self.server.taker(&streams, demand, lease, most).await {
                    Ok(taker) => takers.insert((*queue).to_owned(), taker),
                    // Others wait, too.
                    Err(error) => {
                        failed = Some(error);
                        continue;
                    }
                };
            }
            if 1 < order.len()
                && let Some(lease) = self.lease(&served[*queue])
            {
                let mut found = takers[*queue].fetch().max_messages(1).messages().await?;
                if let Some(message) = found.next().await {
                    return Ok(Some(((*queue).to_owned(), message?, lease)));
                }
            }
        }
        // Nothing waits: the queues are listened to in turn.
        let there: Vec<&str> = order
            .iter()
            .copied()
            .filter(|it| takers.contains_key(*it))
            .collect();
        if let (true, Some(failed)) = (there.is_empty(), failed) {
            return Err(failed.into());
        }
        let queue = there[turn % there.len()];
        let Some(lease) = self.lease(&served[queue]) else {
            return Ok(None);
        };
        let patience = match order.len() {
            1 => WAIT,
            _ => GLANCE,
        };
        let waiting = takers[queue].batch().max_messages(1).expires(patience);
        let mut found = waiting.messages().await?;
        let message = tokio::select! {
            message = found.next() => message,
            // What the server sends for what was asked before would be lost for a lease.
            () = no_more.cancelled() => found.next().await,
        };
        match message {
            Some(message) => Ok(Some((queue.to_owned(), message?, lease))),
            None => Ok(None),
        }
    }
}
