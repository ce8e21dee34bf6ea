//! What to do without the functions of a C library that no kernel and no reference has.

/// Functions, and what to do without them.
const ABSENT: [(&[&str], &str); 5] = [
    (
        &["malloc", "calloc", "realloc", "aligned_alloc", "free"],
        "there is no heap: use a static array of the source file",
    ),
    (
        &["assert"],
        "remove it, or write `_Static_assert` for what is constant: a call is not to end the program",
    ),
    (
        &["static_assert"],
        "write `_Static_assert`, which needs no header",
    ),
    (
        &["printf", "fprintf", "puts", "putchar", "fputs", "fwrite"],
        "remove it: nothing can be printed to",
    ),
    (
        &["exit", "abort"],
        "remove it: the source returns from its entry function and does nothing else to end",
    ),
];

/// Returns what to do without the function that a message of a compiler or linker calls
/// undeclared or undefined.
pub(crate) fn remedy(message: &str) -> Option<&'static str> {
    let name = match message.split_once("undefined symbol: ") {
        Some((_, name)) => name.trim(),
        None if message.contains("undeclared") || message.contains("implicit declaration") => {
            message.split(['\'', '`', '‘', '’']).nth(1)?
        }
        None => return None,
    };
    let found = ABSENT.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, remedy)| *remedy)
}
