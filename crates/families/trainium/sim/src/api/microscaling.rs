//! Microscaling types: `nisa.quantize_mx` and `nisa.nc_matmul_mx`.
//!
//! Facts (the vendor's pages of the two instructions from SDK 2.32 on, its guide to Trainium3 and
//! its deep dive on such products): groups of 8 partitions by 4 elements share a scale, a power of
//! two with a bias of 127. Scales lie in the quadrant of 32 partitions that their group lies in, in
//! its first four partitions counted from an offset of 0, 4, 8 or 12.

use super::elementwise::VECTOR;
use super::matrix::{MOVING, STATIONARY, product};
use super::operands::tensor;
use super::results::Output;
use super::sequences::newer;
use super::{Bound, Device, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::bits::{decode, encode};
use crate::tensor::dtype::{Dtype, is_undefined};
use crate::tensor::index::Selection;
use crate::tensor::storage::{Buffer, poison};
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation};

/// Partitions of a quadrant, and of a group.
const QUADRANT: usize = 32;
const GROUP: usize = 8;
/// Elements of a packed type, and of a group in each partition.
const PACKED: usize = 4;
/// Scales of a quadrant.
const SCALES: usize = QUADRANT / GROUP;
/// Exponents of scales.
const LEAST: i32 = -127;

/// What the four bits of an element of `float4_e2m1fn` without the sign stand for.
const FOUR_BITS: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// The four elements of a word of a packed type, the first in its lowest bits.
fn unpack(dtype: Dtype, word: f32) -> [f32; PACKED] {
    if is_undefined(word) {
        return [poison(); PACKED];
    }
    let bits = word.to_bits();
    std::array::from_fn(|at| match dtype.packs() {
        Some(element) => decode(element, bits >> (8 * at) & 0xFF),
        None => {
            let own = bits >> (4 * at) & 0xF;
            let magnitude = FOUR_BITS[(own & 7) as usize];
            if own & 8 == 0 { magnitude } else { -magnitude }
        }
    })
}

/// The word of a packed type with these elements; unknown where one of them is.
fn pack(element: Dtype, values: [f32; PACKED]) -> f32 {
    if values.into_iter().any(is_undefined) {
        return poison();
    }
    let byte = |(at, value): (usize, f32)| encode(element, element.round(value)) << (8 * at);
    f32::from_bits(values.into_iter().enumerate().map(byte).sum())
}

/// The exponent of the scale of a group whose largest magnitude is `largest`: twice what the
/// algorithm of the standard takes, which leaves room for rounding. Nothing is documented of groups
/// that hold what is no number.
fn exponent(element: Dtype, largest: f32) -> Option<i32> {
    let most = match element {
        Dtype::Float8E5m2 => 15,
        _ => 8,
    };
    if !largest.is_finite() {
        return None;
    }
    // Single precision holds every magnitude of both narrow types as a normal number but the least
    // ones of bfloat16, whose scale is the least one anyway.
    let power = (largest.to_bits() >> 23) as i32 - 127;
    Some(match largest {
        0.0 => LEAST,
        _ => (power - (most - 1)).max(LEAST),
    })
}

/// A scale as memory holds it in a tile of `dtype`.
fn stored_scale(dtype: Dtype, exponent: Option<i32>) -> f32 {
    match (exponent, dtype) {
        (None, _) => poison(),
        (Some(exponent), Dtype::Uint8) => (exponent - LEAST) as f32,
        (Some(exponent), _) => power_of_two(exponent),
    }
}

fn power_of_two(exponent: i32) -> f32 {
    f64::from(exponent).exp2() as f32
}

/// The factor that a scale stands for.
fn factor(dtype: Dtype, scale: f32) -> f32 {
    match dtype {
        _ if is_undefined(scale) => scale,
        Dtype::Uint8 if scale == 255.0 => f32::NAN,
        Dtype::Uint8 => power_of_two(scale as i32 + LEAST),
        _ => scale,
    }
}

/// The scales of a tile of data, one quadrant after the other.
struct Scales {
    quadrants: Vec<View>,
    dtype: Dtype,
    columns: usize,
}

impl Device {
    /// The scales `name` that belong to the tile `data`, which has `columns` words in a partition.
    fn scales(
        &mut self,
        bound: &Bound,
        name: &str,
        (data, columns): (&View, usize),
        is_exact: bool,
    ) -> Outcome<Scales> {
        let api = bound.api.full_name();
        let view = match bound.peek(name) {
            Some(Value::Foreign(Nki::Tensor(view))) => View::clone(&view),
            _ => return Err(bound.missing(name)),
        };
        let view = self.operand_of(bound.api, name, view)?;
        in_sbuf(&api, name, &view)?;
        if !matches!(view.dtype, Dtype::Uint8 | Dtype::Float8E8m0fnu) {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!("{api}: `{name}` has type {}", view.dtype.name()),
                "scales are nl.float8_e8m0fnu or nl.uint8",
            ));
        }
        let quadrants = data.partitions() / QUADRANT;
        let rows = (quadrants - 1) * QUADRANT + SCALES;
        let free = view.free();
        let fits = rows <= view.partitions()
            && if is_exact {
                free == columns
            } else {
                columns <= free
            };
        let flat = view.reshape(&[view.partitions(), free]).filter(|_| fits);
        let Some(flat) = flat else {
            return Err(Failure::documented(
                "err_annotation_shape_mismatch",
                format!(
                    "{api}: `{name}` of shape {:?} for data of shape {:?}",
                    view.shape(),
                    data.shape()
                ),
                format!("give it {rows} partitions or more, with {columns} scales in each"),
            ));
        };
        let first = |view: &View| usize::from(self.bounds(view).partitions.0);
        let (own, of_data) = (first(&flat), first(data));
        if own / QUADRANT != of_data / QUADRANT || ![0, 4, 8, 12].contains(&(own % QUADRANT)) {
            return Err(Failure::documented(
                "err_unsupported_operand",
                format!("{api}: `{name}` begins in partition {own}, the data in {of_data}"),
                "let scales begin 0, 4, 8 or 12 partitions behind the start of the quadrant of 32 that the data begins in",
            ));
        }
        let of_quadrant =
            |at: usize| flat.part(&[(at * QUADRANT, at * QUADRANT + SCALES), (0, columns)]);
        Ok(Scales {
            quadrants: (0..quadrants).map(of_quadrant).collect(),
            dtype: view.dtype,
            columns,
        })
    }

    /// The elements of an operand, multiplied by their scales: a row for each of the four elements
    /// of each partition.
    fn dequantized(&mut self, data: &View, scales: &Scales) -> Outcome<Vec<f32>> {
        let columns = scales.columns;
        let words = self.read(data)?;
        let mut factors = Vec::new();
        for view in &scales.quadrants {
            let values = self.read(view)?;
            factors.extend(values.into_iter().map(|it| factor(scales.dtype, it)));
        }
        let mut out = vec![0.0; PACKED * words.len()];
        for (place, word) in words.iter().enumerate() {
            let (row, column) = (place / columns, place % columns);
            let scale = factors.get(row / GROUP * columns + column);
            let scale = scale.copied().unwrap_or_else(poison);
            for (at, value) in unpack(data.dtype, *word).into_iter().enumerate() {
                let scaled = if is_undefined(scale) {
                    scale
                } else {
                    value * scale
                };
                out[(PACKED * row + at) * columns + column] = scaled;
            }
        }
        Ok(out)
    }
}

fn in_sbuf(api: &str, name: &str, view: &View) -> Outcome<()> {
    if view.buffer() == Buffer::Sbuf {
        return Ok(());
    }
    Err(Failure::documented(
        "err_unsupported_memory",
        format!("{api}: `{name}` is in {}", view.buffer().name()),
        "copy it to SBUF first",
    ))
}

/// Checks that a tile has whole quadrants.
fn whole_quadrants(api: &str, name: &str, view: &View) -> Outcome<()> {
    if view.partitions().is_multiple_of(QUADRANT) && 0 < view.elements() {
        return Ok(());
    }
    Err(Failure::documented(
        "err_num_partition_mismatch",
        format!("{api}: `{name}` has {} partitions", view.partitions()),
        "give it 32, 64, 96 or 128",
    ))
}

/// `nisa.quantize_mx`
pub(super) fn quantize(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    newer(device, bound, 4)?;
    let api = bound.api.full_name();
    let target = bound.view("dst")?;
    let target = device.operand(bound, "dst", target)?;
    let source = bound.view("src")?;
    let source = device.operand(bound, "src", source)?;
    for (name, view) in [("dst", &target), ("src", &source)] {
        in_sbuf(&api, name, view)?;
    }
    whole_quadrants(&api, "src", &source)?;
    let element = target.dtype.packs();
    let (Some(element), Dtype::Float16 | Dtype::Bfloat16) = (element, source.dtype) else {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!(
                "{api}: `src` of {}, `dst` of {}",
                source.dtype.name(),
                target.dtype.name()
            ),
            "it makes float8_e5m2_x4 or float8_e4m3fn_x4 of float16 or bfloat16",
        ));
    };
    let (rows, free) = (source.partitions(), source.free());
    if free % PACKED != 0 || (target.partitions(), target.free() * PACKED) != (rows, free) {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "{api}: `src` of shape {:?}, `dst` of shape {:?}",
                source.shape(),
                target.shape()
            ),
            "give dst as many partitions and a quarter of the elements in each",
        ));
    }
    let columns = free / PACKED;
    let scales = device.scales(bound, "dst_scale", (&target, columns), true)?;
    for view in &scales.quadrants {
        device.check_apart(&api, ("dst", &target), ("dst_scale", view))?;
    }
    bound.take("dst_scale");
    let values = device.read(&source)?;
    let (mut words, mut exponents) = (Vec::new(), Vec::new());
    if device.functional {
        device.spend(4 * values.len() as u64)?;
        words = vec![0.0; rows * columns];
        for group in 0..rows / GROUP {
            for column in 0..columns {
                let quads: Vec<(usize, [f32; PACKED])> = (group * GROUP..(group + 1) * GROUP)
                    .map(|row| {
                        let first = row * free + PACKED * column;
                        (row, std::array::from_fn(|at| values[first + at]))
                    })
                    .collect();
                let all = || quads.iter().flat_map(|it| it.1);
                let known = !all().any(|it| is_undefined(it) || it.is_nan());
                let largest = all().fold(0.0, |most: f32, it| most.max(it.abs()));
                let power = exponent(element, largest).filter(|_| known);
                exponents.push(stored_scale(scales.dtype, power));
                for (row, quad) in &quads {
                    let scaled = |power: i32| {
                        quad.map(|it| (f64::from(it) * f64::from(-power).exp2()) as f32)
                    };
                    words[row * columns + column] =
                        power.map_or_else(poison, |it| pack(element, scaled(it)));
                }
            }
        }
    }
    let mut one = Instruction::new(Operation::Quantize, VECTOR, device.line);
    one.partitions = rows as u16;
    one.free = free as u32;
    device.describe(&mut one, &[source], 1);
    let shape = target.shape();
    let result = device.finish_tile(one, shape, target.dtype, words, Some(target))?;
    for (at, view) in scales.quadrants.iter().enumerate() {
        device.check_mutable(view)?;
        let count = SCALES * columns;
        let own = exponents.get(at * count..(at + 1) * count);
        device.also_write(view, own.unwrap_or_default())?;
    }
    Ok(tensor(result))
}

/// `nisa.nc_matmul_mx`
pub(super) fn matmul(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    newer(device, bound, 4)?;
    let api = bound.api.full_name();
    let target = bound.view("dst")?;
    let target = device.operand(bound, "dst", target)?;
    let accumulate = bound.accumulate()?;
    let width = match target.dtype {
        Dtype::Bfloat16 => 2 * MOVING,
        _ => MOVING,
    };
    let mut operands = Vec::new();
    for (name, limit) in [("stationary", STATIONARY), ("moving", width)] {
        let view = bound.view(name)?;
        let view = device.matrix_operand(bound, name, view, limit, false)?;
        if !view.dtype.is_packed() {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!("{api}: `{name}` has type {}", view.dtype.name()),
                "its operands are float8_e5m2_x4, float8_e4m3fn_x4 or float4_e2m1fn_x4",
            ));
        }
        whole_quadrants(&api, name, &view)?;
        let scale = format!("{name}_scale");
        let columns = view.free();
        let scales = device.scales(bound, &scale, (&view, columns), false)?;
        bound.take(&scale);
        operands.push((view, scales));
    }
    let [(stationary, stationary_scales), (moving, moving_scales)] = &operands[..] else {
        return Err(bound.missing("moving"));
    };
    let (rows, m, n) = (stationary.partitions(), stationary.free(), moving.free());
    if rows != moving.partitions() || m % 2 != 0 {
        return Err(Failure::documented(
            "err_num_partition_mismatch",
            format!(
                "{api}: stationary {:?}, moving {:?}",
                stationary.shape(),
                moving.shape()
            ),
            "give both as many partitions, and the stationary operand an even number of columns",
        ));
    }
    if target.buffer() != Buffer::Psum || !matches!(target.dtype, Dtype::Float32 | Dtype::Bfloat16)
    {
        return Err(Failure::documented(
            "err_unsupported_memory",
            format!(
                "{api}: `dst` is {} in {}",
                target.dtype.name(),
                target.buffer().name()
            ),
            "make it float32 or bfloat16 in nl.psum",
        ));
    }
    device.check_bank(&target)?;
    device.check_tiling(bound, stationary, true)?;
    let mut values = Vec::new();
    let k = PACKED * rows;
    if device.functional {
        device.spend((k * m * n / 8) as u64)?;
        let weights = device.dequantized(stationary, stationary_scales)?;
        let columns = device.dequantized(moving, moving_scales)?;
        values = product(&weights, &columns, k, m, n);
    }
    let mut one = Instruction::new(
        Operation::Matmul,
        Choice::Fixed(Engine::Tensor),
        device.line,
    );
    one.partitions = rows as u16;
    one.free = n as u32;
    one.columns = m as u32;
    device.describe(&mut one, &[stationary.clone(), moving.clone()], 2);
    // The engine multiplies four pairs at a time, as fast as one of bfloat16.
    one.features.opaque = None;
    for view in stationary_scales
        .quadrants
        .iter()
        .chain(&moving_scales.quadrants)
    {
        one.reads.push(device.region(view));
    }
    device.trace.matrix_flops += 2 * (k * m * n) as u64;
    device.add_up(&mut one, &mut values, &target, accumulate)?;
    let output = Output {
        shape: [m, n].into(),
        dtype: target.dtype,
        buffer: Buffer::Psum,
        selection: Selection::All,
        values,
    };
    device.finish(Some(one), output, Some(target)).map(tensor)
}
