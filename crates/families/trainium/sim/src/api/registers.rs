//! Numbers that the device holds while a kernel runs: registers, scalars, bounds of loops.

use std::cell::Cell;
use std::rc::Rc;

use super::operands::tensor;
use super::{Bound, Device};
use crate::diagnostic::{Failure, Outcome};
use crate::python::value::{Register, Value};
use crate::tensor::view::View;

/// A register with this content.
fn register(value: Option<i64>, scalar: bool) -> Value {
    Value::Register(Rc::new(Register {
        value: Cell::new(value),
        scalar,
    }))
}

/// The register in an argument.
fn target(bound: &mut Bound, name: &str) -> Outcome<Rc<Register>> {
    match bound.required(name)? {
        Value::Register(register) => Ok(register),
        other => Err(bound.wrong(name, "a register made with nisa.register_alloc()", &other)),
    }
}

impl Device {
    /// Checks that a tile holds one number.
    fn is_single(bound: &Bound, view: &View) -> Outcome<()> {
        if view.elements() != 1 {
            return Err(Failure::documented(
                "err_annotation_shape_mismatch",
                format!(
                    "{} takes a tile of one element, not of shape {:?}",
                    bound.api.full_name(),
                    view.shape()
                ),
                "select one element, as in tile[0:1, 0:1]",
            ));
        }
        Ok(())
    }

    /// The one number in a tile; `None` in a run without data.
    fn single(&mut self, bound: &Bound, view: &View) -> Outcome<Option<i64>> {
        Self::is_single(bound, view)?;
        let values = self.read_known(view, "source")?;
        Ok(values.first().map(|value| *value as i64))
    }
}

/// `nisa.register_alloc(x)`
pub(super) fn alloc(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    Ok(match bound.take("x") {
        None => register(Some(0), false),
        Some(Value::Tensor(view)) => register(device.single(bound, &view)?, false),
        Some(Value::Register(other)) => register(other.value.get(), false),
        Some(other) => match other.as_int() {
            Some(value) => register(Some(value), false),
            None => return Err(bound.wrong("x", "a whole number", &other)),
        },
    })
}

/// `nisa.register_move(dst, imm)`
pub(super) fn set(_: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = target(bound, "dst")?;
    let source = bound.take("imm").or_else(|| bound.take("src"));
    match source {
        Some(Value::Register(other)) => target.value.set(other.value.get()),
        Some(other) => match other.as_int() {
            Some(value) => target.value.set(Some(value)),
            None => return Err(bound.wrong("imm", "a whole number or a register", &other)),
        },
        None => return Err(bound.missing("imm")),
    }
    Ok(Value::None)
}

/// `nisa.register_load(dst, src)`
pub(super) fn load(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = target(bound, "dst")?;
    let source = bound.view("src")?;
    target.value.set(device.single(bound, &source)?);
    Ok(Value::None)
}

/// `nisa.scalar_load(tile)`
pub(super) fn scalar(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let source = bound.view("src")?;
    let value = device.single(bound, &source)?;
    Ok(register(value, true))
}

/// `nisa.register_store(dst, src)` and `nisa.scalar_store(dst, src)`
pub(super) fn store(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    device.check_mutable(&target)?;
    Device::is_single(bound, &target)?;
    let value = match bound.required("src")? {
        Value::Register(register) => register.value.get(),
        other => match other.as_int() {
            Some(value) => Some(value),
            None => return Err(bound.wrong("src", "a register", &other)),
        },
    };
    if let Some(value) = value {
        device.write(&target, &[value as f32], None)?;
    }
    target.storage.written.set(true);
    Ok(tensor(target))
}

/// The number in a register, or a failure where it is not known before the kernel runs.
pub(crate) fn known(register: &Register) -> Outcome<i64> {
    register.value.get().ok_or_else(|| {
        Failure::unsupported(
            "dynamic-value",
            "the number of iterations depends on data, which this run does not compute",
            "evaluate the kernel on data, or give the loop bounds that are known when it is compiled",
        )
    })
}

/// The register that arithmetic on a scalar yields.
pub(crate) fn computed(value: Option<i64>) -> Value {
    register(value, true)
}
