//! The guide to every setting, made from the code: names and words from the declarations,
//! defaults from the values.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use autocomp::inside::Settings;
use serde_json::Value;
use std::fmt::Write as _;

const DECLARATIONS: [&str; 3] = [
    include_str!("../../../src/settings.rs"),
    include_str!("../../../src/settings/asking.rs"),
    include_str!("../../../../core/src/settings.rs"),
];
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");

const HEAD: &str = "# Settings

Every setting of `autocomp optimize`, made from the code; a test compares it.
A file of them is given with `--config FILE`; flags win over it, and the settings of a run are stored with it.
`autocomp optimize --help` lists the flags; any other setting is given with `--set NAME=VALUE`, such as `--set ideas=3` or `--set asking.tried=4`.
";

/// The tables of the file, with the structures that declare them.
const TABLES: [(&str, &str, &str); 4] = [
    ("", "Settings", "The run"),
    ("search", "SearchSettings", "`[search]`: how to search"),
    (
        "budget",
        "BudgetSettings",
        "`[budget]`: what models may use",
    ),
    (
        "asking",
        "AskingSettings",
        "`[asking]`: how models are asked",
    ),
];

/// Returns the words that the declaration of a field has.
fn words(structure: &str, field: &str) -> String {
    let begin = format!("pub struct {structure} {{");
    let body = DECLARATIONS.iter().find_map(|text| text.split_once(&begin));
    let body = body
        .unwrap_or_else(|| panic!("{structure} is not declared"))
        .1;
    let body = body.split_once("\n}").unwrap().0;
    let before = body
        .split_once(&format!("    pub {field}:"))
        .unwrap_or_else(|| panic!("{structure} has no {field}"))
        .0;
    let lines: Vec<&str> = before
        .lines()
        .rev()
        .map(str::trim)
        .take_while(|line| line.starts_with("///") || line.starts_with("#["))
        .filter_map(|line| line.strip_prefix("///"))
        .map(str::trim)
        .collect();
    lines.into_iter().rev().collect::<Vec<_>>().join(" ")
}

fn page() -> String {
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    let mut out = HEAD.to_owned();
    for (table, structure, title) in TABLES {
        let values = match table {
            "" => &defaults,
            table => &defaults[table],
        };
        write!(
            out,
            "\n## {title}\n\n| setting | default | meaning |\n|---|---|---|\n"
        )
        .unwrap();
        for (name, value) in values.as_object().unwrap() {
            let default = match value {
                Value::Object(_) => continue,
                Value::Null => "none".to_owned(),
                value => format!("`{value}`"),
            };
            let meaning = words(structure, name).replace('|', "\\|");
            writeln!(out, "| `{name}` | {default} | {meaning} |").unwrap();
        }
    }
    out
}

#[test]
fn the_guide_has_every_setting_with_its_default() {
    let page = page();
    if std::env::var_os("AUTOCOMP_WRITE_DOCS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        written == page,
        "docs/settings.md is not what the code says; `AUTOCOMP_WRITE_DOCS=1 cargo test -p \
         autocomp the_guide` writes it anew"
    );
}
