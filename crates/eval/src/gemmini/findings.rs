//! Diagnostics of what a running kernel did.

use super::session::Session;
use crate::comparison::{place, value};
use autocomp_core::{Diagnostic, Outcome, Severity, SourceLocation, Stage};
use autocomp_riscv::{Fault, FaultKind, Limits};
use autocomp_sim::{Program, Spin, Stop};
use autocomp_targets::Buffer;
use std::collections::BTreeSet;

/// The kernel's file name and text, for locations.
#[derive(Clone, Copy)]
pub(super) struct Kernel<'a> {
    pub(super) file: &'a str,
    pub(super) source: &'a str,
}

impl Kernel<'_> {
    /// Returns the kernel line of an instruction: for code from the target's
    /// header, the line that used it.
    pub(super) fn location(&self, program: &Program, pc: u64) -> Option<SourceLocation> {
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

    /// Returns the text of a line as a note.
    fn line(&self, line: u32) -> Option<String> {
        let text = self
            .source
            .lines()
            .nth(line.checked_sub(1)? as usize)?
            .trim();
        let text: String = text.chars().take(200).collect();
        (!text.is_empty()).then(|| format!("line {line}: {text}"))
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns outcome and diagnostic for a call that did not complete.
pub(super) fn stopped(
    stop: &Stop,
    session: &Session<'_>,
    kernel: Kernel<'_>,
    limits: Limits,
) -> (Outcome, Diagnostic) {
    match stop {
        Stop::Fault(fault) => fault_finding(fault, session, kernel),
        Stop::Limit(spin) => (
            Outcome::TimedOut,
            endless(spin, session.program(), kernel, limits),
        ),
    }
}

fn fault_finding(
    fault: &Fault,
    session: &Session<'_>,
    kernel: Kernel<'_>,
) -> (Outcome, Diagnostic) {
    let program = session.program();
    let outcome = match fault.kind {
        FaultKind::Trap => Outcome::Crashed,
        FaultKind::OutOfBounds
        | FaultKind::ReadOnly
        | FaultKind::IllegalCommand
        | FaultKind::Uninitialized
        | FaultKind::Race => Outcome::Illegal,
    };
    let mut found = diagnostic(fault.rule, fault.message.clone());
    found.location = kernel.location(program, fault.pc);
    let layout = session.layout();
    match (fault.kind, fault.address) {
        (FaultKind::OutOfBounds | FaultKind::ReadOnly, Some(address)) => {
            let access = Access::of(&fault.message);
            let direction = if access.reads { "read" } else { "write" };
            found.code = match fault.kind {
                FaultKind::ReadOnly => "write-to-code".into(),
                _ => format!("out-of-bounds-{direction}"),
            };
            let place = layout.describe(address, session.buffers());
            found.message = format!("{} touches {place}", access.text);
        }
        (FaultKind::Trap, Some(address)) if address < 4096 && fault.rule == "unmapped" => {
            found
                .notes
                .push("the address looks like a null pointer".into());
        }
        _ => {}
    }
    found.remedy = remedy(fault.kind).map(str::to_owned);
    if found.location.is_none() {
        match program.function(fault.pc) {
            Some(function) => found.notes.push(format!(
                "in function {function}, which is not in {}",
                kernel.file
            )),
            None => found.notes.push(format!(
                "at address {:#x}, which is not in the kernel's code",
                fault.pc
            )),
        }
    }
    add_line(&mut found, kernel);
    if let Some(other) = fault.other_pc.and_then(|pc| kernel.location(program, pc)) {
        found
            .notes
            .push(format!("the other command involved is at {other}"));
        found.notes.extend(kernel.line(other.line));
    }
    (outcome, found)
}

fn remedy(kind: FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::OutOfBounds => {
            Some("check the indices on this line and the bounds of the loops around it")
        }
        FaultKind::Uninitialized => {
            Some("move the data in first; overwrite instead of adding in the first step of a sum")
        }
        FaultKind::Race => Some("put a fence() between the two"),
        FaultKind::Trap | FaultKind::ReadOnly | FaultKind::IllegalCommand => None,
    }
}

/// An access as the memory's message begins: `mvin, row 3 of 16: DMA read of
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

/// Returns what the accelerator model found doubtful in a kernel that is right.
pub(super) fn warnings(session: &mut Session<'_>, kernel: Kernel<'_>) -> Vec<Diagnostic> {
    let program = session.program();
    let warnings = session.accelerator().functional().warnings().to_vec();
    warnings
        .into_iter()
        .map(|warning| {
            let times = match warning.count {
                1 => String::new(),
                count => format!(" ({count} times)"),
            };
            let mut found = diagnostic(warning.rule, format!("{}{times}", warning.message));
            found.severity = Severity::Warning;
            found.location = kernel.location(program, warning.pc);
            add_line(&mut found, kernel);
            found
        })
        .collect()
}

fn endless(spin: &Spin, program: &Program, kernel: Kernel<'_>, limits: Limits) -> Diagnostic {
    let lines: BTreeSet<u32> = spin
        .hottest
        .iter()
        .filter_map(|(pc, _)| kernel.location(program, *pc))
        .map(|location| location.line)
        .collect();
    let Limits {
        instructions,
        cycles,
    } = limits;
    let mut message =
        // Calls without a sense of time have no limit on cycles.
        match cycles {
            u64::MAX => format!("the kernel did not return within {instructions} instructions"),
            _ => format!("the kernel did not return within {instructions} instructions or {cycles} cycles"),
        };
    match (lines.first(), lines.last()) {
        (Some(first), Some(last)) if first == last => {
            message += &format!("; it was spinning in line {first}")
        }
        (Some(first), Some(last)) => {
            message += &format!("; it was spinning between lines {first} and {last}")
        }
        _ => {}
    }
    let mut found = diagnostic("time-limit", message);
    found.location = kernel.location(program, spin.pc).or_else(|| {
        let pc = spin.hottest.first()?.0;
        kernel.location(program, pc)
    });
    found
        .notes
        .extend(lines.iter().take(6).filter_map(|line| kernel.line(*line)));
    found.remedy = Some(
        "check the conditions and steps of these loops; loops that do end are far too slow: let the accelerator do the work"
            .into(),
    );
    found
}

/// Returns the diagnostic for an input that the kernel changed.
pub(super) fn input_changed(
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
    let number = |bytes: &[u8]| value(buffer.dtype, &bytes[first * width..][..width]);
    let mut found = diagnostic(
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

fn add_line(found: &mut Diagnostic, kernel: Kernel<'_>) {
    if let Some(location) = &found.location {
        let line = kernel.line(location.line);
        found.notes.splice(0..0, line);
    }
}

/// Returns an error of the test stage.
pub(super) fn diagnostic(code: &str, message: String) -> Diagnostic {
    Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code: code.to_owned(),
        message,
        location: None,
        notes: Vec::new(),
        remedy: None,
    }
}
