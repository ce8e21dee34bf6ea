//! Macros of C are expanded.

use autocomp_gemmini_rewriter::inside::expand;

#[test]
fn macros_expand_on_their_lines() {
    let cases = [
        ("#define N 4\nint x = N;\n", "\nint x = 4;\n"),
        (
            "#define SQ(a) ((a) * (a))\nSQ(1 +\n 2)",
            "\n((1 + 2) * (1 + 2))\n",
        ),
        ("#define A B\n#define B A + 1\nA", "\n\nA + 1"),
        ("#define CAT(a, b) a##b\nCAT(mv, in2)(0)", "\nmvin2(0)"),
        ("#define M(...) f(__VA_ARGS__)\nM(1, 2)", "\nf(1,2)"),
        ("#define T \\\n  g();\nT", "\n\ng();"),
        (
            "#define N 2\n#if N == 2\na\n#else\nb\n#endif\n",
            "\n\na\n\n\n\n",
        ),
        ("#ifndef X\n#define X\n#endif\nX f", "\n\n\n f"),
        ("// N\n\"N\" N\n", "// N\n\"N\" N\n"),
        ("#define F(x) x\nF + F(2)", "\nF + 2"),
    ];
    for (source, expected) in cases {
        let expanded = expand(source).expect("expands");
        assert_eq!(expanded, expected, "{source}");
    }
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let refusal = expand("int x;\n#if f(3) + 1\n#endif").expect_err("refused");
    assert_eq!(refusal.0, 2);
}
