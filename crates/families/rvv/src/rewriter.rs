//! What is proposed for kernels: schedules of plain loops, which kernels with intrinsics are read as.

use crate::elements::{has_intrinsics, plain};
use autocomp_core::{KindOfChange, NotUnderstood, PlanChoice, RewriteError, RewritePlan, Rewriter};
use autocomp_nests::{ByHand, NestRewriter, Refusal};
use autocomp_rewriting::{Memory, Origin};

/// Kernels with intrinsics of which is remembered what they are.
const REMEMBERED: usize = 64;

/// Proposes schedules for loop nests, and for kernels with intrinsics that are such.
#[derive(Debug)]
pub(crate) struct LoopRewriter {
    nests: NestRewriter,
    remembered: Memory<Result<String, Refusal>>,
}

impl LoopRewriter {
    pub(crate) fn new(nests: NestRewriter) -> Self {
        Self {
            nests,
            remembered: Memory::new(REMEMBERED),
        }
    }

    /// Returns the plain kernel that one with intrinsics is, or why it is not read as one;
    /// nothing for others.
    fn plain(&self, source: &str) -> Option<Result<String, Refusal>> {
        if !has_intrinsics(source) || Origin::is_claimed(source) {
            return None;
        }
        let read = || {
            let made = plain(source)?;
            match self.nests.not_understood(&made).pop() {
                None => Ok(made),
                Some(found) => Err(Refusal {
                    line: Some(found.line),
                    why: format!("element by element {}", found.reason),
                }),
            }
        };
        Some(self.remembered.of(source, read))
    }
}

impl Rewriter for LoopRewriter {
    fn kinds(&self) -> Vec<KindOfChange> {
        self.nests.kinds()
    }

    fn not_understood(&self, source: &str) -> Vec<NotUnderstood> {
        match self.plain(source) {
            None => self.nests.not_understood(source),
            Some(Ok(_)) => Vec::new(),
            Some(Err(refusal)) => vec![NotUnderstood {
                line: refusal.line.unwrap_or(1),
                reason: refusal.why,
            }],
        }
    }

    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        match self.plain(source) {
            None => self.nests.plan(source, choice),
            Some(Ok(plain)) => self.nests.plan_by_hand(
                ByHand {
                    own: source,
                    plain: &plain,
                },
                choice,
            ),
            // What the compiler is told helps kernels that are not read, too.
            Some(Err(refusal)) => match self.nests.plan(source, choice) {
                Err(RewriteError::NotUnderstood(_)) => Err(refusal.into()),
                planned => planned,
            },
        }
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        match self.plain(source) {
            Some(Ok(plain)) => {
                let kernel = ByHand {
                    own: source,
                    plain: &plain,
                };
                self.nests.implement_by_hand(kernel, payload, draft)
            }
            _ => self.nests.implement(source, payload, draft),
        }
    }
}
