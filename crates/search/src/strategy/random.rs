//! Random walks: a control that shows what selection is worth.

use super::{Pool, Strategy};
use autocomp_core::CandidateId;

/// Each place walks on its own: to any of its correct children, whatever their
/// speed, with equal chance. It stays where it is if there is none.
#[derive(Debug)]
pub(super) struct Random;

impl Strategy for Random {
    fn name(&self) -> &'static str {
        "random"
    }

    fn description(&self) -> &'static str {
        "each place walks to any of its correct children, whatever their speed (a control)"
    }

    fn select(&self, pool: &Pool<'_>) -> Vec<CandidateId> {
        let mut seed = pool.seed;
        let places = pool.places.iter().enumerate();
        places
            .map(|(place, parent)| {
                let children: Vec<CandidateId> = pool.children_of(place).collect();
                match children.len() {
                    0 => *parent,
                    count => children[seed.below(count)],
                }
            })
            .collect()
    }
}
