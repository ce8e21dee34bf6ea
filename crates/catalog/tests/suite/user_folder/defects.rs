//! What is said about descriptions, targets, suites and templates that are broken.

use super::{KERNEL, PROBLEM, load, with_toys, write};
use tempfile::TempDir;

/// Loads the sample problem with one piece of its description replaced.
fn error_with(from: &str, to: &str) -> String {
    assert!(PROBLEM.contains(from), "{from}");
    let changed = PROBLEM.replacen(from, to, 1);
    load(&[
        ("problem.toml", &changed),
        ("reference.c", KERNEL),
        ("baseline.c", KERNEL),
    ])
    .expect_err("the description is broken")
}

#[test]
fn remedies_are_those_of_what_is_wrong() {
    let cases = [
        ("float64", "use one of the expected names"),
        ("int64", "use one of the expected names"),
        ("int_8", "did you mean `int8`?"),
    ];
    for (name, expected) in cases {
        let error = error_with("\"int8\"", &format!("\"{name}\""));
        assert!(error.contains(expected), "{name}: {error}");
    }
    let without_fill: Vec<&str> = PROBLEM
        .lines()
        .filter(|it| !it.starts_with("fill"))
        .collect();
    let error = error_with(PROBLEM, &without_fill.join("\n"));
    assert!(error.contains("add `fill.A = { kind = "), "{error}");
}

#[test]
fn what_is_said_about_broken_descriptions() {
    let cases = [
        ("syntax", error_with("work = {", "work = = {")),
        ("unknown field", error_with("description", "desription")),
        (
            "missing field",
            error_with("tolerance = { kind = \"exact\" }\n", ""),
        ),
        ("wrong type", error_with("macs = 256", "macs = \"many\"")),
        (
            "unknown variant",
            error_with("role = \"input\"", "role = \"inptu\""),
        ),
        (
            "entry is no name",
            error_with("\"solution\"", "\"solution()\""),
        ),
        (
            "signature without entry",
            error_with("void solution", "void kernel"),
        ),
        (
            "another order than the buffers",
            error_with(
                "int8_t A[16][16], int8_t C[16][16]",
                "int8_t C[16][16], int8_t A[16][16]",
            ),
        ),
        (
            "other extents than the buffer",
            error_with("C[16][16]", "C[16][32]"),
        ),
        (
            "more bytes than there are",
            error_with("bytes = 512", "bytes = 513"),
        ),
        ("no bytes", error_with("bytes = 512", "bytes = 0")),
        (
            "more multiplications than can be counted",
            error_with("macs = 256", "macs = 9007199254740993"),
        ),
        (
            "no results",
            error_with("role = \"output\"", "role = \"input\""),
        ),
        (
            "tolerance that admits everything",
            error_with(
                "kind = \"exact\"",
                "kind = \"close\", relative = inf, absolute = 0.0",
            ),
        ),
        (
            "tolerance below zero",
            error_with(
                "kind = \"exact\"",
                "kind = \"close\", relative = 0.0, absolute = -1.0",
            ),
        ),
        (
            "macro that is no name",
            error_with("work = {", "macros = { \"N M\" = \"1\" }\nwork = {"),
        ),
        (
            "buffer that is no name",
            error_with("name = \"A\"", "name = \"A x\""),
        ),
        (
            "input set without a name",
            error_with("name = \"random\"", "name = \"\""),
        ),
        (
            "two buffers of one name",
            error_with("name = \"C\"", "name = \"A\""),
        ),
        (
            "no elements",
            error_with("shape = [16, 16]", "shape = [16, 0]"),
        ),
        (
            "too large",
            error_with("shape = [16, 16]", "shape = [65536, 65536, 65536]"),
        ),
        ("axis of no dimension", error_with("\"C.0\"", "\"C.2\"")),
        (
            "dimension that an axis has twice",
            error_with("\"C.0\"", "\"C.0\", \"A.0\""),
        ),
        (
            "axis of two extents",
            error_with(
                "shape = [16, 16]\nrole = \"input\"",
                "shape = [8, 16]\nrole = \"input\"",
            ),
        ),
        ("buffer not filled", error_with("fill.A", "fill.C")),
        (
            "buffer written and read, not filled",
            error_with("role = \"output\"", "role = \"inout\""),
        ),
        ("empty distribution", error_with("low = -60", "low = 61")),
        (
            "distribution without an end",
            error_with(
                "\"uniform\", low = -60, high = 60",
                "\"real\", low = 0.5, high = inf",
            ),
        ),
        ("unknown target", error_with("toy-8", "toy-9")),
    ];
    let text: String = cases
        .iter()
        .map(|(name, error)| format!("== {name}\n{error}\n\n"))
        .collect();
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_said_about_broken_targets() {
    const TARGET: &str = "name = \"mine\"\nfamily = \"toy\"\nlanguage = \"c\"\ndescription = \"d\"\n\
        inherits = \"toy-8\"\ndefault_machine = \"m\"\n\
        roofline = { peak_macs_per_cycle = 16.0, bytes_per_cycle = 8.0 }\n";
    let load = |text: &str, machine: &str| {
        let root = TempDir::new().expect("a temporary folder");
        let files = [
            ("mine/target.toml", text),
            ("mine/architecture.md", "# Mine\n"),
            (machine, "x = 1\n"),
        ];
        write(root.path(), &files);
        let mut catalog = with_toys();
        let said = catalog.add_folder(&root.path().join("mine"));
        let said = said.and_then(|_| catalog.target("mine"));
        let prefix = format!("{}/", root.path().display());
        said.map_err(|error| error.to_string().replace(&prefix, ""))
    };
    load(TARGET, "mine/machines/m.toml").expect("a sound target");
    let mut text = String::new();
    for (from, to, machine) in [
        ("inherits = \"toy-8\"", "inherits = \"toi-8\"", "m.toml"),
        ("inherits = \"toy-8\"", "inherits = \"toy-16\"", "m.toml"),
        ("inherits = \"toy-8\"", "inherits = \"mine\"", "m.toml"),
        ("16.0", "0.0", "m.toml"),
        ("8.0", "nan", "m.toml"),
        ("\"m\"", "\"n\"", "m.toml"),
        ("\"m\"", "\"n\"", "m.txt"),
    ] {
        let machine = format!("mine/machines/{machine}");
        let error = load(&TARGET.replace(from, to), &machine).expect_err("a broken target");
        text += &format!("== {to} {machine}\n{error}\n\n");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_said_about_broken_suites() {
    const SUITE: &str =
        "description = \"d\"\nproblems = [\"one\"]\nkernels = [\"baseline\", \"fsm\"]\n";
    let load = |text: &str| {
        let root = TempDir::new().expect("a temporary folder");
        let files = [
            ("problems/one/problem.toml", PROBLEM),
            ("problems/one/reference.c", KERNEL),
            ("suites/mine.toml", text),
        ];
        write(root.path(), &files);
        let mut catalog = with_toys();
        let said = catalog.add_folder(root.path());
        let said = said.and_then(|_| catalog.suite("mine"));
        let prefix = format!("{}/", root.path().display());
        said.map_err(|error| error.to_string().replace(&prefix, ""))
    };
    load(SUITE).expect("a sound suite");
    let mut text = String::new();
    for (from, to) in [
        ("[\"one\"]", "[]"),
        ("[\"one\"]", "[\"one\", \"one\"]"),
        ("[\"one\"]", "[\"gemm-512x512x51\"]"),
        ("[\"one\"]", "\"one\""),
        ("fsm", "baseline"),
        ("kernels", "kernel"),
    ] {
        let error = load(&SUITE.replace(from, to)).expect_err("a broken suite");
        text += &format!("== {to}\n{error}\n\n");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_said_about_missing_files_and_broken_templates() {
    let family = "name = \"double-{{ N }}\"\n[[instance]]\nN = 16\n";
    let cases = [
        ("no reference", load(&[("problem.toml", PROBLEM)])),
        (
            "two references",
            load(&[
                ("problem.toml", PROBLEM),
                ("reference.c", KERNEL),
                ("reference.py", "def reference(A, B): return A"),
            ]),
        ),
        (
            "name without a number",
            load(&[
                ("problem.toml", PROBLEM),
                ("family.toml", "name = \"d-{{ M }}\"\n[[instance]]\nN = 1\n"),
            ]),
        ),
        (
            "no instances",
            load(&[
                ("problem.toml", PROBLEM),
                ("family.toml", "name = \"d\"\ninstance = []\n"),
            ]),
        ),
        (
            "number not given",
            load(&[
                ("problem.toml", PROBLEM),
                ("family.toml", family),
                ("reference.c", "// for\n  int n = {{ M }};\n"),
            ]),
        ),
        (
            "no template",
            load(&[
                ("problem.toml", PROBLEM),
                ("family.toml", family),
                ("reference.c", "{% if %}"),
            ]),
        ),
    ];
    let text: String = cases
        .into_iter()
        .map(|(name, result)| {
            let error = result
                .err()
                .unwrap_or_else(|| panic!("{name} was accepted"));
            format!("== {name}\n{error}\n\n")
        })
        .collect();
    insta::assert_snapshot!(text);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        cases: 64,
        failure_persistence: None,
        ..Default::default()
    })]

    #[test]
    fn no_description_however_broken_panics(
        at in 0..PROBLEM.len(),
        length in 0..40usize,
        with in "[\\PC\n\t]{0,12}",
    ) {
        let end = (at + length).min(PROBLEM.len());
        let changed = format!("{}{with}{}", &PROBLEM[..at], &PROBLEM[end..]);
        let family = "name = \"d-{{ N }}\"\n[[instance]]\nN = 1\n";
        let plain = [("problem.toml", changed.as_str()), ("reference.c", KERNEL)];
        let template = [("problem.toml", changed.as_str()), ("reference.c", KERNEL), ("family.toml", family)];
        for result in [load(&plain), load(&template)] {
            if let Err(text) = result {
                proptest::prop_assert!(text.contains("help: "), "{}", text);
            }
        }
    }
}

/// Loads the sample problem with an argument and what its signature says of it.
fn with_argument(parameter: &str, value: &str) -> Result<autocomp_catalog::Problem, String> {
    let changed = PROBLEM
        .replacen("int8_t C", &format!("{parameter}int8_t C"), 1)
        .replacen(
            "[[buffer]]",
            &format!("[arguments]\n{value}\n\n[[buffer]]"),
            1,
        );
    load(&[("problem.toml", &changed), ("reference.c", KERNEL)])
}

#[test]
fn functions_in_c_get_arguments_by_their_parameters() {
    let cases = [
        ("float s, ", "s = 0.5"),
        ("const float s, ", "s = 3"),
        ("float s, ", "s = 16777218"),
        ("float s, ", "s = -9223372036854775808"),
        ("double s, ", "s = 9007199254740992"),
        ("double s, ", "s = -1e300"),
        ("int64_t s, ", "s = -9223372036854775808"),
        ("bool s, ", "s = true"),
        ("const int32_t s[3], ", "s = [1, -2, 3]"),
        ("const float *s, ", "s = [1, 0.5]"),
        ("uint8_t s[], ", "s = [255]"),
        ("unsigned int s, ", "s = 4294967295"),
        ("long long s, ", "s = -9223372036854775808"),
        (
            "const long unsigned long int s, ",
            "s = 9223372036854775807",
        ),
        ("short const *s, ", "s = [-32768, 32767]"),
        ("unsigned char s[2], ", "s = [0, 255]"),
        ("char s, ", "s = 127"),
        ("signed s, ", "s = -2147483648"),
    ];
    let texts = cases.map(|(parameter, value)| {
        let problem = with_argument(parameter, value).unwrap_or_else(|it| panic!("{value}: {it}"));
        assert_eq!(
            (problem.n_kernel_parameters(), problem.entry_symbol()),
            (3, "call_with_arguments")
        );
        assert_eq!(problem.argument_without_parameter(), None);
        let text = serde_json::to_string(&problem).expect("it is text");
        let there: autocomp_catalog::Problem = serde_json::from_str(&text).expect("it is read");
        assert_eq!(there.wrapper(), problem.wrapper());
        problem.wrapper()
    });
    insta::assert_snapshot!(texts.concat());
    // Kernels in other languages get it by name.
    let problem = with_argument("", "s = 0.5").expect("a sound problem");
    assert_eq!(problem.argument_without_parameter(), Some("s"));
    assert_eq!(
        (problem.n_kernel_parameters(), problem.entry_symbol()),
        (2, "solution")
    );
    assert_eq!(problem.wrapper(), "");
}

#[test]
fn what_is_said_about_arguments_that_parameters_cannot_take() {
    let cases = [
        ("int32_t s, ", "s = 0.5"),
        ("int32_t s, ", "s = 2147483648"),
        ("uint8_t s, ", "s = -1"),
        ("float s, ", "s = 1e39"),
        ("float s, ", "s = 16777217"),
        ("const float *s, ", "s = [16777216, -16777217]"),
        ("float s, ", "s = 9223372036854775807"),
        ("double s, ", "s = 9007199254740993"),
        ("unsigned int s, ", "s = 4294967296"),
        ("unsigned long long s, ", "s = -1"),
        ("char s, ", "s = -1"),
        ("long long long s, ", "s = 1"),
        ("unsigned signed s, ", "s = 1"),
        ("long double s, ", "s = 1"),
        ("struct pair s, ", "s = 1"),
        ("bool s, ", "s = 1"),
        ("int32_t s, ", "s = true"),
        ("float s, ", "s = \"text\""),
        ("float s, ", "s = { dtype = \"float32\" }"),
        ("float *s, ", "s = 0.5"),
        ("float s, ", "s = [0.5]"),
        ("float s[2], ", "s = [0.5]"),
        ("float s[2][2], ", "s = [[1, 2], [3, 4]]"),
        ("float *s[1], ", "s = [{ buffer = \"A\" }]"),
        ("elem_t s, ", "s = 1"),
        ("float s, float t, ", "s = 1"),
        ("", "s = [{ buffer = \"A\" }, { buffer = \"A\" }]"),
        ("", "s = [{ buffer = \"C\" }]"),
        ("", "s = { buffer = \"B\" }"),
        ("", "s = 2\ntolerance = { kind = \"exact\" }"),
    ];
    let texts = cases.map(|(parameter, value)| {
        let error = with_argument(parameter, value).expect_err(value);
        format!("{parameter}| {value}\n{error}\n\n")
    });
    insta::assert_snapshot!(texts.concat());
}

#[test]
fn two_files_are_never_one_kernel() {
    let files = [
        ("problem.toml", PROBLEM),
        ("reference.c", KERNEL),
        ("fast.c", KERNEL),
        ("notes.md", "fast"),
        ("fast.csv", "1"),
    ];
    let problem = load(&files).expect("a sound problem");
    assert_eq!(problem.kernels.keys().collect::<Vec<_>>(), ["fast"]);
    let files = [files[0], files[1], files[2], ("fast.cu", KERNEL)];
    insta::assert_snapshot!(load(&files).expect_err("two kernels of one name"));
}
