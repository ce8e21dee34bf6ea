//! Follows what the array multiplies, with either operand at rest, transposed or not.

use super::contents::{Cell, Form, Place, Rounded, Sum, Term, Weights};
use super::machine::{Done, Held, Machine};
use super::resident;
use autocomp_gemmini::{Activation, ConfigEx, Dataflow, Tile};

/// A product for one row of the result, with what is added to it.
#[derive(Clone, Copy)]
struct Share<'sums> {
    /// When the first came in of what it is made of.
    since: usize,
    addend: Option<Place>,
    term: Option<Term>,
    /// A sum that stayed in the array.
    held: Option<&'sums Sum>,
}

impl Machine<'_> {
    /// Returns the scratchpad row that holds an operand.
    fn row(&self, row: u32) -> Result<Place, String> {
        let cell = self.scratchpad.get(row as usize).copied().flatten();
        match cell.ok_or("an operand that nothing wrote")? {
            Cell::Memory(place) => Ok(place),
            Cell::Result(number) => Ok(Place {
                address: resident::address(number, self.config),
                columns: self.numbered.results[number as usize].columns,
                width: self.config.element_bytes() as u8,
                scale: 1.0f32.to_bits(),
            }),
        }
    }

    /// Returns the number of the weights in a tile; nothing if they are zeros.
    ///
    /// `turned`: rows and columns change places as they enter the array.
    fn stationary(&mut self, tile: Tile, turned: bool) -> Result<Option<u32>, String> {
        if tile.address.is_garbage() {
            return Ok(None);
        }
        if tile.address.is_accumulator() {
            return Err("weights in the accumulator".to_owned());
        }
        let (lines, wide) = if turned {
            (tile.cols, tile.rows)
        } else {
            (tile.rows, tile.cols)
        };
        let first = self.row(tile.address.row())?;
        let mut apart = 0;
        let mut last = first;
        let mut count = u16::from(first.address != 0);
        for line in 1..u32::from(lines) {
            let place = self.row(tile.address.row() + line)?;
            // Rows of zeros fill up what is no whole tile.
            if place.address == 0 {
                continue;
            }
            if u32::from(count) != line || place.columns < wide || place.scale != first.scale {
                return Err("weights that are partly zeros".to_owned());
            }
            if line == 1 {
                apart = place.address.wrapping_sub(first.address);
            }
            if place.address.wrapping_sub(last.address) != apart {
                return Err("weights whose rows are not evenly apart".to_owned());
            }
            last = place;
            count += 1;
        }
        if count == 0 {
            return Ok(None);
        }
        if first.columns < wide {
            return Err("weights that are partly zeros".to_owned());
        }
        let inside = u64::from(first.width);
        let weights = if turned {
            Weights {
                address: first.address,
                pitch: if wide == 1 { 0 } else { inside },
                across: apart,
                rows: wide,
                columns: count,
                scale: first.scale,
            }
        } else {
            Weights {
                address: first.address,
                pitch: apart,
                across: if wide == 1 { 0 } else { inside },
                rows: count,
                columns: wide,
                scale: first.scale,
            }
        };
        Ok(Some(self.numbered.weights(weights)))
    }

    /// Returns the products of row `row` of a tile with weights of `depth` rows; nothing
    /// if it holds zeros.
    fn product(
        &mut self,
        a: Tile,
        row: u32,
        weights: u32,
        execute: &ConfigEx,
    ) -> Result<Option<Term>, String> {
        if a.address.is_garbage() {
            return Ok(None);
        }
        if a.address.is_accumulator() {
            return Err("an input that is not in the scratchpad".to_owned());
        }
        let depth = self.numbered.weights[weights as usize].rows;
        if a.cols < depth {
            return Err("tiles of a product that do not fit each other".to_owned());
        }
        let stride = u32::from(execute.a_stride);
        let line = |number: u32| a.address.row().wrapping_add(number.wrapping_mul(stride));
        if !execute.a_transpose {
            let from = self.row(line(row))?;
            if from.columns < depth {
                return self.neighbours(line(row), from, weights);
            }
            return Ok(self.term(&from, weights, depth));
        }
        let first = self.row(line(0))?;
        let mut last = first;
        let mut step = 0;
        for number in 0..u32::from(depth) {
            let from = self.row(line(number))?;
            if from.address == 0 || u32::from(from.columns) <= row || from.scale != first.scale {
                return Err("an input that is partly zeros, transposed".to_owned());
            }
            let now = from.address.wrapping_sub(last.address);
            if number == 1 {
                step = now;
            }
            if 0 < number && now != step {
                return Err("an input whose rows are not evenly apart, transposed".to_owned());
            }
            last = from;
        }
        let form = self.numbered.form(Form {
            step,
            scale: first.scale,
        });
        Ok(Some(Term {
            input: first.address + u64::from(row) * u64::from(first.width),
            weights,
            form,
        }))
    }

    /// Returns the product of the first `depth` elements of a row; nothing if they are zeros.
    #[inline]
    fn term(&mut self, from: &Place, weights: u32, depth: u16) -> Option<Term> {
        let step = if depth == 1 { 0 } else { u64::from(from.width) };
        let scale = from.scale;
        (from.address != 0).then(|| Term {
            input: from.address,
            weights,
            form: self.numbered.form(Form { step, scale }),
        })
    }

    /// Returns what a row of an operand adds to a sum.
    fn addend(&self, tile: Tile, row: u32, columns: u16) -> Result<Option<Place>, String> {
        if tile.address.is_garbage() || u32::from(tile.rows) <= row {
            return Ok(None);
        }
        if tile.address.is_accumulator() {
            return Err("an addend of a product in the accumulator".to_owned());
        }
        let place = self.row(tile.address.row() + row)?;
        if place.address == 0 {
            return Ok(None);
        }
        if place.columns < columns || tile.cols < columns {
            return Err("an addend that is narrower than the result".to_owned());
        }
        Ok(Some(place))
    }

    /// Returns when the first row of a tile came in: the number of the command.
    fn came(&self, tile: Tile, stride: u16) -> usize {
        if tile.address.is_garbage() || tile.address.is_accumulator() {
            return usize::MAX;
        }
        // Transposed, as many rows as it has columns.
        let count = tile.rows.max(tile.cols);
        let first = tile.address.row() as usize;
        if stride == 1
            && let Some(came) = self.came.get(first..first + usize::from(count))
        {
            return came.iter().copied().min().unwrap_or(usize::MAX);
        }
        let rows = (0..u32::from(count)).map(|row| {
            tile.address
                .row()
                .wrapping_add(row.wrapping_mul(stride.into()))
        });
        let came = rows.filter_map(|row| self.came.get(row as usize));
        came.copied().min().unwrap_or(usize::MAX)
    }

    pub(super) fn compute(&mut self, preloaded: bool, a: Tile, bd: Tile) -> Done {
        let execute = self
            .execute
            .ok_or("products before the array is configured")?;
        let (stationary, dest) = self.pending.take().ok_or("a product without a preload")?;
        if execute.dataflow == Dataflow::OutputStationary {
            return self.compute_in_place(preloaded, &execute, [stationary, dest, a, bd]);
        }
        if preloaded {
            self.held_since = self.came(stationary, 1);
            self.in_array = match self.stationary(stationary, execute.b_transpose)? {
                Some(number) => Held::Weights(number),
                None => Held::Zeros,
            };
        }
        let number = match self.in_array {
            Held::Weights(number) => Some(number),
            Held::Zeros => None,
            _ => return Err("a product without weights".to_owned()),
        };
        if dest.address.is_garbage() {
            return Ok(());
        }
        if let Some(number) = number {
            let columns = self.numbered.weights[number as usize].columns;
            if columns < dest.cols || a.rows < dest.rows {
                return Err("tiles of a product that do not fit each other".to_owned());
            }
        }
        let since = self.came(a, execute.a_stride).min(self.came(bd, 1));
        let since = since.min(self.held_since);
        let depth = number.map_or(0, |it| self.numbered.weights[it as usize].rows);
        let is_resident = !a.address.is_garbage() && !a.address.is_accumulator();
        let is_plain = is_resident && !execute.a_transpose && depth <= a.cols;
        for row in 0..dest.rows {
            let line = u32::from(row).wrapping_mul(execute.a_stride.into());
            let line = a.address.row().wrapping_add(line);
            let term = match (number, self.scratchpad.get(line as usize)) {
                (None, _) => None,
                // Nearly all rows: what came in as it is.
                (Some(number), Some(Some(Cell::Memory(from))))
                    if is_plain && depth <= from.columns =>
                {
                    let from = *from;
                    self.term(&from, number, depth)
                }
                (Some(number), _) => self.product(a, row.into(), number, &execute)?,
            };
            let addend = match bd.address.is_garbage() {
                true => None,
                false => self.addend(bd, row.into(), dest.cols)?,
            };
            let share = Share {
                since,
                addend,
                term,
                held: None,
            };
            self.deposit(dest, row, &execute, &share)?;
        }
        Ok(())
    }

    /// A product whose sums stay in the array.
    fn compute_in_place(
        &mut self,
        preloaded: bool,
        execute: &ConfigEx,
        [stationary, dest, a, bd]: [Tile; 4],
    ) -> Done {
        if execute.in_shift != 0 {
            return Err("sums that are shifted as they leave the array".to_owned());
        }
        let dim = self.config.dim as u16;
        let mut sums = match std::mem::replace(&mut self.in_array, Held::Nothing) {
            Held::Sums(sums) if !preloaded => sums,
            _ if !preloaded => return Err("sums that nothing began".to_owned()),
            _ => {
                let mut sums = Vec::new();
                for row in 0..dim {
                    let columns = stationary.cols.min(dim);
                    let addend = self.addend(stationary, row.into(), columns)?;
                    sums.push(Sum {
                        is_written: true,
                        since: self.came(stationary, 1),
                        columns: if addend.is_some() { columns } else { dim },
                        addends: addend.into_iter().collect(),
                        ..Sum::default()
                    });
                }
                sums
            }
        };
        let since = self.came(a, execute.a_stride).min(self.came(bd, 1));
        if let Some(weights) = self.stationary(bd, execute.b_transpose)? {
            let columns = self.numbered.weights[weights as usize].columns;
            for (row, sum) in sums.iter_mut().enumerate().take(a.rows.into()) {
                if let Some(term) = self.product(a, row as u32, weights, execute)? {
                    self.numbered.add(&mut sum.terms, term);
                }
                sum.columns = sum.columns.min(columns);
                sum.since = sum.since.min(since);
            }
        }
        if !dest.address.is_garbage() {
            for row in 0..dest.rows.min(dim) {
                let held = &sums[usize::from(row)];
                if held.columns < dest.cols {
                    return Err("tiles of a product that do not fit each other".to_owned());
                }
                let share = Share {
                    since: held.since,
                    addend: None,
                    term: None,
                    held: Some(held),
                };
                self.deposit(dest, row, execute, &share)?;
            }
        }
        self.in_array = Held::Sums(sums);
        Ok(())
    }

    /// Writes a row of a result.
    #[inline]
    fn deposit(&mut self, dest: Tile, row: u16, execute: &ConfigEx, share: &Share<'_>) -> Done {
        let at = dest.address.row() + u32::from(row) * u32::from(execute.c_stride);
        if dest.address.is_accumulator() {
            let sum = self
                .accumulator
                .get_mut(at as usize)
                .ok_or("a row beyond the accumulator")?;
            begin(sum, dest)?;
            sum.since = sum.since.min(share.since);
            if let Some(addend) = share.addend {
                sum.addends.push(addend);
            }
            if let Some(term) = share.term {
                self.numbered.add(&mut sum.terms, term);
            }
            if let Some(held) = share.held {
                sum.addends.extend_from_slice(&held.addends);
                sum.terms.extend_from_slice(&held.terms);
            }
            return Ok(());
        }
        let held = share.held.cloned().unwrap_or_default();
        let result = Rounded {
            is_relu: execute.activation == Activation::Relu,
            columns: dest.cols,
            addends: held.addends.into_iter().chain(share.addend).collect(),
            terms: held.terms.into_iter().chain(share.term).collect(),
        };
        let number = self.numbered.results.len() as u32;
        self.put(at as usize, Cell::Result(number), share.since)?;
        self.numbered.results.push(result);
        Ok(())
    }
}

/// Begins a sum, or checks that there is one to add to.
fn begin(sum: &mut Sum, dest: Tile) -> Done {
    if dest.address.accumulates() {
        if !sum.is_written || sum.columns < dest.cols {
            return Err("a sum with what nothing wrote".to_owned());
        }
    } else {
        sum.is_written = true;
        sum.since = usize::MAX;
        sum.columns = dest.cols;
        sum.addends.clear();
        sum.terms.clear();
    }
    Ok(())
}
