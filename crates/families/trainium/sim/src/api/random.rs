//! Random numbers of the engines: seeded by the kernel, the same in every run. The sequence is not
//! that of the device, which does not document it.

use super::elementwise::VECTOR;
use super::operands::tensor;
use super::{Bound, Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::storage::Buffer;
use crate::tensor::view::{Sizes, View};
use crate::trace::{Choice, Instruction, Operation};

/// Words of a generator's state, and bits in each, so that tiles hold them exactly.
const WORDS: usize = 6;
const WORD_BITS: u32 = 16;

/// State of the generators.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Generator {
    seed: u64,
    drawn: u64,
}

impl Generator {
    /// 32 random bits for element `at` of the next tile (the mixer of SplitMix64).
    fn bits(self, at: u64) -> u32 {
        mixed(self.seed, self.drawn.wrapping_add(at)) as u32
    }
}

/// A word that depends on its arguments only.
fn mixed(seed: u64, at: u64) -> u64 {
    let mut word = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(at.wrapping_mul(0xD1B5_4A32_D192_ED03));
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (word ^ (word >> 31)) >> 32
}

/// A number of `[0, 1)` that depends on its arguments only.
pub(super) fn uniform(seed: u64, at: u64) -> f32 {
    (mixed(seed, at) >> 8) as f32 / (1u64 << 24) as f32
}

impl Device {
    /// Fills a tile with what `value` makes of random bits.
    fn draw(
        &mut self,
        shape: Sizes,
        dtype: Dtype,
        destination: Option<View>,
        choice: Choice,
        value: impl Fn(u32) -> f32,
    ) -> Outcome<Value> {
        let mut whole = shape.clone();
        while whole.len() < 2 {
            whole.push(1);
        }
        super::memory::check_tile(Buffer::Sbuf, dtype, &whole)?;
        let count: usize = shape.iter().product();
        let mut values = Vec::new();
        if self.functional {
            self.account.room(8 * count as u64)?;
            values.extend((0..count as u64).map(|at| value(self.random.bits(at))));
        }
        self.random.drawn = self.random.drawn.wrapping_add(count as u64);
        let mut instruction = Instruction::new(Operation::Random, choice, self.line);
        instruction.partitions = whole[0] as u16;
        instruction.free = (count / whole[0].max(1)) as u32;
        self.finish_tile(instruction, shape, dtype, values, destination)
            .map(tensor)
    }
}

impl Device {
    /// Emits the instruction that reads a seed or a state.
    fn seeded(&mut self, choice: Choice, seeds: &View) -> Outcome<()> {
        let mut instruction = Instruction::new(Operation::Random, choice, self.line);
        instruction.partitions = seeds.partitions() as u16;
        instruction.free = seeds.free() as u32;
        self.describe(&mut instruction, std::slice::from_ref(seeds), 1);
        self.emit(instruction).map(drop)
    }
}

/// `nl.rand(shape, dtype)`: uniform in `[0, 1)`.
pub(super) fn rand(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let shape = bound.sizes("shape")?;
    let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Float32);
    device.draw(shape.into(), dtype, None, VECTOR, |bits| {
        (bits >> 8) as f32 / (1u32 << 24) as f32
    })
}

/// `nl.random_seed(seed)`
pub(super) fn random_seed(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let seed = match bound.required("seed")? {
        Value::Foreign(Nki::Tensor(view)) => {
            let view = device.operand(bound, "seed", View::clone(&view))?;
            device.seeded(VECTOR, &view)?;
            device
                .read_known(&view, "seed")?
                .first()
                .map_or(0, |value| *value as u64)
        }
        other => match other.as_int() {
            Some(seed) => seed as u64,
            None => return Err(bound.wrong("seed", "a whole number or a tile of one", &other)),
        },
    };
    device.random = Generator { seed, drawn: 0 };
    Ok(Value::None)
}

/// `nisa.set_rng_seed(src_seeds)`
pub(super) fn set_seed(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let seeds = bound.view("src_seeds")?;
    let seeds = device.operand(bound, "src_seeds", seeds)?;
    if seeds.elements() != 1 || seeds.dtype.bytes() != 4 {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "{}: `src_seeds` must be one element of 32 bits, not {} of shape {:?}",
                bound.api.full_name(),
                seeds.dtype.name(),
                seeds.shape()
            ),
            "use a tile of shape (1, 1) in uint32",
        ));
    }
    device.seeded(VECTOR, &seeds)?;
    let seed = device
        .read_known(&seeds, "src_seeds")?
        .first()
        .map_or(0, |value| *value as u64);
    device.random = Generator { seed, drawn: 0 };
    Ok(Value::None)
}

/// `nisa.rng(dst)`: random bits.
pub(super) fn rng(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    let target = device.operand(bound, "dst", target)?;
    let choice = device.choice(bound, VECTOR)?;
    let (shape, dtype) = (target.shape(), target.dtype);
    let range = dtype.range();
    device.draw(shape, dtype, Some(target), choice, |bits| match range {
        // The upper bits, as many as the type has.
        Some((low, high)) => {
            (low + f64::from(bits) / 2f64.powi(32) * (high - low + 1.0)).floor() as f32
        }
        None => f32::from_bits(bits),
    })
}

/// `nisa.rand2(dst, min, max)`: uniform between two numbers.
pub(super) fn rand_between(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    let target = device.operand(bound, "dst", target)?;
    let low = bound.number("min")?.unwrap_or(0.0);
    let high = bound.number("max")?.unwrap_or(1.0);
    let (shape, dtype) = (target.shape(), target.dtype);
    device.draw(shape, dtype, Some(target), VECTOR, |bits| {
        (low + f64::from(bits) / 2f64.powi(32) * (high - low)) as f32
    })
}

/// Checks the tile of a generator's state: uint32, with words for each lane.
fn state_tile(device: &mut Device, bound: &mut Bound, name: &str) -> Outcome<View> {
    let view = bound.view(name)?;
    let view = device.operand(bound, name, view)?;
    if view.dtype != Dtype::Uint32 || ![WORDS, 4 * WORDS].contains(&view.free()) {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "{}: `{name}` must be uint32 with 6 or 24 words in each partition, not {} of shape {:?}",
                bound.api.full_name(),
                view.dtype.name(),
                view.shape()
            ),
            "use a tile of shape (128, 6) in uint32",
        ));
    }
    Ok(view)
}

/// `nisa.rand_get_state(dst)`
pub(super) fn get_state(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = state_tile(device, bound, "dst")?;
    let choice = device.choice(bound, VECTOR)?;
    let Generator { seed, drawn } = device.random;
    let words = move |at: usize| {
        let from = if at.is_multiple_of(2) { seed } else { drawn };
        ((from >> (WORD_BITS * (at as u32 / 2 % 3))) & 0xFFFF) as f32
    };
    let (shape, free) = (target.shape(), target.free());
    let values = (0..target.elements()).map(|at| words(at % free)).collect();
    let mut instruction = Instruction::new(Operation::Random, choice, device.line);
    instruction.partitions = target.partitions() as u16;
    instruction.free = free as u32;
    let values = if device.functional {
        values
    } else {
        Vec::new()
    };
    device
        .finish_tile(instruction, shape, Dtype::Uint32, values, Some(target))
        .map(tensor)
}

/// `nisa.rand_set_state(src_seeds)`
pub(super) fn set_state(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let seeds = state_tile(device, bound, "src_seeds")?;
    let choice = device.choice(bound, VECTOR)?;
    device.seeded(choice, &seeds)?;
    let values = device.read_known(&seeds, "src_seeds")?;
    let mut generator = Generator::default();
    for (at, word) in values.iter().take(WORDS).enumerate() {
        let shift = WORD_BITS * (at as u32 / 2);
        let into = if at.is_multiple_of(2) {
            &mut generator.seed
        } else {
            &mut generator.drawn
        };
        *into = into.wrapping_add((*word as u64).wrapping_shl(shift));
    }
    device.random = generator;
    Ok(Value::None)
}
