/// What kernels cost comes from this code, from this crate's folder: a run goes on only with the
/// same.
const FAMILY: &[&str] = &["../sim/src", "src", "data", "runtime"];

/// What else decides results: a stored result counts only for the same code of these, too. References
/// are run as kernels of the computer at hand are.
const SHARED: &[&str] = &[
    "../../../catalog/src",
    "../../../eval/src",
    "../../../languages/c/src",
    "../../../measuring/src",
    "../../../native/runtime",
    "../../../native/src",
    "../../../sandbox/src",
    "../../../toolchain/src",
];

/// What of `FAMILY` no cost comes from: comparison with suites that a device measured.
const WITHOUT: &[&str] = &["../sim/src/calibration", "src/calibration.rs"];

/// What of `FAMILY` is for a device that is there, and decides nothing that is simulated.
const DEVICE: &[&str] = &["src/device"];
