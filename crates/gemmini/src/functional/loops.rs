//! The hardware loops: each command of theirs in turn.

use super::Functional;
use super::faults::{Actor, Site};
use crate::isa::Instruction;
use crate::loop_conv::ConvLoop;
use crate::loop_isa::{ConvRun, MatmulRun};
use crate::loop_ws::MatmulLoop;
use autocomp_riscv::{Fault, Memory};

/// State that the loop units keep from one loop to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopUnit<P> {
    /// Parameters of the two slots.
    pub parameters: [P; 2],
    /// Slot that is configured and run next.
    pub slot: usize,
    /// Accumulator half of the next output.
    c_half: u32,
    /// Accumulator half of the next bias.
    d_half: u32,
}

impl<P: Copy> LoopUnit<P> {
    /// Starts the loop that has been configured: returns its parameters, its
    /// slot, and the accumulator halves of output and bias. The next one has
    /// the other slot, and the other half of what this one `uses`: output,
    /// bias.
    fn start(&mut self, uses: impl FnOnce(&P) -> [bool; 2]) -> (P, [u32; 3]) {
        let parameters = self.parameters[self.slot];
        let place = [self.slot as u32, self.c_half, self.d_half];
        let [output, bias] = uses(&parameters);
        self.slot ^= 1;
        self.c_half ^= u32::from(output);
        self.d_half ^= u32::from(bias);
        (parameters, place)
    }
}

impl Functional {
    pub(super) fn loop_ws(
        &mut self,
        site: Site,
        run: MatmulRun,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        self.refuse_lone_preload(site)?;
        let (parameters, [slot, c_half, d_half]) = self
            .matmul_unit
            .start(|parameters| [parameters.dram[3] != 0, parameters.dram[2] != 0]);
        let plan = MatmulLoop::place(&self.config, run, parameters, slot, c_half, d_half);
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
            self.apply_expanded(instruction, site, memory)
        })
    }

    pub(super) fn loop_conv(
        &mut self,
        site: Site,
        run: ConvRun,
        memory: &mut Memory,
    ) -> Result<(), Box<Fault>> {
        self.refuse_lone_preload(site)?;
        let (parameters, [slot, c_half, d_half]) = self
            .conv_unit
            .start(|parameters| [parameters.output != 0, parameters.bias != 0]);
        let plan = ConvLoop::place(&self.config, run, parameters, slot, c_half, d_half);
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
