//! The simulated machine that kernels run on.

use crate::agreement;
use crate::family::machine_config;
use crate::profile::Removal;
use crate::stock::Stock;
use autocomp_catalog::Target;
use autocomp_eval::EvalError;
use autocomp_gemmini::timing::{Ideal, Recording};
use autocomp_gemmini::{Gemmini, GemminiConfig};
use autocomp_gemmini_sim::MachineConfig;
use autocomp_riscv::Mode;
use autocomp_riscv_machine::Machine;

/// Hash of the sources of simulator and evaluator.
pub(super) const ENGINE_HASH: &str = env!("AUTOCOMP_ENGINE_HASH");

/// Hash of the family's own sources.
pub(super) const FAMILY_HASH: &str = env!("AUTOCOMP_FAMILY_HASH");

/// Entries of each kind that the model of the reservation station can have.
const MOST_ENTRIES: u32 = 16;

/// A machine description, read and ready to make machines of.
#[derive(Debug)]
pub(super) struct Engine {
    pub(super) config: MachineConfig,
    accelerator: GemminiConfig,
    /// What measured, for people: `sim gemmini-int8-16 machine=fpga model=1a2b3c4d`.
    pub(super) name: String,
    /// The description as text, part of every key.
    pub(super) text: String,
    /// Recordings of earlier calls, whose memory is used again.
    pub(super) recordings: Stock<Recording>,
}

impl Engine {
    /// Reads the machine called `machine` of `target`; its default if none.
    pub(super) fn new(target: &Target, machine: Option<&str>) -> Result<Self, EvalError> {
        let name = machine.unwrap_or(&target.default_machine);
        let config = machine_config(target, name)?;
        agreement::check(target, name, &config.accelerator)?;
        Ok(Self {
            accelerator: config.accelerator.clone(),
            config,
            name: format!(
                "sim {} machine={name} model={}",
                target.name,
                &FAMILY_HASH[..8]
            ),
            text: target.machine(Some(name)).unwrap_or_default().to_owned(),
            recordings: Stock::default(),
        })
    }

    /// Makes a machine with `memory_bytes` of memory.
    pub(super) fn machine(
        &self,
        mode: Mode,
        memory_bytes: usize,
    ) -> Result<Machine<Gemmini>, EvalError> {
        let timing = (mode == Mode::Timed).then_some(&self.config.timing);
        let accelerator = Gemmini::new(self.accelerator.clone(), timing)
            .map_err(|error| EvalError::Fault(error.to_string()))?;
        Ok(Machine::with_memory(
            &self.config.core,
            accelerator,
            mode,
            memory_bytes,
        ))
    }

    /// Makes a machine that lacks one of the costs of this one. Without the
    /// core's, only the accelerator has a sense of time.
    pub(super) fn machine_without(
        &self,
        cost: Removal,
        memory_bytes: usize,
    ) -> Result<Machine<Gemmini>, EvalError> {
        let mut timing = self.config.timing.clone();
        if cost == Removal::Entries {
            timing.station.load_entries = MOST_ENTRIES;
            timing.station.store_entries = MOST_ENTRIES;
            timing.station.execute_entries = MOST_ENTRIES;
        }
        if cost == Removal::WriteBacks {
            timing.memory.outer_write_latency = 0;
        }
        let mut accelerator = Gemmini::new(self.accelerator.clone(), Some(&timing))
            .map_err(|error| EvalError::Fault(error.to_string()))?;
        if let Some(engine) = accelerator.timing_mut() {
            engine.idealize(Ideal {
                loads: cost == Removal::Loads,
                stores: cost == Removal::Stores,
                banks: cost == Removal::Banks,
                fences: cost == Removal::Core,
            });
        }
        let mode = match cost {
            Removal::Core => Mode::Functional,
            _ => Mode::Timed,
        };
        Ok(Machine::with_memory(
            &self.config.core,
            accelerator,
            mode,
            memory_bytes,
        ))
    }

    /// Returns the side of the accelerator's tiles.
    pub(super) fn tile(&self) -> usize {
        self.accelerator.dim as usize
    }
}
