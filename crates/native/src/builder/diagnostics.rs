//! What compiler and linker say about a kernel.

use autocomp_core::{Diagnostic, Severity, SourceLocation, Stage};
use autocomp_sandbox::{Exit, SandboxReport};

/// What is told to whoever wants more of a C library than there is.
pub(super) const WHAT_THERE_IS: &str = "there is no C library but: memcpy, memmove, memset, memcmp; exp, log, tanh, erf, sqrt, fabs, fmax, fmin, each with f, too; in math.h floor, ceil, trunc, rint, copysign, isnan, isinf; in stdlib.h abs; the headers string.h, stdint.h, stddef.h, stdbool.h, float.h, limits.h and those of the processor's intrinsics";

/// Diagnostics kept of one build.
const MOST_DIAGNOSTICS: usize = 10;

/// Reads what the compiler or the linker says about a source.
pub(super) fn diagnostics(report: &SandboxReport, name: &str, text: &str) -> Vec<Diagnostic> {
    let output = report.stderr.text();
    let mut found: Vec<Diagnostic> = output
        .lines()
        .filter_map(|line| compiler_error(line, name, text).or_else(|| linker_error(line)))
        .take(MOST_DIAGNOSTICS)
        .collect();
    if found.is_empty() {
        let message = match (report.timed_out, report.succeeded()) {
            (true, _) => "the compiler did not finish in time".to_owned(),
            _ if report.exit == Exit::Signal(libc::SIGXFSZ) => {
                "the program is larger than 64 MiB: arrays with values or of a large alignment are part of it".to_owned()
            }
            _ => format!("the compiler fails: {:?}", report.exit),
        };
        let remedy = "make the kernel smaller: unroll less, shrink tables";
        found.push(error("build-limit", message, None, Some(remedy)));
    }
    found
}

fn compiler_error(line: &str, name: &str, text: &str) -> Option<Diagnostic> {
    let rest = line.strip_prefix(name)?.strip_prefix(':')?;
    let (row, rest) = rest.split_once(':')?;
    let (column, rest) = rest.split_once(':')?;
    let message = rest
        .trim()
        .strip_prefix("error: ")
        .or_else(|| rest.trim().strip_prefix("fatal error: "))?;
    let location = SourceLocation {
        file: name.to_owned(),
        line: row.parse().ok()?,
        column: column.parse().ok(),
    };
    let is_of_library =
        message.contains("file not found") || message.contains("undeclared function");
    let remedy = is_of_library.then_some(WHAT_THERE_IS);
    let mut found = error("compile-error", message.to_owned(), None, remedy);
    let source = text.lines().nth(location.line.saturating_sub(1) as usize);
    found
        .notes
        .extend(source.map(|source| format!("line {}: {}", location.line, source.trim())));
    found.location = Some(location);
    Some(found)
}

fn linker_error(line: &str) -> Option<Diagnostic> {
    let (_, message) = line.split_once("error: ")?;
    let (code, remedy) = match message.split_once("undefined symbol: ") {
        Some(_) => ("undefined-symbol", WHAT_THERE_IS),
        None => (
            "link-error",
            "kernels define one function that is called, and others under names of their own",
        ),
    };
    Some(error(code, message.to_owned(), None, Some(remedy)))
}

fn error(
    code: &str,
    message: String,
    location: Option<SourceLocation>,
    remedy: Option<&str>,
) -> Diagnostic {
    Diagnostic {
        stage: Stage::Build,
        severity: Severity::Error,
        code: code.to_owned(),
        message,
        location,
        notes: Vec::new(),
        remedy: remedy.map(str::to_owned),
    }
}
