//! What ends a run before its course does.

use super::{Dispatcher, Reach};
use crate::end::Stop;
use autocomp_core::StopReason;
use tokio::time::Instant;

impl Dispatcher<'_> {
    pub(super) fn stop_everything(
        &mut self,
        reason: StopReason,
        message: String,
        remedies: &[String],
    ) {
        if self.reach() == Some(Reach::Everything) {
            return;
        }
        self.patience_ends = Some(Instant::now() + self.options.grace);
        let stop = Stop {
            reason,
            message,
            remedies: remedies.to_vec(),
        };
        self.stop = Some((stop, Reach::Everything));
    }

    pub(super) fn stop_proposals(
        &mut self,
        reason: StopReason,
        message: String,
        remedies: &[String],
    ) {
        if self.stop.is_none() {
            let stop = Stop {
                reason,
                message,
                remedies: remedies.to_vec(),
            };
            self.stop = Some((stop, Reach::Proposals));
        }
    }

    pub(super) fn stop_for_wall_time(&mut self) {
        let limit = self.options.limits.max_wall.unwrap_or_default();
        self.stop_everything(
            StopReason::WallTime,
            format!(
                "the time limit of {:.1} minutes is reached",
                limit.as_secs_f64() / 60.0
            ),
            &["resume the run with a longer limit to go on".to_owned()],
        );
    }

    pub(super) fn check_spending(&mut self) {
        let mut usage = self.session.search.usage();
        for exchange in &self.unended {
            usage.add(&exchange.usage);
        }
        let tokens = usage.input_tokens + usage.cached_tokens + usage.output_tokens;
        let limits = &self.options.limits;
        let message = if let Some(limit) = limits.max_cost
            && limit <= usage.cost
        {
            let dollars = |amount: u64| amount as f64 / 1e6;
            format!(
                "the models have cost ${:.4}, and the limit is ${:.4}",
                dollars(usage.cost.0),
                dollars(limit.0)
            )
        } else if let Some(limit) = limits.max_tokens
            && limit <= tokens
        {
            format!("the models have used {tokens} tokens, and the limit is {limit}")
        } else {
            return;
        };
        let remedy = "resume the run with a higher limit to go on".to_owned();
        self.stop_proposals(StopReason::Cost, message, &[remedy]);
    }
}
