//! Parts of the crate one by one.

mod bench_reports;
mod benching;
mod courses;
mod documents;
mod estimates;
mod guide;
mod harmless_texts;
mod intervals;
mod lines;
mod live_views;
mod manifests;
mod menus;
mod overrides;
mod paths;
#[cfg(all(
    feature = "cuda",
    feature = "gemmini",
    feature = "host",
    feature = "rvv",
    feature = "trainium"
))]
mod prompts;
mod settings;
mod sources;
mod sparklines;
mod study_files;
mod tables;
#[cfg(feature = "watch")]
mod watching;

use autocomp_eval::Family;

/// The families of the program that is tested.
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
