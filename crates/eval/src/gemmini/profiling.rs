//! Makes a profile and a timeline of a recorded call.

use super::activities::timeline;
use super::apart::CallCounts;
use super::attribution::{Segment, attribute, covered};
use super::core_lines::CoreTally;
use super::evaluator::GemminiEvaluator;
use super::findings::Kernel;
use super::full_station;
use super::local_rows::{Occupancy, occupancy};
use super::ordered::Ordered;
use super::pc_map::PcMap;
use super::session::Session;
use crate::profile::{
    BufferTraffic, Cause, CauseCycles, CoreCycles, FullStation, LineCycles, LineWait, LocalRows,
    MemoryTraffic, Profile, RooflinePosition, UnitCycles,
};
use crate::timeline::{Counter, Timeline};
use autocomp_gemmini::timing::{Action, RecordedSpan, Recording, Unit};
use autocomp_sim::{CallReport, Program};
use std::collections::{BTreeMap, HashMap};

/// Pairs of lines reported, longest waits first.
const MAX_WAITS: usize = 32;

/// Bytes of a line behind the L2.
const LINE_BYTES: u64 = 64;

/// What bytes in no buffer are shown as.
const ELSEWHERE: &str = "elsewhere";

/// Units with a section of the reservation station each.
const UNITS: [(&str, Unit); 3] = [
    ("array", Unit::Execute),
    ("load", Unit::Load),
    ("store", Unit::Store),
];

/// A recorded call.
pub(super) struct Recorded {
    pub(super) recording: Recording,
    /// Cycle at which the call began.
    pub(super) start: u64,
    pub(super) report: CallReport,
    /// What the core did, if that was observed.
    pub(super) tally: Option<CoreTally>,
}

/// Lines of instructions, looked up once each.
pub(super) struct Lines<'a> {
    kernel: Kernel<'a>,
    program: &'a Program,
    known: HashMap<u64, Option<u32>>,
}

impl Lines<'_> {
    pub(super) fn of(&mut self, pc: u64) -> Option<u32> {
        let (kernel, program) = (self.kernel, self.program);
        *self
            .known
            .entry(pc)
            .or_insert_with(|| Some(kernel.location(program, pc)?.line))
    }

    pub(super) fn text(&self, line: u32) -> String {
        line_text(self.kernel, line)
    }
}

fn line_text(kernel: Kernel<'_>, line: u32) -> String {
    let lines = kernel.source.lines();
    let text = lines.skip(line.saturating_sub(1) as usize).map(str::trim);
    text.take(1).collect()
}

/// Returns what the memory system did, and the beats in and out at the port.
fn memory_traffic(
    session: &mut Session<'_>,
    ordered: &Ordered<'_>,
    start: u64,
    end: u64,
) -> (MemoryTraffic, [u64; 2]) {
    let spans =
        |spans: &[RecordedSpan]| covered(spans.iter().map(|it| (it.start, it.end)), start, end);
    let mut traffic = MemoryTraffic {
        arriving_cycles: spans(&ordered.arriving),
        outer_wait_cycles: spans(&ordered.outer),
        tlb_note: Cause::Tlb.absent_because().unwrap_or_default(),
        ..MemoryTraffic::default()
    };
    let Some(engine) = session.accelerator().timing() else {
        return (traffic, [0, 0]);
    };
    let counts = engine.memory_counts();
    traffic.l2_hits = counts.hits;
    traffic.l2_misses = counts.misses;
    traffic.lines_read = counts.lines_read;
    traffic.lines_written = counts.lines_written;
    traffic.probes = counts.probes;
    traffic.core_requests = counts.core_requests;
    let stats = engine.stats();
    (traffic, [stats.read_beats, stats.write_beats])
}

/// Returns why sections of the reservation station were full.
fn station(ordered: &Ordered<'_>, start: u64, end: u64, lines: &mut Lines<'_>) -> Vec<FullStation> {
    let mut found = Vec::new();
    for (name, unit) in UNITS {
        let reasons = full_station::reasons(ordered, unit, start, end);
        if reasons.cycles == 0 {
            continue;
        }
        let mut most = |by_pc: &PcMap<u64, u64>| {
            let mut by_line: BTreeMap<u32, u64> = BTreeMap::new();
            for (pc, cycles) in by_pc {
                if let Some(line) = lines.of(*pc) {
                    *by_line.entry(line).or_default() += cycles;
                }
            }
            let most = by_line.into_iter().max_by_key(|(_, cycles)| *cycles);
            most.map(|(line, _)| line)
        };
        found.push(FullStation {
            unit: name,
            cycles: reasons.cycles,
            working_cycles: reasons.working,
            arriving_cycles: reasons.arriving,
            outer_wait_cycles: reasons.outer,
            waiting_cycles: reasons.waiting,
            line: most(&reasons.blocked),
            on_line: most(&reasons.waited_for),
        });
    }
    found
}

/// Returns the profile of a call that `session` has just made, with its
/// statistics reset before, and, if wanted, its timeline.
pub(super) fn profile(
    session: &mut Session<'_>,
    recorded: &Recorded,
    counts: &CallCounts,
    evaluator: &GemminiEvaluator,
    kernel: Kernel<'_>,
    with_timeline: bool,
) -> (Profile, Option<Timeline>) {
    let Recorded {
        recording,
        start,
        report,
        tally,
    } = recorded;
    let (start, end) = (*start, start + report.cycles);
    let ordered = Ordered::new(recording);
    let mut segments = attribute(&ordered, start, end);
    if let Some(tally) = tally {
        let queues = u64::from(evaluator.engine.config.timing.frontend.queues);
        segments = tally.locate(segments, queues, session.memory());
    }
    let mut lines = Lines {
        kernel,
        program: session.program(),
        known: HashMap::new(),
    };
    let buffers = buffer_traffic(session, &ordered, evaluator, &mut lines);
    let bytes_moved = buffers.iter().map(|it| it.bytes_in + it.bytes_out).sum();
    let core_lines = tally.as_ref().map_or_else(Vec::new, |tally| {
        let kernel = lines.kernel;
        let text = |line| line_text(kernel, line);
        tally.lines(session.memory(), |pc| lines.of(pc), text)
    });
    let (memory, port) = memory_traffic(session, &ordered, start, end);
    let config = session.accelerator().functional().config();
    let (spad_used, acc_used) = counts.rows_touched;
    let cycles = report.cycles;
    let problem = &evaluator.problem;
    let (line_cycles, waits) = by_line(&segments, &mut lines);
    let over_time = |accumulator, size| {
        if with_timeline {
            occupancy(recording, accumulator, size, start, end)
        } else {
            Occupancy::default()
        }
    };
    let spad_size = u64::from(config.spad_rows());
    let acc_size = u64::from(config.acc_rows());
    let (spad, acc) = (over_time(false, spad_size), over_time(true, acc_size));
    let outer_width = u64::from(
        evaluator
            .engine
            .config
            .timing
            .memory
            .outer_bytes_per_cycle
            .max(1),
    );
    let behind_l2 = memory.lines_read + memory.lines_written;
    let others = [
        ("port-in", port[0], port[0]),
        ("port-out", port[1], port[1]),
        (
            "outer-memory",
            behind_l2 * LINE_BYTES / outer_width,
            behind_l2,
        ),
    ];
    let mut profile = Profile {
        cycles,
        ideal_cycles: evaluator.ideal.0,
        percent_of_peak: 100.0 * evaluator.ideal.0 as f64 / cycles.max(1) as f64,
        bottleneck: String::new(),
        causes: by_cause(&segments, cycles),
        lines: line_cycles,
        waits,
        what_if: Vec::new(),
        units: units(&ordered, start, end, report, others),
        station: station(&ordered, start, end, &mut lines),
        memory,
        core: CoreCycles {
            instructions: report.instructions,
            issue_cycles: report.issue_cycles,
            accelerator_wait_cycles: report.core.accelerator_wait_cycles,
            fence_wait_cycles: report.core.fence_wait_cycles,
            data_miss_cycles: report.core.data_miss_cycles,
            fetch_miss_cycles: report.core.fetch_miss_cycles,
            misses_in_l2: recording.misses.iter().filter(|it| !it.outer).count() as u64,
            misses_behind_l2: recording.misses.iter().filter(|it| it.outer).count() as u64,
            mispredictions: report.core.mispredictions,
            lines: core_lines,
        },
        scratchpad: LocalRows {
            used: spad_used,
            size: spad_size,
            peak: with_timeline.then_some(spad.peak),
            over_time: spad.over_time,
        },
        accumulator: LocalRows {
            used: acc_used,
            size: acc_size,
            peak: with_timeline.then_some(acc.peak),
            over_time: acc.over_time,
        },
        roofline: roofline(evaluator, &buffers, cycles),
        buffers,
        bytes_moved,
        bytes_minimum: problem.work.bytes,
        unrecorded_commands: recording.dropped,
    };
    profile.describe();
    let timeline = with_timeline.then(|| {
        let buffer_at = |address| {
            let place = buffer_at(session, address);
            place.map_or(ELSEWHERE, |idx| session.buffers()[idx].name.as_str())
        };
        let tally = tally.as_ref();
        let mut timeline = timeline(recording, &segments, tally, start, &mut lines, buffer_at);
        timeline.counters.extend([
            Counter::new("scratchpad", "rows in use", spad.steps),
            Counter::new("accumulator", "rows in use", acc.steps),
        ]);
        timeline
    });
    (profile, timeline)
}

fn by_cause(segments: &[Segment], cycles: u64) -> Vec<CauseCycles> {
    let mut sums = [0; Cause::ALL.len()];
    for segment in segments {
        sums[segment.cause as usize] += segment.end - segment.start;
    }
    let mut causes: Vec<CauseCycles> = Cause::ALL
        .into_iter()
        .map(|cause| {
            let sum = sums[cause as usize];
            CauseCycles {
                cause,
                cycles: sum,
                share: sum as f64 / cycles.max(1) as f64,
                absent_because: cause.absent_because(),
            }
        })
        .collect();
    causes.sort_by_key(|it| std::cmp::Reverse(it.cycles));
    causes
}

fn by_line(segments: &[Segment], lines: &mut Lines<'_>) -> (Vec<LineCycles>, Vec<LineWait>) {
    // There are many segments, and few instructions.
    let mut by_pc: [PcMap<_, u64>; Cause::ALL.len()] = std::array::from_fn(|_| PcMap::default());
    for segment in segments {
        let sums = &mut by_pc[segment.cause as usize];
        *sums.entry((segment.pc, segment.waiting)).or_default() += segment.end - segment.start;
    }
    let of_cause = |cause: Cause| {
        let sums = std::mem::take(&mut by_pc[cause as usize]);
        sums.into_iter()
            .map(move |((pc, waiting), cycles)| (pc, waiting, cause, cycles))
    };
    let mut sums: BTreeMap<Option<u32>, BTreeMap<Cause, u64>> = BTreeMap::new();
    let mut waits: BTreeMap<(u32, u32, Cause), u64> = BTreeMap::new();
    for (pc, waiting, cause, cycles) in Cause::ALL.into_iter().flat_map(of_cause) {
        let line = pc.and_then(|pc| lines.of(pc));
        *sums.entry(line).or_default().entry(cause).or_default() += cycles;
        let waiting = waiting.and_then(|pc| lines.of(pc));
        if let (Some(waiting), Some(line)) = (waiting, line) {
            *waits.entry((waiting, line, cause)).or_default() += cycles;
        }
    }
    let mut by_line: Vec<LineCycles> = sums
        .into_iter()
        .map(|(line, causes)| LineCycles {
            line,
            text: line.map(|line| lines.text(line)).unwrap_or_default(),
            cycles: causes.values().sum(),
            causes,
        })
        .collect();
    by_line.sort_by_key(|line| std::cmp::Reverse(line.cycles));
    let mut waits: Vec<LineWait> = waits
        .into_iter()
        .map(|((line, on_line, cause), cycles)| LineWait {
            line,
            on_line,
            cause,
            cycles,
        })
        .collect();
    waits.sort_by_key(|wait| std::cmp::Reverse(wait.cycles));
    waits.truncate(MAX_WAITS);
    (by_line, waits)
}

fn units(
    ordered: &Ordered<'_>,
    start: u64,
    end: u64,
    report: &CallReport,
    others: [(&'static str, u64, u64); 3],
) -> Vec<UnitCycles> {
    let cycles = (end - start).max(1) as f64;
    let mut units = Vec::new();
    for (name, unit) in UNITS {
        let busy_cycles = ordered.busy(unit, start, end);
        let (held, commands) = ordered.held(unit);
        units.push(UnitCycles {
            unit: name,
            busy_cycles,
            occupancy: busy_cycles as f64 / cycles,
            commands,
            mean_entries: Some(held as f64 / cycles),
        });
    }
    for (unit, busy_cycles, commands) in others {
        // Beats under way when the call ended or began count once more.
        let busy_cycles = busy_cycles.min(end - start);
        units.push(UnitCycles {
            unit,
            busy_cycles,
            occupancy: busy_cycles as f64 / cycles,
            commands,
            mean_entries: None,
        });
    }
    let waited = report.core.accelerator_wait_cycles + report.core.fence_wait_cycles;
    let busy_cycles = report.issue_cycles.saturating_sub(waited);
    units.push(UnitCycles {
        unit: "core",
        busy_cycles,
        occupancy: busy_cycles as f64 / cycles,
        commands: report.instructions,
        mean_entries: None,
    });
    units
}

/// Returns the index of the buffer that an address lies in.
fn buffer_at(session: &Session<'_>, address: u64) -> Option<usize> {
    let buffers = session.buffers().iter();
    let mut places = buffers.zip(&session.layout().addresses);
    places.position(|(buffer, first)| (*first..first + buffer.bytes() as u64).contains(&address))
}

fn buffer_traffic(
    session: &Session<'_>,
    ordered: &Ordered<'_>,
    evaluator: &GemminiEvaluator,
    lines: &mut Lines<'_>,
) -> Vec<BufferTraffic> {
    let buffers = session.buffers();
    let mut by_pc: PcMap<(usize, u64), [u64; 2]> = PcMap::default();
    for unit in [Unit::Load, Unit::Store] {
        for command in ordered.of(unit) {
            let Action::Move { address, bytes, .. } = command.action else {
                continue;
            };
            let place = buffer_at(session, address).unwrap_or(buffers.len());
            let sums = by_pc.entry((place, command.pc)).or_default();
            sums[usize::from(unit == Unit::Store)] += bytes;
        }
    }
    let mut sums = vec![(0, 0, BTreeMap::<u32, u64>::new()); buffers.len() + 1];
    for ((place, pc), [bytes_in, bytes_out]) in by_pc {
        let sum = &mut sums[place];
        sum.0 += bytes_in;
        sum.1 += bytes_out;
        if let Some(line) = lines.of(pc) {
            *sum.2.entry(line).or_default() += bytes_in + bytes_out;
        }
    }
    let names = buffers
        .iter()
        .map(|buffer| {
            let name = buffer.name.as_str();
            (name, buffer.bytes() as u64, buffer.dtype.bytes() as f64)
        })
        .chain([(ELSEWHERE, 0, 1.0)]);
    let macs = evaluator.problem.work.macs as f64;
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
                    times: (bytes_in + bytes_out) as f64 / minimum.max(1) as f64,
                    reuse: reuse(bytes_in + bytes_out),
                    reuse_possible: reuse(minimum),
                    line: dearest.map(|(line, _)| line),
                }
            },
        )
        .collect()
}

/// The port moves as many bytes in as out per cycle, both at the same time, so
/// its peak depends on how the traffic divides.
fn roofline(
    evaluator: &GemminiEvaluator,
    buffers: &[BufferTraffic],
    cycles: u64,
) -> RooflinePosition {
    let peak = evaluator.roofline.peak_macs_per_cycle;
    let width = f64::from(evaluator.engine.config.timing.load.beat_bytes);
    let bytes_in: u64 = buffers.iter().map(|it| it.bytes_in).sum();
    let bytes_out: u64 = buffers.iter().map(|it| it.bytes_out).sum();
    let bytes = bytes_in + bytes_out;
    let memory_cycles = (bytes_in.max(bytes_out) as f64 / width).ceil();
    let bandwidth = match bytes {
        0 => width,
        _ => bytes as f64 / memory_cycles,
    };
    let macs = evaluator.problem.work.macs as f64;
    let macs_per_byte = macs / bytes.max(1) as f64;
    RooflinePosition {
        macs_per_byte,
        ridge: peak / bandwidth,
        macs_per_cycle: macs / cycles.max(1) as f64,
        attainable: peak.min(macs_per_byte * bandwidth),
        memory_cycles: memory_cycles as u64,
        compute_cycles: (macs / peak).ceil() as u64,
    }
}
