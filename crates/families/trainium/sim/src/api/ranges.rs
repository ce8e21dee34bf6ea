//! Loops that NKI brings: its ranges, and the loops of the second dialect that run on the device.

use std::rc::Rc;

use autocomp_python::{Arguments, range, type_error};

use super::registers::computed;
use super::{Device, Interpreter, Nki, Value};
use crate::diagnostic::{Failure, Outcome};
use crate::trace::LoopKind;

/// `nl.affine_range(…)` and the like.
pub(super) fn ranged(device: &mut Device, name: &str, arguments: Arguments<Nki>) -> Outcome<Value> {
    let Arguments {
        mut positional,
        mut keywords,
    } = arguments;
    if name != "dynamic_range" && !keywords.is_empty() {
        positional = range_arguments(positional, &mut keywords);
    }
    let is_register = |it: &Value| matches!(it, Value::Foreign(Nki::Register(_)));
    let takes_registers = matches!(name, "sequential_range" | "dynamic_range");
    let dynamic = takes_registers && positional.iter().any(is_register);
    if dynamic {
        for value in &mut positional {
            if let Value::Foreign(Nki::Register(register)) = value {
                *value = Value::Int(device.known(&register.clone())?);
            }
        }
    }
    let kind = match name {
        "affine_range" => LoopKind::Affine,
        "dynamic_range" => LoopKind::Dynamic,
        "sequential_range" if dynamic => LoopKind::Dynamic,
        "sequential_range" => LoopKind::Sequential,
        _ => LoopKind::Static,
    };
    range(name, &positional, kind)
}

/// Start, stop and step of NKI's ranges, which may be named.
fn range_arguments(mut positional: Vec<Value>, keywords: &mut Vec<(Rc<str>, Value)>) -> Vec<Value> {
    let mut named = |name: &str| {
        let at = keywords
            .iter()
            .position(|(keyword, _)| &**keyword == name)?;
        Some(keywords.remove(at).1).filter(|value| !matches!(value, Value::None))
    };
    let (start, stop, step) = (named("start"), named("stop"), named("step"));
    if let Some(start) = start {
        positional.insert(0, start);
    }
    positional.extend(stop);
    if let Some(step) = step {
        if positional.len() == 1 {
            positional.insert(0, Value::Int(0));
        }
        positional.push(step);
    }
    positional
}

/// A bound of a loop.
fn bound_of(run: &mut Interpreter, value: &Value) -> Outcome<i64> {
    match value {
        Value::Foreign(Nki::Register(register)) => run.device.known(register),
        other => other
            .as_int()
            .ok_or_else(|| type_error("bounds of loops are whole numbers, registers or scalars")),
    }
}

/// `nl.fori_loop(lower, upper, body_fun, step=1)`
pub(super) fn fori_loop(
    run: &mut Interpreter,
    arguments: Arguments<Nki>,
    line: u32,
) -> Outcome<Value> {
    let [lower, upper, body, step] = named(arguments, ["lower", "upper", "body_fun", "step"])?;
    let (Some(lower), Some(upper), Some(body)) = (lower, upper, body) else {
        return Err(type_error("fori_loop takes lower, upper and body_fun"));
    };
    let step = step.map_or(Some(1), |step| step.as_int());
    let step = step.filter(|step| *step > 0).ok_or_else(|| {
        type_error("the step of fori_loop is a positive number known when it is compiled")
    })?;
    let (mut at, stop) = (bound_of(run, &lower)?, bound_of(run, &upper)?);
    let trips = autocomp_python::range_length(at, stop, step).max(0);
    run.device.open_loop(LoopKind::Dynamic, trips as u64, line);
    let mut carried = run.surroundings(body.surroundings());
    let result = loop {
        if at >= stop {
            break Ok(Value::None);
        }
        // What the body gets is a number of the device, not of Python.
        if let Err(failure) = run.device.branch(line) {
            break Err(failure);
        }
        let arguments = Arguments {
            positional: vec![computed(Some(at), false)],
            keywords: Vec::new(),
        };
        let one = run
            .step(line)
            .and_then(|()| run.call(&body, arguments, line))
            .and_then(|_| run.close_iteration(&mut carried, line));
        if let Err(failure) = one {
            break Err(failure);
        }
        run.device.next_iteration();
        at = at.saturating_add(step);
    };
    run.device.close_loop();
    carried.close();
    result
}

/// `nl.while_loop(init, body_fun)`: as long as the register that the body returns is not zero.
pub(super) fn while_loop(
    run: &mut Interpreter,
    arguments: Arguments<Nki>,
    line: u32,
) -> Outcome<Value> {
    let [init, body] = named(arguments, ["init", "body_fun"])?;
    let (Some(Value::Foreign(Nki::Register(mut condition))), Some(body)) = (init, body) else {
        return Err(Failure::python(
            "type-error",
            "while_loop takes a register and a function that returns the next one",
            "allocate the register with nisa.register_alloc() and load the condition into it",
        ));
    };
    run.device.open_loop(LoopKind::Dynamic, 0, line);
    let mut carried = run.surroundings(body.surroundings());
    let result = loop {
        let known = run.device.known(&condition);
        match known.and_then(|value| run.device.branch(line).map(|()| value)) {
            Ok(0) => break Ok(Value::None),
            Ok(_) => {}
            Err(failure) => break Err(failure),
        }
        let arguments = Arguments {
            positional: vec![Value::Foreign(Nki::Register(condition))],
            keywords: Vec::new(),
        };
        let one = run
            .step(line)
            .and_then(|()| run.call(&body, arguments, line));
        match one {
            Ok(Value::Foreign(Nki::Register(next))) => condition = next,
            Ok(_) => {
                break Err(type_error(
                    "the function of a while_loop returns the register of the next condition",
                ));
            }
            Err(failure) => break Err(failure),
        }
        if let Err(failure) = run.close_iteration(&mut carried, line) {
            break Err(failure);
        }
        run.device.next_iteration();
    };
    run.device.close_loop();
    carried.close();
    result
}

/// Arguments in the order of their names.
fn named<const N: usize>(
    arguments: Arguments<Nki>,
    names: [&str; N],
) -> Outcome<[Option<Value>; N]> {
    let mut values = [const { None }; N];
    if arguments.positional.len() > N {
        return Err(type_error(&format!(
            "takes {N} arguments at most: {names:?}"
        )));
    }
    for (slot, value) in values.iter_mut().zip(arguments.positional) {
        *slot = Some(value);
    }
    for (name, value) in arguments.keywords {
        match names.iter().position(|known| *known == &*name) {
            Some(at) if values[at].is_none() => values[at] = Some(value),
            _ => {
                return Err(type_error(&format!(
                    "`{name}` is no parameter, or given twice"
                )));
            }
        }
    }
    Ok(values)
}
