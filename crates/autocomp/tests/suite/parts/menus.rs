//! What rewriters do: in the menus of targets, and in the tables of the documentation.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::parts::FAMILIES;
use autocomp_catalog::Catalog;
use autocomp_core::KindOfChange;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Pages with a table of a family's changes.
const PAGES: [(&str, &str); 5] = [
    ("cuda", "cuda.md"),
    ("gemmini", "rewriter.md"),
    ("host", "host.md"),
    ("rvv", "rvv.md"),
    ("trainium", "trainium.md"),
];

/// Changes that the menu of a target has no item for: the target, the first of the items that
/// name the change elsewhere, and why it needs none.
const WITHOUT_ITEM: &[(&str, &str, &str)] = &[(
    "gemmini-fp32-4",
    "hardware-loop",
    "its problems are chains of products of a few tiles, which are other changes of the rewriter",
)];

/// Returns every built-in target whose family has a rewriter, with the kinds of its changes.
fn kinds_by_target(catalog: &Catalog) -> Vec<(String, String, Vec<KindOfChange>)> {
    let mut found = Vec::new();
    for name in catalog.target_names() {
        let target = catalog.target(name).unwrap();
        let family = FAMILIES.iter().find(|it| it.name() == target.family);
        let mut problems = catalog
            .problem_names()
            .map(|it| catalog.problem(it).unwrap());
        let Some(problem) = problems.find(|it| it.targets.iter().any(|on| on == name)) else {
            continue;
        };
        let machine = &target.default_machine;
        let rewriter = family.unwrap().rewriter(&problem, &target, machine);
        if let Some(rewriter) = rewriter.unwrap() {
            found.push((name.to_owned(), target.family.clone(), rewriter.kinds()));
        }
    }
    found
}

/// Whatever a rewriter says that it does is in the menu of every target that it serves:
/// changes under another name than the menu's pay for it when plans are chosen, and lessons
/// file them under `other`. Of several names for a change, one must be there.
#[test]
fn menus_have_what_rewriters_do() {
    let catalog = Catalog::built_in().unwrap();
    let targets = kinds_by_target(&catalog);
    for (family, _) in PAGES {
        assert!(targets.iter().any(|it| it.1 == family), "{family}");
    }
    for (target, _, _) in WITHOUT_ITEM {
        assert!(targets.iter().any(|it| it.0 == *target), "{target}");
    }
    for (name, family, kinds) in targets {
        assert!(!kinds.is_empty(), "{name}");
        assert!(
            PAGES.iter().any(|it| it.0 == family),
            "{family} has no table"
        );
        let target = catalog.target(&name).unwrap();
        let menu: BTreeSet<&str> = target.menu.iter().map(|item| item.id.as_str()).collect();
        let lacking = kinds
            .iter()
            .filter(|kind| !kind.menu_items.iter().any(|it| menu.contains(it)));
        let lacking: Vec<&str> = lacking.map(|kind| kind.menu_items[0]).collect();
        let expected = WITHOUT_ITEM.iter().filter(|it| it.0 == name);
        let expected: Vec<&str> = expected.map(|it| it.1).collect();
        assert_eq!(
            lacking, expected,
            "changes that the menu of {name} has no item for, by the first of their items"
        );
    }
}

/// Returns a page with the table of `kinds` between its marks.
fn with_table(page: &str, family: &str, kinds: &[KindOfChange]) -> String {
    let mut table = "\n| change | menu items | what it does |\n|---|---|---|\n".to_owned();
    for kind in kinds {
        let items: Vec<String> = kind.menu_items.iter().map(|it| format!("`{it}`")).collect();
        let items = items.join(", ");
        writeln!(table, "| `{}` | {items} | {} |", kind.name, kind.does).unwrap();
    }
    let begin = format!("<!-- kinds of changes: {family} -->\n");
    let (head, rest) = page.split_once(&begin).unwrap();
    let (_, tail) = rest.split_once("<!-- end -->").unwrap();
    format!("{head}{begin}{table}\n<!-- end -->{tail}")
}

#[test]
fn pages_have_every_change_of_the_rewriters() {
    let targets = kinds_by_target(&Catalog::built_in().unwrap());
    for (family, file) in PAGES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs")
            .join(file);
        let (_, _, kinds) = targets.iter().find(|it| it.1 == family).unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        let page = with_table(&written, family, kinds);
        if std::env::var_os("AUTOCOMP_WRITE_DOCS").is_some() {
            std::fs::write(&path, &page).unwrap();
        } else {
            assert!(
                written == page,
                "docs/{file} is not what the code says; `AUTOCOMP_WRITE_DOCS=1 cargo test -p \
                 autocomp pages_have` writes it anew"
            );
        }
    }
}

/// Models get plans of a whole schedule, and plans that combine, on every kind of
/// accelerator whose schedule is the kernel's own.
#[test]
fn accelerators_have_items_for_whole_schedules() {
    use autocomp_core::Scope;
    let catalog = Catalog::built_in().unwrap();
    for name in catalog.target_names() {
        let target = catalog.target(name).unwrap();
        let has = |scope| target.menu.iter().any(|item| item.scope == scope);
        assert!(has(Scope::Schedule) && has(Scope::Combination), "{name}");
        assert!(!target.rules.schedule.is_empty(), "{name}");
    }
}
