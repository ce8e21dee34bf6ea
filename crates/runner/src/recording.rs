//! The answers of proposers in a recorded run.

use crate::error::RunError;
use autocomp_agents::{Exchange, ProposeError, ProposeErrorKind, Recording, Reply};
use autocomp_core::{
    Draft, DraftRecord, Event, ExchangeRecord, MenuItem, Plan, PlanRecord, Proposal, TaskKey,
};
use autocomp_store::{Blobs, RunReader, StoreError};
use std::collections::BTreeMap;
use std::path::Path;

/// The plans and drafts of a run folder, for replay.
#[derive(Debug)]
pub struct RecordedRun {
    blobs: Blobs,
    plans: BTreeMap<TaskKey, (Proposal<PlanRecord>, Vec<ExchangeRecord>)>,
    drafts: BTreeMap<TaskKey, (Proposal<DraftRecord>, Vec<ExchangeRecord>)>,
    ideas: BTreeMap<TaskKey, (Proposal<Vec<MenuItem>>, Vec<ExchangeRecord>)>,
}

impl RecordedRun {
    /// Reads the run in `folder`.
    ///
    /// # Errors
    /// The folder holds no run, or a damaged one.
    pub fn open(folder: &Path) -> Result<Self, RunError> {
        let mut reader = RunReader::open(folder)?;
        let mut recorded = Self {
            blobs: reader.blobs().clone(),
            plans: BTreeMap::new(),
            drafts: BTreeMap::new(),
            ideas: BTreeMap::new(),
        };
        for stored in reader.read_on()? {
            match stored.event {
                Event::Ideas(it) => {
                    recorded.ideas.insert(it.key, (it.result, it.exchanges));
                }
                Event::Planned(it) => {
                    recorded.plans.insert(it.key, (it.result, it.exchanges));
                }
                Event::Drafted(it) => {
                    recorded.drafts.insert(it.key, (it.result, it.exchanges));
                }
                _ => {}
            }
        }
        Ok(recorded)
    }

    fn exchanges(&self, records: &[ExchangeRecord]) -> Result<Vec<Exchange>, StoreError> {
        let exchange = |record: &ExchangeRecord| {
            Ok(Exchange {
                model: record.model.clone(),
                prompt: self.blobs.get_text(record.prompt)?,
                reply: self.blobs.get_text(record.reply)?,
                error: record.error.clone(),
                usage: record.usage,
                cost_is_estimate: record.cost_is_estimate,
                latency_ms: record.latency_ms,
                // It settles nothing in another run.
                reservation: None,
            })
        };
        records.iter().map(exchange).collect()
    }

    fn answer<R, T>(
        &self,
        (proposal, records): &(Proposal<R>, Vec<ExchangeRecord>),
        read: impl Fn(&R) -> Result<T, String>,
    ) -> Result<Reply<T>, ProposeError> {
        let unreadable = |message| ProposeError {
            kind: ProposeErrorKind::Exhausted,
            message,
            exchanges: Vec::new(),
        };
        let exchanges = self
            .exchanges(records)
            .map_err(|error| unreadable(error.to_string()))?;
        let (kind, message) = match proposal {
            Proposal::Made(record) => {
                let value = read(record).map_err(unreadable)?;
                return Ok(Reply { value, exchanges });
            }
            Proposal::Nothing { message } => (ProposeErrorKind::Nothing, message.clone()),
            Proposal::Failed { message } => (ProposeErrorKind::Failed, message.clone()),
        };
        Err(ProposeError {
            kind,
            message,
            exchanges,
        })
    }
}

impl Recording for RecordedRun {
    fn ideas(&self, key: TaskKey) -> Option<Result<Reply<Vec<MenuItem>>, ProposeError>> {
        let recorded = self.ideas.get(&key)?;
        Some(self.answer(recorded, |items| Ok(items.clone())))
    }

    fn plan(&self, key: TaskKey) -> Option<Result<Reply<Plan>, ProposeError>> {
        let recorded = self.plans.get(&key)?;
        Some(self.answer(recorded, |record| read_plan(record, &self.blobs)))
    }

    fn draft(&self, key: TaskKey) -> Option<Result<Reply<Draft>, ProposeError>> {
        let recorded = self.drafts.get(&key)?;
        Some(self.answer(recorded, |record| {
            let source = self
                .blobs
                .get_text(record.source)
                .map_err(|error| error.to_string())?;
            Ok(Draft {
                source,
                proposer: record.proposer.clone(),
            })
        }))
    }
}

/// Reads a plan from its blob.
pub(crate) fn read_plan(record: &PlanRecord, blobs: &Blobs) -> Result<Plan, String> {
    let text = blobs
        .get_text(record.plan)
        .map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}
