//! Folders of a user: what is accepted, and what is said about the rest.

use autocomp_targets::{Catalog, CatalogError};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

const PROBLEM: &str = r#"target = "gemmini-int8-16"
description = "C = A + A"
entry = "solution"
signature = "void solution(int8_t A[16][16], int8_t C[16][16])"
tolerance = { kind = "exact" }
work = { macs = 256, bytes = 512 }

[[buffer]]
name = "A"
dtype = "int8"
shape = [16, 16]
role = "input"

[[buffer]]
name = "C"
dtype = "int8"
shape = [16, 16]
role = "output"

[[axis]]
name = "row"
of = ["A.0", "C.0"]

[[input_set]]
name = "random"
fill.A = { kind = "uniform", low = -60, high = 60 }
"#;
const KERNEL: &str = "void solution(int8_t A[16][16], int8_t C[16][16]) {\n}\n";

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a fresh folder");
        fs::write(path, text).expect("a fresh file");
    }
}

/// Adds a folder `mine` with these files and returns what loading `mine` says.
fn load(files: &[(&str, &str)]) -> Result<autocomp_targets::Problem, String> {
    let root = TempDir::new().expect("a temporary folder");
    let mine = root.path().join("mine");
    write(&mine, files);
    static BUILT_IN: OnceLock<Catalog> = OnceLock::new();
    let mut catalog = BUILT_IN
        .get_or_init(|| Catalog::built_in().expect("the built-in folders are sound"))
        .clone();
    let prefix = format!("{}/", root.path().display());
    let text = |error: CatalogError| error.to_string().replace(&prefix, "");
    let added = catalog.add_folder(&mine).map_err(text)?;
    catalog.problem(&added.problems[0]).map_err(text)
}

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
fn a_single_problem_folder_is_named_by_itself() {
    let problem = load(&[
        ("problem.toml", PROBLEM),
        ("reference.c", KERNEL),
        ("baseline.c", KERNEL),
    ])
    .expect("a sound problem");
    assert_eq!(problem.name, "mine");
    assert_eq!(problem.kernels.keys().collect::<Vec<_>>(), ["baseline"]);
    let error = problem
        .kernel("basline")
        .expect_err("no such kernel")
        .to_string();
    assert!(error.contains("did you mean `baseline`?"), "{error}");
}

#[test]
fn the_problem_in_the_documentation_is_sound() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/problems.md");
    let text = fs::read_to_string(path).expect("the documentation");
    let blocks = text.split("```").skip(1).step_by(2);
    let blocks: Vec<&str> = blocks
        .filter_map(|block| Some(block.split_once('\n')?.1))
        .collect();
    let [description, reference, baseline] = blocks[..] else {
        panic!("{} files", blocks.len());
    };
    let problem = load(&[
        ("problem.toml", description),
        ("reference.c", reference),
        ("baseline.c", baseline),
    ])
    .expect("a sound problem");
    let least: u64 = problem.buffers.iter().map(|it| it.least_bytes()).sum();
    assert_eq!(
        (problem.work.macs, problem.work.bytes),
        (64 * 64 * 64, least)
    );
}

#[test]
fn a_folder_of_problems_names_them_by_path() {
    let root = TempDir::new().expect("a temporary folder");
    write(
        root.path(),
        &[
            ("one/problem.toml", PROBLEM),
            ("one/reference.c", KERNEL),
            ("group/two/problem.toml", PROBLEM),
            ("group/two/reference.c", KERNEL),
            ("notes.txt", "not a problem"),
        ],
    );
    let mut catalog = Catalog::built_in().expect("the built-in folders are sound");
    let added = catalog.add_folder(root.path()).expect("two sound problems");
    assert_eq!(added.problems, ["group/two", "one"]);
    assert!(catalog.problem("group/two").is_ok());
    let twice = catalog
        .add_folder(root.path())
        .expect_err("the names are taken");
    assert!(matches!(twice, CatalogError::Duplicate { .. }), "{twice}");
}

#[test]
fn a_folder_with_nothing_in_it_is_said_to_be_so() {
    let root = TempDir::new().expect("a temporary folder");
    let mut catalog = Catalog::built_in().expect("the built-in folders are sound");
    let empty = catalog.add_folder(root.path()).expect_err("nothing there");
    assert!(matches!(empty, CatalogError::Missing { .. }), "{empty}");
    let absent = catalog
        .add_folder(&root.path().join("absent"))
        .expect_err("not there at all");
    assert!(matches!(absent, CatalogError::Read { .. }), "{absent}");
}

#[test]
fn a_target_of_a_user_may_inherit_a_built_in_one() {
    let root = TempDir::new().expect("a temporary folder");
    write(
        root.path(),
        &[
            (
                "targets/small/target.toml",
                "name = \"small\"\nlanguage = \"c\"\ndescription = \"d\"\ninherits = \"gemmini-int8-16\"\n\
                 default_machine = \"m\"\nroofline = { peak_macs_per_cycle = 16.0, bytes_per_cycle = 8.0 }\n",
            ),
            ("targets/small/architecture.md", "# Small\n"),
            ("targets/small/machines/m.toml", "x = 1\n"),
        ],
    );
    let mut catalog = Catalog::built_in().expect("the built-in folders are sound");
    catalog.add_folder(root.path()).expect("a sound target");
    let target = catalog.target("small").expect("a sound target");
    assert_eq!(target.architecture, "# Small\n");
    assert_eq!(target.machines.keys().collect::<Vec<_>>(), ["m"]);
    assert!(target.examples.is_empty());
    assert!(target.runtime.contains_key("gemmini.h"));
    assert_eq!(
        target.machine(None).expect("the default machine"),
        "x = 1\n"
    );
    assert!(target.machine(Some("fpga")).is_err());

    let path = root.path().join("targets/small/machines/m.toml");
    fs::write(path, "x = 2\n").expect("a fresh file");
    let mut catalog = Catalog::built_in().expect("the built-in folders are sound");
    catalog.add_folder(root.path()).expect("a sound target");
    let changed = catalog.target("small").expect("a sound target");
    assert_ne!(changed.content_hash, target.content_hash);
    assert_eq!(changed.runtime_hash, target.runtime_hash);
}

#[test]
fn hashes_change_with_any_file_and_the_oracle_hash_not_with_kernels() {
    let hashes = |problem: &str, reference: &str, kernel: &str| {
        let problem = load(&[
            ("problem.toml", problem),
            ("reference.c", reference),
            ("baseline.c", kernel),
        ])
        .expect("a sound problem");
        (problem.content_hash, problem.oracle_hash)
    };
    let original = hashes(PROBLEM, KERNEL, KERNEL);
    assert_eq!(hashes(PROBLEM, KERNEL, KERNEL), original);
    let other_kernel = hashes(PROBLEM, KERNEL, &format!("{KERNEL}\n"));
    assert_ne!(other_kernel.0, original.0);
    assert_eq!(other_kernel.1, original.1);
    for (problem, reference) in [
        (PROBLEM.replace("-60", "-61"), KERNEL.to_owned()),
        (PROBLEM.to_owned(), format!("{KERNEL}\n")),
    ] {
        let changed = hashes(&problem, &reference, KERNEL);
        assert_ne!(changed.0, original.0);
        assert_ne!(changed.1, original.1);
    }
}

#[test]
fn a_family_renders_each_member_and_leaves_out_empty_kernels() {
    let root = TempDir::new().expect("a temporary folder");
    let template = PROBLEM
        .replace("16]", "{{ N }}]")
        .replace("[16", "[{{ N }}");
    write(
        root.path(),
        &[
            (
                "group/double/family.toml",
                "name = \"double-{{ N }}\"\n[[instance]]\nN = 16\n[[instance]]\nN = 32\nfast = true\n",
            ),
            ("group/double/problem.toml", &template),
            ("group/double/reference.c", KERNEL),
            ("group/double/baseline.c", KERNEL),
            (
                "group/double/fast.c",
                "{% if fast is defined %}\n// {{ N }}\n{% endif %}\n",
            ),
        ],
    );
    let mut catalog = Catalog::built_in().expect("the built-in folders are sound");
    let added = catalog.add_folder(root.path()).expect("a sound family");
    assert_eq!(added.problems, ["group/double-16", "group/double-32"]);
    let small = catalog.problem("group/double-16").expect("a sound member");
    let large = catalog.problem("group/double-32").expect("a sound member");
    assert!(!small.kernels.contains_key("fast"));
    assert_eq!(
        large.kernel("fast").expect("only the large one has it"),
        "// 32\n"
    );
    assert_eq!(large.buffers[0].shape, [32, 32]);
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
        ("empty distribution", error_with("low = -60", "low = 61")),
        (
            "distribution without an end",
            error_with(
                "\"uniform\", low = -60, high = 60",
                "\"real\", low = 0.5, high = inf",
            ),
        ),
        (
            "unknown target",
            error_with("gemmini-int8-16", "gemmini-int8-61"),
        ),
    ];
    let text: String = cases
        .iter()
        .map(|(name, error)| format!("== {name}\n{error}\n\n"))
        .collect();
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_said_about_broken_targets() {
    const TARGET: &str = "name = \"mine\"\nlanguage = \"c\"\ndescription = \"d\"\n\
        inherits = \"gemmini-int8-16\"\ndefault_machine = \"m\"\n\
        roofline = { peak_macs_per_cycle = 16.0, bytes_per_cycle = 8.0 }\n";
    let load = |text: &str, machine: &str| {
        let root = TempDir::new().expect("a temporary folder");
        let files = [
            ("mine/target.toml", text),
            ("mine/architecture.md", "# Mine\n"),
            (machine, "x = 1\n"),
        ];
        write(root.path(), &files);
        let mut catalog = Catalog::built_in().expect("the built-in folders are sound");
        let said = catalog.add_folder(&root.path().join("mine"));
        let said = said.and_then(|_| catalog.target("mine"));
        let prefix = format!("{}/", root.path().display());
        said.map_err(|error| error.to_string().replace(&prefix, ""))
    };
    load(TARGET, "mine/machines/m.toml").expect("a sound target");
    let mut text = String::new();
    for (from, to, machine) in [
        (
            "inherits = \"gemmini-int8-16\"",
            "inherits = \"gemini\"",
            "m.toml",
        ),
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
        let mut catalog = Catalog::built_in().expect("the built-in folders are sound");
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
