//! What a cascade finds out about one kernel.

use autocomp_core::{ContentHash, Cost, Diagnostic, Evaluation, Feedback, Measurement, Outcome};
use std::collections::BTreeMap;

/// What is to be said of a kernel.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// How it ended.
    pub outcome: Outcome,
    /// Findings, deciding ones first.
    pub diagnostics: Vec<Diagnostic>,
    /// The cost, exactly if the outcome is `ok`.
    pub measurement: Option<Measurement>,
    /// Hardware feedback, if the kernel ran far enough.
    pub feedback: Option<Feedback>,
}

impl Verdict {
    /// Makes the verdict on a kernel that is not right.
    #[must_use]
    pub fn failed(outcome: Outcome, diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            outcome,
            diagnostics,
            measurement: None,
            feedback: None,
        }
    }

    /// Makes the verdict on a right kernel that costs more than `bound`, by [`Evaluation::cut`].
    #[must_use]
    pub fn cut(bound: Cost, figures: &BTreeMap<String, u64>) -> Self {
        let evaluation = Evaluation::cut(ContentHash([0; 32]), bound, figures);
        Self::failed(evaluation.outcome, evaluation.diagnostics)
    }

    /// Returns whether it says enough, so that no other case need run: a crash
    /// or an endless loop, but not a wrong result.
    #[must_use]
    pub fn stops(&self) -> bool {
        self.outcome != Outcome::Wrong
    }

    /// Says that a kernel is right when called once and not in `call`, as "the second call" in the
    /// same program.
    pub fn mark_state(&mut self, call: &str) {
        if let Some(first) = self.diagnostics.first_mut() {
            first.code = "state-between-calls".into();
            first.message = format!(
                "{call} in the same program goes wrong, though the same inputs are right in a first call: {}",
                first.message
            );
            first.remedy = Some(
                "compute everything anew in every call; static data must not carry results over"
                    .into(),
            );
        }
    }

    /// Says that it is about a kernel that is right unless clocks show time.
    pub fn mark_time(&mut self) {
        if let Some(first) = self.diagnostics.first_mut() {
            first.code = "depends-on-time".into();
            first.message = format!(
                "the call goes wrong where clocks show time as on hardware, though the same inputs are right where they count instructions: {}",
                first.message
            );
            first.remedy = Some("compute the same whatever clocks and counters show".into());
        }
    }
}
