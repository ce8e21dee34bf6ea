//! What moves: bytes by buffer, beats at the port, lines behind the L2, and
//! where all that lies under the roofline.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

use super::attribution::covered;
use super::profiling::Lines;
use super::sequence::Sequence;
use crate::family::GemminiEvaluator;
use crate::platform::GemminiPlatform;
use crate::profile::{BufferTraffic, Cause, MemoryTraffic, RooflinePosition};
use autocomp_bare_metal::{PcSums, Session};
use autocomp_gemmini::timing::{Action, RecordedCommand, RecordedSpan, Unit};
use autocomp_riscv_machine::MemoryConfig;
use std::collections::BTreeMap;
use std::ops::Range;

/// Bytes of a line behind the L2.
pub(crate) const LINE_BYTES: u64 = 64;

/// What bytes in no buffer are shown as.
pub(super) const ELSEWHERE: &str = "elsewhere";

/// Returns what the memory system did, and the beats in and out at the port.
pub(super) fn memory_traffic(
    session: &mut Session<'_, GemminiPlatform>,
    sequence: &Sequence<'_>,
    (start, end): (u64, u64),
    whole: bool,
) -> (MemoryTraffic, [u64; 2]) {
    let spans = |spans: &[RecordedSpan]| match whole {
        true => covered(spans.iter().map(|it| (it.start, it.end)), start, end),
        false => 0,
    };
    let mut traffic = MemoryTraffic {
        arriving_cycles: spans(&sequence.arriving),
        outer_wait_cycles: spans(&sequence.outer),
        tlb_note: Cause::Tlb.absent_because().unwrap_or_default(),
        ..MemoryTraffic::default()
    };
    let Some(engine) = session.unit().timing() else {
        return (traffic, [0, 0]);
    };
    let counts = engine.memory_counts();
    traffic.l2_hits = counts.hits;
    traffic.l2_misses = counts.misses;
    traffic.lines_read = counts.lines_read;
    traffic.lines_written = counts.lines_written;
    traffic.tracked_cycles = counts.tracked_cycles;
    traffic.probes = counts.probes;
    traffic.core_requests = counts.core_requests;
    let stats = engine.stats();
    (traffic, [stats.read_beats, stats.write_beats])
}

/// Returns the index of the buffer that an address lies in.
pub(super) fn buffer_at(session: &Session<'_, GemminiPlatform>, address: u64) -> Option<usize> {
    let buffers = session.buffers().iter();
    let mut places = buffers.zip(&session.layout().addresses);
    places.position(|(buffer, first)| (*first..first + buffer.bytes() as u64).contains(&address))
}

/// Bytes moved by every instruction, to and from every buffer.
pub(super) struct Moved {
    /// First address of each buffer and that behind it.
    places: Vec<Range<u64>>,
    /// By place (that behind the last for bytes in no buffer), whether they
    /// left, and instruction.
    bytes: PcSums<(usize, bool, u64)>,
}

impl Moved {
    pub(super) fn new(session: &Session<'_, GemminiPlatform>) -> Self {
        let buffers = session.buffers().iter();
        let places = buffers.zip(&session.layout().addresses);
        Self {
            places: places
                .map(|(buffer, first)| *first..first + buffer.bytes() as u64)
                .collect(),
            bytes: PcSums::default(),
        }
    }

    #[inline]
    pub(super) fn add(&mut self, command: &RecordedCommand) {
        let Action::Move { address, bytes, .. } = command.action else {
            return;
        };
        let place = self.places.iter().position(|it| it.contains(&address));
        let key = (
            place.unwrap_or(self.places.len()),
            command.unit == Unit::Store,
            command.pc,
        );
        self.bytes.add(key, command.pc, u64::from(bytes));
    }
}

/// Returns what moved to and from every buffer, and last what moved elsewhere.
pub(super) fn buffer_traffic(
    session: &Session<'_, GemminiPlatform>,
    moved: Moved,
    evaluator: &GemminiEvaluator,
    lines: &mut Lines<'_>,
) -> Vec<BufferTraffic> {
    let buffers = session.buffers();
    let mut sums = vec![(0, 0, BTreeMap::<u32, u64>::new()); buffers.len() + 1];
    for ((place, left, pc), bytes) in moved.bytes.finish() {
        let sum = &mut sums[place];
        match left {
            true => sum.1 += bytes,
            false => sum.0 += bytes,
        }
        if let Some(line) = lines.of(pc) {
            *sum.2.entry(line).or_default() += bytes;
        }
    }
    let names = buffers
        .iter()
        .map(|buffer| {
            let name = buffer.name.as_str();
            (name, buffer.least_bytes(), buffer.dtype.bytes() as f64)
        })
        .chain([(ELSEWHERE, 0, 1.0)]);
    let macs = evaluator.problem().work.macs as f64;
    sums.into_iter()
        .zip(names)
        .filter(|((bytes_in, bytes_out, _), (_, minimum, _))| 0 < bytes_in + bytes_out + minimum)
        .map(
            |((bytes_in, bytes_out, by_line), (name, minimum, element))| {
                let dearest = by_line.into_iter().max_by_key(|(_, bytes)| *bytes);
                let reuse = |bytes: u64| {
                    (0 < bytes && 0 < minimum && 0.0 < macs).then(|| macs * element / bytes as f64)
                };
                BufferTraffic {
                    buffer: name.to_owned(),
                    bytes_in,
                    bytes_out,
                    minimum,
                    times: (0 < minimum).then(|| (bytes_in + bytes_out) as f64 / minimum as f64),
                    reuse: reuse(bytes_in + bytes_out),
                    reuse_possible: reuse(minimum),
                    line: dearest.map(|(line, _)| line),
                }
            },
        )
        .collect()
}

/// Cycles that what goes behind the L2 needs at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind {
    /// For the lines on their way there and back: one way for each direction, so that
    /// those read and those written may move at the same time.
    pub lines: u64,
    /// For dirty lines: each keeps one of the L2's trackers until its write is acknowledged.
    pub write_backs: u64,
    /// For these and lines that are read.
    pub(super) trackers: u64,
}

impl Behind {
    pub fn of(memory: &MemoryTraffic, config: &MemoryConfig) -> Self {
        let lines = memory.lines_read.max(memory.lines_written);
        let trackers = u64::from(config.l2_mshrs.max(1));
        Self {
            lines: lines * LINE_BYTES / u64::from(config.outer_bytes_per_cycle.max(1)),
            write_backs: memory.lines_written * config.write_back_cycles() / trackers,
            trackers: memory.tracked_cycles / trackers,
        }
    }
}

/// Returns where a call of `cycles` cycles lies under the roofline.
///
/// The port moves as many bytes in as out per cycle, both at the same time, so
/// its peak depends on how the traffic divides.
pub(super) fn roofline(
    evaluator: &GemminiEvaluator,
    buffers: &[BufferTraffic],
    behind: Behind,
    cycles: u64,
) -> RooflinePosition {
    let peak = evaluator.roofline().peak_macs;
    let width = f64::from(evaluator.platform().config.timing.load.beat_bytes);
    let bytes_in: u64 = buffers.iter().map(|it| it.bytes_in).sum();
    let bytes_out: u64 = buffers.iter().map(|it| it.bytes_out).sum();
    let bytes = bytes_in + bytes_out;
    let memory_cycles = (bytes_in.max(bytes_out) as f64 / width).ceil();
    // Lines under way when the call began or ended count as well.
    let outer_cycles = behind.lines.min(cycles);
    let write_back_cycles = behind.write_backs.min(cycles);
    let tracker_cycles = behind.trackers.min(cycles);
    let bandwidth = match bytes {
        0 => width,
        _ => bytes as f64 / memory_cycles.max(outer_cycles.max(tracker_cycles) as f64),
    };
    let macs = evaluator.problem().work.macs as f64;
    let macs_per_byte = (0 < bytes).then(|| macs / bytes as f64);
    RooflinePosition {
        macs_per_byte,
        ridge: peak / bandwidth,
        macs_per_cycle: macs / cycles.max(1) as f64,
        attainable: macs_per_byte.map_or(peak, |intensity| peak.min(intensity * bandwidth)),
        memory_cycles: memory_cycles as u64,
        outer_cycles,
        write_back_cycles,
        tracker_cycles,
        load_cycles: 0,
        compute_cycles: (macs / peak).ceil() as u64,
    }
}
