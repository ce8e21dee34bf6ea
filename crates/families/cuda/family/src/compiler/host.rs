//! What is known of the program of a host part, and what is said of one that goes wrong.

use super::KERNEL_FILE;
use crate::dialect::unusable;
use crate::requests::{Allowed, Recording};
use autocomp_core::{Diagnostic, Severity, SourceLocation, Stage};
use autocomp_eval::EvalError;
use autocomp_sandbox::SandboxReport;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The code of what is right once.
pub(crate) const CALLED_AGAIN: &str = "differs-when-called-again";

/// What a host part wants.
pub(super) enum Wanted {
    /// In each call.
    Always(Recording),
    /// Something else in a later call, or perhaps so: the address of a variable that such a call
    /// has changed, if one is known.
    Varying(Option<u64>),
}

/// Reads what the three calls of a host part have asked for. What allows kernels more shared
/// memory may stand in the first call alone, and so may pieces of memory that are kept: each call
/// begins with pieces that hold nothing, whoever asked for them.
///
/// # Errors
/// What is wrong with the first call.
pub(super) fn wanted(text: &str, names: &BTreeMap<u64, String>) -> Result<Wanted, String> {
    const END: &str = "end\n";
    let mut calls = text.split_inclusive(END);
    let mut allowed = Allowed::new();
    let first = calls.next().unwrap_or_default();
    let first = Recording::parse_after(first, names, &mut allowed)?;
    let mut later = [(); 2].map(|()| {
        let call = calls.next().unwrap_or_default();
        Recording::parse_after(call, names, &mut allowed)
    });
    let rest = calls.next().unwrap_or_default();
    let changed = rest.lines().find_map(|it| it.strip_prefix("changed "));
    let varying = Wanted::Varying(changed.and_then(|it| it.parse().ok()));
    let [Ok(second), Ok(third)] = &mut later else {
        return Ok(varying);
    };
    // Where pieces are kept, the second call gives other addresses to those that it asks for.
    let is_same = match second.memory.len() == first.memory.len() {
        true => *second == first,
        false => {
            second.requests.len() == first.requests.len()
                && (second.requests.iter().zip(&first.requests)).all(|(a, b)| a.is_like(b))
        }
    };
    let is_same = is_same
        && third.requests == first.requests
        && first.memory.ends_with(&third.memory)
        && second.memory == third.memory;
    Ok(match is_same && rest.is_empty() {
        true => Wanted::Always(first),
        false => varying,
    })
}

/// Says that the host function keeps something from call to call, in the variable `name`.
pub(super) fn keeps_state(source: &str, name: Option<&str>) -> Diagnostic {
    let name = name.map(plain_name);
    let holds = name.map_or_else(String::new, |name| {
        format!(": `{name}` holds what the call before has left")
    });
    let mut found = host_error(
        CALLED_AGAIN,
        &format!(
            "the host function asks for something else when it is called again, or may do so later{holds}"
        ),
    );
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let names = |line: &str| line.split(|it| !is_part(it)).any(|it| Some(it) == name);
    let line = source.lines().position(names);
    found.location = line.map(|line| SourceLocation {
        file: KERNEL_FILE.to_owned(),
        line: line as u32 + 1,
        column: None,
    });
    found.remedy = Some("let `solution` keep nothing from call to call: no `static` variables that count or remember, but for memory asked for once (unset in each call) and shared memory allowed once; every call does the whole work".into());
    found
}

/// Returns the name that a variable has in its source: `n` for `_ZL1n` and `_ZZ8solutionvE1n`.
fn plain_name(mangled: &str) -> &str {
    let whole = match mangled.rsplit_once('_') {
        Some((whole, digits)) if digits.bytes().all(|it| it.is_ascii_digit()) => whole,
        _ => mangled,
    };
    let ends_here = |(at, _): (usize, char)| {
        let rest = &whole[at..];
        let name = rest.trim_start_matches(|it: char| it.is_ascii_digit());
        let length = rest[..rest.len() - name.len()].parse();
        (length == Ok(name.len())).then_some(name)
    };
    let found = whole
        .starts_with("_Z")
        .then(|| whole.char_indices().find_map(ends_here));
    found.flatten().unwrap_or(mangled)
}

/// Returns the names of kernels by the addresses of the functions that stand for them, and those
/// of variables.
pub(super) fn names_of(program: &Path) -> Result<BTreeMap<u64, String>, EvalError> {
    use object::{Object, ObjectSymbol, SymbolKind};
    let bytes = fs::read(program).map_err(|error| unusable(program, &error))?;
    let file = object::File::parse(&*bytes).map_err(|error| {
        EvalError::Fault(format!(
            "the program of the host part cannot be read: {error}"
        ))
    })?;
    let names = file.symbols().filter_map(|symbol| {
        let name = symbol.name().ok()?;
        let name = match symbol.kind() {
            SymbolKind::Data => name.to_owned(),
            _ => kernel_name(name)?,
        };
        Some((symbol.address(), name))
    });
    Ok(names.collect())
}

/// Returns the kernel that the function `name` stands for: `_Z17__device_stub__addPf` for
/// `_Z3addPf`.
fn kernel_name(name: &str) -> Option<String> {
    const MARK: &str = "__device_stub__";
    let at = name.find(MARK)?;
    let before = &name[..at];
    let digits = before.len()
        - before
            .trim_end_matches(|it: char| it.is_ascii_digit())
            .len();
    if digits == 0 {
        // A function with C linkage.
        return Some(name.replacen(MARK, "", 1));
    }
    let (head, length) = before.split_at(before.len() - digits);
    let length = length.parse::<usize>().ok()?.checked_sub(MARK.len())?;
    Some(format!("{head}{length}{}", &name[at + MARK.len()..]))
}

pub(super) fn host_failure(report: &SandboxReport) -> Diagnostic {
    use autocomp_sandbox::Exit;
    if report.timed_out || matches!(report.exit, Exit::Signal(24 | 9)) {
        return host_error("host-part-endless", "the host part does not end");
    }
    let mut found = match report.exit {
        Exit::Signal(11 | 7) => host_error(
            "host-part-crashed",
            "the host part reads or writes memory that it does not have: buffers lie on the device, their contents are not there for `solution`",
        ),
        Exit::Signal(signal) => host_error(
            "host-part-crashed",
            &format!("signal {signal} ends the host part"),
        ),
        Exit::Code(code) => host_error(
            "host-part-crashed",
            &format!("the host part ends with the code {code}"),
        ),
    };
    found.remedy = Some(
        "let `solution` compute sizes, ask for memory and launch kernels, nothing else".into(),
    );
    found
}

pub(super) fn host_error(code: &str, message: &str) -> Diagnostic {
    Diagnostic {
        stage: Stage::Test,
        severity: Severity::Error,
        code: code.to_owned(),
        message: message.to_owned(),
        location: None,
        notes: Vec::new(),
        remedy: None,
    }
}
