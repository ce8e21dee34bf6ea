//! The server between coordinators and workers: streams, texts, what is told beside them.

use crate::access::Access;
use crate::error::QueueError;
use crate::names;
use async_nats::header::{HeaderMap, NATS_MESSAGE_ID};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, DiscardPolicy, LastRawMessageErrorKind};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, Event, Subscriber};
use autocomp_core::ContentHash;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::watch;

/// What is longer goes through the store of texts, bytes.
const LONGEST_MESSAGE: usize = 256 << 10;

/// The longest text that is fetched, bytes: as long as the longest reply that is believed.
const LONGEST_TEXT: u64 = 1 << 30;

/// How long jobs wait at most until they are published anew.
const JOBS_LIVE: Duration = Duration::from_secs(60 * 60);

/// How long results are there for whoever asks the same.
const RESULTS_LIVE: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a refusal may take behind the server's word that it has read all.
const GLANCE: Duration = Duration::from_millis(200);

/// The pause before streams are looked for again.
const AGAIN: Duration = Duration::from_millis(100);

/// A connection to the server, which is made again whenever it is lost.
#[derive(Clone)]
pub struct Server {
    client: Client,
    context: Context,
    address: String,
    reconnected: watch::Receiver<u64>,
    /// What the server did not let this user do, if there was anything.
    refusal: watch::Receiver<Option<String>>,
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// The streams of a server, as far as they are there.
#[derive(Clone)]
pub struct Streams {
    /// Jobs that nobody has answered.
    pub(crate) jobs: stream::Stream,
    /// Answers, the last one of each job.
    pub(crate) results: stream::Stream,
    /// Who has taken a job.
    pub(crate) tries: stream::Stream,
    texts: ObjectStore,
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

/// A message, or where it is.
#[derive(Serialize, Deserialize)]
enum Parcel {
    Here(String),
    Stored(ContentHash),
}

impl Server {
    /// Connects.
    ///
    /// # Errors
    /// [`QueueError::Server`] if there is none, or it lets nobody in.
    pub async fn connect(access: &Access, name: &str) -> Result<Self, QueueError> {
        let (sender, reconnected) = watch::channel(0);
        let (refusing, refusal) = watch::channel(None);
        let options = access
            .options()?
            .name(name)
            .connection_timeout(PATIENCE)
            .request_timeout(Some(PATIENCE))
            .reconnect_delay_callback(|attempt| {
                Duration::from_millis((50 << attempt.min(6)).min(2000))
            })
            .event_callback(move |event| {
                match event {
                    Event::Connected => sender.send_modify(|it| *it += 1),
                    Event::ServerError(error) => {
                        let text = names::one_line(&error.to_string());
                        if text.to_lowercase().contains("permissions violation") {
                            let _ = refusing.send(Some(text));
                        }
                    }
                    _ => {}
                }
                async {}
            });
        let address = access.address().to_owned();
        let client = options.connect(&address).await.map_err(|error| {
            // What the library says of its options holds no secret; the address has none.
            let what = format!("is not to be had: {error}");
            let remedy = match error.kind() {
                async_nats::ConnectErrorKind::Authentication
                | async_nats::ConnectErrorKind::AuthorizationViolation => {
                    "name the access file of a user that the server's configuration has, with \
                     `--queue-access FILE`"
                }
                // What is wrong with a certificate, and a server that does not encrypt, come as
                // errors of the connection.
                kind if kind == async_nats::ConnectErrorKind::Tls
                    || ["certificate", "corrupt message"]
                        .iter()
                        .any(|it| error.to_string().contains(it)) =>
                {
                    "name the certificates that the server's is signed by as `authorities` in the \
                     access file; where the server does not encrypt, leave `tls` out and write \
                     nats:// in place of tls://"
                }
                _ => {
                    "start a server there with `autocomp worker serve --address 0.0.0.0` (without \
                     an address, it listens to its own machine alone), or name the address of \
                     one with `--queue nats://HOST`"
                }
            };
            QueueError::Server {
                server: address.clone(),
                what,
                remedy: remedy.to_owned(),
            }
        })?;
        let context = jetstream::context::ContextBuilder::new()
            .timeout(PATIENCE)
            .ack_timeout(PATIENCE)
            .build(client.clone());
        Ok(Self {
            client,
            context,
            address,
            reconnected,
            refusal,
        })
    }

    /// Sees whether the server has let this user do all that was asked until now.
    ///
    /// # Errors
    /// [`QueueError::Server`] with what it did not.
    pub(crate) async fn check_rights(&self) -> Result<(), QueueError> {
        let _ = self.client.flush().await;
        let mut refusal = self.refusal.clone();
        let refused = refusal.wait_for(Option::is_some);
        match tokio::time::timeout(GLANCE, refused).await {
            Ok(Ok(refused)) => Err(self.not_allowed(refused.as_deref().unwrap_or_default())),
            _ => Ok(()),
        }
    }

    fn not_allowed(&self, what: &str) -> QueueError {
        QueueError::Server {
            server: self.address.clone(),
            what: format!("does not let this user do what is needed: {what}"),
            remedy: "see whether `user` in the access file is whose key it is; a worker needs the \
                     access file of a worker, a search that of a user"
                .to_owned(),
        }
    }

    /// Returns what changes whenever the connection was lost and is there again.
    pub(crate) fn reconnected(&self) -> watch::Receiver<u64> {
        self.reconnected.clone()
    }

    /// Returns what the server does not do, as an error.
    pub(crate) fn refuses(&self, what: impl fmt::Display) -> QueueError {
        QueueError::Server {
            server: self.address.clone(),
            what: what.to_string(),
            remedy: "see whether the server runs with JetStream, has room, and lets this user do \
                     it; `autocomp worker init` writes a configuration that does"
                .to_owned(),
        }
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
        let mut refusal = self.refusal.clone();
        tokio::select! {
            made = made => made,
            Ok(refused) = refusal.wait_for(Option::is_some) => {
                Err(self.not_allowed(refused.as_deref().unwrap_or_default()))
            }
        }
    }

    async fn streams_at_once(&self) -> Result<Streams, QueueError> {
        let stream = |name: &str, config: stream::Config| {
            let config = stream::Config {
                name: name.to_owned(),
                num_replicas: 1,
                ..config
            };
            async move {
                let made = self.context.get_or_create_stream(config).await;
                made.map_err(|error| self.refuses(format!("has no streams: {error}")))
            }
        };
        let jobs = stream(
            names::JOBS,
            stream::Config {
                subjects: vec!["autocomp.jobs.>".to_owned()],
                retention: stream::RetentionPolicy::WorkQueue,
                max_age: JOBS_LIVE,
                duplicate_window: Duration::from_secs(120),
                ..stream::Config::default()
            },
        )
        .await?;
        let results = stream(
            names::RESULTS,
            stream::Config {
                subjects: vec!["autocomp.results.*.*".to_owned()],
                max_messages_per_subject: 1,
                discard: DiscardPolicy::Old,
                max_age: RESULTS_LIVE,
                ..stream::Config::default()
            },
        )
        .await?;
        let tries = stream(
            names::TRIES,
            stream::Config {
                subjects: vec!["autocomp.tries.*".to_owned()],
                max_messages_per_subject: 1,
                discard: DiscardPolicy::Old,
                max_age: RESULTS_LIVE,
                ..stream::Config::default()
            },
        )
        .await?;
        let texts = match self.context.get_object_store(names::TEXTS).await {
            Ok(texts) => texts,
            Err(_) => self
                .context
                .create_object_store(object_store::Config {
                    bucket: names::TEXTS.to_owned(),
                    max_age: 7 * RESULTS_LIVE,
                    ..object_store::Config::default()
                })
                .await
                .map_err(|error| self.refuses(format!("has no store of texts: {error}")))?,
        };
        Ok(Streams {
            jobs,
            results,
            tries,
            texts,
        })
    }

    /// Listens to a subject, beside all streams.
    pub(crate) async fn subscribe(&self, subject: String) -> Result<Subscriber, QueueError> {
        let subscribed = self.client.subscribe(subject).await;
        subscribed.map_err(|error| self.refuses(format!("is not to be listened to: {error}")))
    }

    /// Tells whoever listens; nobody may.
    pub(crate) async fn tell(
        &self,
        subject: String,
        what: &impl Serialize,
    ) -> Result<(), QueueError> {
        let text = serde_json::to_vec(what).unwrap_or_default();
        self.client
            .publish(subject, text.into())
            .await
            .map_err(|error| self.refuses(format!("takes nothing: {error}")))?;
        self.client
            .flush()
            .await
            .map_err(|error| self.refuses(format!("takes nothing: {error}")))
    }

    /// Publishes a message into a stream and waits until the server has it. One with the same
    /// `mark` within two minutes is a duplicate, which the server drops; returns whether it is
    /// none.
    pub(crate) async fn publish(
        &self,
        streams: &Streams,
        subject: String,
        mark: Option<&str>,
        what: &impl Serialize,
    ) -> Result<bool, QueueError> {
        let text = serde_json::to_string(what).unwrap_or_default();
        let parcel = match text.len() <= LONGEST_MESSAGE {
            true => Parcel::Here(text),
            false => Parcel::Stored(self.store(streams, &text).await?),
        };
        let mut headers = HeaderMap::new();
        if let Some(mark) = mark {
            headers.insert(NATS_MESSAGE_ID, mark);
        }
        let text = serde_json::to_vec(&parcel).unwrap_or_default();
        let acknowledged = async {
            self.context
                .publish_with_headers(subject, headers, text.into())
                .await?
                .await
        };
        match acknowledged.await {
            Ok(kept) => Ok(!kept.duplicate),
            Err(error) => Err(self.refuses(format!("takes no message: {error}"))),
        }
    }

    /// Reads a message of a stream.
    pub(crate) async fn read<T: DeserializeOwned>(
        &self,
        streams: &Streams,
        payload: &[u8],
    ) -> Result<T, QueueError> {
        let unreadable = |error| self.refuses(format!("has a message that is unreadable: {error}"));
        let text = match serde_json::from_slice(payload).map_err(unreadable)? {
            Parcel::Here(text) => text,
            Parcel::Stored(hash) => self.text(streams, hash).await?,
        };
        serde_json::from_str(&text).map_err(unreadable)
    }

    /// Returns the last message of a subject, which may have wildcards, and the subject that it
    /// has; nothing if there is none.
    pub(crate) async fn last(
        &self,
        stream: &stream::Stream,
        subject: &str,
    ) -> Result<Option<(String, Vec<u8>)>, QueueError> {
        match stream.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some((
                message.subject.to_string(),
                message.payload.to_vec(),
            ))),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.refuses(format!("does not answer: {error}"))),
        }
    }

    /// Keeps a text under its hash, which is returned.
    pub(crate) async fn store(
        &self,
        streams: &Streams,
        text: &str,
    ) -> Result<ContentHash, QueueError> {
        let hash = ContentHash::of(text.as_bytes());
        let name = hash.to_string();
        if streams.texts.info(&name).await.is_ok() {
            return Ok(hash);
        }
        let put = streams.texts.put(name.as_str(), &mut text.as_bytes()).await;
        put.map_err(|error| self.refuses(format!("takes no text: {error}")))?;
        Ok(hash)
    }

    /// Returns the text with that hash.
    pub(crate) async fn text(
        &self,
        streams: &Streams,
        hash: ContentHash,
    ) -> Result<String, QueueError> {
        let missing =
            |what: &dyn fmt::Display| self.refuses(format!("has no text {}: {what}", hash.short()));
        let name = hash.to_string();
        let object = streams.texts.get(name.as_str()).await;
        let object = object.map_err(|error| missing(&error))?;
        let mut bytes = Vec::new();
        let read = object.take(LONGEST_TEXT).read_to_end(&mut bytes).await;
        read.map_err(|error| missing(&error))?;
        if ContentHash::of(&bytes) != hash {
            return Err(missing(&"what is there has another hash"));
        }
        String::from_utf8(bytes).map_err(|error| missing(&error))
    }

    /// Returns what takes the jobs of a queue from the stream, one by one.
    pub(crate) async fn taker(
        &self,
        streams: &Streams,
        user: &str,
        queue: &str,
        lease: Duration,
        most_in_flight: Option<usize>,
    ) -> Result<PullConsumer, QueueError> {
        let config = pull::Config {
            durable_name: Some(queue.to_owned()),
            filter_subject: names::jobs_of(user, queue),
            ack_policy: AckPolicy::Explicit,
            ack_wait: lease,
            max_deliver: -1,
            max_ack_pending: most_in_flight.map_or(100_000, |it| it as i64),
            max_waiting: 100_000,
            inactive_threshold: JOBS_LIVE,
            ..pull::Config::default()
        };
        let made = streams.jobs.get_or_create_consumer(queue, config).await;
        made.map_err(|error| self.refuses(format!("gives no jobs: {error}")))
    }
}
