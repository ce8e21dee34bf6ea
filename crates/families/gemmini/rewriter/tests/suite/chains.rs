//! Chains of small products are recognised, scheduled anew, and still compute the same.

use crate::int8_16;
use autocomp_gemmini::{Elements, GemminiConfig};
use autocomp_gemmini_rewriter::inside::Elementwise;
use autocomp_gemmini_rewriter::inside::{schedules_of_chains as schedules, write_chain as write};
use autocomp_gemmini_rewriter::{HardwareLimits, Vocabulary};

/// Schedules that are checked, evenly spread over the ranking.
const CHECKED: usize = 60;

fn config() -> GemminiConfig {
    GemminiConfig {
        dim: 4,
        elements: Elements::Float32,
        mesh_out_bits: 32,
        acc_banks: 1,
        ..int8_16().accelerator
    }
}

fn limits() -> HardwareLimits {
    HardwareLimits {
        accelerator: config(),
        ..int8_16()
    }
}

fn kernel() -> String {
    let folder = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{folder}/tests/kernels/chain-of-vectors.c")).unwrap()
}

fn followed(source: &str) -> Elementwise {
    Elementwise::of(source, &config(), &Vocabulary::default())
        .unwrap_or_else(|why| panic!("{why}\n{source}"))
}

#[test]
fn schedules_of_a_chain_compute_the_same() {
    let before = followed(&kernel());
    let chain = before.chain().unwrap();
    // y of each step, and the state behind it.
    assert_eq!(chain.graph.statements.len(), 10);
    let all = schedules(&chain, &limits());
    assert!(CHECKED < all.len(), "{} schedules", all.len());
    for schedule in all.iter().step_by(all.len() / CHECKED) {
        let text = write(&chain, &schedule.parameters, &limits()).unwrap();
        let after = followed(&text);
        assert!(before.is_same(&after), "{:?}\n{text}", schedule.parameters);
        assert_eq!(text.matches("fence()").count(), 1, "{text}");
    }
}

/// Powers of a chain's matrix are not found again yet, so a kernel that takes
/// several steps at once is an end.
#[test]
fn chains_written_step_by_step_are_read_again() {
    let before = followed(&kernel());
    let chain = before.chain().unwrap();
    let all: Vec<_> = schedules(&chain, &limits())
        .into_iter()
        .filter(|schedule| schedule.parameters[2] == 1)
        .collect();
    for schedule in all.iter().step_by(all.len() / CHECKED) {
        let text = write(&chain, &schedule.parameters, &limits()).unwrap();
        let again = followed(&text).chain();
        let again = again.unwrap_or_else(|why| panic!("{why}\n{text}"));
        let first = schedules(&again, &limits()).into_iter().next().unwrap();
        let text = write(&again, &first.parameters, &limits()).unwrap();
        assert!(before.is_same(&followed(&text)), "{text}");
    }
}

#[test]
fn what_differs_in_one_sign_is_told_apart() {
    let before = followed(&kernel());
    let other = kernel().replace("As[r][0] - Bw", "As[r][0] + Bw");
    assert!(!before.is_same(&followed(&other)));
}

#[test]
fn what_an_earlier_call_left_is_no_chain() {
    let source = kernel().replace("y[i][r][0] = half", "y[i][r][0] = Bw[r][0] + half");
    let why = followed(&source).chain().unwrap_err();
    assert!(why.to_string().contains("earlier call"), "{why}");
}
