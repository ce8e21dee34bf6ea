//! The order in which plans try proposals.

use autocomp_core::{ContentHash, MenuItem, PlanChoice, Seed};
use std::collections::BTreeMap;

/// Places from which on choice is no freer.
const MOST_PLACES: u32 = 8;

/// How proposals are ranked. Scores, and all of these, are in units of the natural logarithm of
/// an estimated cost; lower is better.
#[derive(Clone, Copy, Debug)]
pub struct Ranking {
    /// How far chance may move a proposal at the first place; more at later ones.
    pub temperature: f64,
    /// What it costs a proposal that no item of the menu names it.
    pub off_menu: f64,
    /// What it costs a proposal for each better one of the same kind.
    pub alike: f64,
}

/// A proposal as it is ranked.
#[derive(Clone, Debug)]
pub struct Proposed<K, T> {
    /// The proposal.
    pub proposal: T,
    /// Its score.
    pub score: f64,
    /// Name of the random stream that moves it: another one for each proposal of a kernel.
    pub stream: String,
    /// Whether an item of the menu names it.
    pub is_named: bool,
    /// Proposals of one kind teach less than proposals of several.
    pub kind: K,
    /// Whether an earlier iteration asked for it: those behind it are ranked as if it were
    /// there, but it is not in the order.
    pub is_earlier: bool,
}

/// Chance, as it is for one kernel, iteration and place.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    temperature: f64,
    seed: Seed,
}

impl Ranking {
    /// Returns the chance for a request.
    #[must_use]
    pub fn chance(&self, source: &str, choice: PlanChoice<'_>) -> Chance {
        let PlanChoice {
            iteration, place, ..
        } = choice;
        Chance {
            temperature: self.temperature * f64::from(1 + place.min(MOST_PLACES)),
            seed: kernel_seed(source).derive(&format!("iteration {iteration} place {place}")),
        }
    }

    /// Returns proposals in the order in which plans try them.
    pub fn order<K: Ord, T>(
        &self,
        chance: Chance,
        proposals: impl IntoIterator<Item = Proposed<K, T>>,
    ) -> Vec<T> {
        let mut order: Vec<(f64, K, Option<T>)> = proposals
            .into_iter()
            .map(|it| {
                let off = if it.is_named { 0.0 } else { self.off_menu };
                let score = chance.moved(it.score + off, &it.stream);
                (score, it.kind, (!it.is_earlier).then_some(it.proposal))
            })
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut better: BTreeMap<&K, f64> = BTreeMap::new();
        for (score, kind, _) in &mut order {
            let count = better.entry(kind).or_default();
            *score += self.alike * *count;
            *count += 1.0;
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0));
        order.into_iter().filter_map(|it| it.2).collect()
    }
}

impl Chance {
    /// Returns a score as chance moves it on the random stream `stream`.
    #[must_use]
    pub fn moved(&self, score: f64, stream: &str) -> f64 {
        score - self.temperature * gumbel(self.seed.derive(stream))
    }
}

/// Returns the seed of what is drawn for a kernel.
#[must_use]
pub fn kernel_seed(source: &str) -> Seed {
    let mut word = [0; 8];
    word.copy_from_slice(&ContentHash::of(source.as_bytes()).0[..8]);
    Seed(u64::from_le_bytes(word))
}

/// Returns the first of `items` that is in the menu.
#[must_use]
pub fn menu_item<'i>(
    items: impl IntoIterator<Item = &'i str>,
    menu: &[MenuItem],
) -> Option<&'i str> {
    let mut items = items.into_iter();
    items.find(|id| menu.iter().any(|item| item.id == *id))
}

/// Returns a sample of the standard Gumbel distribution: scores that it is added to and that are
/// then ordered are a sample without replacement.
fn gumbel(mut seed: Seed) -> f64 {
    // Never zero, so that both logarithms exist.
    let uniform = ((seed.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
    -(-uniform.ln()).ln()
}
