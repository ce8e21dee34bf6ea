//! What the accelerator's model says of a kernel: illegal commands, races, clashes in the
//! accumulator's banks, and what is doubtful.

use crate::platform::GemminiPlatform;
use autocomp_bare_metal::{Kernel, Session, add_line, add_other};
use autocomp_core::{Diagnostic, Severity, Stage};
use autocomp_riscv::{Fault, FaultKind};

/// Completes what is said about a fault.
pub(super) fn explain(
    fault: &Fault,
    session: &Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
    found: &mut Diagnostic,
) {
    found.message = named(&found.message, fault, session, kernel);
    if let Some(remedy) = remedy(fault.rule, fault.kind) {
        found.remedy = Some(remedy.to_owned());
    }
}

/// Returns a message about two commands with the line of the other one, and with the name of
/// a place in a buffer for its address.
fn named(
    message: &str,
    fault: &Fault,
    session: &Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
) -> String {
    let mut message = message.to_owned();
    if let (FaultKind::Race, Some(address)) = (fault.kind, fault.address) {
        let place = session.layout().describe(address, session.buffers(), None);
        message = message.replacen(&format!("address {address:#x}"), &place, 1);
    }
    let line = |pc: u64| Some(kernel.location(session.program(), pc)?.line);
    let Some(other) = fault.other_pc.and_then(line) else {
        return message;
    };
    for indefinite in ["an mvout", "a load"] {
        let of_line = format!("the {} of line {other}", indefinite.split_at(2).1.trim());
        if fault.kind == FaultKind::Race && message.contains(indefinite) {
            return message.replacen(indefinite, &of_line, 1);
        }
    }
    match line(fault.pc) {
        Some(first) if is_clash(fault.rule) => {
            format!("{message} (lines {first} and {other})")
        }
        _ => message,
    }
}

/// Returns whether a rule is about what banks of the accumulator share.
fn is_clash(rule: &str) -> bool {
    matches!(
        rule,
        "shared-adders" | "shared-adders-near" | "zeros-beside-load"
    )
}

fn remedy(rule: &str, kind: FaultKind) -> Option<&'static str> {
    match kind {
        FaultKind::IllegalCommand if rule.starts_with("shared-adders") => Some(
            "put a fence() between the two, move the addend in first and let the products add to it, \
             or let both use the same half of the accumulator",
        ),
        FaultKind::IllegalCommand if rule == "zeros-beside-load" => Some(
            "put a fence() between the two, move zeros into the same half of the accumulator as the other load, \
             or overwrite with the first product instead of writing zeros",
        ),
        FaultKind::Uninitialized => {
            Some("move the data in first; overwrite instead of adding in the first step of a sum")
        }
        FaultKind::Race => Some("put a fence() between the two"),
        _ => None,
    }
}

/// Returns what the accelerator model found doubtful in what a kernel did, one
/// diagnostic per rule and line.
pub(super) fn warnings(
    session: &mut Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
) -> Vec<Diagnostic> {
    let program = session.program();
    let warnings = session.unit().functional().warnings().to_vec();
    let mut found: Vec<(u64, Diagnostic)> = Vec::new();
    for warning in &warnings {
        let location = kernel.location(program, warning.pc);
        // One line may have become several instructions.
        let known = found.iter_mut().find(|(_, known)| {
            known.code == warning.rule && known.location.is_some() && known.location == location
        });
        if let Some((count, _)) = known {
            *count += warning.count;
            continue;
        }
        let mut one = Diagnostic::error(Stage::Test, warning.rule, warning.message.clone());
        if is_clash(warning.rule) {
            one.remedy = remedy(warning.rule, FaultKind::IllegalCommand).map(str::to_owned);
        }
        one.severity = Severity::Warning;
        one.location = location;
        add_line(&mut one, kernel);
        add_other(&mut one, warning.other_pc, program, kernel);
        found.push((warning.count, one));
    }
    let counted = found.into_iter().map(|(count, mut one)| {
        if 1 < count {
            one.message = format!("{} ({count} times)", one.message);
        }
        one
    });
    counted.collect()
}

/// Returns of what is doubtful in a timed call what depends on cycles, which calls without
/// a sense of time do not see.
pub(super) fn timed_warnings(
    session: &mut Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
) -> Vec<Diagnostic> {
    let mut found = warnings(session, kernel);
    found.retain(|it| is_clash(&it.code));
    found
}

/// Returns what is said about a kernel that has returned without a fence behind its last
/// store: the machine itself waits for the accelerator then.
pub(super) fn unfenced_end(
    session: &mut Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
) -> Option<Diagnostic> {
    let pc = session.unit().functional().store_at_fence()?;
    let mut found = Diagnostic::error(Stage::Test,
        "no-final-fence",
        "the kernel returns without a fence() behind its last mvout: on hardware its caller may read old data".to_owned(),
    );
    found.severity = Severity::Warning;
    found.location = kernel.location(session.program(), pc);
    add_line(&mut found, kernel);
    found.remedy = Some(
        "end with fence(): it costs nothing, as cycles count until the accelerator is idle".into(),
    );
    Some(found)
}

/// Returns the diagnostic for a kernel that returned behind a preload without the compute
/// that belongs to it.
pub(super) fn unfinished_preload(
    session: &mut Session<'_, GemminiPlatform>,
    kernel: Kernel<'_>,
) -> Option<Diagnostic> {
    let pc = session.unit().functional().pending_preload()?;
    let mut found = Diagnostic::error(Stage::Test,
        "preload-without-compute",
        "preload: the kernel returned before the compute that belongs to it; each preload must be followed by exactly one".to_owned(),
    );
    found.location = kernel.location(session.program(), pc);
    add_line(&mut found, kernel);
    Some(found)
}
