//! Hard caps on money, tokens and requests, with in-flight calls counted.

use crate::completion::TokenCount;
use autocomp_core::{Usage, UsdMicros};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Shares of a cap at which a warning is due, in percent.
const WARNINGS: [u64; 2] = [50, 80];

/// Warnings about absurd reports of providers, at most.
const MOST_ABSURD: u32 = 3;

/// The caps of a run. Absent means unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// Money.
    pub cost: Option<UsdMicros>,
    /// Prompt and output tokens together.
    pub tokens: Option<u64>,
    /// Requests, retries included.
    pub requests: Option<u64>,
}

/// An amount of everything that is capped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Money.
    pub cost: UsdMicros,
    /// Prompt and output tokens together.
    pub tokens: u64,
    /// Requests.
    pub requests: u64,
}

impl Amount {
    fn plus(self, other: Self) -> Self {
        Self {
            cost: UsdMicros(self.cost.0.saturating_add(other.cost.0)),
            tokens: self.tokens.saturating_add(other.tokens),
            requests: self.requests.saturating_add(other.requests),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            cost: UsdMicros(self.cost.0.saturating_sub(other.cost.0)),
            tokens: self.tokens.saturating_sub(other.tokens),
            requests: self.requests.saturating_sub(other.requests),
        }
    }
}

/// Money, tokens and requests of a run: what was spent, what is in flight, what is allowed.
pub struct Budget {
    caps: Caps,
    state: Mutex<State>,
    settled: Notify,
    journal: Mutex<Option<Arc<dyn ReservationJournal>>>,
}

/// Where reservations are written down before a call is sent, so that a cap
/// outlives the process.
#[async_trait::async_trait]
pub trait ReservationJournal: Send + Sync {
    /// Notes that a call of `model` is about to be sent, which asks for what
    /// `label` says and may use at most `most`. Returns the number that the call's record has to carry.
    ///
    /// # Errors
    /// It cannot be noted; the call must not be sent.
    async fn reserve(
        &self,
        model: &str,
        label: &str,
        most: &Usage,
    ) -> Result<u64, ReservationError>;
}

/// A reservation cannot be written down: the run has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the run has stopped")]
pub struct ReservationError;

#[derive(Debug, Default)]
struct State {
    spent: Amount,
    in_flight: Amount,
    warned_percent: u64,
    warnings: Vec<String>,
    n_absurd: u32,
}

/// A cap does not allow the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CapReached(pub String);

/// The share of a budget that one call may use up. Dropped without
/// [`Reservation::settle`] (a cancelled call), it counts as spent in full.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    amount: Amount,
    open: bool,
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget")
            .field("caps", &self.caps)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

impl Budget {
    /// Creates a budget of which `spent` is used up already (a resumed run).
    #[must_use]
    pub fn new(caps: Caps, spent: Amount) -> Arc<Self> {
        let budget = Self {
            caps,
            state: Mutex::default(),
            settled: Notify::new(),
            journal: Mutex::default(),
        };
        let mut state = budget.lock();
        state.spent = spent;
        // A resumed run does not repeat the warnings it gave before.
        state.warned_percent = WARNINGS
            .into_iter()
            .filter(|percent| *percent <= share(&budget.caps, spent))
            .max()
            .unwrap_or(0);
        drop(state);
        Arc::new(budget)
    }

    /// Returns a budget without caps, which still counts.
    #[must_use]
    pub fn unlimited() -> Arc<Self> {
        Self::new(Caps::default(), Amount::default())
    }

    /// Writes reservations into `journal` from now on.
    pub fn journal_reservations(&self, journal: &Arc<dyn ReservationJournal>) {
        let mut place = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some(Arc::clone(journal));
    }

    /// Writes down what a call that is about to be sent may use, if there is a
    /// journal.
    pub(crate) async fn write_down(
        &self,
        model: &str,
        label: &str,
        most: &Usage,
    ) -> Result<Option<u64>, ReservationError> {
        match self.journal() {
            Some(journal) => journal.reserve(model, label, most).await.map(Some),
            None => Ok(None),
        }
    }

    fn journal(&self) -> Option<Arc<dyn ReservationJournal>> {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        journal.clone()
    }

    /// Returns the caps.
    #[must_use]
    pub fn caps(&self) -> Caps {
        self.caps
    }

    /// Returns what was spent, without calls in flight.
    #[must_use]
    pub fn spent(&self) -> Amount {
        self.lock().spent
    }

    /// Returns the upper bound of what calls in flight may cost.
    #[must_use]
    pub fn in_flight(&self) -> Amount {
        self.lock().in_flight
    }

    /// Takes the warnings that became due (at 50 and 80 % of a cap), each once.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().warnings)
    }

    /// Adds a warning about an absurd report; only the first few are kept.
    pub(crate) fn warn(&self, text: String) {
        tracing::warn!("{text}");
        let mut state = self.lock();
        if state.n_absurd < MOST_ABSURD {
            state.n_absurd += 1;
            state.warnings.push(text);
        }
    }

    /// Sets `amount` aside for a call, waiting while only calls in flight stand in the way.
    ///
    /// # Errors
    /// [`CapReached`] if the amount does not fit although nothing is in flight.
    pub async fn reserve(self: &Arc<Self>, amount: Amount) -> Result<Reservation, CapReached> {
        loop {
            let notified = self.settled.notified();
            {
                let mut state = self.lock();
                let after = state.spent.plus(state.in_flight).plus(amount);
                match exceeded(&self.caps, after) {
                    None => {
                        state.in_flight = state.in_flight.plus(amount);
                        return Ok(Reservation {
                            budget: Arc::clone(self),
                            amount,
                            open: true,
                        });
                    }
                    Some(reason) => {
                        let alone = state.spent.plus(amount);
                        if exceeded(&self.caps, alone).is_some() || state.in_flight.requests == 0 {
                            return Err(CapReached(format!(
                                "{reason}; spent so far: {}, the next call may need up to {}; raise the cap, or lower max_output_tokens",
                                describe(state.spent),
                                describe(amount)
                            )));
                        }
                    }
                }
            }
            notified.await;
        }
    }

    fn settle(&self, reserved: Amount, actual: Amount) {
        let mut state = self.lock();
        state.in_flight = state.in_flight.minus(reserved);
        state.spent = state.spent.plus(actual);
        let share = share(&self.caps, state.spent);
        for percent in WARNINGS {
            if state.warned_percent < percent && percent <= share {
                state.warned_percent = percent;
                let text = format!(
                    "{percent} % of the budget is used: {}",
                    describe(state.spent)
                );
                state.warnings.push(text);
            }
        }
        drop(state);
        self.settled.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Gives the reservation back: the call was not sent.
    pub(crate) fn release(self) {
        self.settle(Amount::default());
    }

    /// Replaces the reservation by what the call really used.
    pub fn settle(mut self, actual: Amount) {
        self.open = false;
        self.budget.settle(self.amount, actual);
    }

    /// Returns the reserved amount.
    #[must_use]
    pub fn amount(&self) -> Amount {
        self.amount
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.open {
            self.budget.settle(self.amount, self.amount);
        }
    }
}

/// Returns the largest used share of any cap, in percent.
fn share(caps: &Caps, spent: Amount) -> u64 {
    let percent = |used: u64, cap: u64| used.saturating_mul(100) / cap.max(1);
    [
        caps.cost.map(|cap| percent(spent.cost.0, cap.0)),
        caps.tokens.map(|cap| percent(spent.tokens, cap)),
        caps.requests.map(|cap| percent(spent.requests, cap)),
    ]
    .into_iter()
    .flatten()
    .max()
    .unwrap_or(0)
}

fn exceeded(caps: &Caps, amount: Amount) -> Option<String> {
    if let Some(cap) = caps.cost
        && cap < amount.cost
    {
        return Some(format!("the money cap of {} is reached", dollars(cap)));
    }
    if let Some(cap) = caps.tokens
        && cap < amount.tokens
    {
        return Some(format!("the token cap of {cap} is reached"));
    }
    if let Some(cap) = caps.requests
        && cap < amount.requests
    {
        return Some(format!("the request cap of {cap} is reached"));
    }
    None
}

fn describe(amount: Amount) -> String {
    format!(
        "{}, {} tokens, {} requests",
        dollars(amount.cost),
        amount.tokens,
        amount.requests
    )
}

/// Returns an amount of money as people write it (`$0.0123`).
#[must_use]
pub fn dollars(cost: UsdMicros) -> String {
    format!("${}.{:04}", cost.0 / 1_000_000, cost.0 % 1_000_000 / 100)
}

/// Returns the amount of a call that used `tokens` and cost `cost`.
#[must_use]
pub fn amount_of(tokens: &TokenCount, cost: UsdMicros, requests: u64) -> Amount {
    Amount {
        cost,
        tokens: tokens.total(),
        requests,
    }
}
