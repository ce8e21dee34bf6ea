//! What is said of kernels that do what they must not do.

use crate::builder::Program;
use crate::calls::{Offence, Place};
use crate::worker::{Death, name_of};
use autocomp_core::{Diagnostic, Outcome, Severity, SourceLocation, Stage};
use object::{Object, ObjectSection};

const NO_CALLS: &str = "kernels compute on their buffers and static memory, and ask for nothing: no threads, files, clocks, memory, output";

/// Returns the outcome and the finding for an offence in a call.
pub fn verdict(offence: Offence, program: &Program, source: &str) -> (Outcome, Diagnostic) {
    verdict_on(offence, Some(program), source)
}

/// Returns the same; without the program, no line is named.
pub fn verdict_on(
    offence: Offence,
    program: Option<&Program>,
    source: &str,
) -> (Outcome, Diagnostic) {
    let of_death = |outcome, code: &str, message: String, pc, remedy: &str| {
        let location = program.and_then(|program| line_of(program, pc));
        let notes = location.as_ref().and_then(|at| {
            Some(format!(
                "line {}: {}",
                at.line,
                source.lines().nth(at.line as usize - 1)?.trim()
            ))
        });
        let found = Diagnostic {
            stage: Stage::Test,
            severity: Severity::Error,
            code: code.to_owned(),
            message,
            location,
            notes: notes.into_iter().collect(),
            remedy: Some(remedy.to_owned()),
        };
        (outcome, found)
    };
    let (death, place) = match offence {
        Offence::Wrong(found) => return (Outcome::Wrong, *found),
        Offence::WroteBeside(found) => return (Outcome::Illegal, *found),
        Offence::ChangedModes => {
            return of_death(
                Outcome::Illegal,
                "changed-modes",
                "the kernel left rounding, exceptions or flushing of the floating-point unit, or the direction of string instructions changed, or wrote over the stack of its caller".into(),
                None,
                "put back what you change before you return, and stay within local arrays",
            );
        }
        Offence::TooSlow { call_ns, allowed } => {
            return of_death(
                Outcome::TimedOut,
                "time-limit",
                format!(
                    "a call of the kernel takes {:.1} s of a processor; all tests and timings of one kernel may take {} s",
                    call_ns / 1e9,
                    allowed.as_secs()
                ),
                None,
                "make it faster, or the problem smaller",
            );
        }
        Offence::Unsteady {
            least_ns,
            greatest_ns,
        } => {
            return of_death(
                Outcome::Illegal,
                "unsteady-time",
                format!(
                    "calls on inputs of one kind took between {least_ns:.0} and {greatest_ns:.0} ns: they do not all do the work"
                ),
                None,
                "do the same work in every call",
            );
        }
        Offence::Died { death, place } => (death, place),
    };
    match death {
        Death::Exited(code) => of_death(
            Outcome::Crashed,
            "ended-process",
            format!("the kernel ended its process (code {code}) instead of returning"),
            None,
            "return from the entry function",
        ),
        Death::TooLarge { bytes, most } => of_death(
            Outcome::Crashed,
            "static-memory",
            format!("the kernel has {bytes} bytes of static memory, of which it may have {most}"),
            None,
            "make static arrays smaller",
        ),
        Death::NotStarted => of_death(
            Outcome::Crashed,
            "not-started",
            "the kernel's program cannot be started, while one that does nothing can".into(),
            None,
            "leave sections, alignment and loading of the program to the compiler",
        ),
        Death::Killed(libc::SIGSYS) => of_death(
            Outcome::Illegal,
            "system-call",
            "the kernel asked the operating system for something, and was ended for it".into(),
            None,
            NO_CALLS,
        ),
        Death::Killed(signal) => of_death(
            Outcome::Crashed,
            "killed",
            format!("the kernel was killed by signal {signal}; a stack that is too deep does that"),
            None,
            "keep large arrays in static memory, not on the stack",
        ),
        Death::TimedOut => of_death(
            Outcome::TimedOut,
            "time-limit",
            "the kernel did not return within the time limit".into(),
            None,
            "check the bounds and steps of the loops",
        ),
        Death::WorksAfterReturn => of_death(
            Outcome::Illegal,
            "works-after-return",
            "the kernel's process goes on working, or answers, after it said that the call is over"
                .into(),
            None,
            "do all the work before you return",
        ),
        Death::ChangedProcess => of_death(
            Outcome::Illegal,
            "changed-process",
            "the kernel changed its process: threads, or how signals are handled".into(),
            None,
            "compute, and leave the process as it is",
        ),
        Death::SystemCall { number, pc } => of_death(
            Outcome::Illegal,
            "system-call",
            format!(
                "the kernel asked the operating system for something (system call {number}{})",
                name_of(number)
            ),
            Some(pc),
            NO_CALLS,
        ),
        Death::Fault {
            signal,
            address,
            pc,
            write,
            no_address,
            on_stack,
        } => {
            let address = (!no_address).then_some(address);
            // Others give the address of the instruction.
            let is_access = matches!(signal, libc::SIGSEGV | libc::SIGBUS);
            let (outcome, code, message, remedy) = match place {
                place if is_access && address == Some(pc) => (
                    Outcome::Crashed,
                    "wild-access",
                    match place {
                        Some(place) => {
                            format!("the kernel jumps to {place}, where there is no code")
                        }
                        None => format!("the kernel jumps to {pc:#x}, where there is no code"),
                    },
                    "call functions of the kernel only",
                ),
                None if is_access && on_stack => (
                    Outcome::Crashed,
                    "stack-overflow",
                    "the stack overflows: calls nest without an end, or local arrays are too large"
                        .into(),
                    "end the recursion; keep large arrays in static memory, not on the stack",
                ),
                place => fault(signal, address, write, place),
            };
            of_death(outcome, code, message, Some(pc), remedy)
        }
    }
}

impl Offence {
    /// Returns whether an access was refused for its alignment, as far as that can be told.
    pub fn is_misalignment(&self) -> bool {
        match self {
            Self::Died {
                death: Death::Fault {
                    signal, no_address, ..
                },
                ..
            } => *signal == libc::SIGBUS || *signal == libc::SIGSEGV && *no_address,
            _ => false,
        }
    }
}

fn fault(
    signal: i32,
    address: Option<u64>,
    write: bool,
    place: Option<Place>,
) -> (Outcome, &'static str, String, &'static str) {
    match signal {
        libc::SIGILL => (
            Outcome::Crashed,
            "illegal-instruction",
            "an instruction that this processor does not have, or a trap that the compiler put where behaviour is undefined".into(),
            "use what the target has; do not run off the end of a function",
        ),
        libc::SIGFPE => (
            Outcome::Crashed,
            "arithmetic-trap",
            "an integer was divided by zero, or the quotient does not fit".into(),
            "check divisors",
        ),
        _ => {
            let did = if write { "writes" } else { "reads" };
            match place {
                Some(place @ Place::Beside(_)) => (
                    Outcome::Illegal,
                    if write { "out-of-bounds-write" } else { "out-of-bounds-read" },
                    format!("the kernel {did} {place}"),
                    "stay within the extents of the buffers",
                ),
                Some(place @ Place::Element(_)) => (
                    Outcome::Illegal,
                    "input-written",
                    format!("the kernel {did} {place}, which it must not change"),
                    "work on a copy in static memory",
                ),
                None => (
                    Outcome::Crashed,
                    "wild-access",
                    match address {
                        Some(address) => format!("the kernel {did} at address {address:#x}, where it has no memory"),
                        None => "the kernel used an instruction that is not allowed here (clocks, time-stamp counters), an address that is none, or one without the alignment that its instruction needs".into(),
                    },
                    "use the buffers, static memory and the stack only",
                ),
            }
        }
    }
}

/// Returns the line of the kernel that the instruction at `pc` belongs to.
fn line_of(program: &Program, pc: Option<u64>) -> Option<SourceLocation> {
    let pc = pc?;
    let bytes = std::fs::read(program.path()).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    let section = |id: addr2line::gimli::SectionId| {
        let data = file
            .section_by_name(id.name())
            .and_then(|section| section.data().ok())
            .unwrap_or(&[]);
        Ok::<_, addr2line::gimli::Error>(addr2line::gimli::EndianSlice::new(
            data,
            addr2line::gimli::LittleEndian,
        ))
    };
    let dwarf = addr2line::gimli::Dwarf::load(section).ok()?;
    let context = addr2line::Context::from_dwarf(dwarf).ok()?;
    let found = context.find_location(pc).ok()??;
    let name = found.file?.rsplit('/').next()?.to_owned();
    // Lines of the runtime say nothing to the author of a kernel.
    let is_kernel = !matches!(
        name.as_str(),
        "runner.c" | "math.c" | "kernel.h" | "platform.h"
    );
    let line = found.line?;
    is_kernel.then_some(SourceLocation {
        file: name,
        line,
        column: found.column,
    })
}
