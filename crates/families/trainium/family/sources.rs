/// What runs kernels, from this crate's folder: a run goes on only with the same.
const FAMILY: &[&str] = &["../../../languages/python/src", "../sim/src", "src"];

/// What else decides results: a stored result counts only for the same code of these, too. References
/// are run as kernels of the computer at hand are.
const SHARED: &[&str] = &[
    "../../../catalog/src",
    "../../../eval/src",
    "../../../remote/src",
    "../../../sandbox/src",
    "../../../toolchain/src",
    "../../../native/src",
    "../../../native/runtime",
];

/// What of the family decides no result: it uses the simulator by itself.
const WITHOUT: &[&str] = &["src/latencies.rs"];
