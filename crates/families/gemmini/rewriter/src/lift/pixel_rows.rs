//! Pixels that lie side by side in a row of the scratchpad.
//!
//! A move that repeats pixels writes each of them again, one row further up and behind
//! the columns before: so a row holds a pixel and its neighbours, and one pass of the
//! array takes several taps of a kernel.

use super::contents::{Form, Place, Term, Weights};
use super::machine::{Done, Machine};

impl Machine<'_> {
    /// Writes what came in to row `at` again, down to the start of its half of the scratchpad.
    pub(super) fn repeat(&mut self, at: usize, place: Place, repeats: u8) -> Done {
        if self.config.dim < u32::from(repeats) * u32::from(place.columns) {
            return Err("pixels that are repeated beyond the end of a row".to_owned());
        }
        let half = self.config.spad_rows() as usize / 2;
        let floor = if at < half { 0 } else { half };
        for distance in 1..usize::from(repeats) {
            let Some(to) = at.checked_sub(distance).filter(|to| floor <= *to) else {
                break;
            };
            let neighbours = self.beside.entry(to).or_default();
            if neighbours.len() < distance {
                neighbours.resize(distance, None);
            }
            neighbours[distance - 1] = Some(place);
        }
        Ok(())
    }

    /// Returns the products of the pixels in `row`, of which `first` is the first, with weights
    /// that are deeper than one pixel; nothing if all of them are zeros.
    pub(super) fn neighbours(
        &mut self,
        row: u32,
        first: Place,
        weights: u32,
    ) -> Result<Option<Term>, String> {
        let wider = || "an input that is wider than what came in".to_owned();
        let whole = self.numbered.weights[weights as usize];
        let others = self.beside.get(&(row as usize)).ok_or_else(wider)?;
        let columns = first.columns.max(1);
        // First row of weights, rows, first element.
        let mut stretch: Option<(u16, u16, Place)> = None;
        for number in 0..whole.rows.div_ceil(columns) {
            let place = match number.checked_sub(1) {
                None => first,
                Some(other) => others
                    .get(usize::from(other))
                    .copied()
                    .flatten()
                    .ok_or_else(wider)?,
            };
            if place.columns != columns {
                return Err(wider());
            }
            if place.address == 0 {
                continue;
            }
            let start = number * columns;
            let rows = columns.min(whole.rows - start);
            match &mut stretch {
                None => stretch = Some((start, rows, place)),
                Some((begin, length, from))
                    if *begin + *length == start
                        && from.scale == place.scale
                        && from.address + u64::from(*length) * u64::from(from.width)
                            == place.address =>
                {
                    *length += rows;
                }
                Some(_) => {
                    return Err("pixels side by side in a row that are not so in memory".to_owned());
                }
            }
        }
        let Some((start, rows, from)) = stretch else {
            return Ok(None);
        };
        let part = Weights {
            address: whole.address + u64::from(start) * whole.pitch,
            pitch: if rows == 1 { 0 } else { whole.pitch },
            rows,
            ..whole
        };
        let weights = self.numbered.weights(part);
        let form = self.numbered.form(Form {
            step: if rows == 1 { 0 } else { from.width.into() },
            scale: from.scale,
        });
        Ok(Some(Term {
            input: from.address,
            weights,
            form,
        }))
    }
}
