//! Recognises several operations that each fill a part of one array.

use super::contents::Output;
use super::recognize::Recognizer;
use super::work::{Operand, Operation, Repeat, Work};
use crate::memory::Memory;
use std::collections::BTreeMap;

/// Parts of an array that are looked at, at most.
const PART_LIMIT: usize = 256;
/// Different operations that one array may be given.
const WORK_LIMIT: usize = 8;

impl Recognizer<'_> {
    /// Returns the operations that compute parts of an array, each of other operands;
    /// those that only lie a fixed distance apart as one that is repeated.
    pub(super) fn parts(&self, outputs: &[&Output]) -> Option<Vec<Work>> {
        // Parts side by side may be of the same columns of weights for inputs of their own.
        self.grouped(outputs, false)
            .or_else(|| self.grouped(outputs, true))
    }

    fn grouped(&self, outputs: &[&Output], by_column: bool) -> Option<Vec<Work>> {
        let mut groups: BTreeMap<[i64; 5], Vec<&Output>> = BTreeMap::new();
        let starts = match by_column {
            true => self.starts(outputs)?,
            false => BTreeMap::new(),
        };
        for output in outputs {
            let [input, array, row, begin] = self.key(output)?;
            let column = starts.get(&output.address).copied().unwrap_or(0);
            let key = [input, array, row, begin, column];
            groups.entry(key).or_default().push(output);
            if PART_LIMIT < groups.len() {
                return None;
            }
        }
        if groups.len() < 2 {
            return None;
        }
        let works: Option<Vec<Work>> = groups
            .into_values()
            .map(|outputs| self.one(&outputs).ok())
            .collect();
        let mut works = works?;
        works.sort_by_key(|work| work.output.offset);
        let found = repeated(works);
        (found.len() <= WORK_LIMIT).then_some(found)
    }

    /// Returns the row and the column that an output begins in.
    fn place(&self, output: &Output) -> Option<(i64, i64)> {
        let width = if self.store.full_width {
            4
        } else {
            self.element
        };
        let relative = (output.address - Memory::base(self.array)) as i64;
        let pitch = i64::from(self.store.pitch);
        let row = relative.checked_div(pitch)?;
        Some((row, relative % pitch / width))
    }

    /// Returns the column in which the results of the same inputs begin, by address.
    fn starts(&self, outputs: &[&Output]) -> Option<BTreeMap<u64, i64>> {
        let mut order: Vec<(i64, i64, &Output)> = Vec::new();
        for output in outputs {
            let (row, column) = self.place(output)?;
            order.push((row, column, output));
        }
        order.sort_by_key(|it| (it.0, it.1));
        let inputs =
            |output: &Output| -> Vec<u64> { output.terms.iter().map(|term| term.input).collect() };
        let mut starts = BTreeMap::new();
        let mut last: Option<(i64, i64, Vec<u64>)> = None;
        for (row, column, output) in order {
            let own = inputs(output);
            let start = match &last {
                Some((other, start, like)) if *other == row && *like == own => *start,
                _ => column,
            };
            starts.insert(output.address, start);
            last = Some((row, start, own));
        }
        Some(starts)
    }

    /// Returns what outputs of one operation have in common: the input's array, the weights'
    /// array, and where in that their products begin.
    fn key(&self, output: &Output) -> Option<[i64; 4]> {
        // Row and column of the weights that a product begins with.
        let first = |number: u32| {
            let tile = &self.numbered.weights[number as usize];
            let (array, offset) = Memory::of(tile.address)?;
            let [down, across] = [tile.pitch, tile.across].map(|it| it as i64);
            if self.element < across {
                return Some((array, offset % across / self.element, offset / across));
            }
            let pitch = down.max(1);
            Some((array, offset / pitch, offset % pitch / self.element))
        };
        let term = output
            .terms
            .iter()
            .min_by_key(|term| first(term.weights).map(|it| it.1))?;
        let (input, _) = Memory::of(term.input)?;
        let (array, row, begin) = first(term.weights)?;
        // Columns of weights and results begin together.
        let (_, column) = self.place(output)?;
        Some([input as i64, array as i64, row, begin - column])
    }
}

/// Joins operations that only lie a fixed distance apart.
fn repeated(works: Vec<Work>) -> Vec<Work> {
    let mut joined: Vec<Work> = Vec::new();
    for work in works {
        let Some(last) = joined.last_mut() else {
            joined.push(work);
            continue;
        };
        let now = offsets(&work).zip(offsets(last));
        let steps = now.map(|(now, before)| {
            let mut steps = [0; 4];
            for (at, step) in steps.iter_mut().enumerate() {
                *step = now[at] - before[at];
            }
            steps
        });
        let Repeat { count, steps: old } = last.repeat;
        let times = |step: i64| step * count;
        match steps {
            Some(steps) if moved(&work, steps) == moved(last, [0; 4]) => {
                if count == 1 {
                    last.repeat = Repeat { count: 2, steps };
                    continue;
                }
                if steps == old.map(times) {
                    last.repeat.count += 1;
                    continue;
                }
                joined.push(work);
            }
            _ => joined.push(work),
        }
    }
    joined
}

/// Returns where the operands of a product begin: input, weights, bias, output.
fn offsets(work: &Work) -> Option<[i64; 4]> {
    match work.operation {
        Operation::Product { input, weights, .. } => Some([
            input.offset,
            weights.offset,
            work.bias.map_or(0, |bias| bias.operand.offset),
            work.output.offset,
        ]),
        _ => None,
    }
}

/// Returns an operation done once, with its operands that much further back.
fn moved(work: &Work, steps: [i64; 4]) -> Work {
    let mut moved = *work;
    moved.repeat = Repeat::ONCE;
    let back = |operand: &mut Operand, step: i64| operand.offset -= step;
    if let Operation::Product { input, weights, .. } = &mut moved.operation {
        back(input, steps[0]);
        back(weights, steps[1]);
    }
    if let Some(bias) = &mut moved.bias {
        back(&mut bias.operand, steps[2]);
    }
    back(&mut moved.output, steps[3]);
    moved
}
