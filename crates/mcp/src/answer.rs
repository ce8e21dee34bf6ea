//! What a client gets back: text or a structured object, never both, and no more of it than a
//! model should read at once.

use crate::calls::{Form, Refusal};
use crate::place::{Place, page};
use crate::process::Ended;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// Bytes of an answer at most; what is longer is kept as a file, of which the first page comes.
pub const LONGEST: usize = 24_000;
/// Bytes of a page.
pub const PAGE: usize = 16_000;
/// Characters of a message about progress at most.
pub const LONGEST_MESSAGE: usize = 200;

/// Returns a line as a message about progress.
pub fn message(line: &str) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let line: String = line.chars().map(clean).collect();
    let line = line.trim();
    if line.chars().count() <= LONGEST_MESSAGE {
        return line.to_owned();
    }
    let mut cut: String = line.chars().take(LONGEST_MESSAGE - 1).collect();
    cut.push('…');
    cut
}

pub fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

pub fn refused(refusal: &Refusal) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(refusal.to_string())])
}

/// Returns an object, as structured content alone.
pub fn structured(value: Value) -> CallToolResult {
    let mut result = CallToolResult::success(Vec::new());
    result.structured_content = Some(value);
    result
}

/// Exit codes of commands that have a result: done, and done with the answer no.
const ANSWERED: [Option<i32>; 2] = [Some(0), Some(1)];

/// Returns what a call of the program came to.
pub fn of_call(
    place: &Place,
    tool: &str,
    form: Form,
    note: Option<&str>,
    ended: &Ended,
) -> CallToolResult {
    if !ANSWERED.contains(&ended.code) {
        return failed(form, ended);
    }
    let answer = match form {
        Form::Text => in_text(place, tool, note, ended),
        Form::Json => in_json(place, tool, note, ended),
    };
    answer.unwrap_or_else(|refusal| refused(&refusal))
}

fn failed(form: Form, ended: &Ended) -> CallToolResult {
    let said = match ended.said.find("error: ") {
        Some(at) => &ended.said[at..],
        None => &ended.said,
    };
    let mut said = said.trim().to_owned();
    if said.is_empty() {
        said = match ended.code {
            Some(code) => format!("error: the command ended with exit code {code}"),
            None => "error: the command was ended by a signal".to_owned(),
        };
    }
    let mut result = CallToolResult::error(Vec::new());
    match (form, serde_json::from_str::<Value>(&ended.result)) {
        (Form::Json, Ok(value)) => result.structured_content = Some(value),
        _ => result.content.push(ContentBlock::text(said)),
    }
    result
}

/// Returns the lines that the command says beside its result and that matter for it.
fn warnings(ended: &Ended) -> impl Iterator<Item = &str> {
    ended.said.lines().filter(|it| it.starts_with("warning: "))
}

fn in_text(
    place: &Place,
    tool: &str,
    note: Option<&str>,
    ended: &Ended,
) -> Result<CallToolResult, Refusal> {
    let mut out = String::new();
    for line in note.into_iter().chain(warnings(ended)) {
        out += line;
        out.push('\n');
    }
    if ended.result.len() <= LONGEST {
        out += &ended.result;
        return Ok(text(out));
    }
    let path = place.keep_answer(tool, &ended.result, "txt")?;
    let (first, end, length) = page(&path, 0, PAGE)?;
    let shown = place.shown(&path);
    out += &first;
    out += &format!(
        "\n… {end} of {length} bytes; the tool `read` goes on: path {shown}, offset {end}\n"
    );
    Ok(text(out))
}

fn in_json(
    place: &Place,
    tool: &str,
    note: Option<&str>,
    ended: &Ended,
) -> Result<CallToolResult, Refusal> {
    let mut value: Value = serde_json::from_str(&ended.result)
        .map_err(|error| Refusal::new(format!("the result is not understood: {error}")))?;
    if LONGEST < ended.result.len() {
        let path = place.keep_answer(tool, &ended.result, "json")?;
        return Ok(structured(json!({
            "file": place.shown(&path),
            "bytes": ended.result.len(),
            "note": "the object is too long for an answer; the tool `read` gives it in pages",
        })));
    }
    let warnings: Vec<&str> = warnings(ended).collect();
    if let Some(object) = value.as_object_mut() {
        if let Some(note) = note {
            object.insert("note".to_owned(), note.into());
        }
        if !warnings.is_empty() {
            object.insert("warnings".to_owned(), warnings.into());
        }
    }
    Ok(structured(value))
}
