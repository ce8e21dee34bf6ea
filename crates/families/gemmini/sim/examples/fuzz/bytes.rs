//! Damaged files: ELF headers, segments and symbols, and debug information.

use super::random::{Digest, Random};
use autocomp_riscv::Memory;
use autocomp_riscv_machine::{MEMORY_BASE, Program};
use object::{Object, ObjectSection};

/// Programs with debug information.
const PROGRAMS: [&[u8]; 2] = [
    include_bytes!("../../calibration/gemmini-rtl/elf/micro_grid.elf"),
    include_bytes!("../../calibration/gemmini-rtl/elf/kern_small2.elf"),
];

/// Damages a file anywhere, more often in its headers.
pub fn damage_elf(seed: u64) -> Digest {
    let mut random = Random::new("elf", seed);
    let mut elf = random.pick(&PROGRAMS).to_vec();
    let (length, headers) = (elf.len() as u64, 64 + 56 * 4);
    for _ in 0..1 + random.below(8) {
        let at = match random.below(4) {
            0 => random.below(length),
            1 => length - 1 - random.below(4096.min(length)),
            _ => random.below(headers),
        };
        elf[at as usize] = damaged(elf[at as usize], &mut random);
    }
    if random.one_in(8) {
        elf.truncate(random.below(length) as usize);
    }
    read(&elf, &mut random)
}

/// Damages the debug sections only.
pub fn damage_dwarf(seed: u64) -> Digest {
    let mut random = Random::new("dwarf", seed);
    let mut elf = random.pick(&PROGRAMS).to_vec();
    let ranges: Vec<(u64, u64)> = object::File::parse(&*elf)
        .expect("the program is one")
        .sections()
        .filter(|section| section.name().is_ok_and(|name| name.starts_with(".debug")))
        .filter_map(|section| section.file_range())
        .filter(|(_, bytes)| *bytes > 0)
        .collect();
    assert!(!ranges.is_empty(), "the program has debug information");
    for _ in 0..1 + random.below(20) {
        let (start, bytes) = random.pick(&ranges);
        let near = if random.one_in(2) {
            64.min(bytes)
        } else {
            bytes
        };
        let at = (start + random.below(near)) as usize;
        elf[at] = damaged(elf[at], &mut random);
    }
    read(&elf, &mut random)
}

fn damaged(byte: u8, random: &mut Random) -> u8 {
    match random.below(4) {
        0 => byte ^ 1 << random.below(8),
        1 => 0,
        2 => 0xff,
        _ => random.bits() as u8,
    }
}

/// Does with a file all that the program does with one.
fn read(elf: &[u8], random: &mut Random) -> Digest {
    let mut digest = Digest::new();
    let program = match Program::parse(elf) {
        Ok(program) => program,
        Err(error) => {
            digest.bytes(error.to_string().as_bytes());
            return digest;
        }
    };
    digest.add(program.entry);
    digest.add(program.symbol("tohost").unwrap_or(0));
    let mut memory = Memory::new(MEMORY_BASE, 1 << 24);
    if let Err(error) = program.load(&mut memory) {
        digest.bytes(error.to_string().as_bytes());
    }
    for _ in 0..8 {
        let pc = match random.below(4) {
            0 => random.bits(),
            _ => MEMORY_BASE + random.below(0x8000),
        };
        digest.bytes(program.function(pc).unwrap_or("").as_bytes());
        for frame in program.frames(pc) {
            digest.bytes(frame.to_string().as_bytes());
        }
    }
    digest
}
