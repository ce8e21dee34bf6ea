//! Configuration commands.

use super::Functional;
use super::faults::Site;
use crate::config::Dataflows;
use crate::isa::{Activation, ConfigEx, ConfigLd, ConfigSt, Dataflow};
use autocomp_riscv::Fault;

impl Functional {
    pub(super) fn config_ex(&mut self, site: Site, command: ConfigEx) -> Result<(), Box<Fault>> {
        if let Some(earlier) = self.pending {
            return Err(self.lone_preload(site, earlier));
        }
        // The execute unit drains before it takes a new configuration.
        self.in_flight.clear();
        if command.strides_only {
            self.configured.set_ex(command);
            return Ok(());
        }
        let output = command.dataflow == Dataflow::OutputStationary;
        let built = match self.config.dataflows {
            Dataflows::Both => true,
            Dataflows::OutputStationary => output,
            Dataflows::WeightStationary => !output,
        };
        if !built {
            let name = if output { "output" } else { "weight" };
            return Err(site.illegal(
                "dataflow",
                format!("this accelerator has no {name}-stationary dataflow"),
            ));
        }
        if output && command.b_transpose && !command.a_transpose {
            return Err(site.illegal(
                "transpose",
                "output stationary can transpose B only together with A, or A alone".into(),
            ));
        }
        if !output && command.a_transpose && command.b_transpose {
            return Err(site.illegal(
                "transpose",
                "weight stationary can transpose A or B, not both".into(),
            ));
        }
        self.configured.set_ex(command);
        Ok(())
    }

    pub(super) fn config_ld(&mut self, site: Site, command: ConfigLd) -> Result<(), Box<Fault>> {
        if command.channel > 2 {
            return Err(site.illegal(
                "load-channel",
                "load channel 3; the channels are 0, 1 and 2".into(),
            ));
        }
        self.configured.set_load(command);
        Ok(())
    }

    pub(super) fn config_st(&mut self, site: Site, command: ConfigSt) -> Result<(), Box<Fault>> {
        let features = &self.config.features;
        let (activation, built) = match command.activation {
            Activation::None => ("", true),
            Activation::Relu => ("ReLU", features.nonlinear_activations),
            Activation::LayerNorm => (
                "layer norm",
                features.nonlinear_activations && features.normalizations,
            ),
            Activation::IGelu => (
                "GELU",
                features.nonlinear_activations && features.normalizations,
            ),
        };
        if !built {
            return Err(site.illegal(
                "activation",
                format!("this accelerator has no unit for {activation}"),
            ));
        }
        if command.pool.stride != 0 && !features.max_pool {
            return Err(site.illegal("mvout-pool", "this accelerator cannot pool".into()));
        }
        self.configured.set_store(command);
        Ok(())
    }
}
