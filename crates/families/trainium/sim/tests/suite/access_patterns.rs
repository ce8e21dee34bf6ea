//! Access patterns whose first place is found while the kernel runs.

use autocomp_trainium_sim::{Evaluation, Failure, Options, evaluate, parse_inputs};

fn run(body: &str) -> Result<Evaluation, Box<Failure>> {
    let source = format!(
        "import nki\nimport nki.language as nl\nimport nki.isa as nisa\ndef solution(a):\n  x = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=x, src=a)\n  i = nl.ndarray((4, 1), dtype=nl.int32, buffer=nl.sbuf)\n  nisa.iota(i, [[1, 1]], 3, 7)\n  o = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n{body}  return o\n"
    );
    let options = Options {
        generation: 3,
        ..Options::default()
    };
    evaluate(
        &source,
        "solution",
        &parse_inputs("a:f32[4,8]", Some(5)).unwrap(),
        &options,
    )
}

fn input() -> Vec<f32> {
    match &parse_inputs("a:f32[4,8]", Some(5)).unwrap()[0].1 {
        autocomp_trainium_sim::Input::Array(array) => array.data.clone(),
        other => panic!("{other:?}"),
    }
}

/// Rows are those of the tensor that the pattern is of, as it is seen there; the step that the
/// pattern has for them is ignored.
#[test]
fn offsets_count_rows_of_the_tensor_that_the_pattern_is_of() {
    let scatter = "  nisa.dma_copy(dst=o, src=x)\n  nisa.dma_copy(dst=o.reshape((32,)).ap([[5, 4], [1, 1]], offset=0, vector_offset=i, indirect_dim=0), src=x[:, 0:1])\n";
    let mut wanted = input();
    for row in 0..4 {
        wanted[3 + 7 * row] = input()[8 * row];
    }
    assert_eq!(run(scatter).unwrap().outputs[0].data, wanted);
    let gather = "  nisa.dma_copy(dst=o, src=a.reshape((16, 2)).ap([[2, 4], [1, 8]], offset=0, vector_offset=i, indirect_dim=0))\n";
    let failure = run(gather).unwrap_err();
    assert_eq!(failure.code, "tensor-access-out-of-bound");
    let gather = "  nisa.tensor_scalar(dst=i, data=i, op0=nl.subtract, operand0=3)\n  nisa.tensor_scalar(dst=i, data=i, op0=nl.minimum, operand0=12)\n  nisa.dma_copy(dst=o, src=a.reshape((16, 2)).ap([[9, 4], [1, 8]], offset=0, vector_offset=i, indirect_dim=0))\n";
    let input = input();
    let rows = [0, 7, 12, 12].map(|row| &input[2 * row..2 * row + 8]);
    assert_eq!(run(gather).unwrap().outputs[0].data, rows.concat());
}
