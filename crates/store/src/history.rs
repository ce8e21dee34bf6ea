//! The canonical history as text.

use autocomp_core::{ContentHash, Event, canonical_history};

/// Returns the canonical history of a run, one JSON object per line.
///
/// It is the same for every run of the same settings and seed with
/// deterministic proposers, whatever the number of workers and interruptions.
#[must_use]
pub fn history_lines<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    let mut lines = String::new();
    for event in canonical_history(events) {
        let line = serde_json::to_string(&event).expect("events have string keys only");
        lines.push_str(&line);
        lines.push('\n');
    }
    lines
}

/// Returns the hash of [`history_lines`]: equal for equal histories.
#[must_use]
pub fn history_hash<'a>(events: impl IntoIterator<Item = &'a Event>) -> ContentHash {
    ContentHash::of(history_lines(events).as_bytes())
}
