//! Which instruction waits for which.

use crate::keyed::Keyed;
use crate::tensor::short::Short;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction, Operation, Region, Tensor};

/// Instructions that wait for another, and whether for its result.
pub(super) type Waiting = Short<(u32, bool), 3>;

/// Edges of the dependence graph.
pub(super) struct Graph {
    /// For each instruction: those that wait for it, and whether they wait for its result
    /// (otherwise for the engine to have read or streamed).
    pub(super) waiting: Vec<Waiting>,
    /// How many instructions each waits for.
    pub(super) open: Vec<u32>,
}

#[derive(Default)]
struct Tile {
    writes: Vec<(Region, u32)>,
    reads: Vec<(Region, u32)>,
}

/// Loops that are run in order: the loads of an iteration wait for the work of the last one.
#[derive(Default)]
struct Rolled {
    step: (u32, u32),
    /// Last work of the iteration before, and of this one, by engine.
    before: [Option<u32>; 4],
    now: [Option<u32>; 4],
}

impl Rolled {
    fn wait(&mut self, instruction: &Instruction, own: u32, before: &mut Vec<(u32, bool)>) {
        if instruction.step != self.step {
            let next = instruction.step.0 == self.step.0 && self.step.0 != 0;
            let ended = std::mem::take(&mut self.now);
            self.before = if next { ended } else { [None; 4] };
            self.step = instruction.step;
        }
        if self.step.0 == 0 {
            return;
        }
        let engine: usize = match instruction.choice {
            Choice::Fixed(Engine::Dma) => {
                if instruction.operation == Operation::Load {
                    before.extend(self.before.iter().flatten().map(|last| (*last, false)));
                }
                return;
            }
            Choice::Fixed(Engine::Tensor) => 0,
            Choice::Fixed(Engine::Scalar) => 1,
            Choice::Fixed(Engine::Gpsimd) => 2,
            _ => 3,
        };
        self.now[engine] = Some(own);
    }
}

/// The dependences between instructions, in program order.
pub(super) fn graph(instructions: &[Instruction], tensors: &[Tensor], rolled_loops: bool) -> Graph {
    let mut graph = Graph {
        waiting: vec![Waiting::new(); instructions.len()],
        open: vec![0; instructions.len()],
    };
    let mut tiles: Keyed<(u32, u32), Tile> = Keyed::default();
    let mut rolled = Rolled::default();
    let mut before: Vec<(u32, bool)> = Vec::new();
    for (position, instruction) in instructions.iter().enumerate() {
        let own = position as u32;
        for region in &instruction.reads {
            let Some(tensor) = tensors.get(region.tensor as usize) else {
                continue;
            };
            if tensor.input {
                continue;
            }
            let tile = tiles.entry((region.tensor, region.block)).or_default();
            for (other, writer) in tile.writes.iter().rev() {
                if other.overlaps(region) {
                    before.push((*writer, true));
                    if other.covers(region) {
                        break;
                    }
                }
            }
            tile.reads.push((*region, own));
        }
        for region in &instruction.writes {
            let Some(tensor) = tensors.get(region.tensor as usize) else {
                continue;
            };
            let main = !tensor.buffer.on_chip();
            let tile = tiles.entry((region.tensor, region.block)).or_default();
            for (other, reader) in &tile.reads {
                if *reader != own && other.overlaps(region) {
                    before.push((*reader, false));
                }
            }
            if !main {
                for (other, writer) in &tile.writes {
                    if other.overlaps(region) {
                        // Sums in the accumulators follow each other without a wait.
                        let chained =
                            instruction.features.accumulate && tensor.buffer == Buffer::Psum;
                        before.push((*writer, !chained));
                    }
                }
            }
            tile.reads
                .retain(|(other, reader)| *reader == own || !region.covers(other));
            if !main {
                tile.writes.retain(|(other, _)| !region.covers(other));
            }
            tile.writes.push((*region, own));
        }
        if rolled_loops {
            rolled.wait(instruction, own, &mut before);
        }
        before.sort_unstable();
        before.dedup_by_key(|(index, _)| *index);
        for (index, result) in before.drain(..) {
            if index != own {
                graph.waiting[index as usize].push((own, result));
                graph.open[position] += 1;
            }
        }
    }
    graph
}
