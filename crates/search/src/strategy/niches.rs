//! Niches: kernels that are slower and unlike, kept so that a search may cross valleys.

use super::Pool;
use autocomp_core::CandidateId;

/// A technique and a line of descent: the menu item that made the kernel, and which
/// of the first kernels it comes from.
type Niche<'a> = (&'a str, CandidateId);

/// Adds kernels to `chosen` until `n_more` are added or all are: of each niche that
/// none of those chosen is in, the cheapest, however slow, among `known` and the new
/// ones; niches of a technique that is not chosen first, then the cheapest first.
pub(super) fn fill(
    pool: &Pool<'_>,
    known: &[CandidateId],
    n_more: usize,
    chosen: &mut Vec<CandidateId>,
) {
    let fresh = pool.fresh.iter().map(|candidate| candidate.id);
    let mut ranked: Vec<CandidateId> = known.iter().copied().chain(fresh).collect();
    ranked.sort_by_key(|id| pool.rank(*id));
    ranked.dedup();
    let n_places = chosen.len() + n_more;
    for is_technique_alone in [true, false] {
        for id in &ranked {
            if n_places <= chosen.len() {
                return;
            }
            let (technique, line) = niche(pool, *id);
            let is_taken = chosen.iter().any(|other| {
                let (other, other_line) = niche(pool, *other);
                other == technique && (is_technique_alone || other_line == line)
            });
            if !is_taken {
                chosen.push(*id);
            }
        }
    }
}

fn niche<'a>(pool: &Pool<'a>, id: CandidateId) -> Niche<'a> {
    let candidate = pool.candidate(id);
    let technique = candidate.plan.as_ref().map_or("", |it| &it.menu_item);
    let mut line = candidate;
    while let Some(parent) = line.parent.filter(|parent| parent.0 != 0) {
        // A parent has a smaller number than its child, so this ends.
        line = pool.candidate(parent);
    }
    (technique, line.id)
}
