//! Numbers that the device holds while a kernel runs: registers, scalars, bounds of loops.
//!
//! The vendor's documents (`nisa.register_alloc`, `nl.dynamic_range`) say that the sequencers of the
//! engines hold them and branch on them. Here one sequencer does all of that, one instruction after
//! the other, each in the trace with its cost; what depends on a value that came from memory waits
//! for it.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use autocomp_python::{Binary, type_error};

use super::operands::tensor;
use super::{Bound, Device, Interpreter, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation, Transfer};

const SYNC: Choice = Choice::Fixed(Engine::Sync);

/// A number that the device holds.
pub(crate) struct Register {
    /// Unknown where only shapes are evaluated.
    pub(crate) value: Cell<Option<i64>>,
    /// Whether it is a scalar, with which one can compute.
    pub(crate) scalar: bool,
    /// Whether the number came from memory.
    pub(crate) from_data: Cell<bool>,
}

/// A register with this content.
fn register(value: Option<i64>, scalar: bool, from_data: bool) -> Value {
    Value::Foreign(Nki::Register(Rc::new(Register {
        value: Cell::new(value),
        scalar,
        from_data: Cell::new(from_data),
    })))
}

/// The register in an argument.
fn target(bound: &mut Bound, name: &str) -> Outcome<Rc<Register>> {
    match bound.required(name)? {
        Value::Foreign(Nki::Register(register)) => Ok(register),
        other => Err(bound.wrong(name, "a register made with nisa.register_alloc()", &other)),
    }
}

impl Device {
    /// The one number in a tile; `None` in a run without data.
    fn single(&mut self, bound: &Bound, view: &View) -> Outcome<Option<i64>> {
        check_single(bound, view)?;
        self.depends_on_data = true;
        let values = self.read_known(view, "source")?;
        let mut one = Instruction::new(Operation::RegisterLoad, SYNC, self.line);
        if view.buffer().on_chip() {
            self.operand(bound, "src", view.clone())?;
        } else {
            one.transfer = Some(Arc::new(word(view, true)));
        }
        self.describe(&mut one, std::slice::from_ref(view), 1);
        self.emit(one)?;
        Ok(values.first().map(|value| *value as i64))
    }

    /// An instruction that sets a register or computes with scalars.
    pub(crate) fn sequence(&mut self, line: u32) -> Outcome<()> {
        self.emit(Instruction::new(Operation::Register, SYNC, line))?;
        Ok(())
    }

    /// A loop that the device runs goes on, or asks whether it does.
    pub(crate) fn branch(&mut self, line: u32) -> Outcome<()> {
        self.emit(Instruction::new(Operation::Branch, SYNC, line))?;
        Ok(())
    }

    /// The number in a register that decides what comes next, or where it lies: what comes next
    /// waits for it if it was loaded from memory. `None` where only shapes are evaluated.
    pub(crate) fn used(&mut self, register: &Register) -> Option<i64> {
        self.awaits_registers |= register.from_data.get();
        register.value.get()
    }

    /// The same, or a failure where the number is not known before the kernel runs.
    pub(crate) fn known(&mut self, register: &Register) -> Outcome<i64> {
        self.used(register).ok_or_else(|| {
            Failure::unsupported(
                "dynamic-value",
                "the number of iterations depends on data, which this run does not compute",
                "evaluate the kernel on data, or give the loop bounds that are known when it is compiled",
            )
        })
    }

    /// The number in a tile of one element that moves the address of an access.
    pub(super) fn address(&mut self, view: &View) -> Outcome<i64> {
        self.depends_on_data = true;
        self.awaits_registers = true;
        let mut one = Instruction::new(Operation::RegisterLoad, SYNC, self.line);
        self.describe(&mut one, std::slice::from_ref(view), 1);
        let value = self
            .read_known(view, "scalar_offset")?
            .first()
            .map_or(0, |value| *value as i64);
        self.awaits_registers = false;
        self.emit(one)?;
        self.awaits_registers = true;
        Ok(value)
    }
}

/// Checks that a view has one element.
fn check_single(bound: &Bound, view: &View) -> Outcome<()> {
    if view.elements() == 1 {
        return Ok(());
    }
    Err(Failure::documented(
        "err_annotation_shape_mismatch",
        format!(
            "{} takes a tile of one element, not of shape {:?}",
            bound.api.full_name(),
            view.shape()
        ),
        "select one element, as in tile[0:1, 0:1]",
    ))
}

/// The transfer of one element from main memory, or to it.
fn word(view: &View, read: bool) -> Transfer {
    let bytes = view.dtype.bytes() as u64;
    Transfer {
        rows: 1,
        run_bytes: bytes as u32,
        runs: 1,
        hbm_read: if read { bytes } else { 0 },
        hbm_written: if read { 0 } else { bytes },
        ..Transfer::default()
    }
}

/// `nisa.register_alloc(x)`
pub(super) fn alloc(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let given = bound.take("x");
    if let Some(Value::Foreign(Nki::Tensor(view))) = &given {
        let value = device.single(bound, view)?;
        return Ok(register(value, false, true));
    }
    let (value, from_data) = match given {
        None => (Some(0), false),
        Some(Value::Foreign(Nki::Register(other))) => (other.value.get(), other.from_data.get()),
        Some(other) => match other.as_int() {
            Some(value) => (Some(value), false),
            None => return Err(bound.wrong("x", "a whole number", &other)),
        },
    };
    device.sequence(device.line)?;
    Ok(register(value, false, from_data))
}

/// `nisa.register_move(dst, imm)`
pub(super) fn set(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = target(bound, "dst")?;
    let source = bound.take("imm").or_else(|| bound.take("src"));
    let (value, from_data) = match source {
        Some(Value::Foreign(Nki::Register(other))) => (other.value.get(), other.from_data.get()),
        Some(other) => match other.as_int() {
            Some(value) => (Some(value), false),
            None => return Err(bound.wrong("imm", "a whole number or a register", &other)),
        },
        None => return Err(bound.missing("imm")),
    };
    target.value.set(value);
    target.from_data.set(from_data);
    device.sequence(device.line)?;
    Ok(Value::None)
}

/// `nisa.register_load(dst, src)`
pub(super) fn load(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = target(bound, "dst")?;
    let source = bound.view("src")?;
    target.value.set(device.single(bound, &source)?);
    target.from_data.set(true);
    Ok(Value::None)
}

/// `nisa.scalar_load(tile)`
pub(super) fn scalar(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let source = bound.view("src")?;
    let value = device.single(bound, &source)?;
    Ok(register(value, true, true))
}

/// `nisa.register_store(dst, src)` and `nisa.scalar_store(dst, src)`
pub(super) fn store(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let target = bound.view("dst")?;
    device.check_mutable(&target)?;
    check_single(bound, &target)?;
    let value = match bound.required("src")? {
        Value::Foreign(Nki::Register(register)) => register.value.get(),
        other => match other.as_int() {
            Some(value) => Some(value),
            None => return Err(bound.wrong("src", "a register", &other)),
        },
    };
    let values: Vec<f32> = value.iter().map(|value| *value as f32).collect();
    if !values.is_empty() {
        device.write(&target, &values, None)?;
    }
    target.storage.written.set(true);
    let mut one = Instruction::new(Operation::RegisterStore, SYNC, device.line);
    if target.buffer().on_chip() {
        device.operand(bound, "dst", target.clone())?;
    } else {
        one.transfer = Some(Arc::new(word(&target, false)));
    }
    device.note_write(&mut one, &target)?;
    device.emit(one)?;
    Ok(tensor(target))
}

/// The register that arithmetic on a scalar yields.
pub(crate) fn computed(value: Option<i64>, from_data: bool) -> Value {
    register(value, true, from_data)
}

/// Arithmetic on scalars, which the device computes while the kernel runs.
pub(super) fn arithmetic(
    run: &mut Interpreter,
    operator: Binary,
    left: &Value,
    right: &Value,
    line: u32,
) -> Outcome<Value> {
    let part = |value: &Value| match value {
        Value::Foreign(Nki::Register(register)) if register.scalar => Ok(register.value.get()),
        Value::Foreign(Nki::Register(_)) => Err(Failure::python(
            "type-error",
            "registers cannot be computed with",
            "load a scalar with nisa.scalar_load, or compute in a tile and load the register from it",
        )),
        other => other
            .as_int()
            .map(Some)
            .ok_or_else(|| type_error("scalars are computed with whole numbers")),
    };
    let from_data = [left, right].into_iter().any(
        |it| matches!(it, Value::Foreign(Nki::Register(register)) if register.from_data.get()),
    );
    let (a, b) = (part(left)?, part(right)?);
    run.device.sequence(line)?;
    let (Some(a), Some(b)) = (a, b) else {
        return Ok(computed(None, from_data));
    };
    let result = run.binary(operator, Value::Int(a), Value::Int(b), line)?;
    let whole = result
        .as_int()
        .ok_or_else(|| type_error("the result of a scalar is a whole number: use //"))?;
    Ok(computed(Some(whole), from_data))
}
