//! Replay: plans and drafts of a recorded run, by task key.

use crate::proposer::{
    Background, IdeasRequest, ImplementRequest, PlanRequest, ProposeError, ProposeErrorKind,
    Proposer, RepairRequest, Reply,
};
use autocomp_core::{Draft, MenuItem, Plan, TaskKey};

/// A record of what proposers answered.
pub trait Recording: Send + Sync {
    /// Returns the answer to a task that writes menu items, if it is recorded.
    fn ideas(&self, key: TaskKey) -> Option<Result<Reply<Vec<MenuItem>>, ProposeError>>;

    /// Returns the answer to a plan task, if it is recorded.
    fn plan(&self, key: TaskKey) -> Option<Result<Reply<Plan>, ProposeError>>;

    /// Returns the answer to a draft or repair task, if it is recorded.
    fn draft(&self, key: TaskKey) -> Option<Result<Reply<Draft>, ProposeError>>;
}

/// A proposer that answers as a recorded run did, failures included.
///
/// A search with the settings and the seed of the recorded run asks the same
/// questions, so it takes the same course without calling any model.
#[derive(Debug)]
pub struct Replay<R> {
    recording: R,
}

impl<R: Recording> Replay<R> {
    /// Makes a proposer that answers from `recording`.
    pub fn new(recording: R) -> Self {
        Self { recording }
    }
}

/// The record ends here: nothing further can be answered.
fn absent(key: TaskKey) -> ProposeError {
    ProposeError {
        kind: ProposeErrorKind::Exhausted,
        message: format!("the recorded run has no answer for task {key}; it ends before"),
        exchanges: Vec::new(),
    }
}

#[async_trait::async_trait]
impl<R: Recording> Proposer for Replay<R> {
    fn name(&self) -> &str {
        "replay"
    }

    fn background(&self) -> Background {
        Background::NONE
    }

    async fn ideas(&self, request: &IdeasRequest) -> Result<Reply<Vec<MenuItem>>, ProposeError> {
        self.recording
            .ideas(request.key)
            .unwrap_or_else(|| Err(absent(request.key)))
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        self.recording
            .plan(request.key)
            .unwrap_or_else(|| Err(absent(request.key)))
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        self.recording
            .draft(request.key)
            .unwrap_or_else(|| Err(absent(request.key)))
    }

    async fn repair(&self, request: &RepairRequest) -> Result<Reply<Draft>, ProposeError> {
        self.recording
            .draft(request.key)
            .unwrap_or_else(|| Err(absent(request.key)))
    }
}
