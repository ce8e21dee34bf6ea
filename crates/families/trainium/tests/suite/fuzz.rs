//! Random kernels: whatever is written, the answer is a result or a failure with a code.

use autocomp_trainium::timing::{Machine, Passes, time};
use autocomp_trainium::{Options, evaluate, parse_inputs};
use proptest::prelude::*;

const PIECES: &[&str] = &[
    "t",
    "u",
    "a",
    "o",
    "nl",
    "nisa",
    "np",
    "nl.load(a)",
    "nl.load(a[0:64, :])",
    "nl.arange(64)[:, None]",
    "nl.arange(8)[None, :]",
    "nl.store(o, t)",
    "nl.exp(t)",
    "nl.add(t, u)",
    "t + u",
    "t * 2.0",
    "nisa.nc_matmul(t, u)",
    "nisa.nc_transpose(t)",
    "nl.zeros((64, 8), dtype=nl.float32, buffer=nl.psum)",
    "nisa.tensor_reduce(np.add, t, axis=1)",
    "nisa.activation(op=nl.exp, data=t, bias=u, scale=0.5)",
    "nl.ds(3, 9)",
    "None",
    "-1",
    "0",
    "1",
    "2**40",
    "1e300",
    "float('nan')",
    "(1, 2)",
    "[t, u]",
    "{}",
    "lambda x: x",
    "nl.mgrid[0:64, 0:8]",
    "t[0:3, :]",
    "t[:, 1]",
    "a.reshape((8, 64))",
    "t.broadcast_to((64, 64))",
    "nl.par_dim(64)",
    "nl.float32",
    "nl.bfloat16",
    "nl.uint8",
    "i",
    "t[nl.arange(64)[:, None], nl.arange(8)[None, :] + i]",
    "nl.where(t, u, 0.0)",
    "nl.softmax(t, axis=-1)",
    "nisa.iota(nl.arange(8)[None, :], dtype=nl.int32)",
    "nl.loop_reduce(t, op=np.add, loop_indices=[i])",
    "nl.load(a[t, nl.arange(8)[None, :]])",
    "a.ap(pattern=[[1, 64], [i, 8]], offset=i)",
    "nl.load_transpose2d(a)",
    "nl.sum(t, axis=[1], mask=nl.arange(64)[:, None] < i)",
];

fn statement() -> impl Strategy<Value = String> {
    let piece = || prop::sample::select(PIECES);
    prop_oneof![
        (prop::sample::select(&["t", "u", "o"][..]), piece())
            .prop_map(|(n, e)| format!("{n} = {e}")),
        (
            prop::sample::select(&["t[...]", "t[0:8, 0:2]", "u[:, i]", "t"][..]),
            piece()
        )
            .prop_map(|(n, e)| format!("{n} += {e}")),
        (piece(), piece()).prop_map(|(a, b)| format!("t[{a}] = {b}")),
        (piece(), piece(), piece()).prop_map(|(a, b, c)| format!(
            "u = nisa.tensor_tensor({a}, {b}, nl.add) if {c} else {b}"
        )),
        (piece(), piece()).prop_map(|(a, b)| format!("t = {a}[{b}]")),
        (piece(), piece())
            .prop_map(|(a, b)| format!("t = nisa.tensor_scalar({a}, np.multiply, {b})")),
        (piece(), piece()).prop_map(|(a, b)| format!("nl.store({a}, {b})")),
        (piece(), piece()).prop_map(|(a, b)| format!("nisa.dma_copy(dst={a}, src={b})")),
        (piece(), piece()).prop_map(|(a, b)| format!("t = ({a}) < ({b})")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]
    #[test]
    fn random_kernels_never_panic(statements in prop::collection::vec(statement(), 1..8), body in 0usize..8) {
        let mut source = String::from("import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\ndef solution(a):\n  o = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  u = nl.load(a)\n  i = 1\n");
        for (position, statement) in statements.iter().enumerate() {
            if position == body {
                source.push_str("  for i in nl.affine_range(3):\n    pass\n");
            }
            let indent = if position > body { "    " } else { "  " };
            if position == body + 1 {
                source.push_str("  for i in nl.sequential_range(2):\n");
            }
            source.push_str(&format!("{indent}{statement}\n"));
        }
        source.push_str("  return o\n");
        let inputs = parse_inputs("a:f32[64,8]", Some(1)).unwrap();
        let options = Options { step_limit: 200_000, byte_limit: 1 << 28, ..Options::default() };
        match evaluate(&source, "solution", &inputs, &options) {
            Ok(evaluation) => {
                let machine = Machine::built_in("trn1").unwrap();
                let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
                prop_assert!(timeline.latency_ns.is_finite());
            }
            Err(failure) => prop_assert_ne!(failure.code, "evaluation-failed", "{}", source),
        }
    }

    #[test]
    fn random_text_never_panics(text in "[ -~\n]{0,300}") {
        let inputs = parse_inputs("a:f32[4,4]", Some(1)).unwrap();
        let options = Options { step_limit: 100_000, ..Options::default() };
        if let Err(failure) = evaluate(&text, "solution", &inputs, &options) {
            prop_assert_ne!(failure.code, "evaluation-failed");
        }
    }
}
