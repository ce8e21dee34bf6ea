//! Types by their names.

/// Returns whether numbers of a type may be indices.
pub(crate) fn is_whole(kind: &str) -> bool {
    const WHOLE: &[&str] = &[
        "int",
        "unsigned",
        "unsigned int",
        "uint",
        "long",
        "unsigned long",
        "long long",
        "unsigned long long",
        "size_t",
        "int32_t",
        "uint32_t",
        "int64_t",
        "uint64_t",
    ];
    WHOLE.contains(&kind)
}

/// Returns whether a type that CUDA adds to those of C stands in parentheses before what becomes one.
pub(crate) fn is_name_of_type(name: &str) -> bool {
    const NAMES: &[&str] = &["half", "__half", "__nv_bfloat16", "nv_bfloat16", "uint"];
    NAMES.contains(&name)
}

/// Returns how many bytes an element of a type takes, if that is known.
pub(crate) fn bytes_of(kind: &str) -> Option<i64> {
    Some(match kind {
        "double" | "long" | "unsigned long" | "long long" | "unsigned long long" | "size_t"
        | "int64_t" | "uint64_t" => 8,
        "float" | "int" | "unsigned" | "unsigned int" | "uint" | "int32_t" | "uint32_t" => 4,
        "half" | "__half" | "__nv_bfloat16" | "nv_bfloat16" | "short" | "unsigned short"
        | "int16_t" | "uint16_t" => 2,
        "char" | "signed char" | "unsigned char" | "int8_t" | "uint8_t" => 1,
        _ => return None,
    })
}

/// Returns a text in which names that `typedef` gives to types of one word are these types.
pub(crate) fn without_names_of_types(plain: &str) -> String {
    let mut text = plain.to_owned();
    for line in plain.lines() {
        let Some(rest) = line.trim().strip_prefix("typedef ") else {
            continue;
        };
        let words: Vec<&str> = rest.trim_end_matches(';').split_whitespace().collect();
        let [kind, name] = words.as_slice() else {
            continue;
        };
        if rest.ends_with(';') && [kind, name].iter().all(|it| it.chars().all(is_of_word)) {
            // What is left of the line names a type anew that there is.
            text = with_word(&text.replacen(line, "", 1), name, kind);
        }
    }
    text
}

/// Returns whether a letter may stand in a word of C.
pub(crate) fn is_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Returns a text with another word in place of `word`.
pub(crate) fn with_word(text: &str, word: &str, other: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, behind) = (&rest[..at], &rest[at + word.len()..]);
        let is_whole = !before.ends_with(is_of_word) && !behind.starts_with(is_of_word);
        result += before;
        result += if is_whole { other } else { word };
        rest = behind;
    }
    result + rest
}
