//! What a kernel with a wrong result did that may be the reason: work that was lost before
//! anything read it, and moves whose rows lie otherwise than those of the buffer.

use crate::platform::GemminiPlatform;
use autocomp_bare_metal::{Kernel, Session, add_line, add_other};
use autocomp_catalog::Buffer;
use autocomp_core::{Diagnostic, Severity, SourceLocation, Stage};
use autocomp_gemmini::{NotedMove, Overwritten};

/// Findings of one kind that are told at most; the others mostly follow from them.
const MOST: usize = 2;

/// Returns what was doubtful in the call of a session that notes it.
pub(super) fn doubts(
    session: &mut Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
) -> Vec<Diagnostic> {
    let functional = session.unit().functional();
    let mut lost: Vec<Overwritten> = functional.overwritten().collect();
    let moves: Vec<NotedMove> = functional.noted_moves().collect();
    lost.sort_by_key(|lost| (std::cmp::Reverse(lost.rows), lost.by, lost.writer));
    let lost = lost.iter().map(|lost| overwritten(lost, session, kernel));
    let mut found = apart(lost);
    let moves = moves
        .iter()
        .filter_map(|noted| misplaced(noted, session, kernel));
    found.extend(apart(moves));
    found
}

/// Returns the first findings that differ in more than the instruction: one line may have
/// become several.
fn apart(found: impl Iterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let place = |one: &Diagnostic| one.location.clone().zip(one.notes.first().cloned());
    let mut kept: Vec<Diagnostic> = Vec::new();
    for one in found {
        if kept.len() < MOST && kept.iter().all(|kept| place(kept) != place(&one)) {
            kept.push(one);
        }
    }
    kept
}

fn overwritten(
    lost: &Overwritten,
    session: &Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
) -> Diagnostic {
    let program = session.program();
    let memory = if lost.accumulator {
        "accumulator"
    } else {
        "scratchpad"
    };
    let (writer, by) = (
        kernel.location(program, lost.writer),
        kernel.location(program, lost.by),
    );
    let by_text = shown(by.as_ref());
    let message = format!(
        "what this writes to row {} of the {memory} is overwritten by {by_text} before anything reads it",
        lost.row
    );
    let mut found = warning("overwritten-before-read", message, writer, kernel);
    if lost.writer != lost.by {
        add_other(&mut found, Some(lost.by), program, kernel);
    }
    found.remedy = Some(
        "give the two different rows, or use what the first writes before the second runs; if it is not needed, leave the first out"
            .into(),
    );
    found
}

/// Returns what is said about a move whose rows are neither as far apart as those of any
/// dimension of its buffer, or a multiple of that, nor parts of them.
fn misplaced(
    noted: &NotedMove,
    session: &Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
) -> Option<Diagnostic> {
    let addresses = &session.layout().addresses;
    let (buffer, _) = session
        .buffers()
        .iter()
        .zip(addresses)
        .find(|(buffer, at)| (**at..**at + buffer.bytes() as u64).contains(&noted.dram))?;
    if fits(noted, buffer) {
        return None;
    }
    let direction = if noted.out { "out to" } else { "in from" };
    let pitch = pitches(buffer).next_back()?;
    let mut found = warning(
        "stride-beside-rows",
        format!(
            "moves {} rows {direction} {}, {} bytes apart, but the rows of {} are {pitch} bytes apart",
            noted.rows,
            buffer.name,
            noted.stride,
            declared(buffer),
        ),
        kernel.location(session.program(), noted.pc),
        kernel,
    );
    found.remedy = Some(format!(
        "{} takes the bytes from one row of the whole buffer to the next: its columns times the bytes of an element, here {}",
        if noted.out { "config_st" } else { "config_ld" },
        buffer.dtype.bytes(),
    ));
    Some(found)
}

fn fits(noted: &NotedMove, buffer: &Buffer) -> bool {
    let mut pitches = pitches(buffer).peekable();
    // Of a single row any distance is right or wrong for reasons unknown here.
    if noted.stride == 0 || pitches.peek().is_none() {
        return true;
    }
    pitches.any(|pitch| {
        noted.stride.is_multiple_of(pitch)
            || (pitch.is_multiple_of(noted.stride) && noted.row_bytes as u64 <= noted.stride)
    })
}

/// Returns the bytes between neighbours in each dimension of a buffer that has several, the
/// last dimension left out, outermost first.
fn pitches(buffer: &Buffer) -> impl DoubleEndedIterator<Item = u64> + '_ {
    let shape = &buffer.shape;
    (0..shape.len().saturating_sub(1))
        .filter(|dim| 1 < shape[*dim])
        .map(|dim| {
            let inner: u64 = shape[dim + 1..].iter().product();
            inner * buffer.dtype.bytes() as u64
        })
}

fn declared(buffer: &Buffer) -> String {
    let extents = buffer.shape.iter().map(|extent| format!("[{extent}]"));
    format!("{}{}", buffer.name, extents.collect::<String>())
}

fn shown(location: Option<&SourceLocation>) -> String {
    location.map_or_else(
        || "another command".to_owned(),
        |location| format!("line {}", location.line),
    )
}

fn warning(
    code: &str,
    message: String,
    location: Option<SourceLocation>,
    kernel: Kernel<'_>,
) -> Diagnostic {
    let mut found = Diagnostic::error(Stage::Test, code, message);
    found.severity = Severity::Warning;
    found.location = location;
    add_line(&mut found, kernel);
    found
}
