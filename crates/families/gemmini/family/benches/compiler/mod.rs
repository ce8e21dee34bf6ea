//! The compiler and the problem that the benchmarks share.

use autocomp_catalog::{Catalog, Problem, Target};
use autocomp_eval::Surroundings;
use autocomp_toolchain::{Toolchain, find_toolchain};
use std::path::PathBuf;

/// Problem whose kernels are measured.
const PROBLEM: &str = "gemmini/gemm-512x512x512";

/// Returns the problem and its target.
pub fn problem() -> (Problem, Target) {
    let catalog = Catalog::built_in().unwrap();
    let problem = catalog.problem(PROBLEM).unwrap();
    let target = catalog.target(&problem.targets[0]).unwrap();
    (problem, target)
}

/// Returns the folder named by `AUTOCOMP_CACHE_DIR`, or one for temporary files.
pub fn cache_folder() -> PathBuf {
    std::env::var_os("AUTOCOMP_CACHE_DIR").map_or_else(
        || std::env::temp_dir().join("autocomp-benchmark"),
        PathBuf::from,
    )
}

/// Looks for a RISC-V compiler, and installs one in the cache folder if there
/// is none.
pub fn toolchain() -> Toolchain {
    let search = Surroundings::installing(cache_folder(), std::env::var_os("PATH"));
    find_toolchain(&search, &mut |_| ()).unwrap()
}
