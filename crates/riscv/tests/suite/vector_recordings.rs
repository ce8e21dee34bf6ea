//! Vector instructions: random programs against what another implementation left, and what such
//! programs do not reach.

use crate::{interpreter, vectors};
use autocomp_riscv::Mode;
use vectors::{Recipe, Surroundings, image};

/// Of each image its seed, the bits of a register and the digest of what QEMU 7.2 left, as
/// `fuzz-vectors record 1 40 10 12` prints it. Images that ended QEMU are not among them.
const RECORDED: &str = include_str!("../vectors/recorded.txt");

fn recipe(seed: u64, vlen: usize) -> Recipe {
    Recipe {
        seed,
        vlen,
        programs: (0, 10),
        length: 12,
        cut: None,
        scalars: false,
    }
}

#[test]
fn random_programs_leave_what_they_leave_elsewhere() {
    let mut count = 0;
    for line in RECORDED.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (seed, vlen) = (words[0].parse().unwrap(), words[1].parse().unwrap());
        let image = image(recipe(seed, vlen), Surroundings::Bare);
        let results = interpreter::results(&image, vlen, Mode::Functional);
        let digest = interpreter::digest(&results);
        assert_eq!(
            format!("{digest:016x}"),
            words[2],
            "seed {seed}, {vlen} bits"
        );
        count += 1;
    }
    assert!(count > 120, "{count} images");
}

#[test]
fn results_are_the_same_with_cycles() {
    for seed in 1..4 {
        let image = image(recipe(seed, 256), Surroundings::Bare);
        let functional = interpreter::results(&image, 256, Mode::Functional);
        assert!(functional == interpreter::results(&image, 256, Mode::Timed));
    }
}
