//! Macros of C are expanded.

use autocomp_nests::expanded;

#[test]
fn macros_are_replaced_and_lines_kept() {
    let source = "#define N 8 // eight\n#define AT(a, i) ((a)[(i) * N])\n/* two\nlines */\nx = AT(y, i + 1) + N;\n";
    let text = expanded(source).expect("plain macros");
    assert_eq!(text.lines().nth(4), Some("x = ((y)[(i + 1) * 8]) + 8;"));
}

#[test]
fn signs_of_macros_do_not_grow_together() {
    let source = "#define N -1\n#define MINUS(x) -x\n#define AT &a[1]\nx = 3-N;\ny = -MINUS(N);\nz = 1&AT;\nw = a-1;\n";
    let text = expanded(source).expect("plain macros");
    let lines: Vec<&str> = text.lines().skip(3).collect();
    assert_eq!(
        lines,
        ["x = 3- -1;", "y = - - -1;", "z = 1& &a[1];", "w = a-1;"]
    );
}

#[test]
fn a_macro_that_names_itself_ends() {
    assert_eq!(
        expanded("#define a a + b\n#define b a\na"),
        Ok("\n\na + a\n".into())
    );
}

#[test]
fn what_the_compiler_decides_is_refused_with_its_line() {
    let said = expanded("\n#ifdef __AVX512F__\n#endif\n").expect_err("unknown");
    assert_eq!(said.line, Some(2));
    assert!(
        said.why.starts_with("asks for a macro of the compiler"),
        "{said}"
    );
}
