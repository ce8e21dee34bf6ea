//! Kernels as people write them are recognised.

use autocomp_nests::parts;
use std::path::{Path, PathBuf};

/// Returns the files in `tests/spellings`, in order.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/spellings");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// Each file in `tests/spellings` names in its first line the parts that have to be
/// recognised.
#[test]
fn spellings_are_recognised() {
    let files = files();
    assert!(30 <= files.len());
    let mut failures = Vec::new();
    for file in files {
        let source = std::fs::read_to_string(&file).expect("a kernel");
        let wanted = source
            .lines()
            .next()
            .unwrap_or("")
            .trim_start_matches("// parts: ");
        let found = match parts(&source) {
            Ok(names) => names.join(", "),
            Err(refusal) => refusal.to_string(),
        };
        if found != wanted {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            failures.push(format!("{name}: wanted `{wanted}`, found `{found}`"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn what_is_not_read_is_named_with_its_line() {
    let rewriter = autocomp_nests::NestRewriter::new(autocomp_nests::Resources {
        lanes: 8,
        registers: 16,
        grouped: false,
        strides: false,
        lengths: false,
        fused: false,
        dots: Vec::new(),
        no_divisors: Vec::new(),
    });
    let cases = [
        (
            "int x = 3;\n__attribute__((constructor)) void f(void);\nasm(\"nop\");\nvoid solution(float X[8]) {}\n",
            3,
            "has ",
        ),
        (
            "void solution(float X[8]) {\n  for (int i = 0; i < X[0]; i++) X[i] = 0;\n}\n",
            2,
            "",
        ),
        // Its elements are whole numbers, too.
        (
            "void solution(uint16_t X[8], float S[1]) {\n  const _Float16 *x = (const _Float16 *)X;\n  float sum = 0;\n  for (int i = 0; i < 8; i++) sum += (float)x[i] * X[i];\n  S[0] = sum;\n}\n",
            2,
            "is a pointer that is not followed; write an index",
        ),
        (
            "void solution(float X[8][4]) {\n  for (float (*p)[4] = X; *p[0] < 8; p++) (*p)[0] = 0;\n}\n",
            2,
            "goes on by a pointer that is not followed",
        ),
        (
            "void solution(float X[8]) {\n  for (float i = 0; i < 8; i++) X[(int)i] = 0;\n}\n",
            2,
            "counts with numbers that are no whole ones",
        ),
        // The block may leave the counter anywhere.
        (
            "void solution(float X[8]) {\n  int i = 0;\n  if (X[0] > 0) {\n    for (; i < 4; i++) X[i] = 0;\n  }\n  for (; i < 8; i++) X[i] = 1;\n}\n",
            3,
            "",
        ),
        (
            "void solution(float X[8], float Y[8]) {\n  int i = 0;\n  {\n    for (; i < 4; i++) X[i] = Y[i];\n  }\n  for (; i < 8; i++) X[i] = 1;\n}\n",
            6,
            "begins where no number says",
        ),
        (
            "void solution(float X[8]) {",
            1,
            "the kernel does not parse",
        ),
    ];
    for (source, line, why) in cases {
        let named = autocomp_core::Rewriter::not_understood(&rewriter, source);
        assert_eq!(named[0].line, line, "{named:?}");
        let reason = named[0].reason.trim_start_matches("it ");
        assert!(reason.starts_with(why), "{named:?}");
    }
    // Pointers whose places depend on more than how often a loop has turned.
    for (statements, line) in [
        ("if (X[i] > 0) p++; s += *p;", 5),
        ("if (X[i] > 0) { s += *p++; }", 5),
        ("{ p++; } s += *p;", 5),
        ("if (X[i] > 9) continue; s += *p++;", 5),
        ("s += X[i] > 0 ? *p++ : 0;", 5),
        ("s += X[i] > 0 && *p++ > 0;", 5),
        ("s += *p++ - *p++;", 5),
        ("s += *p++ + p[0];", 5),
        ("if (*p++ > 0) s += 1;", 5),
        ("const float *p = X + 4; s += *p++;", 5),
        (
            "for (int j = 0; j < 2; j++) { const float *p = X; s += *p++; }",
            5,
        ),
        ("p = X + i; s += *p; p++;", 5),
        ("p += i; s += *p;", 5),
        ("p *= 2; s += *p;", 5),
        ("p += X[0] > 0; s += *p;", 5),
        ("s += twice(*p++);", 5),
        (
            "for (int j = 0; j < 2; j++) { if (X[j] > 0) p++; } s += *p;",
            5,
        ),
        ("while (*p) p++; s += *p;", 5),
        ("while (p < S) s += *p++;", 5),
        ("while (p > X) s += *p++;", 5),
        ("while (p < X + 8) { s += *p; p += i; }", 5),
        ("while (p != X + 7) { s += *p; p += 2; }", 5),
        (
            "const float *end = X + 8; while (p < end) { s += *p++; end--; }",
            5,
        ),
        ("while (p < X + 8) { s += *p; if (s > 9) p++; }", 5),
        (
            "for (const float *q = X; q < X + 8; q++) p++; s += q[0];",
            5,
        ),
        ("const float **q = &p; (*q)++; s += *p;", 5),
    ] {
        let source = format!(
            "static float twice(float x) {{ return x + x; }}\nvoid solution(float X[64], float S[1]) {{\n  const float *p = X; float s = 0;\n  for (int i = 0; i < 8; i++) {{\n    {statements}\n  }}\n  S[0] = s;\n}}\n"
        );
        let named = autocomp_core::Rewriter::not_understood(&rewriter, &source);
        let found = named.first().map(|it| it.line);
        assert_eq!(found, Some(line), "{statements}: {named:?}");
    }
    // However deep the loops are.
    for (depth, is_read) in [(3, true), (24, false)] {
        let heads: String = (0..depth)
            .map(|it| format!("for (int i{it} = 0; i{it} < 2; i{it}++) "))
            .collect();
        let source = format!(
            "void solution(float X[64]) {{\n  float *p = X;\n  {heads}{{ *p = 1; p++; }}\n}}\n"
        );
        let named = autocomp_core::Rewriter::not_understood(&rewriter, &source);
        assert_eq!(named.is_empty(), is_read, "{depth}: {named:?}");
    }
    // Loops that end where loops around say, and more than that.
    for (statements, line) in [
        ("for (int j = 0; j < X[i]; j++) s += X[j];", 5),
        ("for (int j = 0; j < i * i; j++) s += X[j];", 5),
        ("for (int j = 0; j <= i; j += 2) s += X[j];", 5),
        ("for (int j = i; j >= 0; j--) s += X[j];", 5),
        ("for (int j = 0; j < i; j++) s += X[j + 58];", 5),
        (
            "for (size_t k = 0; k < 4; k++) for (int j = 0; j < k - 1; j++) s += X[j];",
            5,
        ),
        ("for (int j = 0; j < i; j++) s += *p++;", 5),
        (
            "for (int j = 0; j < i; j++) for (int k = 0; k < 4; k++) s += X[k];",
            5,
        ),
    ] {
        let source = format!(
            "void solution(float X[64], float S[1]) {{\n  const float *p = X;\n  float s = 0;\n  for (int i = 0; i < 8; i++) {{\n    {statements}\n  }}\n  S[0] = s;\n}}\n"
        );
        let named = autocomp_core::Rewriter::not_understood(&rewriter, &source);
        let found = named.first().map(|it| it.line);
        assert_eq!(found, Some(line), "{statements}: {named:?}");
    }
    // Behind what becomes another text, lines keep their numbers.
    for before in [
        "union { float f; int32_t i; } u = {\n      X[i] +\n      1.0f};\n    X[i] = u.i;",
        "int k = 0;\n    while (k < 8 &&\n           X[k] > 0)\n      k++;\n    X[i] = k;",
        "int32_t b;\n    memcpy(&b,\n      &X[i], 4);\n    X[i] = b;",
    ] {
        let lines = before.matches('\n').count();
        let source = format!(
            "typedef float\n  größe;\ntypedef float\n  real;\nvoid solution(real X[8]) {{\n  for (int i = 0; i < 8; i++) {{\n    {before}\n    X[i]++ + 1;\n  }}\n}}\n"
        );
        let named = autocomp_core::Rewriter::not_understood(&rewriter, &source);
        let found = named.first().map(|it| it.line);
        assert_eq!(found, Some(8 + lines), "{source}{named:?}");
    }
    // With what to write instead.
    for (statements, remedy) in [
        ("if (X[i] > 9) break; S[0] += X[i];", "choose values"),
        (
            "if (X[i] > 9) { S[0] += 1; continue; } S[0] += X[i];",
            "opposite condition",
        ),
        (
            "if (X[i] > 0) X[n++] = X[i];",
            "index by the variables of loops",
        ),
        (
            "float y = X[i]; while (y > 1) y *= 0.5f; X[i] = y;",
            "a number of turns that is known",
        ),
        (
            "const float *p = X; while (*p && p < X + 7) p++; S[0] = p - X;",
            "search by an index",
        ),
        (
            "const float table[2] = { X[0], X[1] }; X[i] = table[i % 2];",
            "tables are not followed",
        ),
    ] {
        let source = format!(
            "void solution(float X[8], float S[1]) {{\n  int n = 0;\n  for (int i = 0; i < 8; i++) {{\n    {statements}\n  }}\n}}\n"
        );
        let named = autocomp_core::Rewriter::not_understood(&rewriter, &source);
        let found = named
            .first()
            .map(|it| (it.line, it.reason.contains(remedy)));
        assert_eq!(found, Some((4, true)), "{statements}: {named:?}");
    }
}
