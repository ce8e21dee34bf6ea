//! What the sessions of a server have spent.

use crate::McpLimits;
use crate::calls::Refusal;
use std::sync::{Mutex, PoisonError};

/// What is left, taken before it is spent.
pub struct Budget {
    limits: McpLimits,
    taken: Mutex<Taken>,
}

/// What was taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken {
    /// Evaluations.
    pub evaluations: u32,
    /// Millionths of a dollar.
    pub micros: u64,
}

impl Budget {
    pub fn new(limits: McpLimits) -> Self {
        Self {
            limits,
            taken: Mutex::default(),
        }
    }

    /// Takes evaluations: `wanted`, or as many as are left.
    pub fn take_evaluations(&self, wanted: u32) -> Result<u32, Refusal> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.limits.evaluations.saturating_sub(taken.evaluations);
        if left == 0 {
            return Err(Refusal::new(format!(
                "of the {} evaluations that this server may make none is left",
                self.limits.evaluations
            ))
            .hint("a search that goes on has set its evaluations aside, and gives back what it does not make (`search_cancel` ends it); whoever started the server may start it again with a higher `--max-evaluations`"));
        }
        let granted = wanted.min(left);
        taken.evaluations += granted;
        Ok(granted)
    }

    /// Takes millionths of a dollar, all of `wanted` or none.
    pub fn take_micros(&self, wanted: u64) -> Result<(), Refusal> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = self.limits.micros.saturating_sub(taken.micros);
        if left < wanted {
            return Err(Refusal::new(format!(
                "${:.2} are asked for, and ${:.2} are left of what models may cost here",
                dollars(wanted),
                dollars(left)
            ))
            .hint("ask for less with `max_usd`, or search with the rewriter"));
        }
        taken.micros += wanted;
        Ok(())
    }

    /// Gives back what a search took and did not spend.
    pub fn give_back(&self, unused: Taken) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.evaluations = taken.evaluations.saturating_sub(unused.evaluations);
        taken.micros = taken.micros.saturating_sub(unused.micros);
    }

    /// Returns what was taken.
    pub fn taken(&self) -> Taken {
        *self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn dollars(micros: u64) -> f64 {
    micros as f64 / 1e6
}
