//! What is told of a finding of the simulator.

use crate::bench::Ready;
use crate::compiler::{KERNEL_FILE, plain_name};
use crate::feedback::words::source_name;
use crate::texts::TEXTS;
use autocomp_catalog::{Buffer, Problem};
use autocomp_core::{Diagnostic, Outcome, Severity, SourceLocation, Stage};
use autocomp_cuda_sim::machine::{Fault, Finding, HOST, Refusal, Thread};
use autocomp_cuda_sim::ptx::Space;

/// Writes an index of a thread or a block.
fn index([x, y, z]: [u32; 3]) -> String {
    format!("({x}, {y}, {z})")
}

/// Names a thread.
pub(crate) fn named(thread: &Thread) -> String {
    let (of_thread, of_block) = (index(thread.thread), index(thread.block));
    format!("thread {of_thread} of block {of_block}")
}

/// Says what is wrong with a kernel and how it ended.
pub(crate) fn diagnose(
    problem: &Problem,
    (source, ready): (&str, &Ready),
    finding: &Finding,
) -> (Outcome, Diagnostic) {
    let buffer = |area: &Option<u32>| match area {
        Some(number) => match problem.buffers.get(*number as usize) {
            Some(buffer) => format!("the buffer {}", buffer.name),
            None => format!(
                "piece {} of the memory that `solution` asked for",
                *number as usize - problem.buffers.len()
            ),
        },
        None => "a variable of the module".to_owned(),
    };
    let element = |area: &Option<u32>, offset: u64| match area
        .and_then(|it| problem.buffers.get(it as usize))
    {
        Some(buffer) => element(buffer, offset),
        None => format!("byte {offset}"),
    };
    let is_of_host = finding.kernel == HOST;
    let who = match is_of_host {
        true => "a call of the host function".to_owned(),
        false => named(&finding.thread),
    };
    let is_same_block = |other: &Thread| other.block == finding.thread.block;
    let other_name = |other: &Option<Thread>| match other {
        Some(other) if is_same_block(other) => {
            format!("thread {} of the same block", index(other.thread))
        }
        Some(other) => named(other),
        None => "threads of several blocks".to_owned(),
    };
    let (outcome, code, message) = match &finding.fault {
        Fault::OutOfBounds {
            space,
            area,
            size,
            distance,
            bytes,
            write,
        } => {
            let place = match space {
                Space::Shared => "shared memory".to_owned(),
                Space::Local => "an array of its own".to_owned(),
                Space::Param => "the arguments".to_owned(),
                _ => buffer(area),
            };
            let (verb, where_) = (
                if *write { "writes" } else { "reads" },
                match distance {
                    ..0 => format!("{} bytes before the begin of", distance.unsigned_abs()),
                    0 => "right behind".to_owned(),
                    _ => format!("{distance} bytes behind"),
                },
            );
            (
                Outcome::Illegal,
                "out-of-bounds",
                format!("{who} {verb} {bytes} bytes {where_} {place}, which has {size} bytes"),
            )
        }
        Fault::WildAddress {
            address,
            bytes,
            write,
        } => (
            Outcome::Crashed,
            "wild-address",
            format!(
                "{who} {} {bytes} bytes {}",
                if *write { "writes" } else { "reads" },
                Nowhere::of(*address, ready).words(*address)
            ),
        ),
        Fault::Misaligned { address, bytes } => (
            Outcome::Crashed,
            "misaligned-access",
            format!(
                "{who} accesses {bytes} bytes at an address that {bytes} does not divide ({address:#x})"
            ),
        ),
        Fault::ReadOnly { area: Some(area) } => (
            Outcome::Wrong,
            "input-changed",
            format!(
                "{who} writes {}, which is an input: not even to put back what was there",
                buffer(&Some(*area))
            ),
        ),
        Fault::ReadOnly { area: None } => (
            Outcome::Illegal,
            "read-only",
            format!("{who} writes a variable of the module that may only be read"),
        ),
        Fault::Freed { area, write } => (
            Outcome::Illegal,
            "use-after-free",
            format!(
                "{who} {} {}, which `cudaFree` has given back before",
                if *write { "writes" } else { "reads" },
                buffer(area)
            ),
        ),
        Fault::BadFree { address } => (
            Outcome::Crashed,
            "bad-free",
            format!(
                "{who} gives back {address:#x}, which is no memory that `cudaMalloc` has given and that is still there"
            ),
        ),
        Fault::BarrierSize { threads } => (
            Outcome::Illegal,
            "barrier-size",
            format!(
                "{who} waits at a barrier for {threads} threads, which are no whole warps: the vendor's assembler refuses it"
            ),
        ),
        Fault::Race {
            space,
            area,
            offset,
            other,
            writes,
            ..
        } => {
            let place = match space {
                Space::Shared => format!("byte {offset} of shared memory"),
                _ => format!("{} of {}", element(area, *offset), buffer(area)),
            };
            let verb = |write: bool| if write { "writes" } else { "reads" };
            let other = other_name(other);
            (
                Outcome::Illegal,
                "race",
                format!(
                    "{who} {} {place}, which {other} {}, and nothing orders the two",
                    verb(writes[1]),
                    if writes[0] { "writes" } else { "reads" }
                ),
            )
        }
        Fault::Changed {
            area,
            offset,
            other,
        } => {
            let other = other_name(other);
            (
                Outcome::Illegal,
                "not-constant",
                format!(
                    "{who} reads {} of {} by the path for what never changes (`__ldg`, `ld.global.nc`), and {other} has written it in the same launch",
                    element(area, *offset),
                    buffer(area)
                ),
            )
        }
        Fault::Uninitialised {
            space,
            area,
            offset,
        } => {
            let place = match space {
                Space::Shared => format!("byte {offset} of shared memory"),
                _ => format!("{} of {}", element(area, *offset), buffer(area)),
            };
            (
                Outcome::Illegal,
                "uninitialised",
                format!("{who} reads {place}, which nobody has written"),
            )
        }
        Fault::DivergedBarrier { other } => (
            Outcome::Illegal,
            "diverged-barrier",
            format!(
                "{who} waits at this barrier while others of its block take another way{}",
                match other.0 {
                    0 => String::new(),
                    line => format!(", to line {line}"),
                }
            ),
        ),
        Fault::Deadlock => (
            Outcome::TimedOut,
            "deadlock",
            format!("{who} waits for threads that never come"),
        ),
        Fault::MissingThreads { members, missing } => (
            Outcome::Illegal,
            "missing-threads",
            format!(
                "{who} takes part in a warp operation of the threads {members:#x}, of which {missing:#x} do not come here"
            ),
        ),
        Fault::NotNamed { members } => (
            Outcome::Illegal,
            "not-named",
            format!("{who} takes part in a warp operation whose mask {members:#x} leaves it out"),
        ),
        Fault::LeftInFlight { copies } => (
            Outcome::Illegal,
            "left-in-flight",
            format!("{who} ends while {copies} of its asynchronous copies are under way"),
        ),
        Fault::Trap => (
            Outcome::Crashed,
            "trap",
            format!("{who} stops the kernel (`__trap`, `assert`, or code that cannot be reached)"),
        ),
        Fault::TooLong { steps } => (
            Outcome::TimedOut,
            "too-long",
            format!("the kernel takes more than {steps} instructions of warps"),
        ),
        Fault::WaitsForOthers { steps } => (
            Outcome::TimedOut,
            "waits-for-others",
            format!(
                "{who} waits in a loop for what another thread writes, and nobody has after {steps} instructions of warps; blocks begin in any order here, as on a device, and one that others wait for may begin when they end"
            ),
        ),
        Fault::BadLaunch { reason, .. } => (
            Outcome::Illegal,
            "bad-launch",
            format!("no such GPU accepts the launch: {reason}"),
        ),
        Fault::NotSimulated { what } => (
            Outcome::BuildFailed,
            "not-simulated",
            format!("the simulated GPU does not have {what}"),
        ),
    };
    let remedy = match &finding.fault {
        Fault::OutOfBounds { .. } if is_of_host => "out-of-bounds-of-host",
        Fault::OutOfBounds {
            space: Space::Shared,
            size: 0,
            ..
        } => "out-of-bounds-of-no-shared",
        Fault::Race { other, .. } if !other.as_ref().is_some_and(is_same_block) => "race-of-blocks",
        Fault::Race {
            same_warp: true, ..
        } => "race-of-warp",
        Fault::WildAddress { address, .. } => Nowhere::of(*address, ready).remedy(),
        Fault::BadLaunch { refusal, .. } => of_refusal(*refusal),
        _ => code,
    };
    let line = finding.line.0;
    let text = source.lines().nth((line as usize).wrapping_sub(1));
    let mut notes: Vec<String> = text
        .map(|text| text.trim().to_owned())
        .into_iter()
        .collect();
    notes.push(format!("kernel: {}", source_name(&finding.kernel)));
    let found = Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code: code.to_owned(),
        message,
        location: (line != 0).then(|| SourceLocation {
            file: KERNEL_FILE.to_owned(),
            line,
            column: None,
        }),
        notes,
        remedy: TEXTS.remedy(remedy),
    };
    (outcome, found)
}

/// Returns the name of the remedy for a launch that no device accepts.
fn of_refusal(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::Nothing => "bad-launch-of-nothing",
        Refusal::Depth => "bad-launch-of-depth",
        Refusal::Threads => "bad-launch-of-threads",
        Refusal::Bounds => "bad-launch-of-bounds",
        Refusal::Grid => "bad-launch-of-grid",
        Refusal::Blocks => "bad-launch-of-blocks",
        Refusal::StaticShared => "bad-launch-of-static-shared",
        Refusal::DynamicShared => "bad-launch-of-dynamic-shared",
        Refusal::Shared => "bad-launch-of-shared",
        Refusal::Arguments => "bad-launch-of-arguments",
    }
}

/// Bytes behind a null pointer that are taken to be meant by one.
const NEAR_NULL: u64 = 4096;

/// What an address is at which the device has nothing.
enum Nowhere<'a> {
    Null,
    /// In a variable of the host part, of this name.
    Host(&'a str),
    /// In what the host part has in place of the variable of the device of this name.
    Symbol(&'a str),
    Unknown,
}

impl<'a> Nowhere<'a> {
    fn of(address: u64, ready: &'a Ready) -> Self {
        if address < NEAR_NULL {
            return Self::Null;
        }
        let mut variables = ready.recording.variables.iter();
        match variables.find(|it| it.addresses.contains(&address)) {
            Some(it) if ready.module.variable_address(&it.name).is_some() => {
                Self::Symbol(plain_name(&it.name))
            }
            Some(it) => Self::Host(plain_name(&it.name)),
            None => Self::Unknown,
        }
    }

    /// Says where it is, to follow "reads 4 bytes".
    fn words(&self, address: u64) -> String {
        match self {
            Self::Null if address == 0 => "at a null pointer".to_owned(),
            Self::Null => format!("{address} bytes behind a null pointer"),
            Self::Host(name) => {
                format!("in `{name}`, a variable of the host function, which is not on the device")
            }
            Self::Symbol(name) => {
                format!("in `{name}` as the host function has it, which is not on the device")
            }
            Self::Unknown => format!("at {address:#x}, where nothing is"),
        }
    }

    /// Returns the name of the remedy.
    fn remedy(&self) -> &'static str {
        match self {
            Self::Null => "wild-address-of-null",
            Self::Host(_) => "wild-address-of-host",
            Self::Symbol(_) => "wild-address-of-symbol",
            Self::Unknown => "wild-address",
        }
    }
}

fn element(buffer: &Buffer, offset: u64) -> String {
    let element = offset as usize / buffer.dtype.bytes();
    autocomp_eval::comparison::place(buffer, element)
}
