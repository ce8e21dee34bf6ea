//! Instructions that wait for no other, the oldest first.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Those that wait for nothing from the start come in order, and many transfers are such; only
/// what becomes ready later needs a heap.
#[derive(Default)]
pub(super) struct Ready {
    in_order: VecDeque<u32>,
    later: BinaryHeap<Reverse<u32>>,
}

impl Ready {
    pub(super) fn push(&mut self, which: u32) {
        if self.in_order.back().is_none_or(|last| *last < which) {
            self.in_order.push_back(which);
        } else {
            self.later.push(Reverse(which));
        }
    }

    /// The oldest.
    pub(super) fn peek(&self) -> Option<u32> {
        let (one, other) = (self.in_order.front().copied(), self.later.peek());
        match (one, other) {
            (Some(one), Some(Reverse(other))) => Some(one.min(*other)),
            (one, other) => one.or(other.map(|it| it.0)),
        }
    }

    /// Takes the oldest.
    pub(super) fn pop(&mut self) {
        let oldest = self.peek();
        if self.in_order.front().copied() == oldest {
            self.in_order.pop_front();
        } else {
            self.later.pop();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.in_order.is_empty() && self.later.is_empty()
    }
}
