//! Where results and messages go: results to standard output, everything else
//! to standard error. The only place of the workspace that prints.

use crate::error::CliError;
use autocomp_llm::Secrets;
use serde::Serialize;
use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// Keys that are never printed, whatever a text was made from: those of the
/// environment, until [`guard`] names more.
static KEYS: Mutex<Option<Secrets>> = Mutex::new(None);

/// Prints none of these keys from now on.
pub fn guard(secrets: &Secrets) {
    *KEYS.lock().unwrap_or_else(PoisonError::into_inner) = Some(secrets.clone());
}

/// Returns `text` without any key.
pub fn redacted(text: &str) -> String {
    let mut keys = KEYS.lock().unwrap_or_else(PoisonError::into_inner);
    keys.get_or_insert_with(|| Secrets::from_lookup(|name| env::var(name).ok()))
        .redact(text)
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
        let mut line = match self.format {
            Format::Text => text(),
            Format::Json => serde_json::to_string_pretty(value).map_err(CliError::internal)?,
        };
        if !line.is_empty() && !line.ends_with('\n') {
            line.push('\n');
        }
        write_out(&mut io::stdout().lock(), &redacted(&line))
    }

    /// Prints a message for people on standard error. A closed or full standard
    /// error is no reason to fail.
    pub fn message(self, text: impl AsRef<str>) {
        let _ = writeln!(io::stderr().lock(), "{}", redacted(text.as_ref()));
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
            let text = redacted(&format!("{value:#}"));
            let _ = writeln!(io::stdout().lock(), "{text}");
        }
    }

    /// Returns whether results may have colours: only on a terminal, and not if
    /// the environment has `NO_COLOR`.
    pub fn is_coloured(self) -> bool {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        io::stdout().is_terminal() && !unwanted
    }

    /// Returns whether progress may be drawn in place.
    pub fn is_interactive(self) -> bool {
        io::stderr().is_terminal()
    }
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
