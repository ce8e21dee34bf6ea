//! The `autocomp` command with the families of targets that it was built with:
//! one line each.

use autocomp_eval::Family;
use std::process::ExitCode;

const FAMILIES: &[&dyn Family] = &[
    #[cfg(feature = "cuda")]
    &autocomp_cuda::Cuda,
    #[cfg(feature = "gemmini")]
    &autocomp_gemmini_family::Gemmini,
    #[cfg(feature = "host")]
    &autocomp_host::Host,
    #[cfg(feature = "rvv")]
    &autocomp_rvv::Rvv,
    #[cfg(feature = "trainium")]
    &autocomp_trainium_family::Trainium,
];

fn main() -> ExitCode {
    autocomp::run(FAMILIES)
}
