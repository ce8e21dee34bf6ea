//! Random programs on both interpreters.

use crate::kernels::{kernel_of, run};
use crate::second::program;
use autocomp_cuda_sim::machine::Order;

#[test]
fn random_programs_end_as_on_a_second_interpreter() {
    for seed in 0..400 {
        let (body, first, last) = program(seed);
        let x: Vec<u8> = first
            .iter()
            .flatten()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let right: Vec<u8> = last
            .iter()
            .flatten()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        let y = run(&kernel_of(&body), (1, 32), &x, 1024, Order::Forward);
        let y = y.unwrap_or_else(|finding| panic!("seed {seed}: {finding:?}\n{body}"));
        let wrong = y.chunks(4).zip(right.chunks(4)).position(|(a, b)| a != b);
        assert!(wrong.is_none(), "seed {seed}, word {wrong:?}\n{body}");
    }
}
