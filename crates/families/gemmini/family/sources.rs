/// What kernels cost comes from this code, from this crate's folder: a run goes on only with the
/// same.
const FAMILY: &[&str] = &[
    "../accelerator/src",
    "../sim/src",
    "../../../riscv/src",
    "../../../riscv-machine/src",
    "src",
    "data",
];

/// What else decides results: a stored result counts only for the same code of these, too. References
/// of integers are run as kernels of the computer at hand are.
const SHARED: &[&str] = &[
    "../../../bare-metal/runtime",
    "../../../bare-metal/src",
    "../../../catalog/src",
    "../../../eval/src",
    "../../../languages/c/src",
    "../../../sandbox/src",
    "../../../toolchain/src",
    "../../../native/src",
    "../../../native/runtime",
    // That a core without vectors refuses their instructions is a result.
    "../../../riscv/src/scoreboard",
    "../../../riscv/src/vector",
];

/// What of `FAMILY` no cost comes from: it uses the simulator by itself, or is of cores that have
/// no Gemmini.
const WITHOUT: &[&str] = &[
    "../sim/src/calibrate.rs",
    "../../../riscv/src/scoreboard",
    "../../../riscv/src/vector",
    "src/simulator",
];
