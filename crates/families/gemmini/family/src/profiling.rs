//! Makes a profile and a timeline of a recorded call.

use super::activities::timeline;
use super::attribution::{ChargeSums, Charges, attribute};
use super::core_location::locate;
use super::full_station;
use super::held_loops::loop_instructions;
use super::local_rows::{Occupancy, occupancy};
use super::sequence::Sequence;
use super::traffic::{
    Behind, ELSEWHERE, Moved, buffer_at, buffer_traffic, memory_traffic, roofline,
};
use super::units::{UNITS, busy_units, other_units};
use crate::bottleneck::WORTH_NAMING;
use crate::merits::Habits;
use crate::platform::GemminiPlatform;
use crate::profile::{
    Cause, CauseCycles, CoreCycles, FullStation, LineCycles, LineWait, LocalRows, Profile,
};
use autocomp_bare_metal::{Kernel, PcMap, RankedCall, Recorded};
use autocomp_eval::timeline::{Counter, Timeline};
use autocomp_gemmini::timing::{Action, Recording, Unit};
use autocomp_riscv_machine::Program;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Pairs of lines reported, longest waits first.
const MAX_WAITS: usize = 32;

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

/// Returns why sections of the reservation station were full: all of them, or
/// only of units that `wanted` names.
fn station(
    sequence: &Sequence<'_>,
    start: u64,
    end: u64,
    wanted: impl Fn(Unit) -> bool,
    lines: &mut Lines<'_>,
) -> Vec<FullStation> {
    let mut found = Vec::new();
    for (name, unit) in UNITS.into_iter().filter(|(_, unit)| wanted(*unit)) {
        let reasons = full_station::reasons(sequence, unit, start, end);
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

/// Returns the profile of a recorded call and, if wanted, its timeline.
///
/// Without a timeline it is for feedback, and what neither its paragraph nor
/// experiments need is left out: busy cycles of the array and of moves, reasons
/// for full entries that hardly cost anything, and times of the memory system.
pub(super) fn profile(
    call: &mut RankedCall<'_, '_, GemminiPlatform>,
    recorded: &Recorded<Recording>,
) -> (Profile, Option<Timeline>) {
    let (session, counts) = (&mut *call.session, call.counts);
    let (evaluator, kernel) = (call.trial.evaluator, call.trial.kernel);
    let with_timeline = call.trial.with_timeline;
    let machine = &evaluator.platform().config;
    let Recorded {
        recording,
        start,
        report,
        tally,
    } = recorded;
    let (start, end) = (*start, start + report.cycles);
    let mut moved = Moved::new(session);
    let station_config = &machine.timing.station;
    let entries = [station_config.load_entries, station_config.store_entries];
    let mut moves = [(0, 0); 2];
    let sequence = Sequence::new(recording, entries, |command| {
        if let Action::Move { address, bytes, .. } = command.action
            && address != 0
        {
            let (count, sum) = &mut moves[usize::from(command.unit == Unit::Store)];
            (*count, *sum) = (*count + 1, *sum + u64::from(bytes));
        }
        moved.add(command);
    });
    let (mut segments, mut charges) = (Vec::new(), ChargeSums::default());
    if with_timeline || tally.is_some() {
        attribute(&sequence, start, end, &mut segments);
        if let Some(tally) = tally {
            let queues = u64::from(machine.timing.frontend.queues);
            segments = locate(tally, segments, queues, session.memory());
        }
        segments.iter().for_each(|segment| charges.charge(*segment));
    } else {
        attribute(&sequence, start, end, &mut charges);
    }
    let charges = charges.finish();
    let mut lines = Lines {
        kernel,
        program: session.program(),
        known: HashMap::new(),
    };
    let buffers = buffer_traffic(session, moved, evaluator, &mut lines);
    let bytes_moved = buffers.iter().map(|it| it.bytes_in + it.bytes_out).sum();
    let core_lines = tally.as_ref().map_or_else(Vec::new, |tally| {
        let kernel = lines.kernel;
        let text = |line| line_text(kernel, line);
        tally.lines(session.memory(), |pc| lines.of(pc), text)
    });
    let (memory, port) = memory_traffic(session, &sequence, (start, end), with_timeline);
    let config = session.unit().functional().config();
    let [spad_used, acc_used] = counts.rows_used();
    let cycles = report.cycles;
    let problem = evaluator.problem();
    let loops = loop_instructions(&recording.commands);
    let loop_lines = loops.into_iter().filter_map(|pc| lines.of(pc)).collect();
    let (line_cycles, waits) = by_line(&charges, &loop_lines, &mut lines);
    let causes = by_cause(&charges, cycles);
    let matters = |unit| {
        let cause = full_station::cause(unit);
        let told = |it: &CauseCycles| it.cause == cause && WORTH_NAMING <= it.share;
        with_timeline || causes.iter().any(told)
    };
    let station = station(&sequence, start, end, matters, &mut lines);
    let mut units = match with_timeline {
        true => busy_units(&sequence, start, end),
        false => Vec::new(),
    };
    let over_time = |accumulator| {
        if with_timeline {
            let written = &counts.rows_touched[usize::from(accumulator)];
            occupancy(recording, accumulator, written, start, end)
        } else {
            Occupancy::default()
        }
    };
    let spad_size = u64::from(config.spad_rows());
    let acc_size = u64::from(config.acc_rows());
    let (spad, acc) = (over_time(false), over_time(true));
    let memory_config = &machine.timing.memory;
    let behind = Behind::of(&memory, memory_config);
    let widest = u64::from(config.dim * config.dma_max_bytes);
    let tile = u64::from(config.dim * config.dim * config.element_bytes());
    let ways = [
        ("port-in", port[0], port[0]),
        ("port-out", port[1], port[1]),
        (
            "outer-memory",
            behind.lines,
            memory.lines_read + memory.lines_written,
        ),
        (
            "l2-trackers",
            behind.trackers,
            memory.lines_read + memory.lines_written,
        ),
    ];
    units.extend(other_units(report, ways));
    let mut profile = Profile {
        cycles,
        ideal_cycles: evaluator.ideal_cycles(),
        percent_of_peak: 100.0 * evaluator.ideal_cycles() as f64 / cycles.max(1) as f64,
        bottleneck: String::new(),
        causes,
        lines: line_cycles,
        waits,
        what_if: Vec::new(),
        remedy: None,
        habits: Habits::of(recording.fences.len(), moves, widest, tile),
        units,
        station,
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
        roofline: roofline(evaluator, &buffers, behind, cycles),
        buffers,
        bytes_moved,
        bytes_minimum: problem.work.bytes,
        unrecorded_commands: recording.dropped,
    };
    let load = &machine.timing.load;
    let is_one_by_one = match load.commands_in_flight {
        0 => load.packets < config.dim,
        most => most == 1,
    };
    if is_one_by_one && profile.habits.wide_moves {
        profile.roofline.load_cycles = sequence.busy(Unit::Load, start, end);
    }
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

/// Cycles by cause, instruction charged and instruction that waits.
type Charged = PcMap<(Cause, Option<u64>, Option<u64>), u64>;

fn by_cause(charges: &Charged, cycles: u64) -> Vec<CauseCycles> {
    let mut sums = [0; Cause::ALL.len()];
    for ((cause, ..), cycles) in charges {
        sums[*cause as usize] += cycles;
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

fn by_line(
    charges: &Charged,
    loop_lines: &BTreeSet<u32>,
    lines: &mut Lines<'_>,
) -> (Vec<LineCycles>, Vec<LineWait>) {
    let mut sums: BTreeMap<Option<u32>, BTreeMap<Cause, u64>> = BTreeMap::new();
    let mut waits: BTreeMap<(u32, u32, Cause), u64> = BTreeMap::new();
    for (&(cause, pc, waiting), &cycles) in charges {
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
            loop_unit: line.is_some_and(|line| loop_lines.contains(&line)),
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
