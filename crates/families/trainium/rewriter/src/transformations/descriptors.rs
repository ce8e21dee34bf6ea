//! Transfers whose addresses are known before the kernel runs have their descriptors made then.
//!
//! Fact: where nothing is said, a core of the second generation on has its descriptors made as the
//! kernel runs, one transfer after the other; those made ahead (`dge_mode=none`) lie in main memory
//! and start at once, as the vendor's reference on descriptors says.

use super::super::operation::{View, argument};
use super::super::source::Edits;
use super::{Change, each_place, keyword_edit};

/// Instructions that take the mode.
const TRANSFERS: &[&str] = &["dma_copy", "dma_transpose"];

/// One change of all transfers. Where one needs its descriptors made as it runs, the draft is
/// refused, and with it the change.
pub(super) fn changes(view: &View<'_>) -> Vec<Change> {
    if view.source.first_dialect() {
        return Vec::new();
    }
    let mut edits = Edits::default();
    let mut first = None;
    let mut transfers = 0;
    each_place(view, |place, _| {
        let Some(written) = view.written(place.statement()) else {
            return;
        };
        let says = |name| argument(written.call, usize::MAX, name).is_some();
        // Where a loaded number says where.
        let is_dynamic = view.text(written.call).contains("_offset=");
        if TRANSFERS.contains(&written.name.as_str())
            && !says("dge_mode")
            && !says("engine")
            && !is_dynamic
        {
            let mode = format!("{}.dge_mode.none", view.nisa);
            let (at, text) = keyword_edit(written.call, "dge_mode", &mode);
            edits.replace(at, text);
            first.get_or_insert(view.line(place.statement()));
            transfers += 1;
        }
    });
    let Some(line) = first else {
        return Vec::new();
    };
    let change = view.source.finish(edits).map(|source| Change {
        line,
        variant: String::new(),
        sentence: format!(
            "Make the descriptors of {} before the kernel runs.",
            match transfers {
                1 => format!("the transfer of line {line}"),
                _ => format!("all {transfers} transfers"),
            }
        ),
        source,
    });
    change.into_iter().collect()
}
