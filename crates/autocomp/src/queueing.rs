//! Workers on other machines: where their queue is, and how it is reached.

use crate::error::CliError;
use crate::output::Output;
use autocomp_eval::isolation::Isolation;
use clap::Args;
use std::path::PathBuf;

/// Where to evaluate, if not here
#[derive(Clone, Debug, Default, Args)]
pub struct QueueOptions {
    /// Have kernels evaluated by the workers of this queue, such as `nats://HOST`
    /// [default: evaluate on this machine]
    #[arg(long, value_name = "ADDRESS", env = "AUTOCOMP_QUEUE")]
    queue: Option<String>,
    /// Access file of the queue, which names the files with whatever is secret
    #[arg(long, value_name = "FILE", env = "AUTOCOMP_QUEUE_ACCESS")]
    queue_access: Option<PathBuf>,
    /// Share of the workers beside others that use them
    #[arg(long, value_name = "N", default_value_t = 1, requires = "queue", value_parser = clap::value_parser!(u32).range(1..=1000))]
    queue_weight: u32,
    /// Seconds after which a job goes to another worker if its worker is not heard of
    #[arg(long, value_name = "SECONDS", default_value_t = 30, requires = "queue", value_parser = clap::value_parser!(u64).range(1..=3600))]
    queue_lease: u64,
    /// Mix what several devices of a kind measure; otherwise one run is measured on one device
    #[arg(long, requires = "queue")]
    pub any_machine: bool,
}

impl QueueOptions {
    /// Returns whether there is a queue.
    pub fn is_named(&self) -> bool {
        self.queue.is_some()
    }

    /// Returns those who evaluate through the queue, if there is one. Costs are measured on the
    /// device `held` (`MACHINE/NUMBER`), if they were before.
    #[cfg(feature = "queue")]
    pub fn connect(
        &self,
        title: &str,
        held: Option<&str>,
        output: Output,
    ) -> Result<Option<Isolation>, CliError> {
        use autocomp_eval::isolation::{IsolationLimits, Link};
        use autocomp_queue::{Coordinator, CoordinatorOptions, QueueLink};
        use std::sync::Arc;
        use std::time::Duration;

        let Some(access) = self.access()? else {
            return Ok(None);
        };
        let session = crate::environment::random_bytes::<16>().map_err(CliError::environment)?;
        let coordinator = Coordinator::connect(
            &access,
            CoordinatorOptions {
                title: title.to_owned(),
                session: format!("{:032x}", u128::from_le_bytes(session)),
                weight: self.queue_weight,
                any_machine: self.any_machine,
                held: held.map(str::parse).transpose().map_err(CliError::input)?,
                lease: Duration::from_secs(self.queue_lease),
                beat: BEAT.min(Duration::from_secs(self.queue_lease)),
                tell: Box::new(move |line| output.message(line)),
            },
        )
        .map_err(|error| queue_error(&error))?;
        let coordinator = Arc::new(coordinator);
        let connect = move || Ok(Box::new(QueueLink::new(coordinator.clone())) as Box<dyn Link>);
        let limits = IsolationLimits::standard();
        Ok(Some(Isolation::new(Box::new(connect), limits)))
    }

    /// Says that this program was built without queues, if one is asked for.
    #[cfg(not(feature = "queue"))]
    pub fn connect(
        &self,
        _title: &str,
        _held: Option<&str>,
        _output: Output,
    ) -> Result<Option<Isolation>, CliError> {
        match &self.queue {
            None => Ok(None),
            Some(_) => Err(CliError::usage("this autocomp was built without queues")
                .hint("build it with the feature `queue`")),
        }
    }

    #[cfg(feature = "queue")]
    fn access(&self) -> Result<Option<autocomp_queue::Access>, CliError> {
        let Some(address) = &self.queue else {
            return match self.queue_access {
                Some(_) => Err(CliError::usage("an access file is given, but no queue")
                    .hint("name the queue with `--queue ADDRESS`")),
                None => Ok(None),
            };
        };
        access(address, self.queue_access.as_deref()).map(Some)
    }
}

/// How often workers and searches tell each other that they are there.
#[cfg(feature = "queue")]
pub const BEAT: std::time::Duration = std::time::Duration::from_secs(5);

/// Returns how a queue is reached.
#[cfg(feature = "queue")]
pub fn access(
    address: &str,
    file: Option<&std::path::Path>,
) -> Result<autocomp_queue::Access, CliError> {
    if let Some(file) = file.filter(|it| !it.exists()) {
        return Err(
            CliError::usage(format!("there is no access file {}", file.display())).hint(
                "`autocomp worker init` writes access files; docs/workers.md says what they hold",
            ),
        );
    }
    autocomp_queue::Access::new(address, file).map_err(|error| queue_error(&error))
}

/// Says what is wrong with a queue.
#[cfg(feature = "queue")]
pub fn queue_error(error: &autocomp_queue::QueueError) -> CliError {
    let kind = match error {
        autocomp_queue::QueueError::Address { .. } | autocomp_queue::QueueError::Usage { .. } => {
            CliError::usage(error.to_string())
        }
        autocomp_queue::QueueError::Access { .. } => CliError::input(error),
        _ => CliError::environment(error),
    };
    kind.hint(error.remedy())
}
