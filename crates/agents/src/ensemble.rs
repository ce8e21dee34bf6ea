//! Several proposers in one search: models and a local one take turns by task
//! key, and the local one polishes.

use crate::llm_proposer::plan_slot;
use crate::proposer::{
    Background, Exchange, IdeasRequest, ImplementRequest, PlanRequest, ProposeError,
    ProposeErrorKind, Proposer, RepairRequest, Reply,
};
use autocomp_core::{Draft, MenuItem, Plan, PlanKind, TaskKey};
use autocomp_llm::ReservationJournal;
use std::sync::Arc;

/// Who takes a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seat {
    /// The models, among themselves in turn.
    Models,
    /// The local proposer.
    Local,
}

/// Models and a local proposer that needs none.
///
/// Plans go round the seats; what the local proposer has no idea for goes to
/// the models. Plans that are set aside for a menu item are the models', polish
/// is the local proposer's. Code is written by whoever made the plan.
pub struct Ensemble {
    models: Arc<dyn Proposer>,
    local: Arc<dyn Proposer>,
    seats: Vec<Seat>,
}

impl Ensemble {
    /// Creates an ensemble in which `seats` take turns; with none of
    /// [`Seat::Local`], the local proposer only polishes.
    #[must_use]
    pub fn new(models: Arc<dyn Proposer>, local: Arc<dyn Proposer>, seats: Vec<Seat>) -> Self {
        Self {
            models,
            local,
            seats,
        }
    }

    /// Returns whether the local proposer is to plan: it was asked for by name, or no other
    /// was and it is its turn.
    fn is_local_turn(&self, key: &TaskKey, first_asked: Option<&str>) -> bool {
        if let Some(name) = first_asked {
            return name == self.local.name();
        }
        let count = self.seats.len() as u64;
        let seat = plan_slot(key).checked_rem(count);
        seat.and_then(|seat| self.seats.get(seat as usize)) == Some(&Seat::Local)
    }

    fn author(&self, plan: &Plan) -> &Arc<dyn Proposer> {
        if plan.proposer == self.local.name() {
            &self.local
        } else {
            &self.models
        }
    }
}

#[async_trait::async_trait]
impl Proposer for Ensemble {
    fn name(&self) -> &'static str {
        "ensemble"
    }

    fn background(&self) -> Background {
        self.models.background().with(self.local.background())
    }

    async fn ideas(&self, request: &IdeasRequest) -> Result<Reply<Vec<MenuItem>>, ProposeError> {
        self.models.ideas(request).await
    }

    async fn plan(&self, request: &PlanRequest) -> Result<Reply<Plan>, ProposeError> {
        let is_of_local = |plan: &Plan| plan.proposer == self.local.name();
        match request.kind {
            PlanKind::Polish { .. } => self.local.plan(request).await,
            PlanKind::Reused { .. } if request.reused.as_ref().is_some_and(is_of_local) => {
                self.local.plan(request).await
            }
            PlanKind::Step | PlanKind::Exhaustive { .. }
                if self.is_local_turn(&request.key, request.first_asked.as_deref()) =>
            {
                match self.local.plan(request).await {
                    Err(error) if error.kind == ProposeErrorKind::Nothing => {
                        self.models.plan(request).await
                    }
                    reply => reply,
                }
            }
            PlanKind::Step
            | PlanKind::Exhaustive { .. }
            | PlanKind::Reserved { .. }
            | PlanKind::Reused { .. } => self.models.plan(request).await,
        }
    }

    async fn implement(&self, request: &ImplementRequest) -> Result<Reply<Draft>, ProposeError> {
        self.author(&request.plan).implement(request).await
    }

    async fn repair(&self, request: &RepairRequest) -> Result<Reply<Draft>, ProposeError> {
        self.author(&request.plan).repair(request).await
    }

    fn journal_reservations(&self, journal: &Arc<dyn ReservationJournal>) {
        self.models.journal_reservations(journal);
        self.local.journal_reservations(journal);
    }

    fn take_unclaimed(&self) -> Vec<Exchange> {
        let mut exchanges = self.models.take_unclaimed();
        exchanges.extend(self.local.take_unclaimed());
        exchanges
    }
}
