//! Every built-in folder loads, and says what it must.

use autocomp_catalog::{Buffer, Catalog};
use autocomp_core::MenuItem;

fn catalog() -> Catalog {
    Catalog::built_in().expect("the built-in folders are sound")
}

#[test]
fn every_built_in_target_loads() {
    let catalog = catalog();
    let names: Vec<&str> = catalog.target_names().collect();
    assert!(!names.is_empty());
    for name in names {
        let target = catalog
            .target(name)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(target.menu.iter().any(|item| item.id == MenuItem::OTHER));
    }
}

#[test]
fn every_built_in_problem_loads_with_a_baseline() {
    let catalog = catalog();
    let mut seen = 0;
    for name in catalog.problem_names() {
        let problem = catalog
            .problem(name)
            .unwrap_or_else(|error| panic!("{error}"));
        let target = catalog.target(&problem.targets[0]).expect("its target");
        // Only kernels in C have the signature of the reference.
        let kernels = problem.kernels.iter().filter(|_| target.language == "c");
        for (kernel, source) in kernels.chain([(&"reference".to_owned(), &problem.reference)]) {
            let head = format!("{} {{", problem.signature);
            // Kernels may promise more than they have to.
            assert!(
                source.replace("restrict ", "").contains(&head),
                "{name}/{kernel} does not define `{}`",
                problem.signature
            );
            assert!(
                !source.contains("{{") && !source.contains("#include"),
                "{name}/{kernel}"
            );
        }
        assert!(
            problem.kernels.contains_key("baseline"),
            "{name} has no baseline"
        );
        seen += 1;
    }
    assert!(6 <= seen);
}

#[test]
fn every_built_in_suite_names_kernels_that_exist() {
    let catalog = catalog();
    for name in catalog.suite_names() {
        let suite = catalog
            .suite(name)
            .unwrap_or_else(|error| panic!("{error}"));
        for problem in &suite.problems {
            let problem = catalog
                .problem(problem)
                .unwrap_or_else(|error| panic!("{error}"));
            assert!(
                suite
                    .kernels
                    .iter()
                    .any(|kernel| problem.kernels.contains_key(kernel))
            );
        }
    }
}

#[test]
fn the_least_traffic_of_a_problem_is_that_of_its_buffers() {
    let catalog = catalog();
    for name in catalog.problem_names() {
        let problem = catalog
            .problem(name)
            .unwrap_or_else(|error| panic!("{error}"));
        let least: u64 = problem.buffers.iter().map(Buffer::least_bytes).sum();
        assert_eq!(problem.work.bytes, least, "{name}");
    }
}

#[test]
fn names_nobody_knows_are_answered_with_the_nearest() {
    let catalog = catalog();
    let known = catalog.problem_names().next().expect("a problem");
    let error = catalog
        .problem(&format!("{known}q"))
        .expect_err("no such problem");
    let text = error.to_string();
    assert!(text.contains(&format!("did you mean `{known}`?")), "{text}");
}
