//! What is known of the contents of local memory, and of what was stored.

use std::collections::HashMap;

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

/// A row of the scratchpad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// It came from memory.
    Memory(Place),
    /// The array left it there: the number of the result.
    Result(u32),
}

/// A row that the array left in the scratchpad.
#[derive(Clone, Debug)]
pub(crate) struct Rounded {
    pub(super) is_relu: bool,
    pub(crate) columns: u16,
    pub(crate) addends: Vec<Place>,
    pub(crate) terms: Vec<Term>,
}

/// Weights: rows and columns in memory that are fixed distances apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Weights {
    pub(crate) address: u64,
    /// Bytes from one element of the summation to the next; 0 for a single one.
    pub(crate) pitch: u64,
    /// Bytes from one column to the next; 0 for a single one.
    pub(crate) across: u64,
    pub(crate) rows: u16,
    pub(crate) columns: u16,
    /// Bits of the factor.
    pub(crate) scale: u32,
}

/// How the elements of an input lie that go into one sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    /// Bytes from one element to the next; 0 for a single one.
    pub(crate) step: u64,
    /// Bits of the factor.
    pub(crate) scale: u32,
}

/// A product: a row of the input with a tile of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    /// Address of the first element of the input.
    pub(crate) input: u64,
    /// Number of the weights.
    pub(crate) weights: u32,
    /// Number of the input's form.
    pub(crate) form: u32,
}

/// What numbers in terms stand for.
#[derive(Debug, Default)]
pub(crate) struct Numbered {
    pub(crate) weights: Vec<Weights>,
    pub(crate) forms: Vec<Form>,
    /// What the array left in the scratchpad.
    pub(crate) results: Vec<Rounded>,
    known_weights: HashMap<Weights, u32>,
    known_forms: HashMap<Form, u32>,
}

impl Numbered {
    pub(super) fn weights(&mut self, new: Weights) -> u32 {
        let next = self.weights.len() as u32;
        let number = *self.known_weights.entry(new).or_insert(next);
        if number == next {
            self.weights.push(new);
        }
        number
    }

    pub(super) fn form(&mut self, new: Form) -> u32 {
        if self.forms.first() == Some(&new) {
            return 0;
        }
        let next = self.forms.len() as u32;
        let number = *self.known_forms.entry(new).or_insert(next);
        if number == next {
            self.forms.push(new);
        }
        number
    }
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
