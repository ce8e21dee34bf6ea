//! How long an engine is busy with an instruction.
//!
//! Sources. The formulas in cycles, with `n` elements in each partition, are those that the
//! vendor's page of each instruction (`nki.isa.NAME`, "estimated instruction cost") gives for the
//! second generation: the least of 64 cycles, `2 n` of `tensor_tensor` and its `n` for one operand
//! in PSUM or for two-byte types, `n / 2` of sums of two-byte types and of zeroed ones, `2 n` of
//! scans and predicated copies, `13 n / 3` of `bn_aggr`, `max(64, n) + 64` of instructions that
//! read their accumulators out, four times the cycles of the matrix engine for four-byte types,
//! half of that with an operand of zeros and ones. What runs at a multiple of the rate from the
//! third generation on is from the vendor's guide to Trainium2. What is in no document is fitted to
//! the published latencies that `sim calibrate` reads, and stands in the machine's file, whose
//! `basis` says so: overheads, floors, slow-downs, and the reciprocal, of which published profiles
//! contradict the documented `8 n`.

use super::machine::Machine;
use crate::trace::{Engine, Instruction, Operation};

/// Columns of which the matrix engine takes at least the time (page of `nki.isa.nc_matmul`: the
/// least of 64 and the stationary columns).
const ARRAY: f64 = 64.0;

/// Factor of cycles where the innermost elements do not lie side by side. No document gives it: the
/// guide to the architecture says that steps of 16 bytes and more halve the rate of that operand,
/// and an instruction has operands beside it that are not strided.
const STRIDED: f64 = 1.5;

/// Nanoseconds during which `engine` is busy with an instruction.
pub(crate) fn busy(instruction: &Instruction, engine: Engine, machine: &Machine) -> f64 {
    let n = f64::from(instruction.free.max(1));
    let features = &instruction.features;
    let rates = match engine {
        Engine::Tensor => &machine.tensor,
        Engine::Vector => &machine.vector,
        Engine::Scalar => &machine.scalar,
        Engine::Gpsimd => &machine.gpsimd,
        Engine::Dma => return 0.0,
        Engine::Sync => return sequencer(instruction, machine),
    };
    let sixteen = machine.rates.fast_sixteen_bit && features.narrow;
    let cycles = match (instruction.operation, engine) {
        (Operation::Matmul | Operation::Transpose, _) => {
            let columns = f64::from(instruction.columns);
            let stream = n.max(ARRAY.min(columns));
            let spread = instruction.partitions == 1 && features.inserted;
            let factor = match (features.fp32, features.onezero) {
                (true, true) if spread && 0.0 < rates.spread_factor => rates.spread_factor,
                (true, true) => rates.fp32_factor / 2.0,
                (true, false) => rates.fp32_factor,
                _ if features.double_row => 0.5,
                _ => 1.0,
            };
            let cycles = (stream + rates.overhead_cycles).max(rates.floor_cycles);
            return cycles * factor / rates.ghz;
        }
        // "the computation throughput of reverse square root on GpSIMD Engine is 4x lower than
        // Scalar Engine" (page of the operators).
        (_, Engine::Gpsimd) if features.quotient => 4.0 * n,
        (_, Engine::Vector) if features.quotient => machine.rates.reciprocal * n,
        (Operation::TensorTensor, Engine::Vector) => {
            let single = features.psum_inputs == 1 || features.narrow;
            match (single, sixteen) {
                (true, _) | (_, true) => n,
                _ => machine.rates.two_operands * n,
            }
        }
        (Operation::ScalarTensorTensor | Operation::CopyPredicated, Engine::Vector) => {
            if features.psum_inputs > 0 || features.narrow {
                n
            } else {
                machine.rates.two_operands * n
            }
        }
        (Operation::Reduce, Engine::Vector) => {
            if features.narrow {
                n / 2.0
            } else {
                n
            }
        }
        // "four input elements per partition, per cycle" (guide to Trainium3).
        (Operation::Quantize, _) => n / 4.0,
        (Operation::Scan, _) => 2.0 * n,
        (Operation::Reciprocal, Engine::Vector) => machine.rates.reciprocal * n,
        (Operation::BatchAggregate, _) => 13.0 * n / 3.0,
        (Operation::ActivationReduce | Operation::TensorScalarReduce, _) => n.max(64.0) + 64.0,
        (Operation::Copy | Operation::TensorScalar, Engine::Vector) if sixteen => n / 2.0,
        (Operation::Memset, _) if features.narrow => n / 2.0,
        (Operation::TensorTensor, Engine::Gpsimd) => 2.0 * n,
        // No document gives it: a pass over the columns for each time that two halves of the
        // partitions become one.
        (Operation::PartitionReduce, _) => {
            let partitions = f64::from(instruction.partitions.max(2));
            n * partitions.log2().ceil()
        }
        _ => n,
    };
    let cycles = if features.unit_stride || engine == Engine::Tensor {
        cycles
    } else {
        STRIDED * cycles
    };
    // Streams out of the accumulators start sooner.
    let overhead = if features.psum_inputs > 0 {
        rates.psum_overhead_cycles.min(rates.overhead_cycles)
    } else {
        rates.overhead_cycles
    };
    let floor = if features.touches_psum {
        rates.psum_floor_cycles
    } else {
        rates.floor_cycles
    };
    (cycles * rates.slowdown + overhead).max(floor) / rates.ghz
}

/// Nanoseconds that the sequencer takes for an instruction on registers. It runs one after the
/// other; a value from or to memory takes the way there and back, which for main memory is the
/// latency of a transfer.
fn sequencer(instruction: &Instruction, machine: &Machine) -> f64 {
    let own = machine.scalar.floor_cycles / machine.scalar.ghz;
    let way = match (instruction.operation, &instruction.transfer) {
        (_, Some(_)) => machine.dma.latency_ns,
        (Operation::RegisterLoad | Operation::RegisterStore, None) => 2.0 * machine.tail_ns,
        _ => 0.0,
    };
    own + way
}
