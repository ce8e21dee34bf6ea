//! Random programs on both interpreters.

use crate::kernels::{kernel_of, run};
use crate::second::{alone, program};
use autocomp_cuda_sim::machine::Order;

fn bytes(words: &[[u32; 8]]) -> Vec<u8> {
    let words = words.iter().flatten();
    words.flat_map(|it| it.to_le_bytes()).collect()
}

/// Runs a program on the words that its threads begin with, and compares those that they end with.
fn compare(name: &str, (body, first, last): (String, Vec<[u32; 8]>, Vec<[u32; 8]>)) {
    let right = bytes(&last);
    let shape = (1, first.len() as u32);
    let y = run(
        &kernel_of(&body),
        shape,
        &bytes(&first),
        right.len(),
        Order::Forward,
    );
    let y = y.unwrap_or_else(|finding| panic!("{name}: {finding:?}\n{body}"));
    let wrong = y.chunks(4).zip(right.chunks(4)).position(|(a, b)| a != b);
    if let Some(word) = wrong {
        let (thread, of) = (word / 8, |it: &[u8]| it[4 * word..][..4].to_vec());
        let (found, right) = (of(&y), of(&right));
        let given = first[thread];
        panic!("{name}, word {word}, {given:x?}: {found:x?}, not {right:x?}\n{body}");
    }
}

#[test]
fn random_programs_end_as_on_a_second_interpreter() {
    for seed in 0..400 {
        compare(&format!("seed {seed}"), program(seed));
    }
}

#[test]
fn each_operation_does_what_the_second_interpreter_does_on_special_values() {
    for one in alone() {
        compare("alone", one);
    }
}
