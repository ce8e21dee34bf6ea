//! Constructs that a kernel must not use. The same rules hold for its text and for what
//! is left of it when macros are expanded.

use super::tokens::{Kind, Token};
use super::{location, refusal};
use autocomp_core::Diagnostic;
use std::collections::{BTreeSet, HashMap};

/// Attributes that say how code is compiled or what it promises, and how data is laid
/// out. No other is accepted: some place code or data, replace symbols, or run code
/// outside the call.
const ATTRIBUTES: &[&str] = &[
    "aligned",
    "alloc_size",
    "always_inline",
    "artificial",
    "assume",
    "assume_aligned",
    "clang",
    "cold",
    "const",
    "deprecated",
    "ext_vector_type",
    "fallthrough",
    "flatten",
    "format",
    "gnu",
    "gnu_inline",
    "hot",
    "leaf",
    "likely",
    "malloc",
    "may_alias",
    "maybe_unused",
    "minsize",
    "mode",
    "musttail",
    "noclone",
    "nodebug",
    "nodiscard",
    "noinline",
    "noipa",
    "nonnull",
    "noreturn",
    "nothrow",
    "opencl_unroll_hint",
    "optimize",
    "optnone",
    "packed",
    "pure",
    "reproducible",
    "returns_nonnull",
    "transparent_union",
    "unlikely",
    "unsequenced",
    "unused",
    "used",
    "vector_size",
    "warn_unused_result",
];

/// Names of the start code and the linker script, which a kernel has no business with.
const RUNTIME_NAMES: &[&str] = &[
    "tohost",
    "fromhost",
    "_start",
    "_end",
    "__stack_top",
    "__stack_bottom",
    "__bss_start",
    "__bss_end",
    "__global_pointer$",
];

/// Returns whether `name` is one of the runtime's own.
#[must_use]
pub fn is_runtime_name(name: &str) -> bool {
    RUNTIME_NAMES.contains(&name) || name.starts_with("autocomp_")
}

/// Pragmas that only advise the optimizer.
const ALLOWED_PRAGMAS: &[&[&str]] = &[
    &["unroll"],
    &["nounroll"],
    &["clang", "loop"],
    // Freedoms of arithmetic within a block; the tolerance decides what they may change.
    &["clang", "fp"],
    &["GCC", "unroll"],
    &["GCC", "ivdep"],
    &["once"],
    // Declares the vector intrinsics of RISC-V, in the compiler's own header.
    &["clang", "riscv", "intrinsic", "vector"],
];

/// Prefixes of string literals in which nothing is escaped and lines may end.
const RAW_PREFIXES: &[&str] = &["R", "LR", "uR", "UR", "u8R"];

/// Whether and how a text may contain assembly.
#[derive(Clone, Copy)]
pub(super) enum Assembly<'a> {
    /// None at all.
    Refused,
    /// These templates and no others: those of the target's headers.
    Only(&'a BTreeSet<String>),
}

/// Returns a diagnostic for every banned construct in a kernel's own text.
pub(super) fn check(tokens: &[Token<'_>], file: &str) -> Vec<Diagnostic> {
    let definitions = definitions(tokens);
    let mut found = Vec::new();
    for (idx, token) in tokens.iter().enumerate() {
        if token.starts_line && token.is('#') {
            let line = &tokens[idx + 1..];
            let end = line
                .iter()
                .take_while(|next| next.logical_line == token.logical_line)
                .count();
            found.extend(directive(&definitions, token, &line[..end], file));
        }
        found.extend(word(tokens, idx, file, Assembly::Refused));
    }
    found
}

fn directive(
    definitions: &Definitions<'_, '_>,
    hash: &Token<'_>,
    rest: &[Token<'_>],
    file: &str,
) -> Option<Diagnostic> {
    let name = rest.first()?;
    let (code, message, remedy) = match name.word() {
        "include" | "include_next" | "import" => (
            "include",
            "a kernel cannot include files".to_owned(),
            "remove the line; the target's header is already included",
        ),
        "embed" => (
            "include",
            "a kernel cannot embed files".to_owned(),
            "remove the line and compute the data or write it out",
        ),
        "line" => (
            "line-directive",
            "line directives are not allowed".to_owned(),
            "remove the line",
        ),
        _ if name.kind == Kind::Number => (
            "line-directive",
            "line markers are not allowed".to_owned(),
            "remove the line",
        ),
        "pragma" => {
            return pragma(hash, &rest[1..], file).or_else(|| {
                let is_number = is_number(definitions, &rest[1..], &mut { MOST_ARGUMENT_TOKENS });
                (!is_number).then(|| {
                    refusal(
                        "pragma-argument",
                        "the argument of a pragma is more than a number".to_owned(),
                        location(file, hash),
                        "write a number, or a macro that is one",
                    )
                })
            });
        }
        _ => return None,
    };
    Some(refusal(code, message, location(file, hash), remedy))
}

/// Checks the words behind `pragma`.
pub(super) fn pragma(hash: &Token<'_>, rest: &[Token<'_>], file: &str) -> Option<Diagnostic> {
    let words: Vec<&str> = rest.iter().map(Token::word).collect();
    let is_allowed = |allowed: &&[&str]| words.starts_with(allowed);
    if ALLOWED_PRAGMAS.iter().any(is_allowed) {
        return None;
    }
    Some(refusal(
        "pragma",
        format!("the pragma `{}` is not allowed", words.join(" ").trim()),
        location(file, hash),
        "remove the line; `#pragma unroll` and `#pragma clang loop` are allowed",
    ))
}

/// Tokens that the argument of a pragma may be made of, those of its macros included.
const MOST_ARGUMENT_TOKENS: usize = 100;

/// What `#define` lines put in place of each macro, by name.
type Definitions<'t, 's> = HashMap<&'t str, Vec<&'t [Token<'s>]>>;

/// Returns whether `argument` is made of words, numbers and arithmetic, and so are the
/// macros in it. Nobody sees what these expand to: the preprocessor leaves pragmas as
/// they are. Takes as many tokens as it looks at from `left`.
fn is_number(definitions: &Definitions<'_, '_>, argument: &[Token<'_>], left: &mut usize) -> bool {
    let arithmetic = ['(', ')', '+', '-', '*', '/', '<', '>', ','];
    argument.iter().all(|token| {
        let Some(fewer) = left.checked_sub(1) else {
            return false;
        };
        *left = fewer;
        match token.kind {
            Kind::Number => true,
            Kind::Word => {
                let found = definitions.get(&*token.text).into_iter().flatten();
                found
                    .copied()
                    .all(|definition| is_number(definitions, definition, left))
            }
            Kind::Mark(mark) => arithmetic.contains(&mark),
            Kind::Literal => false,
        }
    })
}

fn definitions<'t, 's>(tokens: &'t [Token<'s>]) -> Definitions<'t, 's> {
    let mut found = Definitions::new();
    for (at, three) in tokens.windows(3).enumerate() {
        let [hash, define, name] = three else {
            continue;
        };
        let line = hash.logical_line;
        if hash.starts_line
            && hash.is('#')
            && define.word() == "define"
            && name.logical_line == line
        {
            let rest = &tokens[at + 3..];
            let end = rest.iter().take_while(|token| token.logical_line == line);
            let definition = &rest[..end.count()];
            found.entry(name.word()).or_default().push(definition);
        }
    }
    found
}

/// Checks the construct that begins with the token at `idx`.
pub(super) fn word(
    tokens: &[Token<'_>],
    idx: usize,
    file: &str,
    assembly: Assembly<'_>,
) -> Option<Diagnostic> {
    let token = &tokens[idx];
    let (code, message, remedy) = match token.word() {
        "asm" | "__asm" | "__asm__" => {
            if let Assembly::Only(templates) = assembly
                && template(&tokens[idx + 1..]).is_some_and(|text| templates.contains(text))
            {
                return None;
            }
            (
                "inline-assembly",
                format!("inline assembly (`{}`) is not allowed", token.text),
                "use what the target's header declares",
            )
        }
        "_Pragma" | "__pragma" => (
            "pragma",
            format!("`{}` is not allowed", token.text),
            "write a `#pragma unroll` line instead",
        ),
        "__has_include" | "__has_include_next" | "__has_embed" => (
            "include",
            format!("`{}` is not allowed", token.text),
            "remove it; a kernel cannot include files",
        ),
        "_Thread_local" | "__thread" | "thread_local" => (
            "thread-local",
            format!("`{}` is not allowed: there are no threads", token.text),
            "make it a plain static variable",
        ),
        name if is_runtime_name(name) => (
            "runtime-name",
            format!("`{name}` belongs to the runtime"),
            "use another name; a kernel returns from its entry function and does nothing else to end",
        ),
        name if RAW_PREFIXES.contains(&name) && is_joined(token, tokens.get(idx + 1)) => (
            "raw-string",
            "raw string literals are not allowed".to_owned(),
            "write a plain one",
        ),
        _ => return None,
    };
    Some(refusal(code, message, location(file, token), remedy))
}

/// Returns whether a string literal follows without anything in between.
fn is_joined(token: &Token<'_>, next: Option<&Token<'_>>) -> bool {
    next.is_some_and(|next| {
        next.text.starts_with('"')
            && next.line == token.line
            && next.column == token.column + token.text.chars().count() as u32
    })
}

/// Returns the template of a statement of assembly whose keyword stands before `tokens`,
/// with its quotes; nothing if it is no single literal.
pub(super) fn template<'t>(tokens: &'t [Token<'_>]) -> Option<&'t str> {
    let qualifiers = ["volatile", "__volatile__", "__volatile"];
    let mut rest = tokens
        .iter()
        .skip_while(|token| qualifiers.contains(&token.word()));
    let opens = rest.next()?.is('(');
    let text = rest.next().filter(|token| token.kind == Kind::Literal)?;
    let ends = rest
        .next()
        .is_some_and(|token| token.is(':') || token.is(')'));
    (opens && ends).then_some(&text.text)
}

/// Checks the attributes that begin with the token at `idx`, if any do. In a kernel's own
/// text their names may be macros.
pub(super) fn attributes(tokens: &[Token<'_>], idx: usize, file: &str) -> Option<Diagnostic> {
    let follows = |mark| tokens.get(idx + 1).is_some_and(|next| next.is(mark));
    match tokens[idx].word() {
        "__attribute__" | "__attribute" => attribute(&tokens[idx + 1..], '(', ')', file),
        _ if tokens[idx].is('[') && follows('[') => attribute(&tokens[idx..], '[', ']', file),
        _ => None,
    }
}

/// Checks the names in the bracketed list that `tokens` begin with, and not the arguments
/// in it.
fn attribute(tokens: &[Token<'_>], open: char, close: char, file: &str) -> Option<Diagnostic> {
    let mut depth = 0_usize;
    for token in tokens {
        let is_name = depth == 2 && !token.word().is_empty();
        if token.is(open) || depth >= 2 && token.is('(') {
            depth += 1;
        } else if token.is(close) || depth > 2 && token.is(')') {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return None;
            }
        } else if depth == 0 {
            // No list follows; the compiler will say so.
            return None;
        }
        let name = token.word().trim_matches('_');
        if is_name && !ATTRIBUTES.contains(&name) {
            return Some(refusal(
                "attribute",
                format!("the attribute `{name}` is not allowed"),
                location(file, token),
                "remove it; `aligned`, `unused`, `noinline`, `always_inline` and the like are allowed",
            ));
        }
    }
    None
}
