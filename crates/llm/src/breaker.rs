//! The circuit breaker: a model that keeps failing is set aside.

use crate::error::LlmErrorKind;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// When a model is set aside, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerPolicy {
    /// Failures in a row that set a model aside, at least 1.
    pub failures: u32,
    /// How long it is set aside; doubled each time in a row.
    pub first_pause: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
}

/// Whether a model may be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// Yes.
    Available,
    /// Not before the given time; then one request probes it.
    SetAside {
        /// When it may be probed.
        until: Instant,
        /// Why.
        reason: String,
    },
    /// Not any more: the key or the credit is missing, or it never worked.
    Lost {
        /// Why.
        reason: String,
    },
}

/// The breaker of one model.
#[derive(Debug)]
pub struct Breaker {
    policy: BreakerPolicy,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    pauses: u32,
    until: Option<Instant>,
    /// One request is under way to find out whether the model is well again.
    probing: bool,
    lost: bool,
    /// Gave a usable reply at least once.
    answered: bool,
    reason: String,
}

impl Breaker {
    /// Creates a breaker for an available model.
    #[must_use]
    pub fn new(policy: BreakerPolicy) -> Self {
        Self {
            policy,
            state: Mutex::default(),
        }
    }

    /// Returns whether the model may be asked now. After a pause, the first
    /// caller is let through as a probe and the others wait for its outcome.
    #[must_use]
    pub fn admit(&self) -> Availability {
        let mut state = self.lock();
        let availability = availability_of(&state);
        if availability == Availability::Available && state.until.is_some() {
            // Others come after the probe had time to answer.
            state.until = Some(Instant::now() + self.policy.first_pause);
            state.probing = true;
        }
        availability
    }

    /// Returns whether the model may be asked, without claiming the probe.
    #[must_use]
    pub fn availability(&self) -> Availability {
        availability_of(&self.lock())
    }

    /// Notes a usable reply; returns whether the model was set aside before.
    pub fn succeeded(&self) -> bool {
        let mut state = self.lock();
        let was_set_aside = state.until.is_some();
        if !state.lost {
            *state = State {
                answered: true,
                ..State::default()
            };
        }
        was_set_aside
    }

    /// Notes a failure; returns why the model is set aside if this one did it.
    pub fn failed(&self, kind: LlmErrorKind, message: &str) -> Option<String> {
        if kind == LlmErrorKind::BudgetExhausted {
            return None;
        }
        let mut state = self.lock();
        if state.lost {
            return None;
        }
        state.failures += 1;
        if kind.is_permanent() {
            state.lost = true;
            state.reason = message.to_owned();
            return Some(state.reason.clone());
        }
        if state.failures < self.policy.failures.max(1) {
            return None;
        }
        if kind.blames_the_setup() && !state.answered {
            state.lost = true;
            state.reason = format!("it never answered, the last failure: {message}");
            return Some(format!("{}; not asked again", state.reason));
        }
        // Calls that were under way when the model was set aside do not prolong it.
        if state.until.is_some() && !state.probing {
            return None;
        }
        state.probing = false;
        let pause = self
            .policy
            .first_pause
            .saturating_mul(1 << state.pauses.min(16))
            .min(self.policy.longest_pause);
        state.pauses += 1;
        state.until = Some(Instant::now() + pause);
        state.reason = format!("{} failures in a row, the last: {message}", state.failures);
        Some(format!(
            "{}; asked again in {} s",
            state.reason,
            pause.as_secs()
        ))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn availability_of(state: &State) -> Availability {
    if state.lost {
        return Availability::Lost {
            reason: state.reason.clone(),
        };
    }
    match state.until {
        Some(until) if Instant::now() < until => Availability::SetAside {
            until,
            reason: state.reason.clone(),
        },
        _ => Availability::Available,
    }
}
