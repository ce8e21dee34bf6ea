//! Random programs of vector instructions, on the interpreter and on another implementation:
//!
//! ```text
//! fuzz-vectors FIRST_SEED IMAGES [PROGRAMS LENGTH]     compare with qemu-riscv64-static
//! fuzz-vectors scalars FIRST_SEED IMAGES [...]         the same; half of it Zba, Zbb, Zbs, Zfh
//! fuzz-vectors record FIRST_SEED IMAGES [...]          print seeds, lengths and digests of it
//! ```
//!
//! An image has 200 programs of 12 instructions unless it is told otherwise, and is made for each
//! length of registers. What differs is narrowed to the first instruction after which it does.
//! A program that ends QEMU itself is left out, and the image goes on behind it.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

#[path = "../tests/vectors/interpreter.rs"]
mod interpreter;
#[path = "../tests/rocket/mod.rs"]
mod rocket;
#[path = "../tests/vectors/mod.rs"]
mod vectors;

use autocomp_riscv::Mode;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use vectors::{Recipe, Surroundings, describe, elf, image, record_bytes};

/// What was compared.
#[derive(Default)]
struct Counts {
    programs: usize,
    instructions: usize,
    illegal: u64,
    /// Programs that ended QEMU.
    ended: usize,
    /// Images whose memory was compared at the end.
    memories: usize,
    differ: usize,
}

/// Returns what an image leaves under QEMU: all of it, or records until it ends itself.
fn emulated(recipe: Recipe, file: &Path) -> Vec<u8> {
    std::fs::write(file, elf(&image(recipe, Surroundings::Linux))).expect("the image is written");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("set");
    let cpu = format!("rv64,v=true,vext_spec=v1.0,vlen={},Zfh=true", recipe.vlen);
    let output = Command::new("qemu-riscv64-static")
        .args(["-cpu", &cpu])
        .arg(file)
        .output()
        .expect("qemu-riscv64-static runs");
    output.stdout
}

fn ours(recipe: Recipe) -> Vec<u8> {
    interpreter::results(
        &image(recipe, Surroundings::Bare),
        recipe.vlen,
        Mode::Functional,
    )
}

/// Returns the program, counted from the first of the image, and the name of the first place at
/// which results differ, as far as both go.
fn difference(recipe: Recipe, a: &[u8], b: &[u8]) -> Option<(usize, String)> {
    let record = record_bytes(recipe.vlen);
    let records = record * (recipe.programs.1 - recipe.programs.0);
    let place = a.iter().zip(b).position(|(a, b)| a != b)?;
    Some(match place.checked_sub(records) {
        Some(place) => (records / record - 1, format!("arena at {place:#x}")),
        None => (place / record, describe(recipe.vlen, place % record)),
    })
}

/// Prints the first instruction of a program after which results differ.
fn narrow(recipe: Recipe, program: usize, file: &Path) {
    for kept in 0..=recipe.length {
        let recipe = Recipe {
            programs: (recipe.programs.0, program + 1),
            cut: Some((program, kept)),
            ..recipe
        };
        let (ours, theirs) = (ours(recipe), emulated(recipe, file));
        let Some((_, what)) = difference(recipe, &ours, &theirs) else {
            continue;
        };
        println!("  after {kept} instructions: {what}");
        for word in vectors::program_words(recipe, program, kept) {
            println!("    {word:08x}");
        }
        let at = (program - recipe.programs.0) * record_bytes(recipe.vlen);
        for (name, bytes) in [("ours", &ours), ("theirs", &theirs)] {
            let words = bytes[at..at + 48].chunks_exact(8);
            let words: Vec<u64> = words
                .map(|eight| u64::from_le_bytes(eight.try_into().expect("eight bytes")))
                .collect();
            println!("    {name}: illegal, vl, vtype, vstart, vcsr, fcsr {words:x?}");
        }
        break;
    }
}

/// Compares all programs of an image.
fn compare(recipe: Recipe, file: &Path, counts: &mut Counts) {
    let record = record_bytes(recipe.vlen);
    let (mut first, end) = recipe.programs;
    while first < end {
        let recipe = Recipe {
            programs: (first, end),
            ..recipe
        };
        let (ours, theirs) = (ours(recipe), emulated(recipe, file));
        let compared = (theirs.len() / record).min(end - first);
        counts.programs += compared;
        counts.instructions += compared * recipe.length;
        for record in ours.chunks_exact(record).take(compared) {
            counts.illegal += u64::from(record[0]);
        }
        if let Some((program, what)) = difference(recipe, &ours, &theirs) {
            let (seed, vlen) = (recipe.seed, recipe.vlen);
            let program = first + program;
            println!("seed {seed}, {vlen} bits, program {program}: {what} differs");
            counts.differ += 1;
            narrow(recipe, program, file);
            return;
        }
        counts.memories += usize::from(theirs.len() == ours.len());
        counts.ended += usize::from(theirs.len() < ours.len());
        first += compared + 1;
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let scalars = words.iter().any(|word| word == "scalars");
    let records = words.first().is_some_and(|word| word == "record");
    let numbers: Vec<u64> = words.iter().filter_map(|word| word.parse().ok()).collect();
    let [first, count, ..] = numbers[..] else {
        panic!("see the head of this file");
    };
    let file = std::env::temp_dir().join(format!("vectors-{}", std::process::id()));
    let mut counts = Counts::default();
    for seed in first..first + count {
        for vlen in [128, 256, 512, 1024] {
            let recipe = Recipe {
                seed,
                vlen,
                programs: (0, numbers.get(2).map_or(200, |it| *it as usize)),
                length: numbers.get(3).map_or(12, |it| *it as usize),
                cut: None,
                scalars,
            };
            if records {
                let theirs = emulated(recipe, &file);
                if theirs.len() == image(recipe, Surroundings::Bare).results.len() {
                    println!("{seed} {vlen} {:016x}", interpreter::digest(&theirs));
                }
            } else {
                compare(recipe, &file, &mut counts);
            }
        }
    }
    let _ = std::fs::remove_file(&file);
    if !records {
        println!(
            "{} programs, {} instructions, {} of them illegal; {} memories compared; {} programs \
             ended QEMU; {} images differ",
            counts.programs,
            counts.instructions,
            counts.illegal,
            counts.memories,
            counts.ended,
            counts.differ
        );
    }
}
