//! `nisa.sendrecv` and `nisa.sendrecv_compute`.

use super::on_one_core;
use crate::api::Value;
use crate::api::arithmetic::Alu;
use crate::api::operands::tensor;
use crate::api::{Bound, Device};
use crate::cores::Meeting;
use crate::diagnostic::{Failure, Outcome};
use crate::tensor::storage::Buffer;
use crate::tensor::view::View;
use crate::trace::{Choice, Engine, Instruction, Operation};

/// Most bytes of a partition that the transfers of the gpsimd engine move, by bytes of an element.
const GPSIMD_BYTES: [(usize, usize); 3] = [(4, 1024), (2, 512), (1, 256)];

/// `nisa.sendrecv`: each core's `dst` becomes the other's `src`.
pub(in crate::api) fn sendrecv(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let source = bound.view("src")?;
    let target = bound.view("dst")?;
    for (name, view) in [("src", &source), ("dst", &target)] {
        if view.buffer() != Buffer::Sbuf {
            return Err(unsupported_memory(
                bound,
                name,
                view,
                "exchange tiles in SBUF",
            ));
        }
    }
    check_tiles(device, bound, &source, &target)?;
    let pipe = bound
        .integer("pipe_id")?
        .ok_or_else(|| bound.missing("pipe_id"))?;
    let is_on_gpsimd = match bound.take("dma_engine") {
        None | Some(Value::Symbol("dma_engine.dma")) => false,
        Some(Value::Symbol("dma_engine.gpsimd_dma")) => true,
        Some(other) => {
            let expected = "nisa.dma_engine.dma or nisa.dma_engine.gpsimd_dma";
            return Err(bound.wrong("dma_engine", expected, &other));
        }
    };
    if is_on_gpsimd {
        let width = source.dtype.bytes();
        let most = GPSIMD_BYTES
            .iter()
            .find(|it| it.0 == width)
            .map_or(0, |it| it.1);
        if most < source.free() * width {
            return Err(Failure::documented(
                "err_size_of_dimension_exceed_arch_limit",
                format!(
                    "nisa.sendrecv: {} bytes of each partition with dma_engine.gpsimd_dma, which moves {most} of this type",
                    source.free() * width
                ),
                "use nisa.dma_engine.dma, or exchange smaller tiles",
            ));
        }
    }
    exchange(device, [&source, &target], Some(pipe), None)?;
    Ok(tensor(target))
}

/// `nisa.sendrecv_compute`: each core's `dst` becomes its own `src` and the other's, reduced.
pub(in crate::api) fn sendrecv_compute(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let source = bound.view("src")?;
    let target = bound.view("dst")?;
    for (name, view) in [("src", &source), ("dst", &target)] {
        let is_known = matches!(view.buffer(), Buffer::Sbuf | Buffer::Hbm);
        if !is_known || view.buffer() != source.buffer() {
            let remedy = "give both in SBUF, or both in nl.private_hbm";
            return Err(unsupported_memory(bound, name, view, remedy));
        }
    }
    check_tiles(device, bound, &source, &target)?;
    let reduce = bound.alu("reduce_op")?;
    if !matches!(reduce, Alu::Add | Alu::Maximum | Alu::Minimum) {
        return Err(Failure::documented(
            "err_unsupported_operation",
            "nisa.sendrecv_compute adds, or takes the larger or the smaller",
            "pass reduce_op=nl.add, nl.maximum or nl.minimum",
        ));
    }
    exchange(device, [&source, &target], None, Some(reduce))?;
    Ok(tensor(target))
}

fn unsupported_memory(bound: &Bound, name: &str, view: &View, remedy: &str) -> Box<Failure> {
    Failure::documented(
        "err_unsupported_memory",
        format!(
            "{}: `{name}` is in {}",
            bound.api.full_name(),
            view.buffer().name()
        ),
        remedy,
    )
}

/// Checks that both tiles fit each other, and that two cores are there that name each other.
fn check_tiles(
    device: &mut Device,
    bound: &mut Bound,
    source: &View,
    target: &View,
) -> Outcome<()> {
    let api = bound.api.full_name();
    device.check_scope(source)?;
    device.check_scope(target)?;
    device.check_mutable(target)?;
    if source.dtype != target.dtype || source.shape() != target.shape() {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "{api}: src is {}{:?} and dst {}{:?}",
                source.dtype.name(),
                source.shape(),
                target.dtype.name(),
                target.shape()
            ),
            "give both the same type and shape",
        ));
    }
    if !device.is_on_several_cores() {
        return Err(on_one_core(bound));
    }
    let rank = device.link.as_ref().map_or(0, |link| link.rank as i64);
    for name in ["send_to_rank", "recv_from_rank"] {
        let other = bound.integer(name)?;
        if other != Some(1 - rank) {
            return Err(Failure::documented(
                "err_unsupported_mode",
                format!(
                    "{api}: `{name}` is {} on core {rank}",
                    other.map_or("missing".to_owned(), |it| it.to_string())
                ),
                "name the other of the two cores: 1 - nl.program_id(0)",
            ));
        }
    }
    Ok(())
}

/// Sends the source to the other core, and writes what comes from there, reduced with the source
/// if that is asked for.
fn exchange(
    device: &mut Device,
    [source, target]: [&View; 2],
    pipe: Option<i64>,
    reduce: Option<Alu>,
) -> Outcome<()> {
    let meeting = Meeting::Exchange {
        pipe,
        dtype: source.dtype,
        shape: source.shape().to_vec(),
    };
    let operation = match pipe {
        Some(_) => Operation::Exchange,
        None => Operation::ExchangeCompute,
    };
    let mut one = Instruction::new(operation, Choice::Fixed(Engine::Dma), device.line);
    one.partitions = source.partitions().min(128) as u16;
    one.free = source.free() as u32;
    one.features.accumulate = reduce.is_some();
    device.describe(&mut one, std::slice::from_ref(source), 1);
    device.transfer(&mut one, source, Some(target), target, 0);
    // While this core still sends, what the other sends comes in.
    device.check_aliases(&one, target)?;
    one.writes.push(device.region(target));
    let mut values = device.read(source)?;
    let received = device.meet(meeting, values.clone(), &[])?;
    match reduce {
        Some(reduce) => reduce.apply_all(&mut values, &received),
        None => values = received,
    }
    device.write(target, &values, None)?;
    device.emit(one)?;
    Ok(())
}
