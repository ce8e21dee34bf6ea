//! RISC-V cores with vectors behind the contract of families.

use crate::calibration::Suites;
use crate::machine::Machine;
use crate::platform::{INSTRUCTIONS, RvvPlatform, with_functions};
use autocomp_bare_metal::{KernelEvaluator, check_parameters};
use autocomp_board::{BoardBench, Settings};
use autocomp_c::C;
use autocomp_catalog::{Problem, Roofline, Target};
use autocomp_core::{Language, Rewriter, Unit};
use autocomp_eval::simulator::Calibrated;
use autocomp_eval::{Bench, EvalError, Family, Finding, Opening, Surroundings, read_machine};
use autocomp_measuring::DeviceFile as _;
use autocomp_nests::{NestRewriter, Resources};
use autocomp_rvv_rewriter::LoopRewriter;
use std::sync::Arc;

/// Vector registers.
const REGISTERS: u32 = 32;

/// Registers that schedules of loop nests take as one: enough to hide the latency of a
/// multiply-add, and eight groups of them are there.
const GROUP: u32 = 4;

/// Returns what a machine's file says of a board, if it is one, the core that is simulated, beside
/// it or alone, and the name of that one's machine.
fn machine_of(
    target: &Target,
    name: &str,
) -> Result<(Option<Settings>, Machine, String), EvalError> {
    let board = read_machine(target, name, Settings::parse)?;
    let simulated = match &board {
        Some(settings) => settings.simulated.clone(),
        None => name.to_owned(),
    };
    let machine = read_machine(target, &simulated, Machine::parse)?;
    Ok((board, machine, simulated))
}

/// The family of RISC-V cores with vectors.
#[derive(Debug)]
pub struct Rvv;

impl Family for Rvv {
    fn name(&self) -> &'static str {
        "rvv"
    }

    fn languages(&self) -> &'static [&'static dyn Language] {
        &[&C]
    }

    fn unit(&self, target: &Target, machine: &str) -> Result<Unit, EvalError> {
        let board = read_machine(target, machine, Settings::parse)?;
        Ok(match board {
            Some(_) => Unit::Nanoseconds,
            None => Unit::Cycles,
        })
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        let mut names = target.machines.keys();
        names.try_for_each(|name| machine_of(target, name).map(drop))
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        check_parameters(opening.problem)?;
        let (board, core, name) = machine_of(opening.target, opening.machine)?;
        let surroundings = opening.surroundings;
        let toolchain = autocomp_toolchain::find_toolchain(surroundings, opening.progress)?;
        let evaluator = KernelEvaluator::new(
            RvvPlatform::new(opening.target, &name, core.clone()),
            opening.problem,
            &with_functions(opening.target),
            toolchain,
            &surroundings.cache_folder,
            opening.settings.clone(),
        )?;
        Ok(match board {
            Some(settings) => Arc::new(BoardBench::open(
                &opening,
                settings,
                evaluator,
                core.megahertz,
                INSTRUCTIONS,
            )),
            None => Arc::new(evaluator),
        })
    }

    fn rewriter(
        &self,
        problem: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let (_, machine, _) = machine_of(target, machine)?;
        // Numbers of polynomials that are fused are loaded from the stack.
        let loads_as_fast = |it: Roofline| 4.0 * it.peak_macs <= it.bytes;
        // The compiler makes groups of registers of vectors that are longer than one.
        let nests = NestRewriter::new(Resources {
            lanes: GROUP * machine.vlen() as u32 / 32,
            registers: REGISTERS / GROUP,
            grouped: true,
            strides: true,
            lengths: true,
            fused: target.roofline.is_some_and(loads_as_fast),
            dots: Vec::new(),
            no_divisors: problem.inputs_with_special_numbers(),
        });
        Ok(Some(Arc::new(LoopRewriter::new(nests))))
    }

    fn examine(&self, _: &Surroundings) -> Vec<Finding> {
        vec![Finding {
            name: "rvv machines",
            ok: true,
            detail: "kernels run on the simulator of autocomp; no board is needed. Machine `board` of rvv-k230 and rvv-k1 measures on one that `ssh` reaches as `k230` or `k1`".into(),
            remedies: Vec::new(),
        }]
    }

    fn calibrated(&self) -> Option<&'static dyn Calibrated> {
        Some(&Suites)
    }

    fn probe(&self) -> &'static str {
        "rvv/gemm-f32-128x128x128"
    }
}
