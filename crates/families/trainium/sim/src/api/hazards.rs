//! The check that iterations of affine loops do not disturb each other.

use super::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::python::value::LoopKind;
use crate::trace::{Instruction, Region, Tile};

/// A write within running loops.
#[derive(Clone, Copy)]
struct Write {
    /// The number of the tile.
    tile: u32,
    /// First partition and first byte of the region.
    partition: u16,
    byte: u32,
    accumulates: bool,
    /// Where the iterations of the loops around it stand in the list of paths.
    path: u32,
    /// The write to another place of the tile that was noted before.
    before: Option<u32>,
}

impl Write {
    fn is_to(&self, region: &Region) -> bool {
        (self.partition, self.byte) == (region.partitions.0, region.span.0)
    }
}

/// Where something was written since the outermost of the running loops was entered.
#[derive(Default)]
pub(super) struct Hazards {
    writes: Vec<Write>,
    /// By the number of the tile, the last of its writes; where it has none, one of another tile.
    latest: Vec<u32>,
    /// Loops and iterations around writes, one path after the other; each begins with how many
    /// there are.
    paths: Vec<(u32, u32)>,
    /// The path of the running loops, until one of them goes on.
    path: Option<u32>,
}

impl Hazards {
    /// Notes that a running loop goes on to its next iteration.
    pub(super) fn moved(&mut self) {
        self.path = None;
    }

    pub(super) fn enter(&mut self, depth: usize) {
        self.moved();
        if depth == 0 {
            self.paths.clear();
            self.writes.clear();
        }
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.enter(depth);
    }

    fn path(&self, begin: u32) -> &[(u32, u32)] {
        let begin = begin as usize;
        &self.paths[begin + 1..][..self.paths[begin].0 as usize]
    }

    /// The write to a tile that was noted last.
    fn latest(&self, tile: Tile) -> Option<u32> {
        let latest = *self.latest.get(tile.at())?;
        let write = self.writes.get(latest as usize)?;
        (write.tile == tile.number).then_some(latest)
    }

    /// The last write to the place where a region begins.
    fn last(&self, region: &Region) -> Option<usize> {
        let before = |at: &u32| self.writes[*at as usize].before;
        let mut all = std::iter::successors(self.latest(region.tile), before);
        let found = all.find(|at| self.writes[*at as usize].is_to(region));
        found.map(|at| at as usize)
    }

    /// Notes a write to a region, whose place was last written by `known`.
    fn note(&mut self, region: &Region, known: Option<usize>, path: u32, accumulates: bool) {
        if let Some(known) = known {
            self.writes[known].path = path;
            self.writes[known].accumulates = accumulates;
            return;
        }
        let before = self.latest(region.tile);
        let tile = region.tile.at();
        if self.latest.len() <= tile {
            self.latest.resize(tile + 1, u32::MAX);
        }
        self.latest[tile] = self.writes.len() as u32;
        self.writes.push(Write {
            tile: region.tile.number,
            partition: region.partitions.0,
            byte: region.span.0,
            accumulates,
            path,
            before,
        });
    }
}

impl Device {
    /// Finds writes of different iterations of an affine loop to the same place.
    pub(super) fn check_hazards(&mut self, instruction: &Instruction) -> Outcome<()> {
        if !self.may_carry() {
            return Ok(());
        }
        let (reads, writes) = (&instruction.reads, &instruction.writes);
        self.check_regions(reads, writes, instruction.features.accumulate)
    }

    /// The same for an instruction of the trace that has changed.
    pub(super) fn check_hazards_at(&mut self, position: u32) -> Outcome<()> {
        if !self.may_carry() {
            return Ok(());
        }
        let instruction = &self.trace.instructions[position as usize];
        let (reads, writes) = (instruction.reads.clone(), instruction.writes.clone());
        let accumulate = instruction.features.accumulate;
        self.check_regions(&reads, &writes, accumulate)
    }

    /// Whether the kernel is in a loop whose iterations must not disturb each other.
    fn may_carry(&self) -> bool {
        self.dialect == super::Dialect::V1
            && self.running.iter().any(|r| r.kind == LoopKind::Affine)
    }

    fn check_regions(
        &mut self,
        reads: &[Region],
        writes: &[Region],
        accumulate: bool,
    ) -> Outcome<()> {
        let path = match self.hazards.path {
            Some(path) => path,
            None => {
                let path = self.hazards.paths.len() as u32;
                let running = self.running.iter().map(|r| (r.id, r.iteration));
                self.hazards.paths.push((self.running.len() as u32, 0));
                self.hazards.paths.extend(running);
                self.hazards.path = Some(path);
                path
            }
        };
        let writing = writes.iter().map(|region| (region, true));
        let reading = reads.iter().map(|region| (region, false));
        for (region, writing) in writing.chain(reading) {
            let Some(tensor) = self.trace.tensors.get(region.tile.tensor as usize) else {
                continue;
            };
            if !tensor.buffer.on_chip() {
                continue;
            }
            let known = self.hazards.last(region);
            // What was made here and now, nothing outside of it can use: no iteration but this one.
            let passing = known.is_none() && tensor.scope == self.scope();
            if let Some(earlier) = known.map(|at| self.hazards.writes[at]) {
                let accumulated = earlier.accumulates;
                let now = self.hazards.path(path);
                let before = self.hazards.path(earlier.path);
                let differing = before.iter().zip(now).position(|(a, b)| a != b);
                let carried = differing
                    .filter(|at| before[*at].0 == now[*at].0)
                    .map(|at| &self.running[at]);
                if let Some(carrier) = carried.filter(|r| r.kind == LoopKind::Affine) {
                    let line = self
                        .trace
                        .loops
                        .get(carrier.id as usize - 1)
                        .map_or(0, |l| l.line);
                    if writing && !(accumulate || accumulated) {
                        let (name, at) = (tensor.name.clone(), tensor.line);
                        return Err(Failure::documented(
                            "err_unexpected_output_dependencies",
                            format!(
                                "two iterations of the affine loop at line {line} write the same part of the tensor {name} made at line {at}"
                            ),
                            "allocate the tensor inside the loop, index it with the loop index, or use nl.sequential_range",
                        ));
                    }
                    if !writing && !accumulated {
                        let at = tensor.line;
                        self.remark("affine-hazard", format!("an iteration of the affine loop at line {line} reads what an earlier one wrote to the tensor made at line {at}; the compiler may reorder them"));
                    }
                }
            }
            if writing && !passing {
                self.hazards.note(region, known, path, accumulate);
            }
        }
        Ok(())
    }
}
