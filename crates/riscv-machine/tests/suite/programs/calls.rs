//! Calls of kernels: what they return, what they take, and what stops them.

use super::assemble::*;
use super::{LIMITS, STACK, accelerator, config};
use autocomp_riscv::{FaultKind, Limits, Mode, Region, RegionAccess};
use autocomp_riscv_machine::{
    CallReport, Machine, NoAccelerator, ObservedBlock, Program, Progress, Stop,
};

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

/// Makes a call that is paused every `cycles`; returns how it ends and how often it was
/// paused.
fn paused_call(
    code: &[u32],
    mode: Mode,
    arguments: &[u64],
    limits: Limits,
    cycles: u64,
) -> (Result<CallReport, Stop>, u64) {
    let mut machine = kernel(code, mode);
    let call = machine.begin(BASE, arguments, STACK, limits);
    let mut pauses = 0;
    loop {
        match machine.proceed(&call, cycles, None) {
            Ok(Progress::Paused) => pauses += 1,
            Ok(Progress::Completed(report)) => return (Ok(report), pauses),
            Err(stop) => return (Err(stop), pauses),
        }
    }
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
                let (paused, pauses) = paused_call(&first, mode, &arguments, limits, cycles);
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

/// Returns how a call of `code` ends, which must be the same in both modes, wherever it is
/// paused and whether somebody watches.
fn call_however_paused(code: &[u32], arguments: &[u64]) -> CallReport {
    let whole = |mode| kernel(code, mode).call(BASE, arguments, STACK, LIMITS);
    for mode in [Mode::Functional, Mode::Timed] {
        for cycles in [0, 1, 7, 100, 1000] {
            let (paused, _) = paused_call(code, mode, arguments, LIMITS, cycles);
            assert_eq!(paused, whole(mode), "{mode:?}, every {cycles}");
        }
        let mut watch = |_: &ObservedBlock| {};
        let mut machine = kernel(code, mode);
        let watched = machine.call_observed(BASE, arguments, STACK, LIMITS, Some(&mut watch));
        assert_eq!(watched, whole(mode), "{mode:?}, watched");
    }
    let [functional, timed] = [Mode::Functional, Mode::Timed].map(|mode| whole(mode).unwrap());
    assert_eq!(functional.value, timed.value);
    assert_eq!(functional.instructions, timed.instructions);
    timed
}

#[test]
fn pauses_do_not_let_changed_code_take_effect() {
    let t2 = 7;
    let code = [
        auipc(T0, 0),
        addi(T1, ZERO, 500),
        ld(t2, T0, 40),
        // Changes itself in every turn, so that the sum shows when that took effect.
        addi(A0, A0, 1),
        sw(t2, T0, 12),
        add(t2, t2, A1),
        addi(T1, T1, -1),
        branch_if_zero(T1, 8),
        jump(-20),
        RET,
        addi(A0, A0, 1),
    ];
    call_however_paused(&code, &[0, 1 << 20]);
}

#[test]
fn traps_are_taken_once_wherever_a_call_is_paused() {
    let mtvec = |rs1: u32| 0x305 << 20 | rs1 << 15 | 1 << 12 | 0x73;
    let mepc = |rd: u32, rs1: u32| 0x341 << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73;
    let t2 = 7;
    let code = [
        auipc(T0, 0),
        addi(T0, T0, 40),
        mtvec(T0),
        addi(T1, ZERO, 100),
        // A system call.
        0x73,
        addi(T1, T1, -1),
        branch_if_zero(T1, 8),
        jump(-12),
        RET,
        addi(ZERO, ZERO, 0),
        // Byte 40: the handler, which goes on behind it.
        mepc(t2, ZERO),
        addi(t2, t2, 4),
        mepc(ZERO, t2),
        addi(A0, A0, 1),
        0x3020_0073,
    ];
    assert_eq!(call_however_paused(&code, &[0]).value, 100);
}
