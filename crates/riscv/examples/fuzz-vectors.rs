//! Random programs of vector instructions, on the interpreter and on another implementation:
//!
//! ```text
//! fuzz-vectors FIRST_SEED PROGRAMS [ROUNDS LENGTH]     compare with qemu-riscv64-static
//! fuzz-vectors scalars FIRST_SEED PROGRAMS [...]       the same; half of it Zba, Zbb, Zbs, Zfh
//! fuzz-vectors record FIRST_SEED PROGRAMS              print seeds, lengths and digests of it
//! ```
//!
//! A program has 40 rounds of 12 instructions unless it is told otherwise, for each length of
//! registers. What differs is narrowed to the first instruction after which it does.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

#[path = "../tests/vectors/interpreted.rs"]
mod interpreted;
#[path = "../tests/rocket/mod.rs"]
mod rocket;
#[path = "../tests/vectors/mod.rs"]
mod vectors;

use autocomp_riscv::Mode;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use vectors::{Recipe, Surroundings, describe, elf, parts, program};

/// Returns what a program leaves under QEMU, unless that ends itself.
fn emulated(recipe: Recipe, file: &Path) -> Option<Vec<u8>> {
    let program = program(recipe, Surroundings::Linux);
    std::fs::write(file, elf(&program)).expect("the program is written");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).expect("set");
    let cpu = format!("rv64,v=true,vext_spec=v1.0,vlen={},Zfh=true", recipe.vlen);
    let output = Command::new("qemu-riscv64-static")
        .args(["-cpu", &cpu])
        .arg(file)
        .output()
        .expect("qemu-riscv64-static runs");
    if !output.status.success() {
        return None;
    }
    assert_eq!(output.stdout.len(), program.results.len(), "all results");
    Some(output.stdout)
}

fn ours(recipe: Recipe) -> Vec<u8> {
    let program = program(recipe, Surroundings::Bare);
    interpreted::results(&program, recipe.vlen, Mode::Functional)
}

/// Returns the round and the name of the first place at which results differ.
fn difference(recipe: Recipe, a: &[u8], b: &[u8]) -> Option<(usize, String)> {
    let (arena, record) = parts(recipe.vlen);
    let place = (arena..a.len()).find(|place| a[*place] != b[*place]);
    if let Some(place) = place {
        let (round, within) = ((place - arena) / record, (place - arena) % record);
        return Some((round, describe(recipe.vlen, within)));
    }
    let place = (0..arena).find(|place| a[*place] != b[*place])?;
    Some((recipe.rounds - 1, format!("arena at {place:#x}")))
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
    let (mut instructions, mut illegal, mut ended) = (0, 0, 0);
    for seed in first..first + count {
        for vlen in [128, 256, 512, 1024] {
            let recipe = Recipe {
                seed,
                vlen,
                rounds: numbers.get(2).map_or(40, |it| *it as usize),
                length: numbers.get(3).map_or(12, |it| *it as usize),
                cut: None,
                scalars,
            };
            let Some(theirs) = emulated(recipe, &file) else {
                ended += 1;
                continue;
            };
            if records {
                println!("{seed} {vlen} {:016x}", interpreted::digest(&theirs));
                continue;
            }
            let ours = self::ours(recipe);
            let (arena, record) = parts(vlen);
            for round in 0..recipe.rounds {
                illegal += u64::from(ours[arena + round * record]);
            }
            instructions += recipe.rounds * recipe.length;
            let Some((round, what)) = difference(recipe, &ours, &theirs) else {
                continue;
            };
            println!("seed {seed}, {vlen} bits, round {round}: {what} differs");
            for kept in 0..=recipe.length {
                let recipe = Recipe {
                    cut: Some((round, kept)),
                    ..recipe
                };
                let ours = self::ours(recipe);
                let Some(theirs) = emulated(recipe, &file) else {
                    continue;
                };
                let found = difference(recipe, &ours, &theirs);
                let Some((_, what)) = found.filter(|found| found.0 == round) else {
                    continue;
                };
                let words = |kept| {
                    let recipe = Recipe {
                        cut: Some((round, kept)),
                        ..recipe
                    };
                    vectors::round_words(recipe, round)
                };
                println!("  after {kept} instructions: {what}");
                for word in words(kept) {
                    println!("    {word:08x}");
                }
                let at = arena + round * record;
                for (name, bytes) in [("ours", &ours), ("theirs", &theirs)] {
                    let eight = |place: usize| {
                        let bytes = bytes[at + place..at + place + 8].try_into();
                        u64::from_le_bytes(bytes.expect("eight bytes"))
                    };
                    println!(
                        "    {name}: illegal {} vl {} vtype {:#x} vstart {} vcsr {} fcsr {:#x}",
                        eight(0),
                        eight(8),
                        eight(16),
                        eight(24),
                        eight(32),
                        eight(40)
                    );
                }
                break;
            }
        }
    }
    let _ = std::fs::remove_file(&file);
    if !records {
        println!(
            "{instructions} instructions, {illegal} of them illegal; QEMU ended itself {ended} times"
        );
    }
}
