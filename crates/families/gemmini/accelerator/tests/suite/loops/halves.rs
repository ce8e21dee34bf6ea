//! Which half of local memory a loop works in.

use super::driver::Driver;
use super::driver::instances::int8_16;
use super::{A, C, D};

#[test]
fn loops_alternate_between_the_halves_of_local_memory() {
    let mut driver = Driver::new(int8_16());
    driver.write(A, &[1; 4096]);
    driver.configure(16);
    let mut rows = Vec::new();
    for _ in 0..3 {
        driver.gemmini.poison(0);
        driver.run(9, 0, 1 << 32 | 1 << 16 | 1);
        driver.run(10, A, A);
        driver.run(11, 0, C);
        driver.run(12, 16, 16);
        driver.run(13, 16, 16);
        driver.run(8, 0, 0);
        driver.fence();
        let filled = |row: u32| driver.gemmini.spad_row(row).unwrap()[0] != 0;
        let result = |row: u32| driver.gemmini.acc_row(row).unwrap()[0] != 0;
        rows.push((
            [0, 8192 - 16, 8192, 16384 - 16].map(filled),
            [0, 512].map(result),
        ));
    }
    let first = ([true, true, false, false], [true, false]);
    let second = ([false, false, true, true], [false, true]);
    assert_eq!(rows, [first, second, first]);
}

#[test]
fn bias_and_output_share_a_half_whatever_the_loops_before_had() {
    let mut driver = Driver::new(int8_16());
    driver.write(A, &[1; 4096]);
    driver.write(D, &[3, 0, 0, 0].repeat(256));
    driver.configure(16);
    // The halves alternate with outputs, so the second loop is in the upper one.
    for bias in [0, D] {
        driver.run(9, 0, 1 << 32 | 1 << 16 | 1);
        driver.run(10, A, A);
        driver.run(11, bias, C);
        driver.run(12, 16, 16);
        driver.run(13, 16, 16);
        driver.run(8, u64::from(bias != 0), 0);
        driver.fence();
    }
    assert_eq!(driver.gemmini.acc_row(0).unwrap()[0], 16);
    assert_eq!(driver.gemmini.acc_row(512).unwrap()[0], 16 + 3);
}
