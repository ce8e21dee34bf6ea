//! One job from its message to its answer.

use super::taking::Served;
use super::{Worker, locked};
use crate::error::QueueError;
use crate::job::{Answer, Job, MOST_TRIES};
use crate::names;
use async_nats::jetstream::{AckKind, Message};
use autocomp_eval::isolation::{Failure, Reply, Request};
use autocomp_eval::{Bench, EvalError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// How long to wait before a job is given back to others.
const HAND_BACK: Duration = Duration::from_millis(200);

/// How long to wait before an answer is published again.
const PAUSE: Duration = Duration::from_millis(500);

impl Worker {
    /// Does the job of a message, and tells the server what became of it.
    pub(super) async fn do_job(&self, served: &Served, message: &Message) {
        let lease = Duration::from_millis(served.demand.lease_ms);
        let job = match self.understood(served, message).await {
            Ok(job) => job,
            Err(error) => {
                (self.options.tell)(&format!(
                    "a job of {} was thrown away: {error}",
                    served.demand.user
                ));
                // Whoever published it hears nothing, and publishes it again if it is one.
                let _ = message.ack_with(AckKind::Term).await;
                return;
            }
        };
        let is_again = message.info().is_ok_and(|info| 1 < info.delivered);
        if (is_again || !job.avoid.is_empty()) && self.is_answered(&job).await {
            // Whoever took it before was slow to say so.
            let _ = message.double_ack().await;
            return;
        }
        if job.avoid.contains(&self.options.name) {
            let _ = message.ack_with(AckKind::Nak(Some(HAND_BACK))).await;
            return;
        }
        let tries = match self.note_try(&job, is_again).await {
            Ok(tries) => tries,
            Err(error) => {
                tracing::warn!(%error, "a job is handed back");
                let _ = message.ack_with(AckKind::Nak(Some(HAND_BACK))).await;
                return;
            }
        };
        let reply = match MOST_TRIES < tries.len() {
            true => {
                locked(&self.counts).given_up += 1;
                let before = &tries[..MOST_TRIES];
                Some(Reply::Failed(Failure::Fault(format!(
                    "{MOST_TRIES} workers have taken it and none has answered: {}",
                    before.join(", ")
                ))))
            }
            false => self.reply(served, &job, message, lease).await,
        };
        let Some(reply) = reply else {
            locked(&self.counts).handed_back += 1;
            self.unnote_try(&job, tries).await;
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

    /// Notes that this worker takes a job; returns who has, this one included.
    async fn note_try(&self, job: &Job, is_again: bool) -> Result<Vec<String>, QueueError> {
        let streams = self.streams().await?;
        let subject = names::tries(&job.id);
        let mut tries: Vec<String> = Vec::new();
        if is_again && let Some((_, payload)) = self.server.last(&streams.tries, &subject).await? {
            tries = self.server.read(&streams, &payload).await?;
        }
        tries.push(self.options.name.clone());
        self.server.publish(&streams, subject, None, &tries).await?;
        Ok(tries)
    }

    /// Takes back that this worker has taken a job: it is not the job's fault that it goes.
    async fn unnote_try(&self, job: &Job, mut tries: Vec<String>) {
        tries.pop();
        let unnoted = async {
            let streams = self.streams().await?;
            let subject = names::tries(&job.id);
            self.server.publish(&streams, subject, None, &tries).await
        };
        if let Err(error) = unnoted.await {
            tracing::warn!(%error, "a job counts as tried");
        }
    }

    /// Returns what the bench says, and tells the server meanwhile that somebody is at it;
    /// nothing if the job is for another worker.
    async fn reply(
        &self,
        served: &Served,
        job: &Job,
        message: &Message,
        lease: Duration,
    ) -> Option<Reply> {
        let bench = served.bench.clone();
        let request = job.request.clone();
        let mut asked = tokio::task::spawn_blocking(move || ask(&*bench, request));
        let mut progress = tokio::time::interval(lease / 3);
        let said = loop {
            tokio::select! {
                said = &mut asked => break said,
                _ = progress.tick() => {
                    let _ = message.ack_with(AckKind::Progress).await;
                }
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
                self.server.publish(&streams, subject, None, answer).await
            };
            match published.await {
                Ok(_) => break,
                Err(error) => {
                    tracing::warn!(%error, "an answer waits");
                    *self.streams.lock().await = None;
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
