//! TOML with errors that show the line at fault.

use crate::error::{CatalogError, Invalid, nearest};
use crate::tree::Tree;
use serde::de::DeserializeOwned;
use std::ops::Range;

/// A text with the path it came from, to say where something in it is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// Path as the user knows it.
    pub(crate) path: &'a str,
    /// The text.
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// Makes an error about the bytes `span` of the text.
    pub(crate) fn error(
        self,
        span: Range<usize>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> CatalogError {
        let mut start = span.start.min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = self.text[start..]
            .find('\n')
            .map_or(self.text.len(), |at| start + at);
        let mut end = span.end.clamp(start, line_end);
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        CatalogError::Invalid(Box::new(Invalid {
            path: self.path.to_owned(),
            line: self.line(start),
            column: self.text[line_start..start].chars().count() + 1,
            length: self.text[start..end].chars().count().max(1),
            source_line: self.text[line_start..line_end]
                .trim_end_matches('\r')
                .to_owned(),
            message: message.into(),
            remedy: remedy.into(),
        }))
    }

    /// Returns file and line of the bytes `span` of the text.
    pub(crate) fn place(self, span: Range<usize>) -> String {
        format!("{}:{}", self.path, self.line(span.start))
    }

    /// Returns the line, from 1, that byte `at` is in.
    fn line(self, at: usize) -> usize {
        let before = self.text.as_bytes().iter().take(at);
        1 + before.filter(|byte| **byte == b'\n').count()
    }

    /// Parses the text.
    ///
    /// # Errors
    /// An [`Invalid`](CatalogError::Invalid) at the place that does not parse.
    pub(crate) fn parse<T: DeserializeOwned>(self) -> Result<T, CatalogError> {
        toml::from_str(self.text).map_err(|error| {
            let message = error.message().trim_end().replace('\n', "; ");
            let remedy = remedy(&message);
            self.error(error.span().unwrap_or(0..0), message, remedy)
        })
    }
}

/// Parses the TOML file `path` of `tree`.
///
/// # Errors
/// If the file is missing or does not parse.
pub(crate) fn parse_file<T: DeserializeOwned>(
    tree: &Tree,
    path: &str,
    what: &str,
) -> Result<T, CatalogError> {
    let text = tree.text(path, what)?;
    Source {
        path: &tree.display(path),
        text,
    }
    .parse()
}

/// Says what to do about an error of the TOML reader.
fn remedy(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        let expected = quoted.get(1..).unwrap_or_default().iter().copied();
        let found = quoted.first().copied().unwrap_or_default();
        // With another number a name is that of another thing: `float64` is no `float16`.
        let number = |name: &str| -> String { name.chars().filter(char::is_ascii_digit).collect() };
        let meant = nearest(found, expected).filter(|name| number(name) == number(found));
        return match meant {
            Some(name) => format!("did you mean `{name}`?"),
            None if message.starts_with("unknown variant") => {
                "use one of the expected names".to_owned()
            }
            None => "remove it, or use one of the expected names".to_owned(),
        };
    }
    if message.starts_with("missing field") {
        return format!("add `{} = …`", quoted.first().copied().unwrap_or_default());
    }
    if message.starts_with("invalid type") || message.starts_with("invalid value") {
        return "give a value of the expected type".to_owned();
    }
    if message.starts_with("duplicate") {
        return "keep one of the two".to_owned();
    }
    "correct the TOML syntax at this place (https://toml.io)".to_owned()
}
