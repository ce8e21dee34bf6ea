//! Whatever a program sends, the model answers; it never panics.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::driver;

use autocomp_gemmini::{Checks, GemminiConfig, LoopConvLayout, Severity};
use autocomp_riscv::RoccCommand;
use driver::instances::{fp32_4, int8_16, int8_32};
use driver::{BASE, Driver};
use proptest::prelude::*;

/// Operand values that are often nearly legal.
fn operand() -> impl Strategy<Value = u64> {
    let local = prop_oneof![
        0u32..40,
        16370u32..16400,
        (0u32..1100).prop_map(|row| 0x8000_0000 | row),
        (0u32..1100).prop_map(|row| 0xc000_0000 | row),
        (0u32..1100).prop_map(|row| 0xa000_0000 | row),
        Just(u32::MAX),
        any::<u32>(),
    ];
    let size = || prop_oneof![4 => 0u64..18, 1 => 30u64..70, 1 => any::<u16>().prop_map(u64::from)];
    prop_oneof![
        4 => (local, size(), size()).prop_map(|(at, cols, rows)| rows << 48 | cols << 32 | u64::from(at)),
        2 => (0u64..0x10_0100).prop_map(|offset| BASE + offset),
        1 => (0u64..4, 0u64..4, 0u64..4, 0u64..4).prop_map(|(a, b, c, d)| a << 48 | b << 32 | c << 16 | d),
        1 => (0u64..4, any::<u64>()).prop_map(|(kind, rest)| rest & !3 | kind),
        1 => any::<u64>(),
        1 => Just(0u64),
    ]
}

fn command() -> impl Strategy<Value = RoccCommand> {
    let funct = prop_oneof![8 => 0u8..23, 1 => Just(126u8), 1 => 0u8..128];
    (
        funct,
        operand(),
        operand(),
        prop::bool::weighted(0.02),
        0u64..100,
    )
        .prop_map(|(funct, rs1, rs2, wants, pc)| RoccCommand {
            custom: 3,
            funct,
            rs1,
            rs2,
            wants_reply: wants || funct == 126,
            pc: pc * 4,
            cycle: 0,
        })
}

fn config() -> impl Strategy<Value = GemminiConfig> {
    let presets = prop::sample::select(vec![
        int8_16(),
        int8_32(),
        fp32_4(),
        GemminiConfig { dim: 2, ..fp32_4() },
        GemminiConfig {
            dim: 64,
            ..int8_16()
        },
        GemminiConfig {
            dim: 8,
            loop_conv_layout: LoopConvLayout::Square,
            ..int8_16()
        },
    ]);
    (presets, any::<bool>()).prop_map(|(mut config, norm)| {
        config.features.normalizations = norm;
        config
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_commands_never_panic(
        config in config(),
        strict: bool,
        commands in prop::collection::vec(command(), 1..80),
    ) {
        let mut driver = Driver::new(config);
        let severity = if strict { Severity::Fault } else { Severity::Warn };
        driver.gemmini.set_checks(Checks { uninitialized: severity, races: severity, hazards: severity });
        for command in commands {
            // After a fault a machine stops; this one goes on, to get further.
            let _ = driver.issue(command);
            let _ = driver.gemmini.cpu_access(command.rs1, 8, command.pc & 4 != 0, command.pc);
            if command.pc == 0 {
                driver.fence();
            }
        }
        prop_assert!(driver.gemmini.warnings().len() <= 64);
    }

    #[test]
    fn every_command_can_be_shown(commands in prop::collection::vec(command(), 1..20)) {
        for command in commands {
            let config = int8_16();
            if let Ok(instruction) = autocomp_gemmini::decode(&config, command.funct, command.rs1, command.rs2) {
                prop_assert!(instruction.to_string().starts_with(instruction.name()));
            }
        }
    }
}
