/// What kernels cost comes from this code, from this crate's folder: a run goes on only with the
/// same.
const FAMILY: &[&str] = &[
    "../../../board/src",
    "../../../riscv/src",
    "../../../riscv-machine/src",
    "data",
    "src",
];

/// What else decides results: a stored result counts only for the same code of these, too.
const SHARED: &[&str] = &[
    "../../../bare-metal/src",
    "../../../bare-metal/runtime",
    "../../../catalog/src",
    "../../../eval/src",
    "../../../languages/c/src",
    "../../../sandbox/src",
    "../../../toolchain/src",
    "../../../native/src",
    "../../../native/runtime",
    "../../../measuring/src",
    "../../../remote/src",
];

/// What of `FAMILY` no cost comes from: comparison with measured suites.
const WITHOUT: &[&str] = &["src/calibration"];

/// What of `FAMILY` is for a device that is there, and decides nothing that is simulated.
const DEVICE: &[&str] = &["../../../board/src"];
