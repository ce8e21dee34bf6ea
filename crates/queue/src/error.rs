//! What can go wrong with a queue, and what to do about it.

/// A queue cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// The file that says how to get access.
    #[error("{path}: {what}")]
    Access {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
        /// What the user can do.
        remedy: String,
    },
    /// The address of the queue.
    #[error("the queue's address (…{shown}): {what}")]
    Address {
        /// As much of it as can be shown.
        shown: String,
        /// What is wrong with it.
        what: String,
        /// What the user can do.
        remedy: String,
    },
    /// The server.
    #[error("the queue at {server} {what}")]
    Server {
        /// Its address, without any secret.
        server: String,
        /// What it does not do, and why.
        what: String,
        /// What the user can do.
        remedy: String,
    },
    /// What the caller wants.
    #[error("{what}")]
    Usage {
        /// What cannot be.
        what: String,
        /// What the user can do.
        remedy: String,
    },
    /// The machine of the caller.
    #[error("{what}")]
    Machine {
        /// What failed.
        what: String,
        /// What the user can do.
        remedy: String,
    },
}

impl QueueError {
    /// Returns what the user can do.
    #[must_use]
    pub fn remedy(&self) -> &str {
        match self {
            Self::Access { remedy, .. }
            | Self::Address { remedy, .. }
            | Self::Server { remedy, .. }
            | Self::Usage { remedy, .. }
            | Self::Machine { remedy, .. } => remedy,
        }
    }
}
