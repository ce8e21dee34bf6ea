//! What the compiler of the first dialect takes out of a kernel: operations that give the same in
//! every iteration of a loop, and first sums into accumulators that hold zeros.

use super::memory::Plan;
use crate::number_maps::Keyed;
use crate::tensor::short::Short;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction, Meaning, Operation, Part, Region, Tile};

/// Whether equal operations of this kind give equal results.
pub(super) const fn is_plain(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::TensorTensor
            | Operation::TensorScalar
            | Operation::ScalarTensorTensor
            | Operation::Activation
            | Operation::Reciprocal
            | Operation::Reduce
    )
}

/// Whether an instruction adds two tiles into an accumulator.
pub(super) fn adds(instruction: &Instruction) -> bool {
    instruction.operation == Operation::TensorTensor
        && instruction.features.sum
        && instruction.reads.len() == 2
}

/// What operations have in common that may be one: line, operation, the call with its numbers,
/// what is read.
type Name = (u32, Operation, Meaning, Short<(Tile, Part), 3>);

/// Where an operation has been before.
struct Seen {
    /// Instance of the loop: a loop that is entered again is another one.
    instance: u32,
    iteration: u32,
    position: usize,
    home: Tile,
}

/// Takes operations of an affine loop out that read what they read in an earlier iteration: they
/// are done once.
///
/// Operations are equal by name: the same call with the same numbers on the same parts of the same
/// tiles. What they give on some input does not count.
pub(super) fn hoist(plan: &mut Plan) {
    let uses = plan.uses();
    if !uses.plain {
        return;
    }
    let mut instances: Keyed<u32, (u32, u32)> = Keyed::default();
    let mut last_write: Vec<Option<usize>> = plan.table(None);
    let mut seen: Keyed<Name, Seen> = Keyed::default();
    let mut renamed: Vec<Option<Tile>> = plan.table(None);
    // Those that go, with the tile that each wrote and the one to be read instead.
    let mut gone: Vec<(usize, Tile, Tile)> = Vec::new();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        let (number, iteration) = instruction.site;
        let (instance, latest) = instances.entry(number).or_insert((0, iteration));
        if iteration < *latest {
            *instance += 1;
        }
        *latest = iteration;
        let instance = *instance;
        let own = match &instruction.writes[..] {
            [only] if uses.tiles[only.tile.at()].writers == 1 => Some(only),
            _ => None,
        };
        if let (Some(home), true, true) = (
            own.filter(|region| plan.lies_in(region, Buffer::Sbuf)),
            is_plain(instruction.operation),
            number != 0,
        ) && !instruction.features.accumulate
            && !instruction.reads.is_empty()
        {
            let home = home.tile;
            let reads = instruction.reads.iter();
            let reads: Short<_, 3> = reads
                .map(|it| (renamed[it.tile.at()].unwrap_or(it.tile), it.part()))
                .collect();
            let fresh = |since: usize| {
                let mut reads = reads.iter();
                reads.all(|(tile, _)| last_write[tile.at()].is_none_or(|write| write < since))
            };
            let name = (
                instruction.line,
                instruction.operation,
                instruction.meaning,
                reads.clone(),
            );
            match seen.get(&name) {
                Some(before)
                    if before.instance == instance
                        && before.iteration < iteration
                        && fresh(before.position) =>
                {
                    renamed[home.at()] = Some(before.home);
                    gone.push((position, home, before.home));
                    continue;
                }
                _ => {
                    let now = Seen {
                        instance,
                        iteration,
                        position,
                        home,
                    };
                    seen.insert(name, now);
                }
            }
        }
        for region in &instruction.writes {
            last_write[region.tile.at()] = Some(position);
        }
    }
    if gone.is_empty() {
        return;
    }
    renamed.fill(None);
    let mut gone = gone.into_iter().peekable();
    let mut position = 0;
    plan.instructions_mut().retain_mut(|instruction| {
        let at = position;
        position += 1;
        if let Some((_, home, instead)) = gone.next_if(|(place, ..)| *place == at) {
            renamed[home.at()] = Some(instead);
            return false;
        }
        for region in &mut instruction.reads {
            if let Some(instead) = renamed[region.tile.at()] {
                region.tile = instead;
            }
        }
        true
    });
}

/// A sum into an accumulator that nothing was written to is the value itself: its producer
/// writes there, and the sum goes.
pub(super) fn first_sums(plan: &mut Plan) {
    let uses = plan.uses();
    if !uses.sums {
        return;
    }
    // What was written of each accumulator.
    let mut written: Vec<Short<Part, 1>> = plan.table(Short::new());
    let mut producers: Vec<Option<usize>> = plan.table(None);
    // Sums that go, with the producer of the value and its new target.
    let mut gone: Vec<(usize, usize, Region)> = Vec::new();
    for (position, instruction) in plan.instructions.iter().enumerate() {
        let target = instruction.writes.first().copied();
        let psum = target.filter(|region| plan.lies_in(region, Buffer::Psum));
        let mut producer = position;
        if let (Some(target), true) = (psum, adds(instruction)) {
            let mut before = written[target.tile.at()].iter();
            let zero = !before.any(|part| part.overlaps(&target.part()));
            let mut others = instruction.reads.iter();
            let value = others.find(|region| region.tile != target.tile);
            let alone = value
                .map(|region| region.tile.at())
                .filter(|at| uses.tiles[*at].writers == 1 && uses.tiles[*at].readers == 1);
            let able = |at: &usize| {
                let choice = plan.instructions[*at].choice;
                !matches!(choice, Choice::Fixed(Engine::Gpsimd | Engine::Dma))
            };
            let found = alone.and_then(|at| producers[at]).filter(able);
            if let (true, Some(at)) = (zero, found) {
                gone.push((position, at, target));
                producer = at;
            }
        }
        for region in &instruction.writes {
            let at = region.tile.at();
            producers[at] = Some(producer);
            let part = region.part();
            let known = written[at].iter().any(|before| before.covers(&part));
            if !known && plan.lies_in(region, Buffer::Psum) {
                written[at].push(part);
            }
        }
    }
    if gone.is_empty() {
        return;
    }
    let instructions = plan.instructions_mut();
    for (_, producer, target) in &gone {
        let producer = &mut instructions[*producer];
        producer.writes = [*target].into_iter().collect();
        producer.features.touches_psum = true;
    }
    let mut gone = gone.into_iter().peekable();
    let mut position = 0;
    instructions.retain_mut(|_| {
        let at = position;
        position += 1;
        gone.next_if(|(place, ..)| *place == at).is_none()
    });
}
