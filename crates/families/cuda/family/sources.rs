/// The family's own code, from this crate's folder: a run goes on only with the same.
const FAMILY: &[&str] = &["../sim/src", "src", "runtime"];

/// What else decides results: cached ones are those of the same code, here too. References
/// are run as kernels of the computer at hand are.
const SHARED: &[&str] = &[
    "../../../catalog/src",
    "../../../eval/src",
    "../../../native/runtime",
    "../../../native/src",
    "../../../sandbox/src",
    "../../../toolchain/src",
];
