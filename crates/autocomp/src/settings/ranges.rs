//! Which values settings may have.

use super::Settings;
use crate::error::CliError;

/// The most evaluations at a time.
const MOST_WORKERS: usize = 1024;

impl Settings {
    /// Checks that every number makes sense.
    pub fn check(&self) -> Result<(), CliError> {
        let wrong = |name: &str, value: &dyn std::fmt::Display, expected: &str| {
            Err(CliError::usage(format!(
                "setting `{name}` is {value}, but must be {expected}"
            ))
            .hint("change the flag or the settings file"))
        };
        self.search
            .check()
            .map_err(|error| CliError::usage(error).hint("change the flag or the settings file"))?;
        if autocomp_search::strategy(&self.search.strategy).is_none() {
            let known: Vec<_> = autocomp_search::REGISTRY
                .iter()
                .map(|it| it.name())
                .collect();
            return wrong(
                "strategy",
                &self.search.strategy,
                &format!("one of {}", known.join(", ")),
            );
        }
        if let Some(workers) = self
            .workers
            .filter(|workers| !(1..=MOST_WORKERS).contains(workers))
        {
            return wrong("workers", &workers, &format!("from 1 to {MOST_WORKERS}"));
        }
        if let Some(minutes) = self
            .max_minutes
            .filter(|minutes| !(0.0 < *minutes && minutes.is_finite()))
        {
            return wrong("max_minutes", &minutes, "a number above 0");
        }
        if let Some(usd) = self
            .budget
            .max_usd
            .filter(|usd| !(0.0 <= *usd && usd.is_finite()))
        {
            return wrong("max_usd", &usd, "0 or a number above it");
        }
        let asking = &self.asking;
        let counts = [
            ("max_output_tokens", u64::from(asking.max_output_tokens)),
            ("timeout_s", asking.timeout_s),
            ("concurrency", asking.concurrency as u64),
            ("answer_timeout_s", asking.answer_timeout_s),
            ("attempts", asking.attempts as u64),
            ("deadline_s", asking.deadline_s),
            ("failures", u64::from(asking.failures)),
            (
                "requests_per_minute",
                u64::from(asking.requests_per_minute.unwrap_or(1)),
            ),
        ];
        if let Some((name, count)) = counts.iter().find(|(_, count)| *count == 0) {
            return wrong(name, count, "1 or more");
        }
        let shares = [
            ("ancestors_share", asking.ancestors_share),
            ("score_share", asking.score_share),
            ("utilization_share", asking.utilization_share),
            ("feedback_share", asking.feedback_share),
        ];
        if let Some((name, share)) = shares.iter().find(|(_, it)| !(0.0..=1.0).contains(it)) {
            return wrong(name, share, "from 0 to 1");
        }
        if let Some(temperature) = asking
            .temperature
            .filter(|temperature| !(0.0 <= *temperature && temperature.is_finite()))
        {
            return wrong("temperature", &temperature, "0 or a number above it");
        }
        Ok(())
    }
}
