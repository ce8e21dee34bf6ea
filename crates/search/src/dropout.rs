//! Menu dropout: each plan sees another part of the menu.

use autocomp_core::{Evaluation, MenuItem, Seed};
use std::borrow::Borrow;

/// Returns the items of a menu that a kernel has what they need for, or that need nothing.
pub(crate) fn fitting<I: Borrow<MenuItem>>(
    menu: impl IntoIterator<Item = I>,
    evaluation: &Evaluation,
) -> Vec<I> {
    let menu = menu.into_iter();
    menu.filter(|item| item.borrow().fits(evaluation) != Some(false))
        .collect()
}

/// Returns the part of the menu that one plan for a kernel sees, in the menu's order.
///
/// Items that the kernel lacks something for are left out. Of the n regular ones left,
/// `max(1, round(n · (1 - dropout)))` are kept: those that the kernel is known to have all for,
/// then by lot from `seed` with equal chance; the `other` item always stays. So the menu is
/// never empty (unless `menu` is), and all plans for a kernel see equally many items, unless
/// more are known to fit.
#[must_use]
pub fn menu_after_dropout(
    menu: &[impl Borrow<MenuItem>],
    evaluation: Option<&Evaluation>,
    dropout: f64,
    seed: Seed,
) -> Vec<MenuItem> {
    let menu: Vec<&MenuItem> = menu.iter().map(Borrow::borrow).collect();
    let menu = match evaluation {
        Some(evaluation) => fitting(menu, evaluation),
        None => menu,
    };
    let is_other = |idx: usize| menu[idx].id == MenuItem::OTHER;
    let is_known = |idx: &usize| evaluation.and_then(|it| menu[*idx].fits(it)) == Some(true);
    let regular = (0..menu.len()).filter(|idx| !is_other(*idx));
    let (known, mut drawn): (Vec<usize>, Vec<usize>) = regular.partition(is_known);
    let n_regular = known.len() + drawn.len();
    let n_kept = ((n_regular as f64 * (1.0 - dropout)).round() as usize).max(1);
    let n_drawn = n_kept.saturating_sub(known.len()).min(drawn.len());
    let mut seed = seed;
    // The first steps of a Fisher-Yates shuffle: each subset is equally likely.
    for idx in 0..n_drawn {
        let other = idx + seed.below(drawn.len() - idx);
        drawn.swap(idx, other);
    }
    drawn.truncate(n_drawn);
    let is_kept = |idx: usize| is_other(idx) || known.contains(&idx) || drawn.contains(&idx);
    (0..menu.len())
        .filter(|idx| is_kept(*idx))
        .map(|idx| menu[idx].clone())
        .collect()
}
