//! Single kernels.

use autocomp_imports::{Asked, adapted};

const ASKED: Asked<'_> = Asked {
    entry: "solution",
    signature: "void solution(int8_t A[64][32], int8_t B[32][16], int8_t C[64][16])",
    meaningful_indentation: false,
};

#[test]
fn a_body_gets_the_header_of_the_problem() {
    for (source, kernel) in [
        // Names of the file's own; what stands around the function is left out.
        (
            "c\n#define X 1\nvoid solution(elem_t a[64][32], const elem_t b[32][16], elem_t *out) {\n  if (a) { b; }\n}\nint main;\n",
            "void solution(int8_t a[64][32], int8_t b[32][16], int8_t out[64][16]) {\n  if (a) { b; }\n}\n",
        ),
        // A header that is broken, too short or says nothing.
        (
            "void solution(elem_t A[64][32] elem_t B[32][16]) { f(); }",
            "void solution(int8_t A[64][32], int8_t B[32][16], int8_t C[64][16]) { f(); }\n",
        ),
        (
            "void solution() { f(); }",
            "void solution(int8_t A[64][32], int8_t B[32][16], int8_t C[64][16]) { f(); }\n",
        ),
        (
            "void solution(int a, int a, int a) { f(); }",
            "void solution(int8_t A[64][32], int8_t B[32][16], int8_t C[64][16]) { f(); }\n",
        ),
    ] {
        assert_eq!(adapted(source, ASKED, "").unwrap(), kernel);
    }
    for (source, said) in [
        ("int f() {}", "it has no `void solution(`"),
        ("void solution(int a);", "its function has no body"),
        ("} void solution(int a) {", "its function does not end"),
    ] {
        assert_eq!(adapted(source, ASKED, "").unwrap_err(), said);
    }
}

#[test]
fn a_file_keeps_all_but_its_name() {
    let asked = Asked {
        meaningful_indentation: true,
        ..ASKED
    };
    assert_eq!(
        adapted("@jit\ndef test(a):\n  return a\n", asked, "import x\n").unwrap(),
        "import x\n@jit\ndef solution(a):\n  return a\n"
    );
    assert_eq!(
        adapted("def test(): pass\ndef solution(): pass\n", asked, "").unwrap(),
        "def test(): pass\ndef solution(): pass\n"
    );
    assert_eq!(
        adapted("def test (q, k):\n  return test_of(q)\n", asked, "").unwrap(),
        "def solution (q, k):\n  return test_of(q)\n"
    );
    assert!(adapted("def other(): pass\n", asked, "").is_err());
}
