//! A form that kernels share which differ in comments and empty lines only.

/// Returns `source` without comments, empty lines and spaces at the ends of lines.
pub fn normal_form(source: &str) -> String {
    let mut form = String::with_capacity(source.len());
    let mut line = 0;
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        match first {
            '#' => {
                rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
                continue;
            }
            '"' | '\'' => {
                length = string_length(rest, first);
                form.push_str(&rest[..length]);
            }
            '\n' => {
                // Spaces within a string of several lines are not at an end.
                form.truncate(line + form[line..].trim_end_matches([' ', '\t', '\r']).len());
                if line < form.len() {
                    form.push('\n');
                }
                line = form.len();
            }
            _ => form.push(first),
        }
        rest = &rest[length..];
    }
    form.truncate(line + form[line..].trim_end().len());
    // Whether the last line has an end is no difference.
    form.truncate(form.trim_end_matches('\n').len());
    form
}

/// Returns how many bytes the string at the beginning of a text has; one that is
/// not closed ends with its line, or with the text if it may have several lines.
fn string_length(text: &str, quote: char) -> usize {
    let triple = quote.to_string().repeat(3);
    let is_long = text.starts_with(&triple);
    let mut is_escaped = false;
    let start = if is_long { 3 } else { 1 };
    for (idx, c) in text[start..].char_indices() {
        let here = start + idx;
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '\n' if !is_long => return here,
            _ if is_long && text[here..].starts_with(&triple) => return here + 3,
            _ if !is_long && c == quote => return here + 1,
            _ => {}
        }
    }
    text.len()
}
