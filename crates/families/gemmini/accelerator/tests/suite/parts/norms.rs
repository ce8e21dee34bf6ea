//! Statistics of normalizations.

use autocomp_gemmini::NormCommand;
use autocomp_gemmini::inside::{ExpConstants, NormStatistics, iexp};

const NONE: ExpConstants = ExpConstants {
    qln2: 1,
    qln2_inv: 1,
    qb: 0,
    qc: 0,
};

#[test]
fn mean_and_deviation_over_two_blocks() {
    let mut set = NormStatistics::default();
    set.apply(NormCommand::Sum, &[1, 2, 3], NONE);
    set.apply(NormCommand::Mean, &[4, 10], NONE);
    assert_eq!(set.mean, 4);
    set.apply(NormCommand::Variance, &[1, 2, 3], NONE);
    set.apply(NormCommand::InvStdDev, &[4, 10], NONE);
    // (9 + 4 + 1 + 0 + 36) / 5 = 10, whose integer root is 3.
    assert_eq!(set.inv_std, 1.0 / 3.0);
}

#[test]
fn a_constant_row_has_deviation_one() {
    let mut set = NormStatistics::default();
    set.apply(NormCommand::Mean, &[7; 4], NONE);
    set.apply(NormCommand::InvStdDev, &[7; 4], NONE);
    assert_eq!((set.mean, set.inv_std), (7, 1.0));
}

#[test]
fn exponentials_are_summed_below_the_maximum() {
    let constants = ExpConstants {
        qln2: 69,
        qln2_inv: 65536 / 69,
        qb: 135,
        qc: 9700,
    };
    let mut set = NormStatistics::default();
    set.apply(NormCommand::Max, &[5, 9], constants);
    set.apply(NormCommand::Max, &[-3], constants);
    set.apply(NormCommand::SumExp, &[5, 9], constants);
    set.apply(NormCommand::InvSumExp, &[-3], constants);
    let exp = |x| iexp(x - 9, constants);
    assert_eq!(set.max, 9);
    assert_eq!(set.inv_sum_exp, 127.0 / (exp(5) + exp(9) + exp(-3)) as f32);
    assert_eq!(set.running_max, i32::MIN);
}
