//! What the compiler of the first dialect takes out of a kernel: operations that give the same in
//! every iteration of a loop, and first sums into accumulators that hold zeros.

use crate::keyed::Keyed;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction, Operation, Region, Tensor};

/// Tensor and block of a tile.
type Key = (u32, u32);

fn key(region: &Region) -> Key {
    (region.tensor, region.block)
}

/// How many instructions write each tile, and how many read it.
fn uses(instructions: &[Instruction]) -> (Keyed<Key, u32>, Keyed<Key, u32>) {
    let (mut writers, mut readers) = (Keyed::<Key, u32>::default(), Keyed::<Key, u32>::default());
    for instruction in instructions {
        for region in &instruction.writes {
            *writers.entry(key(region)).or_default() += 1;
        }
        for region in &instruction.reads {
            *readers.entry(key(region)).or_default() += 1;
        }
    }
    (writers, readers)
}

/// What operations have in common that may be one: line, operation, elements, what is read.
type Name = (u32, Operation, u32, Vec<(Key, (u64, u64))>);

/// Where an operation has been before.
struct Seen {
    /// Instance of the loop: a loop that is entered again is another one.
    instance: u32,
    iteration: u32,
    position: usize,
    home: Key,
    values: u64,
}

/// Takes operations of an affine loop out that read what they read in an earlier iteration: they
/// are done once. How many went.
///
/// Numbers among the operands are no part of the trace: operations are equal if they gave equal
/// values, too. In a run without values those that differ in a number only count as equal.
pub(super) fn hoist(instructions: &mut Vec<Instruction>, tensors: &[Tensor]) -> u64 {
    let (writers, _) = uses(instructions);
    let mut instances: Keyed<u32, (u32, u32)> = Keyed::default();
    let mut last_write: Keyed<Key, usize> = Keyed::default();
    let mut seen: Keyed<Name, Seen> = Keyed::default();
    let mut renamed: Keyed<Key, Key> = Keyed::default();
    let mut hoisted = 0;
    let mut kept = Vec::with_capacity(instructions.len());
    for (position, mut instruction) in std::mem::take(instructions).into_iter().enumerate() {
        for region in &mut instruction.reads {
            if let Some((tensor, block)) = renamed.get(&key(region)) {
                (region.tensor, region.block) = (*tensor, *block);
            }
        }
        let (number, iteration) = instruction.site;
        let (instance, latest) = instances.entry(number).or_insert((0, iteration));
        if iteration < *latest {
            *instance += 1;
        }
        *latest = iteration;
        let instance = *instance;
        let plain = matches!(
            instruction.operation,
            Operation::TensorTensor
                | Operation::TensorScalar
                | Operation::ScalarTensorTensor
                | Operation::Activation
                | Operation::Reciprocal
                | Operation::Reduce
        );
        let own = match &instruction.writes[..] {
            [only] if writers.get(&key(only)) == Some(&1) => Some(key(only)),
            _ => None,
        };
        let chip = |at: &Key| {
            let tensor = tensors.get(at.0 as usize);
            tensor.is_some_and(|tensor| tensor.buffer == Buffer::Sbuf)
        };
        if let (Some(home), true, true) = (own.filter(chip), plain, number != 0)
            && !instruction.features.accumulate
            && !instruction.reads.is_empty()
        {
            let reads = instruction.reads.iter();
            let reads: Vec<_> = reads.map(|region| (key(region), region.span)).collect();
            let fresh = |since: usize| {
                let mut reads = reads.iter();
                reads.all(|(at, _)| last_write.get(at).is_none_or(|write| *write < since))
            };
            let name = (
                instruction.line,
                instruction.operation,
                instruction.free,
                reads.clone(),
            );
            match seen.get(&name) {
                Some(before)
                    if before.instance == instance
                        && before.iteration < iteration
                        && before.values == instruction.values
                        && fresh(before.position) =>
                {
                    renamed.insert(home, before.home);
                    hoisted += 1;
                    continue;
                }
                _ => {
                    let now = Seen {
                        instance,
                        iteration,
                        position,
                        home,
                        values: instruction.values,
                    };
                    seen.insert(name, now);
                }
            }
        }
        for region in &instruction.writes {
            last_write.insert(key(region), position);
        }
        kept.push(instruction);
    }
    *instructions = kept;
    hoisted
}

/// A sum into an accumulator that nothing was written to is the value itself: its producer
/// writes there, and the sum goes. How many went.
pub(super) fn first_sums(instructions: &mut Vec<Instruction>, tensors: &[Tensor]) -> u64 {
    let (writers, readers) = uses(instructions);
    let mut written: Keyed<Key, Vec<Region>> = Keyed::default();
    let mut producers: Keyed<Key, usize> = Keyed::default();
    let mut out: Vec<Instruction> = Vec::with_capacity(instructions.len());
    let mut gone = 0;
    for instruction in std::mem::take(instructions) {
        let target = instruction.writes.first().copied();
        let psum = target.filter(|region| {
            let tensor = tensors.get(region.tensor as usize);
            tensor.is_some_and(|tensor| tensor.buffer == Buffer::Psum)
        });
        let adds = instruction.operation == Operation::TensorTensor
            && instruction.features.accumulate
            && instruction.reads.len() == 2;
        let mut merged = false;
        if let (Some(target), true) = (psum, adds) {
            let zero = written
                .get(&key(&target))
                .is_none_or(|regions| !regions.iter().any(|region| region.overlaps(&target)));
            let mut others = instruction.reads.iter();
            let value = others.find(|region| key(region) != key(&target)).map(key);
            let alone =
                value.filter(|at| writers.get(at) == Some(&1) && readers.get(at) == Some(&1));
            let producer = alone.and_then(|at| producers.get(&at)).copied();
            if let (true, Some(at)) = (zero, producer) {
                let able = !matches!(out[at].choice, Choice::Fixed(Engine::Gpsimd | Engine::Dma));
                if able {
                    out[at].writes = [target].into_iter().collect();
                    out[at].features.touches_psum = true;
                    merged = true;
                    gone += 1;
                }
            }
        }
        for region in &instruction.writes {
            written.entry(key(region)).or_default().push(*region);
            producers.insert(key(region), out.len());
        }
        if !merged {
            out.push(instruction);
        }
    }
    *instructions = out;
    gone
}
