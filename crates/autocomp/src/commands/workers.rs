//! `autocomp workers`: who is there, and what they do.

use crate::error::CliError;
use crate::exit_code;
use crate::output::Output;
use crate::queueing::{access, queue_error};
use crate::table::{Cell, Table};
use autocomp_queue::{Presence, Server, State, heard, prometheus};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;

/// How far clocks may be apart without a word: answers take their time on the way.
const SKEW_MS: u64 = 2000;

/// Show who works for a queue, and what they do
///
/// Asks all of them, and listens for a while.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Address of the queue, such as `nats://HOST`
    #[arg(long, value_name = "ADDRESS", env = "AUTOCOMP_QUEUE")]
    queue: String,
    /// Access file of the queue, which names the files with whatever is secret
    #[arg(long, value_name = "FILE", env = "AUTOCOMP_QUEUE_ACCESS")]
    queue_access: Option<PathBuf>,
    /// Seconds to listen
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    listen: f64,
    /// Print the figures in Prometheus' text format
    #[arg(long)]
    metrics: bool,
}

/// The result; field names are stable.
#[derive(Serialize)]
struct Report<'a> {
    workers: Vec<Row<'a>>,
}

/// One worker.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    presence: &'a Presence,
    /// How far its clock is ahead, milliseconds, the time on the way included.
    clock_skew_ms: i64,
    answered_per_minute: f64,
}

/// Runs the command.
pub fn run(arguments: &Arguments, output: Output) -> Result<u8, CliError> {
    let access = access(&arguments.queue, arguments.queue_access.as_deref())?;
    if arguments.metrics && output.is_json() {
        return Err(
            CliError::usage("`--metrics` and `--json` are two formats").hint("pass one of them")
        );
    }
    if !(0.1..=600.0).contains(&arguments.listen) {
        return Err(CliError::usage(
            "`--listen` is not between 0.1 and 600 seconds",
        ));
    }
    let patience = Duration::from_secs_f64(arguments.listen);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CliError::environment(format!("failed to start threads: {error}")))?;
    let workers = runtime.block_on(async {
        let server = Server::connect(&access, "autocomp workers").await?;
        let workers = heard(&server, patience).await?;
        if workers.is_empty() {
            // Where nobody can work, that is what there is to say.
            server.streams().await?;
        }
        Ok(workers)
    });
    let workers = workers.map_err(|error| queue_error(&error))?;
    if arguments.metrics {
        output.file(&prometheus(&workers))?;
        return Ok(exit_code::SUCCESS);
    }
    let rows = workers
        .iter()
        .map(|(presence, skew)| Row {
            presence,
            clock_skew_ms: *skew,
            answered_per_minute: rate(presence),
        })
        .collect();
    let report = Report { workers: rows };
    output.result(&report, || text(&report.workers, output))?;
    Ok(exit_code::SUCCESS)
}

fn rate(presence: &Presence) -> f64 {
    let minutes = presence.up_seconds.max(1) as f64 / 60.0;
    (presence.counts.answered as f64 / minutes * 10.0).round() / 10.0
}

fn text(rows: &[Row<'_>], output: Output) -> String {
    if rows.is_empty() {
        return "no worker is there; `autocomp worker --queue ADDRESS` starts one".to_owned();
    }
    let table = Table {
        head: &[
            "worker",
            "machine",
            "version",
            "running",
            "answered",
            "a minute",
            "faults",
            "handed back",
        ],
        right: &[3, 4, 5, 6, 7],
        flexible: &[0, 1],
        optional: &[2, 7, 5],
    };
    let mut lines = Vec::new();
    let mut notes = Vec::new();
    for row in rows {
        let it = row.presence;
        let running: usize = it.stands.values().map(|stand| stand.running).sum();
        lines.push(
            [
                it.worker.clone(),
                it.machine.clone(),
                it.program.clone(),
                format!("{running} of {}", it.devices),
                it.counts.answered.to_string(),
                row.answered_per_minute.to_string(),
                it.counts.faults.to_string(),
                it.counts.handed_back.to_string(),
            ]
            .map(Cell::from)
            .to_vec(),
        );
        for stand in it.stands.values() {
            let (worker, title, user) = (&it.worker, &stand.title, &stand.user);
            notes.push(match &stand.state {
                State::Opening => format!("{worker} opens {title} for {user}"),
                State::Opened(_) => format!("{worker} works for {user}: {title}"),
                State::Spent(how) => format!("{worker} takes no job for {title}: {how}"),
                State::Differs(how) => format!("{worker} refuses {title} of {user}: {how}"),
                State::Unable { message, .. } => {
                    format!("{worker} cannot work for {title} of {user}: {message}")
                }
            });
        }
        if SKEW_MS < row.clock_skew_ms.unsigned_abs() {
            let seconds = row.clock_skew_ms as f64 / 1000.0;
            notes.push(format!("the clock of {} is {seconds:+.1} s off", it.worker));
        }
    }
    let table = table.text(&lines, output.width(), output.is_coloured());
    format!("{table}{}", notes.join("\n"))
}
