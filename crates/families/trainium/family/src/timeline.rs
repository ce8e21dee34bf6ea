//! The schedule of a kernel as a timeline that trace viewers read.

use autocomp_eval::timeline::{Activity, Counter, Timeline, Track};
use std::collections::BTreeMap;

use autocomp_trainium_sim::timing;
use autocomp_trainium_sim::trace::Engine;

/// Tracks from top to bottom.
fn track(engine: Engine) -> Track {
    let (place, name) = match engine {
        Engine::Dma => (1, "DMA"),
        Engine::Tensor => (2, "tensor engine"),
        Engine::Vector => (3, "vector engine"),
        Engine::Scalar => (4, "scalar engine"),
        Engine::Gpsimd => (5, "gpsimd engine"),
        Engine::Sync => (6, "sequencer"),
    };
    Track { place, name }
}

/// The launch, one activity for each instruction, and the bytes under way, in nanoseconds from
/// the call. The launch takes `launch_ns` of the latency; it is drawn in front of all else, since
/// nothing is known of when it happens.
pub(super) fn timeline(schedule: &timing::Timeline, launch_ns: f64, source: &str) -> Timeline {
    let nanoseconds = |time: f64| (launch_ns + time).max(0.0).round() as u64;
    let mut activities = Vec::with_capacity(schedule.slots.len() + 1);
    let launch = Track {
        place: 0,
        name: "launch",
    };
    activities.push(Activity::new(launch, "launch", 0, nanoseconds(0.0)));
    let mut changes: BTreeMap<u64, i64> = BTreeMap::new();
    for scheduled in schedule.scheduled() {
        let slot = scheduled.slot;
        // A transfer is under way until its bytes have arrived; an engine is free earlier.
        let end = match slot.engine {
            Engine::Dma => slot.done,
            _ => slot.released,
        };
        let (start, end) = (nanoseconds(slot.start), nanoseconds(end));
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
