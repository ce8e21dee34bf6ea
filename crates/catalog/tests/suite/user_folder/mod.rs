//! Folders of a user: what is accepted, and what is said about the rest.

mod defects;
mod fills;

use autocomp_catalog::{Catalog, CatalogError, ReferenceLanguage};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use tempfile::TempDir;

const PROBLEM: &str = r#"target = "toy-8"
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

/// The built-in catalog, and beside it a target `toy-8` from which `toy-16` inherits.
fn with_toys() -> Catalog {
    static MADE: OnceLock<Catalog> = OnceLock::new();
    let make = || {
        let root = TempDir::new().expect("a temporary folder");
        let other = "[[item]]\nid = \"other\"\ntext = \"Anything else.\"\n";
        let (alone, heir) = ("targets/toy-8", "targets/toy-16");
        let target = |name: &str, more: &str| {
            format!(
                "name = \"{name}\"\nfamily = \"toy\"\nlanguage = \"c\"\ndescription = \"d\"\n{more}\
                 default_machine = \"only\"\n"
            )
        };
        let heir_text = target("toy-16", "inherits = \"toy-8\"\n");
        let files = [
            ("target.toml", target("toy-8", "")),
            ("architecture.md", "# Toy\n".to_owned()),
            ("isa.md", "# Steps\n\n`step`\n".to_owned()),
            ("menu.toml", other.to_owned()),
            (
                "rules.toml",
                "general = [\"r\"]\nplan = []\ncode = []\n".to_owned(),
            ),
            ("machines/only.toml", String::new()),
            ("runtime/toy.h", "#define TOY 8\n".to_owned()),
        ]
        .map(|(file, text)| (format!("{alone}/{file}"), text));
        let of_heir = [
            ("target.toml", heir_text),
            ("architecture.md", "# Toy\n".to_owned()),
            ("machines/only.toml", String::new()),
        ]
        .map(|(file, text)| (format!("{heir}/{file}"), text));
        let files: Vec<(&str, &str)> = files
            .iter()
            .chain(&of_heir)
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        write(root.path(), &files);
        let mut catalog = Catalog::built_in().expect("the built-in folders are sound");
        catalog.add_folder(root.path()).expect("two sound targets");
        catalog
    };
    MADE.get_or_init(make).clone()
}

/// Adds a folder `mine` with these files and returns what loading `mine` says.
fn load(files: &[(&str, &str)]) -> Result<autocomp_catalog::Problem, String> {
    let root = TempDir::new().expect("a temporary folder");
    let mine = root.path().join("mine");
    write(&mine, files);
    let mut catalog = with_toys();
    let prefix = format!("{}/", root.path().display());
    let text = |error: CatalogError| error.to_string().replace(&prefix, "");
    let added = catalog.add_folder(&mine).map_err(text)?;
    catalog.problem(&added.problems[0]).map_err(text)
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
fn the_problems_in_the_documentation_are_sound() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/adding-a-problem.md"
    );
    let text = fs::read_to_string(path).expect("the documentation");
    // Files have a comment before them; what has none is an excerpt.
    let parts: Vec<&str> = text.split("```").collect();
    let (parts, _) = parts.as_chunks::<2>();
    let blocks: Vec<&str> = parts
        .iter()
        .filter(|[before, _]| before.trim_end().ends_with("-->"))
        .filter_map(|[_, block]| block.split_once('\n'))
        // Commands are no files.
        .filter(|(language, _)| *language != "sh")
        .map(|(_, block)| block)
        .collect();
    let (in_python, blocks): (Vec<&str>, Vec<&str>) = blocks
        .into_iter()
        .partition(|block| block.contains("def reference("));
    assert_eq!(in_python.len(), 3);
    let (problems, rest) = blocks.as_chunks::<3>();
    assert_eq!((problems.len(), rest), (2, &[][..]));
    for reference in in_python {
        let files = [
            ("problem.toml", problems[0][0]),
            ("reference.py", reference),
        ];
        let problem = load(&files).expect("a sound problem");
        assert_eq!(problem.reference_language, ReferenceLanguage::Python);
        assert_eq!(problem.kernels.len(), 0);
    }
    let macs = [64 * 64 * 64, 0];
    for (at, [description, reference, baseline]) in problems.iter().enumerate() {
        let problem = load(&[
            ("problem.toml", description),
            ("reference.c", reference),
            (["baseline.c", "baseline.py"][at], baseline),
        ])
        .expect("a sound problem");
        let least: u64 = problem.buffers.iter().map(|it| it.least_bytes()).sum();
        assert_eq!((problem.work.macs, problem.work.bytes), (macs[at], least));
        assert_eq!(problem.arguments.len(), 2 * at);
    }
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
    let mut catalog = with_toys();
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
    let mut catalog = with_toys();
    let empty = catalog.add_folder(root.path()).expect_err("nothing there");
    assert!(matches!(empty, CatalogError::Missing { .. }), "{empty}");
    let absent = catalog
        .add_folder(&root.path().join("absent"))
        .expect_err("not there at all");
    assert!(matches!(absent, CatalogError::Read { .. }), "{absent}");
}

#[test]
fn a_target_of_a_user_may_inherit_another_one() {
    let root = TempDir::new().expect("a temporary folder");
    write(
        root.path(),
        &[
            (
                "targets/small/target.toml",
                "name = \"small\"\nlanguage = \"c\"\ndescription = \"d\"\ninherits = \"toy-8\"\n\
                 default_machine = \"m\"\nfamily = \"toy\"\nroofline = { peak_macs_per_cycle = 16.0, bytes_per_cycle = 8.0 }\n",
            ),
            ("targets/small/architecture.md", "# Small\n"),
            ("targets/small/machines/m.toml", "x = 1\n"),
        ],
    );
    let mut catalog = with_toys();
    catalog.add_folder(root.path()).expect("a sound target");
    let target = catalog.target("small").expect("a sound target");
    assert_eq!(target.architecture, "# Small\n");
    assert_eq!(target.machines.keys().collect::<Vec<_>>(), ["m"]);
    assert!(target.examples.is_empty());
    assert!(target.runtime.contains_key("toy.h"));
    assert_eq!(
        target.machine(None).expect("the default machine"),
        "x = 1\n"
    );
    assert!(target.machine(Some("only")).is_err());

    let path = root.path().join("targets/small/machines/m.toml");
    fs::write(path, "x = 2\n").expect("a fresh file");
    let mut catalog = with_toys();
    catalog.add_folder(root.path()).expect("a sound target");
    let changed = catalog.target("small").expect("a sound target");
    assert_ne!(changed.content_hash, target.content_hash);
    assert_eq!(changed.runtime_hash, target.runtime_hash);

    // What a kernel writer must know is that of the other target only where the target says so.
    fs::remove_file(root.path().join("targets/small/architecture.md")).expect("a file");
    let mut catalog = with_toys();
    let added = catalog.add_folder(root.path());
    assert!(added.is_err() || catalog.target("small").is_err());
    let path = root.path().join("targets/small/target.toml");
    let text = fs::read_to_string(&path).expect("a file");
    let says_so = "inherits = \"toy-8\"\ninherits_architecture = true\n";
    let text = text.replace("inherits = \"toy-8\"\n", says_so);
    fs::write(&path, text).expect("a fresh file");
    let mut catalog = with_toys();
    catalog.add_folder(root.path()).expect("a sound target");
    let target = catalog.target("small").expect("a sound target");
    assert_eq!(target.architecture, "# Toy\n");
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
    let mut catalog = with_toys();
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
fn a_folder_adds_machines_to_a_target_that_is_there() {
    let mut catalog = with_toys();
    let root = TempDir::new().expect("a temporary folder");
    write(
        root.path(),
        &[("targets/toy-8/machines/mine.toml", "name = \"mine\"\n")],
    );
    let added = catalog.add_folder(root.path()).expect("machines");
    assert_eq!(added.machines, ["toy-8/mine"]);
    let target = catalog.target("toy-8").expect("the target");
    let names: Vec<&String> = target.machines.keys().collect();
    assert_eq!(names, ["mine", "only"]);
    assert_eq!(target.default_machine, "only");
    // Machines are not inherited, wherever they come from.
    let heir = catalog.target("toy-16").expect("the heir");
    assert!(!heir.machines.contains_key("mine"));

    let error = catalog.add_folder(root.path()).expect_err("it is there");
    let text = error.to_string();
    assert!(
        text.contains("machine") && text.contains("mine.toml"),
        "{text}"
    );
    let other = TempDir::new().expect("a temporary folder");
    write(other.path(), &[("targets/toy-9/machines/mine.toml", "")]);
    let error = catalog
        .add_folder(other.path())
        .expect_err("no such target");
    assert!(error.to_string().contains("toy-9"), "{error}");
}
