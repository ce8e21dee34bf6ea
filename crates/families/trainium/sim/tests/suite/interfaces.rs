//! Every interface of both dialects, called once as documented.

use std::collections::BTreeSet;

use autocomp_trainium_sim::{Dialect, Options, evaluate, interfaces, parse_inputs};

/// Tiles that calls use: `t` and `u` of float32, `h` of bfloat16, `k` of int32, `m` of uint8, `i` of
/// uint16, `q` square, `c` a column, `p` accumulators, `v` for eight results.
const FIRST: &str = "import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\nimport math\ndef solution(a, b):\n  o = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = nl.load(a)\n  u = nl.load(a)\n  q = nl.load(b)\n  h = nl.copy(t, dtype=nl.bfloat16)\n  k = nl.copy(t, dtype=nl.int32)\n  m = nl.copy(t, dtype=nl.uint8)\n  i = nl.copy(t, dtype=nl.uint16)\n  c = nl.load(a[:, 0:1])\n  r = nl.ndarray((64, 1), dtype=nl.float32, buffer=nl.sbuf)\n  p = nl.zeros((64, 64), dtype=nl.float32, buffer=nl.psum)\n  e = nl.arange(64)[:, None]\n  f = nl.arange(8)[None, :]\n";
const SECOND: &str = "import nki.language as nl\nimport nki.isa as nisa\nimport numpy as np\nimport math\ndef tile(shape, dtype, value, buffer=nl.sbuf):\n  x = nl.ndarray(shape, dtype=dtype, buffer=buffer)\n  nisa.memset(dst=x, value=value)\n  return x\ndef solution(a, b):\n  o = nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  t = tile((64, 8), nl.float32, 1.0)\n  u = tile((64, 8), nl.float32, 2.0)\n  q = tile((64, 64), nl.float32, 1.0)\n  h = tile((64, 8), nl.bfloat16, 1.0)\n  k = tile((64, 8), nl.int32, 3)\n  m = tile((64, 8), nl.uint8, 1)\n  i = tile((64, 8), nl.uint16, 1)\n  c = tile((64, 1), nl.float32, 1.0)\n  r = tile((64, 1), nl.float32, 1.0)\n  s = tile((64, 6), nl.float32, 1.0)\n  z = tile((64, 2), nl.float32, 1.0)\n  w = tile((64, 8), nl.uint32, 1)\n  one = tile((1, 1), nl.int32, 2)\n  p = nl.ndarray((64, 64), dtype=nl.float32, buffer=nl.psum)\n  reg = nisa.register_alloc()\n";

/// Functions of one tile that need integers, and of two.
const WHOLE: &[&str] = &[
    "invert",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "left_shift",
    "right_shift",
    "logical_shift_left",
    "logical_shift_right",
    "arithmetic_shift_right",
];

/// Calls of both dialects, by path; the first column is the first dialect's.
const CALLS: &[(&str, &str, &str)] = &[
    (
        "nl.ndarray",
        "nl.ndarray((64, 8), dtype=nl.float32)",
        "nl.ndarray((64, 8), dtype=nl.float32, buffer=nl.sbuf)",
    ),
    (
        "nl.zeros",
        "nl.zeros((64, 8), dtype=nl.float32)",
        "nl.zeros((64, 8), dtype=nl.float32, buffer=nl.sbuf)",
    ),
    (
        "nl.ones",
        "nl.ones((64, 8), dtype=nl.float32)",
        "nl.ones((64, 8), dtype=nl.float32, buffer=nl.sbuf)",
    ),
    (
        "nl.full",
        "nl.full((64, 8), 3.0, dtype=nl.float32)",
        "nl.full((64, 8), 3.0, dtype=nl.float32, buffer=nl.sbuf)",
    ),
    ("nl.empty", "nl.empty((64, 8), dtype=nl.float32)", ""),
    ("nl.zeros_like", "nl.zeros_like(t)", "nl.zeros_like(t)"),
    ("nl.empty_like", "nl.empty_like(t)", "nl.empty_like(t)"),
    ("nl.arange", "nl.arange(4)", ""),
    ("nl.ds", "t[:, nl.ds(2, 4)]", "t[:, nl.ds(2, 4)]"),
    ("nl.par_dim", "nl.par_dim(64)", "nl.par_dim(64)"),
    ("nl.load", "nl.load(a)", "nl.load(a)"),
    ("nl.store", "nl.store(o, t)", "nl.store(o, t)"),
    (
        "nl.load_transpose2d",
        "nl.load_transpose2d(a)",
        "nl.load_transpose2d(a)",
    ),
    (
        "nl.shared_identity_matrix",
        "",
        "nl.shared_identity_matrix(64, dtype=nl.float32)",
    ),
    ("nl.is_hbm", "", "nl.is_hbm(o.buffer)"),
    ("nl.is_on_chip", "", "nl.is_on_chip(t.buffer)"),
    ("nl.is_psum", "", "nl.is_psum(p.buffer)"),
    ("nl.is_sbuf", "", "nl.is_sbuf(t.buffer)"),
    (
        "nl.gather_flattened",
        "nl.gather_flattened(t, nl.copy(m, dtype=nl.uint32))",
        "nl.gather_flattened(t, w)",
    ),
    (
        "nisa.dma_compute",
        "",
        "nisa.dma_compute(dst=o, srcs=[t, u], reduce_op=nl.add)",
    ),
    (
        "nisa.tensor_scalar_cumulative",
        "",
        "nisa.tensor_scalar_cumulative(dst=t, src=u, op0=nl.multiply, op1=nl.add, imm0=2.0)",
    ),
    ("nisa.exponential", "", "nisa.exponential"),
    (
        "nisa.nonzero_with_count",
        "",
        "nisa.nonzero_with_count(dst=tile((64, 9), nl.int32, 0), src=t)",
    ),
    (
        "nisa.sequence_bounds",
        "nisa.sequence_bounds(segment_ids=nl.load(a[0:1, :]))",
        "nisa.sequence_bounds(dst=tile((1, 2, 8), nl.float32, 0), segment_ids=t[0:1, :])",
    ),
    (
        "nl.shared_constant",
        "nl.load(nl.shared_constant(np.identity(8, dtype=np.float32)))",
        "nl.shared_constant(np.identity(8, dtype=np.float32))",
    ),
    ("nl.matmul", "nl.matmul(q, t)", "nl.matmul(q, t)"),
    ("nl.transpose", "nl.transpose(q)", "nl.transpose(q)"),
    (
        "nl.copy",
        "nl.copy(t)",
        "nisa.activation(dst=t, op=nl.copy, data=t)",
    ),
    ("nl.var", "nl.var(t, axis=1)", "nl.var(t, axis=1)"),
    (
        "nl.where",
        "nl.where(t > 0.0, t, u)",
        "nl.where(nl.greater(t, u), t, u)",
    ),
    (
        "nl.softmax",
        "nl.softmax(t, axis=-1)",
        "nl.softmax(t, axis=-1)",
    ),
    (
        "nl.rms_norm",
        "nl.rms_norm(t, nl.load(b[0:1, 0:8]), axis=1, n=8)",
        "nl.rms_norm(t, nl.load(b[0:1, 0:8]), axis=1, n=8)",
    ),
    (
        "nl.loop_reduce",
        "[nl.loop_reduce(t, op=np.add, loop_indices=[x]) for x in nl.affine_range(2)]",
        "",
    ),
    ("nl.nc", "nl.nc(2)", ""),
    ("nl.spmd_dim", "nl.spmd_dim(2, nl.nc(2))", ""),
    ("nisa.core_barrier", "", "nisa.core_barrier(a, (0,))"),
    ("nl.program_id", "nl.program_id(0)", "nl.program_id(0)"),
    (
        "nl.num_programs",
        "nl.num_programs(0)",
        "nl.num_programs(0)",
    ),
    ("nl.program_ndim", "nl.program_ndim()", "nl.program_ndim()"),
    (
        "nl.sizeinbytes",
        "nl.sizeinbytes(nl.bfloat16)",
        "nl.sizeinbytes(nl.bfloat16)",
    ),
    (
        "nl.expand_dims",
        "nl.expand_dims(t, 1)",
        "nl.expand_dims(t, 1)",
    ),
    (
        "nl.broadcast_to",
        "nl.broadcast_to(c, shape=(64, 8))",
        "nl.broadcast_to(c, shape=(64, 8))",
    ),
    ("nl.static_cast", "nl.static_cast(t, nl.bfloat16)", ""),
    ("nl.dropout", "nl.dropout(t, 0.5)", ""),
    ("nl.rand", "nl.rand((64, 8))", "nl.rand((64, 8))"),
    ("nl.random_seed", "nl.random_seed(7)", "nl.random_seed(7)"),
    (
        "nisa.nc_matmul",
        "nisa.nc_matmul(q, t)",
        "nisa.nc_matmul(dst=p, stationary=q, moving=q)",
    ),
    (
        "nisa.nc_transpose",
        "nisa.nc_transpose(q)",
        "nisa.nc_transpose(dst=p, data=q)",
    ),
    (
        "nisa.activation",
        "nisa.activation(op=nl.exp, data=t, bias=c, scale=0.5)",
        "nisa.activation(dst=t, op=nl.exp, data=t, bias=c, scale=0.5)",
    ),
    (
        "nisa.activation_reduce",
        "nisa.activation_reduce(op=nl.exp, data=t, reduce_op=nl.add, reduce_res=r)",
        "nisa.activation_reduce(dst=t, op=nl.exp, data=t, reduce_op=nl.add, reduce_res=r)",
    ),
    (
        "nisa.tensor_reduce",
        "nisa.tensor_reduce(np.add, t, axis=1)",
        "nisa.tensor_reduce(dst=c, op=nl.add, data=t, axis=1)",
    ),
    (
        "nisa.tensor_partition_reduce",
        "nisa.tensor_partition_reduce(np.add, t)",
        "nisa.tensor_partition_reduce(dst=t[0:1, :], op=nl.add, data=u)",
    ),
    (
        "nisa.tensor_tensor",
        "nisa.tensor_tensor(t, u, np.add)",
        "nisa.tensor_tensor(dst=t, data1=t, data2=u, op=nl.add)",
    ),
    (
        "nisa.tensor_tensor_scan",
        "nisa.tensor_tensor_scan(t, u, 0.0, np.multiply, np.add)",
        "nisa.tensor_tensor_scan(dst=t, data0=t, data1=u, initial=0.0, op0=nl.multiply, op1=nl.add)",
    ),
    (
        "nisa.tensor_scalar",
        "nisa.tensor_scalar(t, np.multiply, 2.0, op1=np.add, operand1=c)",
        "nisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=c)",
    ),
    (
        "nisa.scalar_tensor_tensor",
        "nisa.scalar_tensor_tensor(data=t, op0=np.multiply, operand0=2.0, op1=np.add, operand1=u)",
        "nisa.scalar_tensor_tensor(dst=t, data=t, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=u)",
    ),
    (
        "nisa.tensor_scalar_reduce",
        "nisa.tensor_scalar_reduce(data=t, op0=np.multiply, operand0=2.0, reduce_op=np.add, reduce_res=r)",
        "nisa.tensor_scalar_reduce(dst=t, data=t, op0=nl.multiply, operand0=2.0, reduce_op=nl.add, reduce_res=r)",
    ),
    (
        "nisa.tensor_copy",
        "nisa.tensor_copy(t, dtype=nl.bfloat16)",
        "nisa.tensor_copy(dst=h, src=t)",
    ),
    ("nisa.tensor_copy_dynamic_src", "", ""),
    (
        "nisa.tensor_copy_predicated",
        "nisa.tensor_copy_predicated(src=t, dst=u, predicate=m)",
        "nisa.tensor_copy_predicated(dst=u, src=t, predicate=m)",
    ),
    (
        "nisa.reciprocal",
        "nisa.reciprocal(t)",
        "nisa.reciprocal(dst=t, data=t)",
    ),
    (
        "nisa.iota",
        "nisa.iota(f, dtype=nl.int32)",
        "nisa.iota(dst=k, pattern=[[1, 8]], offset=0, channel_multiplier=0)",
    ),
    (
        "nisa.affine_select",
        "nisa.affine_select(pred=(e < f + 60), on_true_tile=t, on_false_value=0.0)",
        "nisa.affine_select(dst=t, pattern=[[1, 8]], channel_multiplier=1, on_true_tile=t, on_false_value=0.0, cmp_op=nl.greater_equal, offset=0)",
    ),
    (
        "nisa.range_select",
        "nisa.range_select(on_true_tile=t, comp_op0=np.greater_equal, comp_op1=np.less, bound0=c, bound1=c)",
        "nisa.range_select(dst=t, on_true_tile=u, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=c, bound1=c)",
    ),
    (
        "nisa.memset",
        "nisa.memset((64, 8), 1.0, nl.float32)",
        "nisa.memset(dst=t, value=1.0)",
    ),
    (
        "nisa.bn_stats",
        "nisa.bn_stats(t)",
        "nisa.bn_stats(dst=s, data=t)",
    ),
    (
        "nisa.bn_aggr",
        "nisa.bn_aggr(nisa.bn_stats(t))",
        "nisa.bn_aggr(dst=z, data=s)",
    ),
    (
        "nisa.dma_copy",
        "nisa.dma_copy(dst=t, src=a)",
        "nisa.dma_copy(dst=t, src=a)",
    ),
    (
        "nisa.dma_transpose",
        "nisa.dma_transpose(a)",
        "nisa.dma_transpose(dst=q, src=b)",
    ),
    (
        "nisa.nc_n_gather",
        "",
        "nisa.nc_n_gather(dst=t, data=u, indices=w)",
    ),
    (
        "nisa.nc_stream_shuffle",
        "nisa.nc_stream_shuffle(src=t[0:32, :], dst=u[0:32, :], shuffle_mask=list(range(32)))",
        "nisa.nc_stream_shuffle(dst=u[0:32, :], src=t[0:32, :], shuffle_mask=list(range(32)))",
    ),
    ("nisa.max8", "nisa.max8(src=t)", "nisa.max8(dst=u, src=t)"),
    (
        "nisa.nc_find_index8",
        "nisa.nc_find_index8(data=t, vals=nisa.max8(src=t))",
        "nisa.nc_find_index8(dst=w, data=t, vals=u)",
    ),
    (
        "nisa.local_gather",
        "nisa.local_gather(t, i[:, 0:1], 1)",
        "nisa.local_gather(dst=q[:, 0:16], src_buffer=t, index=i[:, 0:1], num_elem_per_idx=1)",
    ),
    (
        "nisa.nc_match_replace8",
        "nisa.nc_match_replace8(data=t, vals=nisa.max8(src=t), imm=0.0)",
        "nisa.nc_match_replace8(dst=t, data=t, vals=u, imm=0.0)",
    ),
    (
        "nisa.select_reduce",
        "nisa.select_reduce(dst=t, predicate=m, on_true=u, on_false=0.0)",
        "nisa.select_reduce(dst=t, predicate=m, on_true=u, on_false=0.0)",
    ),
    (
        "nisa.dropout",
        "nisa.dropout(t, 0.5)",
        "nisa.dropout(dst=t, data=t, prob=0.5)",
    ),
    (
        "nisa.get_nc_version",
        "nisa.get_nc_version()",
        "nisa.get_nc_version()",
    ),
    ("nisa.set_rng_seed", "", "nisa.set_rng_seed(one)"),
    ("nisa.rng", "", "nisa.rng(dst=w)"),
    ("nisa.rand2", "", "nisa.rand2(dst=t, min=0.0, max=2.0)"),
    (
        "nisa.rand_get_state",
        "",
        "nisa.rand_get_state(dst=w[:, 0:6])",
    ),
    (
        "nisa.rand_set_state",
        "",
        "nisa.rand_set_state(src_seeds=w[:, 0:6])",
    ),
    ("nisa.register_alloc", "", "nisa.register_alloc(3)"),
    ("nisa.register_move", "", "nisa.register_move(reg, 3)"),
    ("nisa.register_load", "", "nisa.register_load(reg, one)"),
    ("nisa.register_store", "", "nisa.register_store(one, reg)"),
    ("nisa.scalar_load", "", "nisa.scalar_load(one)"),
    (
        "nisa.scalar_store",
        "",
        "nisa.scalar_store(one, nisa.scalar_load(one) + 1)",
    ),
];

/// Functions of NumPy that serve as operators of instructions only, or take more than numbers.
fn host_call(path: &str) -> String {
    let (_, name) = path.split_once('.').expect("path");
    match name {
        "array" => "np.array([1.0, 2.0])".into(),
        "arange" | "zeros" | "ones" | "eye" | "identity" => format!("{path}(4)"),
        "full" => "np.full((2, 2), 1.0)".into(),
        "tril" | "triu" => format!("{path}(np.ones((4, 4)))"),
        "dtype" => "np.dtype(np.float32)".into(),
        "sum" | "prod" if path.starts_with("math") => format!("{path}([2, 3])"),
        "sum" | "prod" | "max" | "min" => format!("{path}([2.0, 3.0])"),
        "ceil" | "floor" | "sqrt" | "exp" | "log" | "log2" | "sin" | "cos" | "tanh" | "fabs"
        | "trunc" => {
            format!("{path}(2.0)")
        }
        "abs" | "square" => format!("{path}(2.0)"),
        "gcd" => "math.gcd(6, 4)".into(),
        "isclose" | "pow" | "power" | "add" | "subtract" | "multiply" | "divide" | "maximum"
        | "minimum" => {
            format!("{path}(2.0, 3.0)")
        }
        // As the operator of an instruction.
        _ => format!("[{path}]"),
    }
}

fn call(path: &str, parameters: &str, dialect: Dialect) -> Option<String> {
    let first = dialect == Dialect::V1;
    if let Some((_, one, two)) = CALLS.iter().find(|(known, ..)| *known == path) {
        let text = if first { one } else { two };
        return (!text.is_empty()).then(|| (*text).to_owned());
    }
    let (module, name) = path.split_once('.')?;
    if module != "nl" {
        return Some(host_call(path));
    }
    let tile = if WHOLE.contains(&name) { "k" } else { "t" };
    let parameters: Vec<&str> = parameters.split_ascii_whitespace().collect();
    Some(match (parameters.get(1), first) {
        (Some(&"axis"), true) => format!("{path}(t, axis=1)"),
        (Some(&"axis"), false) => format!("{path}(t, axis=1)"),
        (Some(&"y"), true) => format!("{path}({tile}, {tile})"),
        (_, true) => format!("{path}({tile})"),
        // Operators of instructions.
        (Some(&"y"), false) => {
            format!("nisa.tensor_tensor(dst={tile}, data1={tile}, data2={tile}, op={path})")
        }
        // No instruction of this dialect takes them yet.
        _ if ["invert", "logical_not"].contains(&name) => format!("{path}({tile})"),
        (_, false) => format!("nisa.activation(dst=t, op={path}, data=t)"),
    })
}

#[test]
fn every_interface_of_both_dialects_runs() {
    let mut failed = Vec::new();
    for (dialect, head) in [(Dialect::V1, FIRST), (Dialect::V2, SECOND)] {
        let paths: BTreeSet<(String, &str)> = interfaces(dialect).collect();
        assert!(150 < paths.len(), "{}", paths.len());
        for (path, parameters) in paths {
            let Some(call) = call(&path, parameters, dialect) else {
                failed.push(format!("{dialect:?} {path}: no call"));
                continue;
            };
            let end = match dialect {
                Dialect::V1 => "  nl.store(o, t)\n",
                Dialect::V2 => "  nisa.dma_copy(dst=o, src=t)\n",
            };
            let source = format!("{head}  x = {call}\n{end}  return o\n");
            let inputs = parse_inputs("a:f32[64,8];b:f32[64,64]", Some(3)).unwrap();
            let options = Options {
                dialect: Some(dialect),
                generation: if dialect == Dialect::V1 { 2 } else { 3 },
                ..Options::default()
            };
            for functional in [true, false] {
                let options = Options {
                    functional,
                    ..options.clone()
                };
                if let Err(failure) = evaluate(&source, "solution", &inputs, &options) {
                    failed.push(format!("{dialect:?} {call}: {failure}"));
                    break;
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} fail:\n{}",
        failed.len(),
        failed.join("\n")
    );
}
