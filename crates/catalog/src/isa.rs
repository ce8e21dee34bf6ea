//! The ISA reference of a target, in sections that know their symbols.

use crate::error::CatalogError;
use crate::toml_text::Source;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One section of `isa.md`.
///
/// A section starts with a heading of the second level, followed by a comment
/// that gives its identifier and the symbols it explains:
///
/// ```text
/// ## Moving data in
/// <!-- id: load; symbols: load load2 load3; items: double-buffer hoist -->
/// ```
///
/// `items` names items of the menu which need what the section explains. Text between the
/// title of the file and its first section is a section for every kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IsaSection {
    /// Stable identifier, kebab-case.
    pub id: String,
    /// The heading.
    pub title: String,
    /// Names in kernels that the section explains, alone (`load`) or behind that of their
    /// module (`isa.load`). A section without symbols belongs to every kernel.
    pub symbols: Vec<String>,
    /// Identifiers of items of the menu that need the section.
    pub items: Vec<String>,
    /// The text below the heading, trimmed, without the comment.
    pub text: String,
}

/// The identifiers of a text, comments and strings included.
#[derive(Clone, Debug, Default)]
pub struct Identifiers<'text>(BTreeSet<&'text str>);

impl<'text> Identifiers<'text> {
    /// Returns the identifiers of `text`.
    #[must_use]
    pub fn of(text: &'text str) -> Self {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        let is_name = |word: &&str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        Self(words.filter(is_name).collect())
    }

    /// Returns whether a text with these identifiers needs a section that explains
    /// `symbols`: any of them, or all texts if there are none.
    ///
    /// A symbol behind the name of its module counts by its last part: a kernel may import
    /// a module under another name, or a function without its module. A symbol that ends with
    /// `*` stands for all names that begin with what is before it.
    #[must_use]
    pub fn need(&self, symbols: &[String]) -> bool {
        let is_here = |symbol: &String| {
            let last = symbol.rsplit('.').next();
            last.is_some_and(|last| match last.strip_suffix('*') {
                Some(begin) => {
                    let mut behind = self.0.range(begin..);
                    behind.next().is_some_and(|name| name.starts_with(begin))
                }
                None => self.0.contains(last),
            })
        };
        symbols.is_empty() || symbols.iter().any(is_here)
    }
}

/// Splits a file of the ISA reference and appends its sections to `sections`; what stands
/// before the first one gets the identifier `stem`.
///
/// # Errors
/// If a section has no comment line, an unknown key in it, or an identifier
/// that another section has.
pub(crate) fn sections(
    source: Source<'_>,
    stem: &str,
    sections: &mut Vec<IsaSection>,
) -> Result<(), CatalogError> {
    let mut lines = Vec::new();
    let mut offset = 0;
    for line in source.text.split_inclusive('\n') {
        lines.push((offset, line));
        offset += line.len();
    }
    let mut body_start: Option<usize> = preamble(source.text, stem, sections);
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
            items: Vec::new(),
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
                Some(("items", value)) => {
                    section.items = value.split_whitespace().map(str::to_owned).collect();
                }
                _ => {
                    return Err(source.error(
                        span,
                        format!(
                            "`{}` is neither `id: …` nor `symbols: …` nor `items: …`",
                            field.trim()
                        ),
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

/// Begins a section for every kernel with what stands between the title of a file and its
/// first section, and returns where its text starts; nothing if nothing stands there.
fn preamble(text: &str, id: &str, sections: &mut Vec<IsaSection>) -> Option<usize> {
    let (first, rest) = text.split_once('\n')?;
    let title = first.strip_prefix("# ")?;
    let end = rest.find("\n## ").unwrap_or(rest.len());
    if rest.starts_with("## ") || rest[..end].trim().is_empty() {
        return None;
    }
    sections.push(IsaSection {
        id: id.to_owned(),
        title: title.trim().to_owned(),
        symbols: Vec::new(),
        items: Vec::new(),
        text: String::new(),
    });
    Some(first.len() + 1)
}

/// Gives the last section its text.
fn close(sections: &mut [IsaSection], start: Option<usize>, end: usize, text: &str) {
    if let (Some(section), Some(start)) = (sections.last_mut(), start) {
        section.text = text[start..end].trim().to_owned();
    }
}
