//! What depends on the hardware and on the machine.

use crate::driver::instances::{fp32_4, int8_16, int8_32};
use autocomp_gemmini::inside::{instructions, may_wrap};
use autocomp_gemmini::{Functional, InstructionSet};

#[test]
fn only_wide_arrays_can_wrap_without_output_stationary_sums() {
    assert!(!may_wrap(&Functional::new(int8_16())));
    assert!(may_wrap(&Functional::new(int8_32())));
    assert!(!may_wrap(&Functional::new(fp32_4())));
}

#[test]
fn only_instructions_that_the_machine_has_can_be_asked_for() {
    let mut functional = Functional::new(int8_16());
    let other = if cfg!(target_arch = "x86_64") {
        InstructionSet::Neon
    } else {
        InstructionSet::Avx2
    };
    assert!(!functional.use_instructions(other));
    for set in InstructionSet::available() {
        assert!(functional.use_instructions(set));
        assert_eq!(instructions(&functional), set);
    }
}
