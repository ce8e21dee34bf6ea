//! Making tensors.

use std::rc::Rc;

use super::compiler_tiles::with_value;
use super::memory::check_tile;
use super::operands::tensor;
use super::placement::{Allocator, Rule};
use super::{Bound, Device, Dialect, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::place::Place;
use crate::tensor::storage::{Buffer, poison};
use crate::tensor::view::View;

/// What `address=(partition, byte)` asks for: a place for the whole tensor.
fn fixed(bound: &Bound, buffer: Buffer, address: &Value) -> Outcome<Rc<Allocator>> {
    let place = match super::sizes(address).as_deref() {
        Some([partition, byte]) if buffer.on_chip() => Place::new(*partition as i64, *byte as i64),
        _ => None,
    };
    let place = place.ok_or_else(|| {
        let expected = "(partition, byte) of a tensor in SBUF or PSUM, or None";
        bound.wrong("address", expected, address)
    })?;
    Ok(Rc::new(Allocator {
        buffer,
        rule: Rule::Listed([place].into()),
    }))
}

/// `nl.ndarray`, `nl.zeros`, `nl.ones`, `nl.full`
pub(super) fn ndarray(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let shape = bound.required("shape")?;
    let dtype = bound.dtype("dtype")?.unwrap_or(Dtype::Float32);
    let value = match bound.api.name {
        "zeros" => Some(0.0),
        "ones" => Some(1.0),
        "full" => Some(
            bound
                .number("fill_value")?
                .ok_or_else(|| bound.missing("fill_value"))? as f32,
        ),
        _ => None,
    };
    let allocator = match bound.peek("buffer") {
        Some(Value::Foreign(Nki::Allocator(allocator))) => {
            bound.replace("buffer", Value::Foreign(Nki::Buffer(allocator.buffer)));
            Some(allocator).filter(|_| !device.ignores_places)
        }
        _ => None,
    };
    let buffer = bound.buffer("buffer")?.unwrap_or(Buffer::Sbuf);
    let allocator = match bound.take("address") {
        Some(address) => Some(fixed(bound, buffer, &address)?),
        None => allocator,
    };
    let name = match bound.take("name") {
        Some(Value::Str(name)) => name.to_string(),
        _ => String::new(),
    };
    let one = || shape.as_int().map(|_| vec![shape.clone()]);
    let items = shape.listed().or_else(one);
    let items = items.ok_or_else(|| bound.wrong("shape", "a tuple of sizes", &shape))?;
    let mut sizes = Vec::with_capacity(items.len());
    let mut partition = None;
    for (position, item) in items.iter().enumerate() {
        let Some(size) = item.as_int().and_then(|n| usize::try_from(n).ok()) else {
            return Err(Failure::python(
                "value-error",
                match item.as_int() {
                    Some(size) => {
                        format!("{}: dimension {position} is {size}", bound.api.full_name())
                    }
                    None => format!(
                        "{}: dimension {position} is no size but a {}",
                        bound.api.full_name(),
                        item.type_name()
                    ),
                },
                "use whole numbers that are not negative",
            ));
        };
        if matches!(item, Value::Foreign(Nki::Partition(_))) {
            if partition.is_some() {
                return Err(Failure::documented(
                    "err_leading_dimension_of_tensor_must_be_partition",
                    "two dimensions are marked with par_dim",
                    "mark one",
                ));
            }
            partition = Some(position);
        }
        sizes.push(size);
    }
    if sizes.len() > 12 {
        return Err(Failure::documented(
            "err_exceed_max_supported_dimension",
            format!("a tensor of {} dimensions", sizes.len()),
            "use fewer",
        ));
    }
    if !buffer.on_chip() {
        if value.is_some() {
            return Err(Failure::documented(
                "err_hbm_tensor_with_init_value_not_supported",
                format!(
                    "{} cannot fill a tensor in main memory",
                    bound.api.full_name()
                ),
                "make it with nl.ndarray and store to it",
            ));
        }
        if buffer == Buffer::SharedHbm && device.in_loop() && device.dialect == Dialect::V1 {
            return Err(Failure::documented(
                "err_shared_hbm_must_in_kernel_level",
                "a tensor in shared_hbm is made inside a loop",
                "make it at the top of the kernel",
            ));
        }
        let shared = buffer == Buffer::SharedHbm;
        if shared && let Some(storage) = device.grid.earlier(dtype, &sizes) {
            return Ok(tensor(View::whole(&storage)));
        }
        let storage = device.allocate(buffer, dtype, sizes.into(), 0, poison(), &name)?;
        if shared {
            device.grid.made(&storage);
        }
        device.share(&storage);
        return Ok(tensor(View::whole(&storage)));
    }
    let lazily = bound.flag("lazy_initialization")?;
    if value.is_some() && !lazily {
        device.leave(|| with_value(&bound.api.full_name(), buffer))?;
    }
    // Without par_dim the first dimension holds the partitions.
    let block_rank = partition.unwrap_or(0);
    if device.dialect == Dialect::V1
        && partition.is_none()
        && sizes.len() > 2
        && sizes.first().is_some_and(|s| *s > 128)
    {
        return Err(Failure::documented(
            "err_num_partition_exceed_arch_limit",
            format!(
                "a tensor of shape {sizes:?} in {} has {} partitions",
                buffer.name(),
                sizes[0]
            ),
            "mark the partition dimension with nl.par_dim",
        ));
    }
    check_tile(buffer, dtype, &sizes[block_rank.min(sizes.len())..]).or_else(|failure| {
        // Tensors larger than an instruction's operand are fine as long as the memory holds them.
        let too_wide =
            failure.code == "size-of-dimension-exceed-arch-limit" && buffer == Buffer::Sbuf;
        if too_wide { Ok(()) } else { Err(failure) }
    })?;
    let width: usize = sizes[block_rank + 1..]
        .iter()
        .try_fold(1usize, |a, b| a.checked_mul(*b))
        .unwrap_or(usize::MAX)
        .saturating_mul(dtype.bytes());
    if buffer == Buffer::Sbuf && width > device.usable_sbuf() {
        return Err(Failure::new(
            crate::diagnostic::FailureKind::Rejected,
            "sbuf-overflow",
            format!(
                "GCA046: a tensor of shape {sizes:?} needs {width} bytes in each partition of SBUF; there are {}",
                device.usable_sbuf()
            ),
            "tile the free dimension",
        ));
    }
    let lazy = buffer == Buffer::Psum && value == Some(0.0);
    let fill = match value {
        Some(value) => dtype.store(dtype.round(value)),
        None => poison(),
    };
    let storage = device.allocate(buffer, dtype, sizes.into(), block_rank, fill, &name)?;
    if let Some(allocator) = allocator {
        device.place(&storage, &allocator)?;
    }
    if value.is_some() {
        storage.written.set(!lazy);
    }
    if value.is_some() && !lazy {
        device.fill_blocks(&View::whole(&storage))?;
    }
    Ok(tensor(View::whole(&storage)))
}

impl Device {
    /// Whether a loop is running.
    pub(super) fn in_loop(&self) -> bool {
        !self.running.is_empty()
    }

    /// One instruction for each block of a freshly filled tensor.
    fn fill_blocks(&mut self, view: &View) -> Outcome<()> {
        use crate::trace::{Choice, Instruction, Operation};
        let storage = &view.storage;
        let blocks = storage.block_count();
        let mut one = view.clone();
        one.dimensions
            .edit(|all| drop(all.drain(..storage.block_rank)));
        one.open_blocks = 0;
        for block in 0..blocks {
            one.offset = (block * storage.block_elements) as i64;
            let mut instruction =
                Instruction::new(Operation::Memset, Choice::VectorOrGpsimd, self.line);
            instruction.partitions = one.partitions() as u16;
            instruction.free = one.free() as u32;
            instruction.features.narrow = true;
            self.note_write(&mut instruction, &one)?;
            self.emit(instruction)?;
        }
        Ok(())
    }
}

/// `nl.zeros_like`, `nl.empty_like`
pub(super) fn like(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let model = bound.view("x")?;
    let dtype = bound.dtype("dtype")?.unwrap_or(model.dtype);
    let buffer = bound.buffer("buffer")?.unwrap_or(model.buffer());
    let fill = if bound.api.name == "zeros_like" {
        0.0
    } else {
        poison()
    };
    if bound.api.name == "zeros_like" && buffer.on_chip() {
        device.leave(|| with_value(&bound.api.full_name(), buffer))?;
    }
    let storage = device.allocate(buffer, dtype, model.shape(), 0, dtype.store(fill), "")?;
    device.share(&storage);
    let view = View::whole(&storage);
    if bound.api.name == "zeros_like" && buffer == Buffer::Sbuf {
        device.fill_blocks(&view)?;
    }
    Ok(tensor(view))
}
