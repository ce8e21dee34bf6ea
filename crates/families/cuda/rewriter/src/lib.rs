//! Changes to CUDA kernels without any model.
//!
//! Each launch of a kernel is read as a nest of points: what one thread does, for every place of
//! the grid. A [`Schedule`] says how the points are shared out among blocks, threads and
//! registers, and the kernel is written anew from it. Kernels that are made this way carry the
//! plain kernel and the schedule in comments, so that the next step can start from there; one that
//! was changed by hand since is left alone. A launch that is not understood stays as it is written.

mod change;
mod counting;
mod elements;
mod expression;
mod kinds;
mod launch_text;
mod matrix;
mod nest;
mod points;
mod product;
mod program;
mod propose;
mod read;
mod rows;
mod schedule;
mod source;
mod step;
mod sums;
mod tiles;
mod together;
mod turn;
mod words;

pub use propose::GpuResources;
pub use schedule::{Part, Schedule};

use autocomp_core::{
    KindOfChange, MenuItem, NotUnderstood, PlanChoice, RewriteError, RewritePlan, Rewriter,
};
use autocomp_nests::Refusal;
use autocomp_rewriting::{Drafts, Earlier, Proposed, Ranking, menu_item, of_payload, payload};
use change::Change;
use program::Program;

/// Scores are logarithms of estimated nanoseconds; the kind of a schedule is what it changes.
const RANKING: Ranking = Ranking {
    temperature: 0.05,
    off_menu: 0.05,
    alike: 0.06,
};

/// Proposes schedules for CUDA kernels.
#[derive(Clone, Debug)]
pub struct CudaRewriter {
    entry: String,
    resources: GpuResources,
}

/// A kernel that was read.
type Source = autocomp_rewriting::Source<Program, Schedule>;

impl CudaRewriter {
    /// Creates a rewriter for kernels whose host function is `entry`.
    #[must_use]
    pub fn new(entry: &str, resources: GpuResources) -> Self {
        Self {
            entry: entry.to_owned(),
            resources,
        }
    }

    fn read(&self, source: &str) -> Result<Source, Refusal> {
        let read = |plain: &str| Program::read(plain, &self.entry, &self.resources.extents);
        Source::read(source, read, |program, schedule| {
            program.write(schedule, &self.resources)
        })
    }

    fn made(&self, read: &Source, schedule: &Schedule) -> Option<String> {
        read.made(schedule, |program, schedule| {
            program.write(schedule, &self.resources)
        })
    }

    /// Returns every kernel that one change of one launch leads to, with its schedule.
    ///
    /// # Errors
    /// A [`RewriteError`] if the kernel is not understood.
    pub fn every(&self, source: &str) -> Result<Vec<(Schedule, String)>, RewriteError> {
        let read = self.read(source)?;
        let all = propose::every(&read.program, &self.resources);
        let written = all.into_iter().filter_map(|schedule| {
            let text = self.made(&read, &schedule)?;
            Some((schedule, text))
        });
        Ok(written.collect())
    }
}

impl Rewriter for CudaRewriter {
    fn kinds(&self) -> Vec<KindOfChange> {
        Change::ALL.iter().map(|it| it.kind()).collect()
    }

    fn not_understood(&self, source: &str) -> Vec<NotUnderstood> {
        let of = |refusal: &Refusal| NotUnderstood {
            line: refusal.line.unwrap_or(1),
            reason: refusal.reason(),
        };
        match self.read(source) {
            Err(refusal) => vec![of(&refusal)],
            Ok(read) => {
                let launches = read.program.launches();
                launches
                    .iter()
                    .filter_map(|it| it.1.err())
                    .map(of)
                    .collect()
            }
        }
    }

    fn plan(&self, source: &str, choice: PlanChoice<'_>) -> Result<RewritePlan, RewriteError> {
        let read = self.read(source)?;
        let found = propose::proposals(&read.program, read.schedule.as_ref(), &self.resources);
        if found.is_empty() {
            let launches = read.program.launches();
            return Err(match launches.iter().find_map(|it| it.1.err()) {
                Some(refusal) => refusal.clone().into(),
                None => RewriteError::Nothing,
            });
        }
        let earlier = Earlier::of(choice);
        let proposals = found.into_iter().enumerate().map(|(idx, it)| Proposed {
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
            .filter(|it| read.program.write(&it.schedule, &self.resources).is_some());
        let (first, drafts) = Drafts::of_plan(
            usable,
            choice.plan as usize,
            |it: &propose::Proposal, first| it.changes == first.changes,
            |it| it.schedule.clone(),
        )
        .ok_or(RewriteError::Nothing)?;
        Ok(RewritePlan {
            menu_item: menu_item(first.ids(), choice.menu)
                .unwrap_or(MenuItem::OTHER)
                .to_owned(),
            text: first.text,
            payload: payload(&drafts)?,
        })
    }

    fn implement(&self, source: &str, payload: &str, draft: u32) -> Result<String, RewriteError> {
        let drafts: Drafts<Schedule> = of_payload(payload)?;
        let read = self.read(source)?;
        self.made(&read, drafts.get(draft)?)
            .ok_or_else(|| RewriteError::Payload("the schedule does not fit the kernel".into()))
    }
}
