//! Beam search: the best distinct kernels survive.

use super::{Pool, Strategy};
use autocomp_core::CandidateId;

/// Keeps the best distinct kernels among the beam and the admitted children.
///
/// Kernels rank by cycles, older ones first among equals. They take places in
/// three rounds: first those that differ in their measurement from all that
/// have a place and have fewer than `siblings` surviving siblings; then the
/// rest that differ in their measurement; then the rest. A kernel with the
/// same cycles, cold cycles and instruction count as another is most likely
/// the same program written differently, and a beam full of those is a beam
/// of one.
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
        ranked.extend(
            pool.fresh
                .iter()
                .copied()
                .filter(|id| pool.is_admitted(*id)),
        );
        ranked.sort_by_key(|id| (pool.candidate(*id).cycles, *id));
        ranked.dedup();

        let n_places = pool.settings.beam as usize;
        let mut chosen: Vec<CandidateId> = Vec::new();
        for round in 0..3 {
            for id in &ranked {
                if n_places <= chosen.len() {
                    break;
                }
                let is_known = || chosen.iter().any(|other| is_alike(pool, *id, *other));
                let is_crowded = || {
                    let siblings = chosen.iter().filter(|other| is_sibling(pool, *id, **other));
                    pool.settings.siblings != 0
                        && pool.settings.siblings as usize <= siblings.count()
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
        chosen.sort_by_key(|id| (pool.candidate(*id).cycles, *id));
        chosen
    }
}

fn is_alike(pool: &Pool<'_>, a: CandidateId, b: CandidateId) -> bool {
    let figures = |id| {
        let candidate = pool.candidate(id);
        let measurement = candidate.evaluation.measurement.as_ref();
        (
            candidate.cycles,
            measurement.map(|it| (it.cold_cycles, it.instructions)),
        )
    };
    figures(a) == figures(b)
}

fn is_sibling(pool: &Pool<'_>, a: CandidateId, b: CandidateId) -> bool {
    let parent = pool.candidate(a).parent;
    parent.is_some() && parent == pool.candidate(b).parent
}
