//! A way to whoever takes jobs from the queue.

use crate::coordinator::Coordinator;
use autocomp_eval::isolation::{Death, Link, Reply, Request};
use std::sync::Arc;
use std::time::Duration;

/// A link through the queue. Any worker that fits may answer.
pub struct QueueLink {
    coordinator: Arc<Coordinator>,
    opened: Option<String>,
}

impl QueueLink {
    /// Makes a link; nothing is asked yet.
    #[must_use]
    pub fn new(coordinator: Arc<Coordinator>) -> Self {
        Self {
            coordinator,
            opened: None,
        }
    }
}

impl Link for QueueLink {
    /// Asks, and waits as long as it takes until a worker is free: the limits on what an
    /// evaluation may take are kept where it is made.
    fn ask(
        &mut self,
        request: &Request,
        _wall: Duration,
        tell: &mut dyn FnMut(&str),
    ) -> Result<Reply, Death> {
        if let Request::Open { setup, .. } = request {
            let reply = self.coordinator.open(setup, tell);
            if matches!(reply, Reply::Opened { .. }) {
                self.opened = Some(setup.clone());
            }
            return Ok(reply);
        }
        let Some(setup) = &self.opened else {
            return Err(Death::Garbled("no bench is open".to_owned()));
        };
        Ok(self.coordinator.ask(setup, request.clone()))
    }
}
