//! The check that iterations of affine loops do not disturb each other.

use super::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::python::value::LoopKind;
use crate::tensor::short::Short;
use crate::trace::{Instruction, Region};

/// A write within running loops.
#[derive(Clone, Copy, Default)]
struct Written {
    /// First partition and first byte of the region.
    place: (u16, u32),
    /// Where the iterations of the loops around it begin in the list of paths, and how many loops
    /// there are.
    path: (u32, u32),
    accumulates: bool,
}

/// The writes to a tile since the outermost of the running loops was entered.
#[derive(Clone, Default)]
struct Writes {
    /// Which loop that was: what was noted before another one is void.
    entered: u32,
    all: Short<Written, 1>,
}

/// Where something was written within running loops.
#[derive(Default)]
pub(super) struct Hazards {
    /// By the number of the tile.
    writes: Vec<Writes>,
    entered: u32,
    /// Loops and iterations around writes, one path after the other.
    paths: Vec<(u32, u32)>,
    /// The path of the running loops, until one of them goes on.
    path: Option<(u32, u32)>,
}

impl Hazards {
    /// Notes that a running loop goes on to its next iteration.
    pub(super) fn moved(&mut self) {
        self.path = None;
    }

    pub(super) fn enter(&mut self, depth: usize) {
        self.moved();
        if depth == 0 {
            self.forget();
        }
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.enter(depth);
    }

    fn forget(&mut self) {
        self.paths.clear();
        self.entered = self.entered.wrapping_add(1);
        if self.entered == 0 {
            self.writes.clear();
        }
    }

    fn path(&self, (begin, length): (u32, u32)) -> &[(u32, u32)] {
        &self.paths[begin as usize..(begin + length) as usize]
    }

    /// The last write to the place where a region begins.
    fn last(&self, region: &Region) -> Option<Written> {
        let writes = self.writes.get(region.tile.at())?;
        let place = (region.partitions.0, region.span.0);
        let mut all = writes.all.iter();
        let found = all.find(|it| it.place == place);
        found.filter(|_| writes.entered == self.entered).copied()
    }

    fn note(&mut self, region: &Region, path: (u32, u32), accumulates: bool) {
        let at = region.tile.at();
        if self.writes.len() <= at {
            self.writes.resize(at + 1, Writes::default());
        }
        let writes = &mut self.writes[at];
        if writes.entered != self.entered {
            *writes = Writes {
                entered: self.entered,
                all: Short::new(),
            };
        }
        let new = Written {
            place: (region.partitions.0, region.span.0),
            path,
            accumulates,
        };
        let mut all = writes.all.iter_mut();
        match all.find(|it| it.place == new.place) {
            Some(known) => *known = new,
            None => writes.all.push(new),
        }
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
                let path = (self.hazards.paths.len() as u32, self.running.len() as u32);
                let running = self.running.iter();
                let running = running.map(|r| (r.id, r.iteration));
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
            if let Some(earlier) = self.hazards.last(region) {
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
            if writing {
                self.hazards.note(region, path, accumulate);
            }
        }
        Ok(())
    }
}
