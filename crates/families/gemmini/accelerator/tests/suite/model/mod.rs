//! Random command sequences against a model that is slow and obvious: every
//! element is an `i64` in a vector of vectors, every rule one line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::driver;
mod plain;
mod steps;

use autocomp_gemmini::{GemminiConfig, InstructionSet};
use driver::instances::{int8_16, int8_32};
use driver::{BASE, Driver, high, noise};
use plain::Plain;
use proptest::prelude::*;
use steps::{Step, apply, step};

const DRAM: usize = 1 << 14;
const ROWS: u32 = 160;

fn compare(
    steps: &[Step],
    config: GemminiConfig,
    set: InstructionSet,
) -> Result<(), TestCaseError> {
    let dram = noise(7, DRAM);
    let mut driver = Driver::unchecked(config.clone());
    assert!(driver.gemmini.use_instructions(set));
    driver.write(BASE, &dram);
    let mut plain = Plain::new(config.dim as usize, dram);
    driver.configure(0);
    driver.run(0, high(1.0) | 1 << 16 | 4, 1 << 48);
    for channel in 0..3 {
        driver.run(0, high(1.0) | channel << 3 | 1, 0);
    }
    // Noise everywhere, so that nothing is hidden by zeros.
    let mut steps = steps.to_vec();
    steps.insert(
        0,
        Step::ConfigLd {
            channel: 0,
            stride: 64,
            shrink: true,
            scale: 1.0,
            block: 16,
        },
    );
    for row in (0..ROWS + 64).step_by(config.dim as usize) {
        for to_acc in [false, true] {
            let dram = (row * 37 + u32::from(to_acc) * 11) as u16;
            let (cols, rows) = (config.dim - 1, config.dim - 1);
            steps.insert(
                1,
                Step::Mvin {
                    channel: 0,
                    dram,
                    zero: false,
                    to_acc,
                    add: false,
                    row,
                    cols,
                    rows,
                },
            );
        }
    }
    for (number, step) in steps.iter().enumerate() {
        apply(step, &mut driver, &mut plain);
        for (row, expected) in plain.acc.iter().enumerate() {
            let found: Vec<i64> = driver
                .gemmini
                .acc_row(row as u32)
                .unwrap()
                .iter()
                .map(|x| i64::from(*x))
                .collect();
            prop_assert_eq!(
                &found,
                expected,
                "accumulator row {} after step {} {:?}",
                row,
                number,
                step
            );
        }
        for (row, expected) in plain.spad.iter().enumerate() {
            let found: Vec<i64> = driver
                .gemmini
                .spad_row(row as u32)
                .unwrap()
                .iter()
                .map(|x| i64::from(*x as i8))
                .collect();
            prop_assert_eq!(
                &found,
                expected,
                "scratchpad row {} after step {} {:?}",
                row,
                number,
                step
            );
        }
    }
    prop_assert_eq!(driver.read(BASE, DRAM), &plain.dram[..]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_sequences_agree_with_the_plain_model(steps in prop::collection::vec(step(), 1..40)) {
        compare(&steps, int8_16(), InstructionSet::detect())?;
    }

    #[test]
    fn every_instruction_set_agrees_with_the_plain_model(
        steps in prop::collection::vec(step(), 1..20),
        set in prop::sample::select(InstructionSet::available()),
    ) {
        compare(&steps, int8_16(), set)?;
    }

    #[test]
    fn wide_arrays_agree_with_the_plain_model(
        steps in prop::collection::vec(step(), 1..20),
        set in prop::sample::select(InstructionSet::available()),
    ) {
        compare(&steps, int8_32(), set)?;
    }
}
