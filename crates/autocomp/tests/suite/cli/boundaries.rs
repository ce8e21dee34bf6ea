//! Who may name whom: families stand beside each other, never on each other; the program names
//! them in its registry; some things are done in one crate only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Names of families that are words of other things, too: only their crates are looked for.
const COMMON_WORDS: &[&str] = &["host", "rvv"];

/// Beginnings of names of targets that belong to such families.
const TARGETS: &[&str] = &["host-x86", "host-aarch64"];

/// Words of languages that kernels of one family alone are written in.
const LANGUAGES: &[(&str, &str)] = &[
    ("trainium", "nki"),
    ("trainium", "nisa"),
    ("trainium", "neuronxcc"),
];

/// The crate of the program, which names families in its registry.
const PROGRAM: &str = "autocomp";
/// Its registry.
const REGISTRY: &str = "crates/autocomp/src/main.rs";

/// Something that is done in some crates only, found by how it is written.
struct Reserved {
    what: &'static str,
    signs: &'static [&'static str],
    /// Folders, or files with another reason.
    places: &'static [&'static str],
    remedy: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved {
        what: "reads how long a foreign program has computed",
        signs: &[
            "ClockId::ProcessCPUTime",
            "ClockId::ThreadCPUTime",
            "clock_getcpuclockid",
            "getrusage",
            "rdtsc",
        ],
        places: &[
            "crates/measuring/",
            // Limits on what runs there.
            "crates/native/",
            "crates/sandbox/",
            "crates/eval/src/isolation/child.rs",
        ],
        remedy: "measure through `autocomp_measuring::Sides`",
    },
    Reserved {
        what: "opens SSH",
        signs: &["\"ssh\"", "\"scp\"", "\"sftp\""],
        places: &["crates/remote/"],
        remedy: "run commands there through `autocomp_remote::Machine`",
    },
    Reserved {
        what: "runs machine code of others",
        signs: &[
            "autocomp_sandbox::start",
            "autocomp_sandbox::Session",
            "sandbox::{Exit, Session",
            "dlopen",
            "PROT_EXEC",
        ],
        places: &["crates/native/", "crates/sandbox/"],
        remedy: "have it run by a worker of `autocomp_native`",
    },
    Reserved {
        what: "runs programs in the sandbox",
        signs: &["autocomp_sandbox::run"],
        places: &[
            "crates/native/",
            // What a machine with a device is told.
            "crates/remote/",
            // Compilers, and what comes with them.
            "crates/toolchain/",
            "crates/families/host/src/throughput.rs",
            // Host functions, which only write down what they would launch.
            "crates/families/cuda/family/src/compiler.rs",
            "crates/autocomp/src/commands/doctor.rs",
        ],
        remedy: "have it run by a worker of `autocomp_native`",
    },
    Reserved {
        what: "loads a library of the system",
        signs: &["libloading"],
        // The vendor's driver, in a process of its own.
        places: &["crates/families/cuda/family/src/device/"],
        remedy: "have a worker of `autocomp_native` call it",
    },
];

/// A crate, by its folder.
struct Package {
    folder: PathBuf,
    name: String,
    /// The family that it belongs to.
    family: Option<String>,
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Returns the files below a folder whose names end so, in order.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_none_or(|it| it != "node_modules") {
                found.extend(files(&path, ending));
            }
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn packages(root: &Path) -> Vec<Package> {
    let manifests = files(&root.join("crates"), "/Cargo.toml");
    let package = |manifest: PathBuf| {
        let name = text(&manifest).lines().find_map(|line| {
            let name = line.strip_prefix("name = \"")?;
            Some(name.trim_end_matches('"').to_owned())
        })?;
        let folder = manifest.parent()?.to_owned();
        let below = folder.strip_prefix(root.join("crates/families")).ok();
        let family = below.and_then(|it| it.iter().next());
        Some(Package {
            name,
            family: family.map(|it| it.to_string_lossy().into_owned()),
            folder,
        })
    };
    manifests.into_iter().filter_map(package).collect()
}

/// Returns whether a line has the word, with nothing of a name before or behind it.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}

/// Places in which a family's name means something else: what it means there.
const OTHER_MEANINGS: &[(&str, &str, &str)] = &[(
    "crates/imports/src/kernelbench/",
    "cuda",
    "a method of tensors in PyTorch, which moves them to a device",
)];

fn has_another_meaning(path: &str, word: &str) -> bool {
    let mut known = OTHER_MEANINGS.iter();
    known.any(|(place, name, _)| path.starts_with(place) && word == *name)
}

/// Returns what breaks a rule in the tree at `root`, one line each: file, line, rule, remedy.
fn violations(root: &Path) -> Vec<String> {
    let packages = packages(root);
    let families: BTreeMap<&str, &str> = packages
        .iter()
        .filter_map(|it| Some((it.name.as_str(), it.family.as_deref()?)))
        .collect();
    let mut found = Vec::new();
    for package in &packages {
        let own = package.family.as_deref();
        let rule = |other: &str, name: &str| match own {
            Some(own) => format!(
                "the family {own} names the family {other} (`{name}`), and no family may stand on \
                 another: move what both need into a crate of its own below crates/"
            ),
            None if package.name == PROGRAM => format!(
                "the program names the family {other} (`{name}`) outside its registry: ask \
                 families through `registry::families`, and give `trait Family` a method for it"
            ),
            None => format!(
                "the neutral crate {} names the family {other} (`{name}`): let the family bring \
                 it through `trait Family`, or move it into the family's folder",
                package.name
            ),
        };
        let mut at = |path: &Path, line: usize, what: String| {
            let shown = path.strip_prefix(root).unwrap_or(path).display();
            found.push(format!("{shown}:{}: {what}", line + 1));
        };
        let is_foreign = |family: &str| own != Some(family);

        let manifest = package.folder.join("Cargo.toml");
        for (number, line) in text(&manifest).lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let is_registered = package.name == PROGRAM
                && (line.contains("optional = true") || line.contains("dep:"));
            let mut named = families.iter().filter(|(_, family)| is_foreign(family));
            let named = named.find(|(name, _)| has_word(&line.replace(".workspace", " "), name));
            if let Some((name, family)) = named.filter(|_| !is_registered) {
                at(&manifest, number, rule(family, name));
            }
        }
        // Crates of a family may lie below each other.
        let sources = files(&package.folder, ".rs").into_iter().filter(|path| {
            let nearest = packages.iter().filter(|it| path.starts_with(&it.folder));
            nearest
                .max_by_key(|it| it.folder.as_os_str().len())
                .map(|it| &it.name)
                == Some(&package.name)
        });
        for path in sources {
            let shown = path.strip_prefix(root).unwrap().display().to_string();
            let below = path.strip_prefix(&package.folder).unwrap();
            let is_code = below.starts_with("src") || below.iter().count() == 1;
            // Tests of the program are made with the families that it has.
            let is_free = own.is_none() && !is_code || shown == REGISTRY;
            let content = text(&path);
            let lines = content.lines().enumerate();
            let code = lines.take_while(|(_, line)| line.trim() != "#[cfg(test)]");
            for (number, line) in code {
                let crates = families.iter().filter(|(_, family)| is_foreign(family));
                let by_crate = crates
                    .clone()
                    .find(|(name, _)| has_word(line, &name.replace('-', "_")))
                    .map(|(name, family)| (*family, name.replace('-', "_")));
                let by_path = crates
                    .clone()
                    .map(|(_, family)| (*family, format!("../{family}/")))
                    .find(|(_, path)| own.is_some() && line.contains(path.as_str()));
                let lower = line.to_lowercase();
                let by_word = crates
                    .map(|(_, family)| (*family, (*family).to_owned()))
                    .filter(|(family, _)| own.is_none() && !COMMON_WORDS.contains(family))
                    .chain(TARGETS.iter().map(|it| ("host", (*it).to_owned())))
                    .filter(|(_, word)| !has_another_meaning(&shown, word))
                    .find(|(_, word)| own.is_none() && lower.contains(word.as_str()));
                let mut languages = LANGUAGES.iter().filter(|_| own.is_none());
                let by_language = languages
                    .find(|(_, word)| has_word(&lower, word))
                    .map(|(family, word)| (*family, (*word).to_owned()));
                let named = by_crate.or(by_path).or(by_word).or(by_language);
                let named = named.filter(|_| !is_free);
                if let Some((family, name)) = named {
                    at(&path, number, rule(family, &name));
                }
                for it in RESERVED {
                    let is_elsewhere = !it.places.iter().any(|place| shown.starts_with(place));
                    let sign = it.signs.iter().find(|sign| line.contains(**sign));
                    if let Some(sign) = sign.filter(|_| is_elsewhere && below.starts_with("src")) {
                        let (what, place, remedy) = (it.what, it.places[0], it.remedy);
                        at(
                            &path,
                            number,
                            format!("it {what} (`{sign}`), which only {place} may: {remedy}"),
                        );
                    }
                }
            }
        }
    }
    found
}

#[test]
fn nobody_names_a_family_who_may_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().unwrap();
    let found = packages(&root);
    let families = found.iter().filter(|it| it.family.is_some()).count();
    assert!(
        20 < found.len() && 5 < families,
        "{} {families}",
        found.len()
    );
    let found = violations(&root);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// What is said when a rule is broken, in a tree made up for it.
#[test]
fn each_rule_says_where_it_is_broken_and_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let file = |path: &str, content: &str| {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    let manifest = |name: &str, dependencies: &str| {
        format!("[package]\nname = \"{name}\"\n\n[dependencies]\n{dependencies}\n")
    };
    file(
        "crates/families/one/family/Cargo.toml",
        &manifest("autocomp-one-family", "autocomp-two-sim.workspace = true"),
    );
    file(
        "crates/families/one/family/src/lib.rs",
        "use autocomp_two_sim::Machine;\nuse autocomp_one_sim::Own;\n",
    );
    file(
        "crates/families/one/family/sources.rs",
        "const SHARED: &[&str] = &[\"../../two/sim/src\"];\n",
    );
    file(
        "crates/families/two/sim/Cargo.toml",
        &manifest("autocomp-two-sim", "serde.workspace = true"),
    );
    file(
        "crates/families/two/sim/src/lib.rs",
        "// autocomp_two_sim itself\nlet machine = Command::new(\"ssh\");\n#[cfg(test)]\nautocomp_one_family\n",
    );
    file(
        "crates/autocomp/Cargo.toml",
        &manifest(
            "autocomp",
            "autocomp-one-family = { workspace = true, optional = true }\nautocomp-two-sim.workspace = true",
        ),
    );
    file(
        "crates/autocomp/src/main.rs",
        "&autocomp_one_family::One,\n",
    );
    file(
        "crates/autocomp/src/commands/sim.rs",
        "use autocomp_two_sim::Machine;\n",
    );
    file(
        "crates/autocomp/tests/all.rs",
        "use autocomp_two_sim::Machine;\n",
    );
    file("crates/eval/Cargo.toml", &manifest("autocomp-eval", ""));
    file(
        "crates/eval/src/lib.rs",
        "//! As the family `two` does it.\nuse nki.language as nl; let thinking = 1;\nlet spent = clock_gettime(ClockId::ProcessCPUTime);\nlet worker = autocomp_sandbox::start(&policy);\n",
    );
    insta::assert_snapshot!(violations(root.path()).join("\n"));
}
