//! What to try next, by what helped so far: Thompson sampling over models and menu items.
//!
//! Each arm has a success rate that is drawn from its posterior (Thompson, Biometrika 25,
//! 1933; Beta prior 1, 1). The draw is divided by what the arm costs beside the average one
//! (after Xia et al., "Thompson sampling for budgeted multi-armed bandits", IJCAI 2015).
//! Only closed iterations count, so that the order in which work ends does not matter.

use autocomp_core::{MenuItem, Seed};
use std::collections::BTreeMap;

/// What an arm has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Attempts.
    pub trials: u32,
    /// Attempts that made a kernel faster.
    pub gains: u32,
    /// What its calls have cost, in millionths of a dollar.
    pub cost: u64,
}

/// The most attempts that a posterior counts; more are scaled down to this, so that an arm
/// is never given up for good.
pub const MOST_COUNTED: u32 = 64;

/// Arms of one kind.
#[derive(Clone, Debug, Default)]
pub struct Arms(BTreeMap<String, Record>);

impl Arms {
    /// Returns the record of an arm, to be added to.
    pub fn of(&mut self, name: &str) -> &mut Record {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), Record::default());
        }
        self.0.get_mut(name).expect("it was just put in")
    }

    /// Returns `names` in the order of one draw each, the best first.
    fn ranked<'name>(
        &self,
        names: impl Iterator<Item = &'name str>,
        seed: Seed,
    ) -> Vec<&'name str> {
        let mean = self.mean_cost();
        let mut drawn: Vec<(f64, &str)> = names
            .map(|name| {
                let record = self.0.get(name).copied().unwrap_or_default();
                // A stream of its own, so that other arms do not matter.
                let rate = success_rate(record, seed.derive(name));
                let cost = record.cost as f64 / f64::from(record.trials.max(1));
                let share = if 0.0 < mean { cost / mean } else { 0.0 };
                (rate / (1.0 + share), name)
            })
            .collect();
        drawn.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.cmp(b)));
        drawn.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the arm to pull, if there is one.
    pub fn choose<'name>(
        &self,
        names: impl Iterator<Item = &'name str>,
        seed: Seed,
    ) -> Option<&'name str> {
        self.ranked(names, seed).first().copied()
    }

    /// Returns the part of the menu that one plan sees, in the menu's order: as many items
    /// as [dropout](crate::menu_after_dropout) leaves, those with the best draws; `other`
    /// always stays.
    pub fn menu(&self, menu: &[MenuItem], dropout: f64, seed: Seed) -> Vec<MenuItem> {
        let regular = || menu.iter().filter(|item| item.id != MenuItem::OTHER);
        let n_kept = ((regular().count() as f64 * (1.0 - dropout)).round() as usize).max(1);
        let ranked = self.ranked(regular().map(|item| &*item.id), seed);
        let kept = &ranked[..n_kept.min(ranked.len())];
        let is_kept = |item: &&MenuItem| item.id == MenuItem::OTHER || kept.contains(&&*item.id);
        menu.iter().filter(is_kept).cloned().collect()
    }

    fn mean_cost(&self) -> f64 {
        let trials: u64 = self.0.values().map(|it| u64::from(it.trials)).sum();
        let cost: u64 = self.0.values().map(|it| it.cost).sum();
        cost as f64 / trials.max(1) as f64
    }
}

/// Draws a success rate from Beta(1 + gains, 1 + failures): of so many uniform numbers as
/// there are attempts and one, the one at that place.
pub fn success_rate(record: Record, mut seed: Seed) -> f64 {
    let Record { trials, gains, .. } = record;
    let counted = trials.min(MOST_COUNTED);
    let gains = u64::from(gains.min(trials)) * u64::from(counted) / u64::from(trials.max(1));
    let mut uniform: Vec<u64> = (0..=counted).map(|_| seed.next_u64()).collect();
    // The place of the smallest for no gain, of the largest for gains only.
    let (_, drawn, _) = uniform.select_nth_unstable(gains as usize);
    *drawn as f64 / 2.0_f64.powi(64)
}
