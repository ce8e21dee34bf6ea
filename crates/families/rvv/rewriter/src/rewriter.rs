//! What is proposed for kernels: schedules of plain loops, which kernels with intrinsics are read as.

use crate::elements::{has_intrinsics, plain};
use crate::groups::{has_same_intrinsics, resized};
use crate::segments::{segmented, strided};
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

/// Changes of intrinsics, in the order in which they are tried, and the plans that make them.
const CHANGES: [OfIntrinsics; 5] = [
    OfIntrinsics::Groups(1),
    OfIntrinsics::Segments(true),
    OfIntrinsics::Segments(false),
    OfIntrinsics::Groups(-1),
    OfIntrinsics::Groups(2),
];
const TURNS: [u32; 5] = [1, 4, 7, 10, 13];

const GROUPS: KindOfChange = KindOfChange {
    name: "lmul",
    menu_items: &["lmul"],
    does: "writes intrinsics with larger or smaller groups of registers",
};

const SEGMENTS: KindOfChange = KindOfChange {
    name: "segments",
    menu_items: &["segments"],
    does: "accesses fields that lie side by side as segments, or loads them one by one with a stride",
};

/// A plan that changes intrinsics of a kernel and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OfIntrinsics {
    /// Registers of a group are multiplied by two to this power.
    Groups(i32),
    /// Whether strided accesses become segments, or the other way round.
    Segments(bool),
}

impl OfIntrinsics {
    /// Returns those that a kernel may have and that no earlier iteration asked for, nor failed
    /// behind a kernel with the same intrinsics.
    fn of(source: &str, choice: PlanChoice<'_>) -> Vec<Self> {
        if !has_intrinsics(source) {
            return Vec::new();
        }
        let read = |payload: &str, _| of_payload::<Self>(payload).ok();
        let earlier = Earlier::read(choice, read);
        // What comes of them hangs on the intrinsics alone.
        let failed = failed(choice, read).into_iter();
        let failed: Vec<Self> = failed
            .filter(|(_, other)| has_same_intrinsics(source, other))
            .map(|it| it.0)
            .collect();
        let is_new = |it: &Self| !earlier.has(it) && !failed.contains(it);
        let found = CHANGES.into_iter().filter(is_new);
        found.filter(|it| it.made(source).is_some()).collect()
    }

    /// Returns the kernel that it makes of another one, if it makes any.
    fn made(self, source: &str) -> Option<String> {
        match self {
            Self::Groups(by) => resized(source, by),
            Self::Segments(true) => segmented(source),
            Self::Segments(false) => strided(source),
        }
    }

    fn plan(self, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let (kind, text) = match self {
            Self::Groups(by) => {
                let size = match by {
                    ..=-1 => "half as many",
                    1 => "twice as many",
                    _ => "four times as many",
                };
                (GROUPS, format!("Take groups of {size} registers (LMUL) throughout."))
            }
            Self::Segments(true) => (
                SEGMENTS,
                "Access fields that lie side by side as segments instead of one by one with a stride.".into(),
            ),
            Self::Segments(false) => (
                SEGMENTS,
                "Load the fields of segments one by one, with a stride.".into(),
            ),
        };
        let named = menu_item(kind.menu_items.iter().copied(), choice.menu);
        Ok(RewritePlan {
            menu_item: named.unwrap_or(MenuItem::OTHER).to_owned(),
            text,
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
        kinds.extend([GROUPS, SEGMENTS]);
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
        let changes = OfIntrinsics::of(source, choice);
        let turns = &TURNS[..changes.len()];
        if let Some(turn) = turns.iter().position(|it| *it == choice.plan) {
            return changes[turn].plan(choice);
        }
        let n_before = turns.iter().filter(|it| **it < choice.plan).count() as u32;
        let others = PlanChoice {
            plan: choice.plan - n_before,
            ..choice
        };
        match (self.others(source, others), changes.first()) {
            // Nothing else is there to begin with.
            (Err(_), Some(first)) if choice.plan == 0 => first.plan(choice),
            (planned, _) => planned,
        }
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        if let Ok(change) = of_payload::<OfIntrinsics>(payload) {
            let made = change.made(source).filter(|_| draft == 0);
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
    /// Returns a plan that does more than change intrinsics.
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
