//! Which instruction waits for which.

use super::uses::Uses;
use crate::tensor::short::Short;
use crate::tensor::storage::Buffer;
use crate::trace::{Choice, Engine, Instruction, Long, Operation, Part, Tensor, Tile};

/// An instruction that waits for another: its position and, in the lowest bit, whether it waits
/// for the result; otherwise for the engine to have read or streamed.
#[derive(Clone, Copy, Default)]
pub(super) struct Waiting(u32);

impl Waiting {
    const fn new(instruction: u32, result: bool) -> Self {
        Self(instruction << 1 | result as u32)
    }

    pub(super) const fn instruction(self) -> u32 {
        self.0 >> 1
    }

    pub(super) const fn result(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Edges of the dependence graph.
pub(super) struct Graph {
    /// Those that wait, ordered by what they wait for.
    waiting: Vec<Waiting>,
    /// Where those that wait for each instruction begin; one more for the end.
    begins: Vec<u32>,
    /// How many instructions each waits for.
    pub(super) open: Vec<u32>,
}

impl Graph {
    /// Those that wait for an instruction.
    pub(super) fn waiting(&self, instruction: u32) -> &[Waiting] {
        let at = instruction as usize;
        &self.waiting[self.begins[at] as usize..self.begins[at + 1] as usize]
    }

    /// Orders edges from an instruction to one that waits for it.
    fn new(edges: &[(u32, Waiting)], open: Vec<u32>) -> Self {
        let mut begins = vec![0u32; open.len() + 1];
        for (before, _) in edges {
            begins[*before as usize] += 1;
        }
        // Each is where the next one begins, until its own edges are filled in from behind.
        let mut sum = 0;
        for begin in &mut begins {
            sum += *begin;
            *begin = sum;
        }
        let mut waiting = vec![Waiting::default(); edges.len()];
        for (before, one) in edges.iter().rev() {
            let place = &mut begins[*before as usize];
            *place -= 1;
            waiting[*place as usize] = *one;
        }
        Self {
            waiting,
            begins,
            open,
        }
    }
}

/// What was done to a tile: the parts, and by which instruction.
#[derive(Clone, Default)]
struct Done {
    writes: Short<(Part, u32), 1>,
    reads: Short<(Part, u32), 2>,
}

/// What was done to the tiles that are still used: few at a time, of many.
struct Live<'a> {
    uses: &'a Uses,
    /// The entry of each tile.
    places: Vec<u32>,
    done: Vec<Done>,
    /// Entries that were given back.
    free: Vec<u32>,
}

impl<'a> Live<'a> {
    fn new(uses: &'a Uses) -> Self {
        Self {
            uses,
            places: vec![u32::MAX; uses.tiles.len()],
            done: Vec::new(),
            free: Vec::new(),
        }
    }

    /// What was done to a tile.
    fn of(&mut self, tile: Tile) -> &mut Done {
        let place = &mut self.places[tile.at()];
        if *place == u32::MAX {
            *place = self.free.pop().unwrap_or_else(|| {
                self.done.push(Done::default());
                self.done.len() as u32 - 1
            });
        }
        &mut self.done[*place as usize]
    }

    /// Forgets a tile whose last use this was.
    fn used(&mut self, tile: Tile, position: u32) {
        let place = &mut self.places[tile.at()];
        if self.uses.tiles[tile.at()].last == position && *place != u32::MAX {
            self.done[*place as usize] = Done::default();
            self.free.push(std::mem::replace(place, u32::MAX));
        }
    }
}

/// Most parts of tiles that are compared, and most edges, before a trace is taken to be a chain.
/// The largest published kernels stay below a hundredth of both.
const COMPARISONS: usize = 2_000_000_000;
const EDGES: usize = 32_000_000;
/// How many instructions the first of such a chain waits for.
const BEFORE_CHAIN: u32 = 256;

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
            Choice::Fixed(Engine::Sync) => return,
            _ => 3,
        };
        self.now[engine] = Some(own);
    }
}

/// Registers: the sequencer runs its instructions one after the other, and what depends on a
/// value from data, or on a branch, waits for it.
#[derive(Default)]
struct Sequencer {
    latest: Option<u32>,
    barrier: Option<u32>,
}

impl Sequencer {
    fn wait(&mut self, instruction: &Instruction, own: u32, before: &mut Vec<(u32, bool)>) {
        if instruction.features.after_registers {
            self.barrier = self.latest;
        }
        before.extend(self.barrier.map(|latest| (latest, true)));
        if instruction.choice == Choice::Fixed(Engine::Sync) {
            before.extend(self.latest.map(|latest| (latest, false)));
            self.latest = Some(own);
            if instruction.operation == Operation::Branch {
                self.barrier = Some(own);
            }
        }
    }
}

/// The dependences between instructions, in program order, of which `uses` says what they do, and
/// `successions` who takes whose place.
pub(super) fn graph(
    instructions: &Long<Instruction>,
    tensors: &[Tensor],
    uses: &Uses,
    successions: &[(u32, u32)],
    rolled_loops: bool,
) -> Graph {
    let mut successions = successions.iter().peekable();
    let mut edges: Vec<(u32, Waiting)> = Vec::with_capacity(2 * instructions.len());
    let mut open = vec![0; instructions.len()];
    let mut tiles = Live::new(uses);
    let mut rolled = Rolled::default();
    let mut sequencer = Sequencer::default();
    let mut before: Vec<(u32, bool)> = Vec::new();
    let mut compared = 0;
    let mut chain = false;
    for (position, instruction) in instructions.iter().enumerate() {
        let own = position as u32;
        if COMPARISONS < compared || EDGES < edges.len() {
            // Kernels that touch few tiles in very many parts would take hours to compare.
            let since = if chain { 1 } else { BEFORE_CHAIN };
            chain = true;
            for index in own.saturating_sub(since)..own {
                edges.push((index, Waiting::new(own, true)));
                open[position] += 1;
            }
            continue;
        }
        for region in &instruction.reads {
            let Some(tensor) = tensors.get(region.tile.tensor as usize) else {
                continue;
            };
            if tensor.input {
                continue;
            }
            let tile = tiles.of(region.tile);
            let part = region.part();
            for (other, writer) in tile.writes.iter().rev() {
                compared += 1;
                if other.overlaps(&part) {
                    before.push((*writer, true));
                    if other.covers(&part) {
                        break;
                    }
                }
            }
            tile.reads.push((part, own));
        }
        for region in &instruction.writes {
            let Some(tensor) = tensors.get(region.tile.tensor as usize) else {
                continue;
            };
            let main = !tensor.buffer.on_chip();
            let tile = tiles.of(region.tile);
            let part = region.part();
            compared += 2 * (tile.reads.len() + tile.writes.len());
            for (other, reader) in &tile.reads {
                if *reader != own && other.overlaps(&part) {
                    before.push((*reader, false));
                }
            }
            if !main {
                for (other, writer) in &tile.writes {
                    if other.overlaps(&part) {
                        // Sums in the accumulators follow each other without a wait.
                        let chained =
                            instruction.features.accumulate && tensor.buffer == Buffer::Psum;
                        before.push((*writer, !chained));
                    }
                }
            }
            tile.reads
                .retain(|(other, reader)| *reader == own || !part.covers(other));
            if !main {
                tile.writes.retain(|(other, _)| !part.covers(other));
            }
            tile.writes.push((part, own));
        }
        for region in instruction.reads.iter().chain(&instruction.writes) {
            tiles.used(region.tile, own);
        }
        while let Some((_, last)) = successions.next_if(|(first, _)| *first <= own) {
            // What a transfer reads is free when the transfer is known to have ended.
            let transfer = instructions[*last as usize].transfer.is_some();
            before.push((*last, transfer));
        }
        if rolled_loops {
            rolled.wait(instruction, own, &mut before);
        }
        sequencer.wait(instruction, own, &mut before);
        // Of two reasons to wait for one instruction the stronger one counts: its result.
        before.sort_unstable_by_key(|(index, result)| (*index, !*result));
        before.dedup_by_key(|(index, _)| *index);
        for (index, result) in before.drain(..) {
            if index != own {
                edges.push((index, Waiting::new(own, result)));
                open[position] += 1;
            }
        }
    }
    Graph::new(&edges, open)
}
