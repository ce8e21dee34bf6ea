//! What an array is given: one of the operations that are known.

use super::contents::Store;

/// Rows of an array in memory, as an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Number of the array.
    pub array: usize,
    /// Bytes from its beginning to the first element.
    pub offset: i64,
    /// Bytes between rows.
    pub pitch: i64,
}

/// What starts a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bias {
    pub operand: Operand,
    /// Its elements are operands, not sums.
    pub is_narrow: bool,
    /// What it is multiplied by as it comes in.
    pub factor: f32,
}

/// How often an operation is done, each time a fixed distance further on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    pub count: i64,
    /// Bytes from one time to the next: input, weights, bias, output.
    pub steps: [i64; 4],
}

impl Repeat {
    pub const ONCE: Self = Self {
        count: 1,
        steps: [0; 4],
    };
}

/// A convolution's sizes, in pixels and channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Convolution {
    pub batch: i64,
    /// Rows and columns of an input image in memory.
    pub in_rows: i64,
    pub in_columns: i64,
    /// Channels of the input in memory.
    pub in_channels: i64,
    /// Rows and columns of an output image.
    pub out_rows: i64,
    pub out_columns: i64,
    pub kernel_rows: i64,
    pub kernel_columns: i64,
    pub stride: i64,
    /// Pixels from one position in the kernel to the next, 1 for neighbours.
    pub dilation: i64,
    /// Rows above and columns left of an image that are taken for zeros.
    pub padding: [i64; 2],
    /// Input channels that go into an output.
    pub depth: i64,
    /// Rows of weights from one position in the kernel to the next.
    pub tap_pitch: i64,
    /// Outputs of each group of as many channels as the array has columns are
    /// of the input channels of the same number (depthwise, by weights on diagonals).
    pub is_grouped: bool,
}

impl Convolution {
    /// Returns the rows and columns that the kernel reaches over.
    pub fn window(&self) -> [i64; 2] {
        [self.kernel_rows, self.kernel_columns].map(|size| (size - 1) * self.dilation + 1)
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation {
    /// Rows of the input times weights of so many rows.
    Product {
        input: Operand,
        weights: Operand,
        depth: i64,
        /// Whether the input, and the weights, lie in memory transposed: with a row for
        /// each row of the weights, and for each column of the result.
        turned: [bool; 2],
        /// What the input, and the weights, are multiplied by as they come in.
        factors: [f32; 2],
    },
    /// The pitch of the input is that of pixels, that of the weights that of input channels.
    Convolution {
        input: Operand,
        weights: Operand,
        sizes: Convolution,
    },
    /// A sum of two arrays, each times a factor, or one array times a factor.
    Addition {
        left: Operand,
        right: Option<Operand>,
        factors: [f32; 2],
    },
}

/// What one array is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    pub operation: Operation,
    pub output: Operand,
    pub rows: i64,
    pub columns: i64,
    pub bias: Option<Bias>,
    pub store: Store,
    pub repeat: Repeat,
}

impl Work {
    /// Returns the products of two elements that go into the results.
    pub(super) fn products(&self) -> i64 {
        let depth = match self.operation {
            Operation::Product { depth, .. } => depth,
            Operation::Convolution { sizes, .. } => {
                sizes.kernel_rows * sizes.kernel_columns * sizes.depth
            }
            Operation::Addition { .. } => 0,
        };
        self.rows * self.columns * depth * self.repeat.count
    }

    /// Returns the same with other numbers of arrays.
    pub(super) fn renumbered(&self, number: &dyn Fn(usize) -> Option<usize>) -> Option<Self> {
        let of = |operand: Operand| {
            let array = number(operand.array)?;
            Some(Operand { array, ..operand })
        };
        let mut work = *self;
        work.output = of(work.output)?;
        if let Some(bias) = &mut work.bias {
            bias.operand = of(bias.operand)?;
        }
        match &mut work.operation {
            Operation::Product { input, weights, .. }
            | Operation::Convolution { input, weights, .. } => {
                (*input, *weights) = (of(*input)?, of(*weights)?);
            }
            Operation::Addition { left, right, .. } => {
                *left = of(*left)?;
                if let Some(right) = right {
                    *right = of(*right)?;
                }
            }
        }
        Some(work)
    }
}
