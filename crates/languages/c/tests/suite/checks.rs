//! What is refused before it is built.

use autocomp_c::check;
use autocomp_catalog::{Catalog, Problem};
use proptest::prelude::*;
use std::sync::LazyLock;

static PROBLEM: LazyLock<Problem> = LazyLock::new(|| {
    let catalog = Catalog::built_in().expect("built-in data");
    let name = catalog.problem_names().next().expect("a built-in problem");
    catalog.problem(name).expect("built-in data")
});

proptest! {
    #[test]
    fn any_text_is_survived(
        text in "(solution|void|static|#include|#pragma|__attribute__|asm|\\(|\\)|\\{|\\}|\\[|\\]|,|;|\n|\\\\|\"|/\\*|é|.){0,60}",
    ) {
        let found = check(&text, "kernel.c", &PROBLEM);
        prop_assert!(found.len() <= autocomp_c::inside::MAX_DIAGNOSTICS);
    }
}

#[test]
fn shifts_into_the_sign_are_doubtful() {
    let lines = |source: &str| {
        let found = autocomp_c::doubts(source, "kernel.c");
        found
            .iter()
            .filter_map(|one| Some(one.location.as_ref()?.line))
            .collect::<Vec<u32>>()
    };
    let source = "uint64_t a = 1 << 31;\nuint64_t b = 1u << 31;\nuint64_t c = 0x3 << 30 | 5;\n\
                  int d = 1 << 30;\nuint32_t e = (uint32_t)(1 << 31);\n// 1 << 31\n";
    assert_eq!(lines(source), [1, 3]);
    // What becomes a value of 32 bits without a sign has no upper half.
    let narrow = "static uint32_t a = 1 << 31;\nconst uint32_t b = 5, c = (1 << 31) | b;\n\
                  for (uint32_t d = 1 << 31; d; d++) {}\nunsigned e;\ne = 1 << 31;\nc |= 1 << 31;\n";
    assert_eq!(lines(narrow), []);
    let wide = "unsigned long a = 1 << 31;\nuint32_t b = f(1 << 31);\nmvout(C, 1 << 31, 16, 16);\n\
                uint32_t *p; uint64_t q;\nq = 1 << 31;\nif (b == 1 << 31) {}\n";
    assert_eq!(lines(wide), [1, 2, 3, 5, 6]);
}

#[test]
fn known_kernels_pass() {
    let catalog = Catalog::built_in().expect("built-in data");
    for name in catalog.problem_names() {
        let problem = catalog.problem(name).expect("built-in data");
        let target = catalog.target(&problem.targets[0]).expect("built-in data");
        if target.language != "c" {
            continue;
        }
        for (kernel, source) in &problem.kernels {
            assert_eq!(check(source, "kernel.c", &problem), [], "{name} {kernel}");
        }
    }
}
