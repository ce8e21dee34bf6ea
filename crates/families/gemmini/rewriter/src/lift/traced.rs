//! What is known of the contents of local memory, and of what was stored.

/// A row of a local memory as it came from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Address of its first element; 0 for zeros.
    pub(crate) address: u64,
    /// Elements.
    pub(crate) columns: u16,
    /// Bytes of an element.
    pub(crate) width: u8,
    /// Bits of the factor.
    pub(crate) scale: u32,
}

/// Weights: rows of memory that are a fixed distance apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Weights {
    pub(crate) address: u64,
    /// Bytes between rows; 0 for a single row.
    pub(crate) pitch: u64,
    pub(crate) rows: u16,
    pub(crate) columns: u16,
}

/// A product: a row of the input with a tile of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    /// Address of the first element of the input.
    pub(crate) input: u64,
    /// Number of the weights.
    pub(crate) weights: u32,
}

/// A sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) is_written: bool,
    pub(super) columns: u16,
    pub(super) addends: Vec<Place>,
    pub(super) terms: Vec<Term>,
}

/// What is stored in one row of a tile.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) address: u64,
    pub(crate) columns: u16,
    pub(crate) addends: Vec<Place>,
    pub(crate) terms: Vec<Term>,
}

/// How results are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    pub(crate) is_relu: bool,
    pub(crate) scale: u32,
    /// Bytes between rows.
    pub(crate) pitch: u32,
    pub(crate) full_width: bool,
}

/// What one array is given.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) store: Store,
    pub(crate) outputs: Vec<Output>,
    /// When it was first and last stored to, and first read afterwards, in commands.
    pub(crate) first: usize,
    pub(super) last: usize,
    pub(super) read: Option<usize>,
}

/// One of the hardware's loops, as a kernel calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HardwareLoop {
    /// Tiles along I, J, K.
    Matmul([u16; 3]),
    /// Images, rows, columns, output channels, input channels.
    Convolution([u16; 5]),
}
