//! The Gemmini accelerator: bit-exact function and cycle model.
//!
//! Each command takes effect at once and in program order; if there is a
//! timing engine, it is then told of the command and works out the cycles.
//! Pure: reads no clock, file, environment or randomness.

mod address;
mod config;
mod configuration;
mod decode;
mod events;
mod functional;
mod isa;
mod loop_conv;
mod loop_isa;
mod loop_slots;
mod loop_ws;
mod mnemonic;
pub mod timing;

pub use address::{LocalAddress, NormCommand, Tile};
pub use config::{ConfigError, Dataflows, Elements, Features, GemminiConfig, LoopConvLayout};
pub use configuration::{Configured, NormState, StoreState};
pub use decode::decode;
pub use functional::{
    Checks, ExecContext, Functional, InstructionSet, NotedMove, Overwritten, Severity, Statistics,
    Warning,
};
pub use isa::{
    Activation, ConfigEx, ConfigLd, ConfigNorm, ConfigSt, CounterAccess, Dataflow, Instruction,
    PoolFields, UnknownFunction,
};
pub use loop_conv::{ConvLoop, Image};
pub use loop_isa::{
    ConvConfig, ConvParameters, ConvRun, MatmulConfig, MatmulParameters, MatmulRun,
};
pub use loop_slots::LoopSlots;
pub use loop_ws::MatmulLoop;

/// Parts that `tests/suite` looks at one by one. Tests inside would have all of the crate
/// compiled a second time. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::events::{Event, EventTotals, External};
    pub use crate::functional::arithmetic::{
        ExpConstants, clamp_i8, iexp, igelu, relu_f32, round_shift, to_i8, wrap,
    };
    pub use crate::functional::counters::Counters;
    pub use crate::functional::hazard::ResultsInFlight;
    pub use crate::functional::instruction_set::Host;
    pub use crate::functional::multiply::{Store, Weights, multiply_f32};
    pub use crate::functional::norm::NormStatistics;
    pub use crate::functional::outlet::Narrowing;
    pub use crate::functional::race::Outstanding;
    pub use crate::timing::calendar::Calendar;
    pub use crate::timing::job::Operand;
    pub use crate::timing::load::reader::best_packet;
    pub use crate::timing::operation::Operation;
    pub use crate::timing::rows::Progress;
    pub use crate::timing::spans::{Latency, Level, PageRegister, Spans};
    pub use crate::timing::stream::{ACCUMULATOR, Stream, ZEROS, pace};
    pub use crate::timing::tags::{Tag, Tags};

    use crate::timing::{RecordedOperation, Recording};
    use crate::{Functional, InstructionSet};

    /// Whether sums are checked for being wrapped.
    pub fn may_wrap(functional: &Functional) -> bool {
        functional.may_wrap
    }

    /// The instructions that products are computed with.
    pub fn instructions(functional: &Functional) -> InstructionSet {
        functional.host.set()
    }

    /// Makes a recording ready for the next call.
    pub fn restart(recording: &mut Recording, limit: usize, whole: bool) {
        recording.restart(limit, whole);
    }

    /// Adds to a recording what the array does.
    pub fn operate(recording: &mut Recording, operation: RecordedOperation) {
        recording.operate(operation);
    }
}

use autocomp_riscv::{BelowL1, Fault, LineAccess, Memory, Rocc, RoccCommand, RoccReply};
use decode::Receiver;
use timing::{Engine, TimingConfig};

/// Gemmini on a core's RoCC port, with or without a sense of time.
pub struct Gemmini {
    functional: Functional,
    timing: Option<Engine>,
    /// Commands take no time.
    is_warming: bool,
    /// Counters count as if there were no timing engine.
    hides_time: bool,
}

impl Gemmini {
    /// Makes an accelerator; without `timing` every cycle is 0.
    ///
    /// # Errors
    /// A [`ConfigError`] if the configuration is impossible.
    pub fn new(config: GemminiConfig, timing: Option<&TimingConfig>) -> Result<Self, ConfigError> {
        config.validate()?;
        let timing = timing.map(|timing| Engine::new(&config, timing));
        Ok(Self {
            functional: Functional::new(config),
            timing,
            is_warming: false,
            hides_time: false,
        })
    }

    /// From now on commands take no time and only warm caches, or take time again. All
    /// earlier ones must be done. Makes no difference without a timing engine.
    pub fn set_warming(&mut self, is_warming: bool) {
        self.is_warming = is_warming;
    }

    /// From now on counters count what they count without a timing engine, or what they
    /// count with one. Takes a [`reset`](Functional::reset) to be true of all of them.
    pub fn set_time_hidden(&mut self, is_hidden: bool) {
        self.hides_time = is_hidden;
    }

    /// Returns the functional state.
    #[must_use]
    pub fn functional(&self) -> &Functional {
        &self.functional
    }

    /// Returns the functional state for changes.
    pub fn functional_mut(&mut self) -> &mut Functional {
        &mut self.functional
    }

    /// Returns the timing engine, if there is one.
    #[must_use]
    pub fn timing(&self) -> Option<&Engine> {
        self.timing.as_ref()
    }

    /// Returns the timing engine for changes, if there is one.
    pub fn timing_mut(&mut self) -> Option<&mut Engine> {
        self.timing.as_mut()
    }
}

/// A command that is about to be executed.
struct Execution<'a> {
    gemmini: &'a mut Gemmini,
    command: &'a RoccCommand,
    memory: &'a mut Memory,
}

impl Receiver for Execution<'_> {
    type Output = Result<RoccReply, Fault>;

    #[inline(always)]
    fn receive(self, instruction: Result<Instruction, UnknownFunction>) -> Self::Output {
        let Gemmini {
            functional,
            timing,
            is_warming,
            hides_time,
        } = self.gemmini;
        let command = self.command;
        if let (Some(engine), Ok(Instruction::Counter(_)), false) =
            (&mut *timing, &instruction, *hides_time)
        {
            functional.set_event_totals(engine.events(command.cycle));
        }
        let value = functional.execute_decoded(command, instruction, self.memory)?;
        Ok(match (timing, instruction) {
            (Some(engine), Ok(instruction)) if *is_warming => {
                engine.warm(&instruction, &functional.context());
                RoccReply {
                    value,
                    accepted: command.cycle,
                    value_ready: command.cycle,
                    shares_lines: engine.has_probes(),
                }
            }
            (Some(engine), Ok(instruction)) => {
                let reply = engine.push(command, &instruction, &functional.context());
                if let Some(clash) = engine.take_clash() {
                    functional.report_clash(clash)?;
                }
                RoccReply {
                    value,
                    shares_lines: engine.shares_lines(),
                    ..reply
                }
            }
            _ => RoccReply {
                value,
                ..RoccReply::default()
            },
        })
    }
}

impl Rocc for Gemmini {
    fn execute(&mut self, command: RoccCommand, memory: &mut Memory) -> Result<RoccReply, Fault> {
        let RoccCommand {
            funct, rs1, rs2, ..
        } = command;
        let decoder = self.functional.decoder();
        let execution = Execution {
            gemmini: self,
            // By reference: a copy would read as a whole what was written in
            // parts, which makes a processor wait.
            command: &command,
            memory,
        };
        decoder.decode_then(funct, rs1, rs2, execution)
    }

    fn fence(&mut self, pc: u64, cycle: u64, memory: &mut Memory) -> Result<u64, Fault> {
        self.functional.fence(pc, memory)?;
        let Some(engine) = &mut self.timing else {
            return Ok(0);
        };
        let end = engine.fence(cycle);
        engine.name_fence(pc);
        match engine.take_clash() {
            None => Ok(end),
            Some(clash) => self.functional.report_clash(clash).map(|()| end),
        }
    }

    fn cpu_access(&mut self, address: u64, bytes: u64, store: bool, pc: u64) -> Result<(), Fault> {
        self.functional.cpu_access(address, bytes, store, pc)
    }
}

impl BelowL1 for Gemmini {
    fn line_access(&mut self, address: u64, access: LineAccess, cycle: u64) -> u64 {
        self.timing
            .as_mut()
            .map_or(0, |engine| match self.is_warming {
                true => engine.warm_line(address, access, cycle),
                false => engine.line_access(address, access, cycle),
            })
    }

    fn take_probes(&mut self, probes: &mut Vec<(u64, bool)>) {
        if let Some(engine) = &mut self.timing {
            engine.take_probes(probes);
        }
    }

    fn shares_lines(&self) -> bool {
        self.timing
            .as_ref()
            .is_some_and(|engine| match self.is_warming {
                true => engine.has_probes(),
                false => engine.shares_lines(),
            })
    }

    fn data_turn(&mut self, cycle: u64) -> u64 {
        self.timing
            .as_mut()
            .map_or(cycle, |engine| match self.is_warming {
                true => cycle,
                false => engine.core_turn(cycle),
            })
    }
}
