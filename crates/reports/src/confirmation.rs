//! What those who confirm have found, in words.

use crate::change::times;
use autocomp_eval::text::grouped;
use autocomp_runner::Confirmation;

/// Returns what became of a kernel that was evaluated once more: its cost there, in the unit of
/// the machine that it was evaluated on, or why it was struck.
#[must_use]
pub fn confirmed_text(confirmation: &Confirmation) -> String {
    let Some(cost) = &confirmation.cost else {
        let finding = confirmation.finding.as_ref();
        let finding = finding.map_or_else(String::new, |it| format!(" ({it})"));
        return format!("struck: {}{finding}", confirmation.outcome);
    };
    let ratio = confirmation
        .ratio_to_baseline
        .map_or_else(String::new, |it| {
            format!(", {} times what the baseline takes there", times(it.value))
        });
    let device = confirmation.device.as_ref();
    let device = device.map_or_else(String::new, |it| format!(", on {it}"));
    format!(
        "right, {} {}{ratio}{device}",
        grouped(cost.value),
        cost.unit
    )
}
