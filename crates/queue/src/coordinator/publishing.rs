//! Jobs on their way, until there is an answer that fits.

use super::{Shared, locked};
use crate::demand::{Chosen, Demand};
use crate::error::QueueError;
use crate::job::{Answer, Job, MOST_TRIES};
use crate::names::{self, one_line};
use crate::server::{Found, Only, is_of_server};
use crate::streams::Streams;
use autocomp_core::{ContentHash, ContentHasher};
use autocomp_eval::isolation::{Failure, Reply, Request};
use futures::StreamExt;
use std::time::Duration;

/// How long to wait before the server is asked again after it refused.
const PAUSE: Duration = Duration::from_millis(500);

/// Why there is no answer yet.
enum Unanswered {
    /// The server does not do what it is asked.
    Server(QueueError),
    /// The job is neither waiting nor answered.
    Lost,
    /// A worker gave an answer that does not fit.
    Misfit { worker: String, why: String },
    /// All workers that are there are refused.
    Nobody(String),
}

impl From<QueueError> for Unanswered {
    fn from(error: QueueError) -> Self {
        Self::Server(error)
    }
}

impl Shared {
    /// Asks until a worker has answered.
    pub(super) async fn ask(&self, setup: &str, request: Request) -> Reply {
        let hash = ContentHash::of(setup.as_bytes());
        let chosen = locked(&self.demands)
            .get(&hash)
            .and_then(|it| Some((it.demand.clone(), it.demand.chosen.clone()?)));
        let Some((demand, chosen)) = chosen else {
            return Reply::Failed(Failure::Fault("no bench is open".to_owned()));
        };
        let held = demand.held.as_ref();
        let session = &self.options.session;
        let mut job = Job::new(demand.content, &chosen, held, session, request);
        let mut failed: Vec<String> = Vec::new();
        let mut round = 0_u32;
        let mut misfits = Vec::new();
        loop {
            job.avoid = match self.has_others(hash, &failed) {
                true => failed.clone(),
                false => Vec::new(),
            };
            let error = match self.answered(&demand, &chosen, &job, round).await {
                Ok(answer) => {
                    let worker = answer.worker.clone();
                    if !answer.is_failure() {
                        for sick in failed.iter().filter(|it| **it != worker) {
                            let why = format!("it failed where worker {worker} did not");
                            self.refuse(hash, sick, &why).await;
                        }
                        return answer.into_reply();
                    }
                    failed.push(worker);
                    if MOST_TRIES <= failed.len() || !self.has_others(hash, &failed) {
                        return answer.into_reply();
                    }
                    round += 1;
                    continue;
                }
                Err(error) => error,
            };
            match error {
                Unanswered::Nobody(message) => {
                    return Reply::Failed(Failure::Environment {
                        message,
                        remedies: vec![
                            "start another worker (`autocomp worker --queue …`), and give each \
                             machine a key of its own (`autocomp worker init --worker NAME`)"
                                .to_owned(),
                        ],
                    });
                }
                Unanswered::Server(error) => {
                    self.tell_once(format!(
                        "{error}; jobs wait until it does (start it again if that takes minutes: \
                         nothing is lost)"
                    ));
                    self.streams.forget().await;
                    tokio::time::sleep(PAUSE).await;
                }
                Unanswered::Lost => round += 1,
                Unanswered::Misfit { worker, why } => {
                    round += 1;
                    self.refuse(hash, &worker, &why).await;
                    misfits.push(format!("{worker}: {why}"));
                    if MOST_TRIES <= misfits.len() {
                        return Reply::Failed(Failure::Fault(format!(
                            "{MOST_TRIES} answers of workers did not fit the job: {}",
                            misfits.join("; ")
                        )));
                    }
                }
            }
        }
    }

    /// Publishes a job, unless it is answered, and waits for the answer.
    async fn answered(
        &self,
        demand: &Demand,
        chosen: &Chosen,
        job: &Job,
        round: u32,
    ) -> Result<Answer, Unanswered> {
        let streams = self.streams().await?;
        let results = names::results(&job.id);
        let mut answers = self.server.subscribe(results.clone()).await?;
        while let Some(found) = self.server.last(&streams.results, &results).await? {
            let Found {
                subject, payload, ..
            } = found;
            // What was found is not trusted more than what comes, but nobody is to blame for
            // what an earlier program left. One that does not fit is forgotten by then.
            match self.taken(&streams, &subject, &payload, job, chosen).await {
                Ok(answer) if answer.holds() => return Ok(answer),
                Ok(_) => self.forget(&streams, &subject).await?,
                Err(Unanswered::Misfit { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let subject = names::job(&demand.user, &demand.queue, &job.id);
        // Only this search can have used it: a message of another user with the same mark would
        // keep the job from its queue.
        let mut mark = ContentHasher::new("autocomp mark");
        mark.update(self.options.session.as_bytes());
        mark.update(&job.id.0);
        mark.update(&round.to_le_bytes());
        let mark = mark.finish().to_string();
        let is_new = self
            .server
            .publish(&streams, subject, Only::Unmarked(&mark), job)
            .await?;
        if !is_new && !self.is_waiting(&streams, demand, job).await? {
            // What was published before is done, or nobody takes it.
            return match self.server.last(&streams.results, &results).await? {
                Some(it) if !self.is_ignored(demand, job, &it.subject, &it.payload) => {
                    self.taken(&streams, &it.subject, &it.payload, job, chosen)
                        .await
                }
                _ => Err(Unanswered::Lost),
            };
        }
        let mut is_missed = false;
        loop {
            let next = tokio::time::timeout(self.options.lease, answers.next()).await;
            if let Ok(Some(message)) = next {
                if self.is_ignored(demand, job, &message.subject, &message.payload) {
                    continue;
                }
                return self
                    .taken(&streams, &message.subject, &message.payload, job, chosen)
                    .await;
            }
            // A job leaves its stream behind its answer: in this order, none is missed.
            let is_waiting = self.is_waiting(&streams, demand, job).await?;
            if let Some(found) = self.server.last(&streams.results, &results).await? {
                let Found {
                    subject, payload, ..
                } = found;
                if self.is_ignored(demand, job, &subject, &payload) {
                    self.forget(&streams, &subject).await?;
                    continue;
                }
                return self.taken(&streams, &subject, &payload, job, chosen).await;
            }
            self.check_workers(demand.setup)
                .map_err(Unanswered::Nobody)?;
            if !job.avoid.is_empty() && !self.has_others(demand.setup, &job.avoid) {
                return Err(Unanswered::Lost);
            }
            if !is_waiting && is_missed {
                return Err(Unanswered::Lost);
            }
            is_missed = !is_waiting;
        }
    }

    /// Returns whether the job is in the own queue.
    async fn is_waiting(
        &self,
        streams: &Streams,
        demand: &Demand,
        job: &Job,
    ) -> Result<bool, QueueError> {
        let subject = names::job(&demand.user, &demand.queue, &job.id);
        let waiting = streams.jobs.info_with_subjects(subject).await;
        let refused = |error: &dyn std::fmt::Display| {
            self.server.refuses(format!("does not answer: {error}"))
        };
        let mut waiting = waiting.map_err(|error| refused(&error))?;
        let found = waiting.next().await.transpose();
        Ok(found.map_err(|error| refused(&error))?.is_some())
    }

    /// Returns an answer that fits. Whose it is, its subject says, which the server guards.
    async fn taken(
        &self,
        streams: &Streams,
        subject: &str,
        payload: &[u8],
        job: &Job,
        chosen: &Chosen,
    ) -> Result<Answer, Unanswered> {
        let worker = &names::token(names::answering(subject));
        let read: Result<Answer, QueueError> = self.server.read(streams, payload).await;
        let why = match read {
            Ok(answer) if answer.worker != *worker => {
                format!("it is in the name of worker {}", one_line(&answer.worker))
            }
            Ok(answer) => match answer.misfit(job, chosen) {
                None => return Ok(answer),
                Some(why) => why,
            },
            Err(error) => error.to_string(),
        };
        self.forget(streams, subject).await?;
        let worker = worker.to_owned();
        Err(Unanswered::Misfit { worker, why })
    }

    /// Returns whether an answer is not looked at: that of a worker from which none is taken any
    /// more or which has failed at this job, and what is none of a worker's.
    fn is_ignored(&self, demand: &Demand, job: &Job, subject: &str, payload: &[u8]) -> bool {
        let worker = names::answering(subject);
        if is_of_server(payload) || job.avoid.iter().any(|it| it == worker) {
            return true;
        }
        let demands = locked(&self.demands);
        let wanted = demands.get(&demand.setup);
        wanted.is_some_and(|it| it.demand.refused.iter().any(|it| it == worker))
    }

    /// Throws an answer away.
    async fn forget(&self, streams: &Streams, subject: &str) -> Result<(), QueueError> {
        let purged = streams.results.purge().filter(subject).await;
        purged
            .map(|_| ())
            .map_err(|error| self.server.refuses(format!("does not answer: {error}")))
    }

    /// Takes no more answers from a worker whose answers do not fit.
    async fn refuse(&self, setup: ContentHash, worker: &str, why: &str) {
        let title = {
            let mut demands = locked(&self.demands);
            let Some(wanted) = demands.get_mut(&setup) else {
                return;
            };
            if !wanted.demand.refused.iter().any(|it| it == worker) {
                wanted.demand.refused.push(worker.to_owned());
            }
            wanted.demand.title.clone()
        };
        self.tell_once(format!(
            "an answer of worker {worker} for {title} does not fit its job, and no more are \
             taken from it: {why}"
        ));
        self.tell_demands().await;
    }
}
