//! Targets that come along.

use autocomp_catalog::Catalog;
use autocomp_cuda::Cuda;
use autocomp_eval::Family;

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
