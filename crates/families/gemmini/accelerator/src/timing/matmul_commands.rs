//! The commands of the matrix loop unit's generators, one after the other.

use super::frontend::Pending;
use super::matmul_loop::{EX, Generator, LD_A, LD_B, LD_D, MatmulUnit, ST};
use crate::address::{LocalAddress, Tile};
use crate::isa::Instruction;
use crate::loop_ws::MatmulLoop;

impl MatmulUnit {
    /// Sends the next move of A or B.
    pub(super) fn emit_ab(&mut self, generator: usize, out: &mut Pending) {
        let state = self.generators[generator];
        let slot = self.loop_of(generator);
        let plan = &slot.plan;
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
        out.instruction = Instruction::Mvin {
            channel: u8::from(!a),
            dram: dram.wrapping_add(offset & 0xffff_ffff),
            tile: Tile {
                address,
                cols: cols as u16,
                rows: rows as u16,
            },
        };
        out.pc = slot.pc;
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
                self.falls_idle(generator);
            }
        }
    }

    /// Sends the next move of D.
    pub(super) fn emit_d(&mut self, out: &mut Pending) {
        let state = self.generators[LD_D];
        let slot = self.loop_of(LD_D);
        let plan = &slot.plan;
        let [bound_i, bound_j, _] = plan.parameters.bounds.map(u32::from);
        let (len, bytes) = if plan.run.low_d {
            (self.block_len, self.element_bytes)
        } else {
            (self.block_len_acc, self.acc_bytes)
        };
        let max_blocks = bound_j.min(len);
        let (tile, offset) = tile_of(
            plan,
            state.i,
            state.j,
            max_blocks,
            plan.parameters.strides[2],
            bytes,
        );
        let address = LocalAddress::accumulator(plan.c_tile(state.i, state.j), false, false);
        out.instruction = Instruction::Mvin {
            channel: 2,
            dram: plan.parameters.dram[2].wrapping_add(offset),
            tile: Tile { address, ..tile },
        };
        out.pc = slot.pc;
        if step_ij(&mut self.generators[LD_D], bound_i, bound_j, max_blocks) {
            self.falls_idle(LD_D);
        }
    }

    /// Returns whether the moves of the next multiplication's operands have
    /// been sent.
    pub(super) fn execute_is_due(&self) -> bool {
        let [a, b, d, state, _] = &self.generators;
        let done =
            |generator: usize, other: &Generator| other.of != state.of || !self.is_busy(generator);
        (done(LD_A, a) || a.k > state.k || (a.k == state.k && a.i > state.i))
            && (done(LD_B, b) || b.k > state.k || (a.k == state.k && b.j > state.j))
            && done(LD_D, d)
    }

    /// Sends the next preload or multiplication.
    pub(super) fn emit_execute(&mut self, out: &mut Pending) {
        let state = self.generators[EX];
        let slot = self.loop_of(EX);
        let plan = &slot.plan;
        out.pc = slot.pc;
        let [bound_i, bound_j, bound_k] = plan.parameters.bounds.map(u32::from);
        let [pad_i, pad_j, pad_k] = plan.parameters.pads;
        let size = |at: u32, bound: u32, pad: u16| {
            let dim = plan.dim as u16;
            if at + 1 == bound {
                dim - pad.min(dim - 1)
            } else {
                dim
            }
        };
        let (rows, depth) = (size(state.i, bound_i, pad_i), size(state.k, bound_k, pad_k));
        if !state.second {
            let cols = size(state.j, bound_j, pad_j);
            let stationary = if state.i == 0 {
                LocalAddress::scratchpad(plan.b_tile(state.k, state.j))
            } else {
                LocalAddress::none()
            };
            let accumulate = plan.run.accumulate || state.k > 0;
            let dest = LocalAddress::accumulator(plan.c_tile(state.i, state.j), accumulate, false);
            out.instruction = Instruction::Preload {
                stationary: Tile {
                    address: stationary,
                    cols,
                    rows: depth,
                },
                dest: Tile {
                    address: dest,
                    cols,
                    rows,
                },
            };
            self.generators[EX].second = true;
            return;
        }
        out.instruction = Instruction::Compute {
            preloaded: state.i == 0,
            a: Tile {
                address: LocalAddress::scratchpad(plan.a_tile(state.i, state.k)),
                cols: depth,
                rows,
            },
            bd: Tile {
                address: LocalAddress::none(),
                cols: plan.dim as u16,
                rows: plan.dim as u16,
            },
        };
        let next = &mut self.generators[EX];
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
                    self.falls_idle(EX);
                }
            }
        }
    }

    /// Returns whether the last command has been sent that makes what the next
    /// store moves.
    pub(super) fn store_is_due(&self) -> bool {
        let [_, b, _, ex, state] = &self.generators;
        let plan = &self.loop_of(ST).plan;
        let done = |generator: usize| {
            self.generators[generator].of != state.of || !self.is_busy(generator)
        };
        let [_, bound_j, bound_k] = plan.parameters.bounds.map(u32::from);
        let end = || state.j + self.store_blocks(plan).min(bound_j - state.j);
        if plan.run.is_resadd {
            // Stores follow the moves of the second operand, row by row.
            let (row, col) = (b.k, b.j);
            (done(LD_A) && done(LD_B)) || row > state.i || (row == state.i && col >= end())
        } else if done(EX) {
            true
        } else if ex.k + 1 != bound_k {
            false
        } else {
            let passes = matches!(plan.run.activation, 2 | 4);
            let end = end();
            !passes && (ex.j >= end || (ex.j + 1 == end && ex.i > state.i))
        }
    }

    /// Returns the most blocks that one store moves.
    #[inline]
    fn store_blocks(&self, plan: &MatmulLoop) -> u32 {
        if plan.run.full_c {
            1
        } else {
            u32::from(plan.parameters.bounds[1]).min(self.block_len)
        }
    }

    /// Sends the next move of C.
    pub(super) fn emit_store(&mut self, out: &mut Pending) {
        let state = self.generators[ST];
        let slot = self.loop_of(ST);
        let plan = &slot.plan;
        let [bound_i, bound_j, _] = plan.parameters.bounds.map(u32::from);
        let max_blocks = self.store_blocks(plan);
        let bytes = if plan.run.full_c {
            self.acc_bytes
        } else {
            self.element_bytes
        };
        let (tile, offset) = tile_of(
            plan,
            state.i,
            state.j,
            max_blocks,
            plan.parameters.strides[3],
            bytes,
        );
        let address =
            LocalAddress::accumulator(plan.c_tile(state.i, state.j), false, plan.run.full_c);
        out.instruction = Instruction::Mvout {
            dram: plan.parameters.dram[3].wrapping_add(offset),
            tile: Tile { address, ..tile },
        };
        out.pc = slot.pc;
        if step_ij(&mut self.generators[ST], bound_i, bound_j, max_blocks) {
            self.falls_idle(ST);
        }
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

/// Goes on to the next block of C or D; returns whether there is none.
fn step_ij(next: &mut Generator, bound_i: u32, bound_j: u32, blocks: u32) -> bool {
    next.i += 1;
    if next.i == bound_i {
        next.i = 0;
        next.j += blocks;
        if next.j >= bound_j {
            next.j = 0;
            return true;
        }
    }
    false
}
