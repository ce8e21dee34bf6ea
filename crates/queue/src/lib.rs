//! Evaluations by workers on other machines, through a queue.
//!
//! Whoever searches has a [`Coordinator`], whose [`Link`](autocomp_eval::isolation::Link)s turn
//! each request into a [`Job`]. A [`Worker`] takes jobs, one for each of its places, and has
//! them done by benches that it opens itself. Between them is a NATS server with JetStream: it
//! carries jobs, results and large texts, and is the record of nothing. A job is a function of
//! its content; what has no result may be published again after any accident.
//!
//! Coordinators tell what they need ([`Demand`]), workers what they are ([`Presence`]), every
//! few seconds and beside all streams: who is not heard of is not there.

mod access;
mod coordinator;
mod demand;
mod error;
mod fairness;
mod job;
mod laboratory;
mod link;
mod local_server;
mod metrics;
mod names;
mod place;
mod presence;
mod quota;
mod server;
mod streams;
mod texts;
mod worker;

pub use access::Access;
pub use coordinator::{Coordinator, CoordinatorOptions};
pub use demand::{Chosen, Demand};
pub use error::QueueError;
pub use fairness::Shares;
pub use job::{Answer, Job, PROTOCOL};
pub use laboratory::Laboratory;
pub use link::QueueLink;
pub use local_server::LocalServer;
pub use metrics::prometheus;
pub use names::token;
pub use place::Place;
pub use presence::{Counts, Presence, Stand, State, heard};
pub use quota::Used;
pub use server::Server;
pub use streams::Streams;
pub use worker::{Open, Worker, WorkerOptions};
