//! Targets that come along.

use autocomp_catalog::Catalog;
use autocomp_cuda::Cuda;
use autocomp_eval::{EvalError, Family};

#[test]
fn machines_and_figures_of_all_targets_are_sound() {
    let catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<&str> = catalog
        .target_names()
        .filter(|it| it.starts_with("cuda-"))
        .collect();
    assert_eq!(names, ["cuda-sm80", "cuda-sm86", "cuda-sm89", "cuda-sm90"]);
    for name in names {
        let target = catalog
            .target(name)
            .unwrap_or_else(|error| panic!("{error}"));
        Cuda.check_target(&target)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(25 <= target.menu.len(), "{name}: {}", target.menu.len());
        let figures = Cuda
            .figures(&target, &target.default_machine)
            .unwrap_or_else(|error| panic!("{error}"));
        assert!(figures["sms"].parse::<u32>().is_ok_and(|it| 0 < it));
    }
}

#[test]
fn machines_of_another_target_or_name_are_refused_by_file() {
    let catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    let mut target = catalog
        .target("cuda-sm89")
        .unwrap_or_else(|error| panic!("{error}"));
    let l4 = target.machines["l4"].clone();
    for (from, to, wrong) in [
        ("\"sm_89\"", "\"sm_80\"", "`architecture` is \"sm_80\""),
        (
            "\"sm_89\"",
            "\"sm_banana\"",
            ": line 7: `architecture` is \"sm_banana\"",
        ),
        ("name = \"l4\"", "name = \"l5\"", "`name` is \"l5\""),
    ] {
        assert!(l4.contains(from), "{l4}");
        let text = l4.replacen(from, to, 1);
        target.machines.insert("l4".into(), text);
        let error = Cuda.figures(&target, "l4").expect_err(to);
        let EvalError::Input { message, .. } = error else {
            panic!("{error:?}");
        };
        let begin = "targets/cuda-sm89/machines/l4.toml: ";
        assert!(
            message.starts_with(begin) && message.contains(wrong),
            "{message}"
        );
    }
}
