//! Calls of interfaces, and launches of kernels.

use std::rc::Rc;

use autocomp_python::{Argument, Arguments, Closure, Frame};

use super::binding::{Binding, bind};
use super::placement::{Allocator, Rule};
use super::{Api, Bound, Dialect, Grid, Interpreter, Nki, Value, placement};
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::dtype::Dtype;

/// Calls an interface.
pub(super) fn call(
    api: &'static Api,
    run: &mut Interpreter,
    arguments: Arguments<Nki>,
    line: u32,
) -> Outcome<Value> {
    if let Some(value) = super::host_arrays::call(run, api, &arguments)? {
        return Ok(value);
    }
    let mut bound = bind(api, run.device.dialect, arguments)?;
    run.device.begins(|| api.identity(), bound.arguments());
    if bound.allocates() {
        place_blocks(run, &mut bound, line)?;
    }
    (api.handler)(&mut run.device, &mut bound)
}

/// Calls an interface with arguments whose parameters are known.
pub(super) fn call_bound(
    run: &mut Interpreter,
    line: u32,
    binding: &Binding,
    arguments: &[Argument<Nki>],
    frame: &Rc<Frame<Nki>>,
) -> Outcome<Value> {
    let values = match arguments {
        // Most calls of many kernels are these, in the indices of transfers.
        [Argument::Positional(start), Argument::Positional(size)] if binding.api.is_window() => {
            match (run.evaluate(start, frame)?, run.evaluate(size, frame)?) {
                (Value::Int(start), Value::Int(size)) => {
                    run.device.line = line;
                    return Ok(Value::Window(start, size));
                }
                (start, size) => vec![Some(start), Some(size)],
            }
        }
        _ => {
            let mut values = run.spare.pop().unwrap_or_default();
            values.resize(binding.names.len(), None);
            for (argument, place) in arguments.iter().zip(&binding.places) {
                let (Argument::Positional(node) | Argument::Keyword(_, node)) = argument else {
                    continue;
                };
                let value = run.evaluate(node, frame)?;
                if let Some(place) = place {
                    values[*place as usize] = Some(value);
                }
            }
            values
        }
    };
    run.device.line = line;
    let mut bound = Bound::new(binding.api, Rc::clone(&binding.names), values);
    run.device
        .begins(|| binding.api.identity(), bound.arguments());
    if bound.allocates() {
        place_blocks(run, &mut bound, line)?;
    }
    let result = (binding.api.handler)(&mut run.device, &mut bound);
    run.spare.push(bound.into_emptied());
    run.device.line = line;
    result.map_err(|f| f.at(line))
}

/// Asks a function of the kernel where the blocks of a tensor lie that is about to be made.
fn place_blocks(run: &mut Interpreter, bound: &mut Bound, line: u32) -> Outcome<()> {
    let (Some(Value::Foreign(Nki::Allocator(allocator))), Some(shape)) =
        (bound.peek("buffer"), bound.peek("shape"))
    else {
        return Ok(());
    };
    let Rule::Function(function) = &allocator.rule else {
        return Ok(());
    };
    let Some(items) = shape.listed() else {
        return Ok(());
    };
    let marked = items
        .iter()
        .position(|it| matches!(it, Value::Foreign(Nki::Partition(_))));
    let at = marked.unwrap_or(0);
    let Some(sizes) = super::sizes(&shape).filter(|sizes| at < sizes.len()) else {
        return Ok(());
    };
    let dtype = bound.peek("dtype").as_ref().and_then(super::dtype_of);
    let width = dtype.unwrap_or(Dtype::Float32).bytes();
    let free = sizes[at + 1..]
        .iter()
        .copied()
        .fold(width, usize::saturating_mul);
    let mut places = Vec::new();
    for block in placement::blocks(&sizes[..at])? {
        let block = block.into_iter().map(Value::Int).collect();
        // By name, as published kernels rely on.
        let arguments = Arguments {
            positional: Vec::new(),
            keywords: vec![
                ("idx".into(), Value::tuple(block)),
                ("pdim_size".into(), Value::Int(sizes[at] as i64)),
                ("fdim_size".into(), Value::Int(free as i64)),
            ],
        };
        let place = run.call(function, arguments, line)?;
        places.push(placement::returned(allocator.buffer, &place)?);
    }
    let rule = Rule::Listed(places.into());
    let buffer = allocator.buffer;
    bound.replace(
        "buffer",
        Value::Foreign(Nki::Allocator(Rc::new(Allocator { buffer, rule }))),
    );
    Ok(())
}

/// Runs every program of a grid, one after the other; what the last one returns.
pub(super) fn launch(
    run: &mut Interpreter,
    function: &Rc<Closure<Nki>>,
    sizes: &[i64],
    arguments: Arguments<Nki>,
    line: u32,
) -> Outcome<Value> {
    if run.device.dialect == Dialect::V2 {
        return launch_on_cores(run, function, sizes, arguments, line);
    }
    if run.is_within_kernel() || !run.device.grid.sizes.is_empty() {
        return Err(Failure::documented(
            "err_nested_kernel_with_spmd_grid",
            format!(
                "`{}` is called with the grid {sizes:?} from within a kernel",
                function.name()
            ),
            "call it without a grid, once for each program, with the program's indices as arguments",
        ));
    }
    let before = std::mem::replace(&mut run.device.grid, Grid::new(sizes.to_vec()));
    let result = loop {
        let arguments = Arguments {
            positional: arguments.positional.clone(),
            keywords: arguments.keywords.clone(),
        };
        let result = run
            .step(line)
            .and_then(|()| run.call_closure(function, arguments, line));
        if result.is_err() || !run.device.grid.advance() {
            break result;
        }
    };
    run.device.grid = before;
    result
}

/// Runs this core's program of a kernel that is launched on as many cores as `sizes` says.
fn launch_on_cores(
    run: &mut Interpreter,
    function: &Rc<Closure<Nki>>,
    sizes: &[i64],
    arguments: Arguments<Nki>,
    line: u32,
) -> Outcome<Value> {
    let place = run.device.enter_cores(sizes)?;
    let before = std::mem::replace(&mut run.device.grid, place);
    let result = run.call_closure(function, arguments, line);
    run.device.line = line;
    let result = result.and_then(|value| run.device.leave_cores().map(|()| value));
    run.device.grid = before;
    result
}
