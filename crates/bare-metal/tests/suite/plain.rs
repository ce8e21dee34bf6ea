//! A family for a core alone, in one file: what a family of C kernels on a simulated core
//! has to bring.

use crate::core_profile::CoreProfile;
use crate::measured_twin::{Measured, simulated_by};
use autocomp_bare_metal::{
    Kernel, KernelEvaluator, Platform, RankedCall, Recorded, SourceHashes, check_parameters,
};
use autocomp_c::C;
use autocomp_catalog::Target;
use autocomp_core::{Feedback, Language, Unit};
use autocomp_eval::profile::Section;
use autocomp_eval::timeline::Timeline;
use autocomp_eval::{Bench, EvalError, Family, Opening, read_machine};
use autocomp_riscv::{CoreConfig, Mode};
use autocomp_riscv_machine::{Machine, NoAccelerator};
use autocomp_toolchain::find_toolchain;
use std::sync::Arc;

/// The machine that is measured; its file says what its simulated twin is.
pub const DEVICE: &str = "device";

/// RV64 cores alone.
#[derive(Debug)]
pub struct Plain;

impl Family for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn languages(&self) -> &'static [&'static dyn Language] {
        &[&C]
    }

    fn unit(&self, _target: &Target, machine: &str) -> Result<Unit, EvalError> {
        Ok(match machine {
            DEVICE => Unit::Nanoseconds,
            _ => Unit::Cycles,
        })
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        let mut names = target.machines.keys();
        names
            .try_for_each(|name| PlainPlatform::new(target, &simulated_by(target, name)?).map(drop))
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        check_parameters(opening.problem)?;
        let toolchain = find_toolchain(opening.surroundings, opening.progress)?;
        let simulated = KernelEvaluator::new(
            PlainPlatform::new(
                opening.target,
                &simulated_by(opening.target, opening.machine)?,
            )?,
            opening.problem,
            opening.target,
            toolchain,
            &opening.surroundings.cache_folder,
            opening.settings.clone(),
        )?;
        Ok(match opening.machine {
            DEVICE => Arc::new(Measured::open(&opening, simulated)),
            _ => Arc::new(simulated),
        })
    }

    fn probe(&self) -> &'static str {
        "dot"
    }
}

/// One machine.
#[derive(Debug)]
pub struct PlainPlatform {
    core: CoreConfig,
    name: String,
    text: String,
}

impl PlainPlatform {
    /// Reads the machine called `name`.
    pub fn new(target: &Target, name: &str) -> Result<Self, EvalError> {
        Ok(Self {
            core: read_machine(target, name, |text| toml::from_str(text))?,
            name: format!("sim {} machine={name}", target.name),
            text: target.machines[name].clone(),
        })
    }
}

impl Platform for PlainPlatform {
    type Unit = NoAccelerator;
    type Counts = ();
    type Recording = ();
    type Profile = CoreProfile;

    fn engine(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.text
    }

    fn sources(&self) -> SourceHashes {
        // Nothing of these tests is kept: a family hashes its sources when it is built.
        SourceHashes {
            all: "plain",
            family: "plain",
        }
    }

    fn machine(&self, _mode: Mode, bytes: usize) -> Result<Machine<NoAccelerator>, EvalError> {
        // Without a sense of time, instructions are counted.
        Ok(self.plain_machine(bytes))
    }

    fn plain_machine(&self, bytes: usize) -> Machine<NoAccelerator> {
        let memory = NoAccelerator::new(0, 0);
        Machine::with_memory(&self.core, memory, Mode::Functional, bytes)
    }

    fn counts(&self, _unit: &NoAccelerator) {}

    fn take_recording(&self, _unit: &mut NoAccelerator) -> Option<()> {
        Some(())
    }

    fn feedback(&self, call: &mut RankedCall<'_, '_, Self>) -> Feedback {
        CoreProfile::feedback(call)
    }

    fn profile(
        &self,
        call: &mut RankedCall<'_, '_, Self>,
        recorded: &Recorded<()>,
    ) -> (CoreProfile, Option<Timeline>) {
        (CoreProfile::of(call, recorded), None)
    }

    fn refine(&self, feedback: &mut Feedback, profile: &CoreProfile, kernel: Kernel<'_>) {
        profile.refine(feedback, kernel);
    }

    fn sections(&self, profile: &CoreProfile) -> Vec<Section> {
        profile.sections()
    }
}
