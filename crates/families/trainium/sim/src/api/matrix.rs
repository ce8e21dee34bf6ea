//! The matrix engine: products.

use super::operands::{select, tensor};
use super::results::Output;
use super::{Bound, Device, Dialect, Value};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::tensor::dtype::Dtype;
use crate::tensor::index::Selection;
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation};

/// Largest free sizes of the stationary and of the moving operand.
pub(super) const STATIONARY: usize = 128;
pub(super) const MOVING: usize = 512;

/// `stationaryᵀ · moving` for `[k, m]` and `[k, n]` in row-major order, in single precision.
pub(super) fn product(
    stationary: &[f32],
    moving: &[f32],
    k: usize,
    m: usize,
    n: usize,
) -> Vec<f32> {
    let mut out = vec![0.0f32; m * n];
    if stationary.len() < k * m || moving.len() < k * n || n == 0 {
        return out;
    }
    let mut rows = out.chunks_exact_mut(n);
    let mut column = 0;
    while column < m {
        let width = (m - column).min(4);
        let mut targets: Vec<&mut [f32]> = rows.by_ref().take(width).collect();
        if let [a, b, c, d] = &mut targets[..] {
            for position in 0..k {
                let weights = &stationary[position * m + column..position * m + column + 4];
                let (w0, w1, w2, w3) = (weights[0], weights[1], weights[2], weights[3]);
                let line = &moving[position * n..position * n + n];
                for ((((x, a), b), c), d) in line
                    .iter()
                    .zip(a.iter_mut())
                    .zip(b.iter_mut())
                    .zip(c.iter_mut())
                    .zip(d.iter_mut())
                {
                    *a += w0 * x;
                    *b += w1 * x;
                    *c += w2 * x;
                    *d += w3 * x;
                }
            }
        } else {
            for position in 0..k {
                let line = &moving[position * n..position * n + n];
                for (offset, target) in targets.iter_mut().enumerate() {
                    let weight = stationary[position * m + column + offset];
                    for (slot, x) in target.iter_mut().zip(line) {
                        *slot += weight * x;
                    }
                }
            }
        }
        column += width;
    }
    out
}

/// Which operands of a product a kernel says to hold ones and zeros only.
///
/// The vendor's documents of `nisa.nc_matmul` (SDK 2.21 to 2.33) call `is_stationary_onezero` and
/// `is_moving_onezero` a hint that the tile holds ones and zeros only, which may double the speed
/// where the tile is float32 and has no effect elsewhere. They do not say what other data gives, so
/// the hint is a promise, and a float32 tile that breaks it is refused.
#[derive(Clone, Copy, Default)]
pub(super) struct OneZero {
    pub(super) stationary: bool,
    pub(super) moving: bool,
}

impl OneZero {
    const fn any(self) -> bool {
        self.stationary || self.moving
    }

    /// Checks the values of both operands, those of the stationary one first.
    fn check(self, views: [&View; 2], values: [&[f32]; 2]) -> Outcome<()> {
        let promises = [("stationary", self.stationary), ("moving", self.moving)];
        for (((name, promised), view), values) in promises.into_iter().zip(views).zip(values) {
            if !promised || !view.dtype.is_slow_on_array() {
                continue;
            }
            let other = values.iter().position(|it| *it != 0.0 && *it != 1.0);
            let Some(at) = other else { continue };
            let free = view.free().max(1);
            return Err(Failure::documented(
                "err_onezero_operand",
                format!(
                    "nisa.nc_matmul: is_{name}_onezero=True, but `{name}` of shape {:?} holds {} at [{}, {}]",
                    view.shape(),
                    values[at],
                    at / free,
                    at % free
                ),
                format!("leave is_{name}_onezero away: it is for tiles of ones and zeros only"),
            ));
        }
        Ok(())
    }
}

impl Device {
    pub(super) fn matrix_operand(
        &mut self,
        bound: &Bound,
        name: &str,
        view: View,
        limit: usize,
        copy: bool,
    ) -> Outcome<View> {
        let view = self.operand(bound, name, view)?;
        let view = match (view.buffer(), copy) {
            (Buffer::Psum, true) => self.in_sbuf(view)?,
            (Buffer::Psum, false) => {
                return Err(Failure::documented(
                    "err_unsupported_memory",
                    format!(
                        "{}: `{name}` is in PSUM; the matrix engine reads SBUF",
                        bound.api.full_name()
                    ),
                    "copy it to SBUF first with nisa.tensor_copy",
                ));
            }
            _ => view,
        };
        if view.free() > limit {
            return Err(Failure::documented(
                "err_size_of_dimension_exceed_arch_limit",
                format!(
                    "{}: `{name}` of shape {:?} has {} columns; at most {limit} fit",
                    bound.api.full_name(),
                    view.shape(),
                    view.free()
                ),
                format!("tile its free dimension to {limit}"),
            ));
        }
        Ok(view)
    }

    /// The operand's values with what its own mask excludes as zero.
    pub(super) fn masked(&mut self, view: &View) -> Outcome<Vec<f32>> {
        let mut values = self.read(view)?;
        if let Some(mask) = &view.mask {
            let shape = view.shape();
            match select(Some(mask), &shape)? {
                Selection::All => {}
                Selection::Nothing => values.fill(0.0),
                Selection::Part(bounds, flags) => {
                    let mut position = vec![0usize; shape.len()];
                    let mut within = 0;
                    for value in &mut values {
                        let inside = position
                            .iter()
                            .zip(&bounds)
                            .all(|(p, (low, high))| p >= low && p < high);
                        if inside {
                            if flags
                                .as_ref()
                                .is_some_and(|f| !f.get(within).copied().unwrap_or(false))
                            {
                                *value = 0.0;
                            }
                            within += 1;
                        } else {
                            *value = 0.0;
                        }
                        for d in (0..shape.len()).rev() {
                            position[d] += 1;
                            if position[d] < shape[d] {
                                break;
                            }
                            position[d] = 0;
                        }
                    }
                }
            }
        }
        Ok(values)
    }

    /// A product of two tiles in SBUF.
    #[expect(
        clippy::too_many_arguments,
        reason = "the operands and flags of the instruction"
    )]
    pub(super) fn multiply(
        &mut self,
        stationary: View,
        moving: View,
        onezero: OneZero,
        double_row: bool,
        transposing: bool,
        mask: Option<crate::tensor::index::Mask>,
        dtype: Dtype,
        destination: Option<View>,
        accumulate: Option<bool>,
    ) -> Outcome<View> {
        let (k, m, n) = (stationary.partitions(), stationary.free(), moving.free());
        let depth = if double_row { 2 } else { 1 };
        let (m, n) = (m / depth, n / depth);
        let selection = match &mask {
            None if k * m * n == 0 => Selection::Nothing,
            None => Selection::All,
            Some(mask) if mask.never => Selection::Nothing,
            Some(mask) => match select(Some(mask), &[m, n])? {
                Selection::Nothing => Selection::Nothing,
                // Partial masks of products cut the moving operand.
                other => other,
            },
        };
        super::operands::within(
            &stationary,
            mask.as_ref(),
            &Selection::All,
            &stationary.shape(),
        )
        .or_else(|f| if mask.is_some() { Ok(()) } else { Err(f) })?;
        if let Some(target) = &destination {
            self.check_bank(target)?;
            if !transposing {
                self.check_sum_type(target)?;
            }
        }
        let slow = stationary.dtype.is_slow_on_array() || moving.dtype.is_slow_on_array();
        let mut values = Vec::new();
        let mut instruction = None;
        if selection != Selection::Nothing {
            if self.functional {
                self.spend((k * depth * m * n / 8) as u64)?;
                let (a, b) = (self.masked(&stationary)?, self.masked(&moving)?);
                onezero.check([&stationary, &moving], [&a, &b])?;
                if transposing && 2 < self.architecture.generation {
                    check_permutation(&b, k, n)?;
                }
                values = if double_row {
                    let split = |data: &[f32], width: usize, half: usize| -> Vec<f32> {
                        data.chunks(2 * width)
                            .flat_map(|row| row[half * width..(half + 1) * width].iter().copied())
                            .collect()
                    };
                    let mut first = product(&split(&a, m, 0), &split(&b, n, 0), k, m, n);
                    let second = product(&split(&a, m, 1), &split(&b, n, 1), k, m, n);
                    first.iter_mut().zip(second).for_each(|(x, y)| *x += y);
                    first
                } else {
                    product(&a, &b, k, m, n)
                };
                if let Selection::Part(bounds, _) = &selection {
                    let mut cut = Vec::new();
                    for row in bounds[0].0..bounds[0].1 {
                        cut.extend_from_slice(
                            &values[row * n + bounds[1].0..row * n + bounds[1].1],
                        );
                    }
                    values = cut;
                }
            }
            let mut one = Instruction::new(
                if transposing {
                    Operation::Transpose
                } else {
                    Operation::Matmul
                },
                Choice::Fixed(Engine::Tensor),
                self.line,
            );
            one.partitions = k as u16;
            one.free = n as u32;
            one.columns = m as u32;
            self.describe(&mut one, &[stationary, moving], 2);
            one.features.fp32 = slow;
            // Transpose mode passes bits through, at twice the rate of float32 (guide to Trainium2).
            let passes = transposing && 2 < self.architecture.generation;
            one.features.onezero = onezero.any() || passes;
            one.features.double_row = double_row;
            let flops = 2 * (k * depth * m * n) as u64;
            self.trace.matrix_flops += flops;
            if transposing {
                self.trace.moving_flops += flops;
            }
            instruction = Some(one);
        }
        if let (Some(target), Some(one)) = (&destination, &mut instruction) {
            self.add_up(one, &mut values, target, accumulate)?;
        }
        self.finish(
            instruction,
            Output {
                shape: [m, n].into(),
                dtype,
                buffer: Buffer::Psum,
                selection,
                values,
            },
            destination,
        )
    }

    /// Checks the type of what products are written to: `dst` of `nisa.nc_matmul` is float32, from
    /// the fourth generation on also bfloat16.
    pub(super) fn check_sum_type(&self, target: &View) -> Outcome<()> {
        let short = target.dtype.bytes() < 4 && target.buffer() == Buffer::Psum;
        if short && (self.architecture.generation < 4 || target.dtype != Dtype::Bfloat16) {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!(
                    "a product is written to the tensor of type {} made at line {}; this core adds products in float32",
                    target.dtype.name(),
                    target.storage.line
                ),
                "make the destination float32 and convert it with nisa.tensor_copy",
            ));
        }
        Ok(())
    }
}

/// Checks that the moving operand of transpose mode, `[k, n]`, picks one element for each column.
fn check_permutation(moving: &[f32], k: usize, n: usize) -> Outcome<()> {
    let picks = |column: usize| {
        let values = || (0..k).filter_map(|row| moving.get(row * n + column));
        values().all(|it| *it == 0.0 || *it == 1.0) && values().sum::<f32>() <= 1.0
    };
    match (0..n).find(|column| !picks(*column)) {
        None => Ok(()),
        Some(column) => Err(Failure::new(
            FailureKind::Rejected,
            "no-permutation",
            format!(
                "nisa.nc_matmul: is_transpose=True, and column {column} of `moving` is none of an identity or a permutation"
            ),
            "pass an identity as `moving`, or leave is_transpose away for a product",
        )),
    }
}

/// Returns whether `perf_mode` asks for two rows at once, the only mode that documents describe.
fn has_double_row(bound: &mut Bound) -> Outcome<bool> {
    let mode = match bound.take("perf_mode") {
        None | Some(Value::None) => return Ok(false),
        Some(mode) => mode,
    };
    let name = match &mode {
        Value::Symbol(name) => name.strip_prefix("matmul_perf_mode."),
        Value::Str(name) => name.rsplit('.').next(),
        _ => None,
    };
    match name {
        Some("none") => Ok(false),
        Some("double_row" | "double_row_gen3") => Ok(true),
        Some(mode @ ("double_column" | "double_pixel")) => Err(Failure::unsupported(
            "not-simulated",
            format!(
                "{}: perf_mode `{mode}` is described by no document and not simulated",
                bound.api.full_name()
            ),
            "use nisa.matmul_perf_mode.double_row, or leave perf_mode away",
        )),
        _ => {
            let modes = "None or nisa.matmul_perf_mode.double_row";
            Err(bound.wrong("perf_mode", modes, &mode))
        }
    }
}

/// `nisa.nc_matmul`
pub(super) fn nc_matmul(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let destination = device.take_destination(bound)?;
    let (stationary, moving) = (bound.view("stationary")?, bound.view("moving")?);
    let onezero = OneZero {
        stationary: bound.flag("is_stationary_onezero")?,
        moving: bound.flag("is_moving_onezero")?,
    };
    let transposing = bound.flag("is_transpose")?;
    let mask = bound.mask()?;
    let accumulate = bound.accumulate()?;
    let double_row = has_double_row(bound)?;
    let depth = if double_row { 2 } else { 1 };
    let copy = device.dialect == Dialect::V1;
    let stationary =
        device.matrix_operand(bound, "stationary", stationary, STATIONARY * depth, copy)?;
    let moving = device.matrix_operand(bound, "moving", moving, MOVING * depth, copy)?;
    if stationary.partitions() != moving.partitions() {
        return Err(Failure::documented(
            "err_num_partition_mismatch",
            format!(
                "{}: stationary {:?} and moving {:?} differ in partitions, the dimension that is summed over",
                bound.api.full_name(),
                stationary.shape(),
                moving.shape()
            ),
            "give both the same number of rows",
        ));
    }
    for (name, view) in [("stationary", &stationary), ("moving", &moving)] {
        if view.dtype.is_integer() {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!(
                    "{}: `{name}` has type {}",
                    bound.api.full_name(),
                    view.dtype.name()
                ),
                "cast it to a float type",
            ));
        }
    }
    let wide = |d: Dtype| d.bytes() == 4;
    if wide(stationary.dtype) != wide(moving.dtype) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!(
                "{}: stationary is {} and moving is {}; four-byte types cannot be mixed with narrower ones",
                bound.api.full_name(),
                stationary.dtype.name(),
                moving.dtype.name()
            ),
            "cast both to the same type",
        ));
    }
    if double_row && (stationary.dtype.bytes() != 1 || moving.dtype.bytes() != 1) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            "double-row mode takes eight-bit floats",
            "use float8 operands, both of them",
        ));
    }
    for view in [&stationary, &moving] {
        if device.architecture.generation < 4 && view.dtype == Dtype::Float8E4m3fn {
            return Err(Failure::documented(
                "err_unsupported_dtype",
                format!(
                    "{}: operands of type {} from trn3 on",
                    bound.api.full_name(),
                    view.dtype.name()
                ),
                "use float8_e4m3 or float8_e5m2",
            ));
        }
    }
    if double_row && transposing {
        return Err(Failure::documented(
            "err_unsupported_mode",
            "double-row mode and is_transpose cannot be combined",
            "leave one of them away",
        ));
    }
    device.check_tiling(bound, &stationary, double_row)?;
    if double_row && device.architecture.generation < 3 {
        return Err(Failure::documented(
            "err_unsupported_mode",
            "this core has no double-row mode; NeuronCore-v3 and later have",
            "leave perf_mode away",
        ));
    }
    if let Some(target) = destination.as_ref().filter(|it| it.dtype.is_integer()) {
        return Err(Failure::documented(
            "err_unsupported_dtype",
            format!(
                "{}: `dst` has type {}; the matrix engine adds in single precision",
                bound.api.full_name(),
                target.dtype.name()
            ),
            "make the destination float32 and convert it with nisa.tensor_copy",
        ));
    }
    let dtype = destination.as_ref().map_or(Dtype::Float32, |d| d.dtype);
    device
        .multiply(
            stationary,
            moving,
            onezero,
            double_row,
            transposing,
            mask,
            dtype,
            destination,
            accumulate,
        )
        .map(tensor)
}

/// `nl.matmul(x, y)`: `x` is transposed first unless the caller did.
pub(super) fn matmul(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let (x, y) = (bound.view("x")?, bound.view("y")?);
    let transposed = bound.flag("transpose_x")?;
    let mask = bound.mask()?;
    let moving = device.matrix_operand(bound, "y", y, MOVING, true)?;
    let x = device.matrix_operand(bound, "x", x, STATIONARY, true)?;
    let stationary = if transposed {
        x
    } else {
        let turned = device.turn(x, None, None)?;
        turned.storage.producer.set(None);
        device.in_sbuf(turned)?
    };
    if stationary.partitions() != moving.partitions() {
        return Err(Failure::documented(
            "err_num_partition_mismatch",
            format!(
                "nl.matmul: {:?} (to be summed over its rows) and {:?} differ in rows",
                stationary.shape(),
                moving.shape()
            ),
            "check the shapes and transpose_x",
        ));
    }
    device
        .multiply(
            stationary,
            moving,
            OneZero::default(),
            false,
            false,
            mask,
            Dtype::Float32,
            None,
            None,
        )
        .map(tensor)
}
