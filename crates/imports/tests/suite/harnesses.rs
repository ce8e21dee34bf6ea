//! Test programs of the original as problems.

use autocomp_imports::{HarnessProblem, read_harness};
use proptest::prelude::*;

const PRODUCT: &str = include_str!("harnesses/product.c");
const CONVOLUTION: &str = include_str!("harnesses/convolution.c");

fn read(source: &str) -> Result<HarnessProblem, String> {
    read_harness(source, "a-target")
}

#[test]
fn a_product_has_its_shapes_fills_and_definition() {
    let made = read(PRODUCT).expect("it is understood");
    assert_eq!(
        made.signature,
        "void solution(int8_t A[16][32], int8_t B[48][32], int8_t D[16][48], int8_t C[16][48])"
    );
    assert_eq!(
        made.remarks,
        ["how it fills `D` is not understood: values of either sign are drawn"]
    );
    let description = &made.files["problem.toml"];
    for part in [
        "macs = 24576",
        "bytes = 3584",
        "of = [\"B.0\", \"C.1\", \"D.1\"]",
        "fill.A = { kind = \"sparse\", values = [1], one_in = 8 }",
        "fill.B = { kind = \"uniform\", low = 0, high = 3 }",
        "fill.D = { kind = \"uniform\", low = -2, high = 2 }",
    ] {
        assert!(description.contains(part), "{part}\n{description}");
    }
    let reference = &made.files["reference.c"];
    for part in ["sums[j] = D[i][j]", "sums[j] += A[i][k] * B[j][k]"] {
        assert!(reference.contains(part), "{part}\n{reference}");
    }
    let names = &made.files["harness.toml"];
    for part in ["MAT_DIM_K = \"32\"", "OUTPUT_MATRIX_NAME = \"C\""] {
        assert!(names.contains(part), "{part}\n{names}");
    }
    // Other conditions leave out other parts.
    let plain = PRODUCT.replace("#define NO_BIAS 0", "#define NO_BIAS 1");
    let made = read(&plain).expect("it is understood");
    assert_eq!(
        made.signature,
        "void solution(int8_t A[16][32], int8_t B[48][32], int8_t C[16][48])"
    );
}

#[test]
fn a_convolution_has_its_shapes_fills_and_definition() {
    let made = read(CONVOLUTION).expect("it is understood");
    assert_eq!(
        made.signature,
        "void solution(int8_t inp[2][15][15][16], int8_t weights[3][3][16][32], int32_t bias[1][32], int8_t output[2][7][7][32])"
    );
    assert_eq!(made.remarks, [""; 0]);
    let macs = format!("macs = {}", 2 * 7 * 7 * 9 * 16 * 32);
    let description = &made.files["problem.toml"];
    for part in [
        &macs,
        "fill.inp = { kind = \"uniform\", low = 0, high = 1 }",
        "fill.weights = { kind = \"sparse\", values = [1], one_in = 3 }",
        "fill.bias = { kind = \"uniform\", low = 0, high = 4 }",
    ] {
        assert!(description.contains(part), "{part}\n{description}");
    }
    assert!(made.files["reference.c"].contains("inp[b][y * 2 + r][x * 2 + s][c]"));
}

#[test]
fn what_is_not_known_is_refused_with_the_reason() {
    for (source, said) in [
        (
            PRODUCT.replace("tiled_matmul_outer_eigen_bias(", "full_matmul("),
            "no call that is known",
        ),
        (
            PRODUCT.replace("#define SUB_BIAS 0", "#define SUB_BIAS 1"),
            "what it asks of `tiled_matmul_outer_eigen_bias`",
        ),
        (
            PRODUCT.replace("static elem_t D_", "static full_t D_"),
            "`full_t` are not known",
        ),
        (PRODUCT.replace("#define MAT_DIM_J 48", ""), "is no extent"),
        (
            PRODUCT.replace("#if NO_BIAS==0", "#if defined(NO_BIAS)"),
            "the condition `defined(NO_BIAS)`",
        ),
        (
            CONVOLUTION.replace("STRIDE, 1, 1, 0, R", "STRIDE, 1, 1, 1, R"),
            "what it asks of `tiled_conv_auto`",
        ),
        (
            CONVOLUTION.replace("NO_ACTIVATION, 1", "RELU, 1"),
            "what it asks of `tiled_conv_auto`",
        ),
        (
            CONVOLUTION
                .replace("#define P 7", "#define P 8")
                .replace("ROWS ((P - 1) * STRIDE + R)", "ROWS 15"),
            "what it asks of `tiled_conv_auto`",
        ),
        (
            CONVOLUTION.replace("#define N 2", "#define N (1<<20)"),
            "elements",
        ),
        (
            CONVOLUTION.replace("#define N 2", "#define N 010"),
            "is no extent",
        ),
        (
            CONVOLUTION.replace("#define N 2", "#define N ((1<<20) * (1<<20))"),
            "is no extent",
        ),
        ("#define A A\n#if A\n#endif".to_owned(), "the condition `A`"),
    ] {
        let error = read(&source).expect_err(said);
        assert!(error.contains(said), "{said}: {error}");
    }
}

/// What the set `original` draws for `B`, by what the program assigns; nothing where it says that
/// this is not understood.
fn fill_of_b(assigned: &str) -> Option<String> {
    let known = "elem_t elem = (elem_t) (RAND % 4);\n      B_MATRIX_NAME[i][j] = elem;";
    fill_with(known, assigned)
}

/// The same where a part of the program is another one.
fn fill_with(known: &str, other: &str) -> Option<String> {
    assert!(PRODUCT.contains(known), "{known}");
    let source = PRODUCT.replacen(known, other, 1);
    let made = read(&source).expect(other);
    let description = &made.files["problem.toml"];
    let (_, original) = description.split_once("name = \"original\"").unwrap();
    let fill = original.lines().find_map(|it| it.strip_prefix("fill.B = "));
    let is_told = made.remarks.iter().any(|it| it.contains("fills `B`"));
    (!is_told).then(|| fill.unwrap().to_owned())
}

#[test]
fn values_are_drawn_as_the_program_draws_them_or_it_is_told() {
    let uniform = |high: i64| Some(format!("{{ kind = \"uniform\", low = 0, high = {high} }}"));
    let sparse = |one_in: i64| {
        Some(format!(
            "{{ kind = \"sparse\", values = [1], one_in = {one_in} }}"
        ))
    };
    for (assigned, fill) in [
        ("B_MATRIX_NAME[i][j] = RAND % 4;", uniform(3)),
        ("B_MATRIX_NAME[i][j] = (elem_t) ((RAND) % (2 * 2));", None),
        (
            "B_MATRIX_NAME[i][j] = (elem_t) (RAND % (2 * 2));",
            uniform(3),
        ),
        ("B_MATRIX_NAME[i][j] = ((RAND % 5) == 0);", sparse(5)),
        (
            "elem_t elem = RAND % 5 == 0; B_MATRIX_NAME[i][j] = elem;",
            sparse(5),
        ),
        ("B_MATRIX_NAME[i][j] = RAND % 4 - 2;", None),
        ("B_MATRIX_NAME[i][j] = RAND % 3 * 2;", None),
        ("B_MATRIX_NAME[i][j] = 1 + RAND % 4;", None),
        ("B_MATRIX_NAME[i][j] = 2 * (RAND % 4);", None),
        ("B_MATRIX_NAME[i][j] = -(RAND % 4);", None),
        ("B_MATRIX_NAME[i][j] = (elem_t) RAND % 4;", None),
        ("B_MATRIX_NAME[i][j] = (elem_t) (RAND % 4) - 2;", None),
        ("B_MATRIX_NAME[i][j] = (RAND % 4) + (RAND % 4);", None),
        ("B_MATRIX_NAME[i][j] = RAND % 5 == 0 == 0;", None),
        ("B_MATRIX_NAME[i][j] = RAND % 5 == 1;", None),
        ("B_MATRIX_NAME[i][j] = RAND % (1 + MAT_DIM_J);", uniform(48)),
        ("B_MATRIX_NAME[i][j] = RAND % 1000;", None),
        ("B_MATRIX_NAME[i][j] = RAND / 2 % 4;", None),
        ("B_MATRIX_NAME[i][j] = (bool) (RAND % 4);", None),
        ("bool elem = RAND % 4; B_MATRIX_NAME[i][j] = elem;", None),
        (
            "elem_t elem = RAND % 4; elem -= 2; B_MATRIX_NAME[i][j] = elem;",
            None,
        ),
        (
            "elem_t elem = RAND % 4; elem++; B_MATRIX_NAME[i][j] = elem;",
            None,
        ),
        (
            "elem_t elem = RAND % 4; if (j) elem = 0; B_MATRIX_NAME[i][j] = elem;",
            None,
        ),
        (
            "B_MATRIX_NAME[i][j] = RAND % 4; B_MATRIX_NAME[i][j] -= 2;",
            None,
        ),
        (
            "B_MATRIX_NAME[i][j] = RAND % 4; B_MATRIX_NAME[i][j]--;",
            None,
        ),
        (
            "B_MATRIX_NAME[i][j] = RAND % 4; B_MATRIX_NAME[i][j] = 0;",
            None,
        ),
        ("B_MATRIX_NAME[i][j] += RAND % 4;", None),
        (
            "B_MATRIX_NAME[i][j] = RAND % 4; é[i] = 1; B_MATRIX_NAME[é[i]][j] += 1;",
            None,
        ),
        ("if (i < j) B_MATRIX_NAME[i][j] = RAND % 4;", None),
        ("if (i < j) { B_MATRIX_NAME[i][j] = RAND % 4; }", None),
        ("x = B_MATRIX_NAME[i][j] = RAND % 4;", None),
        (
            "B_MATRIX_NAME[i][j] = RAND % 4; x[i] = B_MATRIX_NAME[i][j];",
            uniform(3),
        ),
        (
            "B_MATRIX_NAME[i][j] = RAND % 4; printf(\"B_MATRIX_NAME[0][0] = 7;\");",
            uniform(3),
        ),
    ] {
        assert_eq!(fill_of_b(assigned), fill, "{assigned}");
    }
    // The program's own function of that name is another one.
    let source = format!("#define rand() 3\n{PRODUCT}");
    let remarks = read(&source).expect("it is understood").remarks;
    assert_eq!(remarks.len(), 3, "{remarks:?}");
}

/// What is drawn for some elements is not told as what is drawn for all.
#[test]
fn fills_of_parts_are_none_of_the_whole() {
    let known = "  for (size_t i = 0; i < B_ROWS; i++) {\n    for (size_t j = 0; j < B_COLS; j++) {\n      elem_t elem = (elem_t) (RAND % 4);\n      B_MATRIX_NAME[i][j] = elem;\n    }\n  }\n";
    let whole = Some("{ kind = \"uniform\", low = 0, high = 3 }".to_owned());
    let loops = |rows: &str, columns: &str, body: &str| {
        format!("for ({rows}) {{ for ({columns}) {{ {body} }} }}")
    };
    let (rows, columns) = (
        "size_t i = 0; i < B_ROWS; i++",
        "size_t j = 0; j < B_COLS; j++",
    );
    let body = "B_MATRIX_NAME[i][j] = RAND % 4;";
    for (rows, columns, body, is_whole) in [
        (rows, columns, body, true),
        (
            "int i = 0; i < 6 * 8; ++i",
            "int j=0;j<=B_COLS-1;j+=1",
            body,
            true,
        ),
        (
            "i = 0; i != B_ROWS; i += 1",
            "j = 0; j < B_COLS; j++",
            body,
            true,
        ),
        (columns, rows, body, true),
        (rows, columns, "B[i][j] = RAND % 4; x += B[i][j] + i;", true),
        ("size_t i = 0; i < B_ROWS / 2; i++", columns, body, false),
        (rows, "size_t j = 0; j < 31; j++", body, false),
        (rows, "size_t j = 0; j < B_COLS - 1; j++", body, false),
        (rows, "size_t j = 1; j < B_COLS; j++", body, false),
        (rows, "size_t j = 0; j < B_COLS; j += 2", body, false),
        (rows, "size_t j = 0; j < i; j++", body, false),
        (rows, "size_t j = B_COLS; j > 0; j--", body, false),
        (rows, columns, "B[i][0] = RAND % 4;", false),
        (rows, columns, "B[i][i] = RAND % 4;", false),
        (rows, columns, "B[j][i] = RAND % 4;", false),
        (rows, columns, "B[i][j / 2] = RAND % 4;", false),
        (rows, columns, "B[i][j + 1] = RAND % 4;", false),
        (rows, columns, "B[i][j] = RAND % 4; j++;", false),
        (rows, columns, "B[i][j] = RAND % 4; i += 3;", false),
        (rows, columns, "B[i][j] = RAND % 4; skip(&j);", false),
        (rows, columns, "if (j) continue; B[i][j] = RAND % 4;", false),
        (
            rows,
            columns,
            "B[i][j] = RAND % 4; if (j == 7) break;",
            false,
        ),
        (
            rows,
            columns,
            "if (j == 7) { return 1; } B[i][j] = RAND % 4;",
            false,
        ),
    ] {
        let made = loops(rows, columns, body);
        let wanted = whole.clone().filter(|_| is_whole);
        assert_eq!(fill_with(known, &made), wanted, "{made}");
    }
    let usual = loops(rows, columns, body);
    for (around, is_whole) in [
        ("for (int again = 0; again < 3; again++) { LOOPS }", true),
        ("{ { LOOPS } }", true),
        ("for (int again = 0; again < 0; again++) { LOOPS }", false),
        (
            "for (int again = 0; again < argc; again++) { LOOPS }",
            false,
        ),
        ("while (argc) { LOOPS }", false),
        ("LOOPS memset(B + 4, 0, 16);", false),
        ("LOOPS memset(&B[0][0] + 4, 0, 16);", false),
        ("LOOPS memset(B[3], 0, 16);", false),
        ("memset(B, 0, sizeof B); LOOPS", false),
        ("LOOPS memcpy((void *) (B + 1), A, sizeof(A));", false),
        ("LOOPS init((elem_t *) B);", false),
        ("LOOPS elem_t *b = (elem_t *) B; *b = 3;", false),
        ("LOOPS *(&B[0][0]) = 3;", false),
        (
            "LOOPS full_printMatrix(B); x = full_is_equal(B, B) + sizeof(B);",
            true,
        ),
        ("LOOPS printf(\"%d\", (int) B[0][0]);", true),
    ] {
        let made = around.replace("LOOPS", &usual);
        let wanted = whole.clone().filter(|_| is_whole);
        assert_eq!(fill_with(known, &made), wanted, "{made}");
    }
    // Without any loop it is one element.
    assert_eq!(fill_with(known, "B[i][j] = RAND % 4;"), None);
    // What is compared with is what the call leaves.
    let moved = PRODUCT.replace("  // SUBSTITUTE HERE", "  memcpy(gold, C, sizeof(gold));");
    let error = read(&moved).expect_err("it is written");
    assert!(error.contains("writes `gold` itself"), "{error}");
}

/// A function of the program's own is another one than that of the library.
#[test]
fn functions_of_the_programs_own_are_not_those_of_the_library() {
    let name = "tiled_matmul_outer_eigen_bias";
    for own in [
        format!("static void {name}(elem_t *a, int n) {{ a[0] = n; }}"),
        format!("void {name}(elem_t (*a)[4], int (*f)(int)) {{ }}"),
        format!("elem_t *{name} (a, b) elem_t *a, *b;\n{{ return a; }}"),
        format!("{name}(a) {{ }}"),
        format!("static void (*{name})(elem_t *, int) = other;"),
        format!("void f(void) {{ void (*{name})() = other; }}"),
        format!("static inline void {name}(int);"),
    ] {
        let error = read(&format!("{own}\n{PRODUCT}")).expect_err(&own);
        let said = "is the program's own";
        assert!(
            error.contains(said) && error.contains(name),
            "{own}: {error}"
        );
    }
    // Calls are none.
    for call in [
        format!("int f() {{ if (1) {name}(x); else {name}(x); return {name}(x); }}"),
        format!("int f() {{ (void) {name}(x); do {name}(x); while ({name}(x)); }}"),
        format!("int f() {{ x = 3 * {name}(x) + !{name}(x); if ({name}(x)) {{ }} }}"),
    ] {
        assert!(read(&format!("{call}\n{PRODUCT}")).is_ok(), "{call}");
    }
    for own in [
        "int rand(void) { return 3; }",
        "static int rand() { return 3; }",
        "rand() { return 3; }",
        "int (*rand)(void) = other;",
    ] {
        let made = read(&format!("{own}\n{PRODUCT}")).expect(own);
        assert_eq!(made.remarks.len(), 3, "{own}: {:?}", made.remarks);
    }
}

/// What would take minutes to compute is not made a problem.
#[test]
fn the_work_of_a_problem_is_bounded() {
    let of_size = |extent: u32| {
        let source = PRODUCT
            .replace(
                "#define MAT_DIM_I 16",
                &format!("#define MAT_DIM_I {extent}"),
            )
            .replace("(MAT_DIM_I * 2)", "MAT_DIM_I")
            .replace("#define MAT_DIM_J 48", "#define MAT_DIM_J MAT_DIM_I");
        read(&source)
    };
    assert!(of_size(2048).is_ok());
    let error = of_size(4096).expect_err("too much");
    assert!(error.contains("68719476736 products"), "{error}");
    let convolution = CONVOLUTION
        .replace("#define C 16", "#define C 1024")
        .replace("#define K 32", "#define K 1024")
        .replace("#define P 7", "#define P 31");
    let error = read(&convolution).expect_err("too much");
    assert!(error.contains("products"), "{error}");
    // Of no products there can be many elements.
    let error = read(&CONVOLUTION.replace("#define P 7", "#define P 1024")).expect_err("too many");
    assert!(error.contains("elements"), "{error}");
}

/// The shape of `B`, by how its rows are defined.
fn shape_of_b(defined: &str) -> Result<String, String> {
    let at = PRODUCT.find("#if B_TRANSPOSE==1").unwrap();
    let end = at + PRODUCT[at..].find("#endif").unwrap() + "#endif".len();
    let mut source = PRODUCT.to_owned();
    source.replace_range(at..end, defined);
    let signature = read(&source)?.signature;
    let (_, behind) = signature.split_once(" B").unwrap();
    Ok(behind.split_once(',').unwrap().0.to_owned())
}

#[test]
fn conditions_choose_what_they_choose_in_c() {
    let rows = |text: &str| format!("{text}\n#define B_COLS MAT_DIM_K\n");
    for chosen in [
        "#if B_TRANSPOSE==2\n#define B_ROWS 7\n#elif B_TRANSPOSE==1\n#define B_ROWS 48\n#else\n#define B_ROWS 8\n#endif",
        "#if B_TRANSPOSE==1\n#define B_ROWS 48\n#elif B_TRANSPOSE==1\n#define B_ROWS 7\n#else\n#define B_ROWS 8\n#endif",
        "#if B_TRANSPOSE==2\n#define B_ROWS 7\n#elif B_TRANSPOSE==3\n#define B_ROWS 8\n#else\n#define B_ROWS 48\n#endif",
        "#if B_TRANSPOSE==1\n#define B_ROWS 48\n#elif UNKNOWN(3)\n#define B_ROWS 7\n#endif",
        "#if 0\n#if UNKNOWN\n#elif 1\n#define B_ROWS 7\n#else\n#define B_ROWS 8\n#endif\n#bad\n#else\n#define B_ROWS 48\n#endif",
        "#ifdef B_TRANSPOSE\n#define B_ROWS 48\n#elif 1\n#define B_ROWS 7\n#endif",
        "#define F(x) x\n#ifdef F\n#define B_ROWS 48\n#else\n#define B_ROWS 7\n#endif",
        "#elifdef_is_no_directive",
    ] {
        let shape = shape_of_b(&rows(chosen));
        if chosen.starts_with("#elifdef_") {
            let error = shape.expect_err(chosen);
            assert!(error.contains("#elifdef_is_no_directive"), "{error}");
            continue;
        }
        assert_eq!(shape.as_deref(), Ok("[48][32]"), "{chosen}");
    }
    for (wrong, said) in [
        ("#define B_ROWS 48\n#endif", "`#endif` without"),
        ("#define B_ROWS 48\n#else\n#endif", "`#else` without"),
        ("#define B_ROWS 48\n#elif 1\n#endif", "`#elif` without"),
        (
            "#if 1\n#define B_ROWS 48\n#else\n#else\n#endif",
            "`#else` behind",
        ),
        (
            "#if 1\n#define B_ROWS 48\n#else\n#elif 1\n#endif",
            "`#elif` behind",
        ),
        ("#if 1\n#define B_ROWS 48\n", "is not closed"),
        ("#error no\n#define B_ROWS 48\n", "`#error no`"),
    ] {
        let error = shape_of_b(&rows(wrong)).expect_err(wrong);
        assert!(error.contains(said), "{wrong}: {error}");
    }
}

#[test]
fn definitions_are_text() {
    let with_depth = |defined: &str| {
        let source = PRODUCT.replace("#define MAT_DIM_K (MAT_DIM_I * 2)", defined);
        read(&source).map(|it| it.signature)
    };
    let taken = |defined: &str, depth: u32| {
        let expected = format!(
            "void solution(int8_t A[16][{depth}], int8_t B[48][{depth}], int8_t D[16][48], int8_t C[16][48])"
        );
        assert_eq!(with_depth(defined), Ok(expected), "{defined}");
    };
    taken("#define BLOCK 4 + 4\n#define MAT_DIM_K (BLOCK * 4)", 20);
    taken("#define MAT_DIM_K\t(48)", 48);
    taken("#define B 8\n#undef B\n#define MAT_DIM_K 8 * 3", 24);
    taken(
        "#define MAT_DIM_K 3\n#undef MAT_DIM_K\n#define MAT_DIM_K 1\\\n6",
        16,
    );
    taken("#define A_DEPTH\n#define MAT_DIM_K A_DEPTH 40 A_DEPTH", 40);
    taken("#define MAT_DIM_K 64 // no /* comment\n", 64);
    // What stands above a definition is not changed by it.
    let later = PRODUCT.replace(
        "  for (size_t i = 0;",
        "#undef MAT_DIM_I\n#define MAT_DIM_I 16 \n  for (size_t i = 0;",
    );
    assert!(read(&later).is_ok());
    let later = PRODUCT.replace(
        "#ifdef FAST",
        "#undef MAT_DIM_J\n#define MAT_DIM_J 8\n#ifdef FAST",
    );
    let error = read(&later).expect_err("the call takes other sizes");
    assert!(error.contains("takes"), "{error}");
    // Definitions that double each other have no end.
    let mut doubled = "#define D0\n".to_owned();
    for idx in 1..60 {
        doubled += &format!("#define D{idx} D{0} D{0}\n", idx - 1);
    }
    let error = with_depth(&format!("{doubled}#define MAT_DIM_K 32 D59")).expect_err("no end");
    assert!(error.contains("bytes"), "{error}");
}

#[test]
fn long_programs_are_read_in_one_pass() {
    let comments = format!("{PRODUCT}{}", "//\n".repeat(1 << 18));
    assert_eq!(read(&comments), read(PRODUCT));
    let comments = format!("{PRODUCT}{}", "/**/".repeat(1 << 17));
    assert_eq!(read(&comments), read(PRODUCT));
    let calls = format!("{PRODUCT}{}", "tiled_matmul_outer_eigen(x,".repeat(30_000));
    assert_eq!(read(&calls), read(PRODUCT));
    // However deep blocks stand in one another, and however much loops hold.
    let text = "for (size_t i = 0; i < B_ROWS; i++) {";
    let deep = text.repeat(30_000) + "B[i][j] = 3;" + &"}".repeat(30_000);
    assert!(read(&PRODUCT.replace("#ifdef FAST", &format!("{deep}\n#ifdef FAST"))).is_ok());
    let wide = format!("{text} {} }}", "B[i][j] = 3;".repeat(100_000));
    assert!(read(&PRODUCT.replace("#ifdef FAST", &format!("{wide}\n#ifdef FAST"))).is_ok());
    let strings = PRODUCT.replace(
        "int main() {",
        "int main() { puts(\"http://x\"); puts(\"\\\"/*\");",
    );
    assert_eq!(read(&strings), read(PRODUCT));
}

#[test]
fn what_the_call_takes_is_what_is_declared() {
    let product = |from: &str, to: &str| {
        assert!(PRODUCT.contains(from), "{from}");
        PRODUCT.replace(from, to)
    };
    let convolution = |from: &str, to: &str| {
        assert!(CONVOLUTION.contains(from), "{from}");
        CONVOLUTION.replace(from, to)
    };
    for (source, said) in [
        (
            product("gold, MAT_DIM_I, MAT_DIM_K,", "gold, MAT_DIM_I, 64,"),
            "`A` is declared as 16x32, and the call takes 16x64",
        ),
        (
            product(
                "D_MATRIX_NAME[MAT_DIM_I][MAT_DIM_J] row",
                "D_MATRIX_NAME[1][MAT_DIM_J] row",
            ),
            "`D` is declared as 1x48, and the call takes 16x48",
        ),
        (
            product("gold[MAT_DIM_I][MAT_DIM_J]", "gold[MAT_DIM_J][MAT_DIM_I]"),
            "`gold` is declared as 48x16, and the call takes 16x48",
        ),
        (
            product("C_MATRIX_NAME[MAT_DIM_I]", "C_MATRIX_NAME[17]"),
            "`C` is declared as 17x48, and the call takes 16x48",
        ),
        (
            convolution("STRIDE, 1, 1, 0, R", "STRIDE, 1, 1, 0, 2"),
            "`weights` is declared as 3x3x16x32, and the call takes 2x2x16x32",
        ),
        (
            convolution("N, ROWS, ROWS, C,", "N, ROWS, ROWS, 4,"),
            "`inp` is declared as 2x15x15x16, and the call takes 2x15x15x4",
        ),
        (
            product("static elem_t gold", "static acc_t gold"),
            "elements of `gold` are int32, and the call takes int8",
        ),
        (
            product("static elem_t C_", "static acc_t C_"),
            "elements of `C` are int32, and the call takes int8",
        ),
        (
            product("static elem_t A_", "static acc_t A_"),
            "elements of `A` are int32, and the call takes int8",
        ),
        (
            convolution("static acc_t bias", "static elem_t bias"),
            "elements of `bias` are int8, and the call takes int32",
        ),
        (
            product("#define B_MATRIX_NAME B", "#define B_MATRIX_NAME A"),
            "declares `A` twice",
        ),
        (
            product(
                "eigen_bias(A_MATRIX_NAME, B_MATRIX_NAME,",
                "eigen_bias(A_MATRIX_NAME, A_MATRIX_NAME,",
            ),
            "`A` is given twice",
        ),
        (
            product(
                "B_MATRIX_NAME, D_MATRIX_NAME, gold",
                "B_MATRIX_NAME, C_MATRIX_NAME, gold",
            ),
            "`C` is given twice",
        ),
        (
            product("#define A_MATRIX_NAME A", "#define A_MATRIX_NAME A\"\\nx"),
            "is no name of an array",
        ),
        (
            product("#define A_MATRIX_NAME A", "#define A_MATRIX_NAME k"),
            "`k` is a name of the definition's own",
        ),
        (
            product("#define OUTPUT_MATRIX_NAME C_MATRIX_NAME", ""),
            "declares no array `OUTPUT_MATRIX_NAME`",
        ),
        (
            product("static elem_t gold", "elem_t gold"),
            "declares no array `gold`",
        ),
        (
            product("  // SUBSTITUTE HERE", "  gold[0][0] = 3;"),
            "writes `gold` itself",
        ),
        (
            product(
                "int main() {",
                "void both() { tiled_matmul_outer_eigen(A, B, gold, 16, 32, 48, 0, 1); }\nint main() {",
            ),
            "2 calls",
        ),
        (
            format!("#define tiled_matmul_outer_eigen_bias(x) 0\n{PRODUCT}"),
            "no call that is known",
        ),
        (
            product(
                "  tiled_matmul_outer_eigen_bias(",
                "  own_tiled_matmul_outer_eigen_bias(",
            ),
            "no call that is known",
        ),
    ] {
        let error = read(&source).expect_err(said);
        assert!(error.contains(said), "{said}: {error}");
    }
}

proptest! {
    #[test]
    fn damaged_programs_are_read_or_refused(
        is_product in any::<bool>(),
        at in 0..1500_usize,
        length in 0..80_usize,
        other in "[-+=#()<*/\\\\\"';{}\\[\\] %0-9A-Zé\n]{0,12}",
    ) {
        let mut source = if is_product { PRODUCT } else { CONVOLUTION }.to_owned();
        let at = at.min(source.len());
        let end = (at + length).min(source.len());
        source.replace_range(at..end, &other);
        let _ = read(&source);
    }
}
