//! Images of `vectors` on the interpreter.

#[path = "nothing.rs"]
mod nothing;

use crate::rocket::core_config;
use crate::vectors::{BASE, Image};
use autocomp_riscv::{Agnostic, Exit, Extensions, Hart, Limits, Memory, Mode, VectorUnit};
pub use nothing::Nothing;

/// Returns what an image leaves.
pub fn results(image: &Image, vlen: usize, mode: Mode) -> Vec<u8> {
    let mut memory = Memory::new(BASE, image.image.len());
    memory
        .host_mut(BASE, image.image.len())
        .expect("the image lies in memory")
        .copy_from_slice(&image.image);
    let unit = VectorUnit::new(vlen, true, Agnostic::Undisturbed);
    let extensions = Extensions {
        bits: true,
        half: true,
    };
    let mut hart = Hart::new(&core_config(64, 4), mode)
        .with_vectors(unit)
        .with_extensions(extensions);
    hart.set_pc(BASE);
    let limits = Limits {
        instructions: 1 << 32,
        cycles: u64::MAX,
    };
    match hart.run(&mut memory, &mut Nothing, limits) {
        Exit::Fault(fault) if fault.rule == "ebreak" => {}
        other => panic!("the image ended otherwise: {other:?}"),
    }
    let at = BASE + image.results.start as u64;
    memory
        .host(at, image.results.len())
        .expect("the image lies in memory")
        .to_vec()
}

/// Returns a number that tells results apart (FNV-1a).
pub fn digest(results: &[u8]) -> u64 {
    results.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
