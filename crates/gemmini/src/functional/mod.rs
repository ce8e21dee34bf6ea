//! What every command does, bit by bit, and whether it may.

use crate::config::GemminiConfig;
use crate::configured::Configured;
use crate::isa::{Instruction, decode};
use crate::loop_conv::ConvLoop;
use crate::loop_isa::{ConvParameters, MatmulParameters};
use crate::loop_ws::MatmulLoop;
use autocomp_riscv::{Fault, FaultKind, Memory, RoccCommand};

/// What the timing engine may know about a command besides its fields.
#[derive(Clone, Copy, Debug)]
pub struct ExecContext<'a> {
    /// Configuration in force after the command.
    pub configured: &'a Configured,
    /// The matrix loop, while its starting command is being handed on.
    pub matmul: Option<&'a MatmulLoop>,
    /// The convolution loop, while its starting command is being handed on.
    pub conv: Option<&'a ConvLoop>,
}

/// Functional state of the accelerator.
pub struct Functional {
    config: GemminiConfig,
    configured: Configured,
    matmul_parameters: [MatmulParameters; 2],
    conv_parameters: [ConvParameters; 2],
    matmul: Option<MatmulLoop>,
    conv: Option<ConvLoop>,
}

impl Functional {
    /// Makes an accelerator after reset; `config` must be valid.
    #[must_use]
    pub fn new(config: GemminiConfig) -> Self {
        Self {
            config,
            configured: Configured::default(),
            matmul_parameters: Default::default(),
            conv_parameters: Default::default(),
            matmul: None,
            conv: None,
        }
    }

    /// Returns the configuration of the hardware.
    #[must_use]
    pub fn config(&self) -> &GemminiConfig {
        &self.config
    }

    /// Returns what the timing engine may know about the last command.
    #[must_use]
    pub fn context(&self) -> ExecContext<'_> {
        ExecContext {
            configured: &self.configured,
            matmul: self.matmul.as_ref(),
            conv: self.conv.as_ref(),
        }
    }

    /// Executes one command; returns it decoded, and the value of its
    /// destination register.
    ///
    /// # Errors
    /// A [`Fault`] if the command is illegal.
    pub fn execute(
        &mut self,
        command: &RoccCommand,
        _memory: &mut Memory,
    ) -> Result<(Instruction, u64), Fault> {
        let instruction =
            decode(&self.config, command.funct, command.rs1, command.rs2).map_err(|unknown| {
                Fault {
                    kind: FaultKind::IllegalCommand,
                    rule: "unknown-function",
                    pc: command.pc,
                    other_pc: None,
                    address: None,
                    message: unknown.to_string(),
                }
            })?;
        self.matmul = None;
        self.conv = None;
        match instruction {
            Instruction::ConfigEx(c) => self.configured.set_ex(c),
            Instruction::ConfigLd(c) if c.channel < 3 => self.configured.set_load(c),
            Instruction::ConfigSt(c) => self.configured.set_store(c),
            Instruction::ConfigNorm(c) => self.configured.set_norm(c),
            Instruction::LoopWsConfig(c) => self.matmul_parameters[0].set(c),
            Instruction::LoopConvConfig(c) => self.conv_parameters[0].set(c),
            Instruction::LoopWs(run) => {
                self.matmul = Some(MatmulLoop::place(
                    &self.config,
                    run,
                    self.matmul_parameters[0],
                    0,
                    0,
                    0,
                ));
            }
            Instruction::LoopConv(run) => {
                self.conv = Some(ConvLoop::place(
                    &self.config,
                    run,
                    self.conv_parameters[0],
                    0,
                    0,
                    0,
                ));
            }
            _ => {}
        }
        Ok((instruction, 0))
    }

    /// A RISC-V `fence`: all outstanding DMA is done afterwards.
    ///
    /// # Errors
    /// A [`Fault`] if work is left that can never finish.
    pub fn fence(&mut self, _pc: u64, _memory: &mut Memory) -> Result<(), Fault> {
        Ok(())
    }

    /// A CPU access to a watched page.
    ///
    /// # Errors
    /// A [`Fault`] if it races with outstanding DMA.
    pub fn cpu_access(
        &mut self,
        _address: u64,
        _bytes: u64,
        _store: bool,
        _pc: u64,
    ) -> Result<(), Fault> {
        Ok(())
    }
}
