//! The memory image of a test program and its ELF file.

use autocomp_riscv::Memory;

/// Address of the first instruction.
pub const BASE: u64 = 0x1_0000;
/// Where the code must end.
pub const DATA: u64 = 0x20_0000;
/// Where each case reads and writes at random.
pub const SCRATCH: u64 = 0x30_0000;
pub const SCRATCH_BYTES: usize = 4096;
/// Where the states after each case go.
pub const OUTPUT: u64 = 0x40_0000;
/// 32 integer registers, 32 floating-point registers, fcsr.
pub const STATE_WORDS: usize = 65;
pub const OUTPUT_BYTES: usize = 0x10_0000;
pub const MEMORY_BYTES: usize = 0x50_0000;

/// A test program.
pub struct Image {
    pub code: Vec<u8>,
    /// Initial states, case by case, at [`DATA`].
    pub data: Vec<u64>,
    /// What each case executes, for messages.
    pub listing: Vec<Vec<u32>>,
}

pub fn load(image: &Image, memory: &mut Memory) {
    memory
        .host_mut(BASE, image.code.len())
        .unwrap()
        .copy_from_slice(&image.code);
    let data = data_bytes(image);
    memory
        .host_mut(DATA, data.len())
        .unwrap()
        .copy_from_slice(&data);
}

fn data_bytes(image: &Image) -> Vec<u8> {
    image
        .data
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect()
}

/// Returns a static Linux executable with one segment for everything.
pub fn elf(image: &Image) -> Vec<u8> {
    const HEADER: usize = 64 + 56;
    assert!(image.code.len() as u64 + BASE < DATA, "code too long");
    let mut out = Vec::new();
    out.extend_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend_from_slice(&2u16.to_le_bytes());
    out.extend_from_slice(&243u16.to_le_bytes());
    out.extend_from_slice(&1u32.to_le_bytes());
    out.extend_from_slice(&BASE.to_le_bytes());
    out.extend_from_slice(&64u64.to_le_bytes());
    out.extend_from_slice(&0u64.to_le_bytes());
    out.extend_from_slice(&5u32.to_le_bytes());
    for half in [64u16, 56, 1, 0, 0, 0] {
        out.extend_from_slice(&half.to_le_bytes());
    }
    let data = data_bytes(image);
    let file_bytes = (DATA - BASE) + data.len() as u64;
    out.extend_from_slice(&1u32.to_le_bytes());
    out.extend_from_slice(&7u32.to_le_bytes());
    for word in [0x1000, BASE, BASE, file_bytes, MEMORY_BYTES as u64, 0x1000] {
        out.extend_from_slice(&word.to_le_bytes());
    }
    assert_eq!(out.len(), HEADER);
    out.resize(0x1000, 0);
    out.extend_from_slice(&image.code);
    out.resize(0x1000 + (DATA - BASE) as usize, 0);
    out.extend_from_slice(&data);
    out
}

/// Compares outputs case by case.
pub fn assert_same(image: &Image, ours: &[u8], theirs: &[u8], seed: u64) {
    assert_eq!(ours.len(), theirs.len());
    let word = |bytes: &[u8], idx: usize| {
        u64::from_le_bytes(bytes[idx * 8..idx * 8 + 8].try_into().unwrap())
    };
    for (case_idx, listing) in image.listing.iter().enumerate() {
        for register in 0..STATE_WORDS {
            let idx = case_idx * STATE_WORDS + register;
            let (ours, theirs) = (word(ours, idx), word(theirs, idx));
            let name = match register {
                0..=31 => format!("x{register}"),
                32..=63 => format!("f{}", register - 32),
                _ => "fcsr".to_owned(),
            };
            assert!(
                ours == theirs,
                "seed {seed}, case {case_idx}: {name} is {ours:#x}, should be {theirs:#x}; initial {:x?}; code {listing:08x?}",
                &image.data[case_idx * STATE_WORDS..(case_idx + 1) * STATE_WORDS],
            );
        }
    }
    let differing = (0..ours.len() / 8).find(|idx| word(ours, *idx) != word(theirs, *idx));
    if let Some(idx) = differing {
        let (ours, theirs) = (word(ours, idx), word(theirs, idx));
        panic!("seed {seed}: output word {idx} is {ours:#x}, should be {theirs:#x}");
    }
}
