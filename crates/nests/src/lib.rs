//! Schedules for plain loop nests, without any model.
//!
//! A kernel that is written down plainly, as counted loops around declarations
//! and assignments, is read into a [`code::Program`] and divided into parts:
//! sums of products, transpositions, counters that are looked up, innermost
//! loops, loops around one other loop. A [`Schedule`] says how each of them is
//! carried out: vectors, register tiles, blocks, panels, partial results, tables.
//! Kernels that are made this way carry the plain kernel and the schedule in
//! comments, so that the next step can start from there; one that was changed by
//! hand since is left alone.

mod code;
mod distribute;
mod estimate;
mod forms;
mod hand;
mod hints;
mod jam;
mod lengths;
mod nest;
mod normal;
mod pieces;
mod product;
mod propose;
mod read;
mod refusal;
mod region;
mod remedy;
mod schedule;
mod shape;
mod tables;
mod text;
mod translation;
mod turn;
mod vectors;
mod wide;
mod write;

pub use forms::Form;
pub use hand::ByHand;
pub use propose::Resources;
pub use read::macros::expanded;
pub use read::punning::{OF_BITS, without_punning};
pub use refusal::Refusal;
pub use schedule::Schedule;
pub use text::Text;
pub use vectors::Dots;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::hints::{Hints, TRIED};
}

use autocomp_core::{
    KindOfChange, MenuItem, NotUnderstood, PlanChoice, RewriteError, RewritePlan, Rewriter,
};
use autocomp_rewriting::{
    Drafts, Earlier, Proposed, Ranking, is_made, menu_item, of_payload, payload as to_payload,
    wrong,
};
use code::Program;
use hints::Hints;
use propose::Change;
use serde::{Deserialize, Serialize};

/// Scores are logarithms of estimated cycles; the kind of a schedule is what it changes.
const RANKING: Ranking = Ranking {
    temperature: 0.06,
    off_menu: 0.08,
    alike: 0.05,
};

/// Proposes schedules for loop nests.
#[derive(Clone, Debug)]
pub struct NestRewriter {
    resources: Resources,
}

/// The machine-readable form of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Payload {
    /// The schedule for each draft in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    drafts: Vec<Schedule>,
    /// What the compiler is told of a kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hints: Option<Hints>,
    /// Whether it is told of the plain form of a kernel whose vectors are written by hand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    plain: bool,
}

impl Payload {
    /// Returns the schedule of a draft of a payload, if it has one.
    fn schedule(payload: &str, draft: u32) -> Option<Schedule> {
        let payload: Self = of_payload(payload).ok()?;
        payload.drafts.into_iter().nth(draft as usize)
    }

    /// Returns what a payload tells the compiler, if it does, and whether of the plain form.
    fn told(payload: &str, _: u32) -> Option<(Hints, bool)> {
        let payload: Self = of_payload(payload).ok()?;
        Some((payload.hints?, payload.plain))
    }
}

/// A kernel that was read.
type Source = autocomp_rewriting::Source<Program, Schedule>;

impl NestRewriter {
    /// Creates a rewriter for a processor.
    #[must_use]
    pub fn new(resources: Resources) -> Self {
        Self { resources }
    }

    /// Reads a plain kernel, or one that was made here before.
    fn read(source: &str) -> Result<Source, Refusal> {
        Source::read(source, read::read, write::write)
    }

    /// Returns the schedules for a kernel that was read. Where one that multiplies by reciprocals
    /// has left wrong results, others that would begin to are left out: what is divided by there is
    /// zero, infinite, or too small to be normal.
    fn proposals(&self, read: &Source, choice: PlanChoice<'_>) -> Vec<propose::Proposal> {
        let current = read.schedule.as_ref();
        let mut found = propose::proposals(&read.program, current, &self.resources);
        let is_wrong = wrong(choice, Payload::schedule).any(|it| it.has_reciprocals());
        if is_wrong && !current.is_some_and(Schedule::has_reciprocals) {
            found.retain(|it| !it.schedule.has_reciprocals());
        }
        found
    }
}

/// Every so many plans for a kernel that is read, one tells the compiler more of it as it is.
const TOLD_EVERY: u32 = 3;

/// Plans what the compiler may be told of a kernel that is not read, for this reason.
fn told(
    source: &str,
    choice: PlanChoice<'_>,
    reason: Refusal,
) -> Result<RewritePlan, RewriteError> {
    let found = untold(source, false, choice);
    // What was made of a schedule and changed since is somebody's work.
    if found.is_empty() || is_made(source) {
        return Err(reason.into());
    }
    let hints = found
        .get(choice.plan as usize)
        .ok_or(RewriteError::Nothing)?;
    planned(hints, false, choice)
}

/// Returns what the compiler may be told of a kernel, or of its plain form, and was not in earlier
/// iterations.
fn untold(source: &str, is_plain: bool, choice: PlanChoice<'_>) -> Vec<Hints> {
    let earlier = Earlier::read(choice, Payload::told);
    let found = Hints::of(source).into_iter().map(|(hints, _)| hints);
    found.filter(|it| !earlier.has(&(*it, is_plain))).collect()
}

/// Returns the plan that tells the compiler something of a kernel, or of its plain form.
fn planned(
    hints: &Hints,
    is_plain: bool,
    choice: PlanChoice<'_>,
) -> Result<RewritePlan, RewriteError> {
    let is_named = choice.menu.iter().any(|it| it.id == hints.menu_item());
    let payload = Payload {
        drafts: Vec::new(),
        hints: Some(*hints),
        plain: is_plain,
    };
    Ok(RewritePlan {
        menu_item: match is_named {
            true => hints.menu_item().to_owned(),
            false => MenuItem::OTHER.to_owned(),
        },
        text: hints.text(is_plain),
        payload: to_payload(&payload)?,
    })
}

/// Returns plan number `plan` of those that schedule a kernel.
fn scheduled(
    read: &Source,
    source: &str,
    proposals: Vec<propose::Proposal>,
    plan: usize,
    choice: PlanChoice<'_>,
) -> Result<RewritePlan, RewriteError> {
    let earlier = Earlier::read(choice, Payload::schedule);
    let proposals = proposals.into_iter().enumerate().map(|(idx, it)| Proposed {
        is_earlier: earlier.has(&it.schedule),
        score: it.score,
        stream: idx.to_string(),
        is_named: menu_item(it.ids(), choice.menu).is_some(),
        kind: it.ids().collect::<Vec<_>>(),
        proposal: it,
    });
    let order = RANKING.order(RANKING.chance(source, choice), proposals);
    // What cannot be written after all is left out.
    let usable = order
        .into_iter()
        .filter(|it| write::write(&read.program, &it.schedule).is_some());
    let (first, Drafts { drafts }) = Drafts::of_plan(
        usable,
        plan,
        |it: &propose::Proposal, first| it.changes == first.changes,
        |it| it.schedule.clone(),
    )
    .ok_or(RewriteError::Nothing)?;
    let payload = Payload {
        drafts,
        hints: None,
        plain: false,
    };
    Ok(RewritePlan {
        menu_item: menu_item(first.ids(), choice.menu)
            .unwrap_or(MenuItem::OTHER)
            .to_owned(),
        text: first.text,
        payload: to_payload(&payload)?,
    })
}

impl Rewriter for NestRewriter {
    fn kinds(&self) -> Vec<KindOfChange> {
        let all = Change::ALL.iter();
        let possible = all.filter(|it| self.resources.lengths || **it != Change::StripMining);
        possible.map(|it| it.kind()).collect()
    }

    fn not_understood(&self, source: &str) -> Vec<NotUnderstood> {
        let Err(refusal) = Self::read(source) else {
            return Vec::new();
        };
        vec![NotUnderstood {
            line: refusal.line.unwrap_or(1),
            reason: refusal.reason(),
        }]
    }

    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let read = match Self::read(source) {
            Ok(read) => read,
            Err(reason) => return told(source, choice, reason),
        };
        let proposals = self.proposals(&read, choice);
        if proposals.is_empty() {
            let message = "none of its loops is one that can be carried out in another way: no sum of products, no transposition, no innermost loop whose iterations can be done side by side";
            return told(source, choice, message.into());
        }
        // What the compiler makes of the whole may be better than schedules for parts.
        let told = match read.schedule {
            None => untold(source, false, choice),
            Some(_) => Vec::new(),
        };
        let hints_of = |plan: u32| {
            let is_told = plan % TOLD_EVERY == TOLD_EVERY - 1;
            told.get((plan / TOLD_EVERY) as usize).filter(|_| is_told)
        };
        if let Some(hints) = hints_of(choice.plan) {
            return planned(hints, false, choice);
        }
        let plan = (0..choice.plan)
            .filter(|it| hints_of(*it).is_none())
            .count();
        match scheduled(&read, source, proposals.clone(), plan, choice) {
            Err(RewriteError::Nothing) => {}
            planned => return planned,
        }
        // Where there are fewer schedules, the compiler is told the rest, from its end.
        let is_one = |it: &usize| scheduled(&read, source, proposals.clone(), *it, choice).is_ok();
        let n_schedules = (0..plan).find(|it| !is_one(it)).unwrap_or(plan);
        let at = told.len().checked_sub(1 + plan - n_schedules);
        let n_told = (choice.plan / TOLD_EVERY) as usize;
        match at.filter(|it| n_told <= *it) {
            Some(at) => planned(&told[at], false, choice),
            None => Err(RewriteError::Nothing),
        }
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let payload: Payload = of_payload(payload)?;
        if let Some(hints) = payload.hints {
            // One text: further drafts would be the same.
            let text = (draft == 0).then(|| hints.added(source)).flatten();
            return text.ok_or(RewriteError::Nothing);
        }
        let schedule = payload
            .drafts
            .get(draft as usize)
            .ok_or(RewriteError::Nothing)?;
        let read = Self::read(source)?;
        read.made(schedule, write::write)
            .ok_or_else(|| RewriteError::Payload("the schedule does not fit the kernel".into()))
    }
}

/// Returns the kinds of the parts that a plain kernel is taken apart into, or why it is not read.
///
/// # Errors
/// The reason, with its line.
pub fn parts(source: &str) -> Result<Vec<&'static str>, Refusal> {
    let program = read::read(source)?;
    let (body, names) = distribute::distributed(&program, 0).ok_or("it cannot be taken apart")?;
    let parts = region::regions(&body, &names);
    Ok(parts.iter().map(|(_, part)| part.kind()).collect())
}
