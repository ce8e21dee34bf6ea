//! One job from its message to its answer.

use super::choice::Served;
use super::{Worker, locked};
use crate::error::QueueError;
use crate::job::{Answer, Job, MOST_TRIES, Tries};
use crate::names;
use crate::server::Only;
use async_nats::jetstream::{AckKind, Message};
use autocomp_eval::isolation::{Failure, Reply, Request};
use autocomp_eval::{Bench, EvalError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// How long to wait before a job is given back to others.
const HAND_BACK: Duration = Duration::from_millis(200);

/// How long nothing may be heard of whoever works on a job for somebody else.
const HOLD: Duration = Duration::from_secs(30);

/// How long to wait before an answer is published again.
const PAUSE: Duration = Duration::from_millis(500);

/// Whether a worker works on a job.
enum Claim {
    /// This worker works on the job.
    Made(Tries),
    /// The job has an answer.
    Answered,
    /// Another worker works on it, for somebody else.
    Held,
}

impl Worker {
    /// Does the job of a message, and tells the server what became of it.
    pub(super) async fn do_job(&self, served: &Served, message: &Message) {
        let job = match self.understood(served, message).await {
            Ok(job) => job,
            Err(error) => {
                self.say(&format!(
                    "a job of {} was thrown away: {error}",
                    served.demand.user
                ));
                // Whoever published it hears nothing, and publishes it again if it is one.
                let _ = message.ack_with(AckKind::Term).await;
                return;
            }
        };
        if job.avoid.contains(&self.options.name) {
            let _ = message.ack_with(AckKind::Nak(Some(HAND_BACK))).await;
            return;
        }
        let is_again = message.info().is_ok_and(|info| 1 < info.delivered);
        let tries = match self.claim(served, &job, is_again).await {
            Ok(Claim::Made(tries)) => tries,
            Ok(Claim::Answered) => {
                let _ = message.double_ack().await;
                return;
            }
            Ok(Claim::Held) => {
                let _ = message.ack_with(AckKind::Nak(Some(HAND_BACK))).await;
                return;
            }
            Err(error) => {
                tracing::warn!(%error, "a job is handed back");
                let _ = message.ack_with(AckKind::Nak(Some(HAND_BACK))).await;
                return;
            }
        };
        let reply = match MOST_TRIES < tries.workers.len() {
            true => {
                locked(&self.counts).given_up += 1;
                let before = &tries.workers[..MOST_TRIES];
                Some(Reply::Failed(Failure::Fault(format!(
                    "{MOST_TRIES} workers have taken it and none has answered: {}",
                    before.join(", ")
                ))))
            }
            false => self.reply(served, &job, &tries, message).await,
        };
        let Some(reply) = reply else {
            locked(&self.counts).handed_back += 1;
            // It is not the job's fault that it goes.
            let mut tries = tries;
            tries.workers.pop();
            self.let_go(&job, tries).await;
            let _ = message.ack_with(AckKind::Nak(Some(HAND_BACK))).await;
            return;
        };
        let is_fault = matches!(
            reply,
            Reply::Failed(Failure::Fault(_)) | Reply::Panicked { .. }
        );
        let answer = Answer {
            job: job.id,
            worker: self.options.name.clone(),
            place: served.place(&self.options.machine),
            key_base: job.key_base,
            identity: job.identity,
            reply,
        };
        self.publish(&answer, message).await;
        // Whoever throws the answer away has it made again at once.
        self.let_go(&job, Tries::default()).await;
        let mut counts = locked(&self.counts);
        counts.answered += 1;
        counts.faults += u64::from(is_fault);
    }

    /// Returns the job of a message, if it is one for the bench.
    async fn understood(&self, served: &Served, message: &Message) -> Result<Job, QueueError> {
        let streams = self.streams().await?;
        let job: Job = self.server.read(&streams, &message.payload).await?;
        let facts = served.bench.facts();
        let own = (served.demand.content, facts.key_base, facts.identity);
        if (job.content, job.key_base, job.identity) != own {
            return Err(self.server.refuses("has a job for another bench"));
        }
        let place = served.place(&self.options.machine);
        if job.held.is_some() && job.held != place {
            return Err(self.server.refuses("has a job for another device"));
        }
        let named = message.subject.rsplit('.').next();
        if job.id != job.hash() || named != Some(job.id.to_string().as_str()) {
            return Err(self
                .server
                .refuses("has a job that is not what its name says"));
        }
        Ok(job)
    }

    /// Returns whether there is an answer to a job already.
    async fn is_answered(&self, job: &Job) -> bool {
        let found = async {
            let streams = self.streams().await?;
            let subject = names::results(&job.id);
            self.server.last(&streams.results, &subject).await
        };
        matches!(found.await, Ok(Some(_)))
    }

    /// Notes that this worker works on a job, unless it is answered, or another one works on it for
    /// somebody else: equal jobs are done once, whoever asks.
    async fn claim(&self, served: &Served, job: &Job, is_again: bool) -> Result<Claim, QueueError> {
        let streams = self.streams().await?;
        let subject = names::tries(&job.id);
        let own = served.demand.key();
        loop {
            let found = self.server.last(&streams.tries, &subject).await?;
            let sequence = found.as_ref().map_or(0, |it| it.sequence);
            let mut tries = Tries::default();
            if let Some(found) = found {
                // Whoever took it before may have been slow to say so.
                if self.is_answered(job).await {
                    return Ok(Claim::Answered);
                }
                tries = self.server.read(&streams, &found.payload).await?;
            }
            let is_of_others = tries.holder.as_ref().is_some_and(|it| *it != own);
            if is_of_others && self.is_held(job, sequence) {
                return Ok(Claim::Held);
            }
            if !is_again && !is_of_others {
                // It is asked anew.
                tries.workers.clear();
            }
            tries.workers.push(self.options.name.clone());
            tries.holder = Some(own.clone());
            let only = Only::Behind(sequence);
            let subject = subject.clone();
            if self.server.publish(&streams, subject, only, &tries).await? {
                return Ok(Claim::Made(tries));
            }
        }
    }

    /// Returns whether the worker that works on a job for somebody else was heard of lately: what it
    /// has noted of it is renewed.
    fn is_held(&self, job: &Job, sequence: u64) -> bool {
        let mut held = locked(&self.held);
        held.retain(|_, (_, since)| since.elapsed() < 2 * HOLD);
        match held.get(&job.id) {
            Some((seen, since)) if *seen == sequence => since.elapsed() < HOLD,
            _ => {
                held.insert(job.id, (sequence, Instant::now()));
                true
            }
        }
    }

    /// Notes that this worker still works on a job.
    async fn hold(&self, job: &Job, tries: &Tries) {
        let noted = async {
            let streams = self.streams().await?;
            let subject = names::tries(&job.id);
            self.server
                .publish(&streams, subject, Only::Always, tries)
                .await
        };
        if let Err(error) = noted.await {
            tracing::warn!(%error, "a job may be done twice");
        }
    }

    /// Notes that nobody works on a job.
    async fn let_go(&self, job: &Job, mut tries: Tries) {
        tries.holder = None;
        self.hold(job, &tries).await;
    }

    /// Returns what the bench says, and tells the server meanwhile that somebody is at it;
    /// nothing if the job is for another worker.
    async fn reply(
        &self,
        served: &Served,
        job: &Job,
        tries: &Tries,
        message: &Message,
    ) -> Option<Reply> {
        let lease = Duration::from_millis(served.demand.lease_ms);
        let bench = served.bench.clone();
        let request = job.request.clone();
        let mut asked = tokio::task::spawn_blocking(move || ask(&*bench, request));
        let mut progress = tokio::time::interval(lease / 3);
        let mut hold = tokio::time::interval(HOLD / 3);
        hold.tick().await;
        let said = loop {
            tokio::select! {
                said = &mut asked => break said,
                _ = progress.tick() => {
                    let _ = message.ack_with(AckKind::Progress).await;
                }
                _ = hold.tick() => self.hold(job, tries).await,
                () = self.stopping.cancelled() => return None,
            }
        };
        match said {
            Ok(Ok(reply)) => Some(reply),
            // It says nothing about the kernel: another worker may do better.
            Ok(Err(error @ (EvalError::Environment { .. } | EvalError::Usage { .. }))) => {
                self.withdraw(&served.demand, error);
                None
            }
            Ok(Err(error)) => Some(Reply::Failed(Failure::from(error))),
            Err(error) => Some(Reply::Panicked {
                message: error.to_string(),
            }),
        }
    }

    /// Publishes an answer, and only then takes the job off the queue. An answer is not given up
    /// while the server is away.
    async fn publish(&self, answer: &Answer, message: &Message) {
        let subject = names::result(&answer.worker, &answer.job);
        loop {
            let published = async {
                let streams = self.streams().await?;
                let subject = subject.clone();
                self.server
                    .publish(&streams, subject, Only::Always, answer)
                    .await
            };
            match published.await {
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, "an answer waits");
                    self.streams.forget().await;
                }
            }
            if self.stopping.is_cancelled() {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
        // Without it the job is done once more, with the same result.
        let _ = message.double_ack().await;
    }
}

/// Asks a bench.
fn ask(bench: &dyn Bench, request: Request) -> Result<Reply, EvalError> {
    let answered = catch_unwind(AssertUnwindSafe(|| request.ask(bench)));
    answered.unwrap_or_else(|_| Err(EvalError::Fault("the bench panicked".to_owned())))
}
