/// The family's own code, from this crate's folder: a run goes on only with the same.
const FAMILY: &[&str] = &[
    "../accelerator/src",
    "../sim/src",
    "../../../bare-metal/runtime",
    "../../../bare-metal/src",
    "../../../riscv/src",
    "../../../riscv-machine/src",
    "src",
    "data",
];

/// What else decides results: a stored result counts only for the same code of these, too. References
/// of integers are run as kernels of the computer at hand are.
const SHARED: &[&str] = &[
    "../../../catalog/src",
    "../../../eval/src",
    "../../../languages/c/src",
    "../../../sandbox/src",
    "../../../toolchain/src",
    "../../../native/src",
    "../../../native/runtime",
];

/// What of the family decides no result: it uses the simulator by itself.
const WITHOUT: &[&str] = &["src/simulator"];
