//! NVIDIA GPUs behind the contract of families.
//!
//! A kernel is one file in CUDA C++ with a host function that launches kernels. The host
//! function runs confined, and all that comes of it is a list of launches; the launches run on
//! a simulated GPU, which needs no file of the vendor.

mod bench;
mod calibration;
mod compiler;
mod device;
mod diagnosis;
mod dialect;
mod feedback;
mod language;
mod requests;
mod texts;

use device::DeviceBench;
pub use language::CudaCpp;
use texts::TEXTS;

use autocomp_catalog::{Problem, Target};
use autocomp_core::{Language, Rewriter, Unit};
use autocomp_cuda_rewriter::{CudaRewriter, GpuResources};
use autocomp_cuda_sim::timing::Machine;
use autocomp_eval::simulator::Calibrated;
use autocomp_eval::{
    Bench, EvalError, Family, Finding, Opening, Surroundings, filled, unusable_machine,
};
use autocomp_measuring::DeviceFile as _;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

/// Shared memory that a block may have without asking for more, bytes.
const STATIC_SHARED_BYTES: i64 = 48 << 10;

/// The family of simulated NVIDIA GPUs.
#[derive(Debug)]
pub struct Cuda;

impl Family for Cuda {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn languages(&self) -> &'static [&'static dyn Language] {
        &[&CudaCpp]
    }

    fn unit(&self, _target: &Target, _machine: &str) -> Result<Unit, EvalError> {
        Ok(Unit::Nanoseconds)
    }

    fn check_target(&self, target: &Target) -> Result<(), EvalError> {
        let mut names = target.machines.keys();
        names.try_for_each(|name| machine_of(target, name).map(|_| ()))
    }

    fn open(&self, opening: Opening<'_>) -> Result<Arc<dyn Bench>, EvalError> {
        match device_of(opening.target, opening.machine)? {
            Some(settings) => Ok(Arc::new(DeviceBench::open(opening, settings)?)),
            None => {
                let machine = machine_of(opening.target, opening.machine)?;
                Ok(Arc::new(bench::CudaBench::open(opening, machine)?))
            }
        }
    }

    fn rewriter(
        &self,
        problem: &Problem,
        target: &Target,
        machine: &str,
    ) -> Result<Option<Arc<dyn Rewriter>>, EvalError> {
        let machine = machine_of(target, machine)?;
        let resources = GpuResources {
            sms: f64::from(machine.sms),
            clock_ghz: machine.clock_mhz * 1e-3,
            dram_bytes_per_ns: machine.dram_bytes_per_ns,
            l2_bytes_per_ns: machine.l2_bytes_per_ns,
            launch_ns: machine.launch_ns,
            tensor_macs: machine.tensor_macs,
            most_shared_bytes: machine.block_shared_bytes as i64,
            shared_bytes: STATIC_SHARED_BYTES.min(machine.block_shared_bytes as i64),
            extents: problem
                .buffers
                .iter()
                .map(|it| it.elements() as i64)
                .collect(),
        };
        Ok(Some(Arc::new(CudaRewriter::new(&problem.entry, resources))))
    }

    fn figures(
        &self,
        target: &Target,
        machine: &str,
    ) -> Result<BTreeMap<String, String>, EvalError> {
        let machine = machine_of(target, machine)?;
        let figure = |name: &str, value: String| (name.to_owned(), value);
        let tflops = 2.0 * machine.fp32_lanes * f64::from(machine.sms) * machine.clock_mhz * 1e-6;
        let tensor = 2.0 * machine.tensor_macs * f64::from(machine.sms) * machine.clock_mhz * 1e-6;
        let rates = autocomp_cuda_sim::timing::rates(&machine);
        let rates: Vec<(&str, &dyn Display)> = rates
            .iter()
            .map(|(name, value)| (name.as_str(), value as &dyn Display))
            .collect();
        Ok(BTreeMap::from([
            figure("rates", filled(TEXTS.rates.trim_end(), &rates)),
            figure(
                "dram_rate_gb_per_s",
                format!("{:.0}", machine.dram_bytes_per_ns),
            ),
            figure("launch_ns", format!("{:.0}", machine.launch_ns)),
            figure("sms", machine.sms.to_string()),
            figure("clock_mhz", format!("{:.0}", machine.clock_mhz)),
            figure("fp32_tflops", format!("{tflops:.0}")),
            figure("tensor_tflops", format!("{tensor:.0}")),
            figure("warps", machine.warps.to_string()),
            figure("blocks", machine.blocks.to_string()),
            figure("shared_kib", (machine.block_shared_bytes >> 10).to_string()),
            figure("l2_mib", (machine.l2_bytes >> 20).to_string()),
            figure(
                "dram_gb_per_s",
                format!("{:.0}", machine.dram_peak_bytes_per_ns),
            ),
            figure("spread_percent", format!("{:.0}", machine.spread_percent)),
        ]))
    }

    fn examine(&self, _surroundings: &Surroundings) -> Vec<Finding> {
        let simulated = Finding {
            name: "NVIDIA GPUs, simulated",
            ok: true,
            detail: "without any file of the vendor; times are estimates from PTX".into(),
            remedies: Vec::new(),
        };
        // That there is no GPU is no fault of this computer.
        let detail = match device::found(None, 0) {
            Ok(told) => format!(
                "{}, {}, driver for CUDA {}: machine `device` of target cuda-{} measures on it",
                told.name,
                told.architecture,
                told.driver,
                told.architecture.replace('_', "")
            ),
            Err(reason) => format!("none to measure on: {reason}"),
        };
        let device = Finding {
            name: "NVIDIA GPU, measured",
            ok: true,
            detail,
            remedies: Vec::new(),
        };
        vec![simulated, device]
    }

    fn calibrated(&self) -> Option<&'static dyn Calibrated> {
        Some(&calibration::Measured)
    }

    fn probe(&self) -> &'static str {
        "cuda/vector-add-f32-1048576"
    }
}

/// Returns the settings of a GPU that is there; none for a simulated machine.
fn device_of(target: &Target, name: &str) -> Result<Option<device::Settings>, EvalError> {
    autocomp_eval::read_machine(target, name, device::Settings::parse)
}

/// Reads the description of a machine of `target`; of a GPU that is there, that of the simulated
/// machine that stands for it.
pub(crate) fn machine_of(target: &Target, name: &str) -> Result<Machine, EvalError> {
    let simulated = device_of(target, name)?.map(|device| device.simulated);
    let named = simulated.as_deref().unwrap_or(name);
    let machine = autocomp_eval::read_machine(target, named, Machine::parse)?;
    let unusable = |message: String| Err(unusable_machine(target, named, &message));
    if machine.name != named {
        return unusable(format!(
            "`name` is {:?} and must be that of the file, {named:?}",
            machine.name
        ));
    }
    // Kernels and times of one target are those of one architecture.
    if named != target.default_machine && simulated.is_none() {
        let customary = machine_of(target, &target.default_machine)?.architecture;
        if machine.architecture != customary {
            return unusable(format!(
                "`architecture` is {:?}, and target {} is for {customary:?}",
                machine.architecture, target.name
            ));
        }
    }
    Ok(machine)
}

/// Parts that `tests/suite` and `examples` use one by one. No interface.
#[doc(hidden)]
pub mod inside {
    pub use crate::bench::CudaBench;
    pub use crate::device::{
        Comparison, Device, Ended, Entry, Failure, Loaded, Program, Session, Told, Uploaded, find,
        found, run,
    };
    pub use crate::texts::TEXTS;
}
