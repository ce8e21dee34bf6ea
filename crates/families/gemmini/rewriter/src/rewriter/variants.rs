//! Which variants of a kernel compute the same as it does.

use super::{GemminiRewriter, Known, lock, without_old_header};
use crate::chain;
use crate::kernel::Kernel;
use crate::lift::Elementwise;
use crate::parse::parse_with;
use crate::proposal::{Family, RESCHEDULE, Variant, carry_out, may_be_right};
use crate::schedule;
use crate::transformation::Step;
use autocomp_core::RewriteError;
use autocomp_rewriting::{Chance, Drafts, Earlier};

/// Variants that a plan offers to its drafts.
const CANDIDATES: usize = 8;

impl GemminiRewriter {
    /// Returns the steps of the first variant that computes the same as the kernel and is not
    /// an `earlier` one, if there is any, in an order that chance perturbs, and those of a few
    /// behind it. Whether these compute the same is found out if they are asked for.
    pub(super) fn right_variants(
        &self,
        known: &Known,
        family: &Family,
        chance: Chance,
        earlier: &Earlier<Vec<Step>>,
    ) -> Option<Vec<Vec<Step>>> {
        let mut order: Vec<(f64, &Variant)> = family
            .variants
            .iter()
            .enumerate()
            .filter(|(_, variant)| !earlier.has(&variant.steps))
            .map(|(idx, variant)| {
                let stream = format!("{} {idx}", family.key);
                (chance.moved(variant.score, &stream), variant)
            })
            .collect();
        order.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let first = order
            .iter()
            .position(|(_, variant)| self.keeps_result(known, &variant.steps))?;
        let drafts = order[first..].iter().take(CANDIDATES);
        Some(drafts.map(|(_, variant)| variant.steps.clone()).collect())
    }

    /// Returns draft number `draft` of a plan: the first of them was found to compute the same
    /// as the kernel, the others are passed over if they do not.
    pub(super) fn draft<'drafts>(
        &self,
        source: &str,
        drafts: &'drafts Drafts<Vec<Step>>,
        draft: u32,
    ) -> Result<&'drafts [Step], RewriteError> {
        let (first, others) = drafts.drafts.split_first().ok_or(RewriteError::Nothing)?;
        let Some(behind) = draft.checked_sub(1) else {
            return Ok(first);
        };
        let known = self.known(source)?;
        let mut right = others.iter().filter(|it| self.keeps_result(&known, it));
        let found = right.nth(behind as usize).ok_or(RewriteError::Nothing)?;
        Ok(found)
    }

    pub(super) fn keeps_result(&self, known: &Known, steps: &[Step]) -> bool {
        let verdict = lock(&known.verdicts).get(steps).copied();
        verdict.unwrap_or_else(|| {
            let verdict = match self.rescheduled(known, steps) {
                Some((text, [])) => self.computes_the_same(known, &without_old_header(known, text)),
                _ => self.rewritten(known, steps).is_some_and(|kernel| {
                    may_be_right(&kernel, known.outcome.as_ref(), &self.limits)
                }),
            };
            lock(&known.verdicts).insert(steps.to_vec(), verdict);
            verdict
        })
    }

    /// Carries out the first of `steps` if that schedules the kernel anew:
    /// returns the text and the other steps.
    pub(super) fn rescheduled<'steps>(
        &self,
        known: &Known,
        steps: &'steps [Step],
    ) -> Option<(String, &'steps [Step])> {
        let (first, rest) = steps.split_first()?;
        (first.transformation == RESCHEDULE).then_some(())?;
        let accelerator = &self.limits.accelerator;
        let text = match (&*known.lifted, &known.chain) {
            (Ok(lifted), _) => schedule::write(lifted, &first.parameters, &self.limits),
            (Err(_), Some((_, chain))) => chain::write(chain, &first.parameters, accelerator),
            _ => None,
        };
        Some((text?, rest))
    }

    /// Returns whether a text stores the same in every array as a kernel.
    fn computes_the_same(&self, known: &Known, text: &str) -> bool {
        if let (Err(_), Some((before, _))) = (&*known.lifted, &known.chain) {
            let after = Elementwise::of(text, &self.limits.accelerator, &self.vocabulary);
            return after.is_ok_and(|after| before.is_same(&after));
        }
        match (&*self.lifted(text), &*known.lifted) {
            (Ok(now), Ok(before)) => now.is_same(before),
            _ => false,
        }
    }

    pub(super) fn rewritten(&self, known: &Known, steps: &[Step]) -> Option<Kernel> {
        match self.rescheduled(known, steps) {
            Some((text, rest)) => {
                let kernel = parse_with(&text, &self.vocabulary).ok()?;
                carry_out(&kernel, rest, &self.limits)
            }
            None => carry_out(&known.kernel, steps, &self.limits),
        }
    }
}
