//! The compiler and cache folder that all tests share.

use autocomp_eval::Surroundings;
use autocomp_toolchain::{Toolchain, find_toolchain};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Returns the cache folder of tests, below the build folder of cargo.
pub fn cache_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("autocomp-cache")
}

/// Returns how tests look for a compiler.
pub fn search() -> Surroundings {
    Surroundings::installing(cache_folder(), std::env::var_os("PATH"))
}

/// Returns the compiler, which is installed if the machine has none.
pub fn toolchain() -> Toolchain {
    static FOUND: OnceLock<Toolchain> = OnceLock::new();
    FOUND
        .get_or_init(|| find_toolchain(&search(), &mut |_| ()).expect("a compiler for RISC-V"))
        .clone()
}
