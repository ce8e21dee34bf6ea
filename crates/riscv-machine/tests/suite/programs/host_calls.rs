//! Programs that print and exit by themselves, through HTIF or `mscratch`, and handle
//! their own traps.

use super::assemble::*;
use super::{LIMITS, accelerator, config};
use autocomp_riscv::Mode;
use autocomp_riscv_machine::{ProgramEnd, run_program};

const MSCRATCH: u32 = 0x340;

/// A program that makes system calls through HTIF.
pub fn htif_program() -> Vec<u8> {
    let tohost = BASE + 0x1000;
    let mut code = vec![auipc(T0, 1), addi(T1, T0, 128)];
    // tohost = address of the call block; wait for the answer.
    let at = code.len() as i32 * 4;
    code.extend([
        sd(T1, T0, 0),
        ld(A0, T0, 64),
        branch_if_zero(A0, -4),
        sd(ZERO, T0, 64),
    ]);
    // Print the number of bytes written, as a digit, through the console.
    code.extend([
        ld(A0, T1, 0),
        addi(A0, A0, i32::from(b'0')),
        addi(A1, ZERO, 0x101),
    ]);
    code.extend([slli(A1, A1, 48), add(A0, A0, A1), sd(A0, T0, 0)]);
    // exit(7)
    code.extend([addi(A0, ZERO, 15), sd(A0, T0, 0), jump(0)]);
    assert_eq!(at, 8);
    let mut data = vec![0u8; 256];
    let block = [64u64, 1, tohost + 200, 3, 0, 0, 0, 0];
    for (idx, word) in block.iter().enumerate() {
        data[128 + 8 * idx..136 + 8 * idx].copy_from_slice(&word.to_le_bytes());
    }
    data[200..203].copy_from_slice(b"hi\n");
    elf(
        &code,
        &data,
        &[("tohost", tohost), ("fromhost", tohost + 64)],
    )
}

#[test]
fn a_program_prints_and_exits_through_htif() {
    for mode in [Mode::Functional, Mode::Timed] {
        let report = run_program(&htif_program(), &config(), accelerator(), mode, LIMITS).unwrap();
        assert_eq!(report.end, ProgramEnd::Exited(7));
        assert_eq!(report.exit_code(), Some(7));
        assert_eq!(String::from_utf8_lossy(&report.stdout), "hi\n3");
    }
}

#[test]
fn commands_may_be_stored_in_halves_in_either_order() {
    let tohost = BASE + 0x1000;
    let mut code = vec![auipc(T0, 1), lui(T1, 0x1010)];
    // Wait until the command has been taken.
    let wait = [ld(A1, T0, 64), branch_if_zero(A1, -4), sd(ZERO, T0, 64)];
    code.extend([
        addi(A0, ZERO, i32::from(b'l')),
        sw(A0, T0, 0),
        sw(T1, T0, 4),
    ]);
    code.extend(wait);
    code.extend([
        addi(A0, ZERO, i32::from(b'h')),
        sw(T1, T0, 4),
        sw(A0, T0, 0),
    ]);
    code.extend(wait);
    // Exits by one half, again and again: the other one is not waited for.
    code.extend([addi(A0, ZERO, 15), sw(A0, T0, 0), jump(-4)]);
    let symbols = [("tohost", tohost), ("fromhost", tohost + 64)];
    let elf = elf(&code, &[0; 256], &symbols);
    for mode in [Mode::Functional, Mode::Timed] {
        let report = run_program(&elf, &config(), accelerator(), mode, LIMITS).unwrap();
        assert_eq!(report.end, ProgramEnd::Exited(7));
        assert_eq!(String::from_utf8_lossy(&report.stdout), "lh");
        assert!(report.instructions < 200);
    }
}

#[test]
fn a_program_prints_and_exits_through_mscratch() {
    let mut code = vec![addi(T1, ZERO, 0xc0), slli(T1, T1, 56)];
    for byte in b"ok" {
        code.extend([addi(A0, T1, i32::from(*byte)), csrw(MSCRATCH, A0)]);
    }
    code.extend([
        addi(T1, ZERO, 0xc1),
        slli(T1, T1, 56),
        addi(A0, T1, 3),
        csrw(MSCRATCH, A0),
    ]);
    let elf = elf(&code, &[], &[]);
    let report = run_program(&elf, &config(), accelerator(), Mode::Timed, LIMITS).unwrap();
    assert_eq!(
        (report.exit_code(), report.stdout.as_slice()),
        (Some(3), &b"ok"[..])
    );
    assert_eq!(report.instructions, code.len() as u64);
}

#[test]
fn a_program_that_never_exits_reaches_its_limit() {
    let elf = elf(&[jump(0)], &[], &[]);
    let report = run_program(&elf, &config(), accelerator(), Mode::Functional, LIMITS).unwrap();
    assert!(matches!(report.end, ProgramEnd::Limit(spin) if spin.pc == BASE));
    assert_eq!(report.instructions, LIMITS.instructions);
}

#[test]
fn a_trap_goes_to_the_handler_of_the_program() {
    // mtvec = handler; ebreak; the handler exits with mcause through mscratch.
    let code = [
        auipc(T0, 0),
        addi(T0, T0, 20),
        csrw(0x305, T0),
        EBREAK,
        jump(0),
        // csrr a0, mcause
        0x3420_2573,
        addi(T1, ZERO, 0xc1),
        slli(T1, T1, 56),
        add(A0, A0, T1),
        csrw(MSCRATCH, A0),
    ];
    let elf = elf(&code, &[], &[]);
    let report = run_program(&elf, &config(), accelerator(), Mode::Timed, LIMITS).unwrap();
    assert_eq!(report.exit_code(), Some(3));
}

#[test]
fn handlers_see_the_cause_and_the_value_that_hardware_gives() {
    const MSTATUS: u32 = 0x300;
    const CYCLE: u32 = 0xc00;
    // The last instruction is refused; t1 is 16, where no memory is.
    let amoadd_d = 6 << 20 | 6 << 15 | 3 << 12 | 6 << 7 | 0x2f;
    let lr_d = 2 << 27 | 6 << 15 | 3 << 12 | 6 << 7 | 0x2f;
    let (fadd_s, custom_3) = (0x53, 0x307b);
    let off = csrw(MSTATUS, ZERO);
    let cases: [(&[u32], u64, u32); 5] = [
        (&[amoadd_d], 7, 16),
        (&[lr_d], 5, 16),
        (&[csrw(CYCLE, T1)], 2, csrw(CYCLE, T1)),
        (&[off, fadd_s], 2, fadd_s),
        (&[off, custom_3], 2, custom_3),
    ];
    for (code, cause, value) in cases {
        // The handler exits with `mcause`, or with `mtval`.
        for (csr, expected) in [(0x342, cause), (0x343, u64::from(value))] {
            let mut program = vec![
                auipc(T0, 0),
                addi(T0, T0, 4 * (5 + code.len() as i32)),
                csrw(0x305, T0),
                addi(T1, ZERO, 16),
            ];
            program.extend(code);
            program.extend([
                jump(0),
                csr << 20 | 2 << 12 | A0 << 7 | 0x73,
                addi(T1, ZERO, 0xc1),
                slli(T1, T1, 56),
                add(A0, A0, T1),
                csrw(MSCRATCH, A0),
            ]);
            let elf = elf(&program, &[], &[]);
            for mode in [Mode::Timed, Mode::Functional] {
                let report = run_program(&elf, &config(), accelerator(), mode, LIMITS).unwrap();
                let found = report.exit_code();
                assert_eq!(found, Some(expected), "{code:x?} {csr:#x} {mode:?}");
            }
        }
    }
}
