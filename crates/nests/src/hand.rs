//! Plans for kernels whose vectors are written by hand.

use crate::estimate::by_hand;
use crate::hints::Hints;
use crate::{NestRewriter, Payload, planned, scheduled, untold};
use autocomp_core::{PlanChoice, RewriteError, RewritePlan};
use autocomp_rewriting::{Earlier, of_payload};

/// How many times as long as the vectors by hand a schedule may be estimated to take: slower ones
/// are proposed behind hints to the compiler.
const SLOWER: f64 = 1.5;
/// What it costs a schedule to be behind others, in units of scores.
const BEHIND: f64 = 3.0;
/// One of so many plans is a schedule as long as there are some that may be faster; all but one of
/// them are where one is estimated to be so many times as fast as the vectors by hand.
const TURNS: u32 = 3;
const FASTER: f64 = 1.5;

/// A kernel whose vectors are written by hand.
#[derive(Clone, Copy, Debug)]
pub struct ByHand<'k> {
    /// Its own text.
    pub own: &'k str,
    /// The plain kernel that it was read as.
    pub plain: &'k str,
}

impl NestRewriter {
    /// Plans for a kernel whose vectors are written by hand: schedules of its plain form, and what
    /// the compiler is told of that and of the kernel itself.
    ///
    /// # Errors
    /// As of [`Rewriter::plan`](autocomp_core::Rewriter::plan).
    pub fn plan_by_hand(
        &self,
        kernel: ByHand<'_>,
        choice: PlanChoice<'_>,
    ) -> Result<RewritePlan, RewriteError> {
        let read = Self::read(kernel.plain)?;
        let mut proposals = self.proposals(&read, choice);
        let own = by_hand::cost(&read.program.body, &read.program.names, &self.resources);
        let earlier = Earlier::read(choice, Payload::schedule);
        let mut n_promising = 0;
        let mut is_ahead = false;
        for proposal in &mut proposals {
            is_ahead |= FASTER * proposal.cost < own;
            if SLOWER * own < proposal.cost {
                proposal.score += BEHIND;
            } else if !earlier.has(&proposal.schedule) {
                n_promising += 1;
            }
        }
        let told = told_of(kernel, choice);
        // Told and scheduled so far.
        let (mut n_told, mut n_scheduled) = (0, 0);
        for turn in 0..=choice.plan {
            let is_turn = match is_ahead {
                true => turn % TURNS != TURNS - 1,
                false => turn % TURNS == 0,
            };
            if n_told == told.len() || n_scheduled < n_promising && is_turn {
                n_scheduled += 1;
                if turn == choice.plan {
                    return scheduled(&read, kernel.plain, proposals, n_scheduled - 1, choice);
                }
            } else {
                n_told += 1;
            }
        }
        let (hints, is_plain) = told[n_told - 1];
        planned(&hints, is_plain, choice)
    }

    /// Carries out a plan of [`Self::plan_by_hand`].
    ///
    /// # Errors
    /// As of [`Rewriter::implement`](autocomp_core::Rewriter::implement).
    pub fn implement_by_hand(
        &self,
        kernel: ByHand<'_>,
        payload: &str,
        draft: u32,
    ) -> Result<String, RewriteError> {
        let Payload { hints, plain, .. } = of_payload(payload)?;
        let source = match hints.is_some() && !plain {
            true => kernel.own,
            false => kernel.plain,
        };
        autocomp_core::Rewriter::implement(self, source, payload, draft)
    }
}

/// Returns what the compiler may be told of the plain form of a kernel and of the kernel itself,
/// by turns.
fn told_of(kernel: ByHand<'_>, choice: PlanChoice<'_>) -> Vec<(Hints, bool)> {
    // Loops around vectors are not made vectors of.
    let own = untold(kernel.own, false, choice).into_iter();
    let mut own = own.filter(|it| !it.asks_for_vectors());
    let mut plain = untold(kernel.plain, true, choice).into_iter();
    let mut found = Vec::new();
    loop {
        let next = [
            plain.next().map(|it| (it, true)),
            own.next().map(|it| (it, false)),
        ];
        if next.iter().all(Option::is_none) {
            return found;
        }
        found.extend(next.into_iter().flatten());
    }
}
