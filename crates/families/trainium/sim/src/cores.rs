//! The cores of a launch: each runs the whole file on a thread of its own, and they meet at
//! barriers, exchanges and the end of the kernel.
//!
//! Each core has a copy of what both share. Between two meetings no core sees what the other writes,
//! so that the result does not depend on which of them is faster; where a device might have shown
//! it, the kernel has a race, and is refused.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::diagnostic::{Failure, FailureKind, Outcome};
use crate::evaluate::{Evaluation, STACK};
use crate::tensor::accesses::Accesses;
use crate::tensor::dtype::{Dtype, is_undefined};
use crate::tensor::view::{Dimension, View};

/// Code of the failure of a core whose partner failed or is through, until it is known which.
const STOPPED: &str = "other-core-stopped";

/// Code of the failure of cores that do not do the same.
const OUT_OF_STEP: &str = "cores-out-of-step";

const IN_STEP: &str = "let both cores pass the same barriers and exchanges in the same order";

/// Where two cores meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// A barrier on a shared tensor, by its place among them.
    Barrier(usize),
    /// Each sends a tile to the other.
    Exchange {
        /// None for an exchange that reduces.
        pipe: Option<i64>,
        dtype: Dtype,
        shape: Vec<usize>,
    },
    /// The end of the kernel.
    End,
}

impl Meeting {
    fn describe(&self, line: u32) -> String {
        match self {
            Self::Barrier(tensor) => {
                format!("the barrier of line {line} on shared tensor {}", tensor + 1)
            }
            Self::Exchange { pipe, dtype, shape } => {
                let tile = format!("{}{shape:?}", dtype.name());
                match pipe {
                    Some(pipe) => {
                        format!("the sendrecv of line {line} with pipe_id={pipe}, of {tile}")
                    }
                    None => format!("the sendrecv_compute of line {line}, of {tile}"),
                }
            }
            Self::End => "the end of the kernel".to_owned(),
        }
    }
}

/// What one core shows the other of a shared tensor.
#[derive(Debug)]
pub(crate) struct Shown {
    /// How many shared tensors were made before it.
    pub(crate) place: usize,
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    /// Line it was made at.
    pub(crate) line: u32,
    /// Whether any of it was written since it was made.
    pub(crate) is_written: bool,
    /// Whether it holds what was computed from what nothing has written.
    pub(crate) is_tainted: bool,
    pub(crate) touched: Accesses,
    /// The elements that were written since, as memory holds them.
    pub(crate) written: Vec<(usize, f32)>,
    /// What is known of those of them that are known in part.
    pub(crate) parts: Vec<(usize, (u32, u32))>,
}

/// What a core brings to a meeting.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) meeting: Meeting,
    pub(crate) line: u32,
    /// The tile of an exchange.
    pub(crate) values: Vec<f32>,
    /// How many shared tensors it has made.
    pub(crate) made: usize,
    /// The tensors that the cores meet on, in the order in which they were made.
    pub(crate) tensors: Arc<[Shown]>,
}

/// One core's end of what joins two.
pub(crate) struct Link {
    /// Number of this core.
    pub(crate) rank: usize,
    to: Sender<Message>,
    from: Receiver<Message>,
}

impl Link {
    fn pair() -> [Self; 2] {
        let ((to_second, from_first), (to_first, from_second)) = (channel(), channel());
        let end = |rank, to, from| Self { rank, to, from };
        [end(0, to_second, from_second), end(1, to_first, from_first)]
    }

    /// Meets the other core: gives a message for one.
    ///
    /// # Errors
    /// Where the other core is at another place, is through, or has failed.
    pub(crate) fn meet(&self, message: Message) -> Outcome<Message> {
        let (own, line) = (message.meeting.clone(), message.line);
        let stopped = || {
            Failure::new(
                FailureKind::Rejected,
                STOPPED,
                format!(
                    "core {} waits at {} while core {} has come to the end of its program",
                    self.rank,
                    own.describe(line),
                    1 - self.rank
                ),
                IN_STEP,
            )
        };
        self.to.send(message).map_err(|_| stopped())?;
        let other = self.from.recv().map_err(|_| stopped())?;
        if other.meeting != own {
            let mut places = [own.describe(line), other.meeting.describe(other.line)];
            if self.rank == 1 {
                places.reverse();
            }
            return Err(Failure::new(
                FailureKind::Rejected,
                OUT_OF_STEP,
                format!(
                    "core 0 waits at {} while core 1 waits at {}: neither goes on",
                    places[0], places[1]
                ),
                IN_STEP,
            ));
        }
        Ok(other)
    }
}

/// Which part of which tensor a core returns.
#[derive(Debug)]
pub(crate) struct Returned {
    /// How many shared tensors were made before it, if it is shared.
    place: Option<usize>,
    offset: i64,
    dimensions: Vec<Dimension>,
    /// Line it was made at.
    line: u32,
}

impl Returned {
    pub(crate) fn of(view: &View) -> Self {
        Self {
            place: view.storage.sharing.get().map(|it| it.place),
            offset: view.offset,
            dimensions: view.dimensions.to_vec(),
            line: view.storage.line,
        }
    }
}

/// What a core did, and what it returns.
pub(crate) type Done = (Evaluation, Vec<Returned>);

/// Runs `core` once for each of two cores, side by side; the first one's evaluation, with the
/// traces of the others.
pub(crate) fn run(core: impl Fn(Link) -> Outcome<Done> + Sync) -> Outcome<Evaluation> {
    let internal = || {
        Failure::new(
            FailureKind::Limit,
            "evaluation-failed",
            "the evaluation of a core panicked, or no thread could be started",
            "report this kernel; it shows a defect of the evaluation",
        )
    };
    let core = &core;
    let results = std::thread::scope(|scope| {
        let start = |link| {
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || core(link))
        };
        let workers = Link::pair().map(start);
        workers.map(|worker| match worker.map(|it| it.join()) {
            Ok(Ok(result)) => result,
            _ => Err(internal()),
        })
    });
    let is_cause = |it: &&Outcome<Done>| matches!(it, Err(failure) if failure.code != STOPPED);
    if let Some(Err(failure)) = results.iter().find(is_cause) {
        return Err(failure.clone());
    }
    let [first, second] = results.map(|result| {
        result.map_err(|mut failure| {
            // Nothing has failed otherwise: the other core is through.
            failure.code = OUT_OF_STEP.to_owned();
            failure
        })
    });
    let ((mut first, returned), (second, also_returned)) = (first?, second?);
    check_returned((&first, &returned), (&second, &also_returned))?;
    for remark in second.remarks {
        let same = |it: &crate::Remark| (&it.code, it.line) == (&remark.code, remark.line);
        if !first.remarks.iter().any(same) {
            first.remarks.push(remark);
        }
    }
    first.steps += second.steps;
    first.work += second.work;
    first.unwritten = first.unwritten.max(second.unwritten);
    first.depends_on_data |= second.depends_on_data;
    first.other_cores.push(second.trace);
    Ok(first)
}

/// Checks that two cores return the same parts of the same tensors, with the same elements.
fn check_returned(
    (first, returned): (&Evaluation, &[Returned]),
    (second, also_returned): (&Evaluation, &[Returned]),
) -> Outcome<()> {
    let out_of_step = |line: u32, message: String| {
        let remedy =
            "let both cores return the same tensors, and do the same outside of the kernel";
        Err(Failure::new(FailureKind::Rejected, OUT_OF_STEP, message, remedy).at(line))
    };
    if returned.len() != also_returned.len() {
        let counts = (returned.len(), also_returned.len());
        let message = format!("core 0 returns {} tensors, core 1 {}", counts.0, counts.1);
        return out_of_step(0, message);
    }
    let outputs = first.outputs.iter().zip(&second.outputs);
    for ((own, other), (one, two)) in returned.iter().zip(also_returned).zip(outputs) {
        if own.place != other.place {
            let message = format!(
                "core 0 returns the tensor made at line {} where core 1 returns that made at line {}",
                own.line, other.line
            );
            return out_of_step(other.line, message);
        }
        let part = |it: &Returned| (it.offset, it.dimensions.clone());
        if part(own) != part(other) || one.dtype != two.dtype {
            let message = format!(
                "core 0 returns another part of the tensor made at line {} than core 1",
                own.line
            );
            return out_of_step(own.line, message);
        }
        let differs = |(one, two): (&f32, &f32)| {
            one.to_bits() != two.to_bits() && !(is_undefined(*one) && is_undefined(*two))
        };
        let pairs = || one.data.iter().zip(&two.data);
        if one.data.len() == two.data.len()
            && let Some(at) = pairs().position(differs)
            && let Some((one, two)) = pairs().nth(at)
        {
            let message = format!(
                "element {at} of the tensor made at line {} is {one} on core 0 and {two} on core 1",
                own.line
            );
            return out_of_step(own.line, message);
        }
    }
    Ok(())
}
