//! The text of a program without what is only said.

/// Returns a program without comments, continued lines joined, and without what its strings and
/// characters hold.
pub(super) fn without_comments(source: &str) -> String {
    let source = source.replace("\r\n", "\n").replace("\\\n", "");
    let mut result = String::new();
    let mut rest = source.as_str();
    while let Some(at) = rest.find(['/', '"', '\'']) {
        result += &rest[..at];
        rest = &rest[at..];
        rest = match rest.as_bytes() {
            [b'/', b'/', ..] => &rest[rest.find('\n').unwrap_or(rest.len())..],
            [b'/', b'*', ..] => {
                result.push(' ');
                rest[2..].split_once("*/").map_or("", |it| it.1)
            }
            [b'/', ..] => {
                result.push('/');
                &rest[1..]
            }
            _ => {
                let (quote, inner) = rest.split_at(1);
                result += quote;
                result += quote;
                behind_quoted(inner, quote.as_bytes()[0])
            }
        };
    }
    result + rest
}

/// Returns what stands behind a string that is open, which ends with its line at the latest.
fn behind_quoted(text: &str, quote: u8) -> &str {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\n' => return &text[at..],
            b'\\' => drop(bytes.next()),
            _ if byte == quote => return &text[at + 1..],
            _ => {}
        }
    }
    ""
}
