//! Recognises what a kernel computes from the sums that it stores.
//!
//! Nothing depends on how the kernel is written: every stored row is compared
//! with what a product, a convolution or an addition would have stored there.

use super::contents::{Numbered, Output, Place, Store, Stored};
use super::work::{Bias, Operand, Operation, Repeat, Work};
use crate::memory::Memory;

/// A stretch of the summation: first row of weights, rows, first element of the input.
pub(super) type Segment = (i64, i64, i64);
/// A row that is stored, or that a maximum is taken of: row, first column, sum.
pub(super) type Placed<'seen> = (i64, i64, &'seen Output);

pub(super) struct Recognizer<'seen> {
    pub(super) array: usize,
    pub(super) store: Store,
    pub(super) numbered: &'seen Numbered,
    pub(super) memories: &'seen [Memory],
    pub(super) element: i64,
    pub(super) dim: i64,
}

/// Returns what `array` was given: one operation, or several in different parts of it.
///
/// # Errors
/// Why that is none of the operations that are known.
pub(crate) fn recognize(
    array: usize,
    stored: &Stored,
    numbered: &Numbered,
    memories: &[Memory],
    (element, dim): (i64, i64),
) -> Result<Vec<Work>, String> {
    let recognizer = Recognizer {
        array,
        store: stored.store,
        numbered,
        memories,
        element,
        dim,
    };
    let all: Vec<&Output> = stored.outputs.iter().collect();
    match recognizer.one(&all) {
        Ok(work) => Ok(vec![work]),
        Err(why) => recognizer.parts(&all).ok_or(why),
    }
}

/// Where rows of outputs lie in their array.
pub(super) struct Rectangle {
    pub(super) output: Operand,
    pub(super) rows: i64,
    pub(super) columns: i64,
    /// Row and first column of each, in the order given.
    pub(super) places: Vec<(i64, i64)>,
}

impl Recognizer<'_> {
    /// Finds the rectangle that rows of outputs fill, each element exactly once.
    pub(super) fn rectangle(&self, outputs: &[(u64, u16)]) -> Result<Rectangle, String> {
        let width = if self.store.full_width {
            4
        } else {
            self.element
        };
        let pitch = i64::from(self.store.pitch);
        let base = Memory::base(self.array);
        let position = |address: u64| {
            let relative = address.wrapping_sub(base) as i64;
            if pitch == 0 {
                (0, relative / width)
            } else {
                (relative / pitch, relative % pitch / width)
            }
        };
        let places: Vec<(i64, i64)> = outputs.iter().map(|it| position(it.0)).collect();
        let mut order: Vec<usize> = (0..outputs.len()).collect();
        order.sort_by_key(|at| places[*at]);
        let refused = || "it does not store every element exactly once".to_owned();
        let first = *order.first().ok_or_else(refused)?;
        let first_row = places[first].0;
        let first_column = places.iter().map(|it| it.1).min().unwrap_or(0);
        let ends = places.iter().zip(outputs);
        let columns = ends.map(|(place, output)| place.1 + i64::from(output.1));
        let columns = columns.max().unwrap_or(0) - first_column;
        let mut expected = (0, 0);
        for at in order {
            let (row, column) = places[at];
            if (row - first_row, column - first_column) != expected {
                return Err(refused());
            }
            expected.1 += i64::from(outputs[at].1);
            if expected.1 == columns {
                expected = (expected.0 + 1, 0);
            }
        }
        if expected.1 != 0 {
            return Err(refused());
        }
        Ok(Rectangle {
            output: Operand {
                array: self.array,
                offset: first_row * pitch + first_column * width,
                pitch,
            },
            rows: expected.0,
            columns,
            places: places
                .into_iter()
                .map(|(row, column)| (row - first_row, column - first_column))
                .collect(),
        })
    }

    /// Returns the one operation that computes rows of outputs.
    pub(super) fn one(&self, outputs: &[&Output]) -> Result<Work, String> {
        let all: Vec<(u64, u16)> = outputs.iter().map(|it| (it.address, it.columns)).collect();
        let rectangle = self.rectangle(&all)?;
        let mut placed: Vec<Placed<'_>> = outputs
            .iter()
            .zip(&rectangle.places)
            .map(|(output, (row, column))| (*row, *column, *output))
            .collect();
        placed.sort_by_key(|(row, column, _)| (*row, *column));
        let (rows, columns) = (rectangle.rows, rectangle.columns);
        let is_sum = placed
            .first()
            .is_some_and(|(_, _, output)| output.terms.is_empty());
        let (operation, bias) = if is_sum {
            (self.addition(&placed)?, None)
        } else {
            let operation = self.contraction(&placed, rows, columns)?;
            (operation, self.bias(&placed)?)
        };
        let work = Work {
            operation,
            output: rectangle.output,
            rows,
            columns,
            bias,
            store: self.store,
            repeat: Repeat::ONCE,
        };
        self.checked(work)
    }

    /// Refuses what the hardware's loops cannot do.
    pub(super) fn checked(&self, work: Work) -> Result<Work, String> {
        if let (Operation::Convolution { .. }, Some(bias)) = (work.operation, work.bias)
            && (bias.is_narrow || bias.factor != 1.0 || bias.operand.pitch != 0)
        {
            return Err("a convolution whose bias is no row of sums".to_owned());
        }
        if let Operation::Convolution { .. } = work.operation
            && work.store.full_width
        {
            return Err("a convolution whose results are stored at full width".to_owned());
        }
        Ok(work)
    }

    fn addition(&self, placed: &[Placed<'_>]) -> Result<Operation, String> {
        let addends = placed.first().map_or(0, |it| it.2.addends.len());
        if !(1..=2).contains(&addends) || placed.iter().any(|it| !it.2.terms.is_empty()) {
            return Err("it stores what is no sum of two arrays".to_owned());
        }
        let (left, one) = self.addend(placed, 0)?;
        let other = (addends == 2).then(|| self.addend(placed, 1)).transpose()?;
        let (right, two) = other.map_or((None, one), |(right, two)| (Some(right), two));
        if [one.width, two.width].map(i64::from) != [self.element; 2] {
            return Err("it adds sums, not operands".to_owned());
        }
        if self.store.full_width {
            return Err("it stores a sum of operands at full width".to_owned());
        }
        let factors = [one.scale, two.scale].map(f32::from_bits);
        Ok(Operation::Addition {
            left,
            right,
            factors,
        })
    }

    /// Returns what starts sums of products.
    pub(super) fn bias(&self, placed: &[Placed<'_>]) -> Result<Option<Bias>, String> {
        match placed.first().map_or(0, |it| it.2.addends.len()) {
            0 if placed.iter().all(|it| it.2.addends.is_empty()) => Ok(None),
            1 => {
                let (operand, place) = self.addend(placed, 0)?;
                Ok(Some(Bias {
                    operand,
                    is_narrow: i64::from(place.width) == self.element && self.element != 4,
                    factor: f32::from_bits(place.scale),
                }))
            }
            0 => Err("only some of its sums start with a bias".to_owned()),
            _ => Err("it starts its sums with more than one bias".to_owned()),
        }
    }

    /// Returns addend `which` of all sums as rows of an array.
    fn addend(&self, placed: &[Placed<'_>], which: usize) -> Result<(Operand, Place), String> {
        let refused = || "an addend is no array, row by row".to_owned();
        let mut first: Option<(Place, u64)> = None;
        let mut pitch = None;
        let count = placed.first().map_or(0, |it| it.2.addends.len());
        for (row, column, output) in placed {
            if output.addends.len() != count {
                return Err("only some of its sums start with a bias".to_owned());
            }
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
}
