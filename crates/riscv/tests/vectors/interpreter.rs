//! Images of `vectors` on the interpreter.

use crate::rocket::core_config;
use crate::vectors::{BASE, Image};
use autocomp_riscv::{
    Agnostic, BelowL1, Exit, Extensions, Fault, Hart, Limits, LineAccess, Memory, Mode, Rocc,
    RoccCommand, RoccReply, VectorUnit,
};

/// Nothing below the caches.
pub struct Nothing;

impl Rocc for Nothing {
    fn execute(&mut self, _: RoccCommand, _: &mut Memory) -> Result<RoccReply, Fault> {
        Ok(RoccReply::default())
    }

    fn fence(&mut self, _: u64, cycle: u64, _: &mut Memory) -> Result<u64, Fault> {
        Ok(cycle)
    }

    fn cpu_access(&mut self, _: u64, _: u64, _: bool, _: u64) -> Result<(), Fault> {
        Ok(())
    }
}

impl BelowL1 for Nothing {
    fn line_access(&mut self, _: u64, _: LineAccess, cycle: u64) -> u64 {
        cycle + 20
    }

    fn take_probes(&mut self, _: &mut Vec<(u64, bool)>) {}
}

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
