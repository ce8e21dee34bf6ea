//! One thing to be done by a worker, and what came of it.

use crate::demand::Chosen;
use crate::names::one_line;
use crate::place::Place;
use autocomp_core::{ContentHash, ContentHasher, Outcome};
use autocomp_eval::isolation::{Failure, Reply, Request};
use serde::{Deserialize, Serialize};

/// The version of what coordinators and workers tell each other.
pub const PROTOCOL: u32 = 5;

/// So many workers may take a job; then it is given up.
pub(crate) const MOST_TRIES: usize = 3;

/// One request to a bench with certain facts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// Hash of all else that decides the result: equal jobs are done once, whoever asks.
    pub id: ContentHash,
    /// See [`Setup::content`](autocomp_eval::Setup::content): the facts of a bench repeat what
    /// problem and target claim of themselves, and a setup may lie.
    pub content: ContentHash,
    /// See [`BenchFacts::key_base`](autocomp_eval::BenchFacts::key_base).
    pub key_base: ContentHash,
    /// See [`BenchFacts::identity`](autocomp_eval::BenchFacts::identity).
    pub identity: ContentHash,
    /// For whom alone the result counts: hash of the session, if costs are measured.
    pub only_for: Option<ContentHash>,
    /// The device that it is to be measured on, if it must be a certain one.
    pub held: Option<Place>,
    /// Workers that have failed at it, which leave it to others; decides no result.
    pub avoid: Vec<String>,
    /// What is asked.
    pub request: Request,
}

impl Job {
    /// Makes the job of a request to a bench that was chosen for a setup of this `content`. Results
    /// of measured ones are for `session` only: tomorrow the device may be busy in another way.
    #[must_use]
    pub fn new(
        content: ContentHash,
        chosen: &Chosen,
        held: Option<&Place>,
        session: &str,
        request: Request,
    ) -> Self {
        let facts = &chosen.facts;
        let measured = facts.device.is_some();
        let mut job = Self {
            id: ContentHash::of(b""),
            content,
            key_base: facts.key_base,
            identity: facts.identity,
            only_for: measured.then(|| ContentHash::of(session.as_bytes())),
            held: held.filter(|_| measured).cloned(),
            avoid: Vec::new(),
            request,
        };
        job.id = job.hash();
        job
    }

    /// Returns what its id has to be: the result of an id is that of one request only, so that
    /// nobody can have another one answered under it.
    pub(crate) fn hash(&self) -> ContentHash {
        let mut hasher = ContentHasher::new("autocomp job");
        hasher.update(&PROTOCOL.to_le_bytes());
        hasher.update(&self.content.0);
        hasher.update(&self.key_base.0);
        hasher.update(&self.identity.0);
        hasher.update(&self.only_for.map_or([0; 32], |it| it.0));
        let held = self.held.as_ref().map(Place::to_string);
        hasher.update(held.unwrap_or_default().as_bytes());
        hasher.update(&serde_json::to_vec(&self.request).unwrap_or_default());
        hasher.finish()
    }
}

/// Who works on a job, and who has.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tries {
    /// Workers that have taken it; none has answered.
    pub(crate) workers: Vec<String>,
    /// The demand for which the last one of them works on it.
    pub(crate) holder: Option<String>,
}

/// What came of a job.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The job.
    pub job: ContentHash,
    /// Who did it.
    pub worker: String,
    /// Where it was measured, if it was.
    pub place: Option<Place>,
    /// See [`Job::key_base`].
    pub key_base: ContentHash,
    /// See [`Job::identity`].
    pub identity: ContentHash,
    /// What the bench said.
    pub reply: Reply,
}

impl Answer {
    /// Returns why it is no answer to the job; nothing if it is one.
    #[must_use]
    pub fn misfit(&self, job: &Job, chosen: &Chosen) -> Option<String> {
        let facts = &chosen.facts;
        if self.job != job.id {
            return Some("it is about another job".to_owned());
        }
        if (self.key_base, self.identity) != (job.key_base, job.identity) {
            return Some("it was made with other tools, sources or machines".to_owned());
        }
        if let Some(held) = &job.held
            && Some(held) != self.place.as_ref()
        {
            return Some(match &self.place {
                Some(place) => format!(
                    "it was measured on {}, and the run is measured on {held}",
                    one_line(&place.to_string())
                ),
                None => format!("it was not measured, and the run is measured on {held}"),
            });
        }
        match (&job.request, &self.reply) {
            (_, Reply::Failed(Failure::Environment { .. })) => {
                Some("it tells of the worker, not of the kernel".to_owned())
            }
            (_, Reply::Failed(_) | Reply::Panicked { .. }) => None,
            (Request::Evaluate { source, .. }, Reply::Evaluated(evaluation)) => {
                if evaluation.key != facts.key(source) {
                    return Some("it is about another kernel".to_owned());
                }
                if (evaluation.outcome == Outcome::Ok) != evaluation.measurement.is_some() {
                    return Some(format!(
                        "outcome `{}` and its measurement contradict each other",
                        evaluation.outcome
                    ));
                }
                let measurement = evaluation.measurement.as_ref()?;
                let cost = measurement.cost;
                if cost.unit != facts.unit {
                    return Some(format!("it costs {cost}, not {}", facts.unit));
                }
                let is_known = |it: &String| *it == measurement.compiler;
                if measurement.engine != facts.engine || !facts.tools.iter().any(is_known) {
                    return Some(format!(
                        "it was made by {} and {}, not by {} and {}",
                        one_line(&measurement.engine),
                        one_line(&measurement.compiler),
                        facts.engine,
                        facts.compiler()
                    ));
                }
                let percent = measurement.percent_of_peak;
                if !(percent.is_finite() && 0.0 <= percent) {
                    return Some(format!("{percent} is no share of the peak"));
                }
                // The floor of a device may be found to be lower later.
                if facts.device.is_some() {
                    return None;
                }
                if cost.value < facts.floor.value {
                    return Some(format!(
                        "it costs {cost}, which is below the floor of {}",
                        facts.floor
                    ));
                }
                let most = facts.floor.percent_of(cost);
                (most + 0.1 < percent).then(|| {
                    format!("it claims {percent:.1} % of the peak, and {cost} is {most:.1} %")
                })
            }
            (Request::MachineCode { .. }, Reply::MachineCode { .. })
            | (Request::Doubts, Reply::Doubts(_))
            | (Request::Profile { .. }, Reply::Profiled(_)) => None,
            _ => Some("it is an answer to another kind of question".to_owned()),
        }
    }

    /// Returns whether it says that something failed, if not the kernel: it may be the worker, and
    /// others are asked before it is believed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self.reply, Reply::Failed(_) | Reply::Panicked { .. })
    }

    /// Returns whether it may be taken by others who ask the same: faults are the program's or
    /// the worker's, which may be mended.
    #[must_use]
    pub fn holds(&self) -> bool {
        match &self.reply {
            Reply::Failed(_) | Reply::Panicked { .. } => false,
            Reply::Evaluated(evaluation) => evaluation.outcome != Outcome::Fault,
            _ => true,
        }
    }

    /// Returns the reply, with the name of the worker.
    #[must_use]
    pub fn into_reply(self) -> Reply {
        let worker = self.worker;
        match self.reply {
            Reply::Evaluated(mut evaluation) => {
                evaluation.worker = Some(worker);
                evaluation.device = self.place.map(|it| one_line(&it.to_string()));
                Reply::Evaluated(evaluation)
            }
            Reply::Failed(Failure::Fault(message)) => {
                Reply::Failed(Failure::Fault(format!("{message} (worker {worker})")))
            }
            Reply::Failed(Failure::Input { message, remedies }) => Reply::Failed(Failure::Input {
                message: format!("{message} (worker {worker})"),
                remedies,
            }),
            Reply::Panicked { message } => Reply::Panicked {
                message: format!("{message} (worker {worker})"),
            },
            reply => reply,
        }
    }
}
