//! What counts as the same kernel.

use autocomp_c::inside::normal_form;
use proptest::prelude::proptest;

const KERNEL: &str = "#define TILE 16\nvoid solution(int8_t A[512][512], elem_t *out) {\n  \
                      // all tiles\n  for (int i = 0; i < TILE; i++)\n    out[i] = A[i][0] - -3;\n}\n";

fn is_same(changes: &[(&str, &str)]) -> bool {
    let changed = changes
        .iter()
        .fold(KERNEL.to_owned(), |kernel, (from, to)| {
            assert!(kernel.contains(from), "{from}");
            kernel.replace(from, to)
        });
    normal_form(&changed) == normal_form(KERNEL)
}

#[test]
fn what_changes_nothing_has_the_same_form() {
    assert!(is_same(&[("// all tiles\n", "/* some * of / them */")]));
    assert!(is_same(&[("  ", "\t"), ("{\n", "\n{"), ("; i", ";i")]));
    assert!(is_same(&[("16\n", "\\\n 16 // columns\n\n")]));
    assert!(is_same(&[
        ("int i ", "int row "),
        ("; i <", "; row <"),
        ("i++", "row++"),
        ("[i]", "[row]")
    ]));
    assert!(is_same(&[("*out", "* result"), ("out[", "result[")]));
}

#[test]
fn what_may_change_something_has_another_form() {
    let others = [
        [("TILE 16", "TILE 32")],
        [("- -3", "--3")],
        [("elem_t", "acc_t")],
        [("A[i][0]", "A[0][i]")],
        [("TILE 16\n", "TILE 16 ")],
        [("i++", "++i")],
        [("solution", "answer")],
    ];
    for change in others {
        assert!(!is_same(&change), "{change:?}");
    }
    let same = |a: &str, b: &str| normal_form(a) == normal_form(b);
    // Constants of a header are no variables, nor are members and functions.
    assert!(!same("int x = dim;", "int x = bank;"));
    assert!(!same("int a, b; f(a, b);", "int b, a; f(a, b);"));
    assert!(!same("int x; s.x = x;", "int y; s.y = y;"));
    assert!(!same("int f; f();", "int g; g();"));
    assert!(!same("char *s = \"a  b\";", "char *s = \"a b\";"));
    // Whoever looks at names sees them.
    let text = |name: &str| format!("#define TEXT(x) #x\nint {name}; puts(TEXT({name}));");
    assert!(!same(&text("a"), &text("b")));
    assert_eq!(normal_form("int x = __LINE__;"), None);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in ".*|[a-z0-9 \n#\"'/*=;()$\\\\]*") {
        let _ = normal_form(&text);
    }
}
