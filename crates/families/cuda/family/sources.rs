/// The family's own code, from this crate's folder: a run goes on only with the same.
const FAMILY: &[&str] = &["../sim/src", "src", "runtime"];

/// What else decides results: a stored result counts only for the same code of these, too. References
/// are run as kernels of the computer at hand are.
const SHARED: &[&str] = &[
    "../../../catalog/src",
    "../../../eval/src",
    "../../../native/runtime",
    "../../../native/src",
    "../../../sandbox/src",
    "../../../toolchain/src",
];
