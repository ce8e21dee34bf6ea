//! Recognises what a kernel computes from the sums that it stores.
//!
//! Nothing depends on how the kernel is written: every stored row is compared
//! with what a product, a convolution or an addition would have stored there.

use super::program::Memory;
use super::traced::{Output, Place, Stored, Weights};
use super::work::{Bias, Operand, Operation, Work};

/// A stretch of the summation: first row of weights, rows, first element of the input.
pub(super) type Segment = (i64, i64, i64);

pub(super) struct Recognizer<'seen> {
    array: usize,
    stored: &'seen Stored,
    weights: &'seen [Weights],
    pub(super) memories: &'seen [Memory],
    element: i64,
    dim: i64,
}

/// Returns what `array` was given.
///
/// # Errors
/// Why that is none of the operations that are known.
pub(crate) fn recognize(
    array: usize,
    stored: &Stored,
    weights: &[Weights],
    memories: &[Memory],
    (element, dim): (i64, i64),
) -> Result<Work, String> {
    Recognizer {
        array,
        stored,
        weights,
        memories,
        element,
        dim,
    }
    .work()
}

impl Recognizer<'_> {
    fn work(&self) -> Result<Work, String> {
        let width = if self.stored.store.full_width {
            4
        } else {
            self.element
        };
        let pitch = i64::from(self.stored.store.pitch);
        let base = Memory::base(self.array);
        let mut order: Vec<&Output> = self.stored.outputs.iter().collect();
        order.sort_by_key(|output| output.address);
        let position = |output: &Output| {
            let relative = (output.address - base) as i64;
            if pitch == 0 {
                (0, relative / width)
            } else {
                (relative / pitch, relative % pitch / width)
            }
        };
        let (first_row, first_column) = order.first().map_or((0, 0), |output| position(output));
        let columns = order
            .iter()
            .map(|output| position(output).1 + i64::from(output.columns));
        let columns = columns.max().unwrap_or(0) - first_column;
        let last_row = order.last().map_or(0, |output| position(output).0);
        let rows = last_row - first_row + 1;
        let mut expected = (0, 0);
        for output in &order {
            let (row, column) = position(output);
            if (row - first_row, column - first_column) != expected {
                return Err("it does not store every element exactly once".to_owned());
            }
            expected.1 += i64::from(output.columns);
            if expected.1 == columns {
                expected = (expected.0 + 1, 0);
            }
        }
        if expected != (rows, 0) {
            return Err("it does not store every element exactly once".to_owned());
        }
        let placed: Vec<(i64, i64, &Output)> = order
            .into_iter()
            .map(|output| {
                let (row, column) = position(output);
                (row - first_row, column - first_column, output)
            })
            .collect();
        let output = Operand {
            array: self.array,
            offset: first_row * pitch + first_column * width,
            pitch,
        };
        let addends = placed
            .first()
            .map_or(0, |(_, _, output)| output.addends.len());
        let is_sum = placed
            .first()
            .is_some_and(|(_, _, output)| output.terms.is_empty());
        let (operation, bias) = if is_sum {
            if addends != 2 {
                return Err("it stores what is no sum of two arrays".to_owned());
            }
            let (left, one) = self.addend(&placed, 0)?;
            let (right, two) = self.addend(&placed, 1)?;
            if [one.width, two.width].map(i64::from) != [self.element; 2] {
                return Err("it adds sums, not operands".to_owned());
            }
            let factors = [one.scale, two.scale].map(f32::from_bits);
            let operands = [left, right];
            (Operation::Addition { operands, factors }, None)
        } else {
            let bias = match addends {
                0 => None,
                1 => {
                    let (operand, place) = self.addend(&placed, 0)?;
                    if place.scale != 1.0f32.to_bits() {
                        return Err("its bias is scaled as it comes in".to_owned());
                    }
                    let is_narrow = place.width == 1;
                    Some(Bias { operand, is_narrow })
                }
                _ => return Err("it starts its sums with more than one bias".to_owned()),
            };
            (self.contraction(&placed, rows, columns)?, bias)
        };
        Ok(Work {
            operation,
            output,
            rows,
            columns,
            bias,
            store: self.stored.store,
        })
    }

    /// Returns addend `which` of all sums as rows of an array.
    fn addend(
        &self,
        placed: &[(i64, i64, &Output)],
        which: usize,
    ) -> Result<(Operand, Place), String> {
        let refused = || "an addend is no array, row by row".to_owned();
        let mut first: Option<(Place, u64)> = None;
        let mut pitch = None;
        for (row, column, output) in placed {
            let place = output.addends.get(which).ok_or_else(refused)?;
            let start = place
                .address
                .checked_sub(*column as u64 * u64::from(place.width))
                .ok_or_else(refused)?;
            let (sample, origin) = *first.get_or_insert((*place, start));
            let step = start.wrapping_sub(origin) as i64;
            if *row == 1 {
                pitch.get_or_insert(step);
            }
            if (place.width, place.scale) != (sample.width, sample.scale)
                || place.columns < output.columns
                || step != row * pitch.unwrap_or(0)
            {
                return Err(refused());
            }
        }
        let (place, origin) = first.ok_or_else(refused)?;
        let (array, offset) = Memory::of(origin).ok_or_else(refused)?;
        let pitch = pitch.unwrap_or(0);
        let operand = Operand {
            array,
            offset,
            pitch,
        };
        Ok((operand, place))
    }

    /// Returns the array and pitch of the weights.
    fn weights_layout(&self, placed: &[(i64, i64, &Output)]) -> Result<(usize, i64), String> {
        let mut array = None;
        let mut pitch = None;
        let mut input_array = None;
        for term in placed.iter().flat_map(|(_, _, output)| &output.terms) {
            let tile = &self.weights[term.weights as usize];
            let (now, _) = Memory::of(tile.address).ok_or("weights outside all arrays")?;
            let (input, _) = Memory::of(term.input).ok_or("an input outside all arrays")?;
            if *array.get_or_insert(now) != now || *input_array.get_or_insert(input) != input {
                return Err("its products are of more than two arrays".to_owned());
            }
            if 1 < tile.rows && *pitch.get_or_insert(tile.pitch) != tile.pitch {
                return Err("rows of its weights are not evenly apart".to_owned());
            }
        }
        let array = array.ok_or("no products")?;
        let declared = self.memories[array].extents.last().copied().unwrap_or(0) * self.element;
        let pitch = pitch.map_or(declared, |pitch| pitch as i64);
        if pitch <= 0 {
            return Err("rows of its weights are not apart".to_owned());
        }
        Ok((array, pitch))
    }

    fn contraction(
        &self,
        placed: &[(i64, i64, &Output)],
        rows: i64,
        columns: i64,
    ) -> Result<Operation, String> {
        let (weights_array, pitch) = self.weights_layout(placed)?;
        let base = Memory::base(weights_array);
        let place = |number: u32| {
            let relative = (self.weights[number as usize].address - base) as i64;
            (relative / pitch, relative % pitch / self.element)
        };
        let first_of = |column: i64| {
            placed
                .iter()
                .find(|(_, other, _)| *other == column)
                .and_then(|(_, _, output)| output.terms.first())
                .map(|term| place(term.weights))
        };
        // Columns of outputs are columns of weights, unless those lie on diagonals.
        let (_, left) = first_of(0).ok_or("a sum without products")?;
        let is_grouped = placed
            .iter()
            .find(|(_, column, _)| *column != 0)
            .and_then(|(_, column, _)| first_of(*column))
            .is_some_and(|(_, other)| other == left);
        if is_grouped && left != 0 {
            return Err("groups of channels with weights that lie elsewhere".to_owned());
        }
        let mut sums: Vec<Vec<Segment>> =
            vec![Vec::new(); usize::try_from(rows).map_err(|_| "too many rows")?];
        let mut segments: Vec<Segment> = Vec::new();
        for (row, column, output) in placed {
            segments.clear();
            let shift = if is_grouped { *column } else { 0 };
            for term in &output.terms {
                let (depth, at) = place(term.weights);
                let tile = &self.weights[term.weights as usize];
                if at != left + *column - shift || tile.columns < output.columns {
                    return Err("columns of its weights are not those of its results".to_owned());
                }
                let (_, input) = Memory::of(term.input).ok_or("an input outside all arrays")?;
                segments.push((
                    depth - shift,
                    i64::from(tile.rows),
                    input / self.element - shift,
                ));
            }
            segments.sort_unstable();
            segments.dedup_by(|next, kept| {
                let joins = kept.0 + kept.1 == next.0 && kept.2 + kept.1 == next.2;
                if joins {
                    kept.1 += next.1;
                }
                joins
            });
            if segments.is_empty() {
                return Err("a sum without products".to_owned());
            }
            let known = sums
                .get_mut(*row as usize)
                .ok_or("rows that do not exist")?;
            if known.is_empty() {
                known.clone_from(&segments);
            } else if *known != segments {
                return Err("columns of one row have different inputs".to_owned());
            }
        }
        let (signature, origins) = aligned(&sums)?;
        let is_padded = sums.iter().any(|sum| length(sum) < length(&signature));
        let (input_array, _) = placed
            .iter()
            .find_map(|(_, _, output)| output.terms.first())
            .and_then(|term| Memory::of(term.input))
            .ok_or("an input outside all arrays")?;
        let operand = |array, first: i64, step: i64| Operand {
            array,
            offset: first * self.element,
            pitch: step * self.element,
        };
        let weights = Operand {
            array: weights_array,
            offset: signature[0].0 * pitch + left * self.element,
            pitch,
        };
        let step = origins.get(1).map_or(0, |second| second - origins[0]);
        let is_even = origins
            .iter()
            .enumerate()
            .all(|(row, origin)| *origin == origins[0] + row as i64 * step);
        if signature.len() == 1 && is_even && !is_grouped && !is_padded {
            return Ok(Operation::Product {
                input: operand(input_array, origins[0], step),
                weights,
                depth: signature[0].1,
            });
        }
        let groups = is_grouped && columns % self.dim == 0;
        if is_grouped && !groups {
            return Err("groups of channels that do not fill the array".to_owned());
        }
        let padded = is_padded.then_some(&sums[..]);
        let sizes = self.convolution(&signature, &origins, input_array, is_grouped, padded)?;
        let [above, beside] = sizes.padding;
        let first = origins[0] + (above * sizes.in_columns + beside) * sizes.in_channels;
        Ok(Operation::Convolution {
            input: operand(input_array, first, sizes.in_channels),
            weights,
            sizes,
        })
    }
}

/// Returns the rows of weights in a sum.
pub(super) fn length(sum: &[Segment]) -> i64 {
    sum.iter().map(|segment| segment.1).sum()
}

/// Returns the longest of sums, relative to its first input, and where each of them would
/// begin if it had all that the longest has: zeros around an image leave products out.
fn aligned(sums: &[Vec<Segment>]) -> Result<(Vec<Segment>, Vec<i64>), String> {
    let longest = sums
        .iter()
        .rev()
        .max_by_key(|sum| length(sum))
        .filter(|sum| !sum.is_empty())
        .ok_or("rows without products")?;
    let origin = longest[0].2;
    let signature: Vec<Segment> = longest
        .iter()
        .map(|(first, length, at)| (*first, *length, at - origin))
        .collect();
    let begin = |sum: &Vec<Segment>| {
        if length(sum) == length(&signature) {
            let begin = sum.first()?.2;
            let mut both = sum.iter().zip(&signature);
            let is_same = both.all(|(one, other)| *one == (other.0, other.1, begin + other.2));
            return (is_same && sum.len() == signature.len()).then_some(begin);
        }
        let mut begins = sum.iter().map(|(first, length, at)| {
            let whole = signature
                .iter()
                .find(|whole| whole.0 <= *first && first + length <= whole.0 + whole.1)?;
            Some(at - whole.2 - (first - whole.0))
        });
        let begin = begins.next()??;
        begins.all(|other| other == Some(begin)).then_some(begin)
    };
    let origins: Option<Vec<i64>> = sums.iter().map(begin).collect();
    let origins = origins.ok_or("its sums are not all of the same kind")?;
    Ok((signature, origins))
}
