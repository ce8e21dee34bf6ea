//! Kernels that are equal to others, and need no evaluation of their own.
//!
//! A kernel may be equal to one of an iteration that is closed, never to one of
//! its own: which of two would be evaluated then would depend on timing, and so
//! would what is said about its lines.

use crate::iteration::Iteration;
use crate::search::Search;
use autocomp_core::{ByHash, ContentHash, DraftRecord, Duplicates};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

/// Which kernels are equal to which.
#[derive(Clone, Debug, Default)]
pub(crate) struct Equals {
    /// Sources that were not evaluated, and the evaluated one that each is equal to.
    same: ByHash<ContentHash>,
    /// By normal form, the first kernel that has it.
    by_form: ByHash<ContentHash>,
    /// By machine code, the first kernel that has it.
    by_code: Arc<BTreeMap<ContentHash, ContentHash>>,
    /// Machine code of kernels of the open iteration, as far as it is known.
    codes: ByHash<ContentHash>,
}

impl Equals {
    /// Returns the source whose evaluation counts for `source`.
    pub(crate) fn resolve(&self, source: ContentHash) -> ContentHash {
        self.same.get(&source).copied().unwrap_or(source)
    }

    pub(crate) fn set_same(&mut self, source: ContentHash, as_this: ContentHash) {
        if source != as_this {
            self.same.insert(source, as_this);
        }
    }

    /// Returns the machine code of a kernel that is known by it in the open iteration.
    pub(crate) fn code_of(&self, source: ContentHash) -> Option<ContentHash> {
        self.codes.get(&source).copied()
    }

    pub(crate) fn set_code(&mut self, source: ContentHash, code: Option<ContentHash>) {
        if let Some(code) = code {
            self.codes.insert(source, code);
        }
    }

    /// Makes a kernel known to the iterations to come, unless it is equal to one
    /// that is.
    fn remember(&mut self, source: ContentHash, form: Option<ContentHash>) {
        if self.same.contains_key(&source) {
            return;
        }
        if let Some(form) = form {
            self.by_form.entry(form).or_insert(source);
        }
        if let Some(code) = self.codes.remove(&source)
            && let Entry::Vacant(entry) = Arc::make_mut(&mut self.by_code).entry(code)
        {
            entry.insert(source);
        }
    }

    /// Makes the kernels of an iteration that closes known, in key order.
    pub(crate) fn close(&mut self, iteration: &Iteration) {
        for draft in iteration.drafts_made() {
            self.remember(draft.source, draft.form);
        }
        self.codes.clear();
    }

    /// Makes the kernels known that a run begins with.
    pub(crate) fn begin(
        &mut self,
        kernels: impl Iterator<Item = (ContentHash, Option<ContentHash>)>,
    ) {
        for (source, form) in kernels {
            self.remember(source, form);
        }
        self.codes.clear();
    }
}

impl Search {
    /// Returns the kernel whose evaluation counts for a draft, if there is one.
    pub(crate) fn known_as(&self, draft: &DraftRecord) -> Option<ContentHash> {
        let source = self.equals.resolve(draft.source);
        if self.is_evaluated(source) {
            return Some(source);
        }
        if self.started().settings.duplicates == Duplicates::Text {
            return None;
        }
        self.equals.by_form.get(&draft.form?).copied()
    }

    /// Returns the kernel of an earlier iteration that a source is equal to but for
    /// its text, if it was not evaluated for that reason.
    #[must_use]
    pub fn equal_to(&self, source: ContentHash) -> Option<ContentHash> {
        self.equals.same.get(&source).copied()
    }

    /// Returns the kernels of closed iterations by their machine code, as far as that
    /// is known: what is equal to one of them is not to be evaluated.
    #[must_use]
    pub fn known_codes(&self) -> Arc<BTreeMap<ContentHash, ContentHash>> {
        Arc::clone(&self.equals.by_code)
    }
}
