//! Whole programs and kernel calls on a machine without an accelerator.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod assemble;
mod counters;

use assemble::*;
use autocomp_riscv::{FaultKind, Limits, Mode, Region, RegionAccess};
use autocomp_sim::{
    CallReport, Machine, MachineConfig, NoAccelerator, Program, ProgramEnd, Progress, SimError,
    Stop, run_program,
};
use proptest::prelude::*;

const MACHINE: &str = include_str!("../../../../targets/gemmini-int8-16/machines/fpga.toml");
const SCALAR: &[u8] = include_bytes!("../../calibration/gemmini-rtl/elf/micro_scalar.elf");
const LIMITS: Limits = Limits {
    instructions: 1_000_000,
    cycles: 10_000_000,
};
const STACK: u64 = BASE + 0x8000;
const MSCRATCH: u32 = 0x340;

fn config() -> MachineConfig {
    MachineConfig::from_toml(MACHINE).unwrap()
}

fn accelerator() -> NoAccelerator {
    NoAccelerator::new(12, 20)
}

fn kernel(code: &[u32], mode: Mode) -> Machine<NoAccelerator> {
    let mut machine = Machine::new(&config(), accelerator(), mode);
    machine
        .load(&Program::parse(&elf(code, &[], &[])).unwrap())
        .unwrap();
    machine
}

fn call(code: &[u32], mode: Mode) -> Result<CallReport, Stop> {
    kernel(code, mode).call(BASE, &[40, 2], STACK, LIMITS)
}

#[test]
fn a_kernel_gets_arguments_and_returns() {
    for mode in [Mode::Functional, Mode::Timed] {
        let report = call(&[add(A0, A0, A1), RET], mode).unwrap();
        assert_eq!((report.value, report.instructions), (42, 2));
        assert!(report.cycles >= report.issue_cycles && report.issue_cycles >= 2);
    }
}

#[test]
fn a_call_takes_the_same_cycles_wherever_it_is_paused() {
    // Sums up a page word by word, with misses in data and predictors.
    let code = [
        ld(T0, A0, 0),
        add(A1, A1, T0),
        addi(A0, A0, 24),
        addi(T1, T1, -1),
        branch_if_zero(T1, 8),
        jump(-20),
        sd(A1, A0, 0),
        RET,
    ];
    let arguments = [BASE + 0x1000, 2];
    let limits = Limits {
        cycles: 40_000,
        ..LIMITS
    };
    for mode in [Mode::Functional, Mode::Timed] {
        for turns in [1, 100, u64::MAX] {
            let mut first = code.to_vec();
            first.insert(0, addi(T1, ZERO, turns.min(500) as i32));
            if turns == u64::MAX {
                // Never ends.
                first[5] = addi(ZERO, ZERO, 0);
                first[3] = addi(A0, A0, -24);
            }
            let whole = kernel(&first, mode).call(BASE, &arguments, STACK, limits);
            for cycles in [0, 1, 7, 1000] {
                let mut machine = kernel(&first, mode);
                let call = machine.begin(BASE, &arguments, STACK, limits);
                let mut pauses = 0;
                let paused = loop {
                    match machine.proceed(&call, cycles, None) {
                        Ok(Progress::Paused) => pauses += 1,
                        Ok(Progress::Completed(report)) => break Ok(report),
                        Err(stop) => break Err(stop),
                    }
                };
                assert_eq!(paused, whole, "{mode:?}, {turns} turns, every {cycles}");
                let many = 1 < turns && cycles < 1000;
                assert_eq!(pauses > 10, many, "{mode:?}, {turns} turns, every {cycles}");
            }
        }
    }
}

#[test]
fn a_second_call_is_warm_until_the_machine_is_cooled() {
    let mut machine = kernel(&[ld(T0, A0, 0), add(T0, T0, T0), RET], Mode::Timed);
    let first = machine.call(BASE, &[BASE + 0x1000], STACK, LIMITS).unwrap();
    assert_eq!((first.core.data_misses, first.core.fetch_misses), (1, 1));
    let second = machine.call(BASE, &[BASE + 0x1000], STACK, LIMITS).unwrap();
    assert_eq!(
        second.core.data_miss_cycles + second.core.fetch_miss_cycles,
        0
    );
    let mut cycles = || {
        machine
            .call(BASE, &[BASE + 0x1000], STACK, LIMITS)
            .unwrap()
            .cycles
    };
    let cold = first.cycles;
    // The predictors know the return only after the second call.
    let (warm, again) = (cycles(), cycles());
    assert!(warm < cold, "cold {cold}, warm {warm}");
    assert_eq!(warm, again);
    machine.cool();
    let cooled = machine
        .call(BASE, &[BASE + 0x1000], STACK, LIMITS)
        .unwrap()
        .cycles;
    assert!(
        cooled > warm && cooled <= cold,
        "cold {cold}, warm {warm}, cooled {cooled}"
    );
}

#[test]
fn illegal_acts_of_a_kernel_are_faults_with_their_place() {
    let custom = 0x0000_007b;
    let cases: [(&str, &[u32], FaultKind, u64); 9] = [
        ("ebreak", &[addi(T0, ZERO, 1), EBREAK], FaultKind::Trap, 4),
        ("ecall", &[0x73], FaultKind::Trap, 0),
        ("illegal-instruction", &[0xffff_ffff], FaultKind::Trap, 0),
        ("illegal-instruction", &[0], FaultKind::Trap, 0),
        ("unmapped", &[ld(T0, ZERO, 8), RET], FaultKind::Trap, 0),
        (
            "misaligned",
            &[auipc(T0, 1), ld(T0, T0, 4), RET],
            FaultKind::Trap,
            4,
        ),
        (
            "out-of-bounds",
            &[auipc(T0, 16), sd(T0, T0, 0), RET],
            FaultKind::OutOfBounds,
            4,
        ),
        (
            "read-only",
            &[auipc(T0, 17), sd(T0, T0, 0), RET],
            FaultKind::ReadOnly,
            4,
        ),
        (
            "no-accelerator",
            &[custom, RET],
            FaultKind::IllegalCommand,
            0,
        ),
    ];
    for (rule, code, kind, offset) in cases {
        for mode in [Mode::Functional, Mode::Timed] {
            let mut machine = kernel(code, mode);
            let region = |name: &str, page: u64, access| Region {
                name: name.into(),
                range: BASE + page * 0x1000..BASE + (page + 1) * 0x1000,
                access,
            };
            machine
                .memory()
                .add_region(region("guard before A", 16, RegionAccess::None));
            machine
                .memory()
                .add_region(region("A", 17, RegionAccess::Read));
            match machine.call(BASE, &[], STACK, LIMITS) {
                Err(Stop::Fault(fault)) => {
                    assert_eq!(
                        (fault.rule, fault.kind, fault.pc),
                        (rule, kind, BASE + offset)
                    );
                }
                other => panic!("{rule}: {other:?}"),
            }
        }
    }
    // A wild jump stops where it lands.
    match call(&[lui(RA, 1), RET], Mode::Functional) {
        Err(Stop::Fault(fault)) => assert_eq!((fault.rule, fault.pc), ("unmapped", 0x1000)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_endless_loop_is_stopped_and_located() {
    let code = [
        addi(T0, ZERO, 1),
        addi(T1, T1, 1),
        branch_if_zero(ZERO, -4),
        RET,
    ];
    for mode in [Mode::Functional, Mode::Timed] {
        match call(&code, mode) {
            Err(Stop::Limit(spin)) => {
                assert_eq!((spin.first, spin.last), (BASE + 4, BASE + 8));
                assert_eq!(spin.hottest.first().map(|(pc, _)| *pc), Some(BASE + 4));
            }
            other => panic!("{other:?}"),
        }
    }
    let limits = Limits {
        instructions: u64::MAX,
        cycles: 5000,
    };
    let mut machine = kernel(&code, Mode::Timed);
    assert!(matches!(
        machine.call(BASE, &[], STACK, limits),
        Err(Stop::Limit(_))
    ));
    assert!(machine.hart().cycle() < 20_000);
}

#[test]
fn a_kernel_without_a_stack_overflow_check_faults_below_its_stack() {
    // Calls itself for ever, pushing the return address.
    let code = [addi(2, 2, -16), sd(RA, 2, 0), jump(-8) | RA << 7];
    match call(&code, Mode::Functional) {
        // The stack runs through the code first, which it overwrites, and
        // then out of memory; both are faults.
        Err(Stop::Fault(_) | Stop::Limit(_)) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn code_changed_by_the_program_takes_effect_at_fence_i() {
    let call_from = |at: i32| jump(48 - 4 * at) | RA << 7;
    let nop = addi(ZERO, ZERO, 0);
    let t2 = 7;
    let code = [
        auipc(T0, 0),
        addi(T1, RA, 0),
        call_from(2),
        addi(A1, A0, 0),
        // Overwrites the function with the one behind it.
        ld(t2, T0, 64),
        sd(t2, T0, 48),
        0x100f,
        call_from(7),
        add(A0, A0, A1),
        T1 << 15 | 0x67,
        nop,
        nop,
        // Byte 48: the function.
        addi(A0, ZERO, 1),
        RET,
        nop,
        nop,
        addi(A0, ZERO, 2),
        RET,
    ];
    for mode in [Mode::Functional, Mode::Timed] {
        assert_eq!(call(&code, mode).unwrap().value, 1 + 2);
    }
}

/// A program that makes system calls through HTIF.
fn htif_program() -> Vec<u8> {
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
fn a_program_is_loaded_at_physical_addresses() {
    let mut elf = elf(&[EBREAK], &[], &[]);
    // Offset of the virtual address in the first program header.
    let virtual_address = 64 + 16;
    elf[virtual_address..virtual_address + 8].copy_from_slice(&0x9000_0000u64.to_le_bytes());
    assert_eq!(Program::parse(&elf).unwrap().segments[0].address, BASE);
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
    assert!(matches!(Program::parse(b""), Err(SimError::Elf(_))));
    assert!(matches!(
        Program::parse(b"#include <stdio.h>\nint main;"),
        Err(SimError::Elf(_))
    ));
    let mut other = htif_program();
    // x86-64
    other[18] = 62;
    assert!(matches!(
        Program::parse(&other),
        Err(SimError::WrongMachine(_))
    ));
    let mut object = htif_program();
    // Relocatable: what a compiler leaves to the linker.
    object[16] = 1;
    assert!(matches!(Program::parse(&object), Err(SimError::NotLinked)));
    let mut low = htif_program();
    // Physical and virtual address of the segment.
    low[64 + 16..64 + 32].fill(0);
    let error = run_program(&low, &config(), accelerator(), Mode::Functional, LIMITS).unwrap_err();
    assert!(error.to_string().contains("0x80000000"), "{error}");
}

#[test]
fn a_machine_with_an_unknown_key_is_refused_with_its_line() {
    let text = MACHINE.replace("load_latency", "lode_latency");
    let error = MachineConfig::from_toml(&text).unwrap_err().to_string();
    assert!(
        error.contains("lode_latency") && error.contains("line"),
        "{error}"
    );
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
