/// What kernels cost comes from this code, from this crate's folder: a run goes on only with the
/// same.
const FAMILY: &[&str] = &["../../../languages/python/src", "../sim/src", "src", "data"];

/// What else decides results: a stored result counts only for the same code of these, too. References
/// are run as kernels of the computer at hand are.
const SHARED: &[&str] = &[
    "../../../catalog/src",
    "../../../eval/src",
    "../../../languages/c/src",
    "../../../measuring/src",
    "../../../remote/src",
    "../../../sandbox/src",
    "../../../toolchain/src",
    "../../../native/src",
    "../../../native/runtime",
];

/// What of `FAMILY` no cost comes from: comparison with measured kernels, numbers in prompts, and
/// the form by which the search finds equal kernels.
const WITHOUT: &[&str] = &[
    "../sim/src/calibrate.rs",
    "../sim/src/refit.rs",
    "src/figures.rs",
    "src/latencies.rs",
    "src/normal.rs",
];

/// What of `FAMILY` is for a device that is there, and decides nothing that is simulated.
const DEVICE: &[&str] = &["src/neuron"];
