//! Drafts that earlier iterations asked for.

use crate::payload::{Drafts, of_payload};
use autocomp_core::PlanChoice;
use serde::de::DeserializeOwned;

/// The drafts of a kernel that earlier iterations asked for. They are known: an iteration that
/// begins at the same kernel again goes on behind them.
#[derive(Debug)]
pub struct Earlier<D>(Vec<D>);

/// Returns the drafts of other kernels that failed, as `read` reads their payloads, with the text
/// of the kernel that each failed on. What it cannot read is left out.
pub fn failed<D>(choice: PlanChoice<'_>, read: impl Fn(&str, u32) -> Option<D>) -> Vec<(D, &str)> {
    let drafts = choice.earlier.iter();
    let found =
        drafts.filter_map(|it| Some((read(&it.payload, it.draft)?, &**it.failed_on.as_ref()?)));
    found.collect()
}

/// Returns the drafts of this kernel and of others whose results were wrong, as `read` reads their
/// payloads. What it cannot read is left out.
pub fn wrong<D>(
    choice: PlanChoice<'_>,
    read: impl Fn(&str, u32) -> Option<D>,
) -> impl Iterator<Item = D> {
    let drafts = choice.earlier.iter().filter(|it| it.is_wrong);
    drafts.filter_map(move |it| read(&it.payload, it.draft))
}

impl<D: PartialEq> Earlier<D> {
    /// Reads the earlier drafts of a request by `read`, which gets a payload and the number of
    /// one of its drafts. What it cannot read is left out.
    pub fn read(choice: PlanChoice<'_>, read: impl Fn(&str, u32) -> Option<D>) -> Self {
        let drafts = choice.earlier.iter();
        Self(
            drafts
                .filter(|it| it.failed_on.is_none())
                .filter_map(|it| read(&it.payload, it.draft))
                .collect(),
        )
    }

    /// Returns whether a draft is one of them.
    pub fn has(&self, draft: &D) -> bool {
        self.0.contains(draft)
    }
}

impl<D: PartialEq + Clone + DeserializeOwned> Earlier<D> {
    /// Reads the earlier drafts of a request whose payloads are [`Drafts`].
    #[must_use]
    pub fn of(choice: PlanChoice<'_>) -> Self {
        Self::read(choice, |payload, draft| {
            let drafts: Drafts<D> = of_payload(payload).ok()?;
            drafts.get(draft).ok().cloned()
        })
    }
}
