//! Kernels of both dialects, run on data and compared with plain loops; their traces, timed.

use autocomp_trainium_sim::feedback::report;
use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{
    Array, Dialect, Dtype, Evaluation, Input, Options, evaluate, parse_inputs,
};

fn run(source: &str, inputs: &[(String, Input)]) -> Evaluation {
    evaluate(source, "solution", inputs, &Options::default())
        .unwrap_or_else(|failure| panic!("{failure}"))
}

fn array(inputs: &[(String, Input)], at: usize) -> &Array {
    match &inputs[at].1 {
        Input::Array(array) => array,
        other => panic!("{other:?}"),
    }
}

fn close(found: &[f32], expected: &[f32], tolerance: f32) {
    assert_eq!(found.len(), expected.len());
    for (at, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!(
            (f - e).abs() <= tolerance * e.abs().max(1.0),
            "element {at}: {f} is not {e}"
        );
    }
}

/// `xᵀ·y` for `[k, m]` and `[k, n]`, in double precision.
fn product(x: &Array, y: &Array) -> Vec<f32> {
    let (k, m, n) = (x.shape[0], x.shape[1], y.shape[1]);
    let mut out = vec![0.0f64; m * n];
    for p in 0..k {
        for i in 0..m {
            for j in 0..n {
                out[i * n + j] += f64::from(x.data[p * m + i]) * f64::from(y.data[p * n + j]);
            }
        }
    }
    out.into_iter().map(|v| v as f32).collect()
}

const GEMM_FIRST: &str = r"
from neuronxcc import nki
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa

@nki.jit
def solution(x, y):
    k, m = x.shape
    _, n = y.shape
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        acc = nl.zeros((128, n), dtype=nl.float32, buffer=nl.psum)
        for p in nl.affine_range(k // 128):
            a = nl.load(x[p * 128:(p + 1) * 128, i * 128:(i + 1) * 128])
            b = nl.load(y[nl.ds(p * 128, 128), :])
            acc += nisa.nc_matmul(a, b)
        nl.store(out[i * 128:(i + 1) * 128, :], nl.copy(acc, dtype=out.dtype))
    return out
";

const GEMM_SECOND: &str = r"
import nki
import nki.language as nl
import nki.isa as nisa

@nki.jit
def solution(x, y):
    k, m = x.shape
    _, n = y.shape
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        acc = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.psum)
        for p in range(k // 128):
            a = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
            b = nl.ndarray((128, n), dtype=y.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=a, src=x[p * 128:(p + 1) * 128, i * 128:(i + 1) * 128])
            nisa.dma_copy(dst=b, src=y[p * 128:(p + 1) * 128, 0:n])
            nisa.nc_matmul(dst=acc, stationary=a, moving=b)
        o = nl.ndarray((128, n), dtype=out.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=o, src=acc)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, 0:n], src=o)
    return out
";

#[test]
fn products_agree_in_both_dialects() {
    let inputs = parse_inputs("x:f32[256,256];y:f32[256,320]", Some(3)).unwrap();
    let expected = product(array(&inputs, 0), array(&inputs, 1));
    let first = run(GEMM_FIRST, &inputs);
    let second = run(GEMM_SECOND, &inputs);
    assert_eq!((first.dialect, second.dialect), (Dialect::V1, Dialect::V2));
    close(&first.outputs[0].data, &expected, 1e-4);
    assert_eq!(first.outputs[0].data, second.outputs[0].data);
    // Two loads and a product for each of four steps; a copy and a store for each of two tiles.
    assert_eq!((first.trace.len(), second.trace.len()), (16, 16));
}

#[test]
fn narrow_types_round_their_results() {
    let inputs = parse_inputs("x:bf16[128,128];y:bf16[128,64]", Some(5)).unwrap();
    let evaluation = run(GEMM_FIRST, &inputs);
    let expected = product(array(&inputs, 0), array(&inputs, 1));
    close(&evaluation.outputs[0].data, &expected, 8e-3);
    assert!(
        evaluation.outputs[0]
            .data
            .iter()
            .all(|v| v.to_bits() & 0xFFFF == 0)
    );
}

#[test]
fn a_masked_tail_is_neither_read_nor_written() {
    let source = r"
import neuronxcc.nki.language as nl
def solution(a):
    rows, cols = a.shape
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    p = nl.arange(128)[:, None]
    f = nl.arange(cols)[None, :]
    for i in nl.affine_range((rows + 127) // 128):
        inside = i * 128 + p < rows
        t = nl.load(a[i * 128 + p, f], mask=inside)
        u = nl.multiply(t, 2.0, mask=inside)
        nl.store(out[i * 128 + p, f], u + 1.0, mask=inside)
    return out
";
    let inputs = parse_inputs("a:f32[300,40]", Some(9)).unwrap();
    let evaluation = run(source, &inputs);
    let expected: Vec<f32> = array(&inputs, 0)
        .data
        .iter()
        .map(|v| v * 2.0 + 1.0)
        .collect();
    assert_eq!(evaluation.outputs[0].data, expected);
    assert_eq!(evaluation.unwritten, 0);
    // Without the mask the last tile leaves the tensor.
    let open = source.replace(", mask=inside)\n        u", ")\n        u");
    let failure = evaluate(&open, "solution", &inputs, &Options::default()).unwrap_err();
    assert_eq!(
        (failure.code.as_str(), failure.line),
        ("tensor-access-out-of-bound", 10)
    );
}

#[test]
fn softmax_scan_transpose_and_selection() {
    let source = r"
import neuronxcc.nki.language as nl
import neuronxcc.nki.isa as nisa
import numpy as np
def solution(a):
    n = a.shape[1]
    soft = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    sums = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    turned = nl.ndarray((n, 128), dtype=a.dtype, buffer=nl.shared_hbm)
    lower = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    t = nl.load(a)
    top = nisa.tensor_reduce(np.max, t, axis=(1,), negate=True)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    e = nisa.activation_reduce(np.exp, t, bias=top, scale=1.0, reduce_op=np.add, reduce_res=total)
    nl.store(soft, e * (1.0 / total))
    ones = nl.ones((128, n), dtype=a.dtype)
    nl.store(sums, nisa.tensor_tensor_scan(ones, t, initial=0, op0=np.multiply, op1=np.add))
    nl.store(turned, nl.copy(nisa.nc_transpose(t)))
    p = nl.arange(128)[:, None]
    f = nl.arange(n)[None, :]
    nl.store(lower, nisa.affine_select(pred=(p >= f), on_true_tile=t, on_false_value=-7.0))
    return soft, sums, turned, lower
";
    let inputs = parse_inputs("a:f32[128,96]", Some(11)).unwrap();
    let a = &array(&inputs, 0).data;
    let evaluation = run(source, &inputs);
    let n = 96;
    let (mut soft, mut sums, mut turned, mut lower) = (vec![], vec![], vec![0.0; n * 128], vec![]);
    for (i, row) in a.chunks(n).enumerate() {
        let top = row.iter().copied().fold(f32::MIN, f32::max);
        let total: f64 = row.iter().map(|v| f64::from(v - top).exp()).sum();
        let mut sum = 0.0f64;
        for (j, v) in row.iter().enumerate() {
            soft.push((f64::from(v - top).exp() / total) as f32);
            sum += f64::from(*v);
            sums.push(sum as f32);
            turned[j * 128 + i] = *v;
            lower.push(if i >= j { *v } else { -7.0 });
        }
    }
    close(&evaluation.outputs[0].data, &soft, 1e-5);
    close(&evaluation.outputs[1].data, &sums, 1e-5);
    assert_eq!(evaluation.outputs[2].data, turned);
    assert_eq!(evaluation.outputs[3].data, lower);
}

#[test]
fn overlapping_windows_and_patterns() {
    let pooled = r"
import neuronxcc.nki.language as nl
def solution(a):
    out = nl.ndarray((128, 30), dtype=a.dtype, buffer=nl.shared_hbm)
    t = nl.load(a)
    p, x, k = nl.mgrid[0:128, 0:30, 0:3]
    nl.store(out, nl.max(t[p, x + k], axis=[2]))
    return out
";
    let inputs = parse_inputs("a:f32[128,32]", Some(13)).unwrap();
    let expected: Vec<f32> = array(&inputs, 0)
        .data
        .chunks(32)
        .flat_map(|r| {
            r.windows(3)
                .map(|w| w.iter().copied().fold(f32::MIN, f32::max))
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(run(pooled, &inputs).outputs[0].data, expected);
    let diagonal = r"
import nki.language as nl
import nki.isa as nisa
def solution(a):
    out = nl.ndarray((32, 1), dtype=a.dtype, buffer=nl.shared_hbm)
    t = nl.ndarray((32, 1), dtype=a.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=t, src=a.ap(pattern=[[33, 32], [1, 1]], offset=0))
    nisa.dma_copy(dst=out, src=t)
    return out
";
    let expected: Vec<f32> = (0..32).map(|i| array(&inputs, 0).data[i * 33]).collect();
    assert_eq!(run(diagonal, &inputs).outputs[0].data, expected);
}

#[test]
fn python_of_kernels() {
    let source = r#"
import math
import numpy as np
import neuronxcc.nki.language as nl
SCALE = 3
def helper(*parts, base=1, **rest):
    total = base
    for part in parts:
        total += part
    return total + sum(rest.values())
def solution(a, factor=2, flag=None):
    def inner(x):
        nonlocal count
        count += 1
        return x * factor
    count = 0
    sizes = [inner(i) for i in range(4) if i % 2 == 0]
    first, *middle, last = (1, 2, 3, 4)
    names = {f"n{i:02d}": i for i in range(3)}
    assert sizes == [0, 4] and count == 2 and flag is None
    assert helper(1, 2, base=3, extra=4) == 10 and middle == [2, 3] and last == 4
    assert names == {"n00": 0, "n01": 1, "n02": 2} and "n01" in names
    assert math.ceil(7 / 2) == 4 and -7 // 2 == -4 and -7 % 3 == 2 and 2 ** 10 == 1024
    assert int(np.prod(a.shape)) == 128 * 8 and tuple(reversed([1, 2])) == (2, 1)
    assert [b for b in map(lambda v: v + 1, filter(lambda v: v > 1, [1, 2, 3]))] == [3, 4]
    assert sorted([3, 1, 2], key=lambda v: -v) == [3, 2, 1] and any([0, 1]) and not all([0, 1])
    value = 5 if factor > 1 else 6
    while value > 3:
        value -= 1
        if value == 4:
            continue
        break
    assert value == 3 and (lambda x, y=2: x * y)(4) == 8
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    nl.store(out, nl.load(a) * SCALE)
    return out
if __name__ == "__main__":
    import os
    os.system("never run")
"#;
    let inputs = parse_inputs("a:f32[128,8]", Some(1)).unwrap();
    let expected: Vec<f32> = array(&inputs, 0).data.iter().map(|v| v * 3.0).collect();
    assert_eq!(run(source, &inputs).outputs[0].data, expected);
}

#[test]
fn runs_are_deterministic_and_shapes_give_the_same_trace() {
    let inputs = parse_inputs("x:f32[256,256];y:f32[256,512]", Some(3)).unwrap();
    let shapes = parse_inputs("x:f32[256,256];y:f32[256,512]", None).unwrap();
    let machine = Machine::built_in("trn1").unwrap();
    let latency = |inputs: &[(String, Input)], functional| {
        let evaluation = evaluate(
            GEMM_FIRST,
            "solution",
            inputs,
            &Options {
                functional,
                ..Options::default()
            },
        )
        .unwrap();
        time(&evaluation.trace, &machine, Passes::of(&evaluation)).latency_ns
    };
    let full = latency(&inputs, true);
    assert!(full > machine.launch_ns);
    assert_eq!(full, latency(&inputs, true));
    assert_eq!(full, latency(&shapes, false));
}

#[test]
fn more_work_is_never_faster() {
    let machine = Machine::built_in("trn1").unwrap();
    let latency = |inputs: &str| {
        let inputs = parse_inputs(inputs, None).unwrap();
        let evaluation = evaluate(
            GEMM_FIRST,
            "solution",
            &inputs,
            &Options {
                functional: false,
                ..Options::default()
            },
        )
        .unwrap();
        time(&evaluation.trace, &machine, Passes::of(&evaluation)).latency_ns
    };
    let small = latency("x:bf16[512,512];y:bf16[512,512]");
    assert!(latency("x:bf16[1024,512];y:bf16[1024,512]") > small);
    assert!(latency("x:f32[512,512];y:f32[512,512]") > small);
    assert!(latency("x:bf16[512,1024];y:bf16[512,512]") > small);
}

#[test]
fn feedback_counts_what_was_moved() {
    let inputs = parse_inputs("x:bf16[512,256];y:bf16[512,512]", None).unwrap();
    let evaluation = evaluate(
        GEMM_FIRST,
        "solution",
        &inputs,
        &Options {
            functional: false,
            ..Options::default()
        },
    )
    .unwrap();
    let machine = Machine::built_in("trn1").unwrap();
    let plain = Passes {
        load_cache: false,
        ..Passes::of(&evaluation)
    };
    let timeline = time(&evaluation.trace, &machine, plain);
    let report = report(&evaluation.trace, &timeline, &machine);
    // x once, y for each of the two tiles of rows.
    assert_eq!(report.hbm_read_bytes, 2 * (512 * 256 + 2 * 512 * 512));
    assert_eq!(report.hbm_write_bytes, 2 * 256 * 512);
    assert_eq!(
        report.compulsory_bytes,
        2 * (512 * 256 + 512 * 512 + 256 * 512)
    );
    assert_eq!(report.useful_flops, 2 * 512 * 256 * 512);
    assert_eq!(
        report
            .traffic
            .iter()
            .find(|t| t.tensor == "y")
            .map(|t| t.reload_factor),
        Some(2.0)
    );
    assert!(report.lower_bound_us <= report.total_time_us);
    assert!(
        report
            .engines
            .iter()
            .all(|e| (0.0..=100.1).contains(&e.active_time_percent))
    );
    // Loads that fit are done once.
    let cached = time(&evaluation.trace, &machine, Passes::of(&evaluation));
    assert_eq!(cached.cached_loads, 4);
    assert!(cached.latency_ns <= timeline.latency_ns);
}

#[test]
fn what_does_not_fit_is_spilled() {
    let source = r"
import neuronxcc.nki.language as nl
def solution(a):
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    tiles = []
    for i in nl.static_range(8):
        tiles.append(nl.exp(nl.load(a[i])))
    for i in nl.static_range(8):
        nl.store(out[i], tiles[i])
    return out
";
    // Tensors made in one loop and used in the next leave their scope.
    let inputs = parse_inputs("a:f32[8,128,8192]", None).unwrap();
    let options = Options {
        functional: false,
        ..Options::default()
    };
    let failure = evaluate(source, "solution", &inputs, &options).unwrap_err();
    assert_eq!(failure.code, "local-variable-used-out-of-scope");
    let source = source
        .replace(
            "tiles = []",
            "tiles = nl.ndarray((8, nl.par_dim(128), 8192), dtype=nl.float32)",
        )
        .replace(
            "tiles.append(nl.exp(nl.load(a[i])))",
            "tiles[i] = nl.exp(nl.load(a[i]))",
        );
    let evaluation = evaluate(&source, "solution", &inputs, &options).unwrap();
    let machine = Machine::built_in("trn1").unwrap();
    let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
    // Eight tiles of 32 KiB in each partition are 256 KiB; 176 fit.
    assert!(timeline.peak_sbuf > machine.sbuf_bytes);
    assert!(timeline.spill_bytes > 0);
    assert!(timeline.spill_bytes < 2 * 8 * 128 * 8192 * 4);
}

/// A kernel over `data` f32[16,16], `index` u16[16,1] and `vals` f32[16,8].
fn picked(body: &str) -> Vec<f32> {
    let source = format!(
        r"
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import numpy as np
@nki.jit
def solution(data, index, vals):
    x = nl.load(data)
    i = nl.load(index)
    v = nl.load(vals)
{body}
    out = nl.ndarray(y.shape, dtype=nl.float32, buffer=nl.shared_hbm)
    nl.store(out, y)
    return out
"
    );
    // Row r holds r * 16 to r * 16 + 15; indices run backwards; the values are two of each row
    // and six that are nowhere.
    let data: Vec<f32> = (0..256).map(|at| at as f32).collect();
    let index: Vec<f32> = (0..16).rev().map(|at| at as f32).collect();
    let vals = (0..16).flat_map(|row| {
        let first = (row * 16) as f32;
        [first + 3.0, first, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0]
    });
    let array = |dtype, shape: &[usize], data| {
        Input::Array(Array {
            dtype,
            shape: shape.to_vec(),
            data,
        })
    };
    let inputs = vec![
        ("data".to_owned(), array(Dtype::Float32, &[16, 16], data)),
        ("index".to_owned(), array(Dtype::Uint16, &[16, 1], index)),
        (
            "vals".to_owned(),
            array(Dtype::Float32, &[16, 8], vals.collect()),
        ),
    ];
    run(&source, &inputs).outputs.swap_remove(0).data
}

#[test]
fn searches_and_gathers() {
    // Sixteen partitions share their indices: each row comes out backwards.
    let backwards = picked("    y = nisa.local_gather(x, i).reshape((16, 16))");
    assert_eq!(&backwards[16..19], &[31.0, 30.0, 29.0]);
    // Two are found and replaced, the others are nowhere.
    let replaced = picked("    y = nisa.nc_match_replace8(data=x, vals=v, imm=-9.0)");
    assert_eq!(&replaced[16..21], &[-9.0, 17.0, 18.0, -9.0, 20.0]);
    let largest = picked(
        "    p = nl.ndarray((16, 16), dtype=nl.uint8, buffer=nl.sbuf)
    p[...] = nl.less(x, 40.0)
    z = nl.ndarray((16, 16), dtype=nl.float32, buffer=nl.sbuf)
    y = nl.ndarray((16, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.select_reduce(dst=z, predicate=p, on_true=x, on_false=-1.0, reduce_res=y, reduce_cmd=nisa.reduce_cmd.reset_reduce)",
    );
    assert_eq!(&largest[0..4], &[15.0, 31.0, 39.0, -1.0]);
    // About half are dropped, the same ones each time.
    let half = || picked("    y = nisa.dropout(x, 0.5)");
    let zeros = half().iter().filter(|value| **value == 0.0).count();
    assert!((90..170).contains(&zeros), "{zeros}");
    assert_eq!(half(), half());
    let turned = picked("    y = nl.copy(x.rearrange('p (a b) -> p b a', a=4)).reshape((16, 16))");
    assert_eq!(&turned[0..5], &[0.0, 4.0, 8.0, 12.0, 1.0]);
}
