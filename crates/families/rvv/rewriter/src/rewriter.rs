//! What is proposed for kernels: schedules of plain loops, which kernels with intrinsics are read as.

use crate::elements::{has_intrinsics, plain};
use crate::groups::{has_same_intrinsics, resized};
use autocomp_core::{
    KindOfChange, MenuItem, NotUnderstood, PlanChoice, RewriteError, RewritePlan, Rewriter,
};
use autocomp_nests::{ByHand, NestRewriter, Refusal};
use autocomp_rewriting::{
    Earlier, Memory, failed, is_made, menu_item, of_payload, payload as to_payload,
};
use serde::{Deserialize, Serialize};

/// Kernels with intrinsics of which is remembered what they are.
const REMEMBERED: usize = 64;

/// Other sizes of groups, as powers of two, and the plans that have them.
const SIZES: [i32; 3] = [1, -1, 2];
const TURNS: [u32; 3] = [1, 4, 7];

const GROUPS: KindOfChange = KindOfChange {
    name: "lmul",
    menu_items: &["lmul"],
    does: "writes intrinsics with larger or smaller groups of registers",
};

/// A plan that gives groups of registers another size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Groups {
    /// Registers of a group are multiplied by two to this power.
    groups: i32,
}

impl Groups {
    /// Returns those that a kernel may have and that no earlier iteration asked for, nor failed
    /// behind a kernel with the same intrinsics.
    fn of(source: &str, choice: PlanChoice<'_>) -> Vec<Self> {
        if !has_intrinsics(source) {
            return Vec::new();
        }
        let read = |payload: &str, _| of_payload::<Self>(payload).ok();
        let earlier = Earlier::read(choice, read);
        // What comes of other sizes hangs on the intrinsics alone.
        let failed = failed(choice, read).into_iter();
        let failed: Vec<Self> = failed
            .filter(|(_, other)| has_same_intrinsics(source, other))
            .map(|it| it.0)
            .collect();
        let all = SIZES.into_iter().map(|groups| Self { groups });
        all.filter(|it| {
            !earlier.has(it) && !failed.contains(it) && resized(source, it.groups).is_some()
        })
        .collect()
    }

    fn plan(self, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let size = match self.groups {
            ..=-1 => "half as many",
            1 => "twice as many",
            _ => "four times as many",
        };
        let named = menu_item(GROUPS.menu_items.iter().copied(), choice.menu);
        Ok(RewritePlan {
            menu_item: named.unwrap_or(MenuItem::OTHER).to_owned(),
            text: format!("Take groups of {size} registers (LMUL) throughout."),
            payload: to_payload(&self)?,
        })
    }
}

/// Proposes schedules for loop nests, and for kernels with intrinsics that are such.
#[derive(Debug)]
pub struct LoopRewriter {
    nests: NestRewriter,
    remembered: Memory<Result<String, Refusal>>,
}

impl LoopRewriter {
    /// Returns one that schedules plain loops as `nests` does.
    #[must_use]
    pub fn new(nests: NestRewriter) -> Self {
        Self {
            nests,
            remembered: Memory::new(REMEMBERED),
        }
    }

    /// Returns the plain kernel that one with intrinsics is, or why it is not read as one;
    /// nothing for others.
    fn plain(&self, source: &str) -> Option<Result<String, Refusal>> {
        if !has_intrinsics(source) || is_made(source) {
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
        let mut kinds = self.nests.kinds();
        kinds.push(GROUPS);
        kinds
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
        let groups = Groups::of(source, choice);
        let turns = &TURNS[..groups.len()];
        if let Some(turn) = turns.iter().position(|it| *it == choice.plan) {
            return groups[turn].plan(choice);
        }
        let n_before = turns.iter().filter(|it| **it < choice.plan).count() as u32;
        let others = PlanChoice {
            plan: choice.plan - n_before,
            ..choice
        };
        match (self.others(source, others), groups.first()) {
            // Nothing else is there to begin with.
            (Err(_), Some(first)) if choice.plan == 0 => first.plan(choice),
            (planned, _) => planned,
        }
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        if let Ok(Groups { groups }) = of_payload(payload) {
            let made = resized(source, groups).filter(|_| draft == 0);
            return made.ok_or(RewriteError::Nothing);
        }
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

impl LoopRewriter {
    /// Returns a plan other than one for the sizes of groups.
    fn others(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        match self.plain(source) {
            None => self.nests.plan(source, choice),
            Some(Ok(plain)) => {
                let kernel = ByHand {
                    own: source,
                    plain: &plain,
                };
                self.nests.plan_by_hand(kernel, choice)
            }
            // What the compiler is told helps kernels that are not read, too.
            Some(Err(refusal)) => match self.nests.plan(source, choice) {
                Err(RewriteError::NotUnderstood(_)) => Err(refusal.into()),
                planned => planned,
            },
        }
    }
}
