//! Memory that nothing has written: no operation makes a number of it.

use std::collections::BTreeSet;

use autocomp_trainium_sim::{
    Dialect, Evaluation, Failure, Options, POISON, evaluate, parse_inputs,
};

const FIRST: &str = "import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\ndef solution(a):\n  o = nl.ndarray((128, 16), dtype=TYPE, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  k = nl.copy(t, dtype=nl.int32)\n  j = nl.ndarray((128, 16), dtype=nl.float32, buffer=nl.sbuf)\n  n = nl.ndarray((128, 16), dtype=nl.int32, buffer=nl.sbuf)\n  b = nl.ndarray((128, 16), dtype=nl.uint8, buffer=nl.sbuf)\n  c = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)\n";
const SECOND: &str = "import nki.language as nl\nimport nki.isa as nisa\nimport numpy as np\ndef solution(a):\n  o = nl.ndarray((128, 16), dtype=TYPE, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  k = nl.ndarray((128, 16), dtype=nl.int32, buffer=nl.sbuf)\n  nisa.memset(dst=k, value=1)\n  j = nl.ndarray((128, 16), dtype=nl.float32, buffer=nl.sbuf)\n  n = nl.ndarray((128, 16), dtype=nl.int32, buffer=nl.sbuf)\n  b = nl.ndarray((128, 16), dtype=nl.uint8, buffer=nl.sbuf)\n  w = nl.ndarray((128, 16), dtype=nl.uint32, buffer=nl.sbuf)\n  c = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)\n  z = nl.ndarray((128, 16), dtype=nl.float32, buffer=nl.sbuf)\n";

fn run(head: &str, dtype: &str, body: &str) -> Result<Evaluation, Box<Failure>> {
    let head = head.replace("TYPE", dtype);
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    let source = format!("{head}{body}  return o\n");
    let inputs = parse_inputs("a:f32[128,16]", Some(3)).expect("inputs");
    let options = Options {
        generation: if head.contains("neuronxcc") { 2 } else { 3 },
        ..Options::default()
    };
    evaluate(&source, "solution", &inputs, &options)
}

/// Columns of the output of which no element is a number; all others hold numbers only.
fn unknown_columns(evaluation: &Evaluation) -> Vec<usize> {
    let data = &evaluation.outputs[0].data;
    let unknown = |row: usize, column: usize| data[row * 16 + column].abs().to_bits() == POISON;
    let columns = (0..16).filter(|column| (0..128).all(|row| unknown(row, *column)));
    let columns: Vec<usize> = columns.collect();
    let count = columns.len() * 128;
    assert_eq!(evaluation.unwritten, count as u64, "some rows only");
    columns
}

#[test]
fn operations_hand_on_that_nothing_was_written() {
    let all: Vec<usize> = (0..16).collect();
    let some = vec![3, 4];
    let cases: &[(&str, &str, &str, &[usize])] = &[
        // Comparisons, of a number, of itself, of integers, as the operator.
        (FIRST, "nl.float32", "nl.store(o, nl.greater(j, 3.0))", &all),
        (FIRST, "nl.float32", "nl.store(o, nl.equal(j, j))", &all),
        (
            FIRST,
            "nl.float32",
            "nl.store(o, nl.equal(n, 7, dtype=nl.float32))",
            &all,
        ),
        (FIRST, "nl.uint8", "nl.store(o, j < t)", &all),
        (
            FIRST,
            "nl.float32",
            "nl.store(o, nl.logical_and(j, 0.0))",
            &all,
        ),
        (FIRST, "nl.float32", "nl.store(o, nl.logical_not(j))", &all),
        // Selections.
        (FIRST, "nl.float32", "nl.store(o, nl.where(b, t, t))", &all),
        (
            FIRST,
            "nl.float32",
            "nl.store(o, nl.where(t > 2.0, j, t))",
            &[],
        ),
        (
            FIRST,
            "nl.float32",
            "nl.store(o, nl.where(j > 2.0, t, 0.0))",
            &all,
        ),
        // Powers, absolute values, signs, integers of floats.
        (FIRST, "nl.float32", "nl.store(o, nl.power(j, 0.0))", &all),
        (FIRST, "nl.float32", "nl.store(o, nl.sign(j))", &all),
        (FIRST, "nl.float32", "nl.store(o, nl.relu(j))", &all),
        (FIRST, "nl.float32", "nl.store(o, nl.exp(j))", &all),
        (
            FIRST,
            "nl.int32",
            "nl.store(o, nl.negative(j, dtype=nl.int32))",
            &all,
        ),
        (
            FIRST,
            "nl.int32",
            "x = nl.copy(nl.negative(j), dtype=nl.int32)\nnl.store(o, nl.add(x, x))",
            &all,
        ),
        (
            FIRST,
            "nl.uint8",
            "nl.store(o, nl.copy(j, dtype=nl.uint8))",
            &all,
        ),
        // Bits.
        (FIRST, "nl.int32", "nl.store(o, nl.bitwise_and(n, 0))", &all),
        (
            FIRST,
            "nl.uint8",
            "nl.store(o, nl.bitwise_or(b, 255))",
            &all,
        ),
        (
            FIRST,
            "nl.int32",
            "nl.store(o, nl.right_shift(n, 31))",
            &all,
        ),
        (FIRST, "nl.int32", "nl.store(o, nl.invert(n))", &all),
        // Sums, extremes and products over the columns of which one is unknown.
        (
            FIRST,
            "nl.float32",
            "j[:, 1:16] = t[:, 1:16]\nc[...] = nl.max(j, axis=[1])\nnl.store(o, nl.add(nl.zeros((128, 16), dtype=nl.float32), c))",
            &all,
        ),
        (
            FIRST,
            "nl.float32",
            "j[:, 1:16] = t[:, 1:16]\nc[...] = nl.min(j, axis=[1])\nnl.store(o, nl.add(nl.zeros((128, 16), dtype=nl.float32), c))",
            &all,
        ),
        (
            FIRST,
            "nl.float32",
            "j[:, 1:16] = t[:, 1:16]\nc[...] = nisa.tensor_reduce(np.bitwise_and, nl.copy(j, dtype=nl.int32), axis=[1])\nnl.store(o, nl.add(nl.zeros((128, 16), dtype=nl.float32), c))",
            &all,
        ),
        (
            FIRST,
            "nl.float32",
            "j[0:128, 1:16] = t[:, 1:16]\nj[:, 0:1] = nl.multiply(c, 0.0)\nnl.store(o, nl.copy(nl.matmul(t, j[0:16, :])))",
            &[0],
        ),
        (
            FIRST,
            "nl.float32",
            "s = nisa.bn_stats(j)\nv = nisa.bn_aggr(s)\nnl.store(o, nl.multiply(nl.zeros((128, 16), dtype=nl.float32), v[:, 0:1]))",
            &all,
        ),
        (
            FIRST,
            "nl.float32",
            "m = nisa.max8(src=j)\nnl.store(o[:, 0:8], m)\nnl.store(o[:, 8:16], t[:, 8:16])",
            &all[..8],
        ),
        (
            FIRST,
            "nl.float32",
            "j[:, 0:15] = t[:, 0:15]\nm = nisa.max8(src=j)\nnl.store(o[:, 0:8], m)\nnl.store(o[:, 8:16], t[:, 8:16])",
            &all[..8],
        ),
        // Only what depends on it is unknown.
        (
            FIRST,
            "nl.float32",
            "j[:, 0:3] = t[:, 0:3]\nj[:, 5:16] = t[:, 5:16]\nnl.store(o, nl.greater(j, 0.0))",
            &some,
        ),
        (
            FIRST,
            "nl.float32",
            "j[:, 0:3] = t[:, 0:3]\nj[:, 5:16] = t[:, 5:16]\nnl.store(o, nisa.tensor_tensor_scan(t, j, initial=0.0, op0=np.multiply, op1=np.add))",
            &all[3..],
        ),
        // In the second dialect.
        (
            SECOND,
            "nl.float32",
            "nisa.tensor_scalar(dst=z, data=j, op0=nl.greater, operand0=3.0)\nnisa.dma_copy(dst=o, src=z)",
            &all,
        ),
        (
            SECOND,
            "nl.float32",
            "nisa.tensor_tensor(dst=z, data1=n, data2=n, op=nl.equal)\nnisa.dma_copy(dst=o, src=z)",
            &all,
        ),
        (
            SECOND,
            "nl.float32",
            "nisa.tensor_copy(dst=z, src=t)\nnisa.tensor_copy_predicated(dst=z, src=t, predicate=w)\nnisa.dma_copy(dst=o, src=z)",
            &all,
        ),
        (
            SECOND,
            "nl.float32",
            "nisa.select_reduce(dst=z, predicate=b, on_true=t, on_false=0.0)\nnisa.dma_copy(dst=o, src=z)",
            &all,
        ),
        (
            SECOND,
            "nl.float32",
            "nisa.range_select(dst=z, on_true_tile=t, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=c, bound1=c, on_false_value=0.0)\nnisa.dma_copy(dst=o, src=z)",
            &all,
        ),
        (
            SECOND,
            "nl.int32",
            "nisa.tensor_scalar(dst=k, data=n, op0=nl.bitwise_and, operand0=0)\nnisa.dma_copy(dst=o, src=k)",
            &all,
        ),
        // Bytes of a word, all and some.
        (
            SECOND,
            "nl.float32",
            "v = j.view(nl.uint8)\nnisa.memset(dst=v[:, 0:64], value=1)\nnisa.dma_copy(dst=o, src=j)",
            &[],
        ),
        (
            SECOND,
            "nl.float32",
            "v = j.view(nl.uint8)\nnisa.memset(dst=v[:, 0:63], value=1)\nnisa.dma_copy(dst=o, src=j)",
            &[15],
        ),
        (
            SECOND,
            "nl.float32",
            "v = j.view(nl.bfloat16)\nnisa.memset(dst=v[:, 1:32], value=1.0)\nnisa.dma_copy(dst=o, src=j)",
            &[0],
        ),
        (
            SECOND,
            "nl.uint8",
            "v = b.view(nl.float32)\nnisa.tensor_copy(dst=v, src=j[:, 0:4])\nnisa.dma_copy(dst=o, src=b)",
            &all,
        ),
    ];
    for (head, dtype, body, expected) in cases {
        let evaluation =
            run(head, dtype, body).unwrap_or_else(|failure| panic!("{failure}\n{body}"));
        assert_eq!(unknown_columns(&evaluation), **expected, "{body}");
    }
}

#[test]
fn nothing_is_decided_by_what_was_never_written() {
    let cases = [
        (SECOND, "r = nisa.register_alloc(c[0:1, 0:1])"),
        (
            SECOND,
            "r = nisa.register_alloc()\nnisa.register_load(dst=r, src=n[0:1, 0:1])",
        ),
        (SECOND, "r = nisa.scalar_load(src=b[0:1, 0:1])"),
        (SECOND, "nisa.nc_n_gather(dst=z, data=t, indices=w)"),
        (SECOND, "nisa.set_rng_seed(src_seeds=w[0:1, 0:1])"),
        (
            SECOND,
            "nisa.dma_copy(dst=z, src=a.ap(pattern=[[16, 128], [1, 16]], offset=0, vector_offset=w[:, 0:1], indirect_dim=0))",
        ),
        (
            SECOND,
            "nisa.dma_copy(dst=z, src=a.ap(pattern=[[16, 128], [1, 16]], offset=0, vector_offset=w[:, 0:1], indirect_dim=0), oob_mode=nisa.oob_mode.skip)",
        ),
        (
            SECOND,
            "nisa.dma_copy(dst=z[0:1, :], src=a.ap(pattern=[[16, 1], [1, 16]], offset=0, scalar_offset=n[0:1, 0:1], indirect_dim=0))",
        ),
        (FIRST, "nl.random_seed(n[0:1, 0:1])"),
        (FIRST, "x = nisa.sequence_bounds(segment_ids=j[0:1, :])"),
        (
            SECOND,
            "x = nl.ndarray((128, 17), dtype=nl.int32, buffer=nl.sbuf)\nnisa.nonzero_with_count(dst=x, src=j)",
        ),
        (FIRST, "x = nl.load(a[n[:, 0:1], nl.arange(16)[None, :]])"),
    ];
    for (head, body) in cases {
        let failure = run(head, "nl.float32", body).expect_err(body);
        assert_eq!(failure.code, "unwritten-memory", "{failure}\n{body}");
        assert!(failure.message.contains("line "), "{failure}");
    }
}

/// Interfaces of which no result depends on values of tiles, or that take none.
fn takes_no_tile(path: &str) -> bool {
    let none = [
        "nl.rand",
        "nl.program_id",
        "nl.num_programs",
        "nl.zeros_like",
    ];
    none.contains(&path)
}

#[test]
fn functions_of_tiles_know_nothing_of_nothing() {
    let mut tried = BTreeSet::new();
    for (dialect, head) in [(Dialect::V1, FIRST), (Dialect::V2, SECOND)] {
        for (path, parameters) in autocomp_trainium_sim::interfaces(dialect) {
            let parameters: Vec<&str> = parameters.split_ascii_whitespace().collect();
            let calls = match parameters[..] {
                ["x", "y", ..] => vec!["(j, t)", "(t, j)", "(n, k)", "(k, n)"],
                ["x", "axis", ..] => vec!["(j, axis=1)"],
                ["x", ..] => vec!["(j)", "(n)"],
                _ => continue,
            };
            if takes_no_tile(&path) || !path.starts_with("nl.") {
                continue;
            }
            for arguments in calls {
                let store = "y = nl.zeros((128, 16), dtype=nl.float32, buffer=nl.sbuf)\nnl.store(o, nl.add(y, x))";
                let body = format!("x = {path}{arguments}\n{store}");
                // What does not take such tiles or makes another shape of them is tried elsewhere.
                let Ok(evaluation) = run(head, "nl.float32", &body) else {
                    continue;
                };
                let unknown = unknown_columns(&evaluation);
                assert_eq!(unknown.len(), 16, "{dialect:?} {body}");
                tried.insert((format!("{dialect:?}"), path.clone()));
            }
        }
    }
    assert!(100 < tried.len(), "{} were tried", tried.len());
}
