//! Diagnostics of what a running kernel did.

use crate::image::ImageError;
use crate::platform::Platform;
use crate::session::{Session, most_work};
use autocomp_catalog::Buffer;
use autocomp_core::{Diagnostic, Outcome, SourceLocation, Stage};
use autocomp_eval::comparison::place;
use autocomp_riscv::{Fault, FaultKind, Limits};
use autocomp_riscv_machine::{Program, Spin, Stop};
use std::collections::BTreeSet;

/// What to do about loops that do not end.
pub const UNBOUNDED_LOOPS: &str =
    "check the conditions and steps of these loops; loops that do end are far too slow";

/// The rule of faults where data would be executed.
const EXECUTES_DATA: &str = "execute-data";

/// The kernel's file name and text, for locations.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    /// Name of the file.
    pub file: &'a str,
    /// Its text.
    pub source: &'a str,
}

impl Kernel<'_> {
    /// Returns the kernel line of an instruction: for code from the target's
    /// header, the line that used it.
    pub fn location(&self, program: &Program, pc: u64) -> Option<SourceLocation> {
        let frames = program.frames(pc);
        let frame = frames
            .iter()
            .find(|frame| base_name(&frame.file) == self.file)?;
        Some(SourceLocation {
            file: self.file.to_owned(),
            line: frame.line,
            column: None,
        })
    }

    /// Returns the text of a line without blanks around it.
    #[must_use]
    pub fn text(&self, line: u32) -> Option<&str> {
        let line = line.checked_sub(1)? as usize;
        Some(self.source.lines().nth(line)?.trim())
    }

    /// Returns the text of a line as a note.
    fn line(&self, line: u32) -> Option<String> {
        let text = self.text(line)?;
        let text: String = text.chars().take(200).collect();
        (!text.is_empty()).then(|| format!("line {line}: {text}"))
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the diagnostic for a linked program that is not run.
pub fn no_image(error: &ImageError) -> Diagnostic {
    let (code, remedy) = match error {
        ImageError::TooLarge { .. } => (
            "program-too-large",
            "make static arrays smaller, and their alignment",
        ),
        ImageError::Shape(_) => (
            "program-shape",
            "leave out what is about linking: a kernel is code and data",
        ),
    };
    Diagnostic {
        stage: Stage::Build,
        remedy: Some(remedy.into()),
        ..Diagnostic::error(Stage::Test, code, error.to_string())
    }
}

/// Returns outcome and diagnostic for a call that did not complete.
pub fn stopped<P: Platform>(
    stop: &Stop,
    session: &mut Session<'_, P>,
    kernel: Kernel<'_>,
    limits: Limits,
) -> (Outcome, Diagnostic) {
    match stop {
        Stop::Fault(fault) => fault_finding(fault, session, kernel),
        Stop::Limit(spin) => {
            let Limits {
                instructions,
                cycles,
            } = limits;
            let reached = if session.is_overworked(limits) {
                let most = most_work(limits);
                format!(
                    "the kernel gave the accelerator more than {most} cycles of work and did not return"
                )
            } else {
                format!(
                    "the kernel did not return within {instructions} instructions or {cycles} cycles"
                )
            };
            (Outcome::TimedOut, endless(spin, session, kernel, reached))
        }
    }
}

fn fault_finding<P: Platform>(
    fault: &Fault,
    session: &mut Session<'_, P>,
    kernel: Kernel<'_>,
) -> (Outcome, Diagnostic) {
    let program = session.program();
    if let Some(reason) = unsupported_argument(fault, session) {
        return (
            Outcome::Illegal,
            unsupported(fault.pc, &reason, program, kernel),
        );
    }
    let outcome = match fault.kind {
        FaultKind::Trap => Outcome::Crashed,
        FaultKind::OutOfBounds
        | FaultKind::ReadOnly
        | FaultKind::IllegalCommand
        | FaultKind::Uninitialized
        | FaultKind::Race => Outcome::Illegal,
    };
    let mut found = Diagnostic::error(Stage::Test, fault.rule, fault.message.clone());
    found.location = kernel.location(program, fault.pc);
    let starts_again = program.function(fault.pc) == Some("_start");
    let layout = session.layout();
    match (fault.kind, fault.address) {
        (FaultKind::OutOfBounds, Some(address)) if fault.rule == EXECUTES_DATA => {
            let place = layout.describe(address, session.buffers(), None);
            found.message = format!("the program goes on in {place}, which is not its code");
        }
        (FaultKind::OutOfBounds, _) if starts_again => {
            found.code = "execute-start-code".into();
            "the program goes on in its start code, which is no function of the kernel"
                .clone_into(&mut found.message);
        }
        (FaultKind::OutOfBounds | FaultKind::ReadOnly, Some(address)) => {
            let access = Access::of(&fault.message);
            let direction = if access.reads { "read" } else { "write" };
            found.code = match fault.kind {
                FaultKind::ReadOnly => layout.read_only_code(address).into(),
                _ => format!("out-of-bounds-{direction}"),
            };
            let line = found.location.as_ref().and_then(|it| kernel.text(it.line));
            let place = layout.describe(address, session.buffers(), line);
            found.message = format!("{} touches {place}", access.text);
        }
        (FaultKind::Trap, Some(address)) if address < 4096 && fault.rule == "unmapped" => {
            found
                .notes
                .push("the address looks like a null pointer".into());
        }
        _ => {}
    }
    let rule = match starts_again {
        true => EXECUTES_DATA,
        false => fault.rule,
    };
    found.remedy = remedy(rule, fault.kind).map(str::to_owned);
    session
        .platform()
        .explain_fault(fault, session, kernel, &mut found);
    if found.location.is_none() {
        match program.function(fault.pc) {
            Some(function) => found.notes.push(format!(
                "in or behind function {function}, at an address that belongs to no line of {}",
                kernel.file
            )),
            None => found.notes.push(format!(
                "at address {:#x}, which is not in the kernel's code",
                fault.pc
            )),
        }
    }
    add_line(&mut found, kernel);
    add_other(&mut found, fault.other_pc, program, kernel);
    (outcome, found)
}

/// Names the line of the other instruction involved, if there is one.
pub fn add_other(
    found: &mut Diagnostic,
    other_pc: Option<u64>,
    program: &Program,
    kernel: Kernel<'_>,
) {
    if let Some(other) = other_pc.and_then(|pc| kernel.location(program, pc)) {
        found
            .notes
            .push(format!("the other command involved is at {other}"));
        found.notes.extend(kernel.line(other.line));
    }
}

/// Returns what a call of the target's library does not support, if that is why the program
/// has stopped: a text of the header.
fn unsupported_argument<P: Platform>(
    fault: &Fault,
    session: &mut Session<'_, P>,
) -> Option<String> {
    let stops = session.platform().refusing_function()?;
    if fault.rule != "ebreak" {
        return None;
    }
    let frames = session.program().frames(fault.pc);
    let is_stop = |function: &Option<String>| function.as_deref() == Some(stops);
    if !frames.iter().any(|frame| is_stop(&frame.function)) {
        return None;
    }
    session.argument_text()
}

fn unsupported(pc: u64, reason: &str, program: &Program, kernel: Kernel<'_>) -> Diagnostic {
    let (message, remedy) = reason.split_once("; ").unwrap_or((reason, ""));
    let mut found = Diagnostic::error(Stage::Test, "unsupported-argument", message.to_owned());
    found.location = kernel.location(program, pc);
    found.remedy = (!remedy.is_empty()).then(|| remedy.to_owned());
    add_line(&mut found, kernel);
    found
}

fn remedy(rule: &str, kind: FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::OutOfBounds if rule == EXECUTES_DATA => {
            Some("call functions that are written in C, by pointers that point to them")
        }
        FaultKind::OutOfBounds if rule == "stack-overflow" => {
            Some("make large arrays `static`, and call no deeper")
        }
        FaultKind::ReadOnly => Some("write to outputs and to variables that are not `const`"),
        FaultKind::OutOfBounds => {
            Some("check the indices on this line and the bounds of the loops around it")
        }
        FaultKind::Trap if rule == "illegal-instruction" => Some(
            "compilers leave such a gap where C has no meaning: a null pointer that is followed, an index beyond its array, a division by zero, `__builtin_unreachable`",
        ),
        _ => None,
    }
}

/// An access as the memory's message begins: `copy, row 3 of 16: DMA read of
/// 64 bytes at 0x80001000 touches …`.
struct Access<'m> {
    text: &'m str,
    reads: bool,
}

impl<'m> Access<'m> {
    fn of(message: &'m str) -> Self {
        let text = message.split(" touches ").next().unwrap_or(message);
        let text = text.split(" at 0x").next().unwrap_or(text);
        let reads = ["load of", "DMA read of", "instruction fetch of"]
            .iter()
            .any(|word| text.contains(word));
        Self { text, reads }
    }
}

fn endless<P: Platform>(
    spin: &Spin,
    session: &Session<'_, P>,
    kernel: Kernel<'_>,
    reached: String,
) -> Diagnostic {
    let program: &Program = session.program();
    let lines: BTreeSet<u32> = spin
        .hottest
        .iter()
        .filter_map(|(pc, _)| kernel.location(program, *pc))
        .map(|location| location.line)
        .collect();
    let mut message = reached;
    match (lines.first(), lines.last()) {
        (Some(first), Some(last)) if first == last => {
            message += &format!("; it was spinning in line {first}")
        }
        (Some(first), Some(last)) => {
            message += &format!("; it was spinning between lines {first} and {last}")
        }
        _ => {}
    }
    let mut found = Diagnostic::error(Stage::Test, "time-limit", message);
    found.location = kernel.location(program, spin.pc).or_else(|| {
        let pc = spin.hottest.first()?.0;
        kernel.location(program, pc)
    });
    found
        .notes
        .extend(lines.iter().take(6).filter_map(|line| kernel.line(*line)));
    found.remedy = Some(session.platform().endless_remedy().into());
    found
}

/// Returns the diagnostic for a kernel whose timed call took `timed` instructions, and
/// `alone` behind a call with other inputs.
pub fn does_less(timed: u64, alone: u64) -> Diagnostic {
    let mut found = Diagnostic::error(
        Stage::Test,
        "state-between-calls",
        format!(
            "the timed call does not do what it does behind a call with other inputs: it takes {timed} instructions instead of {alone}, or other commands"
        ),
    );
    found.remedy = Some(
        "compute everything anew in every call, whatever calls before have left behind".into(),
    );
    found
}

/// Returns the diagnostic for a kernel that has changed so many bytes of its static data in a
/// call that was like the one before.
pub fn still_changes(bytes: usize) -> Diagnostic {
    let mut found = Diagnostic::error(
        Stage::Test,
        "state-between-calls",
        format!(
            "static data differ ({bytes} B) behind two calls in the same program that had the same inputs: what later calls do may depend on the calls before"
        ),
    );
    found.remedy = Some(
        "let static data hold only what a call computes from its inputs, and count no calls".into(),
    );
    found
}

/// Returns the diagnostic for a kernel that `first` was found in: one call with other content in
/// so many bytes of static data that calls leave there.
pub fn depends_on_calls(bytes: usize, first: &Diagnostic) -> Diagnostic {
    Diagnostic {
        code: "state-between-calls".into(),
        message: format!(
            "a call goes wrong with other content in static data that calls leave there ({bytes} B): {}",
            first.message
        ),
        remedy: Some(
            "compute everything anew in every call; read from static data only what the same call has written".into(),
        ),
        ..first.clone()
    }
}

/// Returns the diagnostic for an input that the kernel changed.
pub fn input_changed(
    buffer: &Buffer,
    before: &[u8],
    after: &[u8],
    writer: Option<SourceLocation>,
    kernel: Kernel<'_>,
) -> Diagnostic {
    let width = buffer.dtype.bytes();
    let changed: Vec<usize> = (0..buffer.elements())
        .filter(|idx| before[idx * width..][..width] != after[idx * width..][..width])
        .collect();
    let first = changed.first().copied().unwrap_or(0);
    let number = |bytes: &[u8]| buffer.dtype.shown(&bytes[first * width..][..width]);
    let mut found = Diagnostic::error(
        Stage::Test,
        "input-changed",
        format!(
            "the kernel changed its input {}: {} was {} and became {}; {} of {} elements changed",
            buffer.name,
            place(buffer, first),
            number(before),
            number(after),
            changed.len(),
            buffer.elements(),
        ),
    );
    found.location = writer;
    add_line(&mut found, kernel);
    found.remedy = Some(format!(
        "write only to outputs; copy {} if it must be changed",
        buffer.name
    ));
    found
}

/// Returns the diagnostic for an input that the kernel wrote to, and left as it was.
pub fn input_restored(
    buffer: &Buffer,
    writer: Option<SourceLocation>,
    kernel: Kernel<'_>,
) -> Diagnostic {
    let message = format!(
        "the kernel writes to its input {}, though it leaves there what was there before",
        buffer.name
    );
    let mut found = Diagnostic::error(Stage::Test, "input-written", message);
    found.location = writer;
    add_line(&mut found, kernel);
    found.remedy = Some("write to outputs and to variables of the kernel's own only".into());
    found
}

/// Adds the text of the line that a finding is about.
pub fn add_line(found: &mut Diagnostic, kernel: Kernel<'_>) {
    if let Some(location) = &found.location {
        let line = kernel.line(location.line);
        found.notes.splice(0..0, line);
    }
}
