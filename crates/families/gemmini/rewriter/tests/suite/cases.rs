//! Before and after, for each transformation: `tests/cases/*.case`.
//!
//! A case names a transformation and which of its steps to take; set
//! `UPDATE_CASES=1` to rewrite what is expected.

use crate::parse;
use autocomp_gemmini_rewriter::HardwareLimits;
use autocomp_gemmini_rewriter::inside::View;
use autocomp_gemmini_rewriter::inside::print;
use autocomp_gemmini_rewriter::inside::{TRANSFORMATIONS, find};
use std::fs;
use std::path::PathBuf;

const BEFORE: &str = "==== before\n";
const AFTER: &str = "==== after\n";

/// Returns what the header of a case says about `field`.
fn field<'text>(header: &'text str, field: &str) -> &'text str {
    header
        .lines()
        .find_map(|line| line.strip_prefix(field)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("the case has no `{field}`"))
}

fn rewritten(header: &str, before: &str) -> String {
    let name = field(header, "transformation");
    let number: usize = field(header, "step").parse().expect("`step` is a number");
    let transformation = find(name).expect("a transformation of that name");
    let limits = HardwareLimits::gemmini_int8_16();
    let kernel = parse(before).expect("the kernel before parses");
    let view = View::of(&kernel, &limits);
    let steps = transformation.steps(&view);
    match steps.get(number) {
        None => format!("no step {number} of {}\n", steps.len()),
        Some(step) => match transformation.apply(&view, step) {
            None => "does not apply\n".to_owned(),
            Some(rewritten) => {
                let menu = transformation.menu_items(step).join(", ");
                format!(
                    "{}\n[{menu}]\n\n{}",
                    rewritten.sentence,
                    print(&rewritten.kernel)
                )
            }
        },
    }
}

#[test]
fn transformations_rewrite_as_expected() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut covered = Vec::new();
    for entry in fs::read_dir(folder).expect("the folder of cases") {
        let path = entry.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a readable case");
        let (header, rest) = text.split_once(BEFORE).expect("a part before");
        let (before, after) = rest.split_once(AFTER).expect("a part after");
        let got = rewritten(header, before);
        covered.push(field(header, "transformation").to_owned());
        if std::env::var_os("UPDATE_CASES").is_some() {
            fs::write(&path, format!("{header}{BEFORE}{before}{AFTER}{got}")).expect("written");
        } else {
            assert_eq!(got, after, "{}", path.display());
        }
    }
    for transformation in TRANSFORMATIONS {
        let name = transformation.name();
        assert!(
            covered.iter().any(|other| other == name),
            "no case for {name}"
        );
    }
}
