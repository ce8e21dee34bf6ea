//! The convolution loop unit: five generators behind address pipelines.
//!
//! The commands of each generator are known when a loop starts; what is
//! stepped cycle by cycle is when each can leave.

use super::frontend::Emitted;
use crate::config::GemminiConfig;
use crate::loop_conv::{ConvLoop, Phase};

const BIAS: usize = 0;
const INPUT: usize = 1;
const WEIGHTS: usize = 2;
const EX: usize = 3;
const ST: usize = 4;
/// Order of priority of the generators.
const PRIORITY: [usize; 5] = [ST, EX, BIAS, WEIGHTS, INPUT];
/// Section of the reservation station that each generator fills.
const SECTION: [usize; 5] = [0, 0, 0, 2, 1];
/// In a stage of an address pipeline without a command.
const EMPTY: u32 = u32::MAX;
/// Longest address pipeline.
const STAGES: usize = 8;

#[derive(Clone, Debug)]
struct Slot {
    phases: [Phase; 5],
    pc: u64,
    started: [bool; 5],
    completed: [bool; 5],
    running: bool,
}

/// How far the generators are with a loop.
#[derive(Clone, Copy, Debug)]
struct Progress {
    started: [bool; 5],
    pub completed: [bool; 5],
    running: bool,
}

#[derive(Clone, Copy, Debug)]
struct Generator {
    busy: bool,
    of: usize,
    next: usize,
    /// Cycles that it passes before the next command, or before it is idle.
    pause: u32,
    /// Commands in the address pipeline by number, the oldest last, and how many
    /// there are.
    stages: [u32; STAGES],
    filled: u32,
}

impl Generator {
    /// A generator that has nothing to do.
    const IDLE: Self = Self {
        busy: false,
        of: 0,
        next: 0,
        pause: 0,
        stages: [EMPTY; STAGES],
        filled: 0,
    };

    #[inline]
    fn is_idle(&self) -> bool {
        !self.busy && self.filled == 0
    }
}

#[derive(Clone, Debug)]
pub(super) struct ConvUnit {
    slots: [Option<Slot>; 2],
    head: usize,
    generators: [Generator; 5],
    latency: usize,
    /// Commands sent and not completed, by section.
    pub(super) outstanding: [u32; 3],
    limits: [u32; 3],
    /// The last cycle changed nothing: none does until a command can leave or a loop begins.
    is_still: bool,
}

impl ConvUnit {
    pub(super) fn new(limits: [u32; 3], latency: u32) -> Self {
        Self {
            slots: [None, None],
            head: 0,
            generators: [Generator::IDLE; 5],
            latency: (latency as usize).clamp(1, STAGES),
            outstanding: [0; 3],
            limits,
            is_still: false,
        }
    }

    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.slots[0].is_some() || self.slots[1].is_some()
    }

    pub(super) fn has_room(&self) -> bool {
        self.slots.iter().any(Option::is_none)
    }

    /// Takes a loop; effective from the next cycle on.
    pub(super) fn start(&mut self, plan: &ConvLoop, config: &GemminiConfig, pc: u64) {
        let slot = if self.slots[self.head].is_some() {
            1 - self.head
        } else {
            self.head
        };
        self.is_still = false;
        self.slots[slot] = Some(Slot {
            phases: plan.phases(config),
            pc,
            started: [false; 5],
            completed: [false; 5],
            running: false,
        });
    }

    /// Does one cycle; `room` says whether a command can leave. Returns what
    /// left and whether anything changed.
    pub(super) fn step(&mut self, room: bool) -> (Option<Emitted>, bool) {
        let granted = room.then(|| self.granted()).flatten();
        if self.is_still && granted.is_none() {
            return (None, false);
        }
        let stepped = self.advance(granted);
        self.is_still = !stepped.1;
        stepped
    }

    /// Returns the generator whose command can leave.
    #[inline]
    fn granted(&self) -> Option<usize> {
        let last = self.latency - 1;
        PRIORITY.into_iter().find(|generator| {
            let section = SECTION[*generator];
            self.generators[*generator].stages[last] != EMPTY
                && self.outstanding[section] < self.limits[section]
        })
    }

    /// Does one cycle in which the command of generator `granted` leaves.
    fn advance(&mut self, granted: Option<usize>) -> (Option<Emitted>, bool) {
        let mut changed = false;
        let idle: [bool; 5] = self.generators.map(|generator| generator.is_idle());
        let of: [usize; 5] = self.generators.map(|generator| generator.of);
        let status: [Option<Progress>; 2] = std::array::from_fn(|slot| {
            self.slots[slot].as_ref().map(|slot| Progress {
                started: slot.started,
                completed: slot.completed,
                running: slot.running,
            })
        });
        let ex_waits = status[of[EX]].is_some_and(
            |Progress {
                 started, completed, ..
             }| {
                started[EX]
                    && !completed[EX]
                    && !(completed[BIAS] && completed[INPUT] && completed[WEIGHTS])
            },
        );
        let loads_done = [BIAS, INPUT, WEIGHTS]
            .iter()
            .all(|load| of[*load] != of[EX] || idle[*load]);
        let ex_done = of[EX] != of[ST] || idle[EX];

        let last = self.latency - 1;
        let mut emitted = None;
        for generator in 0..5 {
            if idle[generator] {
                continue;
            }
            let may_enter = match generator {
                EX => loads_done,
                ST => ex_done,
                _ => !(ex_waits && of[generator] != of[EX]),
            };
            let state = &mut self.generators[generator];
            let Some(slot) = &self.slots[state.of] else {
                continue;
            };
            let phase = &slot.phases[generator];
            if granted == Some(generator) {
                let number = std::mem::replace(&mut state.stages[last], EMPTY);
                state.filled -= 1;
                emitted = Some(Emitted {
                    instruction: phase.commands[number as usize],
                    pc: slot.pc,
                });
                self.outstanding[SECTION[generator]] += 1;
                changed = true;
            }
            for stage in (0..last).rev() {
                if state.stages[stage + 1] == EMPTY && state.stages[stage] != EMPTY {
                    state.stages.swap(stage, stage + 1);
                    changed = true;
                }
            }
            if !state.busy {
                continue;
            }
            if state.pause > 0 {
                state.pause -= 1;
                changed = true;
            } else if may_enter && state.stages[0] == EMPTY {
                state.stages[0] = state.next as u32;
                state.filled += 1;
                state.next += 1;
                state.pause = phase.pause(state.next);
                changed = true;
            }
            state.busy = state.next < phase.commands.len() || state.pause > 0;
        }
        changed |= self.advance_slots(&idle, &of, &status);
        (emitted, changed)
    }

    /// Starts and ends the generators' work on the two loops.
    fn advance_slots(
        &mut self,
        idle: &[bool; 5],
        of: &[usize; 5],
        status: &[Option<Progress>; 2],
    ) -> bool {
        let mut changed = false;
        for generator in 0..5 {
            if idle[generator]
                && let Some(Progress {
                    started,
                    completed,
                    running: true,
                }) = status[of[generator]]
                && started[generator]
                && !completed[generator]
                && let Some(slot) = &mut self.slots[of[generator]]
            {
                slot.completed[generator] = true;
                changed = true;
            }
        }
        for generator in 0..5 {
            let head_started = status[self.head].is_none_or(|progress| progress.started[generator]);
            let target = if head_started {
                1 - self.head
            } else {
                self.head
            };
            let Some(Progress { started, .. }) = status[target] else {
                continue;
            };
            let ready = idle[generator]
                && !started[generator]
                && match generator {
                    EX => started[BIAS] && started[INPUT] && started[WEIGHTS],
                    ST => started[EX],
                    _ => true,
                };
            if ready && let Some(slot) = &mut self.slots[target] {
                slot.started[generator] = true;
                slot.running = true;
                let phase = &slot.phases[generator];
                let pause = phase.pause(0);
                self.generators[generator] = Generator {
                    busy: !phase.commands.is_empty() || pause > 0,
                    of: target,
                    pause,
                    ..Generator::IDLE
                };
                changed = true;
            }
        }
        if let Some(Progress {
            completed,
            running: true,
            ..
        }) = status[self.head]
            && completed == [true; 5]
        {
            self.slots[self.head] = None;
            self.head = 1 - self.head;
            changed = true;
        }
        changed
    }
}
