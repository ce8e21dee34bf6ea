//! The grid of programs of a kernel of the first dialect.

use crate::tensor::dtype::Dtype;
use crate::tensor::storage::Shared;

/// The grid of programs that a kernel of the first dialect is launched on, which the one core
/// runs one after the other.
#[derive(Default)]
pub(crate) struct Grid {
    /// Programs along each axis.
    pub(crate) sizes: Vec<i64>,
    /// The running program.
    pub(crate) place: Vec<i64>,
    /// Tensors in main memory that the programs share, in the order they are made in.
    shared: Vec<Shared>,
    /// How many of them the running program has made.
    made: usize,
}

impl Grid {
    pub(crate) fn new(sizes: Vec<i64>) -> Self {
        Self {
            place: vec![0; sizes.len()],
            sizes,
            ..Self::default()
        }
    }

    /// One core's program of a grid of cores.
    pub(super) fn of_core(count: i64, rank: i64) -> Self {
        Self {
            sizes: vec![count],
            place: vec![rank],
            ..Self::default()
        }
    }

    /// Goes on to the next program; whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        self.made = 0;
        for (place, size) in self.place.iter_mut().zip(&self.sizes).rev() {
            *place += 1;
            if *place < *size {
                return true;
            }
            *place = 0;
        }
        false
    }

    /// The tensor that an earlier program made where the running one makes its next.
    pub(super) fn earlier(&mut self, dtype: Dtype, sizes: &[usize]) -> Option<Shared> {
        let found = self.shared.get(self.made)?;
        self.made += 1;
        (found.dtype == dtype && found.shape[..] == *sizes).then(|| Shared::clone(found))
    }

    pub(super) fn made(&mut self, storage: &Shared) {
        if !self.sizes.is_empty() {
            self.shared.push(Shared::clone(storage));
            self.made = self.shared.len();
        }
    }
}
