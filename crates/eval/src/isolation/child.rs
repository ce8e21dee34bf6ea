//! The child's side: opens benches and evaluates, one request after the other.

use super::IsolationLimits;
use super::link::{Reply, Request};
use super::wire::{Failure, read_frame, write_frame};
use crate::evaluator::EvalError;
use crate::family::Bench;
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;

/// The most characters of what a panic said that are handed on.
const MOST_OF_A_PANIC: usize = 2000;

/// Of several processes the system is to take this one if memory runs out: it is started
/// again, the one that it works for is not.
const FIRST_TO_GO: &str = "500";

/// Answers requests that come through `input` until it ends, and then ends the process, also
/// in the middle of an evaluation: nobody is there to hear of it.
///
/// `open` opens the bench of a setup and tells lines before what takes long. The process gets
/// the limits that requests name, and leaves no core dumps.
///
/// # Errors
/// `output` cannot be written.
pub fn serve(
    mut input: impl Read + Send + 'static,
    mut output: impl Write,
    open: impl Fn(&str, &mut dyn FnMut(&str)) -> Result<Arc<dyn Bench>, EvalError>,
) -> io::Result<()> {
    limit(Resource::Core, 0);
    let _ = fs::write("/proc/self/oom_score_adj", FIRST_TO_GO);
    let (sender, requests) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        while let Ok(request) = read_frame::<Request>(&mut input) {
            if sender.send(request).is_err() {
                return;
            }
        }
        std::process::exit(0);
    })?;
    let mut opened: Option<(Arc<dyn Bench>, IsolationLimits)> = None;
    for request in requests {
        let tell = &mut |line: &str| {
            let line = line.to_owned();
            // Whoever does not hear this will not hear the answer either.
            let _ = write_frame(&mut output, &Reply::Told { line });
        };
        let reply = catch_unwind(AssertUnwindSafe(|| {
            answer(request, &mut opened, &open, tell)
        }));
        let reply = match reply {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => Reply::Failed(Failure::from(error)),
            Err(panic) => Reply::Panicked {
                message: panic_text(&*panic),
            },
        };
        write_frame(&mut output, &reply)?;
    }
    Ok(())
}

fn answer(
    request: Request,
    opened: &mut Option<(Arc<dyn Bench>, IsolationLimits)>,
    open: impl Fn(&str, &mut dyn FnMut(&str)) -> Result<Arc<dyn Bench>, EvalError>,
    tell: &mut dyn FnMut(&str),
) -> Result<Reply, EvalError> {
    if let Request::Open { setup, limits } = request {
        limit(Resource::As, limits.memory_bytes);
        limit_processor_time(&limits);
        let bench = open(&setup, tell)?;
        let facts = bench.facts();
        if facts.key("") != bench.key("") || facts.identity != bench.identity() {
            return Err(EvalError::Fault(
                "the keys of the bench are not those that its facts say".to_owned(),
            ));
        }
        *opened = Some((bench, limits));
        return Ok(Reply::Opened { facts });
    }
    let Some((bench, limits)) = opened else {
        return Err(EvalError::Fault("no bench is open".to_owned()));
    };
    limit_processor_time(limits);
    request.ask(&**bench)
}

/// Sets how much processor time is left, counted from now.
fn limit_processor_time(limits: &IsolationLimits) {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.max(0) as u64;
    limit(Resource::Cpu, used.saturating_add(limits.cpu_seconds));
}

/// Sets a limit, which processes that this one starts may raise again: they have their own.
fn limit(resource: Resource, value: u64) {
    let mut limit = getrlimit(resource);
    limit.current = Some(limit.maximum.map_or(value, |most| value.min(most)));
    // Lowering a limit, or raising it up to the highest allowed, is never refused.
    let _ = setrlimit(resource, limit);
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message")
        .chars()
        .take(MOST_OF_A_PANIC)
        .collect()
}
