//! What is known of the contents of local memory, and of what was stored.

use super::resident::is_result;
use std::collections::{HashMap, HashSet};

/// A row of a local memory as it came from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Address of its first element; 0 for zeros.
    pub address: u64,
    /// Elements.
    pub columns: u16,
    /// Bytes of an element.
    pub width: u8,
    /// Bits of the factor.
    pub scale: u32,
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
pub struct Rounded {
    pub(super) is_relu: bool,
    pub columns: u16,
    pub addends: Vec<Place>,
    pub terms: Vec<Term>,
}

/// Weights: rows and columns in memory that are fixed distances apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Weights {
    pub address: u64,
    /// Bytes from one element of the summation to the next; 0 for a single one.
    pub pitch: u64,
    /// Bytes from one column to the next; 0 for a single one.
    pub across: u64,
    pub rows: u16,
    pub columns: u16,
    /// Bits of the factor.
    pub scale: u32,
}

impl Weights {
    /// Returns the tile with `next` below it, if that goes on where this one ends.
    fn with(self, next: Self) -> Option<Self> {
        let rows = self.rows.checked_add(next.rows)?;
        let address = self
            .address
            .checked_add(u64::from(self.rows) * self.pitch)?;
        let below = Self {
            address,
            rows: next.rows,
            ..self
        };
        (self.pitch != 0 && next == below).then_some(Self { rows, ..self })
    }
}

/// How the elements of an input lie that go into one sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// Bytes from one element to the next; 0 for a single one.
    pub step: u64,
    /// Bits of the factor.
    pub scale: u32,
}

/// A product: a row of the input with a tile of weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Term {
    /// Address of the first element of the input.
    pub input: u64,
    /// Number of the weights.
    pub weights: u32,
    /// Number of the input's form.
    pub form: u32,
}

/// What numbers in terms stand for.
#[derive(Debug, Default)]
pub struct Numbered {
    pub weights: Vec<Weights>,
    pub forms: Vec<Form>,
    /// What the array left in the scratchpad.
    pub results: Vec<Rounded>,
    known_weights: HashMap<Weights, u32>,
    known_forms: HashMap<Form, u32>,
    /// Numbers of weights that two others are together, if they go on where the first end.
    joined: HashMap<[u32; 2], Option<u32>>,
    last_joined: Option<([u32; 2], Option<u32>)>,
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

    /// Adds a product to a sum. One that goes on in memory where the last one ends becomes a
    /// part of that: sums over a long depth are short.
    pub(super) fn add(&mut self, terms: &mut Vec<Term>, next: Term) {
        let Some(last) = terms.last_mut().filter(|last| self.is_behind(last, next)) else {
            terms.push(next);
            return;
        };
        match self.joined([last.weights, next.weights]) {
            Some(joined) => last.weights = joined,
            None => terms.push(next),
        }
    }

    /// Returns whether the input of a product begins where that of `last` ends.
    fn is_behind(&self, last: &Term, next: Term) -> bool {
        let step = self.forms[last.form as usize].step;
        let rows = u64::from(self.weights[last.weights as usize].rows);
        last.form == next.form
            && step != 0
            && last.input.checked_add(rows * step) == Some(next.input)
            && !is_result(next.input)
    }

    /// Returns the number of the weights that two tiles are together; nothing if the second
    /// does not go on where the first ends.
    fn joined(&mut self, pair: [u32; 2]) -> Option<u32> {
        if let Some((last, joined)) = self.last_joined
            && last == pair
        {
            return joined;
        }
        let joined = match self.joined.get(&pair) {
            Some(joined) => *joined,
            None => {
                let [first, second] = pair.map(|number| self.weights[number as usize]);
                let joined = first.with(second).map(|whole| self.weights(whole));
                self.joined.insert(pair, joined);
                joined
            }
        };
        self.last_joined = Some((pair, joined));
        joined
    }
}

/// A sum.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub(super) is_written: bool,
    /// When the first came in of what it is made of: the number of the command.
    pub(super) since: usize,
    pub(super) columns: u16,
    pub(super) addends: Vec<Place>,
    pub(super) terms: Vec<Term>,
}

impl Default for Sum {
    fn default() -> Self {
        Self {
            is_written: false,
            since: usize::MAX,
            columns: 0,
            addends: Vec::new(),
            terms: Vec::new(),
        }
    }
}

/// What is stored in one row of a tile.
#[derive(Clone, Debug)]
pub struct Output {
    pub address: u64,
    pub columns: u16,
    pub addends: Vec<Place>,
    pub terms: Vec<Term>,
}

/// How results are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Store {
    pub is_relu: bool,
    pub scale: u32,
    /// Bytes between rows.
    pub pitch: u32,
    pub full_width: bool,
}

/// What one array is given.
#[derive(Clone, Debug)]
pub struct Stored {
    pub store: Store,
    pub outputs: Vec<Output>,
    /// When it was first and last stored to, and first read afterwards, in commands.
    pub first: usize,
    pub(super) last: usize,
    pub(super) read: Option<usize>,
}

impl Stored {
    /// Leaves out what is stored once more later, to the same elements.
    pub(super) fn keep_last(&mut self) {
        let mut seen = HashSet::with_capacity(self.outputs.len());
        self.outputs.reverse();
        self.outputs
            .retain(|it| seen.insert((it.address, it.columns)));
        self.outputs.reverse();
    }
}

/// One of the hardware's loops, as a kernel calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HardwareLoop {
    /// Tiles along I, J, K.
    Matmul([u16; 3]),
    /// Images, rows, columns, output channels, input channels.
    Convolution([u16; 5]),
}
