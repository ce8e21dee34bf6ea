//! Times that a device measured beside those of the model.

mod comparison;
mod contents;
mod suite;

pub use comparison::{Estimated, Group, Half, Report, Row, Total, compare};
pub use suite::{Argument, Case, Planned, Suite};

use crate::decode::{Kernel, buffer_address};
use crate::machine::{DeviceMemory, Launch};
use crate::ptx::Module;
use crate::timing::{Estimate, L2, Machine, Sampling, watch};
use std::collections::BTreeMap;

/// A file of kernels.
#[derive(Debug)]
pub struct Compiled {
    /// What it declares.
    pub module: Module,
    /// Its kernels.
    pub kernels: Vec<Kernel>,
}

/// Blocks of a launch that are traced.
const BLOCKS: u32 = 6;
/// Steps of warps that a launch may take.
const MOST_STEPS: u64 = 2_000_000_000;

/// Estimates of a case, its launches in order.
#[derive(Debug)]
pub struct Estimates {
    /// With an L2 that holds nothing at first.
    pub cold: Vec<Estimate>,
    /// After a run of the same.
    pub warm: Vec<Estimate>,
}

impl Estimates {
    /// Returns cold and warm nanoseconds of all launches, and what limits the longest one.
    #[must_use]
    pub fn summary(&self) -> (f64, f64, String) {
        let sum = |list: &[Estimate]| list.iter().map(|it| it.ns).sum::<f64>();
        let longest = self.cold.iter().max_by(|a, b| a.ns.total_cmp(&b.ns));
        let limit = longest.and_then(|it| it.parts.first());
        let limit = limit.map_or_else(String::new, |part| part.name.to_owned());
        (sum(&self.cold), sum(&self.warm), limit)
    }
}

/// Estimates how long the launches of a case take.
///
/// # Errors
/// What is wrong in it.
pub fn estimate(case: &Case, compiled: &Compiled, machine: &Machine) -> Result<Estimates, String> {
    let mut memory = DeviceMemory::new(&compiled.module);
    let mut buffers = BTreeMap::new();
    let mut footprint = 0;
    let mut estimates = Estimates {
        cold: Vec::new(),
        warm: Vec::new(),
    };
    let mut watched = Vec::new();
    for planned in &case.launches {
        let kernel = find(&compiled.kernels, &planned.kernel)?;
        let mut arguments: Vec<u8> = Vec::new();
        for argument in &planned.arguments {
            match argument {
                Argument::Whole(value) => {
                    arguments.resize(arguments.len().next_multiple_of(4), 0);
                    arguments.extend(value.to_le_bytes());
                }
                Argument::Buffer { name, content } => {
                    if let Some((kind, count)) = content {
                        let bytes = contents::content(kind, *count)?;
                        footprint += bytes.len() as u64;
                        buffers.insert(name.clone(), memory.add_buffer(bytes, true));
                    }
                    let buffer = buffers
                        .get(name)
                        .ok_or_else(|| format!("nothing says what the buffer `{name}` holds"))?;
                    arguments.resize(arguments.len().next_multiple_of(8), 0);
                    arguments.extend(buffer_address(*buffer).to_le_bytes());
                }
            }
        }
        let launch = Launch {
            kernel: kernel.name.clone(),
            grid: planned.grid,
            block: planned.block,
            dynamic_shared: planned.shared,
            allowed_shared: planned.shared,
            arguments,
        };
        let sampling = Sampling {
            blocks: BLOCKS,
            seed: 1,
            most_steps: MOST_STEPS,
            alone: !planned.all_blocks,
        };
        let found = watch(&launch, kernel, &mut memory, machine, sampling);
        watched.push(found.map_err(|it| format!("{}: {:?}", it.kernel, it.fault))?);
    }
    let (mut cold, mut warm) = (L2::cold(), L2::warm(footprint));
    for watched in &watched {
        estimates.cold.push(watched.estimate(machine, &mut cold));
        estimates.warm.push(watched.estimate(machine, &mut warm));
    }
    Ok(estimates)
}

/// Finds the kernel of a name as the source has it: `add`, or `add<4>`.
fn find<'k>(kernels: &'k [Kernel], name: &str) -> Result<&'k Kernel, String> {
    let (base, numbers) = name.split_once('<').unwrap_or((name, ""));
    let mut mangled = format!("_Z{}{base}", base.len());
    if !numbers.is_empty() {
        let numbers = numbers.trim_end_matches('>').split(',');
        let numbers: Vec<String> = numbers.map(|it| format!("Li{}E", it.trim())).collect();
        mangled += &format!("I{}E", numbers.concat());
    }
    let mut fitting = kernels.iter().filter(|it| it.name.starts_with(&mangled));
    fitting
        .next()
        .ok_or_else(|| format!("there is no kernel `{name}`"))
}
