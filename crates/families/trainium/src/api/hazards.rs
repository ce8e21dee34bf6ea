//! The check that iterations of affine loops do not disturb each other.

use std::rc::Rc;

use super::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::keyed::Keyed;
use crate::python::value::LoopKind;
use crate::trace::Instruction;

/// Tile, first partition and first byte of a region.
type Place = (u32, u16, u64);
/// The iterations of the loops around a write, and whether it accumulates.
type Written = (Rc<[(u32, u32)]>, bool);

/// Where something was written within running loops: by first element, the loops around it.
#[derive(Default)]
pub(super) struct Hazards {
    writes: Keyed<Place, Written>,
    /// The iterations of the running loops, until one of them goes on.
    path: Option<Rc<[(u32, u32)]>>,
}

impl Hazards {
    /// Notes that a running loop goes on to its next iteration.
    pub(super) fn moved(&mut self) {
        self.path = None;
    }

    pub(super) fn enter(&mut self, depth: usize) {
        self.moved();
        if depth == 0 {
            self.writes.clear();
        }
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.moved();
        if depth == 0 {
            self.writes.clear();
        }
    }
}

impl Device {
    /// Finds writes of different iterations of an affine loop to the same place.
    pub(super) fn check_hazards(&mut self, instruction: &Instruction) -> Outcome<()> {
        if self.dialect != super::Dialect::V1
            || !self.running.iter().any(|r| r.kind == LoopKind::Affine)
        {
            return Ok(());
        }
        let path = match &self.hazards.path {
            Some(path) => Rc::clone(path),
            None => {
                let running = self.running.iter();
                let path: Rc<[(u32, u32)]> = running.map(|r| (r.id, r.iteration)).collect();
                self.hazards.path = Some(Rc::clone(&path));
                path
            }
        };
        for (region, writing) in instruction
            .writes
            .iter()
            .map(|r| (r, true))
            .chain(instruction.reads.iter().map(|r| (r, false)))
        {
            let Some(tensor) = self.trace.tensors.get(region.tile.tensor as usize) else {
                continue;
            };
            if !tensor.buffer.on_chip() {
                continue;
            }
            let key = (region.tile.number, region.partitions.0, region.span.0);
            let accumulate = instruction.features.accumulate;
            if let Some((earlier, accumulated)) = self.hazards.writes.get(&key) {
                let differing = earlier.iter().zip(path.iter()).position(|(a, b)| a != b);
                let carried = differing
                    .filter(|at| earlier[*at].0 == path[*at].0)
                    .map(|at| &self.running[at]);
                if let Some(carrier) = carried.filter(|r| r.kind == LoopKind::Affine) {
                    let line = self
                        .trace
                        .loops
                        .get(carrier.id as usize - 1)
                        .map_or(0, |l| l.line);
                    if writing && !(accumulate || *accumulated) {
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
                let _ = self
                    .hazards
                    .writes
                    .insert(key, (Rc::clone(&path), accumulate));
            }
        }
        Ok(())
    }
}
