//! The ISA reference of a target, in sections that know their symbols.

use crate::error::CatalogError;
use crate::toml_text::Source;
use std::collections::BTreeSet;

/// One section of `isa.md`.
///
/// A section starts with a heading of the second level, followed by a comment
/// that gives its identifier and the symbols it explains:
///
/// ```text
/// ## Moving data in
/// <!-- id: load; symbols: load load2 load3 -->
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsaSection {
    /// Stable identifier, kebab-case.
    pub id: String,
    /// The heading.
    pub title: String,
    /// Names in kernels that the section explains. A section without symbols
    /// belongs to every kernel.
    pub symbols: Vec<String>,
    /// The text below the heading, trimmed, without the comment.
    pub text: String,
}

impl IsaSection {
    /// Returns whether a kernel that uses `identifiers` needs this section.
    #[must_use]
    pub fn concerns(&self, identifiers: &BTreeSet<&str>) -> bool {
        self.symbols.is_empty()
            || self
                .symbols
                .iter()
                .any(|symbol| identifiers.contains(symbol.as_str()))
    }
}

/// Returns the identifiers that occur in a C text, comments and strings included.
pub(crate) fn identifiers(source: &str) -> BTreeSet<&str> {
    source
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .collect()
}

/// Splits a file of the ISA reference and appends its sections to `sections`.
///
/// # Errors
/// If a section has no comment line, an unknown key in it, or an identifier
/// that another section has.
pub(crate) fn sections(
    source: Source<'_>,
    sections: &mut Vec<IsaSection>,
) -> Result<(), CatalogError> {
    let mut lines = Vec::new();
    let mut offset = 0;
    for line in source.text.split_inclusive('\n') {
        lines.push((offset, line));
        offset += line.len();
    }
    let mut body_start: Option<usize> = None;
    let mut in_code = false;
    let mut idx = 0;
    while idx < lines.len() {
        let (offset, line) = lines[idx];
        if line.starts_with("```") {
            in_code = !in_code;
        }
        let Some(title) = line.strip_prefix("## ").filter(|_| !in_code) else {
            idx += 1;
            continue;
        };
        close(sections, body_start, offset, source.text);
        let (comment_offset, comment) = lines.get(idx + 1).copied().unwrap_or((offset, line));
        let span = comment_offset..comment_offset + comment.trim_end().len();
        let fields = comment
            .trim()
            .strip_prefix("<!--")
            .and_then(|rest| rest.strip_suffix("-->"))
            .ok_or_else(|| {
                source.error(
                    span.clone(),
                    "a section needs a comment line right below its heading",
                    "write `<!-- id: some-name; symbols: first second -->` below the heading",
                )
            })?;
        let mut section = IsaSection {
            id: String::new(),
            title: title.trim().to_owned(),
            symbols: Vec::new(),
            text: String::new(),
        };
        for field in fields.split(';') {
            match field
                .split_once(':')
                .map(|(key, value)| (key.trim(), value.trim()))
            {
                Some(("id", value)) => section.id = value.to_owned(),
                Some(("symbols", value)) => {
                    section.symbols = value.split_whitespace().map(str::to_owned).collect();
                }
                _ => {
                    return Err(source.error(
                        span,
                        format!("`{}` is neither `id: …` nor `symbols: …`", field.trim()),
                        "write `<!-- id: some-name; symbols: first second -->`",
                    ));
                }
            }
        }
        if section.id.is_empty() || sections.iter().any(|other| other.id == section.id) {
            return Err(source.error(
                span,
                format!("the identifier `{}` is empty or used before", section.id),
                "give every section an identifier of its own",
            ));
        }
        sections.push(section);
        body_start = Some(comment_offset + comment.len());
        idx += 2;
    }
    close(sections, body_start, source.text.len(), source.text);
    Ok(())
}

/// Gives the last section its text.
fn close(sections: &mut [IsaSection], start: Option<usize>, end: usize, text: &str) {
    if let (Some(section), Some(start)) = (sections.last_mut(), start) {
        section.text = text[start..end].trim().to_owned();
    }
}
