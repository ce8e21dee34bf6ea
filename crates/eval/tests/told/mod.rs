//! What tests of families share about sentences that are data.

use std::collections::BTreeSet;

/// Holds the sentences that `code` tells by name and those that are `there` to each other: a
/// sentence that is not there would be empty. A name that follows one of `calls`, such as `say(`,
/// in quotes is told, and each of these calls is there. Returns how many names are told so.
pub fn each_is_told(code: &str, there: &BTreeSet<&str>, calls: &[&str]) -> usize {
    for name in there {
        let quoted = format!("\"{name}\"");
        assert!(code.contains(&quoted), "nobody tells {name}");
    }
    let mut count = 0;
    for call in calls {
        let behind = code.split(call).skip(1);
        let told = behind.filter_map(|it| it.trim_start().strip_prefix('"')?.split('"').next());
        let told: Vec<&str> = told.collect();
        assert!(!told.is_empty(), "{call}");
        for name in &told {
            assert!(there.contains(name), "{name} has no sentence");
        }
        count += told.len();
    }
    count
}
