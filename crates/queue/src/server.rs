//! The server between coordinators and workers: messages of streams, and what is told beside them.

use crate::access::Access;
use crate::demand::Demand;
use crate::error::QueueError;
use crate::names;
use crate::streams::{JOBS_LIVE, Streams};
use async_nats::header::{HeaderMap, NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, NATS_MESSAGE_ID};
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::{self, LastRawMessageErrorKind};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, Event, Subscriber};
use autocomp_core::ContentHash;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::time::Duration;
use tokio::sync::watch;

/// What is longer goes through the store of texts, bytes.
const LONGEST_MESSAGE: usize = 256 << 10;

/// How long the server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a refusal may take behind the server's word that it has read all.
const GLANCE: Duration = Duration::from_millis(200);

/// A connection to the server, which is made again whenever it is lost.
#[derive(Clone)]
pub struct Server {
    pub(crate) client: Client,
    pub(crate) context: Context,
    pub(crate) address: String,
    user: String,
    api: String,
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

/// A message, or where it is.
#[derive(Serialize, Deserialize)]
enum Parcel {
    Here(String),
    Stored { by: String, hash: ContentHash },
}

/// When a message is kept.
#[derive(Clone, Copy)]
pub(crate) enum Only<'a> {
    /// Always.
    Always,
    /// Unless there was one with this mark within two minutes.
    Unmarked(&'a str),
    /// If the last one of its subject has this sequence number, 0 for none.
    Behind(u64),
}

/// A message of a stream.
pub(crate) struct Found {
    pub(crate) subject: String,
    pub(crate) payload: Vec<u8>,
    /// Its number in the stream.
    pub(crate) sequence: u64,
}

/// Returns whether a message is an answer of the server to a question of somebody who had it sent
/// here: to one about streams, or to a message for a stream.
pub(crate) fn is_of_server(payload: &[u8]) -> bool {
    let Ok(answer) = serde_json::from_slice::<Value>(payload) else {
        return false;
    };
    let kind = answer["type"].as_str().unwrap_or_default();
    let is_error = answer["error"]["err_code"].is_u64();
    kind.starts_with("io.nats.") || is_error || answer["stream"].is_string()
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
                    Event::Connected => {
                        // It may let the user in, and do more, than before.
                        let _ = refusing.send(None);
                        sender.send_modify(|it| *it += 1);
                    }
                    Event::ServerError(error) => {
                        let text = names::one_line(&error.to_string());
                        let said = text.to_lowercase();
                        if [
                            "permissions violation",
                            "authorization violation",
                            "authentication",
                        ]
                        .iter()
                        .any(|it| said.contains(it))
                        {
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
            .api_prefix(access.api())
            .timeout(PATIENCE)
            .ack_timeout(PATIENCE)
            .build(client.clone());
        Ok(Self {
            client,
            context,
            address,
            user: access.user().to_owned(),
            api: access.api().to_owned(),
            reconnected,
            refusal,
        })
    }

    /// Returns the own name.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// Asks the server about a stream; returns what it says.
    pub(crate) async fn info(&self, stream: &str) -> Result<Value, QueueError> {
        let asked = format!("{}.STREAM.INFO.{stream}", self.api);
        let told = self.client.request(asked, "".into()).await;
        let told = told.map_err(|error| self.refuses(format!("has no streams: {error}")))?;
        Ok(serde_json::from_slice(&told.payload).unwrap_or_default())
    }

    /// Sees whether the server has let this user do all that was asked until now.
    ///
    /// # Errors
    /// [`QueueError::Server`] with what it did not.
    pub(crate) async fn check_rights(&self) -> Result<(), QueueError> {
        let _ = self.client.flush().await;
        match tokio::time::timeout(GLANCE, self.refused()).await {
            Ok(error) => Err(error),
            Err(_) => Ok(()),
        }
    }

    /// Waits until the server does not let this user do something, and returns what.
    pub(crate) async fn refused(&self) -> QueueError {
        let mut refusal = self.refusal.clone();
        let refused = refusal.wait_for(Option::is_some).await;
        let refused = refused.map(|it| it.clone().unwrap_or_default());
        match refused {
            Ok(refused) => self.not_allowed(&refused),
            // Nobody will tell.
            Err(_) => std::future::pending().await,
        }
    }

    fn not_allowed(&self, what: &str) -> QueueError {
        QueueError::Server {
            server: self.address.clone(),
            what: format!("does not let this user do what is needed: {what}"),
            remedy: "see whether `user` in the access file is whose key it is; a worker needs the \
                     access file of a worker, a search that of a user; a queue of an earlier \
                     version is written anew with `autocomp worker init`"
                .to_owned(),
        }
    }

    /// Returns what changes whenever the connection was lost and is there again.
    pub(crate) fn reconnected(&self) -> watch::Receiver<u64> {
        self.reconnected.clone()
    }

    /// Returns what the server does not do, as an error.
    pub(crate) fn refuses(&self, what: impl fmt::Display) -> QueueError {
        if let Some(refused) = &*self.refusal.borrow() {
            return self.not_allowed(refused);
        }
        QueueError::Server {
            server: self.address.clone(),
            what: what.to_string(),
            remedy: "see whether the server runs with JetStream, has room, and lets this user do \
                     it; `autocomp worker init` writes a configuration that does"
                .to_owned(),
        }
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

    /// Publishes a message into a stream and waits until the server has it. Returns whether it is
    /// kept, which `only` may forbid.
    pub(crate) async fn publish(
        &self,
        streams: &Streams,
        subject: String,
        only: Only<'_>,
        what: &impl Serialize,
    ) -> Result<bool, QueueError> {
        let text = serde_json::to_string(what).unwrap_or_default();
        let parcel = match text.len() <= LONGEST_MESSAGE {
            true => Parcel::Here(text),
            false => Parcel::Stored {
                hash: self.store(streams, &text).await?,
                by: self.user.clone(),
            },
        };
        let mut headers = HeaderMap::new();
        match only {
            Only::Always => {}
            Only::Unmarked(mark) => headers.insert(NATS_MESSAGE_ID, mark),
            Only::Behind(sequence) => headers.insert(
                NATS_EXPECTED_LAST_SUBJECT_SEQUENCE,
                sequence.to_string().as_str(),
            ),
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
            Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Ok(false),
            Err(error) => Err(self.refuses(format!("takes no message: {error}"))),
        }
    }

    /// Publishes bytes into a stream as they are and waits until the server has them.
    pub(crate) async fn keep(&self, subject: String, bytes: &[u8]) -> Result<(), QueueError> {
        let bytes = bytes.to_vec().into();
        let kept = async { self.context.publish(subject, bytes).await?.await };
        let kept = kept.await;
        kept.map(drop)
            .map_err(|error| self.refuses(format!("takes no text: {error}")))
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
            Parcel::Stored { by, hash } => self.text(streams, &by, hash).await?,
        };
        serde_json::from_str(&text).map_err(unreadable)
    }

    /// Returns the last message of a subject, which may have wildcards; nothing if there is none.
    pub(crate) async fn last(
        &self,
        stream: &stream::Stream,
        subject: &str,
    ) -> Result<Option<Found>, QueueError> {
        match stream.get_last_raw_message_by_subject(subject).await {
            Ok(message) => Ok(Some(Found {
                subject: message.subject.to_string(),
                payload: message.payload.to_vec(),
                sequence: message.sequence,
            })),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.refuses(format!("does not answer: {error}"))),
        }
    }

    /// Returns what takes the jobs of a queue from the stream, one by one.
    pub(crate) async fn taker(
        &self,
        streams: &Streams,
        demand: &Demand,
        lease: Duration,
        most_in_flight: Option<usize>,
    ) -> Result<PullConsumer, QueueError> {
        // Of two users with queues of one name, neither can have the other's.
        let (user, queue) = (&demand.user, &demand.queue);
        let name = format!("{}-{user}-{queue}", user.len());
        let config = pull::Config {
            durable_name: Some(name.clone()),
            filter_subject: names::jobs_of(user, queue),
            ack_policy: AckPolicy::Explicit,
            ack_wait: lease,
            max_deliver: -1,
            max_ack_pending: most_in_flight.map_or(100_000, |it| it as i64),
            max_waiting: 100_000,
            inactive_threshold: JOBS_LIVE,
            ..pull::Config::default()
        };
        let unmade = |error: &dyn fmt::Display| self.refuses(format!("gives no jobs: {error}"));
        let most = config.max_ack_pending;
        let made = streams.jobs.get_or_create_consumer(&name, config.clone());
        let made = made.await.map_err(|error| unmade(&error))?;
        // One for all workers: the least bound holds.
        if made.cached_info().config.max_ack_pending <= most {
            return Ok(made);
        }
        let bounded = streams.jobs.create_consumer(config).await;
        bounded.map_err(|error| unmade(&error))
    }
}
