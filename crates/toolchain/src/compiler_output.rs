//! Diagnostics from what compilers and linkers print.

use autocomp_core::{Diagnostic, SourceLocation, Stage};
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

/// Returns what is said of the source `name` with this `text`, for which a limit ended a tool
/// that has `cpu_seconds` of a processor, if one did.
pub(crate) fn broken_limit(
    report: &SandboxReport,
    cpu_seconds: u64,
    (name, text): (&str, &str),
) -> Option<Diagnostic> {
    let output = report.stderr.text();
    let limit = limit(report.exit, report.timed_out, &output, cpu_seconds)?;
    let mut found = Diagnostic {
        remedy: Some(
            "make the kernel smaller: unroll less, expand fewer macros, shrink tables".into(),
        ),
        ..diagnostic("build-limit", &format!("the compiler {limit}"))
    };
    // What asks for most work is the likeliest cause.
    for line in 1_u32.. {
        let Some(of_source) = text.lines().nth(line as usize - 1) else {
            break;
        };
        let is_unrolling = of_source.trim_start().starts_with('#') && of_source.contains("unroll");
        if is_unrolling && found.notes.len() < MAX_NOTES {
            found.location.get_or_insert(location(name, line, None));
            found.notes.extend(source_line(text, line));
        }
    }
    Some(found)
}

/// Returns the limit that ended a tool, in words that follow "the compiler". Drivers start
/// the compiler proper and end with a code of their own when that is killed.
fn limit(exit: Exit, timed_out: bool, output: &str, cpu_seconds: u64) -> Option<String> {
    // Numbers of signals that are the same on every Linux.
    const SIGABRT: i32 = 6;
    const SIGSEGV: i32 = 11;
    const SIGXCPU: i32 = 24;
    const SIGXFSZ: i32 = 25;
    let time = format!("did not finish within {cpu_seconds} s of a processor");
    let mut lines = output.lines();
    Some(match exit {
        _ if timed_out => time,
        Exit::Signal(SIGXCPU) => time,
        Exit::Signal(SIGXFSZ) => {
            "wrote too large a file: arrays with values or of a large alignment are part of it"
                .into()
        }
        Exit::Signal(SIGABRT | SIGSEGV) => "crashed or ran out of memory".into(),
        _ if lines
            .clone()
            .any(|line| line.starts_with("LLVM ERROR: out of memory")) =>
        {
            "ran out of memory".into()
        }
        _ if output.contains("signal terminated program") || lines.all(is_no_reason) => {
            format!("was ended by its limits: {cpu_seconds} s of a processor, or memory")
        }
        _ => return None,
    })
}

/// Returns whether a line that a failed tool printed is no reason for that.
fn is_no_reason(line: &str) -> bool {
    let is_of_warning = located(line).is_some_and(|it| matches!(it.level, "warning" | "note"));
    is_of_warning
        || line.trim().is_empty()
        || line.starts_with("In file included from ")
        || line.ends_with(" warning generated.")
        || line.ends_with(" warnings generated.")
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
        for line in output.lines().filter(|line| !is_no_reason(line)) {
            note(&mut diagnostic, line);
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

pub(crate) fn location(file: &str, line: u32, column: Option<u32>) -> SourceLocation {
    SourceLocation {
        file: file.to_owned(),
        line,
        column,
    }
}

/// Returns the text of a line as a note.
pub(crate) fn source_line(source: &str, line: u32) -> Option<String> {
    let text = source.lines().nth(line.checked_sub(1)? as usize)?.trim();
    (!text.is_empty()).then(|| cut(&format!("line {line}: {text}")))
}

pub(crate) fn diagnostic(code: &str, message: &str) -> Diagnostic {
    Diagnostic::error(Stage::Build, code, cut(message))
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
    use autocomp_sandbox::Exit;
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

    /// How a tool ends, what it prints, and what is said of that; nothing if it names its reason.
    const LIMITS: &[(Exit, &str, Option<&str>)] = &[
        (Exit::Signal(24), "", Some("within 10 s of a processor")),
        (Exit::Signal(25), "", Some("too large a file")),
        (Exit::Code(1), "", Some("10 s of a processor, or memory")),
        (
            Exit::Code(1),
            "In file included from <built-in>:2:\n./forget_files.h:1:8: warning: undefining builtin macro\n1 warning generated.\n",
            Some("10 s of a processor, or memory"),
        ),
        (
            Exit::Code(1),
            "kernel.c:1:2: warning: unused\nLLVM ERROR: out of memory\nAllocation failed\n",
            Some("ran out of memory"),
        ),
        (
            Exit::Code(1),
            "gcc: fatal error: CPU time limit exceeded signal terminated program cc1\n",
            Some("10 s of a processor, or memory"),
        ),
        (
            Exit::Code(1),
            "kernel.c:3:11: error: use of undeclared 'y'\n",
            None,
        ),
        (Exit::Code(1), "ld.lld: error: undefined symbol: f\n", None),
        (Exit::Code(1), "error: unknown argument: '-x'\n", None),
    ];

    #[test]
    fn limits_that_end_a_compiler_are_named() {
        for (exit, output, expected) in LIMITS {
            let found = super::limit(*exit, false, output, 10);
            let fits = match (&found, expected) {
                (Some(found), Some(expected)) => found.contains(expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(fits, "{exit:?} {output}: {found:?}");
        }
    }

    #[test]
    fn warnings_are_no_reason_to_fail() {
        let text = "./forget_files.h:1:8: warning: undefining builtin macro\nfatal trouble\n";
        let found = blamed_on_source(text);
        assert_eq!(found[0].notes, ["fatal trouble"]);
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
