//! Instructions that read what they write.

use autocomp_trainium_sim::{Evaluation, Failure, Input, Options, evaluate, parse_inputs};
use proptest::prelude::*;

const HEAD: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\ndef solution(x):\n  y = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n  a = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)\n  nisa.dma_copy(dst=a, src=x)\n";

fn run(source: &str, generation: u8) -> Result<Evaluation, Box<Failure>> {
    let inputs = parse_inputs("x:f32[128,64]", Some(5)).expect("inputs");
    let options = Options {
        generation,
        ..Options::default()
    };
    evaluate(source, "solution", &inputs, &options)
}

fn second(body: &str) -> Result<Evaluation, Box<Failure>> {
    run(
        &format!("{HEAD}  {body}\n  nisa.dma_copy(dst=y, src=a)\n  return y\n"),
        3,
    )
}

fn first(body: &str) -> Result<Evaluation, Box<Failure>> {
    let head = "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\ndef solution(x):\n  y = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)\n  a = nl.load(x)\n";
    run(
        &format!("{head}  {body}\n  nl.store(y, a)\n  return y\n"),
        2,
    )
}

#[test]
fn what_would_be_read_after_it_has_changed_is_refused() {
    for body in [
        "nisa.tensor_tensor(dst=a[:, 16:64], data1=a[:, 16:64], data2=a[:, 0:48], op=nl.add)",
        "nisa.tensor_copy(dst=a, src=a.ap(pattern=[[64, 128], [-1, 64]], offset=63))",
        "nisa.tensor_copy(dst=a[:, 1:64], src=a[:, 0:63])",
        "nisa.activation(dst=a[:, 8:64], op=nl.exp, data=a[:, 0:56])",
        "nisa.tensor_copy(dst=a.ap(pattern=[[64, 128], [1, 8], [8, 8]], offset=0), src=a.ap(pattern=[[64, 128], [8, 8], [1, 8]], offset=0))",
        "nisa.tensor_tensor(dst=a, data1=a, data2=a.ap(pattern=[[64, 128], [0, 64]], offset=0), op=nl.subtract)",
        "nisa.dma_copy(dst=a[1:128, :], src=a[0:127, :])",
        "nisa.dma_copy(dst=a[0:127, :], src=a[1:128, :])",
        "nisa.dma_transpose(dst=a[0:64, :], src=a[0:64, :])",
        "nisa.nc_transpose(dst=a[0:32, 0:32], data=a[0:32, 0:32])",
        "nisa.dma_copy(dst=y, src=a); nisa.dma_copy(dst=y[1:128, :], src=y[0:127, :])",
    ] {
        let failure = second(body).expect_err(body);
        assert_eq!(failure.code, "operands-overlap", "{failure}\n{body}");
    }
    for body in [
        "a[:, 16:64] = nisa.tensor_tensor(a[:, 16:64], a[:, 0:48], op=np.add)",
        "a[:, 1:64] = nl.copy(a[:, 0:63])",
    ] {
        let failure = first(body).expect_err(body);
        assert_eq!(failure.code, "operands-overlap", "{failure}\n{body}");
    }
}

#[test]
fn what_is_read_in_time_runs() {
    for body in [
        "nisa.tensor_tensor(dst=a, data1=a, data2=a, op=nl.add)",
        "nisa.tensor_scalar(dst=a, data=a, op0=nl.subtract, operand0=a[:, 5:6])",
        "nisa.tensor_copy(dst=a[:, 0:63], src=a[:, 1:64])",
        "nisa.tensor_copy(dst=a[:, 0:32], src=a[:, 32:64])",
        "nisa.tensor_copy(dst=a[32:64, :], src=a[0:32, :])",
        "nisa.tensor_copy(dst=a.ap(pattern=[[64, 128], [2, 32]], offset=0), src=a.ap(pattern=[[64, 128], [2, 32]], offset=1))",
        "nisa.tensor_reduce(dst=a[:, 40:41], op=nl.add, data=a, axis=1)",
        "nisa.max8(dst=a[:, 24:32], src=a)",
        "nisa.activation(dst=a, op=nl.exp, data=a, bias=a[:, 63:64])",
        "nisa.dma_copy(dst=a, src=a)",
        "nisa.dma_copy(dst=a[64:128, :], src=a[0:64, :])",
        "nisa.dma_copy(dst=y, src=a); nisa.dma_copy(dst=y[:, 0:32], src=y[:, 32:64])",
    ] {
        if let Err(failure) = second(body) {
            panic!("{failure}\n{body}");
        }
    }
    for body in [
        "a[:, :] = nisa.tensor_tensor(a, a, op=np.add)",
        "a[:, 0:48] = nl.add(a[:, 0:48], a[:, 16:64])",
    ] {
        if let Err(failure) = first(body) {
            panic!("{failure}\n{body}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// A copy that is accepted gives the same if each element is written before the next is read.
    #[test]
    fn accepted_copies_may_be_streamed(
        from in (0usize..64, 1usize..5, -2i64..3, 1usize..9, -2i64..3),
        to in (0usize..64, -9i64..10, -3i64..4),
    ) {
        let (offset, outer, outer_stride, inner, inner_stride) = from;
        let place = |offset: usize, [a, b]: [i64; 2], i: usize, j: usize| {
            offset as i64 + a * i as i64 + b * j as i64
        };
        let read = |i, j| place(offset, [outer_stride * 4, inner_stride], i, j);
        let written = |i, j| place(to.0, [to.1, to.2], i, j);
        let all = || (0..outer).flat_map(move |i| (0..inner).map(move |j| (i, j)));
        prop_assume!(all().all(|(i, j)| (0..64).contains(&read(i, j)) && (0..64).contains(&written(i, j))));
        let body = format!(
            "nisa.tensor_copy(dst=a.ap(pattern=[[64, 128], [{}, {outer}], [{}, {inner}]], offset={}), src=a.ap(pattern=[[64, 128], [{}, {outer}], [{inner_stride}, {inner}]], offset={offset}))",
            to.1, to.2, to.0, outer_stride * 4
        );
        let Ok(evaluation) = second(&body) else { return Ok(()) };
        let inputs = parse_inputs("x:f32[128,64]", Some(5)).expect("inputs");
        let Input::Array(array) = &inputs[0].1 else { unreachable!() };
        let mut row: Vec<f32> = array.data[..64].to_vec();
        for (i, j) in all() {
            row[written(i, j) as usize] = row[read(i, j) as usize];
        }
        prop_assert_eq!(&evaluation.outputs[0].data[..64], &row[..], "{}", body);
    }
}
