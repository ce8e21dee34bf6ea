//! From a command to what carries it out, and what else reaches the
//! accelerator: fences and accesses of the core.

use super::Functional;
use super::faults::{Actor, Site};
use crate::decode::{Decoder, Receiver};
use crate::isa::{Instruction, UnknownFunction};
use autocomp_riscv::{Fault, Memory, RoccCommand};

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
            .execute_decoded(self.command, instruction, self.memory)
    }
}

impl Functional {
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
    ///
    /// The decoded command goes by value all the way: what a reference leads to
    /// has to be in memory, where operands are written in parts and read as a
    /// whole, which makes a processor wait.
    #[inline(always)]
    pub(crate) fn execute_decoded(
        &mut self,
        command: &RoccCommand,
        instruction: Result<Instruction, UnknownFunction>,
        memory: &mut Memory,
    ) -> Result<u64, Fault> {
        self.statistics.command(command);
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
            Err(unknown) => Err(unknown_function(command, unknown)),
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
        instruction: Instruction,
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
    pub(super) fn apply(
        &mut self,
        instruction: Instruction,
        site: Site,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        match instruction {
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
        instruction: Instruction,
        site: Site,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        match instruction {
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
                self.matmul_unit.current().set(c);
                Ok(())
            }
            Instruction::LoopConvConfig(c) => {
                if !self.config.features.loop_conv {
                    return Err(site.illegal(
                        "loop-conv-unsupported",
                        "this accelerator has no convolution loop".into(),
                    ));
                }
                self.conv_unit.current().set(c);
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
            self.warnings
                .add_about(site, Some(earlier.pc), "preload-at-fence", || {
                    "the preload before it has had no compute; the fence does not wait for it"
                        .to_owned()
                });
        }
        self.outstanding.clear(memory);
        self.in_flight.clear();
        self.last_load = None;
        self.store_at_fence = self.store_since_fence.take();
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
