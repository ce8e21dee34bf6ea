//! Elements that are drawn.

use autocomp_catalog::{Buffer, DataType, Distribution, Role};
use autocomp_core::Seed;

fn buffer(dtype: DataType, shape: &[u64]) -> Buffer {
    Buffer {
        name: "X".to_owned(),
        dtype,
        shape: shape.to_vec(),
        role: Role::Input,
        alignment: 64,
        used: None,
    }
}

#[test]
fn uniform_reaches_both_ends_and_stays_between_them() {
    let bytes = Distribution::Uniform {
        low: -128,
        high: 127,
    }
    .fill(&buffer(DataType::Int8, &[64, 64]), Seed(1));
    let values: std::collections::BTreeSet<i8> = bytes.iter().map(|b| b.cast_signed()).collect();
    assert_eq!(values.len(), 256);
    let bytes =
        Distribution::Uniform { low: -2, high: 1 }.fill(&buffer(DataType::Int8, &[64]), Seed(1));
    assert!(bytes.iter().all(|b| (-2..=1).contains(&b.cast_signed())));
}

#[test]
fn identity_of_a_wide_matrix_and_of_a_stack() {
    let bytes = Distribution::Identity {}.fill(&buffer(DataType::Int8, &[2, 3]), Seed(0));
    assert_eq!(bytes, [1, 0, 0, 0, 1, 0]);
    let bytes = Distribution::Identity {}.fill(&buffer(DataType::Int8, &[2, 2, 2]), Seed(0));
    assert_eq!(bytes, [1, 0, 0, 1, 1, 0, 0, 1]);
}

#[test]
fn widths_and_clamping() {
    let fill = |dtype| Distribution::Constant { value: 1e12 }.fill(&buffer(dtype, &[1]), Seed(0));
    assert_eq!(fill(DataType::Int8), [127]);
    assert_eq!(fill(DataType::Int32), i32::MAX.to_le_bytes());
    assert_eq!(fill(DataType::Float32), 1e12f32.to_le_bytes());
    for dtype in [
        DataType::Float8E4M3,
        DataType::Float8E4M3Fn,
        DataType::Float8E5M2,
        DataType::Float16,
        DataType::BFloat16,
        DataType::Float32,
    ] {
        for value in [1e300, -1e300] {
            let bytes = Distribution::Constant { value }.fill(&buffer(dtype, &[1]), Seed(0));
            let (least, most) = dtype.range();
            let end = if value < 0.0 { least } else { most };
            assert_eq!(dtype.value(&bytes), end, "{dtype:?}");
        }
    }
}

#[test]
fn fractions_are_rounded_to_the_nearest_even() {
    let values = vec![0.5, 1.5, -2.5, 0.49, -0.51, -128.7];
    let bytes = Distribution::Choice { values }.fill(&buffer(DataType::Int8, &[16, 16]), Seed(4));
    let seen: std::collections::BTreeSet<i8> = bytes.iter().map(|b| b.cast_signed()).collect();
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [-128, -2, -1, 0, 2]);
}

#[test]
fn sparse_density_is_near_one_in() {
    let bytes = Distribution::Sparse {
        values: vec![-1.0, 1.0],
        one_in: 8,
    }
    .fill(&buffer(DataType::Int8, &[100, 100]), Seed(3));
    let set = bytes.iter().filter(|b| **b != 0).count();
    assert!(
        (1000..1500).contains(&set),
        "{set} of 10000 elements are set"
    );
}

#[test]
fn few_numbers_are_among_those_of_the_distribution_and_not_zero() {
    let real = |low, high| Distribution::Real { low, high };
    for (whole, few) in [
        (Distribution::Uniform { low: -8, high: 8 }, &[-1.0, 2.0][..]),
        (Distribution::Uniform { low: 0, high: 99 }, &[2.0, 1.0]),
        (Distribution::Uniform { low: 0, high: 0 }, &[0.0]),
        (real(-1.0, 1.0), &[0.5, -0.5]),
        (real(90.0, 98.0), &[92.0, 96.0]),
        (
            Distribution::Choice {
                values: vec![f64::NEG_INFINITY, 0.0, 7.0, 7.0, -3.0, 4.0],
            },
            &[7.0, -3.0],
        ),
    ] {
        let values = few.to_vec();
        assert_eq!(whole.of_few(2), Distribution::Choice { values });
    }
    let table = |values: &[f64]| Distribution::Table {
        file: "places.csv".into(),
        values: values.into(),
    };
    for (whole, few) in [
        (
            &[0.0, 3.0, 5.0, 3.0, 7.0, 8.0][..],
            &[3.0, 3.0, 5.0, 3.0, 3.0, 5.0][..],
        ),
        (&[0.0, 0.0], &[0.0, 0.0]),
        (&[], &[]),
    ] {
        assert_eq!(table(whole).of_few(2), table(few));
    }
    assert_eq!(
        Distribution::Identity {}.of_few(2),
        Distribution::Identity {}
    );
}

#[test]
fn zeros_infinities_and_denormals_are_special() {
    for (distribution, is_special) in [
        (Distribution::Uniform { low: -3, high: 3 }, true),
        (Distribution::Uniform { low: 1, high: 3 }, false),
        (
            Distribution::Real {
                low: -1.0,
                high: 1.0,
            },
            false,
        ),
        (
            Distribution::Real {
                low: -1e-38,
                high: 1e-38,
            },
            true,
        ),
        (Distribution::Constant { value: 0.5 }, false),
        (
            Distribution::Choice {
                values: vec![1.0, f64::INFINITY],
            },
            true,
        ),
        (
            Distribution::Sparse {
                values: vec![1.0],
                one_in: 3,
            },
            true,
        ),
    ] {
        assert_eq!(
            distribution.has_special_numbers(),
            is_special,
            "{distribution:?}"
        );
    }
}
