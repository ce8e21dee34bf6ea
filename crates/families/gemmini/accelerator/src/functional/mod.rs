//! What every command does, bit by bit, and whether it may.
//!
//! Commands take effect at once and in program order. Since the hardware does
//! not work in program order, the model also finds programs whose result
//! depends on luck there: races in DRAM ([`race`]), results in flight
//! ([`hazard`]), memory that nothing has written ([`local`]).

pub(crate) mod arithmetic;
mod array;
mod clash;
mod compute;
mod configure;
pub(crate) mod counters;
mod execute;
mod faults;
pub(crate) mod hazard;
pub(crate) mod instruction_set;
mod intake;
mod local;
mod loops;
pub(crate) mod multiply;
mod mvin;
mod mvout;
pub(crate) mod norm;
mod operand;
pub(crate) mod outlet;
mod overwrites;
pub(crate) mod race;
mod staging;
mod statistics;

pub use faults::{Checks, Severity, Warning};
pub use instruction_set::InstructionSet;
pub use overwrites::{NotedMove, Overwritten};
pub use statistics::Statistics;

use crate::config::{Elements, GemminiConfig};
use crate::configuration::Configured;
use crate::decode::Decoder;
use crate::events::{EventTotals, External};
use crate::loop_conv::ConvLoop;
use crate::loop_isa::{ConvParameters, MatmulParameters};
use crate::loop_slots::LoopSlots;
use crate::loop_ws::MatmulLoop;
use array::Array;
use autocomp_riscv::Memory;
use compute::Pending;
use counters::Counters;
use faults::Warnings;
use hazard::ResultsInFlight;
use instruction_set::Host;
use local::LocalMemory;
use multiply::Weights;
use norm::NormStatistics;
use race::Outstanding;
use std::collections::BTreeMap;

/// What the timing engine may know about a command besides its fields.
#[derive(Clone, Copy, Debug)]
pub struct ExecContext<'a> {
    /// Configuration in force after the command.
    pub configured: &'a Configured,
    /// The matrix loop, while its starting command is being handed on.
    pub matmul: Option<&'a MatmulLoop>,
    /// The convolution loop, while its starting command is being handed on.
    pub conv: Option<&'a ConvLoop>,
    /// Value that the command returns in functional mode.
    pub value: u64,
}

/// Accumulator rows that the last load wrote.
#[derive(Clone, Copy, Debug)]
struct LoadRecord {
    first: u32,
    end: u32,
    adds: bool,
    pc: u64,
}

/// Functional state of the accelerator.
pub struct Functional {
    config: GemminiConfig,
    decoder: Decoder,
    checks: Checks,
    /// Whether values are moved and computed.
    with_values: bool,
    pub(crate) host: Host,
    pub(crate) may_wrap: bool,
    configured: Configured,
    local: LocalMemory,
    array: Array,
    pending: Option<Pending>,
    matmul_unit: LoopSlots<MatmulParameters>,
    conv_unit: LoopSlots<ConvParameters>,
    matmul: Option<MatmulLoop>,
    conv: Option<ConvLoop>,
    value: u64,
    norm: [NormStatistics; 2],
    counters: Counters,
    /// What the timing engine has counted, if there is one.
    event_totals: Option<EventTotals>,
    /// Bytes read and written before the last reset of the statistics.
    bytes_before: [u64; 2],
    outstanding: Outstanding,
    in_flight: ResultsInFlight,
    last_load: Option<LoadRecord>,
    /// The last command that wrote to DRAM since the last fence.
    store_since_fence: Option<u64>,
    /// The same before the last fence.
    store_at_fence: Option<u64>,
    statistics: Statistics,
    warnings: Warnings,
    /// Moves of several rows, while somebody wants to know.
    noted_moves: Option<overwrites::Moves>,
    memory_base: u64,
    row_buffer: Vec<u8>,
    scratch: Vec<i32>,
    scratch_a: Vec<u8>,
    scratch_float: Vec<f32>,
    scratch_float_a: Vec<f32>,
    moving: Weights,
    moving_float: Vec<f32>,
}

impl Functional {
    /// Makes an accelerator after reset; `config` must be valid.
    #[must_use]
    pub fn new(config: GemminiConfig) -> Self {
        let host = Host::detect();
        let dim = config.dim as usize;
        let tile = dim * dim;
        // One int8 product has 14 bits and a sign; D adds at most 128.
        let largest = (u64::from(config.dim) << 14) + 128;
        let may_wrap =
            config.elements == Elements::Int8 && largest >= 1 << (config.mesh_out_bits - 1);
        Self {
            decoder: Decoder::new(&config),
            checks: Checks::default(),
            with_values: true,
            host,
            may_wrap,
            configured: Configured::default(),
            local: LocalMemory::new(&config),
            array: Array::new(&config, host),
            pending: None,
            matmul_unit: LoopSlots::default(),
            conv_unit: LoopSlots::default(),
            matmul: None,
            conv: None,
            value: 0,
            norm: [NormStatistics::default(); 2],
            counters: Counters::default(),
            event_totals: None,
            bytes_before: [0; 2],
            outstanding: Outstanding::new(),
            in_flight: ResultsInFlight::new(config.dim),
            last_load: None,
            store_since_fence: None,
            store_at_fence: None,
            statistics: Statistics::default(),
            warnings: Warnings::default(),
            noted_moves: None,
            memory_base: 0,
            row_buffer: Vec::new(),
            scratch: vec![0; tile],
            scratch_a: vec![0; tile],
            scratch_float: vec![0.0; tile],
            scratch_float_a: vec![0.0; tile],
            moving: Weights::new(dim, host),
            moving_float: vec![0.0; tile],
            config,
        }
    }

    /// Returns the configuration of the hardware.
    #[must_use]
    pub fn config(&self) -> &GemminiConfig {
        &self.config
    }

    /// Returns what the configuration commands have set.
    #[must_use]
    pub fn configured(&self) -> &Configured {
        &self.configured
    }

    /// Sets how severe the checks are that go beyond single commands.
    pub fn set_checks(&mut self, checks: Checks) {
        self.checks = checks;
    }

    /// From now on, commands are decoded, counted and checked each for itself,
    /// and configuration and loops are followed, but nothing is moved or
    /// computed, and nothing is known of what rows hold or DMA has under way.
    /// The cycles of a timing engine do not depend on any of that. Counts of
    /// what commands have done stay zero.
    ///
    /// For timing a program whose results are worked out elsewhere.
    pub fn leave_out_values(&mut self) {
        self.with_values = false;
    }

    /// Notes from now on what is overwritten before it is read and how moves take their
    /// rows, which takes time.
    pub fn note_doubtful(&mut self) {
        self.local.spad.note_overwritten();
        self.local.acc.note_overwritten();
        self.noted_moves = Some(BTreeMap::new());
    }

    /// Returns what has been overwritten before anything read it, by instructions.
    pub fn overwritten(&self) -> impl Iterator<Item = Overwritten> {
        let of = |rows: &'_ local::Rows, accumulator| -> Vec<Overwritten> {
            let trail = rows.trail.iter();
            trail.flat_map(|trail| trail.lost(accumulator)).collect()
        };
        let lost = [of(&self.local.spad, false), of(&self.local.acc, true)];
        lost.into_iter().flatten()
    }

    /// Returns the moves of several rows that were noted, the first for each instruction
    /// and distance.
    pub fn noted_moves(&self) -> impl Iterator<Item = NotedMove> {
        let moves = self.noted_moves.iter();
        moves.flat_map(|moves| moves.values().copied())
    }

    /// Uses code for these instructions of the host from now on, for
    /// comparison, and forgets what is in the array. Returns whether this
    /// machine has them; if not, nothing changes.
    pub fn use_instructions(&mut self, set: InstructionSet) -> bool {
        let Some(host) = Host::with(set) else {
            return false;
        };
        self.host = host;
        self.array = Array::new(&self.config, host);
        self.moving = Weights::new(self.config.dim as usize, host);
        true
    }

    /// Returns what is doubtful but did not stop the machine: one entry for
    /// each rule and instruction, the first 64 of them.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        self.warnings.list()
    }

    /// Returns the counts since the last reset of them.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Returns of each row of the accumulator, or else of the scratchpad, whether it has
    /// been written since the last [`reset_statistics`](Self::reset_statistics).
    #[must_use]
    pub fn rows_touched(&self, accumulator: bool) -> Vec<bool> {
        let (rows, size) = match accumulator {
            true => (&self.local.acc, self.config.acc_rows()),
            false => (&self.local.spad, self.config.spad_rows()),
        };
        rows.touched().take(size as usize).collect()
    }

    /// Zeroes the statistics and forgets the warnings.
    pub fn reset_statistics(&mut self) {
        self.bytes_before[0] += self.statistics.dma_read_bytes;
        self.bytes_before[1] += self.statistics.dma_written_bytes;
        self.statistics = Statistics::default();
        self.warnings.clear();
        self.local.spad.forget_touched();
        self.local.acc.forget_touched();
    }

    /// Fills the local memories with a byte, unless values are left out, and
    /// forgets that anything was written to them or is in the array.
    /// Configuration stays.
    pub fn poison(&mut self, pattern: u8) {
        if self.with_values {
            self.local.poison(pattern);
        }
        self.array.forget();
        self.in_flight.clear();
        self.last_load = None;
        self.store_since_fence = None;
        self.store_at_fence = None;
        self.pending = None;
    }

    /// Returns to the state after reset, with local memories poisoned, and
    /// forgets what is outstanding in `memory`. Counters show nothing of what was counted
    /// before, but for what a timing engine counts. Checks, statistics and warnings stay.
    pub fn reset(&mut self, pattern: u8, memory: &mut Memory) {
        self.poison(pattern);
        self.outstanding.clear(memory);
        self.configured = Configured::default();
        self.matmul_unit = LoopSlots::default();
        self.conv_unit = LoopSlots::default();
        self.norm = [NormStatistics::default(); 2];
        self.event_totals = None;
        self.counters = Counters::starting_at(self.event_totals());
    }

    /// Returns the bytes of a scratchpad row, if there is such a row.
    #[must_use]
    pub fn spad_row(&self, row: u32) -> Option<&[u8]> {
        (row < self.config.spad_rows()).then(|| self.local.spad_row(row))
    }

    /// Returns the elements of an accumulator row (bit patterns if they are
    /// floats), if there is such a row.
    #[must_use]
    pub fn acc_row(&self, row: u32) -> Option<&[i32]> {
        (row < self.config.acc_rows()).then(|| self.local.acc_row(row))
    }

    /// Returns the address of the last command that wrote to DRAM between the last fence and
    /// the one before it.
    #[must_use]
    pub fn store_at_fence(&self) -> Option<u64> {
        self.store_at_fence
    }

    /// Returns the address of a preload that still waits for its compute.
    #[must_use]
    pub fn pending_preload(&self) -> Option<u64> {
        self.pending.map(|pending| pending.pc)
    }

    /// Tells what the timing engine has counted, before an access to a counter.
    pub(crate) fn set_event_totals(&mut self, totals: EventTotals) {
        self.event_totals = Some(totals);
    }

    /// Returns what counters may count: without a timing engine, bytes.
    fn event_totals(&self) -> EventTotals {
        self.event_totals.unwrap_or_else(|| {
            let mut totals = EventTotals::default();
            let [read, written] = self.bytes_before;
            let statistics = &self.statistics;
            totals.set_external(External::BytesRead, 0, read + statistics.dma_read_bytes);
            let written = written + statistics.dma_written_bytes;
            totals.set_external(External::BytesWritten, 0, written);
            totals
        })
    }

    /// Returns what the timing engine may know about the last command.
    #[must_use]
    pub fn context(&self) -> ExecContext<'_> {
        ExecContext {
            configured: &self.configured,
            matmul: self.matmul.as_ref(),
            conv: self.conv.as_ref(),
            value: self.value,
        }
    }
}
