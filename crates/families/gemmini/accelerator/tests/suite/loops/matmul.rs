//! The loop for matrices: products and sums.

use super::driver::instances::int8_16;
use super::driver::{Driver, noise};
use super::{A, B, C, D, bytes, clip, small};
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Matmul {
    tiles: [usize; 3],
    pads: [usize; 3],
    a_transpose: bool,
    b_transpose: bool,
    bias: bool,
    full_c: bool,
    extra: usize,
}

fn matmul() -> impl Strategy<Value = Matmul> {
    let tiles = [1usize..5, 1usize..5, 1usize..5];
    let flag = any::<bool>;
    (
        tiles,
        [0usize..16, 0usize..16, 0usize..16],
        0u8..3,
        flag(),
        flag(),
        0usize..5,
    )
        .prop_map(|(tiles, pads, transposed, bias, full_c, extra)| Matmul {
            tiles,
            pads,
            a_transpose: transposed == 1,
            b_transpose: transposed == 2,
            bias,
            full_c,
            extra,
        })
}

/// Runs a loop (two of them along K if `split`) and compares with the product.
fn check_matmul(case: &Matmul, split: bool) -> Result<(), TestCaseError> {
    let dim = 16;
    let size = |at: usize| case.tiles[at] * dim - case.pads[at];
    let (rows, cols, inner) = (size(0), size(1), size(2));
    let total = if split {
        inner + case.tiles[2] * dim
    } else {
        inner
    };
    let (a_cols, b_cols) = (
        if case.a_transpose { rows } else { total } + case.extra,
        if case.b_transpose { total } else { cols } + case.extra,
    );
    let a = small(1, 40_000);
    let b = small(2, 40_000);
    let d: Vec<i32> = noise(3, 4096)
        .iter()
        .map(|byte| i32::from(*byte) - 128)
        .collect();
    let mut driver = Driver::new(int8_16());
    driver.write(A, &bytes(&a));
    driver.write(B, &bytes(&b));
    driver.write(
        D,
        &d.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>(),
    );
    driver.config_ex(true, case.a_transpose, case.b_transpose);
    driver.config_ld(0, a_cols as u64, false);
    driver.config_ld(1, b_cols as u64, false);
    driver.config_ld(2, 64 * 4, false);
    let c_width = if case.full_c { 4 } else { 1 };
    driver.config_st(80 * c_width, 1.0, 0);

    let steps = case.tiles[2] * dim;
    let runs: Vec<(usize, [usize; 3], bool, bool)> = if split {
        vec![
            (0, [case.pads[0], case.pads[1], 0], true, false),
            (steps, case.pads, false, true),
        ]
    } else {
        vec![(0, case.pads, true, true)]
    };
    for (k, pads, first, last) in runs {
        let pack = |x: [usize; 3]| (x[2] as u64) << 32 | (x[1] as u64) << 16 | x[0] as u64;
        let at_a = A + (if case.a_transpose { k * a_cols } else { k }) as u64;
        let at_b = B + (if case.b_transpose { k } else { k * b_cols }) as u64;
        driver.run(9, pack(pads), pack(case.tiles));
        driver.run(10, at_a, at_b);
        driver.run(
            11,
            if case.bias && first { D } else { 0 },
            if last { C } else { 0 },
        );
        driver.run(12, a_cols as u64, b_cols as u64);
        driver.run(13, 64, 80);
        let accumulate = u64::from(!first || case.bias);
        driver.run(
            8,
            accumulate | u64::from(case.full_c) << 1,
            u64::from(case.a_transpose) | u64::from(case.b_transpose) << 1,
        );
    }
    driver.fence();
    for i in 0..rows {
        for j in 0..cols {
            let mut sum = if case.bias {
                i64::from(d[i * 64 + j])
            } else {
                0
            };
            for k in 0..total {
                let x = if case.a_transpose {
                    a[k * a_cols + i]
                } else {
                    a[i * a_cols + k]
                };
                let y = if case.b_transpose {
                    b[j * b_cols + k]
                } else {
                    b[k * b_cols + j]
                };
                sum += i64::from(x) * i64::from(y);
            }
            if case.full_c {
                let at = C + ((i * 80 + j) * 4) as u64;
                let found = i32::from_le_bytes(driver.read(at, 4).try_into().unwrap());
                prop_assert_eq!(i64::from(found), sum, "C[{}][{}]", i, j);
            } else {
                let found = driver.read(C + (i * 80 + j) as u64, 1)[0] as i8;
                prop_assert_eq!(found, clip(sum), "C[{}][{}]", i, j);
            }
        }
        let beyond = driver.read(C + (i * 80 + cols) as u64 * c_width, 1)[0];
        prop_assert_eq!(beyond, 0, "nothing is written behind row {}", i);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_matrix_loop_multiplies(case in matmul()) {
        check_matmul(&case, false)?;
    }

    #[test]
    fn two_matrix_loops_split_the_inner_dimension(case in matmul()) {
        check_matmul(&case, true)?;
    }
}

#[test]
fn the_matrix_loop_adds_two_matrices_element_by_element() {
    let mut driver = Driver::new(int8_16());
    let (a, b) = (small(1, 32 * 64), small(2, 32 * 64));
    driver.write(A, &bytes(&a));
    driver.write(B, &bytes(&b));
    driver.configure(64);
    driver.config_ld(0, 64, true);
    driver.config_ld(1, 64, true);
    driver.run(9, 0, 4 << 16 | 2);
    driver.run(10, A, B);
    driver.run(11, 0, C);
    driver.run(12, 64, 64);
    driver.run(13, 0, 64);
    driver.run(8, 0, 4);
    driver.fence();
    let expected: Vec<u8> = a.iter().zip(&b).map(|(x, y)| (x + y) as u8).collect();
    assert_eq!(driver.read(C, 32 * 64), &expected[..]);
}
