//! What is fuzzed.

use super::random::Digest;
use super::{accelerator, bytes, scalar};

/// One way to make input and feed it.
pub struct Target {
    /// Name on the command line.
    pub name: &'static str,
    /// Makes the run of a seed; the digest is of all that can be seen of it.
    pub run: fn(u64) -> Digest,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target {
        name: "decode",
        run: scalar::decode_words,
    },
    Target {
        name: "program",
        run: scalar::run_program,
    },
    Target {
        name: "htif",
        run: scalar::talk_to_host,
    },
    Target {
        name: "commands",
        run: accelerator::run_commands,
    },
    Target {
        name: "elf",
        run: bytes::damage_elf,
    },
    Target {
        name: "dwarf",
        run: bytes::damage_dwarf,
    },
];
