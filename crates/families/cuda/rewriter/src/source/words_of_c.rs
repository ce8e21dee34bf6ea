//! CUDA's own words, which the grammar of C does not have.

use crate::kinds::is_of_word;

/// Replaces words of CUDA by words of C of the same length.
pub(super) fn in_words_of_c(plain: &str) -> String {
    const WORDS: &[(&str, &str)] = &[
        ("__global__", "extern"),
        ("__device__", "static"),
        ("__shared__", "register"),
        ("__host__", ""),
        ("__restrict__", ""),
        ("__restrict", ""),
        ("__forceinline__", "inline"),
        ("constexpr", "const"),
    ];
    let mut result = String::with_capacity(plain.len());
    let mut rest = plain;
    // Whether the last word was `dim3`, which another word follows.
    let pad = |word: &str, length: usize| format!("{word:<length$}");
    let mut in_launch = false;
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("<<<") {
            in_launch = true;
            result += "(  ";
            rest = &rest[3..];
            continue;
        }
        if in_launch && rest.starts_with(">>>") {
            in_launch = false;
            result += ")  ";
            rest = &rest[3..];
            continue;
        }
        if !is_of_word(c) {
            result.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let end = rest.find(|it| !is_of_word(it)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at(end);
        rest = behind;
        if word == "__launch_bounds__" {
            let length = behind.find(')').map_or(0, |it| it + 1);
            let bounds: String = behind[..length]
                .chars()
                .map(|it| if it == '\n' { '\n' } else { ' ' })
                .collect();
            result += &pad("", word.len());
            result += &bounds;
            rest = &behind[length..];
            continue;
        }
        // `static_cast<float>(x)` reads as `(float)(x)`.
        if word == "static_cast"
            && let Some(kind) = behind.trim_start().strip_prefix('<')
            && let Some((kind, rest_of_it)) = kind.split_once('>')
            && kind.chars().all(|it| is_of_word(it) || it == ' ')
        {
            result += &pad(
                &format!("({kind})"),
                plain.len() - result.len() - rest_of_it.len(),
            );
            rest = rest_of_it;
            continue;
        }
        // `dim3 grid(4, 4);` reads as a call.
        let next = behind.trim_start();
        let named = next.find(|it| !is_of_word(it)).unwrap_or(0);
        if word == "dim3" && 0 < named && next[named..].trim_start().starts_with('(') {
            result += "    ";
            continue;
        }
        match WORDS.iter().find(|it| it.0 == word) {
            Some((_, of_c)) => result += &pad(of_c, word.len()),
            None => result += word,
        }
    }
    result
}
