//! The hardware loops: each command of theirs in turn.

use super::Functional;
use super::faults::{Actor, Site};
use crate::isa::Instruction;
use crate::loop_conv::ConvLoop;
use crate::loop_isa::{ConvRun, MatmulRun};
use crate::loop_ws::MatmulLoop;
use autocomp_riscv::{Fault, Memory};

impl Functional {
    pub(super) fn loop_ws(
        &mut self,
        site: Site,
        run: MatmulRun,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        if let Some(earlier) = self.pending {
            return Err(self.lone_preload(site, earlier));
        }
        let unit = &mut self.matmul_unit;
        let parameters = unit.parameters[unit.slot];
        let plan = MatmulLoop::place(
            &self.config,
            run,
            parameters,
            unit.slot as u32,
            unit.c_half,
            unit.d_half,
        );
        unit.slot ^= 1;
        unit.c_half ^= u32::from(parameters.dram[3] != 0);
        unit.d_half ^= u32::from(parameters.dram[2] != 0);
        if let Err((rule, message)) = plan.check(&self.config) {
            return Err(site.illegal(rule, message));
        }
        if matches!(run.activation, 2 | 4) && !self.config.features.normalizations {
            return Err(site.illegal(
                "activation",
                format!(
                    "activation {} stores with normalisation; this accelerator has no unit for it",
                    run.activation
                ),
            ));
        }
        if parameters.dram[2] != 0 && plan.d_row != plan.c_row {
            self.warnings.add(site, "loop-ws-halves", || {
                "D is loaded into one half of the accumulator, C is computed in the other; \
                 give all loops a D or none"
                    .into()
            });
        }
        self.matmul = Some(plan);
        let config = self.config.clone();
        plan.expand(&config, &mut |instruction| {
            self.apply_expanded(&instruction, site, memory)
        })
    }

    pub(super) fn loop_conv(
        &mut self,
        site: Site,
        run: ConvRun,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        if let Some(earlier) = self.pending {
            return Err(self.lone_preload(site, earlier));
        }
        let unit = &mut self.conv_unit;
        let parameters = unit.parameters[unit.slot];
        let plan = ConvLoop::place(
            &self.config,
            run,
            parameters,
            unit.slot as u32,
            unit.c_half,
            unit.d_half,
        );
        unit.slot ^= 1;
        unit.c_half ^= u32::from(parameters.output != 0);
        unit.d_half ^= u32::from(parameters.bias != 0);
        if let Err((rule, message)) = plan.check(&self.config) {
            return Err(site.illegal(rule, message));
        }
        self.conv = Some(plan);
        let config = self.config.clone();
        plan.expand(&config, &mut |instruction| {
            self.apply_expanded(&instruction, site, memory)
        })
    }

    fn apply_expanded(
        &mut self,
        instruction: &Instruction,
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
