//! Programs that check themselves, on the interpreter:
//!
//! ```text
//! self-checking VLEN FILE...
//! ```
//!
//! A file is a flat image that lies at 0x80000000 and is entered at its first byte, in machine
//! mode with all units on, registers of vectors having VLEN bits. It ends with `ecall`, with 1 in
//! `gp` if all was right, else with another number that says what was wrong. The name and the
//! verdict of each is printed, and at last how many passed. The exit code is 1 unless all did.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

#[path = "../tests/vectors/nothing.rs"]
mod nothing;

use autocomp_riscv::{
    Agnostic, CoreConfig, Exit, Extensions, Hart, Limits, Memory, Mode, VectorUnit,
};
use nothing::Nothing;
use std::process::ExitCode;

const BASE: u64 = 0x8000_0000;
/// Bytes of memory behind an image, which programs may access too.
const BEHIND: usize = 16 << 20;
const MOST_INSTRUCTIONS: u64 = 1 << 30;

/// Returns what an image did otherwise than it should, if anything.
fn run(image: &[u8], vlen: usize) -> Result<(), String> {
    let mut memory = Memory::new(BASE, (image.len() + BEHIND) & !4095);
    memory
        .host_mut(BASE, image.len())
        .expect("the image lies in memory")
        .copy_from_slice(image);
    let mut hart = Hart::new(&CoreConfig::plain(), Mode::Functional)
        .with_vectors(VectorUnit::new(vlen, true, Agnostic::Undisturbed))
        .with_extensions(Extensions {
            bits: true,
            half: true,
        });
    hart.set_pc(BASE);
    let limits = Limits {
        instructions: MOST_INSTRUCTIONS,
        cycles: u64::MAX,
    };
    match hart.run(&mut memory, &mut Nothing, limits) {
        Exit::Fault(fault) if fault.rule == "ecall" => match hart.register(3) {
            1 => Ok(()),
            wrong => Err(format!("wrong: gp is {wrong}")),
        },
        Exit::Fault(fault) => Err(format!("{:#x}: {}", fault.pc, fault.message)),
        other => Err(format!("ended otherwise: {other:?}")),
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let vlen = arguments.next().and_then(|vlen| vlen.parse().ok());
    let vlen = vlen.expect("the first argument is the length of registers");
    let (mut passed, mut failed) = (0, 0);
    for file in arguments {
        let image = std::fs::read(&file).expect("a file that can be read");
        match run(&image, vlen) {
            Ok(()) => {
                passed += 1;
                println!("{file} passed");
            }
            Err(what) => {
                failed += 1;
                println!("{file} failed: {what}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
