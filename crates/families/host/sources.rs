/// What kernels cost comes from this code, from this crate's folder: a run goes on only with the
/// same.
const FAMILY: &[&str] = &["src", "templates"];

/// What else decides results: a stored result counts only for the same code of these, too.
const SHARED: &[&str] = &[
    "../../catalog/src",
    "../../eval/src",
    "../../languages/c/src",
    "../../measuring/src",
    "../../native/runtime",
    "../../native/src",
    "../../sandbox/src",
    "../../toolchain/src",
];
