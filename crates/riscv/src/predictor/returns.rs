//! The return address stack.
//!
//! *Source*: Rocket Chip, `RAS`.

use crate::config::CoreConfig;

/// Addresses behind calls; when it is full, the oldest one makes room.
#[derive(Clone, Debug)]
pub(super) struct ReturnStack {
    addresses: Vec<u64>,
    top: usize,
    depth: usize,
    /// When the last call was fetched whose address was pushed.
    pushed: u64,
}

impl ReturnStack {
    pub fn new(config: &CoreConfig) -> Self {
        Self {
            addresses: vec![0; config.ras_entries.max(1)],
            top: 0,
            depth: 0,
            pushed: 0,
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.depth = 0;
    }

    #[inline(always)]
    pub fn push(&mut self, address: u64) {
        self.top += 1;
        if self.top >= self.addresses.len() {
            self.top = 0;
        }
        self.addresses[self.top] = address;
        self.depth = (self.depth + 1).min(self.addresses.len());
    }

    /// The same, for a call that was fetched then.
    #[inline(always)]
    pub fn push_fetched(&mut self, address: u64, fetched: u64) {
        self.push(address);
        self.pushed = fetched;
    }

    #[inline(always)]
    pub fn pop(&mut self) {
        if self.depth > 0 {
            self.depth -= 1;
            self.top = self.below_top();
        }
    }

    #[inline(always)]
    fn below_top(&self) -> usize {
        let top = self.top;
        top.checked_sub(1).unwrap_or(self.addresses.len() - 1)
    }

    fn is_push_unseen(&self, fetched: u64) -> bool {
        self.depth > 0 && fetched < self.pushed + 2
    }

    /// Returns the address that the target buffer gives a return fetched then,
    /// if there is one: it answers a cycle before a call fetched just ahead has
    /// pushed its address.
    #[inline(always)]
    pub fn seen(&self, fetched: u64) -> Option<u64> {
        if !self.is_push_unseen(fetched) {
            return self.next();
        }
        (self.depth > 1).then(|| self.addresses[self.below_top()])
    }

    /// Returns the address that the next return takes.
    #[inline(always)]
    pub fn next(&self) -> Option<u64> {
        (self.depth > 0).then(|| self.addresses[self.top])
    }
}
