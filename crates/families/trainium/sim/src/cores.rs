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
use crate::tensor::accesses::Touched;
use crate::tensor::dtype::Dtype;

/// Code of the failure of a core whose partner failed.
const STOPPED: &str = "other-core-stopped";

/// Where two cores meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meeting {
    /// A barrier on a shared tensor, by its place among them.
    Barrier(usize),
    /// Each sends a tile to the other.
    Exchange {
        pipe: i64,
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
            Self::Exchange { pipe, dtype, shape } => format!(
                "the sendrecv of line {line} with pipe_id={pipe}, of {}{shape:?}",
                dtype.name()
            ),
            Self::End => "the end of the kernel".to_owned(),
        }
    }
}

/// What one core shows the other of a shared tensor.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    /// Line it was made at.
    pub(crate) line: u32,
    /// Whether any of it was written since it was made.
    pub(crate) is_written: bool,
    pub(crate) touched: Touched,
    /// The elements of the touched span as memory holds them.
    pub(crate) data: Vec<f32>,
}

/// What a core brings to a meeting.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) meeting: Meeting,
    pub(crate) line: u32,
    /// The tile of an exchange.
    pub(crate) values: Vec<f32>,
    /// The tensors that the cores meet on.
    pub(crate) tensors: Arc<[Shown]>,
}

/// One core's end of what joins two.
pub(crate) struct Link {
    /// Number of this core.
    pub(crate) rank: usize,
    to: Sender<Message>,
    from: Receiver<Message>,
    /// Whether a kernel of several cores is running.
    pub(crate) is_running: bool,
}

impl Link {
    fn pair() -> [Self; 2] {
        let ((to_second, from_first), (to_first, from_second)) = (channel(), channel());
        let end = |rank, to, from| Self {
            rank,
            to,
            from,
            is_running: false,
        };
        [end(0, to_second, from_second), end(1, to_first, from_first)]
    }

    /// Meets the other core: gives a message for one.
    ///
    /// # Errors
    /// Where the other core is at another place, or has failed.
    pub(crate) fn meet(&self, message: Message) -> Outcome<Message> {
        let stopped = || {
            Failure::new(
                FailureKind::Limit,
                STOPPED,
                "the other core has stopped",
                "see what stopped it",
            )
        };
        let (own, line) = (message.meeting.clone(), message.line);
        self.to.send(message).map_err(|_| stopped())?;
        let other = self.from.recv().map_err(|_| stopped())?;
        if other.meeting != own {
            let mut places = [own.describe(line), other.meeting.describe(other.line)];
            if self.rank == 1 {
                places.reverse();
            }
            return Err(Failure::new(
                FailureKind::Rejected,
                "cores-out-of-step",
                format!(
                    "core 0 waits at {} while core 1 waits at {}: neither goes on",
                    places[0], places[1]
                ),
                "let both cores pass the same barriers and exchanges in the same order",
            ));
        }
        Ok(other)
    }
}

/// Runs `core` once for each of two cores, side by side; the first one's evaluation, with the
/// traces of the others.
pub(crate) fn run(core: impl Fn(Link) -> Outcome<Evaluation> + Sync) -> Outcome<Evaluation> {
    let internal = || {
        Failure::new(
            FailureKind::Limit,
            "evaluation-failed",
            "the evaluation of a core panicked, or no thread could be started",
            "report this kernel; it shows a defect of the evaluation",
        )
    };
    let core = &core;
    let results: Vec<Outcome<Evaluation>> = std::thread::scope(|scope| {
        let start = |link| {
            std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, move || core(link))
        };
        let workers = Link::pair().map(start);
        let joined = workers.map(|worker| match worker.map(|it| it.join()) {
            Ok(Ok(result)) => result,
            _ => Err(internal()),
        });
        joined.into()
    });
    let is_cause =
        |it: &&Outcome<Evaluation>| matches!(it, Err(failure) if failure.code != STOPPED);
    if let Some(Err(failure)) = results.iter().find(is_cause) {
        return Err(failure.clone());
    }
    let mut evaluations = results
        .into_iter()
        .collect::<Outcome<Vec<_>>>()?
        .into_iter();
    let mut first = evaluations.next().ok_or_else(internal)?;
    for other in evaluations {
        let shapes = |it: &Evaluation| -> Vec<_> {
            it.outputs
                .iter()
                .map(|it| (it.dtype, it.shape.clone()))
                .collect()
        };
        if shapes(&first) != shapes(&other) {
            return Err(Failure::new(
                FailureKind::Rejected,
                "cores-out-of-step",
                "the cores return tensors of other shapes",
                "let both cores return the same tensors",
            ));
        }
        for remark in other.remarks {
            let same = |it: &crate::Remark| (&it.code, it.line) == (&remark.code, remark.line);
            if !first.remarks.iter().any(same) {
                first.remarks.push(remark);
            }
        }
        first.steps += other.steps;
        first.work += other.work;
        first.unwritten = first.unwritten.max(other.unwritten);
        first.depends_on_data |= other.depends_on_data;
        first.other_cores.push(other.trace);
    }
    Ok(first)
}
