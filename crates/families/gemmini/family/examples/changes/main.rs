//! What changes of kernels gain, one at a time, as tables in Markdown.
//!
//! `cargo run --release -p autocomp-gemmini-family --features examples --example changes -- remedies [PART…]`:
//! every kernel of every suite, what its profile says to do about what limits it most, what
//! is promised for that, and what the rewriter's changes for it gain.
//!
//! `… script PROBLEM KERNEL SCRIPT…`: what scripts (docs/rewriter.md) make of a kernel.
//!
//! Only problems with one of the parts in their names are looked at, if there are parts. A
//! RISC-V compiler is looked for, and installed if there is none, in `AUTOCOMP_CACHE_DIR` or a
//! folder for temporary files.

#![allow(clippy::unwrap_used, reason = "a report may fail")]
#![allow(clippy::print_stdout, reason = "it is what it is for")]

#[allow(dead_code, reason = "benchmarks use more of it")]
#[path = "../../benches/compiler/mod.rs"]
mod compiler;
mod remedies;
mod scripts;
mod workbench;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let parts: Vec<String> = arguments.collect();
    match what.as_str() {
        "remedies" => remedies::report(&parts),
        "script" => scripts::report(&parts),
        _ => {
            println!("say which: remedies, script");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
