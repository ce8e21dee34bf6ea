//! The hardware loops: each command of theirs in turn.

use super::Functional;
use super::faults::{Actor, Site};
use crate::isa::{Dataflow, Instruction, PoolFields};
use crate::loop_conv::ConvLoop;
use crate::loop_isa::{ConvRun, MatmulRun};
use crate::loop_ws::MatmulLoop;
use autocomp_riscv::{AccessKind, Fault, Memory};

impl Functional {
    pub(super) fn loop_ws(
        &mut self,
        site: Site,
        run: MatmulRun,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        self.refuse_lone_preload(site)?;
        let (parameters, [slot, half]) =
            self.matmul_unit.start(|parameters| parameters.dram[3] != 0);
        let plan = MatmulLoop::place(&self.config, run, parameters, slot, half);
        plan.check(&self.config)
            .map_err(|(rule, message)| site.illegal(rule, message))?;
        if matches!(run.activation, 2 | 4) && !self.config.features.normalizations {
            return Err(site.illegal(
                "activation",
                format!(
                    "activation {} stores with normalisation; this accelerator has no unit for it",
                    run.activation
                ),
            ));
        }
        self.matmul = Some(plan);
        if !self.with_values && self.is_plainly_legal(&plan, memory, site.pc) {
            return Ok(());
        }
        let config = self.config.clone();
        plan.expand(&config, &mut |instruction| {
            self.apply_expanded(instruction, site, memory)
        })
    }

    /// Returns whether it takes no look at the single commands of a loop, which
    /// fits local memory, to see that each of them is legal.
    fn is_plainly_legal(&self, plan: &MatmulLoop, memory: &mut Memory, pc: u64) -> bool {
        let (ex, store) = (&self.configured.ex, &self.configured.store);
        let (run, features) = (plan.run, &self.config.features);
        let computes = ex.dataflow == Dataflow::WeightStationary
            && (ex.a_stride, ex.c_stride) == (1, 1)
            && !run.is_resadd;
        let stores = !matches!(run.activation, 2 | 4)
            && store.pool == PoolFields::default()
            && if run.full_c {
                features.acc_read_full_width
            } else {
                features.acc_read_small_width
            };
        let mut is_open = |operand: usize, row_stride: u64| {
            let first = plan.parameters.dram[operand];
            let kind = match operand {
                3 => AccessKind::DmaWrite,
                _ => AccessKind::DmaRead,
            };
            let bytes = plan.reach(&self.config, operand, row_stride);
            bytes.is_some_and(|bytes| memory.check(first, bytes, kind, pc).is_ok())
        };
        let moves = |operand: usize| {
            if plan.parameters.dram[operand] == 0 {
                return true;
            }
            let Some(load) = self.configured.load.get(operand) else {
                return is_open(operand, store.stride.into());
            };
            u32::from(load.block_stride) <= self.config.dim
                && load.pixel_repeats <= 1
                && load.scale == 1.0
                && (operand != 2 || load.shrink == run.low_d)
                && is_open(operand, load.stride)
        };
        computes && stores && (0..4).all(moves)
    }

    pub(super) fn loop_conv(
        &mut self,
        site: Site,
        run: ConvRun,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        self.refuse_lone_preload(site)?;
        let (parameters, [slot, half]) = self.conv_unit.start(|parameters| parameters.output != 0);
        let plan = ConvLoop::place(&self.config, run, parameters, slot, half);
        plan.check(&self.config)
            .map_err(|(rule, message)| site.illegal(rule, message))?;
        self.conv = Some(plan);
        let config = self.config.clone();
        plan.expand(&config, &mut |instruction| {
            self.apply_expanded(instruction, site, memory)
        })
    }

    fn refuse_lone_preload(&self, site: Site) -> Result<(), Box<Fault>> {
        match self.pending {
            Some(earlier) => Err(self.lone_preload(site, earlier)),
            None => Ok(()),
        }
    }

    fn apply_expanded(
        &mut self,
        instruction: Instruction,
        site: Site,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        self.statistics.expanded[usize::from(instruction.funct())] += 1;
        self.apply(
            instruction,
            Site {
                actor: Actor::Command(instruction.mnemonic()),
                in_loop: true,
                ..site
            },
            memory,
        )
    }
}
