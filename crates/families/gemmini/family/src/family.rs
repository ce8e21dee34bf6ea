//! Gemmini behind the contract of families.

use crate::agreement;
use crate::platform::GemminiPlatform;
use crate::simulator::{Programs, Suites};
use autocomp_bare_metal::{KernelEvaluator, check_parameters};
use autocomp_c::C;
use autocomp_catalog::{Problem, Target};
use autocomp_core::{Language, Rewriter, Unit};
use autocomp_eval::simulator::{Calibrated, ProgramSimulator};
use autocomp_eval::{Bench, EvalError, EvaluatorSettings, Family, Opening, read_machine};
use autocomp_gemmini_rewriter::{
    GemminiRewriter, HardwareLimits, MachineCosts, RankingCosts, Vocabulary,
};
use autocomp_gemmini_sim::MachineConfig;
use autocomp_toolchain::Toolchain;
use std::path::Path;
use std::sync::Arc;

/// Evaluates kernels for one problem on the simulator of a Gemmini target.
pub type GemminiEvaluator = KernelEvaluator<GemminiPlatform>;

/// Prepares to evaluate kernels for `problem` on the machine called `machine` of `target`,
/// its default if none.
///
/// # Errors
/// [`EvalError::Input`] if the machine description is not valid; those of
/// [`KernelEvaluator::new`].
pub fn evaluator(
    problem: &Problem,
    target: &Target,
    machine: Option<&str>,
    toolchain: Toolchain,
    cache_folder: &Path,
    settings: EvaluatorSettings,
) -> Result<GemminiEvaluator, EvalError> {
    let platform = GemminiPlatform::new(target, machine)?;
    KernelEvaluator::new(platform, problem, target, toolchain, cache_folder, settings)
}

/// The family of Gemmini accelerators beside a Rocket core.
#[derive(Debug)]
pub struct Gemmini;

impl Family for Gemmini {
    fn name(&self) -> &'static str {
        "gemmini"
    }

    fn languages(&self) -> &'static [&'static dyn Language] {
        &[&C]
    }

    fn unit(&self, _target: &Target, _machine: &str) -> Result<Unit, EvalError> {
        Ok(Unit::Cycles)
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        target.machines.keys().try_for_each(|name| {
            let machine = machine_config(target, name)?;
            ranking_costs(target, name, &machine)?;
            agreement::check(target, name, &machine.accelerator)
        })
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        check_parameters(opening.problem)?;
        let surroundings = opening.surroundings;
        let toolchain = autocomp_toolchain::find_toolchain(surroundings, opening.progress)?;
        let evaluator = evaluator(
            opening.problem,
            opening.target,
            Some(opening.machine),
            toolchain,
            &surroundings.cache_folder,
            opening.settings,
        )?;
        Ok(Arc::new(evaluator))
    }

    fn rewriter(
        &self,
        problem: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let config = machine_config(target, machine)?;
        let limits = limits(target, machine, config)?;
        let library = target.runtime.get("gemmini_tiled.h");
        let vocabulary = Vocabulary {
            entry: problem.entry.clone(),
            library: library
                .map(|text| String::from_utf8_lossy(text).into_owned())
                .unwrap_or_default(),
        };
        let rewriter = GemminiRewriter::new(limits).with_vocabulary(vocabulary);
        Ok(Some(Arc::new(rewriter)))
    }

    fn program_simulator(&self) -> Option<&'static dyn ProgramSimulator> {
        Some(&Programs)
    }

    fn calibrated(&self) -> Option<&'static dyn Calibrated> {
        Some(&Suites)
    }

    fn has_timelines(&self) -> bool {
        true
    }

    fn probe(&self) -> &'static str {
        "gemmini/gemm-512x512x512"
    }
}

/// Reads the description of a machine of `target`.
///
/// # Errors
/// [`EvalError::Input`] with the file and what is wrong in it.
pub fn machine_config(target: &Target, name: &str) -> Result<MachineConfig, EvalError> {
    read_machine(target, name, MachineConfig::from_toml)
}

/// Returns what the rewriter keeps to and ranks by on the machine `name` of `target`, which
/// `config` describes.
///
/// # Errors
/// [`EvalError::Input`] if the machine's file lacks the section `[ranking]`.
pub fn limits(
    target: &Target,
    name: &str,
    config: MachineConfig,
) -> Result<HardwareLimits, EvalError> {
    let ranking = ranking_costs(target, name, &config)?;
    let ranking = ranking.ok_or_else(|| EvalError::Input {
        message: format!(
            "machine {name} of target {} has no section `[ranking]`, by which the rewriter ranks schedules",
            target.name
        ),
        remedies: vec![format!(
            "copy the section of the machine that is most like it into machines/{name}.toml: `autocomp targets NAME` shows those there are"
        )],
    })?;
    Ok(HardwareLimits {
        costs: MachineCosts::of(&config.timing, ranking),
        accelerator: config.accelerator,
    })
}

/// Reads the section `[ranking]` of a machine's file, if there is one.
fn ranking_costs(
    target: &Target,
    name: &str,
    config: &MachineConfig,
) -> Result<Option<RankingCosts>, EvalError> {
    let Some(table) = config.ranking.clone() else {
        return Ok(None);
    };
    let costs = table.try_into::<RankingCosts>();
    let wrong = |error: toml::de::Error| format!("[ranking]: {}", error.message());
    read_machine(target, name, |_| costs.map_err(wrong)).map(Some)
}
