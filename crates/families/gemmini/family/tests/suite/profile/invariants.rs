//! What holds for the profile of every kernel.

use super::trace::{check_trace, trace};
use autocomp_eval::timeline::Timeline;
use autocomp_gemmini_family::profile::{Cause, Profile};
use autocomp_gemmini_family::tracks;
use std::collections::BTreeMap;

/// Checks what holds for every profile.
pub fn check(profile: &Profile, timeline: &Timeline) {
    let sum = |parts: &mut dyn Iterator<Item = u64>| parts.sum::<u64>();
    let causes = sum(&mut profile.causes.iter().map(|it| it.cycles));
    let lines = sum(&mut profile.lines.iter().map(|it| it.cycles));
    assert_eq!((causes, lines), (profile.cycles, profile.cycles));
    let mut by_line: BTreeMap<Cause, u64> = BTreeMap::new();
    for (cause, cycles) in profile.lines.iter().flat_map(|line| &line.causes) {
        *by_line.entry(*cause).or_default() += cycles;
    }
    let named: Vec<Cause> = profile.causes.iter().map(|it| it.cause).collect();
    for cause in Cause::ALL {
        assert!(named.contains(&cause), "{cause:?} is not told");
    }
    for it in &profile.causes {
        let of_lines = by_line.get(&it.cause).copied().unwrap_or(0);
        assert_eq!(of_lines, it.cycles, "{:?}", it.cause);
    }
    assert_eq!(profile.cycles_of(Cause::Unrecorded), 0);
    assert_eq!(profile.cycles_of(Cause::Tlb), 0);
    // The track of causes covers the call without a hole or an overlap.
    let track = timeline.activities.iter();
    let mut track: Vec<(u64, u64)> = track
        .filter(|it| it.track == tracks::CAUSE)
        .map(|it| (it.start, it.duration))
        .collect();
    track.sort_unstable();
    let mut at = 0;
    for (start, cycles) in track {
        assert_eq!(start, at);
        at += cycles;
    }
    assert_eq!(at, profile.cycles);
    for unit in &profile.units {
        assert!((0.0..=1.0).contains(&unit.occupancy), "{unit:?}");
        assert!(unit.busy_cycles <= profile.cycles, "{unit:?}");
    }
    for full in &profile.station {
        assert!(
            full.working_cycles + full.waiting_cycles <= full.cycles,
            "{full:?}"
        );
        let transfer = full.arriving_cycles + full.outer_wait_cycles;
        assert!(transfer <= full.working_cycles, "{full:?}");
    }
    let core = &profile.core;
    let issue = sum(&mut core.lines.iter().map(|it| it.issue_cycles));
    let waits = sum(&mut core.lines.iter().map(|it| it.wait_cycles));
    let instructions = sum(&mut core.lines.iter().map(|it| it.instructions));
    assert_eq!(issue + waits, core.issue_cycles);
    let unit = profile.units.iter().find(|it| it.unit == "core");
    let waited = core.accelerator_wait_cycles + core.fence_wait_cycles;
    assert_eq!(
        unit.expect("the core").busy_cycles,
        core.issue_cycles - waited
    );
    assert_eq!(instructions, core.instructions);
    for rows in [&profile.scratchpad, &profile.accumulator] {
        let peak = rows.peak.expect("worked out");
        assert!(peak <= rows.used && rows.used <= rows.size, "{rows:?}");
        assert!(!rows.over_time.is_empty() && rows.over_time.len() <= 64);
        assert!(
            rows.over_time.iter().all(|count| *count <= peak),
            "{rows:?}"
        );
    }
    let moved = sum(&mut profile.buffers.iter().map(|it| it.bytes_in + it.bytes_out));
    assert_eq!(moved, profile.bytes_moved);
    for buffer in &profile.buffers {
        assert_eq!(buffer.times.is_none(), buffer.minimum == 0, "{buffer:?}");
    }
    let roofline = &profile.roofline;
    assert!(roofline.moving_cycles() <= profile.cycles, "{roofline:?}");
    assert!(
        roofline.macs_per_cycle <= roofline.attainable,
        "{roofline:?}"
    );
    for experiment in &profile.what_if {
        assert!(
            profile.ideal_cycles <= experiment.cycles,
            "{experiment:?} beats what no kernel can beat"
        );
        assert_eq!(
            experiment.gain,
            profile.cycles.saturating_sub(experiment.cycles)
        );
    }
    assert!(profile.what_if.is_sorted_by_key(|it| it.cycles));
    check_trace(&trace(timeline));
}

/// What one experiment promises is not more than what is left to gain at all.
pub fn check_gains(paragraph: &str) {
    let gains: Vec<u64> = paragraph
        .split("at most ")
        .skip(1)
        .filter_map(|rest| rest.split(' ').next()?.parse().ok())
        .collect();
    let most = gains.iter().max();
    if paragraph.contains(" are left to gain.") {
        assert_eq!(gains.last(), most, "{paragraph}");
    }
    assert!(gains.iter().all(|gain| *gain <= 100), "{paragraph}");
}
