//! Where results and messages go: results to standard output, everything else
//! to standard error. The only place of the workspace that prints.

use crate::environment;
use crate::error::CliError;
use autocomp_eval::text::{is_command, spelled, spelled_out};
use autocomp_llm::Secrets;
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// Keys that are never printed, whatever a text was made from: those of the
/// environment, until [`guard`] names more.
static KEYS: Mutex<Option<Secrets>> = Mutex::new(None);

/// What is drawn in place at the end of standard error, above which messages are printed.
static DRAWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Has messages printed above `bar` from now on, or as usual again.
pub fn draw_above(bar: Option<ProgressBar>) {
    *DRAWN.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// Prints a line on standard error, above what is drawn there. A closed or full standard error is
/// no reason to fail.
fn write_message(text: &str) {
    let print = || {
        let _ = writeln!(io::stderr().lock(), "{text}");
    };
    let drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match drawn {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

/// Prints none of these keys from now on.
pub fn guard(secrets: &Secrets) {
    *KEYS.lock().unwrap_or_else(PoisonError::into_inner) = Some(secrets.clone());
}

/// Returns `text` without any key.
pub fn redacted(text: &str) -> String {
    let mut keys = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
    keys.get_or_insert_with(environment::secrets).redact(text)
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text for people.
    Text,
    /// One JSON object on standard output.
    Json,
}

/// The two streams of the program.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// How results are printed.
    pub format: Format,
}

impl Output {
    /// Returns whether results are wanted as JSON.
    pub fn is_json(self) -> bool {
        self.format == Format::Json
    }

    /// Prints a result: `text` for people, or `value` as one JSON object.
    pub fn result<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), CliError> {
        self.write_result(value, || harmless(&text(), self.is_coloured()))
    }

    /// Prints a result whose text is a file, such as a kernel: as it is, but for a terminal.
    pub fn exact_result<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), CliError> {
        if io::stdout().is_terminal() {
            self.result(value, text)
        } else {
            self.write_result(value, text)
        }
    }

    /// Prints a file that was asked for on standard output, as it is.
    pub fn file(self, text: &str) -> Result<(), CliError> {
        let text = match io::stdout().is_terminal() {
            true => harmless(text, false),
            false => text.to_owned(),
        };
        write_out(&mut io::stdout().lock(), &redacted(&text))
    }

    fn write_result<T: Serialize>(
        self,
        value: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), CliError> {
        let mut line = match self.format {
            Format::Text => text(),
            Format::Json => {
                let json = serde_json::to_string_pretty(value).map_err(CliError::internal)?;
                harmless_json(&json)
            }
        };
        if !line.is_empty() && !line.ends_with('\n') {
            line.push('\n');
        }
        write_out(&mut io::stdout().lock(), &redacted(&line))
    }

    /// Prints a message for people on standard error. A closed or full standard
    /// error is no reason to fail.
    pub fn message(self, text: impl AsRef<str>) {
        let text = redacted(text.as_ref());
        write_message(&harmless(&text, false));
    }

    /// Prints a message that may have styles, where messages may have colours.
    pub fn styled_message(self, text: &str) {
        let text = harmless(&redacted(text), self.is_message_coloured());
        write_message(&text);
    }

    /// Prints why the command failed: for people on standard error and, with
    /// JSON wanted, as an object with the single field `error` on standard output.
    pub fn error(self, error: &CliError) {
        self.message(error.to_string());
        self.error_object(error);
    }

    /// Prints the object of [`Output::error`], if JSON is wanted.
    pub fn error_object(self, error: &CliError) {
        if self.is_json() {
            let value = serde_json::json!({ "error": error });
            let json = harmless_json(&redacted(&format!("{value:#}")));
            let _ = writeln!(io::stdout().lock(), "{json}");
        }
    }

    /// Returns whether results may have colours: only on a terminal, and not if the
    /// environment has `NO_COLOR` or says that the terminal has none.
    pub fn is_coloured(self) -> bool {
        io::stdout().is_terminal() && environment::allows_colours()
    }

    /// Returns whether messages may have colours: as results, by where they go.
    pub fn is_message_coloured(self) -> bool {
        io::stderr().is_terminal() && environment::allows_colours()
    }

    /// Returns how many columns results may take: those of the terminal, if it is one.
    pub fn width(self) -> Option<usize> {
        if !io::stdout().is_terminal() {
            return None;
        }
        terminal_size::terminal_size().map(|size| usize::from(size.0.0))
    }

    /// Returns how many columns a paragraph of a result takes.
    pub fn prose_width(self) -> usize {
        let width = self.width().unwrap_or(PROSE);
        width.clamp(LEAST_PROSE, PROSE)
    }

    /// Returns how many columns messages may take: those of the terminal, if it is one.
    pub fn message_width(self) -> Option<usize> {
        let size = terminal_size::terminal_size_of(io::stderr());
        size.map(|size| usize::from(size.0.0))
    }

    /// Returns whether progress may be drawn in place.
    pub fn is_interactive(self) -> bool {
        io::stderr().is_terminal()
    }
}

/// Columns of a paragraph where there is room for it.
pub const PROSE: usize = 96;
/// Columns of a paragraph at least.
const LEAST_PROSE: usize = 40;

/// How text stands out: a sequence that switches it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style(&'static str);

/// Headings.
pub const BOLD: Style = Style("\x1b[1m");
/// What stands back.
pub const QUIET: Style = Style("\x1b[2m");
/// What is well, and added lines.
pub const GOOD: Style = Style("\x1b[32m");
/// What is not, and removed lines.
pub const BAD: Style = Style("\x1b[31m");
/// Names that can be asked for.
pub const NAME: Style = Style("\x1b[36m");
/// Switches all of them off.
const PLAIN: &str = "\x1b[0m";
/// The only sequences that the program uses.
const SEQUENCES: [&str; 6] = [BOLD.0, QUIET.0, GOOD.0, BAD.0, NAME.0, PLAIN];

impl Style {
    /// Returns `text` in this style, if it may have any.
    pub fn paint(self, text: &str, coloured: bool) -> String {
        if coloured {
            format!("{}{text}{PLAIN}", self.0)
        } else {
            text.to_owned()
        }
    }
}

/// Returns a text of others without keys and without anything that commands a terminal.
pub fn harmless_text(text: &str) -> String {
    spelled_out(&redacted(text))
}

/// Returns `text` with such characters spelled out. Much of what is printed was written by
/// others: kernels, models, servers, names of files. Styles stay if `has_styles`.
pub fn harmless(text: &str, has_styles: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_command) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let styles = SEQUENCES.iter().filter(|_| has_styles);
        let kept = styles.copied().find(|it| from.starts_with(it));
        let taken = match kept {
            Some(kept) => {
                out.push_str(kept);
                kept.len()
            }
            None => {
                let c = from.chars().next().unwrap_or_default();
                out.push_str(&spelled(c));
                c.len_utf8()
            }
        };
        rest = &from[taken..];
    }
    out + rest
}

/// Returns the same JSON with such characters, which are in texts only, as escapes.
pub fn harmless_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_command(c) {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

fn write_out(stream: &mut impl Write, text: &str) -> Result<(), CliError> {
    match stream
        .write_all(text.as_bytes())
        .and_then(|()| stream.flush())
    {
        // The reader went away (`autocomp … | head`): it has what it wanted.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(CliError::environment(format!(
            "failed to write the result: {error}"
        ))),
        Ok(()) => Ok(()),
    }
}
