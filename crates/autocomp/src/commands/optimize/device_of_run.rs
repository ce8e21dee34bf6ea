//! On which device a run was measured: it goes on there, unless told to mix.

use super::Arguments;
use crate::error::CliError;
use crate::measuring::Bench;
use autocomp_core::Event;
use autocomp_runner::RunView;

/// What the last cost of a run that goes on was measured on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Measured {
    /// No cost is there yet.
    Nowhere,
    /// The machine that searched.
    Here,
    /// A device of a worker's (`MACHINE/NUMBER`), or a worker that simulated.
    There(Option<String>),
}

impl Measured {
    /// Finds it in the journal.
    pub(super) fn of(view: &RunView) -> Self {
        let mut evaluations = view.events.iter().rev().filter_map(|it| match &it.event {
            Event::Evaluated(it) => Some(&it.evaluation),
            Event::Confirmed(it) => Some(&it.evaluation),
            _ => None,
        });
        match evaluations.find(|it| it.measurement.is_some()) {
            None => Self::Nowhere,
            Some(it) if it.worker.is_none() => Self::Here,
            Some(it) => Self::There(it.device.clone()),
        }
    }

    /// Refuses to measure on one machine what was measured on another one.
    pub(super) fn check(&self, arguments: &Arguments, bench: &Bench) -> Result<(), CliError> {
        let queue = &arguments.queue;
        if bench.facts.device.is_none() || queue.any_machine {
            return Ok(());
        }
        let (message, remedy) = match self {
            Self::Here if queue.is_named() => (
                "the run was measured on this machine, and a worker would go on on another one"
                    .to_owned(),
                "leave `--queue` out",
            ),
            Self::There(Some(device)) if !queue.is_named() => (
                format!(
                    "the run was measured on {device} by a worker, and would go on on this machine"
                ),
                "name the queue with `--queue ADDRESS`",
            ),
            _ => return Ok(()),
        };
        Err(CliError::usage(message).hint(format!("{remedy}, or mix with `--any-machine`")))
    }
}

/// Returns the device that a run that goes on was measured on by a worker.
pub(super) fn held(arguments: &Arguments) -> Option<String> {
    let folder = arguments
        .resume
        .as_ref()
        .filter(|_| arguments.queue.is_named())?;
    // What is wrong with the folder is said when the run is prepared.
    match Measured::of(&RunView::open(folder).ok()?) {
        Measured::There(device) => device,
        _ => None,
    }
}
