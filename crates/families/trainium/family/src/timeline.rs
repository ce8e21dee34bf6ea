//! The schedule of a kernel as a timeline that trace viewers read.

use autocomp_eval::timeline::{Activity, Counter, Timeline, Track};
use std::collections::BTreeMap;

use autocomp_trainium_sim::timing;
use autocomp_trainium_sim::trace::Engine;

/// Tracks from top to bottom.
fn track(engine: Engine) -> Track {
    let (place, name) = match engine {
        Engine::Dma => (0, "DMA"),
        Engine::Tensor => (1, "tensor engine"),
        Engine::Vector => (2, "vector engine"),
        Engine::Scalar => (3, "scalar engine"),
        Engine::Gpsimd => (4, "gpsimd engine"),
    };
    Track { place, name }
}

/// One activity for each instruction, in nanoseconds from the first one, and the bytes under way.
pub(super) fn timeline(schedule: &timing::Timeline, source: &str) -> Timeline {
    let nanoseconds = |time: f64| time.max(0.0).round() as u64;
    let mut activities = Vec::with_capacity(schedule.slots.len());
    let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
    for scheduled in schedule.scheduled() {
        let slot = scheduled.slot;
        let (start, end) = (nanoseconds(slot.start), nanoseconds(slot.released));
        let length = end.saturating_sub(start);
        let mut one = Activity::new(track(slot.engine), scheduled.name, start, length);
        one.line = (scheduled.line != 0).then_some(scheduled.line);
        one.bytes = scheduled.moved;
        if let Some(bytes) = scheduled.moved {
            *changes.entry(start).or_default() += bytes as i64;
            *changes.entry(nanoseconds(slot.done)).or_default() -= bytes as i64;
        }
        activities.push(one);
    }
    let mut level = 0i64;
    let steps = changes.into_iter().map(|(time, change)| {
        level += change;
        (time, level.max(0) as u64)
    });
    let counter = Counter::new("DMA", "bytes under way", steps.collect());
    let lines = source.lines().enumerate();
    Timeline {
        unit: "ns",
        activities,
        counters: vec![counter],
        texts: lines
            .map(|(at, text)| (at as u32 + 1, text.trim().to_owned()))
            .collect(),
    }
}
