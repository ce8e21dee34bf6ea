//! Beam search: the best distinct kernels survive.

use super::{Pool, Strategy, niches};
use crate::bound::Bounding;
use autocomp_core::{CandidateId, Cost};

/// Keeps the best distinct kernels among the beam and the admitted children.
///
/// Kernels rank by cost, older ones first among equals. Places are filled in
/// steps: all but the `niches` and `newcomers` places by rank; then one for each
/// [niche](niches) that has none, as far as there are places for niches; then, as long as fewer
/// than `newcomers` of the chosen never held a place, by rank among those that
/// never did: the admitted children, and older kernels whose cost is below
/// the best's times the slack; then what is left, by rank.
///
/// Each step goes through its kernels in three rounds: first it takes those
/// that differ in their measurement from all chosen and have fewer than
/// `siblings` chosen siblings; then the rest that differ in their measurement;
/// then the rest. A kernel with the same cost and further figures
/// as another is most likely the same program written differently, and
/// a beam full of those is a beam of one.
#[derive(Debug)]
pub(super) struct Beam;

impl Strategy for Beam {
    fn name(&self) -> &'static str {
        "beam"
    }

    fn description(&self) -> &'static str {
        "the best distinct kernels survive"
    }

    fn select(&self, pool: &Pool<'_>) -> Vec<CandidateId> {
        let mut ranked: Vec<CandidateId> = pool.beam.to_vec();
        let fresh = pool.fresh.iter().map(|candidate| candidate.id);
        ranked.extend(fresh.filter(|id| pool.is_admitted(*id)));
        ranked.sort_by_key(|id| pool.rank(*id));
        ranked.dedup();

        let best = ranked
            .first()
            .map_or(0, |id| pool.candidate(*id).cost.value);
        let limit = best as f64 * pool.slack();
        let is_near = |cost: &Cost| (cost.value as f64) < limit;
        // What is ranked of earlier iterations has held a place.
        let older = pool.unplaced.iter().take_while(|(cost, _)| is_near(cost));
        let mut newcomers: Vec<CandidateId> = older.map(|(_, id)| *id).collect();
        newcomers.extend(pool.fresh.iter().filter_map(|candidate| {
            let is_in = is_near(&candidate.cost) || pool.is_admitted(candidate.id);
            is_in.then_some(candidate.id)
        }));
        newcomers.sort_by_key(|id| pool.rank(*id));

        let n_places = pool.settings.beam as usize;
        let n_niches = (pool.settings.niches as usize).min(n_places - 1);
        let n_newcomers = (pool.settings.newcomers as usize).min(n_places - 1 - n_niches);
        let mut chosen = Vec::new();
        fill(
            pool,
            &ranked,
            n_places - n_niches - n_newcomers,
            &mut chosen,
        );
        niches::fill(pool, pool.beam, n_niches, &mut chosen);
        let n_new = chosen.iter().filter(|id| newcomers.contains(id)).count();
        let n_filled = chosen.len() + n_newcomers.saturating_sub(n_new);
        fill(pool, &newcomers, n_filled, &mut chosen);
        fill(pool, &ranked, n_places, &mut chosen);
        chosen.sort_by_key(|id| pool.rank(*id));
        chosen
    }

    /// Nobody is admitted whose cost is not below its parent's times the slack, and later
    /// nobody whose cost is not below the best's times the slack of then.
    fn bound(&self, bounding: &Bounding<'_>) -> Option<Cost> {
        let worst = bounding.worst()?;
        let slack = bounding.settings.slack_from(bounding.iteration);
        let value = (worst.value as f64 * slack).ceil() as u64;
        Some(Cost { value, ..worst })
    }
}

/// Chooses from `ranked`, in three rounds, until `n_places` are chosen.
fn fill(pool: &Pool<'_>, ranked: &[CandidateId], n_places: usize, chosen: &mut Vec<CandidateId>) {
    for round in 0..3 {
        for id in ranked {
            if n_places <= chosen.len() {
                return;
            }
            let is_known = || chosen.iter().any(|other| is_alike(pool, *id, *other));
            let is_crowded = || {
                let siblings = chosen.iter().filter(|other| is_sibling(pool, *id, **other));
                pool.settings.siblings != 0 && pool.settings.siblings as usize <= siblings.count()
            };
            let is_out = match round {
                0 => is_known() || is_crowded(),
                1 => is_known(),
                _ => false,
            };
            if !is_out && !chosen.contains(id) {
                chosen.push(*id);
            }
        }
    }
}

fn is_alike(pool: &Pool<'_>, a: CandidateId, b: CandidateId) -> bool {
    let figures = |id| {
        let candidate = pool.candidate(id);
        let measurement = candidate.evaluation.measurement.as_ref();
        (candidate.cost, measurement.map(|it| &it.figures))
    };
    figures(a) == figures(b)
}

fn is_sibling(pool: &Pool<'_>, a: CandidateId, b: CandidateId) -> bool {
    let parent = pool.candidate(a).parent;
    parent.is_some() && parent == pool.candidate(b).parent
}
