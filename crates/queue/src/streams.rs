//! The streams of a queue: made by who comes first, and looked at by all.

use crate::error::QueueError;
use crate::names;
use crate::server::Server;
use async_nats::jetstream::stream::{self, DiscardPolicy};
use serde_json::Value;
use std::fmt;
use std::time::Duration;

/// How long jobs wait at most until they are published anew.
pub(crate) const JOBS_LIVE: Duration = Duration::from_secs(60 * 60);

/// How long results are there for whoever asks the same.
const RESULTS_LIVE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long texts are there.
const TEXTS_LIVE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long a message with the mark of an earlier one is dropped.
const DUPLICATES_KNOWN: Duration = Duration::from_secs(120);

/// The pause before streams are looked for again.
const AGAIN: Duration = Duration::from_millis(100);

/// What a server says of a stream that is no setting.
const NO_SETTINGS: [&str; 2] = ["description", "metadata"];

/// The streams of a server, as far as they are there.
#[derive(Clone)]
pub struct Streams {
    /// Jobs that nobody has answered.
    pub(crate) jobs: stream::Stream,
    /// Answers, the last one of each job.
    pub(crate) results: stream::Stream,
    /// Who has taken a job.
    pub(crate) tries: stream::Stream,
    /// Texts that are too long for a message.
    pub(crate) texts: stream::Stream,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

/// The streams as they were found last; none once they may be gone.
pub(crate) struct Known(tokio::sync::Mutex<Option<Streams>>);

impl Known {
    /// Keeps streams that were just found.
    pub(crate) fn new(streams: Streams) -> Self {
        Self(tokio::sync::Mutex::new(Some(streams)))
    }

    /// Has the streams looked for again, because the server may have lost them.
    pub(crate) async fn forget(&self) {
        *self.0.lock().await = None;
    }

    /// Returns the streams, which `server` makes anew if they may be gone.
    pub(crate) async fn of(&self, server: &Server) -> Result<Streams, QueueError> {
        let mut known = self.0.lock().await;
        let streams = match known.take() {
            Some(streams) => streams,
            None => server.streams().await?,
        };
        Ok(known.insert(streams).clone())
    }
}

impl Server {
    /// Returns whether the server says anything about streams. One may be connected to and do
    /// nothing any more, such as after its disk was full.
    pub async fn is_answering(&self) -> bool {
        self.info(names::JOBS).await.is_ok()
    }

    /// Makes the streams, as far as they are not there.
    ///
    /// # Errors
    /// [`QueueError::Server`] if the server has no JetStream, no room, or does not allow it.
    pub async fn streams(&self) -> Result<Streams, QueueError> {
        // Two that make one at the same moment: the server refuses one of them, who finds it then.
        let made = async {
            for _ in 0..3 {
                if let Ok(streams) = self.streams_at_once().await {
                    return Ok(streams);
                }
                tokio::time::sleep(AGAIN).await;
            }
            self.streams_at_once().await
        };
        // What a user may not ask is never answered.
        tokio::select! {
            made = made => made,
            refused = self.refused() => Err(refused),
        }
    }

    async fn streams_at_once(&self) -> Result<Streams, QueueError> {
        let stream = |name: &str, config: stream::Config| {
            let config = stream::Config {
                name: name.to_owned(),
                num_replicas: 1,
                duplicate_window: DUPLICATES_KNOWN,
                ..config
            };
            async move {
                let wanted = config.clone();
                let made = self.context.get_or_create_stream(config).await;
                let made =
                    made.map_err(|error| self.refuses(format!("has no streams: {error}")))?;
                self.check(&wanted).await?;
                Ok(made)
            }
        };
        let jobs = stream(
            names::JOBS,
            stream::Config {
                subjects: vec!["autocomp.jobs.>".to_owned()],
                retention: stream::RetentionPolicy::WorkQueue,
                max_age: JOBS_LIVE,
                ..stream::Config::default()
            },
        )
        .await?;
        let last_of_each = |name, subject: &str, max_age| {
            let config = stream::Config {
                subjects: vec![subject.to_owned()],
                max_messages_per_subject: 1,
                discard: DiscardPolicy::Old,
                max_age,
                ..stream::Config::default()
            };
            stream(name, config)
        };
        let results = last_of_each(names::RESULTS, "autocomp.results.*.*", RESULTS_LIVE).await?;
        let tries = last_of_each(names::TRIES, "autocomp.tries.*", RESULTS_LIVE).await?;
        let texts = last_of_each(names::TEXTS, "autocomp.texts.*.*.*", TEXTS_LIVE).await?;
        Ok(Streams {
            jobs,
            results,
            tries,
            texts,
        })
    }

    /// Sees whether a stream is as it was wanted: a user who makes it first could have it drop
    /// messages, or repeat them in the names of others.
    async fn check(&self, wanted: &stream::Config) -> Result<(), QueueError> {
        let told = self.info(&wanted.name).await?;
        let there = &told["config"];
        let right = serde_json::to_value(wanted).unwrap_or_default();
        let of = |it: &Value| it.as_object().cloned().unwrap_or_default();
        let mut settings = of(there).into_iter().chain(of(&right)).map(|(it, _)| it);
        let other = settings.find(|it| {
            let (there, right) = (&there[it], &right[it]);
            let is_same = there == right || (is_unset(there) && is_unset(right));
            !NO_SETTINGS.contains(&it.as_str()) && !is_same
        });
        other.map_or(Ok(()), |other| {
            Err(QueueError::Server {
                server: self.address.clone(),
                what: format!(
                    "has a stream {} with another `{other}` than autocomp gives it",
                    wanted.name
                ),
                remedy: "stop the server, remove its store and start it again: what is lost is \
                         asked for anew; and see which user made that stream"
                    .to_owned(),
            })
        })
    }
}

/// Returns whether a setting says that there is none: servers of different versions say it in
/// different ways.
fn is_unset(setting: &Value) -> bool {
    match setting {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_i64().is_some_and(|it| it <= 0),
        Value::String(text) => text.is_empty() || text == "none",
        Value::Array(items) => items.is_empty(),
        Value::Object(items) => items.is_empty(),
        Value::Bool(true) => false,
    }
}
