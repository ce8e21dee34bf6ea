//! Who confirms the best kernels of a run: the evaluator of the search with other
//! inputs, and the same on other machines of the target.

use super::preparing::open_bench_on;
use crate::error::CliError;
use crate::measuring::Bench;
use crate::output::Output;
use crate::run_errors::run_error;
use crate::settings::Settings;
use crate::workplace::Workplace;
use autocomp_core::{Confirmer, Seed};
use autocomp_eval::Evaluator;
use autocomp_runner::RunSession;
use std::sync::Arc;

/// The seed of inputs that no evaluation of a search has.
const NEW_INPUTS: Seed = Seed(1);

/// Those who confirm, in order.
#[derive(Default)]
pub(super) struct Confirmers(Vec<(Confirmer, Arc<dyn Evaluator>)>);

impl Confirmers {
    /// Opens those that the settings ask for; none if nothing is to be confirmed.
    pub(super) fn open(
        workplace: &mut Workplace,
        settings: &Settings,
        bench: &Bench,
        output: Output,
    ) -> Result<Self, CliError> {
        let mut confirmers = Self::default();
        if settings.search.confirm == 0 {
            return Ok(confirmers);
        }
        for machine in std::iter::once(&bench.machine).chain(&settings.confirm_on) {
            let bench = open_bench_on(workplace, settings, Some(machine), NEW_INPUTS, output)?;
            let name = match confirmers.0.is_empty() {
                true => "new inputs".to_owned(),
                false => format!("new inputs on machine {machine}"),
            };
            let evaluator = bench.evaluator.identity();
            confirmers
                .0
                .push((Confirmer { name, evaluator }, bench.evaluator));
        }
        Ok(confirmers)
    }

    /// Returns what a new run keeps of them.
    pub(super) fn records(&self) -> Vec<Confirmer> {
        self.0.iter().map(|(record, _)| record.clone()).collect()
    }

    /// Gives them to a session.
    pub(super) fn give_to(self, session: &mut RunSession) -> Result<(), CliError> {
        let evaluators = self.0.into_iter().map(|(_, evaluator)| evaluator);
        session
            .confirm_by(evaluators.collect())
            .map_err(|error| run_error(&error))
    }
}
