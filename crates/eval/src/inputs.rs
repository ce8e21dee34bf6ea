//! Test inputs with known answers, and how fresh ones are made of them.

use autocomp_catalog::{Axis, Buffer, DataType, InputSet, Mixture, Problem};
use autocomp_core::Seed;

/// A kernel cannot hold the answers for so many orders of its inputs, in bits.
const UNFORESEEN_BITS: f64 = 20.0;

/// Inputs that have some parts in common with earlier ones, by which elements are other ones: the
/// second half; every other element, so that halves and beginnings are new. A kernel that takes
/// an earlier result for inputs of which it looks at a part gives a wrong one.
const IN_PART_ANEW: [Mixture; 2] = [
    (", half of it drawn anew", |place, count| count / 2 <= place),
    (", every other element drawn anew", |place, count| {
        (count / 2 <= place) != (place % 2 == 1)
    }),
];

/// Returns input sets that draw what `set` draws with the second seed, but for a part, which is
/// what it draws with the first one; each has a part in common with the one before.
#[must_use]
pub fn sets_alike_in_part(
    set: &InputSet,
    buffers: &[Buffer],
    [new, before]: [Seed; 2],
) -> [InputSet; 2] {
    IN_PART_ANEW.map(|mixture| set.mixed(buffers, [before, new], mixture))
}

/// The content of every buffer before and after a right run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the input set.
    pub name: String,
    /// Per buffer, its content before the run; none for pure outputs that are not poisoned.
    pub before: Vec<Option<Vec<u8>>>,
    /// Per buffer, its content after a right run; none for pure inputs, and for all buffers
    /// until it is known.
    pub after: Vec<Option<Vec<u8>>>,
}

impl Case {
    /// Draws the inputs of a set with a seed.
    #[must_use]
    pub fn draw(problem: &Problem, set: &InputSet, seed: Seed) -> Self {
        let buffers = &problem.buffers;
        let draw = |buffer| set.draw(buffer, buffers, seed);
        Self {
            name: set.name.clone(),
            before: buffers.iter().map(draw).collect(),
            after: vec![None; problem.buffers.len()],
        }
    }

    /// Fills pure outputs with what is no likely result.
    #[must_use]
    pub fn poisoned(mut self, problem: &Problem, seed: Seed) -> Self {
        for (buffer, content) in problem.buffers.iter().zip(&mut self.before) {
            content.get_or_insert_with(|| {
                let mut bytes = vec![0; buffer.bytes()];
                let seed = seed.derive("poison").derive(&buffer.name);
                poison(&mut bytes, buffer.dtype, seed);
                bytes
            });
        }
        self
    }

    /// Leaves out what pure outputs are filled with.
    #[must_use]
    pub fn without_poison(mut self, problem: &Problem) -> Self {
        for (buffer, content) in problem.buffers.iter().zip(&mut self.before) {
            content.take_if(|_| !buffer.is_read());
        }
        self
    }

    /// Fills outputs whose right content is known with what is nowhere right.
    #[must_use]
    pub fn with_filled_outputs(mut self) -> Self {
        for (before, after) in self.before.iter_mut().zip(&self.after) {
            if let (None, Some(right)) = (&before, after) {
                let mut bytes = vec![0; right.len()];
                poison_output(&mut bytes, right, Seed(0));
                *before = Some(bytes);
            }
        }
        self
    }

    /// Returns a [permuted](Self::permuted) case that no kernel can foresee; nothing if the
    /// axes have too few orders for that, or the inputs stay what they are.
    #[must_use]
    pub fn permuted_unforeseen(&self, problem: &Problem, seed: Seed) -> Option<Self> {
        if bits_of_orders(problem) < UNFORESEEN_BITS {
            return None;
        }
        let permuted = self.permuted(problem, seed.derive(&self.name));
        (permuted.before != self.before).then_some(permuted)
    }

    /// Returns the case that follows from this one by permuting indices along
    /// the axes of the problem: new inputs whose right outputs are known
    /// without computing them.
    pub fn permuted(&self, problem: &Problem, seed: Seed) -> Self {
        let orders: Vec<Vec<u32>> = problem
            .axes
            .iter()
            .map(|axis| {
                let extent = extent(problem, axis);
                permutation(extent, seed.derive(&axis.name))
            })
            .collect();
        let permute = |contents: &[Option<Vec<u8>>]| {
            let buffers = problem.buffers.iter().enumerate();
            buffers
                .zip(contents)
                .map(|((idx, buffer), content)| {
                    let content = content.as_ref()?;
                    let order = |dimension: usize| {
                        let holds = |axis: &&Axis| {
                            axis.of
                                .iter()
                                .any(|at| at.buffer == idx && at.dimension == dimension)
                        };
                        let axis = problem.axes.iter().position(|axis| holds(&axis))?;
                        Some(orders[axis].as_slice())
                    };
                    Some(permuted_buffer(buffer, content, order))
                })
                .collect()
        };
        Self {
            name: self.name.clone(),
            before: permute(&self.before),
            after: permute(&self.after),
        }
    }
}

/// Returns the logarithm to the base 2 of the number of orders that the axes of a problem have.
fn bits_of_orders(problem: &Problem) -> f64 {
    let indices = problem
        .axes
        .iter()
        .flat_map(|axis| 1..=extent(problem, axis));
    indices.map(|index| (index as f64).log2()).sum()
}

fn extent(problem: &Problem, axis: &Axis) -> usize {
    axis.of.first().map_or(0, |at| {
        problem.buffers[at.buffer].shape[at.dimension] as usize
    })
}

/// Returns the numbers below `n` in a random order.
pub fn permutation(n: usize, mut seed: Seed) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    for idx in (1..n).rev() {
        order.swap(idx, seed.below(idx + 1));
    }
    order
}

/// Moves the element at `order(0)[i], order(1)[j], …` to `i, j, …`.
pub fn permuted_buffer<'o>(
    buffer: &Buffer,
    content: &[u8],
    order: impl Fn(usize) -> Option<&'o [u32]>,
) -> Vec<u8> {
    let width = buffer.dtype.bytes();
    let (columns, outer) = match buffer.shape.split_last() {
        Some((columns, outer)) => (*columns as usize, outer),
        None => return content.to_vec(),
    };
    let row_bytes = columns * width;
    let rows = content.len() / row_bytes.max(1);
    let last = order(outer.len());
    let mut result = Vec::with_capacity(content.len());
    for row in 0..rows {
        // The row's index, taken apart and put together again dimension by dimension.
        let (mut rest, mut from, mut stride) = (row, 0, 1);
        for (dimension, extent) in outer.iter().enumerate().rev() {
            let index = rest % *extent as usize;
            rest /= *extent as usize;
            from += order(dimension).map_or(index, |order| order[index] as usize) * stride;
            stride *= *extent as usize;
        }
        let source = &content[from * row_bytes..(from + 1) * row_bytes];
        match last {
            None => result.extend_from_slice(source),
            Some(order) if width == 1 => {
                result.extend(order.iter().map(|column| source[*column as usize]));
            }
            Some(order) => {
                for column in order {
                    let at = *column as usize * width;
                    result.extend_from_slice(&source[at..at + width]);
                }
            }
        }
    }
    result
}

/// Fills an output with a pattern that has the right value nowhere, so that
/// not even one element left out is right by chance.
pub fn poison_output(bytes: &mut [u8], right: &[u8], seed: Seed) {
    poison(bytes, DataType::UInt8, seed);
    for (byte, right) in bytes.iter_mut().zip(right) {
        if byte == right {
            *byte ^= 0x55;
        }
    }
}

/// Fills `bytes` with a pattern that differs from place to place and seed to seed, and is no
/// likely result: for floating point, signalling numbers that are none.
pub fn poison(bytes: &mut [u8], dtype: DataType, mut seed: Seed) {
    let (kept, set) = match dtype {
        DataType::Float32 => (0x803f_ffff_803f_ffff, 0x7f80_0001_7f80_0001),
        DataType::Float16 => (0x81ff_81ff_81ff_81ff, 0x7c01_7c01_7c01_7c01),
        DataType::BFloat16 => (0x803f_803f_803f_803f, 0x7f81_7f81_7f81_7f81),
        _ => (u64::MAX, 0),
    };
    for chunk in bytes.chunks_mut(8) {
        let word = seed.next_u64() & kept | set;
        let len = chunk.len();
        chunk.copy_from_slice(&word.to_le_bytes()[..len]);
    }
}
