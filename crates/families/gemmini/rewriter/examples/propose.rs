//! Writes the drafts of the first plans for a kernel into a folder.
//!
//! `cargo run -p autocomp-gemmini-rewriter --example propose -- KERNEL.c FOLDER COUNT [DIM]`
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a tool for developers")]

use autocomp_core::{PlanChoice, Rewriter};
use autocomp_gemmini::GemminiConfig;
use autocomp_gemmini_rewriter::{GemminiRewriter, HardwareLimits};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let source = std::fs::read_to_string(&arguments[1]).unwrap();
    let count: u32 = arguments[3].parse().unwrap();
    let dim: u32 = arguments.get(4).map_or(16, |dim| dim.parse().unwrap());
    let base = HardwareLimits::gemmini_int8_16();
    let limits = HardwareLimits::of(&GemminiConfig {
        dim,
        ..base.accelerator
    });
    let rewriter = GemminiRewriter::new(limits);
    let started = std::time::Instant::now();
    for plan in 0..count {
        let choice = PlanChoice {
            menu: &[],
            iteration: 1,
            place: 0,
            plan,
        };
        match rewriter.plan(&source, choice) {
            Ok(found) => {
                let draft = rewriter.implement(&source, &found.payload, 0).unwrap();
                std::fs::write(format!("{}/{plan:03}.c", arguments[2]), draft).unwrap();
                println!("{plan} {:.1?} {} {}", started.elapsed(), found.payload, found.text);
            }
            Err(error) => {
                println!("{plan} {:.1?} {error}", started.elapsed());
                break;
            }
        }
    }
}
