//! Makes a profile and a timeline of a recorded call.

use super::attribution::{Segment, attribute, covered};
use super::evaluator::GemminiEvaluator;
use super::findings::Kernel;
use super::session::Session;
use crate::profile::{
    BufferTraffic, Cause, CauseCycles, CoreCycles, LineCycles, LineWait, LocalRows, Profile,
    RooflinePosition, UnitCycles,
};
use crate::timeline::{Activity, Timeline, Track};
use autocomp_gemmini::timing::{Action, RecordedCommand, Recording, Unit};
use autocomp_sim::{CallReport, Program};
use std::collections::{BTreeMap, HashMap};

/// Pairs of lines reported, longest waits first.
const MAX_WAITS: usize = 32;

/// A recorded call.
pub(super) struct Recorded {
    pub(super) recording: Recording,
    /// Cycle at which the call began.
    pub(super) start: u64,
    pub(super) report: CallReport,
}

/// Lines of instructions, looked up once each.
struct Lines<'a> {
    kernel: Kernel<'a>,
    program: &'a Program,
    known: HashMap<u64, Option<u32>>,
}

impl Lines<'_> {
    fn of(&mut self, pc: u64) -> Option<u32> {
        let (kernel, program) = (self.kernel, self.program);
        *self
            .known
            .entry(pc)
            .or_insert_with(|| Some(kernel.location(program, pc)?.line))
    }

    fn text(&self, line: u32) -> String {
        let lines = self.kernel.source.lines();
        let text = lines.skip(line.saturating_sub(1) as usize).map(str::trim);
        text.take(1).collect()
    }
}

/// Returns the profile of a call that `session` has just made, with its
/// statistics reset before, and, if wanted, its timeline.
pub(super) fn profile(
    session: &mut Session<'_>,
    recorded: &Recorded,
    evaluator: &GemminiEvaluator,
    kernel: Kernel<'_>,
    with_timeline: bool,
) -> (Profile, Option<Timeline>) {
    let Recorded {
        recording,
        start,
        report,
    } = recorded;
    let (start, end) = (*start, start + report.cycles);
    let beat_bytes = u64::from(evaluator.engine.config.timing.load.beat_bytes);
    let segments = attribute(recording, start, end, beat_bytes);
    let mut lines = Lines {
        kernel,
        program: session.program(),
        known: HashMap::new(),
    };
    let buffers = buffer_traffic(session, recording, &mut lines);
    let bytes_moved = buffers.iter().map(|it| it.bytes_in + it.bytes_out).sum();
    let functional = session.accelerator().functional();
    let config = functional.config();
    let (spad_used, acc_used) = functional.rows_touched();
    let cycles = report.cycles;
    let problem = &evaluator.problem;
    let (line_cycles, waits) = by_line(&segments, &mut lines);
    let mut profile = Profile {
        cycles,
        ideal_cycles: evaluator.ideal.0,
        percent_of_peak: 100.0 * evaluator.ideal.0 as f64 / cycles.max(1) as f64,
        bottleneck: String::new(),
        causes: by_cause(&segments, cycles),
        lines: line_cycles,
        waits,
        units: units(recording, start, end, report),
        core: CoreCycles {
            instructions: report.instructions,
            issue_cycles: report.issue_cycles,
            accelerator_wait_cycles: report.core.accelerator_wait_cycles,
            fence_wait_cycles: report.core.fence_wait_cycles,
            data_miss_cycles: report.core.data_miss_cycles,
            fetch_miss_cycles: report.core.fetch_miss_cycles,
            mispredictions: report.core.mispredictions,
        },
        scratchpad: LocalRows {
            used: spad_used,
            size: u64::from(config.spad_rows()),
        },
        accumulator: LocalRows {
            used: acc_used,
            size: u64::from(config.acc_rows()),
        },
        buffers,
        bytes_moved,
        bytes_minimum: problem.work.bytes,
        roofline: roofline(evaluator, bytes_moved, cycles),
        unrecorded_commands: recording.dropped,
    };
    profile.describe();
    let timeline = with_timeline.then(|| timeline(recording, &segments, start, &mut lines));
    (profile, timeline)
}

fn by_cause(segments: &[Segment], cycles: u64) -> Vec<CauseCycles> {
    let mut sums: BTreeMap<Cause, u64> = BTreeMap::new();
    for segment in segments {
        *sums.entry(segment.cause).or_default() += segment.end - segment.start;
    }
    let mut causes: Vec<CauseCycles> = sums
        .into_iter()
        .map(|(cause, sum)| CauseCycles {
            cause,
            cycles: sum,
            share: sum as f64 / cycles.max(1) as f64,
        })
        .collect();
    causes.sort_by_key(|it| std::cmp::Reverse(it.cycles));
    causes
}

fn by_line(segments: &[Segment], lines: &mut Lines<'_>) -> (Vec<LineCycles>, Vec<LineWait>) {
    let mut sums: BTreeMap<Option<u32>, BTreeMap<Cause, u64>> = BTreeMap::new();
    let mut waits: BTreeMap<(u32, u32, Cause), u64> = BTreeMap::new();
    for segment in segments {
        let cycles = segment.end - segment.start;
        let line = segment.pc.and_then(|pc| lines.of(pc));
        *sums
            .entry(line)
            .or_default()
            .entry(segment.cause)
            .or_default() += cycles;
        let waiting = segment.waiting.and_then(|pc| lines.of(pc));
        if let (Some(waiting), Some(line)) = (waiting, line) {
            *waits.entry((waiting, line, segment.cause)).or_default() += cycles;
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

fn units(recording: &Recording, start: u64, end: u64, report: &CallReport) -> Vec<UnitCycles> {
    let cycles = (end - start).max(1) as f64;
    let mut units = Vec::new();
    let of = |unit: Unit| recording.commands.iter().filter(move |it| it.unit == unit);
    for (name, unit) in [
        ("array", Unit::Execute),
        ("load", Unit::Load),
        ("store", Unit::Store),
    ] {
        let busy_cycles = match unit {
            Unit::Execute => {
                let spans = recording.operations.iter();
                covered(spans.map(|it| (it.start, it.end)), start, end)
            }
            _ => covered(of(unit).map(|it| (it.issued, it.completed)), start, end),
        };
        let held: u64 = of(unit)
            .map(|it| it.completed.saturating_sub(it.allocated))
            .sum();
        units.push(UnitCycles {
            unit: name,
            busy_cycles,
            occupancy: busy_cycles as f64 / cycles,
            commands: of(unit).count() as u64,
            mean_entries: Some(held as f64 / cycles),
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

fn buffer_traffic(
    session: &Session<'_>,
    recording: &Recording,
    lines: &mut Lines<'_>,
) -> Vec<BufferTraffic> {
    let buffers = session.buffers();
    let addresses = &session.layout().addresses;
    let mut sums = vec![(0, 0, BTreeMap::<u32, u64>::new()); buffers.len() + 1];
    for command in &recording.commands {
        let Action::Move { address, bytes, .. } = command.action else {
            continue;
        };
        let place = (0..buffers.len())
            .find(|idx| {
                let first = addresses[*idx];
                (first..first + buffers[*idx].bytes() as u64).contains(&address)
            })
            .unwrap_or(buffers.len());
        let sum = &mut sums[place];
        match command.unit {
            Unit::Store => sum.1 += bytes,
            _ => sum.0 += bytes,
        }
        if let Some(line) = lines.of(command.pc) {
            *sum.2.entry(line).or_default() += bytes;
        }
    }
    let names = buffers
        .iter()
        .map(|buffer| (buffer.name.as_str(), buffer.bytes() as u64))
        .chain([("elsewhere", 0)]);
    sums.into_iter()
        .zip(names)
        .filter(|((bytes_in, bytes_out, _), (_, minimum))| 0 < bytes_in + bytes_out + minimum)
        .map(|((bytes_in, bytes_out, by_line), (name, minimum))| {
            let dearest = by_line.into_iter().max_by_key(|(_, bytes)| *bytes);
            BufferTraffic {
                buffer: name.to_owned(),
                bytes_in,
                bytes_out,
                minimum,
                times: (bytes_in + bytes_out) as f64 / minimum.max(1) as f64,
                line: dearest.map(|(line, _)| line),
            }
        })
        .collect()
}

fn roofline(evaluator: &GemminiEvaluator, bytes: u64, cycles: u64) -> RooflinePosition {
    let peak = evaluator.roofline.peak_macs_per_cycle;
    let bandwidth = evaluator.roofline.bytes_per_cycle;
    let macs = evaluator.problem.work.macs as f64;
    let macs_per_byte = macs / bytes.max(1) as f64;
    RooflinePosition {
        macs_per_byte,
        ridge: peak / bandwidth,
        macs_per_cycle: macs / cycles.max(1) as f64,
        attainable: peak.min(macs_per_byte * bandwidth),
        memory_cycles: (bytes as f64 / bandwidth).ceil() as u64,
        compute_cycles: (macs / peak).ceil() as u64,
    }
}

fn timeline(
    recording: &Recording,
    segments: &[Segment],
    start: u64,
    lines: &mut Lines<'_>,
) -> Timeline {
    let mut activities = Vec::new();
    let mut add = |track, name: &str, from: u64, until: u64, line: Option<u32>, bytes| {
        activities.push(Activity {
            track,
            name: name.to_owned(),
            start: from.saturating_sub(start),
            cycles: until.saturating_sub(from),
            line,
            bytes,
        });
    };
    for segment in segments {
        let line = segment.pc.and_then(|pc| lines.of(pc));
        let name = segment.cause.name();
        add(Track::Cause, name, segment.start, segment.end, line, None);
    }
    for operation in &recording.operations {
        let name = match (operation.rows, operation.computes) {
            (0, _) => "configure",
            (_, true) => "multiply",
            (_, false) => "preload",
        };
        let line = lines.of(operation.pc);
        add(
            Track::Array,
            name,
            operation.start,
            operation.end,
            line,
            None,
        );
    }
    for command in &recording.commands {
        let RecordedCommand {
            issued, completed, ..
        } = *command;
        let (track, name) = match command.unit {
            Unit::Load => (Track::Load, "move in"),
            Unit::Store => (Track::Store, "move out"),
            Unit::Execute => continue,
        };
        if let Action::Move { bytes, .. } = command.action {
            let line = lines.of(command.pc);
            add(track, name, issued, completed, line, Some(bytes));
        }
    }
    for fence in &recording.fences {
        add(Track::Core, "fence", fence.start, fence.end, None, None);
    }
    Timeline { activities }
}
