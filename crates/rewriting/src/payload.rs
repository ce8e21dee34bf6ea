//! The machine-readable form of plans.

use autocomp_core::RewriteError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Proposals that a plan offers to its drafts.
pub const DRAFTS: usize = 2;

/// What a plan offers to each of its drafts in turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drafts<D> {
    /// What is done, by number of the draft.
    pub drafts: Vec<D>,
}

impl<D> Drafts<D> {
    /// Makes the drafts of plan number `plan`: its proposal, and those behind it that are alike,
    /// up to [`DRAFTS`]. None if there are not so many proposals.
    pub fn of_plan<P>(
        order: impl IntoIterator<Item = P>,
        plan: usize,
        is_alike: impl Fn(&P, &P) -> bool,
        draft: impl Fn(&P) -> D,
    ) -> Option<(P, Self)> {
        let mut order = order.into_iter();
        let first = order.nth(plan)?;
        let rest = order.filter(|it| is_alike(it, &first));
        let mut drafts = vec![draft(&first)];
        drafts.extend(rest.take(DRAFTS - 1).map(|it| draft(&it)));
        Some((first, Self { drafts }))
    }

    /// Returns what draft number `draft` does.
    ///
    /// # Errors
    /// [`RewriteError::Nothing`] if there are not so many drafts.
    pub fn get(&self, draft: u32) -> Result<&D, RewriteError> {
        let found = self.drafts.get(draft as usize);
        found.ok_or(RewriteError::Nothing)
    }
}

/// Writes a payload.
///
/// # Errors
/// [`RewriteError::Payload`] if it is not written as JSON.
pub fn payload(of: &impl Serialize) -> Result<String, RewriteError> {
    serde_json::to_string(of).map_err(|error| RewriteError::Payload(error.to_string()))
}

/// Reads a payload.
///
/// # Errors
/// [`RewriteError::Payload`] if it is not of this rewriter.
pub fn of_payload<T: DeserializeOwned>(payload: &str) -> Result<T, RewriteError> {
    serde_json::from_str(payload).map_err(|error| RewriteError::Payload(error.to_string()))
}
