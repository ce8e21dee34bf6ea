//! Menu dropout: each plan sees another part of the menu.

use autocomp_core::{MenuItem, Seed};
use std::borrow::Borrow;

/// Returns the part of the menu that one plan sees, in the menu's order.
///
/// Of the n regular items, `max(1, round(n · (1 - dropout)))` are kept, chosen
/// by `seed` with equal chance; the `other` item always stays. So the menu is
/// never empty (unless `menu` is), and all plans see equally many items.
#[must_use]
pub fn menu_after_dropout(
    menu: &[impl Borrow<MenuItem>],
    dropout: f64,
    seed: Seed,
) -> Vec<MenuItem> {
    let is_other = |idx: usize| menu[idx].borrow().id == MenuItem::OTHER;
    let regular: Vec<usize> = (0..menu.len()).filter(|idx| !is_other(*idx)).collect();
    let n_kept = ((regular.len() as f64 * (1.0 - dropout)).round() as usize).max(1);
    let mut drawn = regular.clone();
    let mut seed = seed;
    // The first steps of a Fisher-Yates shuffle: each subset is equally likely.
    for idx in 0..n_kept.min(drawn.len()) {
        let other = idx + seed.below(drawn.len() - idx);
        drawn.swap(idx, other);
    }
    drawn.truncate(n_kept);
    (0..menu.len())
        .filter(|idx| is_other(*idx) || drawn.contains(idx))
        .map(|idx| menu[idx].borrow().clone())
        .collect()
}
