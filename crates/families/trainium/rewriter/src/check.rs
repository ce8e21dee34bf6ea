//! What a draft would do, found without data: whether the device would take it, and how long
//! it would take.

use autocomp_trainium_sim::timing::{Passes, loading_iterations, time, totals};
use autocomp_trainium_sim::trace::Trace;
use autocomp_trainium_sim::{Array, Dtype, Evaluation, Input, Options, evaluate};

use super::proposal::Problem;

/// Share of the work of engines other than the busiest that counts: it overlaps, but never wholly.
const OVERLAP_LOSS: f64 = 0.2;
/// Share of the work of all engines that counts beside the time that a kernel takes.
const HIDDEN: f64 = 0.05;
/// Most steps and instructions of a draft.
const STEPS: u64 = 20_000_000;
const INSTRUCTIONS: usize = 400_000;

/// An input of the kernel.
#[derive(Clone, Debug)]
pub struct InputShape {
    /// Name of the parameter.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Sizes of its dimensions.
    pub shape: Vec<usize>,
}

/// What a kernel does, by shapes alone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Check {
    /// Nanoseconds that the kernel takes, and a share of the work of its engines: what waits behind
    /// something else today may be what is waited for tomorrow.
    pub(super) nanoseconds: f64,
    /// Nanoseconds of the busiest engine's work and a share of the others', in whatever order.
    pub(super) work: f64,
    /// Instructions and transfers.
    pub(super) instructions: usize,
    /// Operations of the matrix engine, without those that only turn and spread tiles.
    pub(super) flops: u64,
    /// Bytes that it writes to main memory: a draft that leaves out or repeats a part shows.
    pub(super) written: u64,
    /// Shapes and types of what it returns.
    pub(super) outputs: Vec<(Dtype, Vec<usize>)>,
}

impl Check {
    /// Whether two kernels return the same shapes and write as much.
    pub(super) fn alike(&self, other: &Self) -> bool {
        self.outputs == other.outputs && self.written == other.written
    }
}

/// Runs a kernel without data; `None` where the device or a limit refuses it.
pub(super) fn run(source: &str, problem: &Problem) -> Option<Evaluation> {
    let machine = &problem.machine;
    let tensors = problem.inputs.iter();
    let inputs: Vec<(String, Input)> = tensors
        .map(|it| {
            let array = Array {
                dtype: it.dtype,
                shape: it.shape.clone(),
                data: Vec::new(),
            };
            (it.name.clone(), Input::Array(array))
        })
        .chain(problem.arguments.iter().cloned())
        .collect();
    let options = Options {
        generation: machine.generation,
        cores: machine.cores,
        functional: false,
        step_limit: STEPS,
        instruction_limit: INSTRUCTIONS,
        ..Options::default()
    };
    evaluate(source, &problem.entry, &inputs, &options).ok()
}

/// Finds what a kernel would do; `None` where the device or a limit refuses it.
pub(super) fn check(source: &str, problem: &Problem) -> Option<Check> {
    let machine = &problem.machine;
    let evaluation = run(source, problem)?;
    let passes = Passes::of(&evaluation);
    let busy = totals(&evaluation.trace, machine, passes);
    let [_, vector, _, gpsimd, ..] = busy;
    let mut most = busy.iter().copied().fold(0.0, f64::max);
    if machine.exclusions {
        // They take turns at the port that they share.
        most = most.max(vector + gpsimd);
    }
    let sum: f64 = busy.iter().sum();
    let waits = loading_iterations(&evaluation.trace, passes) as f64 * machine.dma.latency_ns;
    let latency = time(&evaluation.trace, machine, passes).latency_ns;
    Some(Check {
        nanoseconds: latency + HIDDEN * sum,
        work: machine.launch_ns + waits + most + OVERLAP_LOSS * (sum - most),
        instructions: evaluation.traces().map(Trace::len).sum(),
        flops: evaluation.traces().map(Trace::product_flops).sum(),
        written: evaluation.traces().map(Trace::written_bytes).sum(),
        outputs: evaluation
            .outputs
            .into_iter()
            .map(|it| (it.dtype, it.shape))
            .collect(),
    })
}
