//! Tensors at addresses that the kernel names.

use std::rc::Rc;
use std::sync::Arc;

use super::memory::{PSUM_BANK, PSUM_BYTES};
use super::{Device, Nki, Value};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::number_maps::Keyed;
use crate::tensor::place::{Place, Repeating};
use crate::tensor::storage::{Buffer, Shared};
use crate::trace::LoopKind;

/// Most blocks of a tensor that is allocated directly.
const BLOCKS: usize = 1 << 16;

/// How the places of a tensor's blocks are chosen.
#[derive(Clone)]
pub(crate) enum Rule {
    /// By the remainders of the block's indices.
    Modulo {
        bank: Repeating,
        partition: Repeating,
        byte: Repeating,
    },
    /// By a function of the kernel: of the block's indices, its partitions and bytes.
    Function(Value),
    /// One by one, in the order of the blocks.
    Listed(Rc<[Place]>),
}

/// What `buffer=` holds in a kernel that allocates directly.
pub(crate) struct Allocator {
    pub(crate) buffer: Buffer,
    pub(crate) rule: Rule,
}

fn malformed(message: String) -> Box<Failure> {
    Failure::python(
        "argument-type",
        message,
        "sbuf.mod_alloc(base_addr=…, num_free_tiles=(…)), psum.mod_alloc(base_bank=…, num_bank_tiles=(…)), or alloc(function) of (idx, pdim_size, fdim_size)",
    )
}

/// The allocator that `nki.compiler.sbuf.mod_alloc` and the like make; none for automatic
/// allocation.
pub(crate) fn allocator(
    buffer: Buffer,
    name: &str,
    positional: &[Value],
    keywords: &[(Rc<str>, Value)],
) -> Outcome<Value> {
    let keyword = |wanted: &str| {
        let found = keywords.iter().find(|(name, _)| **name == *wanted);
        found.map(|(_, value)| value.clone())
    };
    let number = |wanted: &str| match keyword(wanted) {
        None | Some(Value::None) => Ok(0),
        Some(value) => value
            .as_int()
            .ok_or_else(|| malformed(format!("`{wanted}` is a {}", value.type_name()))),
    };
    let tiles = |wanted: &str| match keyword(wanted) {
        None | Some(Value::None) => Ok(Vec::new()),
        Some(value) => super::sizes(&value)
            .map(|sizes| sizes.into_iter().map(|size| size as i64).collect())
            .ok_or_else(|| malformed(format!("`{wanted}` is no tuple of whole numbers"))),
    };
    let repeating = |base: &str, count: &str| -> Outcome<Repeating> {
        Ok(Repeating {
            base: number(base)?,
            tiles: tiles(count)?,
        })
    };
    let rule = match name {
        "auto_alloc" => return Ok(Value::Foreign(Nki::Buffer(buffer))),
        "mod_alloc" if positional.is_empty() => Rule::Modulo {
            bank: repeating("base_bank", "num_bank_tiles")?,
            partition: repeating("base_partition", "num_par_tiles")?,
            byte: repeating("base_addr", "num_free_tiles")?,
        },
        "alloc" => {
            let function = positional.first().cloned().or_else(|| keyword("func"));
            let callable =
                |it: &Value| it.type_name() == "function" || matches!(it, Value::Object(_));
            let function = function.filter(callable);
            let missing =
                || malformed("alloc takes a function of (idx, pdim_size, fdim_size)".into());
            Rule::Function(function.ok_or_else(missing)?)
        }
        _ => return Err(malformed(format!("{name} takes arguments by name"))),
    };
    Ok(Value::Foreign(Nki::Allocator(Rc::new(Allocator {
        buffer,
        rule,
    }))))
}

/// The place that a function of the kernel has returned for a block.
pub(crate) fn returned(buffer: Buffer, value: &Value) -> Outcome<Place> {
    let items = super::sizes(value).unwrap_or_default();
    let place = match (buffer, &items[..]) {
        (Buffer::Psum, [bank, partition, byte]) => Place::new(
            *partition as i64,
            (*bank * PSUM_BANK).saturating_add(*byte) as i64,
        ),
        (Buffer::Sbuf, [partition, byte]) => Place::new(*partition as i64, *byte as i64),
        _ => None,
    };
    place.ok_or_else(|| {
        malformed(format!(
            "the function of a direct allocation in {} returns a {}, not {}",
            buffer.name(),
            value.type_name(),
            match buffer {
                Buffer::Psum => "(bank, partition, byte)",
                _ => "(partition, byte)",
            }
        ))
    })
}

/// The blocks of a tensor with these block dimensions, in their order.
pub(crate) fn blocks(sizes: &[usize]) -> Outcome<Vec<Vec<i64>>> {
    let count = sizes
        .iter()
        .try_fold(1usize, |all, size| all.checked_mul(*size));
    let Some(count) = count.filter(|count| *count <= BLOCKS) else {
        return Err(Failure::documented(
            "err_size_of_dimension_exceed_arch_limit",
            format!("a directly allocated tensor of {sizes:?} blocks"),
            "allocate fewer blocks",
        ));
    };
    let of = |mut number: usize| {
        let mut block = vec![0; sizes.len()];
        for (at, size) in sizes.iter().enumerate().rev() {
            block[at] = (number % size) as i64;
            number /= size;
        }
        block
    };
    Ok((0..count).map(of).collect())
}

impl Allocator {
    /// The places of the blocks of a tensor: its block dimensions, its partitions, and bytes in each.
    fn places(&self, sizes: &[usize], partitions: usize, bytes: usize) -> Outcome<Rc<[Place]>> {
        let Rule::Modulo {
            bank,
            partition,
            byte,
        } = &self.rule
        else {
            return match &self.rule {
                Rule::Listed(places) => Ok(Rc::clone(places)),
                _ => Err(malformed(
                    "the function of a direct allocation was not called".into(),
                )),
            };
        };
        let place = |block: Vec<i64>| {
            let banks = bank.at(&block, 1)?.checked_mul(PSUM_BANK as i64)?;
            let byte = byte.at(&block, bytes as i64)?.checked_add(banks)?;
            Place::new(partition.at(&block, partitions as i64)?, byte)
        };
        let places = blocks(sizes)?.into_iter().map(place);
        let places: Option<Vec<Place>> = places.collect();
        let places =
            places.ok_or_else(|| malformed("the place of a block is no address".into()))?;
        Ok(places.into())
    }
}

/// Places of tensors that the body of a loop makes. The compiler reads such a body once: numbers
/// that the kernel counts up in it, addresses among them, are those of the first iteration.
#[derive(Default)]
pub(super) struct Placements {
    /// How often a line made a tensor in one iteration.
    times: Keyed<(u32, u64), u32>,
    /// By the line, the loops around it and which time it was.
    first: Keyed<(u32, u64, u32), Rc<[Place]>>,
}

impl Device {
    /// The places of the first iteration, where `places` are those of a later one.
    fn of_first_iteration(&mut self, places: Rc<[Place]>) -> Rc<[Place]> {
        let path = |all: bool| {
            self.running.iter().fold(1u64, |hash, running| {
                let written_out = running.kind == LoopKind::Static;
                let iteration = if all || written_out {
                    running.iteration
                } else {
                    0
                };
                let word = u64::from(running.id) << 32 | u64::from(iteration);
                (hash ^ word)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(29)
            })
        };
        if self.running.iter().all(|it| it.kind == LoopKind::Static) {
            return places;
        }
        let (now, once) = (path(true), path(false));
        let times = self.placements.times.entry((self.line, now)).or_insert(0);
        *times += 1;
        let key = (self.line, once, *times);
        let first = self.placements.first.entry(key).or_insert(places);
        Rc::clone(first)
    }

    /// Puts a new tensor where the kernel wants it.
    ///
    /// # Errors
    /// `allocation-out-of-bounds` where a block leaves its memory; what the kernel left to the
    /// compiler before.
    pub(super) fn place(&mut self, storage: &Shared, allocator: &Allocator) -> Outcome<()> {
        if storage.buffer == Buffer::Sbuf {
            self.begin_placing()?;
        }
        let sizes = &storage.shape[..storage.block_rank];
        let partitions = storage.shape.get(storage.block_rank).copied().unwrap_or(1);
        let bytes = storage.partition_elements * storage.dtype.bytes();
        let places = allocator.places(sizes, partitions, bytes)?;
        let places = match self.dialect {
            super::Dialect::V1 => self.of_first_iteration(places),
            super::Dialect::V2 => places,
        };
        let limit = match storage.buffer {
            Buffer::Psum => PSUM_BYTES,
            _ => self.architecture.whole_sbuf,
        };
        for (block, place) in places.iter().enumerate() {
            let (first, start) = (usize::from(place.partition), place.byte as usize);
            let end = start.saturating_add(bytes);
            if end > limit || first + partitions > super::memory::PARTITIONS {
                return Err(Failure::new(
                    FailureKind::Rejected,
                    "allocation-out-of-bounds",
                    format!(
                        "Allocated memory out of bound: block {block} of the tensor {} in {} takes bytes {start} to {end} of partitions {first} to {}; there are {limit} bytes in each of 128",
                        storage_name(storage),
                        storage.buffer.name(),
                        first + partitions
                    ),
                    "lower the base address, or let fewer blocks have places of their own",
                ));
            }
            if storage.buffer == Buffer::Psum && start % 4 != 0 {
                return Err(malformed(format!(
                    "byte {start} of PSUM is not a multiple of 4"
                )));
            }
        }
        let tensors = Arc::make_mut(&mut self.trace.tensors);
        if let Some(tensor) = tensors.get_mut(storage.id as usize) {
            tensor.places = Some(places.iter().copied().collect());
        }
        Ok(())
    }
}

fn storage_name(storage: &Shared) -> String {
    format!("of shape {:?}", &storage.shape[..])
}
