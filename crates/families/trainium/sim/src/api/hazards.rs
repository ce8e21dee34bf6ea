//! The check that iterations of affine loops do not disturb each other.
//!
//! Facts (the vendor's pages on `affine_range`, `sequential_range` and its error classes): two
//! iterations that write the same place are refused (`err_unexpected_output_dependencies`), unless
//! they add to it; an iteration that reads what another one wrote, or writes what an earlier one
//! read, may get or leave something else on the device, which no compiler tells.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use super::Device;
use crate::diagnostic::{Failure, Outcome};
use crate::number_maps::Keyed;
use crate::tensor::view::{Dimensions, View, for_runs};
use crate::trace::LoopKind;
use crate::trace::{Instruction, Region};

/// Bytes of a region, as runs from the start of a partition or of main memory.
type Runs = Vec<Range<u64>>;

/// Who wrote or read a run of bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mark {
    /// Where the iterations of the loops around it stand in the list of paths.
    path: u32,
    accumulates: bool,
}

/// What was written to, or read from, some partitions of a tile: by the first byte of each run, its
/// end and who did it.
struct Layer {
    partitions: (u16, u16),
    runs: BTreeMap<u64, (u64, Mark)>,
}

impl Layer {
    /// The marks of runs that meet one of `runs`.
    fn marks<'l>(&'l self, runs: &'l [Range<u64>]) -> impl Iterator<Item = Mark> + 'l {
        runs.iter().flat_map(|run| {
            let before = self.runs.range(..=run.start).next_back();
            let before = before.filter(|(_, (end, _))| run.start < *end);
            let first = before.map_or(run.start, |(start, _)| *start);
            let met = self.runs.range(first..run.end.max(first));
            met.map(|(_, (_, mark))| *mark)
        })
    }

    /// Lets a run have a new mark.
    fn set(&mut self, run: &Range<u64>, mark: Mark) {
        if let Some((end, known)) = self.runs.get_mut(&run.start)
            && *end == run.end
        {
            *known = mark;
            return;
        }
        let before = self.runs.range(..run.start).next_back();
        if let Some((start, (end, known))) = before.map(|(start, rest)| (*start, *rest))
            && run.start < end
        {
            self.runs.insert(start, (run.start, known));
            if run.end < end {
                self.runs.insert(run.end, (end, known));
            }
        }
        while let Some((start, (end, known))) = self
            .runs
            .range(run.start..run.end)
            .next()
            .map(|(start, rest)| (*start, *rest))
        {
            self.runs.remove(&start);
            if run.end < end {
                self.runs.insert(run.end, (end, known));
            }
        }
        // Neighbours of one iteration become one.
        let mut run = run.clone();
        let before = self.runs.range(..run.start).next_back();
        if let Some((start, (end, known))) = before.map(|(start, rest)| (*start, *rest))
            && end == run.start
            && known == mark
        {
            run.start = start;
        }
        self.runs.insert(run.start, (run.end, mark));
    }
}

/// Where something was written since the outermost of the running loops was entered.
#[derive(Default)]
pub(super) struct Hazards {
    /// Writes, by the number of the tile.
    tiles: Keyed<u32, Vec<Layer>>,
    /// Reads of tensors that the running loops write to.
    read: Keyed<u32, Vec<Layer>>,
    /// Tensors made outside of an iteration that it has written to.
    rewritten: Keyed<u32, ()>,
    /// Loops and iterations around writes, one path after the other; each begins with how many
    /// there are.
    paths: Vec<(u32, u32)>,
    /// The path of the running loops, until one of them goes on.
    path: Option<u32>,
    /// The bytes of regions that the next instruction speaks of.
    regions: RefCell<Vec<(Region, Runs)>>,
    /// Whether the next instruction adds to what is in main memory.
    pub(super) adds: bool,
    /// Whether a mask keeps no box of what the next instruction writes: what it leaves alone,
    /// another iteration may write.
    pub(super) masked: bool,
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
            self.tiles.clear();
            self.read.clear();
            self.rewritten.clear();
        }
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.enter(depth);
    }

    fn path(&self, begin: u32) -> &[(u32, u32)] {
        let begin = begin as usize;
        &self.paths[begin + 1..][..self.paths[begin].0 as usize]
    }

    /// Notes which bytes a region has that a view covers.
    pub(super) fn describe(&self, region: Region, view: &View) {
        self.regions
            .borrow_mut()
            .push((region, runs(&region, view)));
    }

    /// The bytes of a region: those of the view that it was made of, all of them for others.
    fn runs(regions: &[(Region, Runs)], region: &Region, writing: bool) -> Runs {
        let is_it = |known: &&(Region, Runs)| known.0 == *region;
        let found = match writing {
            true => regions.iter().rfind(is_it),
            false => regions.iter().find(is_it),
        };
        let whole =
            || std::iter::once(u64::from(region.span.0)..u64::from(region.span.1)).collect();
        found.map_or_else(whole, |(_, runs)| runs.clone())
    }

    /// The marks of writes to a region, or of reads of it.
    fn marks(&self, region: &Region, runs: &[Range<u64>], of_writes: bool) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::new();
        let tiles = if of_writes { &self.tiles } else { &self.read };
        let layers = tiles.get(&region.tile.number);
        for layer in layers.into_iter().flatten() {
            let (first, last) = layer.partitions;
            if first < region.partitions.1 && region.partitions.0 < last {
                for mark in layer.marks(runs) {
                    if !marks.contains(&mark) {
                        marks.push(mark);
                    }
                }
            }
        }
        marks
    }

    /// Notes a write, or a read.
    fn note(&mut self, region: &Region, runs: &[Range<u64>], mark: Mark, writing: bool) {
        let tiles = if writing {
            &mut self.tiles
        } else {
            &mut self.read
        };
        let layers = tiles.entry(region.tile.number).or_default();
        let known = layers
            .iter()
            .position(|layer| layer.partitions == region.partitions);
        let at = known.unwrap_or_else(|| {
            layers.push(Layer {
                partitions: region.partitions,
                runs: BTreeMap::new(),
            });
            layers.len() - 1
        });
        for run in runs {
            layers[at].set(run, mark);
        }
    }
}

/// The bytes that a view covers, in its order and without those that repeat.
pub(super) fn runs(region: &Region, view: &View) -> Runs {
    let width = view.dtype.bytes() as i64;
    let mut offset = view.offset;
    let mut dimensions: Dimensions = view.dimensions.clone();
    if view.indirect.is_some() {
        // Rows that values choose: the compiler cannot tell which, either.
        return Vec::new();
    }
    if view.buffer().on_chip() {
        offset = i64::from(region.span.0) / width - view.back();
        if !dimensions.is_empty() {
            dimensions.edit(|all| drop(all.drain(..1)));
        }
    }
    // The order of dimensions does not matter: the innermost is to have the longest runs.
    dimensions.edit(|all| {
        all.retain(|it| it.size > 1 && it.stride != 0);
        all.sort_by_key(|it| std::cmp::Reverse(it.stride.unsigned_abs()));
    });
    let mut runs: Runs = Vec::new();
    for_runs(&dimensions, offset, |at, count, stride| {
        let count = count as i64;
        let mut add = |low: i64, high: i64| {
            let (low, high) = ((low * width).max(0) as u64, (high * width).max(0) as u64);
            match runs.last_mut() {
                Some(last) if last.end == low => last.end = high,
                _ => runs.push(low..high),
            }
        };
        match stride {
            1 => add(at, at + count),
            -1 => add(at - count + 1, at + 1),
            _ => (0..count).for_each(|i| add(at + i * stride, at + i * stride + 1)),
        }
    });
    runs
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
        let (writes, accumulate) = (instruction.writes.clone(), instruction.features.accumulate);
        self.check_regions(&[], &writes, accumulate)
    }

    /// Whether the kernel is in a loop whose iterations must not disturb each other.
    pub(super) fn may_carry(&self) -> bool {
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
        let accumulates = accumulate || std::mem::take(&mut self.hazards.adds);
        let known = self.hazards.regions.take();
        let writes = match std::mem::take(&mut self.hazards.masked) {
            true => &[],
            false => writes,
        };
        let writing = writes.iter().map(|region| (region, true));
        let reading = reads.iter().map(|region| (region, false));
        for (region, writing) in writing.chain(reading) {
            let Some(tensor) = self.trace.tensors.get(region.tile.tensor as usize) else {
                continue;
            };
            let noted = self.hazards.tiles.contains_key(&region.tile.number);
            // What was made here and now, nothing outside of it can use: no iteration but this one.
            let outer = tensor.scope != self.scope();
            let rewritten = self.hazards.rewritten.contains_key(&region.tile.tensor);
            if !noted && !(outer && (writing || rewritten)) {
                continue;
            }
            let runs = Hazards::runs(&known, region, writing);
            if writing && !accumulates {
                self.tell_reads(region, &runs, path);
            }
            let Some(tensor) = self.trace.tensors.get(region.tile.tensor as usize) else {
                continue;
            };
            for earlier in self.hazards.marks(region, &runs, true) {
                if earlier.path == path {
                    continue;
                }
                let Some(line) = self.carrier(earlier.path, path) else {
                    continue;
                };
                if earlier.accumulates || (writing && accumulates) {
                    continue;
                }
                if writing {
                    let at = tensor.line;
                    let name = match &*tensor.name {
                        "" => String::new(),
                        name => format!("{name} "),
                    };
                    return Err(Failure::documented(
                        "err_unexpected_output_dependencies",
                        format!(
                            "two iterations of the affine loop at line {line} write the same part of the tensor {name}made at line {at}"
                        ),
                        "allocate the tensor inside the loop, index it with the loop index, or use nl.sequential_range",
                    ));
                }
                let at = tensor.line;
                self.warn(
                    "affine-hazard",
                    format!("an iteration of the affine loop at line {line} reads what an earlier one wrote to the tensor made at line {at}; the compiler may reorder or merge them, and the device compute something else"),
                    "use nl.sequential_range where an iteration needs an earlier one",
                );
                break;
            }
            let outer = outer.then_some(region.tile.tensor);
            if writing {
                let mark = Mark { path, accumulates };
                self.hazards.note(region, &runs, mark, true);
                self.hazards.rewritten.extend(outer.map(|it| (it, ())));
            } else if outer.is_some() {
                let mark = Mark {
                    path,
                    accumulates: false,
                };
                self.hazards.note(region, &runs, mark, false);
            }
        }
        Ok(())
    }

    /// The line of the affine loop of which two paths are different iterations, if there is one.
    fn carrier(&self, earlier: u32, now: u32) -> Option<u32> {
        let (before, now) = (self.hazards.path(earlier), self.hazards.path(now));
        let differing = before.iter().zip(now).position(|(a, b)| a != b);
        let at = differing.filter(|at| before[*at].0 == now[*at].0)?;
        let carrier = Some(&self.running[at]).filter(|it| it.kind == LoopKind::Affine)?;
        let known = self.trace.loops.get(carrier.id as usize - 1);
        Some(known.map_or(0, |it| it.line))
    }

    /// Tells that an iteration writes what an earlier one of an affine loop has read.
    fn tell_reads(&mut self, region: &Region, runs: &[Range<u64>], path: u32) {
        let marks = self.hazards.marks(region, runs, false);
        let earlier = marks.iter().filter(|it| it.path != path);
        let Some(line) = earlier.clone().find_map(|it| self.carrier(it.path, path)) else {
            return;
        };
        let tensor = self.trace.tensors.get(region.tile.tensor as usize);
        let at = tensor.map_or(0, |it| it.line);
        self.warn(
            "affine-hazard",
            format!("an iteration of the affine loop at line {line} writes what an earlier one read of the tensor made at line {at}; the compiler may reorder or merge them, and the earlier one read what this one writes"),
            "use nl.sequential_range where an iteration needs what a later one overwrites",
        );
    }
}
