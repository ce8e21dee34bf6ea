//! Evolutionary search: islands, each with an archive of unlike elites.

use super::{Pool, Strategy};
use autocomp_core::{CandidateId, Seed};
use std::collections::BTreeMap;

/// Islands with MAP-Elites archives (Mouret and Clune, arXiv 1504.04909).
///
/// Places are dealt to the islands in turn, and a kernel belongs to the island of
/// the place that it was made at. An island keeps the cheapest kernel of each
/// cell; a cell is the technique that made the kernel (its menu item) and how many
/// steps it is from the baseline, on a scale of powers of two. So kernels that are
/// slower survive as long as nothing faster was made in the same way at the same
/// depth. The first place of an island works on its best kernel, the others on
/// elites drawn by lot, of which the cheaper of two is taken. Every `migration`
/// iterations, the first place takes the best of the next island instead.
#[derive(Debug)]
pub(super) struct Evolutionary;

/// How a kernel came about: its menu item, and the power of two below its depth.
type Cell<'a> = (&'a str, u32);

impl Strategy for Evolutionary {
    fn name(&self) -> &'static str {
        "evolutionary"
    }

    fn description(&self) -> &'static str {
        "islands, each of which keeps the best kernel of every technique and depth"
    }

    fn select(&self, pool: &Pool<'_>) -> Vec<CandidateId> {
        let settings = pool.settings;
        let n_places = settings.beam as usize;
        let n_islands = (settings.islands as usize).min(n_places);
        let archives = archives(pool, n_islands);
        let is_migration =
            settings.migration != 0 && pool.iteration.is_multiple_of(settings.migration);
        let mut seed = pool.seed;
        (0..n_places)
            .map(|place| {
                let island = place % n_islands;
                if n_islands <= place {
                    return draw(pool, &archives[island], &mut seed);
                }
                let from = if is_migration {
                    (island + 1) % n_islands
                } else {
                    island
                };
                archives[from][0]
            })
            .collect()
    }
}

/// Returns the elites of each island, the best first; none is empty, because the
/// kernels that the run began with live on all of them.
fn archives(pool: &Pool<'_>, n_islands: usize) -> Vec<Vec<CandidateId>> {
    let mut cells: Vec<BTreeMap<Cell<'_>, CandidateId>> = vec![BTreeMap::new(); n_islands];
    let mut depths: Vec<u32> = Vec::new();
    for candidate in pool.candidates() {
        let parent = candidate.parent.and_then(|id| depths.get(id.0 as usize));
        let depth = parent.map_or(0, |depth| depth + 1);
        depths.push(depth);
        if pool.struck.contains(&candidate.id) {
            continue;
        }
        let technique = candidate.plan.as_ref().map_or("", |it| &it.menu_item);
        let cell = (technique, depth.checked_ilog2().map_or(0, |log| log + 1));
        let home = candidate.key.parent as usize % n_islands;
        let is_first = candidate.key.iteration == 0;
        for (island, cells) in cells.iter_mut().enumerate() {
            if is_first || island == home {
                let elite = cells.entry(cell).or_insert(candidate.id);
                *elite = cheaper(pool, *elite, candidate.id);
            }
        }
    }
    let ranked = cells.into_iter().map(|cells| {
        let mut elites: Vec<CandidateId> = cells.into_values().collect();
        elites.sort_by_key(|id| pool.rank(*id));
        elites
    });
    ranked.collect()
}

fn cheaper(pool: &Pool<'_>, one: CandidateId, other: CandidateId) -> CandidateId {
    if pool.rank(other) < pool.rank(one) {
        other
    } else {
        one
    }
}

/// Draws two elites and returns the cheaper one.
fn draw(pool: &Pool<'_>, elites: &[CandidateId], seed: &mut Seed) -> CandidateId {
    let mut drawn = || elites[seed.below(elites.len())];
    let (one, other) = (drawn(), drawn());
    cheaper(pool, one, other)
}
