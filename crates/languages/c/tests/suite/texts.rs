//! Macros and brackets of a text.

use autocomp_c::inside::{blank, defines, is_balanced, macros};

#[test]
fn macros_are_found_with_their_lines() {
    let source = "#define N 4\nint x;\n  # define MOVE(i, j) copy(a[i], j); \\\n    fence()\n#define NOTHING\n#undef N\n#define";
    let of = |name: &str, line, body: &str| autocomp_core::Expansion {
        name: name.to_owned(),
        line,
        body: body.to_owned(),
    };
    assert_eq!(
        macros(source),
        [
            of("N", 1, "4"),
            of("MOVE", 3, "copy(a[i], j); fence()"),
            of("NOTHING", 5, "")
        ]
    );
}

#[test]
fn comments_and_literals_do_not_count() {
    let source = "// void solution() {\n\"{ void solution() {\" '{' /* { */ int x;";
    let blanked = blank(source);
    assert_eq!(blanked.len(), source.len());
    assert!(is_balanced(&blanked));
    assert!(!defines(&blanked, "solution"));
}

#[test]
fn definitions_are_told_from_calls_and_declarations() {
    let check = |source: &str| defines(&blank(source), "solution");
    assert!(check("void solution(int8_t a[4][4])\n{\n}"));
    assert!(check("void solution(void) __attribute__((noinline)) {}"));
    assert!(!check("void solution(int8_t a[4][4]);"));
    assert!(!check("int main(void) { solution(a); { } }"));
    assert!(!check("void my_solution(void) {}"));
}
