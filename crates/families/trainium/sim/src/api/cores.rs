//! What cores do together: `nisa.core_barrier`, `nisa.sendrecv`, and the memory that they share.
//!
//! Facts: the vendor's pages of the two instructions and on logical cores.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::operands::tensor;
use super::{Bound, Device, Grid};
use crate::cores::{Meeting, Message, Shown};
use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::python::value::{EngineName, Value};
use crate::tensor::accesses::{Accesses, Race};
use crate::tensor::storage::{Buffer, Shared, Storage, poison};
use crate::tensor::view::{View, for_runs};
use crate::trace::{Choice, Engine, Instruction, Operation};

/// Most bytes of a partition that the transfers of the gpsimd engine move, by bytes of an element.
const GPSIMD_BYTES: [(usize, usize); 3] = [(4, 1024), (2, 512), (1, 256)];

impl Device {
    /// Enters a tensor in memory that the cores of the running kernel share.
    pub(super) fn share(&mut self, storage: &Shared) {
        if self.is_on_several_cores() && storage.buffer == Buffer::SharedHbm {
            self.shared.push(Rc::clone(storage));
        }
    }

    /// The table of what is touched of a tensor, if it is one that the cores of the running kernel
    /// share, and the bytes that it takes.
    pub(super) fn accesses(
        &self,
        buffer: Buffer,
        elements: usize,
    ) -> (Option<Box<RefCell<Accesses>>>, u64) {
        let is_shared =
            self.functional && buffer == Buffer::SharedHbm && self.is_on_several_cores();
        match is_shared {
            true => (Some(Box::default()), 8 * elements as u64),
            false => (None, 0),
        }
    }

    /// Notes which elements of a shared tensor are read or written.
    #[inline]
    pub(super) fn note_access(&self, view: &View, flags: Option<&[bool]>, writes: bool) {
        if let Some(accesses) = &view.storage.accesses
            && self.is_on_several_cores()
        {
            self.note_elements(view, &mut accesses.borrow_mut(), flags, writes);
        }
    }

    fn note_elements(
        &self,
        view: &View,
        accesses: &mut Accesses,
        flags: Option<&[bool]>,
        writes: bool,
    ) {
        let (seen, stored) = (view.dtype.bytes(), view.storage.dtype.bytes());
        let count = view.storage.block_elements;
        let mut note = |from: i64, elements: usize| {
            let from = usize::try_from(from).unwrap_or(usize::MAX);
            let (low, high) = (
                from.saturating_mul(seen),
                from.saturating_add(elements).saturating_mul(seen),
            );
            accesses.note(
                low / stored..high.div_ceil(stored),
                count,
                self.line,
                writes,
            );
        };
        let mut position = 0;
        for_runs(&view.dimensions, view.offset, |at, count, stride| {
            if stride == 1 && flags.is_none() {
                note(at, count);
            } else {
                for i in 0..count {
                    if flags.is_none_or(|it| it.get(position + i) == Some(&true)) {
                        note(at + i as i64 * stride, 1);
                    }
                }
            }
            position += count;
        });
    }

    /// Meets the other core on shared tensors; the values that it brings.
    fn meet(&mut self, meeting: Meeting, values: Vec<f32>, on: &[Shared]) -> Outcome<Vec<f32>> {
        let own: Arc<[Shown]> = on.iter().map(show).collect();
        let touched: u64 = own.iter().map(|it| it.data.len() as u64).sum();
        self.spend(touched + values.len() as u64)?;
        self.account.room(12 * touched)?;
        let Some(link) = &self.link else {
            return Ok(values);
        };
        let other = link.meet(Message {
            meeting,
            line: self.line,
            values,
            tensors: Arc::clone(&own),
        })?;
        if own.len() != other.tensors.len() {
            return Err(apart(link.rank, own.len(), other.tensors.len()));
        }
        for ((storage, own), other) in on.iter().zip(own.iter()).zip(other.tensors.iter()) {
            if (own.dtype, &own.shape) != (other.dtype, &other.shape) {
                return Err(other_tensor(link.rank, own, other));
            }
            if let Some(race) = own.touched.race(&other.touched) {
                return Err(raced(link.rank, storage, &race));
            }
            take_over(storage, other);
        }
        Ok(other.values)
    }

    /// Begins this core's program of a kernel that is launched on `sizes` cores; its place.
    ///
    /// # Errors
    /// Where there are not as many cores, and where this run has but one: then the number is noted.
    pub(crate) fn enter_cores(&mut self, sizes: &[i64]) -> Outcome<Grid> {
        let several = self.architecture.generation >= 3;
        match (sizes, &mut self.link) {
            ([1], _) => Ok(Grid::of_core(1, 0)),
            ([2], Some(link)) if !link.is_running => {
                link.is_running = true;
                Ok(Grid::of_core(2, link.rank as i64))
            }
            ([2], None) if several && self.most_cores < 2 => Err(Failure::new(
                FailureKind::Rejected,
                "one-core",
                "the kernel is launched on two cores, and this machine is one",
                "launch it on one: `kernel(…)`; a machine file with `cores = 2` has two",
            )),
            ([2], None) if several => {
                self.asked_cores = Some(2);
                Err(Failure::unsupported(
                    "several-cores",
                    "the kernel needs two cores",
                    "",
                ))
            }
            _ => Err(Failure::documented(
                "err_unsupported_mode",
                format!("a kernel is launched on {sizes:?} cores"),
                match several {
                    true => {
                        "launch it on one core or on two: `kernel[2](…)`, not from within another"
                    }
                    false => "launch it on one core: two are from trn2 on",
                },
            )),
        }
    }

    /// Ends it: what either core wrote to the tensors that both share is there for both.
    pub(crate) fn leave_cores(&mut self) -> Outcome<()> {
        if !self.is_on_several_cores() {
            return Ok(());
        }
        let shared = self.shared.clone();
        self.meet(Meeting::End, Vec::new(), &shared)?;
        // What runs after the kernel waits for both.
        self.wait_for_other(Engine::Gpsimd, &shared)?;
        if let Some(link) = &mut self.link {
            link.is_running = false;
        }
        Ok(())
    }

    /// Adds that an engine waits for the other core, before anything more is done to `tensors`.
    fn wait_for_other(&mut self, engine: Engine, tensors: &[Shared]) -> Outcome<()> {
        let mut one = Instruction::new(Operation::Barrier, Choice::Fixed(engine), self.line);
        for tensor in tensors {
            let region = self.region(&View::whole(tensor));
            one.reads.push(region);
            one.writes.push(region);
        }
        self.emit(one)?;
        Ok(())
    }

    fn is_on_several_cores(&self) -> bool {
        self.link.as_ref().is_some_and(|link| link.is_running)
    }
}

/// What a core shows of a shared tensor: what it touched, with the values.
fn show(storage: &Shared) -> Shown {
    let touched = match &storage.accesses {
        Some(accesses) => accesses.borrow_mut().take(),
        None => Default::default(),
    };
    let span = touched.first..touched.first + touched.writes.len();
    let data = match span.is_empty() {
        true => Vec::new(),
        false => storage
            .with_block(0, |data| data.get(span.clone()).map(<[f32]>::to_vec))
            .flatten()
            .unwrap_or_else(|| vec![poison(); span.len()]),
    };
    Shown {
        dtype: storage.dtype,
        shape: storage.shape.to_vec(),
        line: storage.line,
        is_written: storage.written.get(),
        touched,
        data,
    }
}

/// Takes over what the other core wrote.
fn take_over(storage: &Shared, shown: &Shown) {
    let first = shown.touched.first;
    let written = shown.touched.writes.iter().zip(&shown.data);
    let written = (first..).zip(written).filter(|(_, (line, _))| 0 < **line);
    let written: Vec<(usize, f32)> = written.map(|(at, (_, value))| (at, *value)).collect();
    if shown.is_written {
        storage.written.set(true);
    }
    let (Some((low, _)), Some((high, _))) = (written.first(), written.last()) else {
        return;
    };
    storage.parts.borrow_mut().forget(*low..*high + 1);
    storage.with_block(0, |data| {
        for (at, value) in written {
            if let Some(slot) = data.get_mut(at) {
                *slot = value;
            }
        }
    });
}

fn in_order<T>(rank: usize, own: T, other: T) -> [T; 2] {
    match rank {
        0 => [own, other],
        _ => [other, own],
    }
}

fn raced(rank: usize, storage: &Storage, race: &Race) -> Box<Failure> {
    let does = |(line, writes): (u32, bool)| match writes {
        true => format!("writes it at line {line}"),
        false => format!("reads it at line {line}"),
    };
    let [first, second] = in_order(rank, race.own, race.other);
    let mut rest = race.element;
    let mut at: Vec<usize> = storage
        .shape
        .iter()
        .rev()
        .map(|size| {
            let own = rest % size;
            rest /= size;
            own
        })
        .collect();
    at.reverse();
    Failure::new(
        FailureKind::Rejected,
        "cores-race",
        format!(
            "element {at:?} of the shared tensor made at line {}: core 0 {}, core 1 {}, and no barrier on this tensor is between; which comes first is not determined",
            storage.line,
            does(first),
            does(second)
        ),
        "put nisa.core_barrier(data, cores=(0, 1)) on this tensor between the two, or let each core write its own part",
    )
    .at(first.0)
}

fn apart(rank: usize, own: usize, other: usize) -> Box<Failure> {
    let [first, second] = in_order(rank, own, other);
    Failure::new(
        FailureKind::Rejected,
        "cores-out-of-step",
        format!("core 0 makes {first} tensors in shared_hbm, core 1 {second}"),
        "make the same shared tensors on both cores",
    )
}

fn other_tensor(rank: usize, own: &Shown, other: &Shown) -> Box<Failure> {
    let text = |it: &Shown| format!("{}{:?} at line {}", it.dtype.name(), it.shape, it.line);
    let [first, second] = in_order(rank, text(own), text(other));
    Failure::new(
        FailureKind::Rejected,
        "cores-out-of-step",
        format!("core 0 makes the shared tensor {first} where core 1 makes {second}"),
        "make the same shared tensors on both cores, in the same order",
    )
}

/// `nisa.core_barrier`
pub(super) fn core_barrier(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let data = bound.view("data")?;
    let value = bound.required("cores")?;
    match super::sizes(&value).as_deref() {
        // With one core there is nobody to wait for.
        Some([0]) => return Ok(Value::None),
        Some([0, 1]) => {}
        _ => return Err(bound.wrong("cores", "the tuple (0, 1) of cores", &value)),
    }
    if !device.is_on_several_cores() {
        return Err(on_one_core(bound));
    }
    let place = device.shared.iter().position(|it| it.id == data.storage.id);
    let Some(place) = place else {
        return Err(Failure::documented(
            "err_unsupported_memory",
            format!(
                "nisa.core_barrier: `data` is in {}, which the cores do not share",
                data.buffer().name()
            ),
            "make it with nl.ndarray(…, buffer=nl.shared_hbm) in the kernel",
        ));
    };
    let engine = match bound.take("engine") {
        Some(Value::Engine(EngineName::Vector)) => Engine::Vector,
        Some(Value::Engine(EngineName::Scalar)) => Engine::Scalar,
        Some(Value::Engine(EngineName::Tensor)) => Engine::Tensor,
        Some(Value::Engine(EngineName::Sync)) => Engine::Sync,
        _ => Engine::Gpsimd,
    };
    let storage = Rc::clone(&data.storage);
    device.meet(Meeting::Barrier(place), Vec::new(), &[Rc::clone(&storage)])?;
    device.wait_for_other(engine, &[storage])?;
    Ok(Value::None)
}

/// `nisa.sendrecv`
pub(super) fn sendrecv(device: &mut Device, bound: &mut Bound) -> Outcome<Value> {
    let source = bound.view("src")?;
    let target = bound.view("dst")?;
    for (name, view) in [("src", &source), ("dst", &target)] {
        if view.buffer() != Buffer::Sbuf {
            return Err(Failure::documented(
                "err_unsupported_memory",
                format!("nisa.sendrecv: `{name}` is in {}", view.buffer().name()),
                "exchange tiles in SBUF",
            ));
        }
        device.check_scope(view)?;
    }
    device.check_mutable(&target)?;
    if source.dtype != target.dtype || source.shape() != target.shape() {
        return Err(Failure::documented(
            "err_annotation_shape_mismatch",
            format!(
                "nisa.sendrecv: src is {}{:?} and dst {}{:?}",
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
                    "nisa.sendrecv: `{name}` is {} on core {rank}",
                    other.map_or("missing".to_owned(), |it| it.to_string())
                ),
                "name the other of the two cores: 1 - nl.program_id(0)",
            ));
        }
    }
    let pipe = bound
        .integer("pipe_id")?
        .ok_or_else(|| bound.missing("pipe_id"))?;
    if let Some(Value::Symbol("dma_engine.gpsimd_dma")) = bound.take("dma_engine") {
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
    let meeting = Meeting::Exchange {
        pipe,
        dtype: source.dtype,
        shape: source.shape().to_vec(),
    };
    let values = device.read(&source)?;
    let values = device.meet(meeting, values, &[])?;
    device.write(&target, &values, None)?;
    let mut one = Instruction::new(Operation::Exchange, Choice::Fixed(Engine::Dma), device.line);
    one.partitions = source.partitions() as u16;
    one.free = source.free() as u32;
    device.describe(&mut one, std::slice::from_ref(&source), 1);
    device.transfer(&mut one, &source, Some(&target), &target, 0);
    // Both lie in their own core's memory, so that an overlap of the two is none.
    one.writes.push(device.region(&target));
    device.emit(one)?;
    Ok(tensor(target))
}

fn on_one_core(bound: &Bound) -> Box<Failure> {
    Failure::new(
        FailureKind::Rejected,
        "one-core",
        format!(
            "{} needs two cores, and this kernel runs on one",
            bound.api.full_name()
        ),
        "launch the kernel on two: `def solution(x): return kernel[2](x)`",
    )
}
