//! Scopes and running loops.

use super::loop_answers::Answers;
use super::{Device, Dialect};
use crate::trace::Loop;
use crate::trace::LoopKind;

/// State of one running loop.
pub(super) struct Running {
    pub(super) id: u32,
    pub(super) kind: LoopKind,
    pub(super) iteration: u32,
    pub(super) answers: Answers,
}

impl Device {
    /// Opens the scope of a branch, where the dialect has such; whether it did.
    pub(crate) fn open_branch(&mut self) -> bool {
        if self.dialect == Dialect::V1 {
            self.open_scope();
        }
        self.dialect == Dialect::V1
    }

    /// Whether the body of a loop of this kind is compiled once: the second dialect writes all
    /// but those that the device counts out.
    pub(crate) fn compiles_once(&self, kind: LoopKind) -> bool {
        match kind {
            LoopKind::Dynamic => true,
            LoopKind::Affine | LoopKind::Sequential => self.dialect == Dialect::V1,
            LoopKind::Python | LoopKind::Static => false,
        }
    }

    pub(crate) fn open_scope(&mut self) {
        self.scopes.push(self.next_scope);
        self.next_scope = self.next_scope.wrapping_add(1);
    }

    pub(crate) fn close_scope(&mut self) {
        if self.scopes.len() > 1 {
            self.scopes.pop();
        }
    }

    pub(crate) fn open_loop(&mut self, kind: LoopKind, trips: u64, line: u32) {
        let parent = self.running.last().map_or(0, |r| r.id);
        let next = self.trace.loops.len() as u32 + 1;
        let id = *self
            .loop_ids
            .entry((parent, line, kind, trips))
            .or_insert(next);
        if id == next {
            self.trace.loops.push(Loop { kind, trips, line });
        }
        self.hazards.enter(self.running.len());
        let mut answers = Answers::default();
        answers.begin();
        self.running.push(Running {
            id,
            kind,
            iteration: 0,
            answers,
        });
    }

    pub(crate) fn next_iteration(&mut self) {
        if let Some(last) = self.running.last_mut() {
            last.iteration = last.iteration.saturating_add(1);
            last.answers.begin();
        }
        self.hazards.moved();
    }

    pub(crate) fn close_loop(&mut self) {
        self.running.pop();
        self.hazards.leave(self.running.len());
    }

    pub(super) fn scope(&self) -> u32 {
        self.scopes.last().copied().unwrap_or(0)
    }
}
