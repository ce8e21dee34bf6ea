//! The `autocomp` command.
fn main() {}
