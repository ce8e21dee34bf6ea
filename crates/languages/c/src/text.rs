//! Just enough of C's lexical form to find a function in hostile text.

use autocomp_core::Expansion;

/// Returns `source` with comments, strings and character literals replaced by
/// spaces, byte for byte, so that offsets stay valid. Line ends are kept.
#[must_use]
pub fn blank(source: &str) -> Vec<u8> {
    let bytes = source.as_bytes();
    let mut blanked = bytes.to_vec();
    let mut idx = 0;
    while idx < bytes.len() {
        let end = match (bytes[idx], bytes.get(idx + 1)) {
            (b'/', Some(b'/')) => line_end(bytes, idx),
            (b'/', Some(b'*')) => find(bytes, idx + 2, b"*/").map_or(bytes.len(), |end| end + 2),
            (quote @ (b'"' | b'\''), _) => literal_end(bytes, idx, quote),
            _ => {
                idx += 1;
                continue;
            }
        };
        for byte in &mut blanked[idx..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        idx = end;
    }
    blanked
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    bytes[start..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |len| start + len)
}

fn find(bytes: &[u8], start: usize, needle: &[u8]) -> Option<usize> {
    bytes
        .get(start..)?
        .windows(needle.len())
        .position(|window| window == needle)
        .map(|at| start + at)
}

/// Returns the end of a literal; an unclosed one ends with its line.
fn literal_end(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut idx = start + 1;
    while idx < bytes.len() && bytes[idx] != b'\n' {
        match bytes[idx] {
            b'\\' => idx += 2,
            byte if byte == quote => return idx + 1,
            _ => idx += 1,
        }
    }
    idx.min(bytes.len())
}

/// Returns whether braces and parentheses are balanced outside comments and literals.
#[must_use]
pub fn is_balanced(blanked: &[u8]) -> bool {
    let mut braces = 0_i64;
    let mut parens = 0_i64;
    for byte in blanked {
        match byte {
            b'{' => braces += 1,
            b'}' => braces -= 1,
            b'(' => parens += 1,
            b')' => parens -= 1,
            _ => {}
        }
        if braces < 0 || parens < 0 {
            return false;
        }
    }
    braces == 0 && parens == 0
}

/// Returns whether a function named `entry` is defined (not only declared or
/// called): its name, a parameter list, then a brace, at the outermost level.
#[must_use]
pub fn defines(blanked: &[u8], entry: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let mut depth = 0_i64;
    let mut idx = 0;
    while idx < blanked.len() {
        match blanked[idx] {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            byte if is_word(byte) => {
                let end = blanked[idx..]
                    .iter()
                    .position(|byte| !is_word(*byte))
                    .map_or(blanked.len(), |len| idx + len);
                if depth <= 0
                    && &blanked[idx..end] == entry.as_bytes()
                    && body_follows(&blanked[end..])
                {
                    return true;
                }
                idx = end;
                continue;
            }
            _ => {}
        }
        idx += 1;
    }
    false
}

/// Returns whether `(…) {` comes next.
fn body_follows(rest: &[u8]) -> bool {
    let mut depth = 0_i64;
    let mut opened = false;
    for byte in rest {
        match byte {
            b'(' => {
                depth += 1;
                opened = true;
            }
            b')' => depth -= 1,
            b'{' if opened && depth == 0 => return true,
            byte if byte.is_ascii_whitespace() => {}
            _ if 0 < depth => {}
            // Attributes may stand between the parameters and the body.
            byte if opened && (byte.is_ascii_alphanumeric() || *byte == b'_') => {}
            _ => return false,
        }
    }
    false
}

/// Returns the macros that `source` defines, in the order of their lines.
/// Comments and strings may hide one or make one up: good for hints only.
#[must_use]
pub fn macros(source: &str) -> Vec<Expansion> {
    let mut macros = Vec::new();
    let mut lines = source.lines().enumerate();
    while let Some((idx, line)) = lines.next() {
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let Some(definition) = directive.and_then(|it| it.strip_prefix("define")) else {
            continue;
        };
        let mut text = definition.trim().to_owned();
        while let Some(head) = text.strip_suffix('\\') {
            let next = lines.next().map_or("", |(_, line)| line.trim());
            text = format!("{} {next}", head.trim_end());
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let body = match rest.strip_prefix('(') {
            Some(rest) => rest.split_once(')').map_or("", |(_, body)| body),
            None => rest,
        };
        if !name.is_empty() {
            macros.push(Expansion {
                name: name.to_owned(),
                line: idx as u32 + 1,
                body: body.trim().to_owned(),
            });
        }
    }
    macros
}
