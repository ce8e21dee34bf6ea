//! Recognises sums of products: of two matrices, or of an image and a kernel.

use super::recognize::{Placed, Recognizer, Segment};
use super::work::{Operand, Operation};
use crate::memory::Memory;

/// How the operands of products lie in memory.
struct Layout {
    /// The array of the weights.
    weights: usize,
    /// Bytes between lines of the weights.
    pitch: i64,
    /// Lines of the weights are columns.
    turned: bool,
    /// Elements from one of the input to the next one of the same sum.
    step: i64,
    factors: [f32; 2],
}

impl Recognizer<'_> {
    /// Returns how the operands of all products lie in memory.
    fn layout(&self, placed: &[Placed<'_>]) -> Result<Layout, String> {
        let e = self.element as u64;
        let uneven = || "rows of its weights are not evenly apart".to_owned();
        let mut arrays = None;
        let mut scales = None;
        let (mut down, mut across, mut step) = (None, None, None);
        for term in placed.iter().flat_map(|(_, _, output)| &output.terms) {
            let tile = &self.numbered.weights[term.weights as usize];
            let form = &self.numbered.forms[term.form as usize];
            let (weights, _) = Memory::of(tile.address).ok_or("weights outside all arrays")?;
            let (input, _) = Memory::of(term.input).ok_or("an input outside all arrays")?;
            if *arrays.get_or_insert([input, weights]) != [input, weights] {
                return Err("its products are of more than two arrays".to_owned());
            }
            if *scales.get_or_insert([form.scale, tile.scale]) != [form.scale, tile.scale] {
                return Err("its operands come in with different factors".to_owned());
            }
            if 1 < tile.rows && *down.get_or_insert(tile.pitch) != tile.pitch
                || 1 < tile.columns && *across.get_or_insert(tile.across) != tile.across
            {
                return Err(uneven());
            }
            if form.step != 0 && *step.get_or_insert(form.step) != form.step {
                return Err("elements of its input are not evenly apart".to_owned());
            }
        }
        let [input, weights] = arrays.ok_or("no products")?;
        let memory = self.memories.get(weights);
        if memory.is_none() || self.memories.len() <= input {
            return Err("an operand is a result in the scratchpad".to_owned());
        }
        let declared = memory
            .and_then(|memory| memory.extents.last().copied())
            .unwrap_or(0)
            * self.element;
        let turned = across.is_some_and(|across| across != e);
        if turned && down.is_some_and(|down| down != e) {
            return Err(uneven());
        }
        let pitch = if turned { across } else { down };
        let pitch = pitch.map_or(declared, |pitch| pitch as i64);
        let step = step.map_or(self.element, |step| step as i64);
        if pitch <= 0 {
            return Err("rows of its weights are not apart".to_owned());
        }
        if step <= 0 || step % self.element != 0 {
            return Err("elements of its input are not evenly apart".to_owned());
        }
        Ok(Layout {
            weights,
            pitch,
            turned,
            step: step / self.element,
            factors: scales.unwrap_or([1.0f32.to_bits(); 2]).map(f32::from_bits),
        })
    }

    pub(super) fn contraction(
        &self,
        placed: &[Placed<'_>],
        rows: i64,
        columns: i64,
    ) -> Result<Operation, String> {
        let layout = self.layout(placed)?;
        let Layout { pitch, turned, .. } = layout;
        let base = Memory::base(layout.weights);
        // Row and column of the weights that a tile begins with.
        let place = |number: u32| {
            let relative = self.numbered.weights[number as usize].address - base;
            let (line, inside) = (relative as i64 / pitch, relative as i64 % pitch);
            let inside = inside / self.element;
            if turned {
                (inside, line)
            } else {
                (line, inside)
            }
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
                let tile = &self.numbered.weights[term.weights as usize];
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
                let joins = kept.0 + kept.1 == next.0 && kept.2 + kept.1 * layout.step == next.2;
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
        let [line, inside] = if turned {
            [left, signature[0].0]
        } else {
            [signature[0].0, left]
        };
        let weights = Operand {
            array: layout.weights,
            offset: line * pitch + inside * self.element,
            pitch,
        };
        let step = origins.get(1).map_or(0, |second| second - origins[0]);
        let is_even = origins
            .iter()
            .enumerate()
            .all(|(row, origin)| *origin == origins[0] + row as i64 * step);
        let input_turned = layout.step != 1;
        if signature.len() == 1 && is_even && !is_grouped && !is_padded {
            if input_turned && 1 < rows && step != 1 {
                return Err("neither rows nor columns of its input lie side by side".to_owned());
            }
            let apart = if input_turned { layout.step } else { step };
            return Ok(Operation::Product {
                input: operand(input_array, origins[0], apart),
                weights,
                depth: signature[0].1,
                turned: [input_turned, turned],
                factors: layout.factors,
            });
        }
        if turned || input_turned {
            return Err("operands lie in memory transposed, but form no product".to_owned());
        }
        if layout.factors != [1.0; 2] {
            return Err("a convolution of what is scaled as it comes in".to_owned());
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
