//! Names of characters.

/// Entities that documents use most.
const ENTITIES: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("ndash", "–"),
    ("mdash", "—"),
    ("hellip", "…"),
    ("times", "×"),
    ("le", "≤"),
    ("ge", "≥"),
    ("ne", "≠"),
    ("micro", "µ"),
    ("middot", "·"),
    ("rarr", "→"),
    ("larr", "←"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("copy", "©"),
    ("reg", "®"),
    ("deg", "°"),
    ("plusmn", "±"),
    ("para", ""),
];

/// Returns a text with characters in place of entities.
pub fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out += &rest[..at];
        let behind = &rest[at + 1..];
        let end = behind.bytes().take(12).position(|it| it == b';');
        let name = end.and_then(|end| behind.get(..end));
        let character = name.and_then(|name| {
            if let Some(number) = name.strip_prefix('#') {
                let number = match number.strip_prefix(['x', 'X']) {
                    Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                    None => number.parse().ok()?,
                };
                return char::from_u32(number).map(String::from);
            }
            let known = ENTITIES.iter().find(|(it, _)| *it == name);
            known.map(|it| it.1.to_owned())
        });
        match (character, name) {
            (Some(character), Some(name)) => {
                out += &character;
                rest = &behind[name.len() + 1..];
            }
            _ => {
                out.push('&');
                rest = behind;
            }
        }
    }
    out + rest
}
