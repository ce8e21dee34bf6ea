//! Runs that may go on further than they were started for.

use crate::error::RunError;
use autocomp_core::{Event, Extended, FinishReason, SearchSettings};
use autocomp_search::Search;

/// Higher bounds for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// Iterations at most; if absent, as many more as there are more evaluations
    /// in proportion.
    pub iterations: Option<u32>,
    /// Distinct kernels evaluated at most.
    pub max_evaluations: Option<u32>,
    /// Iterations without a gain after which the run ends; if absent, as many more as there are
    /// more iterations in proportion for a run that has stalled: it would stall again at once.
    pub patience: Option<u32>,
}

impl Extension {
    /// Returns the event that gives a run these bounds from where it is; nothing
    /// if they are as before.
    ///
    /// Patience begins anew. If the bound on evaluations is raised alone, the one
    /// on iterations grows in proportion: a run that is bounded in both spends its
    /// evaluations evenly over its iterations.
    ///
    /// # Errors
    /// A bound would be lower than before, or the run would end at once all the same.
    pub fn of(self, search: &Search) -> Result<Option<Extended>, RunError> {
        let settings = &search.started().settings;
        let check = |name: &'static str, before: u32, asked: Option<u32>| match asked {
            Some(asked) if asked < before => Err(RunError::Shortened {
                name,
                before,
                asked,
            }),
            _ => Ok(()),
        };
        check("iterations", settings.iterations, self.iterations)?;
        let before = settings.max_evaluations.unwrap_or(u32::MAX);
        check("max_evaluations", before, self.max_evaluations)?;
        // Zero stands for endless patience.
        let endless = |patience: u32| if patience == 0 { u32::MAX } else { patience };
        let patience = self.patience.map(endless);
        check("patience", endless(settings.patience), patience)?;
        let max_evaluations = self.max_evaluations.or(settings.max_evaluations);
        let grown = match (settings.max_evaluations, max_evaluations) {
            (Some(before), Some(now)) => {
                let grown = u64::from(settings.iterations) * u64::from(now);
                let grown = grown.div_ceil(u64::from(before));
                grown.min(u64::from(SearchSettings::MOST_ITERATIONS)) as u32
            }
            _ => settings.iterations,
        };
        let iterations = self.iterations.unwrap_or(grown.max(settings.iterations));
        let patience = self.patience.unwrap_or_else(|| {
            let is_stalled = search.finish() == Some(FinishReason::Stalled);
            let is_raised =
                iterations != settings.iterations || max_evaluations != settings.max_evaluations;
            if !is_stalled || !is_raised {
                return settings.patience;
            }
            let grown = u64::from(settings.patience) * u64::from(iterations);
            let grown = grown.div_ceil(u64::from(settings.iterations.max(1)));
            // A bound that was raised a little asks for more patience, too.
            let least = u64::from(settings.patience) + 1;
            grown
                .max(least)
                .min(u64::from(SearchSettings::MOST_ITERATIONS)) as u32
        });
        let asked = (iterations, max_evaluations, patience);
        let known = (
            settings.iterations,
            settings.max_evaluations,
            settings.patience,
        );
        if asked == known {
            return Ok(None);
        }
        let extended = Extended {
            iteration: search.iteration(),
            after_end: search.finish().is_some(),
            iterations,
            max_evaluations,
            patience,
        };
        let mut search = search.clone();
        search.apply(&Event::Extended(extended.clone()))?;
        if let Some(Event::Finished(finished)) = search.due() {
            return Err(RunError::EndsAtOnce {
                reason: finished.reason.text(&search.started().settings),
            });
        }
        Ok(Some(extended))
    }
}
