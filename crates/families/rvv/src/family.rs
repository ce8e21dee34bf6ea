//! RISC-V cores with vectors behind the contract of families.

use crate::calibration::Suites;
use crate::machine::Machine;
use crate::platform::{RvvPlatform, with_functions};
use autocomp_bare_metal::{KernelEvaluator, check_parameters};
use autocomp_c::C;
use autocomp_catalog::{Problem, Target};
use autocomp_core::{Language, Rewriter, Unit};
use autocomp_eval::simulator::Calibrated;
use autocomp_eval::{Bench, EvalError, Family, Finding, Opening, Surroundings, read_machine};
use autocomp_nests::{NestRewriter, Resources};
use std::sync::Arc;

/// Vector registers.
const REGISTERS: u32 = 32;

/// Registers that schedules of loop nests take as one: enough to hide the latency of a
/// multiply-add, and eight groups of them are there.
const GROUP: u32 = 4;

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

    fn unit(&self, _: &Target, _: &str) -> Result<Unit, EvalError> {
        Ok(Unit::Cycles)
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        let mut names = target.machines.keys();
        names.try_for_each(|name| read_machine(target, name, Machine::parse).map(drop))
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        check_parameters(opening.problem)?;
        let surroundings = opening.surroundings;
        let toolchain = autocomp_toolchain::find_toolchain(surroundings, opening.progress)?;
        let evaluator = KernelEvaluator::new(
            RvvPlatform::new(opening.target, opening.machine)?,
            opening.problem,
            &with_functions(opening.target),
            toolchain,
            &surroundings.cache_folder,
            opening.settings,
        )?;
        Ok(Arc::new(evaluator))
    }

    fn rewriter(
        &self,
        _: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let machine = read_machine(target, machine, Machine::parse)?;
        // The compiler makes groups of registers of vectors that are longer than one.
        Ok(Some(Arc::new(NestRewriter::new(Resources {
            lanes: GROUP * machine.vlen() as u32 / 32,
            registers: REGISTERS / GROUP,
            grouped: true,
            strides: true,
            dots: Vec::new(),
        }))))
    }

    fn examine(&self, _: &Surroundings) -> Vec<Finding> {
        vec![Finding {
            name: "rvv machines",
            ok: true,
            detail: "kernels run on the simulator of autocomp; no board is needed or used".into(),
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
