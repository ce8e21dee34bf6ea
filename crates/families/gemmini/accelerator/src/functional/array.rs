//! What sits in the array between two commands.

use super::instruction_set::Host;
use super::local::{LocalMemory, Rows, column_mask};
use super::multiply::Weights;
use crate::address::Tile;
use crate::config::{Elements, GemminiConfig};
use crate::isa::Dataflow;

/// Rows of local memory as an operand lies in them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// First row.
    pub first: u32,
    /// Number of rows.
    pub rows: u32,
    /// Rows from one to the next.
    pub stride: u32,
    /// Columns read in each.
    pub cols: u32,
}

impl Extent {
    /// Returns where `tile` lies, if it is an operand, whose rows are `stride`
    /// apart; `turned`: what are rows in the command are columns there.
    #[inline(always)]
    pub fn of(tile: Tile, turned: bool, stride: u16) -> Self {
        let (rows, cols) = (u32::from(tile.rows), u32::from(tile.cols));
        let (rows, cols) = if turned { (cols, rows) } else { (rows, cols) };
        Self {
            first: tile.address.row(),
            rows,
            stride: stride.into(),
            cols,
        }
    }

    /// Returns the row after the last.
    #[inline]
    pub fn end(self) -> u32 {
        self.first + self.rows.saturating_sub(1) * self.stride + u32::from(self.rows > 0)
    }

    /// Returns the rows in order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..self.rows).map(move |at| self.first + at * self.stride)
    }

    /// Returns the number of the last load that the rows depend on.
    #[inline]
    pub fn newest_load(self, rows: &Rows) -> u32 {
        self.summary(rows).1
    }

    /// Returns the columns written in all of the rows, and the number of the
    /// last load that they depend on.
    #[inline]
    pub fn summary(self, rows: &Rows) -> (u64, u32) {
        if self.stride == 1 {
            rows.summary(self.first, self.rows)
        } else {
            self.spread_summary(rows)
        }
    }

    #[inline(never)]
    fn spread_summary(self, rows: &Rows) -> (u64, u32) {
        self.iter().fold((u64::MAX, 0), |all, row| {
            let (written, load) = rows.summary(row, 1);
            (all.0 & written, all.1.max(load))
        })
    }
}

/// Contents of the array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    /// Stationary int8 weights.
    pub weights: Weights,
    /// Stationary float weights.
    pub float_weights: Vec<f32>,
    /// Stationary sums; bit patterns if they are floats.
    pub sums: Vec<i32>,
    /// For each row of the array the columns whose content is known; holds
    /// only unless `all_valid`.
    pub valid: Vec<u64>,
    /// Every column of every row is known.
    pub all_valid: bool,
    /// What the content is for; `None` after reset.
    pub holds: Option<Dataflow>,
    /// Rows of the operand that was loaded.
    pub rows: u32,
    /// Columns of it.
    pub cols: u32,
    /// Where it lay, if it was not zeros.
    pub origin: Option<(Extent, bool)>,
    /// Instruction that named it.
    pub pc: u64,
    /// Number of the last load it depends on.
    pub after_load: u32,
    elements: Elements,
    dim: usize,
}

impl Array {
    pub fn new(config: &GemminiConfig, host: Host) -> Self {
        let dim = config.dim as usize;
        Self {
            weights: Weights::new(dim, host),
            float_weights: vec![0.0; dim * dim],
            sums: vec![0; dim * dim],
            valid: vec![0; dim],
            all_valid: false,
            holds: None,
            rows: 0,
            cols: 0,
            origin: None,
            pc: 0,
            after_load: 0,
            elements: config.elements,
            dim,
        }
    }

    /// The content is unknown from now on.
    pub fn forget(&mut self) {
        self.valid.fill(0);
        self.all_valid = false;
        self.holds = None;
        self.origin = None;
        self.after_load = 0;
    }

    /// Loads zeros.
    pub fn load_zeros(&mut self, dataflow: Dataflow, pc: u64) {
        match (dataflow, self.elements) {
            (Dataflow::OutputStationary, _) => self.sums.fill(0),
            (Dataflow::WeightStationary, Elements::Int8) => self.weights.clear(),
            (Dataflow::WeightStationary, Elements::Float32) => self.float_weights.fill(0.0),
        }
        self.all_valid = true;
        self.holds = Some(dataflow);
        (self.rows, self.cols) = (0, 0);
        self.origin = None;
        self.pc = pc;
        self.after_load = 0;
    }

    /// Loads `rows` x `cols` scratchpad elements that lie in `extent`, in the
    /// other orientation if `transposed`, and zeros around them.
    #[inline]
    pub fn load(
        &mut self,
        dataflow: Dataflow,
        local: &LocalMemory,
        extent: Extent,
        transposed: bool,
        pc: u64,
    ) {
        let (rows, cols) = if transposed {
            (extent.cols, extent.rows)
        } else {
            (extent.rows, extent.cols)
        };
        self.load_values(dataflow, local, extent, transposed);
        let (written, after_load) = extent.summary(&local.spad);
        let mask = column_mask(extent.cols);
        self.all_valid = written & mask == mask;
        if !self.all_valid {
            self.note_missing(local, extent, transposed);
        }
        self.holds = Some(dataflow);
        (self.rows, self.cols) = (rows, cols);
        self.origin = Some((extent, transposed));
        self.pc = pc;
        self.after_load = after_load;
    }

    /// Notes which elements are not known; only if some are not.
    #[cold]
    fn note_missing(&mut self, local: &LocalMemory, extent: Extent, transposed: bool) {
        self.valid.fill(u64::MAX);
        for (at, row) in extent.iter().enumerate() {
            let missing = column_mask(extent.cols) & !local.spad.written(row);
            if !transposed {
                self.valid[at] = !missing;
                continue;
            }
            for (column, valid) in self.valid.iter_mut().enumerate() {
                if missing >> column & 1 != 0 {
                    *valid &= !(1 << at);
                }
            }
        }
    }

    #[inline]
    fn load_values(
        &mut self,
        dataflow: Dataflow,
        local: &LocalMemory,
        extent: Extent,
        transposed: bool,
    ) {
        let dim = self.dim;
        match (self.elements, dataflow) {
            (Elements::Int8, Dataflow::WeightStationary) => {
                if !transposed && extent.cols as usize == dim && extent.stride == 1 {
                    let bytes = extent.rows as usize * dim;
                    let rows = &local.bytes[extent.first as usize * dim..][..bytes];
                    self.weights.load_rows(rows);
                    return;
                }
                self.weights.load_with(|plain| {
                    for (at, row) in extent.iter().enumerate() {
                        let from = &local.spad_row(row)[..extent.cols as usize];
                        if transposed {
                            for (to, byte) in plain.chunks_exact_mut(dim).zip(from) {
                                to[at] = *byte;
                            }
                        } else {
                            plain[at * dim..][..from.len()].copy_from_slice(from);
                        }
                    }
                });
            }
            (Elements::Int8, Dataflow::OutputStationary) => {
                self.sums.fill(0);
                place(dim, local, extent, transposed, 1, |at, bytes| {
                    self.sums[at] = i32::from(bytes[0] as i8)
                });
            }
            (Elements::Float32, Dataflow::WeightStationary) => {
                self.float_weights.fill(0.0);
                place(dim, local, extent, transposed, 4, |at, bytes| {
                    self.float_weights[at] = float(bytes)
                });
            }
            (Elements::Float32, Dataflow::OutputStationary) => {
                self.sums.fill(0);
                place(dim, local, extent, transposed, 4, |at, bytes| {
                    self.sums[at] = float(bytes).to_bits() as i32;
                });
            }
        }
    }
}

/// Reads one little-endian float.
pub(crate) fn float(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(
        bytes
            .try_into()
            .expect("an element of a float row has four bytes"),
    )
}

/// Hands each element of a scratchpad operand to `put`, with its place in a
/// `dim` x `dim` matrix.
pub(crate) fn place(
    dim: usize,
    local: &LocalMemory,
    extent: Extent,
    transposed: bool,
    element_bytes: usize,
    mut put: impl FnMut(usize, &[u8]),
) {
    for (major, row) in extent.iter().enumerate() {
        let elements = local
            .spad_row(row)
            .chunks_exact(element_bytes)
            .take(extent.cols as usize);
        for (minor, bytes) in elements.enumerate() {
            put(
                if transposed {
                    minor * dim + major
                } else {
                    major * dim + minor
                },
                bytes,
            );
        }
    }
}
