//! Casts to types, and what looks like them.

use autocomp_c_loops::casts::without_false_casts;
use autocomp_c_loops::syntax::{children, syntax_tree};
use tree_sitter::Node;

/// Returns what the grammar makes of an expression, with parentheses around each operation and
/// types between angles.
fn shown(node: Node<'_>, text: &str) -> String {
    let field = |name: &str| {
        let field = node.child_by_field_name(name);
        field.map_or_else(String::new, |it| shown(it, text))
    };
    let own = &text[node.byte_range()];
    match node.kind() {
        "parenthesized_expression" => shown(node.named_child(0).unwrap(), text),
        "binary_expression" => {
            format!(
                "({} {} {})",
                field("left"),
                field("operator"),
                field("right")
            )
        }
        "unary_expression" | "pointer_expression" => {
            format!("{}{}", field("operator"), field("argument"))
        }
        "cast_expression" => format!("<{}>{}", field("type"), field("value")),
        "subscript_expression" => format!("{}[{}]", field("argument"), field("index")),
        "call_expression" => format!("{}{}", field("function"), field("arguments")),
        "argument_list" => {
            let all = children(node).into_iter().map(|it| shown(it, text));
            format!("({})", all.collect::<Vec<_>>().join(", "))
        }
        "conditional_expression" => format!(
            "({} ? {} : {})",
            field("condition"),
            field("consequence"),
            field("alternative")
        ),
        _ => own.to_owned(),
    }
}

/// Reads an expression in a function that knows values and types.
fn read(expression: &str) -> String {
    let text = format!(
        "typedef float real;\n#define HALF 2\nenum {{ ROWS = 3 }};\nstatic int f(int x) {{ return x; }}\nvoid solution(float a[8], int b, elem_t *p) {{\n  int c = 1, d[4], (*rows)[4], *q = d;\n  for (int i = 0; i < 8; i++) r = {expression};\n}}\n"
    );
    let made = without_false_casts(&text);
    assert_eq!(text.len(), made.len(), "{made}");
    let tree = syntax_tree(&made).unwrap();
    assert!(!tree.root_node().has_error(), "{made}");
    let mut pending = vec![tree.root_node()];
    while let Some(node) = pending.pop() {
        if node.kind() == "assignment_expression" {
            return shown(node.child_by_field_name("right").unwrap(), &made);
        }
        pending.extend(children(node));
    }
    panic!("{made}")
}

#[test]
fn values_in_parentheses_are_no_types() {
    for (expression, wanted) in [
        ("(b) - (c) * i", "(b - (c * i))"),
        ("(b) + (c)", "(b + c)"),
        ("(b) * (c)", "(b * c)"),
        ("(b) & c", "(b & c)"),
        ("(b) & (c) + 1", "(b & (c + 1))"),
        ("(b) & c == 1", "(b & (c == 1))"),
        ("(b) -1", "(b - 1)"),
        ("(b)-1*c", "(b - (1 * c))"),
        ("(b)-(c)-(i)", "((b - c) - i)"),
        ("(b)-(c)*(i)-(b)/2", "((b - (c * i)) - (b / 2))"),
        ("((b) - (c) * 2) * (d[0])", "((b - (c * 2)) * d[0])"),
        ("(a[i]) - (a[b]) * 2", "(a[i] - (a[b] * 2))"),
        ("(d[b][c]) + (f(c)) * 2", "(d[b][c] + (f(c) * 2))"),
        ("(f(b)) - 2 * c", "(f(b) - (2 * c))"),
        ("a[(b) + (c) * 8]", "a[(b + (c * 8))]"),
        ("-(b) - c * 2", "(-b - (c * 2))"),
        ("*(q) - c * 2", "(*q - (c * 2))"),
        ("(float)(b) - (c) * i", "(<float>b - (c * i))"),
        ("(HALF) - b * c", "(HALF - (b * c))"),
        ("(ROWS) + (HALF) * b", "(ROWS + (HALF * b))"),
        ("(INT32_MAX) - (b) * c", "(INT32_MAX - (b * c))"),
        (
            "(b) < c ? (b) - 1 * i : (c) + i * 2",
            "((b < c) ? (b - (1 * i)) : (c + (i * 2)))",
        ),
        ("f((b) - (c) * i)", "f((b - (c * i)))"),
        ("(q) + (b) * c", "(q + (b * c))"),
        ("(b) + (c) * i + (b) * 2", "((b + (c * i)) + (b * 2))"),
        ("(b) * ((c) + (i) * 2)", "(b * (c + (i * 2)))"),
        (
            "(b) + ((c) + ((i) + (b) * 2) * 3) * 4",
            "(b + ((c + ((i + (b * 2)) * 3)) * 4))",
        ),
    ] {
        assert_eq!(read(expression), wanted, "{expression}");
    }
}

#[test]
fn casts_to_types_stay() {
    for (expression, wanted) in [
        ("(float)-b * c", "(<float>-b * c)"),
        ("(real)-(b) * c", "(<real>-b * c)"),
        ("(elem_t)-(b) * c", "(<elem_t>-b * c)"),
        ("(int8_t)*q", "<int8_t>*q"),
        ("(float *)&b", "<float *>&b"),
        ("(int (*)[4])d", "<int (*)[4]>d"),
        ("(_Float16)-a[0] * c", "(<_Float16>-a[0] * c)"),
        ("(unknown)-b * c", "(<unknown>-b * c)"),
        ("sizeof(b) - 1 * c", "(sizeof(b) - (1 * c))"),
    ] {
        assert_eq!(read(expression), wanted, "{expression}");
    }
}

/// What is deeper than recursion allows is left as it is.
#[test]
fn macros_within_macros_are_read() {
    for count in [1, 2, 3, 12, 300] {
        let text = (0..count).fold("b".to_owned(), |it, _| format!("(({it}) + (c) * i)"));
        let text = format!("void f(int b, int c, int i) {{ x = {text}; }}");
        let made = without_false_casts(&text);
        let tree = syntax_tree(&made).unwrap();
        let is_cast = tree.root_node().to_sexp().contains("cast_expression");
        assert_eq!(is_cast, count == 300, "{made}");
    }
}
