//! Makes the proposer that the settings ask for.

use crate::error::CliError;
use crate::measuring::Bench;
use crate::settings::Settings;
use autocomp_agents::Proposer;
use std::sync::Arc;

/// Returns the rewriter, or the models of the settings.
pub fn proposer(settings: &Settings, _bench: &Bench) -> Result<Arc<dyn Proposer>, CliError> {
    if settings.models.is_empty() {
        return Err(CliError::usage("the rewriter is not there yet"));
    }
    Err(CliError::usage("models are not supported yet"))
}
