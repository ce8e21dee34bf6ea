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
pub(crate) struct Record {
    /// Attempts.
    pub(crate) trials: u32,
    /// Attempts that made a kernel faster.
    pub(crate) gains: u32,
    /// What its calls have cost, in millionths of a dollar.
    pub(crate) cost: u64,
}

/// The most attempts that a posterior counts; more are scaled down to this, so that an arm
/// is never given up for good.
const MOST_COUNTED: u32 = 64;

/// Arms of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arms(BTreeMap<String, Record>);

impl Arms {
    /// Returns the record of an arm, to be added to.
    pub(crate) fn of(&mut self, name: &str) -> &mut Record {
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
    pub(crate) fn choose<'name>(
        &self,
        names: impl Iterator<Item = &'name str>,
        seed: Seed,
    ) -> Option<&'name str> {
        self.ranked(names, seed).first().copied()
    }

    /// Returns the part of the menu that one plan sees, in the menu's order: as many items
    /// as [dropout](crate::menu_after_dropout) leaves, those with the best draws; `other`
    /// always stays.
    pub(crate) fn menu(&self, menu: &[MenuItem], dropout: f64, seed: Seed) -> Vec<MenuItem> {
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
fn success_rate(record: Record, mut seed: Seed) -> f64 {
    let Record { trials, gains, .. } = record;
    let counted = trials.min(MOST_COUNTED);
    let gains = u64::from(gains.min(trials)) * u64::from(counted) / u64::from(trials.max(1));
    let mut uniform: Vec<u64> = (0..=counted).map(|_| seed.next_u64()).collect();
    uniform.sort_unstable();
    // The place of the smallest for no gain, of the largest for gains only.
    uniform[gains as usize] as f64 / 2.0_f64.powi(64)
}

#[cfg(test)]
mod tests {
    use super::{Arms, MOST_COUNTED, Record, success_rate};
    use autocomp_core::{MenuItem, Seed};

    fn arms(records: &[(&str, u32, u32, u64)]) -> Arms {
        let mut arms = Arms::default();
        for (name, trials, gains, cost) in records {
            *arms.of(name) = Record {
                trials: *trials,
                gains: *gains,
                cost: *cost,
            };
        }
        arms
    }

    fn share(arms: &Arms, names: &[&str], wanted: &str) -> f64 {
        let draws = 2000;
        let chosen = (0..draws).filter(|seed| {
            arms.choose(names.iter().copied(), Seed(*seed).derive("test")) == Some(wanted)
        });
        chosen.count() as f64 / draws as f64
    }

    #[test]
    fn rates_follow_the_posterior() {
        for (trials, gains) in [(0, 0), (10, 3), (40, 40), (1000, 250)] {
            let record = Record {
                trials,
                gains,
                cost: 0,
            };
            let draws: Vec<f64> = (0..4000)
                .map(|seed| success_rate(record, Seed(seed).derive("rate")))
                .collect();
            let mean = draws.iter().sum::<f64>() / draws.len() as f64;
            let counted = f64::from(trials.min(MOST_COUNTED));
            let gains = f64::from(gains) / f64::from(trials.max(1)) * counted;
            let expected = (1.0 + gains) / (2.0 + counted);
            assert!((mean - expected).abs() < 0.02, "{mean} {expected}");
        }
    }

    #[test]
    fn what_helped_is_preferred_and_nothing_is_given_up() {
        let names = ["good", "bad", "new"];
        let known = arms(&[("good", 30, 15, 0), ("bad", 30, 1, 0)]);
        let [good, bad, new] = names.map(|name| share(&known, &names, name));
        assert!(good > 0.4 && bad < 0.05, "{good} {bad}");
        assert!(new > 0.2, "what is not known is tried: {new}");
        // Without any record, all are alike.
        let even = share(&Arms::default(), &names, "bad");
        assert!((even - 1.0 / 3.0).abs() < 0.05, "{even}");
    }

    #[test]
    fn of_equals_the_cheaper_one_is_preferred() {
        let names = ["cheap", "dear"];
        let known = arms(&[("cheap", 40, 12, 4_000), ("dear", 40, 12, 400_000)]);
        assert!(share(&known, &names, "cheap") > 0.9);
        // It may cost more if it helps more.
        let known = arms(&[("cheap", 40, 1, 40_000), ("dear", 40, 30, 80_000)]);
        assert!(share(&known, &names, "dear") > 0.9);
    }

    #[test]
    fn menus_keep_their_size_and_the_other_item() {
        let menu: Vec<MenuItem> = ["a", "b", "c", "d", MenuItem::OTHER]
            .map(|id| MenuItem {
                id: id.to_owned(),
                ..MenuItem::default()
            })
            .to_vec();
        let known = arms(&[("c", 60, 50, 0), ("a", 60, 0, 0)]);
        let mut shown = [0; 5];
        for seed in 0..400 {
            let kept = known.menu(&menu, 0.5, Seed(seed).derive("menu"));
            assert_eq!(kept.len(), 3);
            for (idx, item) in menu.iter().enumerate() {
                shown[idx] += usize::from(kept.contains(item));
            }
        }
        assert_eq!(shown[4], 400);
        assert!(
            shown[2] > 350 && shown[0] < 20 && shown[1] > 100,
            "{shown:?}"
        );
    }
}
