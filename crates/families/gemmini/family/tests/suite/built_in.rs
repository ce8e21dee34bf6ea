//! Built-in targets and problems: headers, the ISA reference, the shapes of the paper.

use autocomp_catalog::{Catalog, DataType, Role, Target};
use std::collections::BTreeSet;

/// Names that the headers offer to kernels: macros and functions, except what
/// begins with `GEMMINI_` and serves the headers themselves.
fn offered(target: &Target) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, data) in target
        .runtime
        .iter()
        .filter(|(file, _)| file.ends_with(".h"))
    {
        let text = std::str::from_utf8(data).expect("headers are text");
        let joined = text.replace("\\\n", " ");
        let mut declaration = String::new();
        for line in joined.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["#define", name, ..] => {
                    let name = name.split('(').next().unwrap_or(name);
                    names.insert(name.to_owned());
                }
                ["typedef", .., name] => {
                    names.insert(name.trim_end_matches(';').to_owned());
                }
                ["static", "inline", ..] => declaration = line.to_owned(),
                _ if !declaration.is_empty() => declaration += line,
                _ => {}
            }
            if declaration.contains('{') {
                let tail = declaration
                    .replace("__attribute__((always_inline, unused))", "")
                    .replace("__attribute__((unused))", "");
                let head = tail.split('(').next().unwrap_or_default();
                names.extend(head.split_whitespace().next_back().map(str::to_owned));
                declaration.clear();
            }
        }
    }
    names.retain(|name| !name.starts_with("GEMMINI_") && name != "gemmini_float_bits");
    names.insert("GARBAGE_ADDR".to_owned());
    names
}

#[test]
fn the_reference_explains_what_the_headers_offer_and_nothing_else() {
    let catalog = Catalog::built_in().expect("the built-in folders are sound");
    for name in catalog.target_names() {
        let target = catalog
            .target(name)
            .unwrap_or_else(|error| panic!("{error}"));
        if target.family != "gemmini" {
            continue;
        }
        for file in ["gemmini.h", "gemmini_params.h"] {
            assert!(target.runtime.contains_key(file), "{name} has no {file}");
        }
        let offered = offered(&target);
        let explained: BTreeSet<String> = target
            .isa
            .iter()
            .flat_map(|section| section.symbols.iter().cloned())
            .collect();
        let difference: Vec<&String> = offered.symmetric_difference(&explained).collect();
        assert!(difference.is_empty(), "{name}: {difference:?}");
    }
}

#[test]
fn a_kernel_gets_the_sections_it_needs_and_no_others() {
    let catalog = Catalog::built_in().expect("the built-in folders are sound");
    let target = catalog
        .target("gemmini-int8-16")
        .expect("the default target");
    let problem = catalog
        .problem("gemmini/gemm-512x512x512")
        .expect("a paper shape");
    let sections = target.isa_for(problem.kernel("baseline").expect("every problem has one"));
    let ids: Vec<&str> = sections.iter().map(|section| section.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            // What stands before the first heading is always needed.
            "isa",
            "config-ex",
            "config-ld",
            "mvin",
            "config-st",
            "mvout",
            "preload",
            "compute",
            "fence"
        ]
    );
    assert!(sections.iter().all(|section| 100 < section.text.len()));
}

#[test]
fn a_member_of_a_family_has_its_own_numbers() {
    let catalog = Catalog::built_in().expect("the built-in folders are sound");
    let problem = catalog
        .problem("gemmini/gemm-12544x64x256")
        .expect("a paper shape");
    assert_eq!(problem.targets, ["gemmini-int8-16"]);
    assert_eq!(problem.work.macs, 12544 * 64 * 256);
    let shapes: Vec<(&str, &[u64], Role)> = problem
        .buffers
        .iter()
        .map(|buffer| (buffer.name.as_str(), buffer.shape.as_slice(), buffer.role))
        .collect();
    assert_eq!(
        shapes,
        [
            ("A", &[12544, 256][..], Role::Input),
            ("B", &[256, 64][..], Role::Input),
            ("C", &[12544, 64][..], Role::Output),
        ]
    );
    assert!(
        problem
            .buffers
            .iter()
            .all(|buffer| buffer.dtype == DataType::Int8)
    );
    assert_eq!(problem.axes.len(), 3);
}
