//! The matrix loop unit: five generators that turn one command into moves,
//! preloads and multiplications.
//!
//! Stepped cycle by cycle while anything in it can move.

use crate::address::{LocalAddress, Tile};
use crate::isa::Instruction;
use crate::loop_ws::MatmulLoop;

/// Stages of one of the two loops.
const LD_A: usize = 0;
const LD_B: usize = 1;
const LD_D: usize = 2;
const EX: usize = 3;
const ST: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Slot {
    plan: MatmulLoop,
    pc: u64,
    started: [bool; 5],
    completed: [bool; 5],
    running: bool,
}

/// One generator: the loop it works for and where it is.
#[derive(Clone, Copy, Debug, Default)]
struct Generator {
    busy: bool,
    of: usize,
    i: u32,
    j: u32,
    k: u32,
    /// A multiplication follows (execute), or a later pass (stores).
    second: bool,
}

/// What a step of the unit did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emitted {
    pub(super) instruction: Instruction,
    pub(super) pc: u64,
}

#[derive(Clone, Debug)]
pub(super) struct MatmulUnit {
    slots: [Option<Slot>; 2],
    head: usize,
    generators: [Generator; 5],
    /// Commands sent and not completed, by section.
    pub(super) outstanding: [u32; 3],
    limits: [u32; 3],
    block_len: u32,
    block_len_acc: u32,
    element_bytes: u64,
    acc_bytes: u64,
}

impl MatmulUnit {
    pub(super) fn new(
        limits: [u32; 3],
        block_len: u32,
        block_len_acc: u32,
        element_bytes: u32,
        acc_bytes: u32,
    ) -> Self {
        Self {
            slots: [None; 2],
            head: 0,
            generators: [Generator::default(); 5],
            outstanding: [0; 3],
            limits,
            block_len: block_len.max(1),
            block_len_acc: block_len_acc.max(1),
            element_bytes: u64::from(element_bytes),
            acc_bytes: u64::from(acc_bytes),
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.slots.iter().any(Option::is_some)
    }

    pub(super) fn has_room(&self) -> bool {
        self.slots.iter().any(Option::is_none)
    }

    /// Takes a loop; effective from the next cycle on.
    pub(super) fn start(&mut self, plan: MatmulLoop, pc: u64) {
        let slot = if self.slots[self.head].is_some() {
            1 - self.head
        } else {
            self.head
        };
        self.slots[slot] = Some(Slot {
            plan,
            pc,
            started: [false; 5],
            completed: [false; 5],
            running: false,
        });
    }

    fn plan(&self, of: usize) -> MatmulLoop {
        self.slots[of]
            .as_ref()
            .expect("loop of a busy generator")
            .plan
    }

    /// Returns where in memory what a generator moves lies; 0: nowhere.
    fn dram(&self, generator: usize, of: usize) -> u64 {
        let operand = match generator {
            LD_A => 0,
            LD_B => 1,
            LD_D => 2,
            _ => 3,
        };
        self.plan(of).parameters.dram[operand]
    }

    /// Does one cycle; `room` says whether a command can leave. Returns what
    /// left and whether anything changed.
    pub(super) fn step(&mut self, room: bool) -> (Option<Emitted>, bool) {
        let mut changed = false;
        let idle_before: [bool; 5] = std::array::from_fn(|idx| !self.generators[idx].busy);
        let before = self.generators;
        // Completions and starts look at the state before this cycle.
        let slots_before = self.slots;
        let emitted = if room { self.emit(&before) } else { None };
        changed |= emitted.is_some();
        // What has no place in memory is there already, or stays.
        for generator in [LD_A, LD_B, LD_D, ST] {
            let state = before[generator];
            if state.busy && self.dram(generator, state.of) == 0 {
                self.generators[generator].busy = false;
                changed = true;
            }
        }
        for (generator, idle) in idle_before.into_iter().enumerate() {
            let of = before[generator].of;
            if idle
                && let Some(slot) = &mut self.slots[of]
                && slot.running
                && slot.started[generator]
                && !slot.completed[generator]
                && slots_before[of]
                    .is_some_and(|before| before.running && before.started[generator])
            {
                slot.completed[generator] = true;
                changed = true;
            }
        }
        for (generator, idle) in idle_before.into_iter().enumerate() {
            let head_started = slots_before[self.head].is_none_or(|slot| slot.started[generator]);
            let of = if head_started {
                1 - self.head
            } else {
                self.head
            };
            if !idle {
                continue;
            }
            let Some(before) = slots_before[of] else {
                continue;
            };
            let ready = !before.started[generator]
                && match generator {
                    EX => before.started[LD_A] && before.started[LD_B] && before.started[LD_D],
                    ST => before.plan.run.is_resadd || before.started[EX],
                    _ => true,
                };
            if ready {
                let slot = self.slots[of].as_mut().expect("slot in use");
                slot.started[generator] = true;
                slot.running = true;
                // The sum of two operands has no depth, no bias and no product.
                let resadd = slot.plan.run.is_resadd;
                let [bound_i, bound_j, bound_k] = slot.plan.parameters.bounds;
                let empty = bound_i == 0 || bound_j == 0 || (bound_k == 0 && !resadd);
                let skipped = resadd && (generator == EX || generator == LD_D);
                self.generators[generator] = Generator {
                    busy: !empty && !skipped,
                    of,
                    ..Generator::default()
                };
                changed = true;
            }
        }
        if let Some(head) = slots_before[self.head]
            && head.running
            && head.completed == [true; 5]
        {
            self.slots[self.head] = None;
            self.head = 1 - self.head;
            changed = true;
        }
        (emitted, changed)
    }

    fn full(&self, class: usize) -> bool {
        self.outstanding[class] >= self.limits[class]
    }

    /// Lets the generator with the highest priority send its command.
    fn emit(&mut self, state: &[Generator; 5]) -> Option<Emitted> {
        if state[ST].busy
            && !self.full(1)
            && let Some(emitted) = self.emit_store(state)
        {
            self.outstanding[1] += 1;
            return Some(emitted);
        }
        if state[EX].busy
            && !self.full(2)
            && let Some(emitted) = self.emit_execute(state)
        {
            self.outstanding[2] += 1;
            return Some(emitted);
        }
        if self.full(0) {
            return None;
        }
        let emitted = if state[LD_D].busy && self.dram(LD_D, state[LD_D].of) != 0 {
            self.emit_d(state[LD_D])
        } else if let Some(generator) = self.choose_load(state) {
            self.emit_ab(generator, state[generator])
        } else {
            return None;
        };
        self.outstanding[0] += 1;
        Some(emitted)
    }

    /// Chooses between the loads of A and B.
    fn choose_load(&self, state: &[Generator; 5]) -> Option<usize> {
        let (a, b) = (&state[LD_A], &state[LD_B]);
        let newest = self.slots[1 - self.head].or(self.slots[self.head]);
        let take_b = if newest.is_some_and(|slot| slot.plan.run.is_resadd) {
            // All of A comes before all of B.
            !a.busy || (a.of != b.of && b.of == self.head)
        } else if a.of != b.of && (a.of == self.head || b.of == self.head) {
            b.of == self.head
        } else if a.busy && b.busy {
            a.k > b.k || (b.k == 0 && b.j == 0)
        } else {
            !a.busy
        };
        let choice = if take_b { LD_B } else { LD_A };
        let sends = state[choice].busy && self.dram(choice, state[choice].of) != 0;
        sends.then_some(choice)
    }

    fn emit_ab(&mut self, generator: usize, state: Generator) -> Emitted {
        let plan = self.plan(state.of);
        let a = generator == LD_A;
        let [mut bounds, mut pads] =
            [plan.parameters.bounds, plan.parameters.pads].map(|of| of.map(u32::from));
        if plan.run.is_resadd {
            // Both operands have the shape of the result: A runs over columns and
            // B over rows where a product would run over its depth.
            let instead = usize::from(a);
            bounds[2] = bounds[instead];
            pads[2] = pads[instead];
        }
        let ([bound_i, bound_j, bound_k], [pad_i, pad_j, pad_k]) = (bounds, pads);
        let transpose = if a {
            plan.run.a_transpose
        } else {
            plan.run.b_transpose
        };
        // Rows and columns of the operand as it lies in memory.
        let (outer, inner) = if a {
            ((state.i, bound_i, pad_i), (state.k, bound_k, pad_k))
        } else {
            ((state.k, bound_k, pad_k), (state.j, bound_j, pad_j))
        };
        let (row, col) = if transpose {
            (inner, outer)
        } else {
            (outer, inner)
        };
        let max_blocks = col.1.min(self.block_len);
        let blocks = max_blocks.min(col.1 - col.0);
        let (dram, stride) = (
            plan.parameters.dram[usize::from(!a)],
            plan.parameters.strides[usize::from(!a)],
        );
        let offset = (u64::from(row.0)
            .wrapping_mul(stride)
            .wrapping_add(u64::from(col.0)))
        .wrapping_mul(u64::from(plan.dim) * self.element_bytes);
        let cols = blocks * plan.dim
            - if col.0 + blocks >= col.1 {
                col.2.min(plan.dim - 1)
            } else {
                0
            };
        let rows = plan.dim
            - if a && row.0 + 1 == row.1 {
                row.2.min(plan.dim - 1)
            } else {
                0
            };
        let address = if plan.run.is_resadd {
            LocalAddress::accumulator(plan.c_row + (row.0 * col.1 + col.0) * plan.dim, !a, false)
        } else {
            LocalAddress::scratchpad(if a {
                plan.a_tile(state.i, state.k)
            } else {
                plan.b_tile(state.k, state.j)
            })
        };
        let tile = Tile {
            address,
            cols: cols as u16,
            rows: rows as u16,
        };
        // The order is k, then the other iterator, blocks along the columns.
        let next = &mut self.generators[generator];
        let (fast, fast_bound, fast_step, slow_step) = if a {
            (
                &mut next.i,
                bound_i,
                if transpose { max_blocks } else { 1 },
                if transpose { 1 } else { max_blocks },
            )
        } else {
            (
                &mut next.j,
                bound_j,
                if transpose { 1 } else { max_blocks },
                if transpose { max_blocks } else { 1 },
            )
        };
        *fast += fast_step;
        if *fast >= fast_bound {
            *fast = 0;
            next.k += slow_step;
            if next.k >= bound_k {
                next.k = 0;
                next.busy = false;
            }
        }
        Emitted {
            instruction: Instruction::Mvin {
                channel: u8::from(!a),
                dram: dram.wrapping_add(offset & 0xffff_ffff),
                tile,
            },
            pc: self.slots[state.of].as_ref().map_or(0, |slot| slot.pc),
        }
    }

    fn emit_d(&mut self, state: Generator) -> Emitted {
        let plan = self.plan(state.of);
        let [bound_i, bound_j, _] = plan.parameters.bounds.map(u32::from);
        let (len, bytes) = if plan.run.low_d {
            (self.block_len, self.element_bytes)
        } else {
            (self.block_len_acc, self.acc_bytes)
        };
        let max_blocks = bound_j.min(len);
        let (tile, offset) = tile_of(
            &plan,
            state.i,
            state.j,
            max_blocks,
            plan.parameters.strides[2],
            bytes,
        );
        let address = LocalAddress::accumulator(plan.d_tile(state.i, state.j), false, false);
        let next = &mut self.generators[LD_D];
        step_ij(next, bound_i, bound_j, max_blocks);
        Emitted {
            instruction: Instruction::Mvin {
                channel: 2,
                dram: plan.parameters.dram[2].wrapping_add(offset),
                tile: Tile { address, ..tile },
            },
            pc: self.slots[state.of].as_ref().map_or(0, |slot| slot.pc),
        }
    }

    fn emit_execute(&mut self, all: &[Generator; 5]) -> Option<Emitted> {
        let state = all[EX];
        let (a, b, d) = (&all[LD_A], &all[LD_B], &all[LD_D]);
        let done = |other: &Generator| other.of != state.of || !other.busy;
        let a_ahead = done(a) || a.k > state.k || (a.k == state.k && a.i > state.i);
        let b_ahead = done(b) || b.k > state.k || (a.k == state.k && b.j > state.j);
        if !(a_ahead && b_ahead && done(d)) {
            return None;
        }
        let plan = self.plan(state.of);
        let [bound_i, bound_j, bound_k] = plan.parameters.bounds.map(u32::from);
        let [pad_i, pad_j, pad_k] = plan.parameters.pads.map(u32::from);
        let shrink = |at: u32, bound: u32, pad: u32| {
            (plan.dim
                - if at + 1 == bound {
                    pad.min(plan.dim - 1)
                } else {
                    0
                }) as u16
        };
        let (i, j, k) = (
            shrink(state.i, bound_i, pad_i),
            shrink(state.j, bound_j, pad_j),
            shrink(state.k, bound_k, pad_k),
        );
        let dim = plan.dim as u16;
        let next = &mut self.generators[EX];
        let instruction = if state.second {
            next.second = false;
            next.i += 1;
            if next.i == bound_i {
                next.i = 0;
                next.j += 1;
                if next.j == bound_j {
                    next.j = 0;
                    next.k += 1;
                    if next.k == bound_k {
                        next.k = 0;
                        next.busy = false;
                    }
                }
            }
            Instruction::Compute {
                preloaded: state.i == 0,
                a: Tile {
                    address: LocalAddress::scratchpad(plan.a_tile(state.i, state.k)),
                    cols: k,
                    rows: i,
                },
                bd: Tile {
                    address: LocalAddress::none(),
                    cols: dim,
                    rows: dim,
                },
            }
        } else {
            next.second = true;
            let stationary = if state.i == 0 {
                LocalAddress::scratchpad(plan.b_tile(state.k, state.j))
            } else {
                LocalAddress::none()
            };
            let accumulate = plan.run.accumulate || state.k > 0;
            Instruction::Preload {
                stationary: Tile {
                    address: stationary,
                    cols: j,
                    rows: k,
                },
                dest: Tile {
                    address: LocalAddress::accumulator(
                        plan.c_tile(state.i, state.j),
                        accumulate,
                        false,
                    ),
                    cols: j,
                    rows: i,
                },
            }
        };
        Some(Emitted {
            instruction,
            pc: self.slots[state.of].as_ref().map_or(0, |slot| slot.pc),
        })
    }

    fn emit_store(&mut self, all: &[Generator; 5]) -> Option<Emitted> {
        let state = all[ST];
        let plan = self.plan(state.of);
        if self.dram(ST, state.of) == 0 {
            return None;
        }
        let [bound_i, bound_j, bound_k] = plan.parameters.bounds.map(u32::from);
        let max_blocks = if plan.run.full_c {
            1
        } else {
            bound_j.min(self.block_len)
        };
        let blocks = max_blocks.min(bound_j - state.j);
        let done = |idx: usize| all[idx].of != state.of || !all[idx].busy;
        let ahead = if plan.run.is_resadd {
            // Stores follow the moves of the second operand, row by row.
            let (row, col) = (all[LD_B].k, all[LD_B].j);
            (done(LD_A) && done(LD_B))
                || row > state.i
                || (row == state.i && col >= state.j + blocks)
        } else {
            let ex = &all[EX];
            let passes = matches!(plan.run.activation, 2 | 4);
            done(EX)
                || (!passes
                    && ex.k + 1 == bound_k
                    && (ex.j >= state.j + blocks
                        || (ex.j + 1 == state.j + blocks && ex.i > state.i)))
        };
        if !ahead {
            return None;
        }
        let bytes = if plan.run.full_c {
            self.acc_bytes
        } else {
            self.element_bytes
        };
        let (tile, offset) = tile_of(
            &plan,
            state.i,
            state.j,
            max_blocks,
            plan.parameters.strides[3],
            bytes,
        );
        let address =
            LocalAddress::accumulator(plan.c_tile(state.i, state.j), false, plan.run.full_c);
        let next = &mut self.generators[ST];
        step_ij(next, bound_i, bound_j, max_blocks);
        Some(Emitted {
            instruction: Instruction::Mvout {
                dram: plan.parameters.dram[3].wrapping_add(offset),
                tile: Tile { address, ..tile },
            },
            pc: self.slots[state.of].as_ref().map_or(0, |slot| slot.pc),
        })
    }
}

/// Rows, columns and byte offset of block (i, j) of C or D.
fn tile_of(
    plan: &MatmulLoop,
    i: u32,
    j: u32,
    max_blocks: u32,
    stride: u64,
    bytes: u64,
) -> (Tile, u64) {
    let [bound_i, bound_j, _] = plan.parameters.bounds.map(u32::from);
    let [pad_i, pad_j, _] = plan.parameters.pads.map(u32::from);
    let blocks = max_blocks.min(bound_j - j);
    let cols = blocks * plan.dim
        - if j + blocks >= bound_j {
            pad_j.min(plan.dim - 1)
        } else {
            0
        };
    let rows = plan.dim
        - if i + 1 == bound_i {
            pad_i.min(plan.dim - 1)
        } else {
            0
        };
    let offset = (u64::from(i).wrapping_mul(stride).wrapping_add(u64::from(j)))
        .wrapping_mul(u64::from(plan.dim) * bytes)
        & 0xffff_ffff;
    (
        Tile {
            address: LocalAddress::none(),
            cols: cols as u16,
            rows: rows as u16,
        },
        offset,
    )
}

fn step_ij(next: &mut Generator, bound_i: u32, bound_j: u32, blocks: u32) {
    next.i += 1;
    if next.i == bound_i {
        next.i = 0;
        next.j += blocks;
        if next.j >= bound_j {
            next.j = 0;
            next.busy = false;
        }
    }
}
