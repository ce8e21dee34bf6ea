//! ELF files: where they are loaded, lines of source in them, and what is wrong with them.

use super::assemble::*;
use super::host_calls::htif_program;
use super::{LIMITS, accelerator, config};
use autocomp_riscv::Mode;
use autocomp_riscv_machine::{Program, ProgramError, run_program};
use proptest::prelude::*;

const SCALAR: &[u8] = include_bytes!("scalar.elf");

#[test]
fn a_program_is_loaded_at_physical_addresses() {
    let mut elf = elf(&[EBREAK], &[], &[]);
    // Offset of the virtual address in the first program header.
    let virtual_address = 64 + 16;
    elf[virtual_address..virtual_address + 8].copy_from_slice(&0x9000_0000u64.to_le_bytes());
    assert_eq!(Program::parse(&elf).unwrap().segments[0].address, BASE);
}

#[test]
fn source_lines_lead_through_inlined_functions() {
    let program = Program::parse(SCALAR).unwrap();
    let frames = program.frames(0x8000_25aa);
    let found: Vec<String> = frames
        .iter()
        .map(|frame| format!("{frame} {}", frame.function.as_deref().unwrap_or("?")))
        .collect();
    let expected = [
        "src/cal.h:78 now",
        "src/micro_scalar.c:30 run",
        "src/cal.h:178 cal_main",
    ];
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.ends_with(expected), "{found} should be {expected}");
    }
    assert_eq!(found.len(), expected.len());
    let line = program
        .line(0x8000_25aa, |file| file.ends_with("cal.h"))
        .unwrap();
    assert_eq!((line.line, line.function.as_deref()), (30, Some("run")));
    assert_eq!(program.function(0x8000_4e5e), Some("loop_empty"));
    assert_eq!(program.frames(0x9000_0000), []);
}

#[test]
fn wrong_files_are_refused_with_a_reason() {
    assert!(matches!(Program::parse(b""), Err(ProgramError::Elf(_))));
    assert!(matches!(
        Program::parse(b"#include <stdio.h>\nint main;"),
        Err(ProgramError::Elf(_))
    ));
    let mut other = htif_program();
    // x86-64
    other[18] = 62;
    assert!(matches!(
        Program::parse(&other),
        Err(ProgramError::WrongMachine(_))
    ));
    let mut object = htif_program();
    // Relocatable: what a compiler leaves to the linker.
    object[16] = 1;
    assert!(matches!(
        Program::parse(&object),
        Err(ProgramError::NotLinked)
    ));
    let mut low = htif_program();
    // Physical and virtual address of the segment.
    low[64 + 16..64 + 32].fill(0);
    let error = run_program(&low, &config(), accelerator(), Mode::Functional, LIMITS).unwrap_err();
    assert!(error.to_string().contains("0x80000000"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_parse_or_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = Program::parse(&bytes);
    }

    #[test]
    fn a_damaged_program_parses_or_is_refused(
        damage in prop::collection::vec((0usize..SCALAR.len(), any::<u8>()), 1..40),
        header in prop::collection::vec((0usize..400, any::<u8>()), 0..4),
        cut in prop::option::of(0usize..SCALAR.len()),
        pc in 0x8000_0000u64..0x8000_6000,
    ) {
        let mut bytes = SCALAR.to_vec();
        for (at, byte) in damage.into_iter().chain(header) {
            bytes[at] = byte;
        }
        bytes.truncate(cut.unwrap_or(bytes.len()));
        if let Ok(program) = Program::parse(&bytes) {
            let _ = program.frames(pc);
            let _ = program.function(pc);
            let mut memory = autocomp_riscv::Memory::new(BASE, 0x10_0000);
            let _ = program.load(&mut memory);
        }
    }
}
