//! The scalar instruction set against an independent implementation.
//!
//! Random programs over all of RV64IMAFDC run on the interpreter and, where it
//! is installed, on `qemu-riscv64`; registers, flags and memory afterwards must
//! be the same. Without it, digests of what it answered are compared.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod generate;
mod image;
use crate::rocket;
mod usual;

use autocomp_riscv::{
    BelowL1, Exit, Fault, Hart, Limits, LineAccess, Memory, Mode, Rocc, RoccCommand, RoccReply,
};
use image::{BASE, Image, OUTPUT, OUTPUT_BYTES};
use rocket::core_config;
use std::io::Write;
use std::process::{Command, Stdio};

/// Cases per program.
const CASES: usize = 400;

/// Digests of the output of `qemu-riscv64` 7.2 for the seeds 1, 2, ...
const DIGESTS: [u64; 6] = [
    0x3703_8add_a2db_7137,
    0xc06f_740a_dbd4_e1c7,
    0xd791_122a_c692_8e5f,
    0xa916_53cd_65c8_ffe6,
    0xe7c5_9805_4a5c_7399,
    0x790f_813e_dfe1_4056,
];

/// The same for [`generate::edges`].
const EDGES_DIGEST: u64 = 0x2241_0b40_3efb_a4d2;

/// The same for [`usual::program`].
const USUAL_DIGEST: u64 = 0xba3c_a208_93d9_bd97;

#[test]
fn random_programs_end_in_the_same_state_as_on_qemu() {
    let qemu = qemu_is_installed();
    if !qemu {
        println!("qemu-riscv64 is not installed: comparing with stored digests of its output");
    }
    for (idx, expected) in DIGESTS.into_iter().enumerate() {
        let seed = idx as u64 + 1;
        compare(&generate::program(seed, CASES), expected, seed, qemu);
    }
}

#[test]
fn floats_at_the_edges_are_rounded_as_on_qemu() {
    let qemu = qemu_is_installed();
    if !qemu {
        println!("qemu-riscv64 is not installed: comparing with a stored digest of its output");
    }
    compare(&generate::edges(), EDGES_DIGEST, 0, qemu);
}

#[test]
fn usual_floats_give_results_and_flags_as_on_qemu() {
    let qemu = qemu_is_installed();
    if !qemu {
        println!("qemu-riscv64 is not installed: comparing with a stored digest of its output");
    }
    compare(&usual::program(), USUAL_DIGEST, 0, qemu);
}

fn compare(program: &Image, expected: u64, seed: u64, qemu: bool) {
    for mode in [Mode::Functional, Mode::Timed] {
        let ours = interpret(program, mode);
        if qemu {
            image::assert_same(program, &ours, &run_qemu(&image::elf(program)), seed);
        }
        assert_eq!(
            digest(&ours),
            expected,
            "seed {seed}: digest {:#018x}",
            digest(&ours)
        );
    }
}

fn interpret(program: &Image, mode: Mode) -> Vec<u8> {
    let mut memory = Memory::new(BASE, image::MEMORY_BYTES);
    image::load(program, &mut memory);
    let mut hart = Hart::new(&core_config(64, 4), mode);
    hart.set_pc(BASE);
    let limits = Limits {
        instructions: 10_000_000,
        cycles: 1 << 40,
    };
    match hart.run(&mut memory, &mut Nothing, limits) {
        // The first system call is the one that writes the output.
        Exit::Fault(fault) if fault.rule == "ecall" => {}
        other => panic!("seed program ended with {other:?}"),
    }
    memory.host(OUTPUT, OUTPUT_BYTES).unwrap().to_vec()
}

fn qemu_is_installed() -> bool {
    Command::new("qemu-riscv64")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn run_qemu(elf: &[u8]) -> Vec<u8> {
    use std::os::unix::fs::PermissionsExt;
    let name = format!("autocomp-differential-{}-{:p}", std::process::id(), elf);
    let path = std::env::temp_dir().join(name);
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(elf).unwrap();
    file.set_permissions(std::fs::Permissions::from_mode(0o755))
        .unwrap();
    drop(file);
    let output = Command::new("qemu-riscv64").arg(&path).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(output.status.success(), "qemu: {:?}", output.status);
    output.stdout
}

/// FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

struct Nothing;

impl Rocc for Nothing {
    fn execute(&mut self, command: RoccCommand, _memory: &mut Memory) -> Result<RoccReply, Fault> {
        panic!("no custom instruction is generated: {command:?}")
    }

    fn fence(&mut self, _pc: u64, cycle: u64, _memory: &mut Memory) -> Result<u64, Fault> {
        Ok(cycle)
    }

    fn cpu_access(&mut self, _: u64, _: u64, _: bool, _: u64) -> Result<(), Fault> {
        Ok(())
    }
}

impl BelowL1 for Nothing {
    fn line_access(&mut self, _address: u64, _access: LineAccess, cycle: u64) -> u64 {
        cycle + 20
    }

    fn take_probes(&mut self, _probes: &mut Vec<(u64, bool)>) {}
}
