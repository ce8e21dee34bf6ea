//! Commands as the timing engine sees them: resolved against the configuration
//! in force, with the local rows they touch.

#![allow(missing_docs, reason = "public for the suite alone, see `inside`")]

mod moves;
mod range;

use crate::address::{LocalAddress, Tile};
use crate::config::GemminiConfig;
use crate::configuration::Configured;
use crate::isa::{Dataflow, Instruction};
pub(super) use moves::{LoadJob, StoreJob};
pub(super) use range::RowRange;

/// The three sections of the reservation station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Load = 0,
    Store = 1,
    Execute = 2,
}

/// Sizes of the local memories, worked out once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    dim: u32,
    spad_rows: u32,
    acc_rows: u32,
    acc_bank_rows: u32,
    element_bytes: u32,
    acc_bytes: u32,
}

impl Sizes {
    pub(super) fn new(config: &GemminiConfig) -> Self {
        Self {
            dim: config.dim,
            spad_rows: config.spad_rows(),
            acc_rows: config.acc_rows(),
            acc_bank_rows: config.acc_rows() / config.acc_banks.max(1),
            element_bytes: config.element_bytes(),
            acc_bytes: config.acc_element_bytes(),
        }
    }
}

/// One operand of an execute command.
#[derive(Clone, Copy, Debug)]
pub struct Operand(Tile);

impl Default for Operand {
    fn default() -> Self {
        Self::none()
    }
}

impl Operand {
    #[inline]
    pub const fn none() -> Self {
        Self(Tile {
            address: LocalAddress::none(),
            cols: 0,
            rows: 0,
        })
    }

    #[inline]
    pub(super) fn is_none(&self) -> bool {
        self.0.address.is_garbage()
    }

    #[inline]
    pub(super) fn row(&self) -> u32 {
        self.0.address.row()
    }

    #[inline]
    pub(super) fn rows(&self) -> u32 {
        self.0.rows.into()
    }

    #[inline]
    pub(super) fn cols(&self) -> u32 {
        self.0.cols.into()
    }

    /// Returns whether it lies in the accumulator.
    #[inline]
    pub(super) fn in_accumulator(&self) -> bool {
        self.0.address.is_accumulator()
    }

    /// Returns whether what is written is added to what is there.
    #[inline]
    pub(super) fn accumulates(&self) -> bool {
        self.0.address.accumulates()
    }

    /// Returns its first row as one number over both memories.
    #[inline]
    pub(super) fn key(&self) -> u32 {
        if self.is_none() {
            u32::MAX
        } else {
            self.row() | u32::from(self.in_accumulator()) << 31
        }
    }
}

/// State of the execute controller that a configuration sets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExecuteMode {
    pub(super) weight_stationary: bool,
    pub(super) a_transpose: bool,
    pub(super) b_transpose: bool,
    pub(super) c_stride: u32,
}

/// What an execute command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum ExecuteKind {
    #[default]
    Config,
    Preload,
    /// Multiply with what has been preloaded.
    Flip,
    /// Multiply with what is in the array.
    Stay,
}

/// A preload, a multiplication or a configuration of the array.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExecuteJob {
    pub(super) kind: ExecuteKind,
    /// Stationary operand or A.
    pub(super) first: Operand,
    /// Destination, or the second moving operand.
    pub(super) second: Operand,
    pub(super) mode: ExecuteMode,
}

/// What the controllers need of a command.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    Config,
    Load(LoadJob),
    Store(StoreJob),
    Execute(ExecuteJob),
}

/// A command ready for allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) class: Class,
    pub(super) is_config: bool,
    /// First operand, or the destination if there is one.
    pub(super) a: RowRange,
    pub(super) a_is_dest: bool,
    /// Second operand.
    pub(super) b: RowRange,
    pub(super) work: Work,
}

impl Job {
    /// Makes a job to resolve commands into.
    pub(super) fn new() -> Self {
        Self {
            class: Class::Load,
            is_config: false,
            a: RowRange::default(),
            a_is_dest: false,
            b: RowRange::default(),
            work: Work::Config,
        }
    }

    fn be_config(&mut self) {
        self.is_config = true;
        self.a = RowRange::default();
        self.a_is_dest = false;
        self.b = RowRange::default();
        self.work = Work::Config;
    }
}

/// Resolves `instruction` into `job` and applies configurations to `state`;
/// returns whether the instruction reaches the reservation station.
#[inline]
pub(super) fn resolve(
    instruction: &Instruction,
    state: &mut Configured,
    sizes: &Sizes,
    job: &mut Job,
) -> bool {
    job.is_config = false;
    match *instruction {
        Instruction::ConfigEx(c) => {
            state.set_ex(c);
            job.class = Class::Execute;
            job.be_config();
            job.work = Work::Execute(ExecuteJob {
                kind: ExecuteKind::Config,
                mode: mode(state),
                ..ExecuteJob::default()
            });
        }
        Instruction::ConfigLd(c) => {
            if c.channel < 3 {
                state.set_load(c);
            }
            job.class = Class::Load;
            job.be_config();
        }
        Instruction::ConfigSt(c) => {
            state.set_store(c);
            job.class = Class::Store;
            job.be_config();
        }
        Instruction::ConfigNorm(c) => {
            state.set_norm(c);
            job.class = Class::Store;
            job.be_config();
        }
        Instruction::Mvin {
            channel,
            dram,
            tile,
        } => moves::load(job, channel, dram, tile, state, sizes),
        Instruction::Mvout { dram, tile } => moves::store(job, dram, tile, state, sizes),
        Instruction::Preload { stationary, dest } => {
            job.class = Class::Execute;
            job.a_is_dest = true;
            let c_rows = u32::from(dest.rows) * u32::from(state.ex.c_stride);
            job.a = RowRange::new(dest.address, c_rows, sizes);
            job.b = RowRange::new(stationary.address, u32::from(stationary.rows), sizes);
            job.work = Work::Execute(ExecuteJob {
                kind: ExecuteKind::Preload,
                first: Operand(stationary),
                second: Operand(dest),
                mode: mode(state),
            });
        }
        Instruction::Compute { preloaded, a, bd } => {
            job.class = Class::Execute;
            let rows = if state.ex.a_transpose { a.cols } else { a.rows };
            job.a_is_dest = false;
            job.a = RowRange::new(
                a.address,
                u32::from(rows) * u32::from(state.ex.a_stride),
                sizes,
            );
            job.b = RowRange::new(bd.address, u32::from(bd.rows), sizes);
            job.work = Work::Execute(ExecuteJob {
                kind: if preloaded {
                    ExecuteKind::Flip
                } else {
                    ExecuteKind::Stay
                },
                first: Operand(a),
                second: Operand(bd),
                mode: mode(state),
            });
        }
        _ => return false,
    }
    true
}

fn mode(state: &Configured) -> ExecuteMode {
    ExecuteMode {
        weight_stationary: state.ex.dataflow == Dataflow::WeightStationary,
        a_transpose: state.ex.a_transpose,
        b_transpose: state.ex.b_transpose,
        c_stride: u32::from(state.ex.c_stride),
    }
}
