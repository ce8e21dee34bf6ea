//! What others write down, and what becomes of it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use autocomp_catalog::Catalog;
use autocomp_knowledge::{
    Knowledge, Standing, differences, read_knowledge, write_skill, write_target,
};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Writes a file below a folder.
fn file(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Every built-in target comes back from its skill as it was, but for what is told.
#[test]
fn targets_go_through_a_skill_and_back() {
    let catalog = Catalog::built_in().unwrap();
    let names: Vec<String> = catalog.target_names().map(str::to_owned).collect();
    assert!(10 < names.len(), "{names:?}");
    for name in names {
        let target = catalog.target(&name).unwrap();
        let place = TempDir::new().unwrap();
        let known = Knowledge::of(&target);
        let files = write_skill(&known, &place.path().join("skill")).unwrap();
        let text = fs::read_to_string(&files[0]).unwrap();
        let head = text.split("---\n").nth(1).unwrap();
        let field = |name: &str| {
            head.lines()
                .find_map(|it| it.strip_prefix(name))
                .unwrap()
                .trim()
        };
        // As its folder, by the standard; as its target where no skill is called so.
        assert_eq!(field("name:"), "skill");
        let elsewhere = write_skill(&known, &place.path().join("No Skill")).unwrap();
        let text_elsewhere = fs::read_to_string(&elsewhere[0]).unwrap();
        assert!(text_elsewhere.starts_with(&format!("---\nname: {name}\n")));
        assert!(
            (1..=1024).contains(&field("description:").chars().count()),
            "{head}"
        );
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            assert!(
                place.path().join("skill").join(link).is_file(),
                "{name}: {link}"
            );
        }
        let back = read_knowledge(&place.path().join("skill")).unwrap();
        let out = place.path().join("out");
        let parent = catalog.inherited(&name).unwrap();
        let standing = Standing {
            like: &target,
            parent: parent.as_deref(),
            name: "from-skill",
            extension: "x",
        };
        write_target(&back, standing, &out).unwrap();
        let mut with = Catalog::built_in().unwrap();
        with.add_folder(&out).unwrap();
        let made = with.target("from-skill").unwrap();
        let trimmed = |text: &str| text.trim().to_owned();
        assert_eq!(made.architecture, target.architecture, "{name}");
        assert_eq!(made.rules, target.rules, "{name}");
        assert_eq!(made.dtypes, target.dtypes, "{name}");
        assert_eq!(made.constants, target.constants, "{name}");
        assert_eq!(made.runtime, target.runtime, "{name}");
        assert_eq!(made.counters, target.counters, "{name}");
        assert_eq!(made.roofline, target.roofline, "{name}");
        let menu = |target: &autocomp_catalog::Target| -> Vec<_> {
            let items = target.menu.iter().cloned();
            items
                .map(|mut item| {
                    item.text = trimmed(&item.text);
                    item
                })
                .collect()
        };
        assert_eq!(menu(&made), menu(&target), "{name}");
        let isa = |target: &autocomp_catalog::Target| -> Vec<_> {
            let sections = target.isa.iter().cloned();
            sections
                .map(|it| (it.id, it.symbols, it.items, trimmed(&it.text)))
                .collect()
        };
        assert_eq!(isa(&made), isa(&target), "{name}");
        let examples = |target: &autocomp_catalog::Target| -> Vec<_> {
            let examples = target.examples.iter();
            examples
                .map(|it| {
                    (
                        it.name.clone(),
                        it.menu_item.clone(),
                        trimmed(&it.text),
                        trimmed(&it.before),
                        trimmed(&it.after),
                    )
                })
                .collect()
        };
        assert_eq!(examples(&made), examples(&target), "{name}");
        let told = differences(&known, &Knowledge::of(&made));
        assert!(told.is_empty(), "{name}: {told:?}");
        assert_eq!(back.family, target.family);
        // What is there is not written over.
        assert!(write_skill(&known, &place.path().join("skill")).is_err());
    }
}

#[test]
fn a_skill_of_others_is_what_a_kernel_writer_must_know() {
    let place = TempDir::new().unwrap();
    file(
        place.path(),
        "SKILL.md",
        "---\nname: fast\ndescription: >\n  How to be\n  fast.\n---\n\n# Fast\n\nTile it, see [it](references/none.md#x) and [there](https://there/x).\n",
    );
    file(place.path(), "references/memory.md", "It is small.\n");
    file(place.path(), "references/picture.png", "");
    file(place.path(), "scripts/run.py", "");
    let known = read_knowledge(place.path()).unwrap();
    assert_eq!(known.description, "How to be fast.");
    assert_eq!(
        known.architecture,
        "# Fast\n\nTile it, see [it](references/none.md#x) and [there](https://there/x).\n\n# memory\n\nIt is small.\n"
    );
    assert!(known.menu.is_empty() && known.isa.is_empty());
    assert_eq!(
        known.unmapped[4..],
        [
            "references/none.md: SKILL.md leads there, but it is not there",
            "references/picture.png: not read",
            "scripts/: not read",
        ],
        "{:?}",
        known.unmapped
    );
}

/// An agent as the original builds them.
fn agent(folder: &Path) {
    file(
        folder,
        "agent_config.yaml",
        "agent_name: made-up\nbuild:\n  agent_scope: Kernels for a\n    made-up machine.\n  sources:\n  - type: webpage\n    url: there\ndescription: Auto\n",
    );
    file(folder, "architecture.md", "# Machine\n\nIt has one core.\n");
    file(
        folder,
        "isa_docs.md",
        "### load_tile(a, b)\n\nLoads.\n\n## Notes\n\nmore\n\n----\n\n### Things to know\n\nText.\n",
    );
    file(
        folder,
        "optimization_menu.yaml",
        "optimizations:\n- strategy: loop tiling\n- strategy: null\n- strategy: 'Use `x`: it is\n    faster'\n- strategy: loop tiling\n",
    );
    file(
        folder,
        "translate_menu.yaml",
        "strategies:\n- strategy: Move the loop to the machine\n",
    );
    file(
        folder,
        "rules.yaml",
        "general:\n- Be right.\nplanning: []\ncoding:\n- Write C.\nweird:\n- Lost.\n",
    );
    file(folder, "code_examples.md", "## a\n");
    // What is not taken over.
    file(folder, "notes.txt", "n");
    file(folder, "extra/more.md", "m");
}

#[test]
fn a_built_agent_becomes_a_target() {
    let place = TempDir::new().unwrap();
    agent(&place.path().join("agent"));
    let known = read_knowledge(&place.path().join("agent")).unwrap();
    assert_eq!(known.description, "Kernels for a made-up machine.");
    let ids: Vec<&str> = known.menu.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "loop-tiling",
            "use-x-it-is-faster",
            "loop-tiling-2",
            "move-the-loop-to-the-machine"
        ]
    );
    assert_eq!(known.menu[1].text, "Use `x`: it is faster");
    assert_eq!(known.rules.code, ["Write C."]);
    assert_eq!(
        known.unmapped,
        [
            "optimization_menu.yaml: an item without a text of its `strategy`",
            "rules.yaml: rules of the phase `weird`",
            "code_examples.md: examples without a before and after",
            "extra: not read",
            "notes.txt: not read",
            "built from there, which is not read"
        ]
    );
    let mut catalog = Catalog::built_in().unwrap();
    let first = catalog.target_names().next().unwrap().to_owned();
    let like = catalog.target(&first).unwrap();
    let parent = catalog.inherited(&first).unwrap();
    let standing = Standing {
        like: &like,
        parent: parent.as_deref(),
        name: "made-up",
        extension: "c",
    };
    write_target(&known, standing, place.path()).unwrap();
    catalog.add_folder(place.path()).unwrap();
    let made = catalog.target("made-up").unwrap();
    assert_eq!(
        made.menu.len(),
        5,
        "the item for everything else is there, too"
    );
    assert_eq!(made.isa.len(), 2);
    assert_eq!(made.isa[0].symbols, ["load_tile"]);
    assert_eq!(made.architecture, "# Machine\n\nIt has one core.\n");
    assert_eq!(made.machines, like.machines);
}

#[test]
fn what_is_neither_is_refused() {
    let long = "x".repeat(2000);
    let many = format!("---\nname: a\ndescription: {long}\n---\n");
    let cases: &[(&str, &str, &str)] = &[
        (
            "readme.md",
            "",
            "it has neither SKILL.md nor agent_config.yaml",
        ),
        ("SKILL.md", "# Title\n", "it does not begin with its name"),
        (
            "SKILL.md",
            "---\nname: a\n---\n",
            "its description must have",
        ),
        ("SKILL.md", &many, "its description must have"),
        ("SKILL.md", "---\nname: [a\n---\n", "while parsing"),
        (
            "agent_config.yaml",
            "a: &x [1]\nb: *x\n",
            "it repeats parts of itself",
        ),
    ];
    for (name, text, said) in cases {
        let place = TempDir::new().unwrap();
        file(place.path(), name, text);
        let error = read_knowledge(place.path()).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let place = TempDir::new().unwrap();
    agent(place.path());
    file(place.path(), "rules.yaml", "general: [a");
    assert!(read_knowledge(place.path()).is_err());
    fs::remove_file(place.path().join("rules.yaml")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", place.path().join("rules.yaml")).unwrap();
    assert!(
        read_knowledge(place.path())
            .unwrap_err()
            .message
            .contains("it is no file")
    );
}

#[test]
fn what_differs_is_told_part_by_part() {
    let catalog = Catalog::built_in().unwrap();
    let first = Knowledge::of(
        &catalog
            .target(catalog.target_names().next().unwrap())
            .unwrap(),
    );
    assert!(differences(&first, &first).is_empty());
    let mut second = first.clone();
    let gone = second.menu.remove(0).id;
    second.menu[0].text += " Twice.";
    second.rules.code.push("Write it short.".to_owned());
    second.architecture += "\n## More\n\nthere is\n";
    let told = differences(&first, &second);
    let parts: Vec<&str> = told.iter().map(|it| it.part).collect();
    assert_eq!(parts, ["architecture", "menu", "rules"]);
    assert_eq!(told[0].only_second, ["More"]);
    assert_eq!(
        (&told[1].only_first, &told[1].changed),
        (&vec![gone], &vec![second.menu[0].id.clone()])
    );
    assert_eq!(told[2].only_second, ["Write it short."]);
}
