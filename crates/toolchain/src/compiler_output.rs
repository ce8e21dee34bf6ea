//! Diagnostics from what compilers and linkers print.

use autocomp_core::{Diagnostic, Severity, SourceLocation, Stage};
use autocomp_sandbox::{Exit, SandboxReport};

/// Diagnostics kept of one build.
const MAX_DIAGNOSTICS: usize = 10;
/// Characters kept of one message or note.
const MAX_CHARS: usize = 300;
/// Notes kept of one diagnostic.
const MAX_NOTES: usize = 6;

/// Whose fault a failed tool run is.
#[derive(Debug, PartialEq)]
pub(crate) enum Blame {
    /// The source's.
    Source(Vec<Diagnostic>),
    /// The machine's, as one line says. A source can make the compiler say such things,
    /// too: whoever can should see whether they are true.
    Environment(String),
}

/// Texts of failing system calls that no source can cause.
const MACHINE_TROUBLE: &[&str] = &[
    "No space left on device",
    "Disk quota exceeded",
    "Read-only file system",
    "Input/output error",
    "Too many open files",
];

/// Reads what a failed tool printed about `source_name`, whose text is `source`.
pub(crate) fn read(output: &str, source_name: &str, source: &str) -> Blame {
    let is_trouble = |line: &&str| MACHINE_TROUBLE.iter().any(|trouble| line.contains(trouble));
    match output.lines().find(is_trouble) {
        Some(line) => Blame::Environment(cut(line)),
        None => Blame::Source(diagnostics(output, source_name, source)),
    }
}

/// Returns what is said of a source for which a limit ended a tool, if one did.
pub(crate) fn broken_limit(report: &SandboxReport) -> Option<Diagnostic> {
    // Numbers of signals that are the same on every Linux.
    const SIGABRT: i32 = 6;
    const SIGSEGV: i32 = 11;
    const SIGXCPU: i32 = 24;
    const SIGXFSZ: i32 = 25;
    let limit = match report.exit {
        _ if report.timed_out => "did not finish in time",
        Exit::Signal(SIGXCPU) => "did not finish in time",
        Exit::Signal(SIGXFSZ) => {
            "wrote too large a file: arrays with values or of a large alignment are part of it"
        }
        Exit::Signal(SIGABRT | SIGSEGV) => "crashed or ran out of memory",
        _ => return None,
    };
    Some(Diagnostic {
        remedy: Some("make the kernel smaller: unroll less, shrink tables".into()),
        ..diagnostic("build-limit", &format!("the compiler {limit}"))
    })
}

/// Reads what a failed tool printed about the source, whatever it says about the machine.
pub(crate) fn diagnostics(output: &str, source_name: &str, source: &str) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    // Warnings are dropped, with the notes that follow them.
    let mut collecting = false;
    for line in output.lines() {
        if let Some(report) = located(line) {
            match report.level {
                "error" | "fatal error" => {
                    let in_source = report.file == source_name;
                    let mut diagnostic = diagnostic("compile-error", report.message);
                    if in_source {
                        diagnostic.location =
                            Some(location(source_name, report.line, report.column));
                        diagnostic.notes.extend(source_line(source, report.line));
                    } else {
                        diagnostic
                            .notes
                            .push(cut(&format!("in {}:{}", report.file, report.line)));
                    }
                    found.push(diagnostic);
                    collecting = true;
                }
                "note" if collecting => {
                    if let Some(last) = found.last_mut() {
                        if last.location.is_none() && report.file == source_name {
                            last.location = Some(location(source_name, report.line, report.column));
                            last.notes.extend(source_line(source, report.line));
                        }
                        note(
                            last,
                            &format!("{}:{}: {}", report.file, report.line, report.message),
                        );
                    }
                }
                _ => collecting = false,
            }
        } else if let Some(message) = line
            .split_once("ld.lld: error: ")
            .map(|(_, message)| message)
        {
            found.push(link_diagnostic(message));
            collecting = true;
        } else if let Some(place) = line.strip_prefix(">>> ").filter(|_| collecting) {
            if let Some(last) = found.last_mut() {
                if last.location.is_none() {
                    last.location = place_of(place, source_name);
                    if let Some(location) = &last.location {
                        last.notes.extend(source_line(source, location.line));
                    }
                }
                note(last, place);
            }
        } else if let Some((place, message)) = line
            .split_once(": undefined reference to ")
            .or(line.split_once(": multiple definition of "))
        {
            let code = if line.contains("undefined reference") {
                "undefined-symbol"
            } else {
                "duplicate-symbol"
            };
            let what = if code == "undefined-symbol" {
                "undefined symbol"
            } else {
                "duplicate symbol"
            };
            let mut diagnostic = diagnostic(
                code,
                &format!("{what}: {}", message.trim_matches(['`', '\''])),
            );
            diagnostic.location = place_of(place, source_name);
            if let Some(location) = &diagnostic.location {
                diagnostic.notes.extend(source_line(source, location.line));
            }
            diagnostic.remedy = remedy(code);
            found.push(diagnostic);
            collecting = false;
        }
    }
    if found.is_empty() {
        let mut diagnostic =
            diagnostic("build-error", "the compiler failed without naming a place");
        for line in output.lines().filter(|line| !line.trim().is_empty()) {
            note(&mut diagnostic, line);
        }
        if diagnostic.notes.is_empty() {
            diagnostic.message = "the compiler failed and said nothing".into();
            diagnostic.remedy = Some(
                "it may have run out of memory: make the kernel smaller, unroll less, expand fewer macros".into(),
            );
        }
        found.push(diagnostic);
    }
    found.truncate(MAX_DIAGNOSTICS);
    found
}

/// One line of the form `file:line:column: level: message`.
struct Located<'a> {
    file: &'a str,
    line: u32,
    column: Option<u32>,
    level: &'a str,
    message: &'a str,
}

fn located(text: &str) -> Option<Located<'_>> {
    let (place, level, message) = ["fatal error", "error", "warning", "note"]
        .into_iter()
        .filter_map(|level| {
            let marker = format!(": {level}: ");
            let at = text.find(&marker)?;
            Some((at, level, &text[..at], &text[at + marker.len()..]))
        })
        .min_by_key(|found| found.0)
        .map(|(_, level, place, message)| (place, level, message))?;
    let mut parts = place.rsplitn(3, ':');
    let last: u32 = parts.next()?.parse().ok()?;
    let before = parts.next()?;
    match (before.parse(), parts.next()) {
        (Ok(line), Some(file)) => Some(Located {
            file,
            line,
            column: Some(last),
            level,
            message,
        }),
        _ => Some(Located {
            file: place.rsplit_once(':')?.0,
            line: last,
            column: None,
            level,
            message,
        }),
    }
}

fn link_diagnostic(message: &str) -> Diagnostic {
    let code = if message.starts_with("undefined symbol") {
        "undefined-symbol"
    } else if message.starts_with("duplicate symbol") {
        "duplicate-symbol"
    } else {
        "link-error"
    };
    Diagnostic {
        remedy: remedy(code),
        ..diagnostic(code, message)
    }
}

fn remedy(code: &str) -> Option<String> {
    match code {
        "undefined-symbol" => Some(
            "define it in the kernel file; there is no C library, only what the target's header declares".into(),
        ),
        "duplicate-symbol" => {
            Some("give it another name or make it static; the runtime defines it too".into())
        }
        _ => None,
    }
}

/// Finds `name:line` in the words that a linker uses for places.
fn place_of(text: &str, source_name: &str) -> Option<SourceLocation> {
    let start = text.find(&format!("{source_name}:"))? + source_name.len() + 1;
    let digits: String = text[start..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    Some(location(source_name, digits.parse().ok()?, None))
}

fn location(file: &str, line: u32, column: Option<u32>) -> SourceLocation {
    SourceLocation {
        file: file.to_owned(),
        line,
        column,
    }
}

/// Returns the text of a line as a note.
fn source_line(source: &str, line: u32) -> Option<String> {
    let text = source.lines().nth(line.checked_sub(1)? as usize)?.trim();
    (!text.is_empty()).then(|| cut(&format!("line {line}: {text}")))
}

fn diagnostic(code: &str, message: &str) -> Diagnostic {
    Diagnostic {
        stage: Stage::Build,
        severity: Severity::Error,
        code: code.to_owned(),
        message: cut(message),
        location: None,
        notes: Vec::new(),
        remedy: None,
    }
}

fn note(diagnostic: &mut Diagnostic, text: &str) {
    if diagnostic.notes.len() < MAX_NOTES {
        diagnostic.notes.push(cut(text.trim()));
    }
}

/// Cuts a text of the compiler, which quotes the source, to a bounded length.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Blame, read};
    use proptest::prelude::*;

    const SOURCE: &str = "void f(void);\nvoid solution(void) {\n  int x = y;\n  f();\n}\n";

    #[test]
    fn errors_have_their_place_and_line() {
        let clang = "kernel.c:1:6: warning: unused\nkernel.c:3:11: error: use of undeclared identifier 'y'\n\
                     target.h:7:3: note: expanded from macro 'move'\n1 error generated.\n";
        insta::assert_json_snapshot!(blamed_on_source(clang));
    }

    #[test]
    fn linkers_name_symbols_and_places() {
        let lld = "ld.lld: error: undefined symbol: f\n>>> referenced by kernel.c:4\n\
                   >>>               kernel.o:(solution)\n";
        insta::assert_json_snapshot!("lld", blamed_on_source(lld));
        let gnu = "/usr/bin/ld: kernel.o: in function `solution':\nkernel.c:4: undefined reference to `f'\n\
                   collect2: error: ld returned 1 exit status\n";
        insta::assert_json_snapshot!("gnu", blamed_on_source(gnu));
    }

    #[test]
    fn a_full_disk_is_not_the_kernel_s_fault() {
        let text = "error: unable to open output file 'kernel.o': 'No space left on device'\n1 error generated.";
        assert!(matches!(
            read(text, "kernel.c", SOURCE),
            Blame::Environment(_)
        ));
    }

    fn blamed_on_source(text: &str) -> Vec<autocomp_core::Diagnostic> {
        match read(text, "kernel.c", SOURCE) {
            Blame::Source(found) => found,
            Blame::Environment(line) => panic!("{line}"),
        }
    }

    proptest! {
        #[test]
        fn any_output_is_survived(text in "(kernel\\.c|ld\\.lld|:|[0-9]|error|note|>>> |\n| |é|.){0,60}") {
            if let Blame::Source(found) = read(&text, "kernel.c", SOURCE) {
                prop_assert!(!found.is_empty() && found.len() <= super::MAX_DIAGNOSTICS);
            }
        }
    }
}
