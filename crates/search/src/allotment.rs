//! How many plans, drafts and repairs an iteration may have.

use autocomp_core::SearchSettings;

/// The work of one iteration, as allotted before it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allotment {
    /// `slots[parent][plan]`: how many drafts each plan of each place may have.
    pub slots: Vec<Vec<u32>>,
    /// How many attempts at repairing it each draft may have.
    pub repairs: u32,
    /// Changes by the rewriter, over all survivors.
    pub polish: u32,
}

/// The part of an iteration's evaluations that polish takes at most.
const POLISH_SHARE: u32 = 4;

/// Allots the work of an iteration with `survivors` distinct parents, given that
/// `remaining` evaluations are left.
///
/// Slots are dealt in rounds: the first draft of the first plan of every
/// place, then of the second plan, and so on, then the second drafts. A
/// bounded budget is spread evenly over the iterations left, so that a small
/// one still searches deep: it gives each iteration its share, rounded up, and
/// no less than one slot per place while it lasts. Repairs are allowed as far
/// as every draft could have as many within what is left, so drafts come before
/// repairs when the budget runs out. What is not used comes back when the
/// iteration closes.
#[must_use]
pub fn allot(
    settings: &SearchSettings,
    iteration: u32,
    remaining: Option<u32>,
    survivors: u32,
) -> Allotment {
    let full = settings.drafts_per_iteration();
    let wanted = settings.polish * survivors;
    let (n_slots, repairs, polish) = match remaining {
        None => (full, settings.repairs, wanted),
        Some(remaining) => {
            let iterations_left = settings.iterations.saturating_sub(iteration) + 1;
            let share = remaining.div_ceil(iterations_left).max(settings.beam);
            let share = share.min(remaining);
            // Every place keeps its slot.
            let spare = share.saturating_sub(settings.beam);
            let polish = wanted.min(share / POLISH_SHARE).min(spare);
            let n_slots = (share - polish).min(full);
            let affordable = (remaining - polish).checked_div(n_slots).unwrap_or(1);
            (n_slots, (affordable - 1).min(settings.repairs), polish)
        }
    };
    let (beam, plans) = (settings.beam as usize, settings.plans as usize);
    let mut slots = vec![vec![0; plans]; beam];
    for slot in 0..n_slots as usize {
        slots[slot % beam][slot / beam % plans] += 1;
    }
    for plans in &mut slots {
        while plans.last() == Some(&0) {
            plans.pop();
        }
    }
    Allotment {
        slots,
        repairs,
        polish,
    }
}
