//! What every command does, bit by bit, and whether it may.
//!
//! Commands take effect at once and in program order. Since the hardware does
//! not work in program order, the model also finds programs whose result
//! depends on luck there: races in DRAM ([`race`]), results in flight
//! ([`hazard`]), memory that nothing has written ([`local`]).

mod arithmetic;
mod array;
mod compute;
mod configure;
mod counters;
mod faults;
mod hazard;
mod instruction_set;
mod intake;
mod local;
mod loops;
mod multiply;
mod mvin;
mod mvout;
mod norm;
mod operand;
mod outlet;
mod race;
mod staging;
mod statistics;

pub use faults::{Checks, Severity, Warning};
pub use instruction_set::InstructionSet;
pub use statistics::Statistics;

use crate::config::{Elements, GemminiConfig};
use crate::configured::Configured;
use crate::events::{EventTotals, External};
use crate::isa::{Decoder, Instruction, Receiver, UnknownFunction};
use crate::loop_conv::ConvLoop;
use crate::loop_isa::{ConvParameters, MatmulParameters};
use crate::loop_ws::MatmulLoop;
use array::Array;
use autocomp_riscv::{Fault, Memory, RoccCommand};
use compute::Pending;
use counters::Counters;
use faults::{Actor, Site, Warnings};
use hazard::ResultsInFlight;
use instruction_set::Host;
use local::LocalMemory;
use multiply::Weights;
use norm::NormStatistics;
use race::Outstanding;

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

/// A command that is about to be executed.
struct Execution<'a> {
    functional: &'a mut Functional,
    command: &'a RoccCommand,
    memory: &'a mut Memory,
}

impl Receiver for Execution<'_> {
    type Output = Result<u64, Fault>;

    #[inline(always)]
    fn receive(self, instruction: Result<Instruction, UnknownFunction>) -> Self::Output {
        self.functional
            .execute_decoded(self.command, &instruction, self.memory)
    }
}

/// State that the loop units keep from one loop to the next.
#[derive(Clone, Copy, Debug, Default)]
struct LoopUnit<P> {
    /// Parameters of the two slots.
    parameters: [P; 2],
    /// Slot that is configured and run next.
    slot: usize,
    /// Accumulator half of the next output.
    c_half: u32,
    /// Accumulator half of the next bias.
    d_half: u32,
}

/// Functional state of the accelerator.
pub struct Functional {
    config: GemminiConfig,
    decoder: Decoder,
    checks: Checks,
    host: Host,
    may_wrap: bool,
    configured: Configured,
    local: LocalMemory,
    array: Array,
    pending: Option<Pending>,
    matmul_unit: LoopUnit<MatmulParameters>,
    conv_unit: LoopUnit<ConvParameters>,
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
    statistics: Statistics,
    warnings: Warnings,
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
            host,
            may_wrap,
            configured: Configured::default(),
            local: LocalMemory::new(&config),
            array: Array::new(&config, host),
            pending: None,
            matmul_unit: LoopUnit::default(),
            conv_unit: LoopUnit::default(),
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
            statistics: Statistics::default(),
            warnings: Warnings::default(),
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

    /// Returns the number of scratchpad and accumulator rows written since the
    /// last [`reset_statistics`](Self::reset_statistics).
    #[must_use]
    pub fn rows_touched(&self) -> (u64, u64) {
        (self.local.spad.touched(), self.local.acc.touched())
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

    /// Fills the local memories with a byte and forgets that anything was
    /// written to them or is in the array. Configuration stays.
    pub fn poison(&mut self, pattern: u8) {
        self.local.poison(pattern);
        self.array.forget();
        self.in_flight.clear();
        self.last_load = None;
        self.pending = None;
    }

    /// Returns to the state after reset, with local memories poisoned, and
    /// forgets what is outstanding in `memory`. Checks, statistics and
    /// warnings stay.
    pub fn reset(&mut self, pattern: u8, memory: &mut Memory) {
        self.poison(pattern);
        self.outstanding.clear(memory);
        self.configured = Configured::default();
        self.matmul_unit = LoopUnit::default();
        self.conv_unit = LoopUnit::default();
        self.norm = [NormStatistics::default(); 2];
        self.counters = Counters::default();
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

    /// Returns what takes commands apart.
    #[inline]
    pub(crate) fn decoder(&self) -> Decoder {
        self.decoder
    }

    /// Executes one command; returns the value of its destination register.
    ///
    /// # Errors
    /// A [`Fault`] if the command is illegal.
    pub fn execute(&mut self, command: &RoccCommand, memory: &mut Memory) -> Result<u64, Fault> {
        let RoccCommand {
            funct, rs1, rs2, ..
        } = *command;
        let decoder = self.decoder;
        let execution = Execution {
            functional: self,
            command,
            memory,
        };
        decoder.decode_then(funct, rs1, rs2, execution)
    }

    /// Executes one command, given as it came and decoded.
    #[inline(always)]
    pub(crate) fn execute_decoded(
        &mut self,
        command: &RoccCommand,
        instruction: &Result<Instruction, UnknownFunction>,
        memory: &mut Memory,
    ) -> Result<u64, Fault> {
        self.statistics.command(command.funct, command.pc);
        self.matmul = None;
        self.conv = None;
        self.value = 0;
        self.memory_base = memory.base();
        let done = match instruction {
            Ok(instruction) if command.custom == 3 && !command.wants_reply => {
                let site = Site {
                    pc: command.pc,
                    actor: Actor::Command(instruction.mnemonic()),
                    in_loop: false,
                };
                self.apply(instruction, site, memory)
            }
            Ok(instruction) => self.unusual(command, instruction, memory),
            Err(unknown) => Err(unknown_function(command, *unknown)),
        };
        match done {
            Ok(()) => Ok(self.value),
            Err(fault) => Err(*fault),
        }
    }

    #[cold]
    #[inline(never)]
    fn unusual(
        &mut self,
        command: &RoccCommand,
        instruction: &Instruction,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        let site = Site {
            pc: command.pc,
            actor: Actor::Command(instruction.mnemonic()),
            in_loop: false,
        };
        if command.custom != 3 {
            return Err(site.illegal(
                "opcode",
                format!(
                    "issued as custom-{}; the accelerator listens to custom-3",
                    command.custom
                ),
            ));
        }
        if !matches!(instruction, Instruction::Counter(_)) {
            return Err(site.illegal(
                "no-reply",
                "the instruction names a destination register, but this command never answers; \
                 the core would wait for ever"
                    .into(),
            ));
        }
        self.apply(instruction, site, memory)
    }

    #[inline(always)]
    fn apply(
        &mut self,
        instruction: &Instruction,
        site: Site,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        match *instruction {
            Instruction::Mvin {
                channel,
                dram,
                tile,
            } => self.mvin(site, memory, channel, dram, tile),
            Instruction::Mvout { dram, tile } => self.mvout(site, memory, dram, tile),
            Instruction::Preload { stationary, dest } => {
                self.last_load = None;
                self.preload(site, stationary, dest)
            }
            Instruction::Compute { preloaded, a, bd } => {
                self.last_load = None;
                self.compute(site, preloaded, a, bd)
            }
            _ => self.apply_rest(instruction, site, memory),
        }
    }

    /// Applies a command that neither moves nor computes.
    #[inline(never)]
    fn apply_rest(
        &mut self,
        instruction: &Instruction,
        site: Site,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        match *instruction {
            Instruction::Mvin { .. }
            | Instruction::Mvout { .. }
            | Instruction::Preload { .. }
            | Instruction::Compute { .. } => unreachable!("`apply` does these itself"),
            Instruction::ConfigEx(c) => self.config_ex(site, c),
            Instruction::ConfigLd(c) => self.config_ld(site, c),
            Instruction::ConfigSt(c) => self.config_st(site, c),
            Instruction::ConfigNorm(c) => {
                self.configured.set_norm(c);
                Ok(())
            }
            Instruction::LoopWsConfig(c) => {
                self.matmul_unit.parameters[self.matmul_unit.slot].set(c);
                Ok(())
            }
            Instruction::LoopConvConfig(c) => {
                if !self.config.features.loop_conv {
                    return Err(site.illegal(
                        "loop-conv-unsupported",
                        "this accelerator has no convolution loop".into(),
                    ));
                }
                self.conv_unit.parameters[self.conv_unit.slot].set(c);
                Ok(())
            }
            Instruction::LoopWs(run) => self.loop_ws(site, run, memory),
            Instruction::LoopConv(run) => self.loop_conv(site, run, memory),
            Instruction::Flush { .. } | Instruction::ClockGate { .. } => Ok(()),
            Instruction::Counter(access) => {
                if u32::from(access.index) >= self.config.counters {
                    return Err(site.illegal(
                        "counter-index",
                        format!(
                            "counter {}; there are {} of them",
                            access.index, self.config.counters
                        ),
                    ));
                }
                let totals = self.event_totals();
                self.value = self.counters.access(access, &totals);
                Ok(())
            }
        }
    }

    /// A RISC-V `fence`: all outstanding DMA is done afterwards.
    ///
    /// # Errors
    /// None at present; the machine may get stricter.
    pub fn fence(&mut self, pc: u64, memory: &mut Memory) -> Result<(), Fault> {
        if let Some(earlier) = self.pending {
            let site = Site {
                pc,
                actor: Actor::Fence,
                in_loop: false,
            };
            self.warnings.add(site, "preload-at-fence", || {
                format!(
                    "the preload at {:#x} has had no compute; the fence does not wait for it",
                    earlier.pc
                )
            });
        }
        self.outstanding.clear(memory);
        self.in_flight.clear();
        self.last_load = None;
        Ok(())
    }

    /// A CPU access to a watched page.
    ///
    /// # Errors
    /// A [`Fault`] if it races with outstanding DMA.
    pub fn cpu_access(
        &mut self,
        address: u64,
        bytes: u64,
        store: bool,
        pc: u64,
    ) -> Result<(), Fault> {
        match self
            .outstanding
            .cpu(self.memory_base, address, bytes, store)
        {
            None => Ok(()),
            Some(conflict) => {
                let (actor, verb) = if store {
                    (Actor::CpuStore, "writes")
                } else {
                    (Actor::CpuLoad, "reads")
                };
                let site = Site {
                    pc,
                    actor,
                    in_loop: false,
                };
                self.report_race(site, conflict, verb)
                    .map_err(|fault| *fault)
            }
        }
    }
}

#[cold]
fn unknown_function(command: &RoccCommand, unknown: UnknownFunction) -> Box<Fault> {
    let site = Site {
        pc: command.pc,
        actor: Actor::Unknown,
        in_loop: false,
    };
    site.illegal("unknown-function", unknown.to_string())
}

#[cfg(test)]
mod tests {
    use super::{Functional, InstructionSet};
    use crate::instances::{fp32_4, int8_16, int8_32};

    #[test]
    fn only_wide_arrays_can_wrap_without_output_stationary_sums() {
        assert!(!Functional::new(int8_16()).may_wrap);
        assert!(Functional::new(int8_32()).may_wrap);
        assert!(!Functional::new(fp32_4()).may_wrap);
    }

    #[test]
    fn only_instructions_that_the_machine_has_can_be_asked_for() {
        let mut functional = Functional::new(int8_16());
        let other = if cfg!(target_arch = "x86_64") {
            InstructionSet::Neon
        } else {
            InstructionSet::Avx2
        };
        assert!(!functional.use_instructions(other));
        for set in InstructionSet::available() {
            assert!(functional.use_instructions(set));
            assert_eq!(functional.host.set(), set);
        }
    }
}
