//! The rewriter on kernels of its own kind: what it changes, the kernels still compute.

use std::collections::{BTreeMap, BTreeSet};

use autocomp_core::{MenuItem, PlanChoice, RewriteError, Rewriter};
use autocomp_trainium::rewriter::{InputShape, NkiRewriter};
use autocomp_trainium::timing::Machine;
use autocomp_trainium::{Array, Input, Options, evaluate, parse_inputs};
use proptest::prelude::*;

const HEAD: &str = "import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


";

/// Kernels with their inputs.
const KERNELS: &[(&str, &str, &str)] = &[
    (
        "product",
        "x:f32[256,256];y:f32[256,512]",
        "def solution(x, y):
    k, m = x.shape
    _, n = y.shape
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(m // 128):
        for j in nl.affine_range(n // 256):
            acc = nl.zeros((128, 256), dtype=nl.float32, buffer=nl.sbuf)
            for p in nl.sequential_range(k // 128):
                a = nl.load(x[nl.ds(p * 128, 128), nl.ds(i * 128, 128)])  # stationary
                b = nl.load(y[nl.ds(p * 128, 128), nl.ds(j * 256, 256)])
                acc += nl.copy(nisa.nc_matmul(a, b))
            nl.store(out[nl.ds(i * 128, 128), nl.ds(j * 256, 256)], acc)
    return out
",
    ),
    (
        "softmax",
        "x:f32[256,1024]",
        "def solution(x):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.sequential_range(rows // 128):
        tile = nl.load(x[i * 128:(i + 1) * 128, :])
        top = nl.max(tile, axis=[1], keepdims=True)
        power = nl.exp((tile - top) * 0.5)
        total = nl.sum(power, axis=[1], keepdims=True)
        # divides by the sum
        nl.store(y[i * 128:(i + 1) * 128, :], power * (1.0 / total))
    return y
",
    ),
    (
        "gate",
        "x:f32[128,2048];g:f32[128,2048];c:f32[128,1]",
        "def solution(x, g, c):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    WIDTH = 512
    for j in nl.affine_range(2048 // WIDTH):
        bias = nl.load(c)
        tile = nl.load(x[:, nl.ds(j * WIDTH, WIDTH)])
        gate = nl.load(g[:, nl.ds(j * WIDTH, WIDTH)])
        power = nl.exp(tile * -1.0)
        swish = tile * nl.reciprocal(power + 1.0)
        moved = (swish * 2.0) + bias
        nl.store(y[:, nl.ds(j * WIDTH, WIDTH)], nl.maximum(moved * gate, gate - moved))
    return y
",
    ),
    (
        "turn",
        "a:f32[256,512]",
        "def solution(a):
    m, n = a.shape
    b = nl.ndarray((n, m), dtype=a.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(m // 128):
        for k in nl.affine_range(n // 128):
            tile = nl.load(a[nl.ds(j * 128, 128), nl.ds(k * 128, 128)])
            nl.store(b[nl.ds(k * 128, 128), nl.ds(j * 128, 128)], nl.copy(nisa.nc_transpose(tile)))
    return b
",
    ),
    (
        "turned loads",
        "x:f32[512,128];y:f32[128,128]",
        "def solution(x, y):
    out = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    wide = nl.load_transpose2d(x[0:512, 0:128])
    square = nl.load_transpose2d(y[0:128, 0:128])
    nl.store(out, nl.copy(nisa.nc_matmul(square, wide)))
    return out
",
    ),
    (
        "scaled product",
        "x:f32[256,128];w:f32[256,1024]",
        "def turned(x, l):
    return nl.copy(nisa.nc_transpose(nl.copy(nisa.nc_transpose(nl.load(x[nl.ds(l * 128, 128), :])))))


def solution(x, w):
    out = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.shared_hbm)
    for j in nl.affine_range(2):
        total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
        first = turned(x, 0)
        for l in nl.affine_range(2):
            a = nl.multiply(nl.load(x[nl.ds(l * 128, 128), :]), 2.0)
            total += nisa.nc_matmul(a, nl.load(w[nl.ds(l * 128, 128), nl.ds(j * 512, 512)]))
        total += nisa.nc_matmul(first, nl.load(w[0:128, nl.ds(j * 512, 512)]))
        nl.store(out[:, nl.ds(j * 512, 512)], nl.copy(total))
    return out
",
    ),
    (
        "numbered tiles",
        "x:f32[512,128];y:f32[512,256]",
        "def solution(x, y):
    k, m = x.shape
    out = nl.ndarray((128, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    tiles = nl.ndarray((4, nl.par_dim(128), 128), dtype=x.dtype, buffer=nl.sbuf)
    for l in nl.affine_range(k // 128):
        tiles[l] = nl.load(x[nl.ds(l * 128, 128), :])
    total = nl.zeros((128, 256), dtype=nl.float32, buffer=nl.psum)
    for l in nl.affine_range(k // 128):
        total += nisa.nc_matmul(tiles[l], nl.load(y[nl.ds(l * 128, 128), :]))
    nl.store(out, nl.copy(total))
    return out
",
    ),
    (
        "norm",
        "x:f32[256,1024];g:f32[1024]",
        "def solution(x, g):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    kept = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.sequential_range(rows // 128):
        kept[...] = nl.load(x[i * 128:(i + 1) * 128, :])
        mean = nl.mean(kept, axis=1)
        var = nl.mean(kept * kept, axis=1) - mean * mean
        wide = nl.load(g.reshape((1, 1024))).broadcast_to((128, 1024))
        scaled = (kept - mean) * nl.rsqrt(var + 1e-3)
        nl.store(y[i * 128:(i + 1) * 128, :], scaled * wide)
    return y
",
    ),
    (
        "windows",
        "x:f32[256,130]",
        "def solution(x):
    h, w = x.shape
    y = nl.ndarray((h - 2, w - 2), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        p, k, j = nl.mgrid[0:128, 0:3, 0:w]
        rows = nl.load(x[i * 128 + p + k, j], mask=(i * 128 + p < h - 2))
        p, k, j, l = nl.mgrid[0:128, 0:3, 0:w - 2, 0:3]
        best = nl.max(rows[p, k, j + l], axis=[1, 3], mask=(i * 128 + p < h - 2))
        p, j = nl.mgrid[0:128, 0:w - 2]
        nl.store(y[i * 128 + p, j], best, mask=(i * 128 + p < h - 2))
    return y
",
    ),
    (
        "running sums",
        "x:f32[128,2048]",
        "def solution(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    carry = nl.zeros((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    ones = nl.ones((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    for j in nl.sequential_range(4):
        tile = nl.load(x[:, nl.ds(j * 512, 512)])
        sums = nisa.tensor_tensor_scan(ones, tile, initial=carry, op0=nl.multiply, op1=nl.add)
        nl.store(y[:, nl.ds(j * 512, 512)], sums)
        carry[...] = nl.copy(sums[:, 511:512])
    return y
",
    ),
    (
        "two products",
        "x:f32[256,128];y:f32[128,128]",
        "def solution(x, y):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(2):
        at = nl.ds(i * 128, 128)
        turned = nl.copy(nisa.nc_transpose(nl.load(x[at, :])))
        powers = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
        powers[...] = nl.exp(turned)
        powers[0:64, :] = nl.copy(turned[0:64, :])
        # the second one
        product = nisa.nc_matmul(powers, nl.load(y))
        nl.store(out[at, :], nl.multiply(product, powers))
    return out
",
    ),
    (
        "causal weights",
        "q:f32[128,256];k:f32[128,256];v:f32[256,64]",
        "def solution(q, k, v):
    d, n = q.shape
    out = nl.ndarray((n, 64), dtype=q.dtype, buffer=nl.shared_hbm)
    for i in nl.affine_range(n // 128):
        left = nl.load(q[:, nl.ds(i * 128, 128)])
        scores = nl.ndarray((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.sbuf)
        plain = nl.ndarray((nl.par_dim(128), n), dtype=nl.float32, buffer=nl.sbuf)
        for j in nl.affine_range(n // 128):
            right = nl.load(k[:, nl.ds(j * 128, 128)])
            plain[:, nl.ds(j * 128, 128)] = nl.copy(nisa.nc_matmul(left, right))
            row = nl.arange(128)[:, None]
            column = nl.arange(128)[None, :]
            scores[:, nl.ds(j * 128, 128)] = nisa.affine_select(pred=(i * 128 + row >= j * 128 + column), on_true_tile=plain[:, nl.ds(j * 128, 128)], on_false_value=-9984.0)
        powers = nl.exp(scores)
        weights = nl.divide(powers, nl.sum(powers, axis=[1]))
        total = nl.zeros((128, 64), dtype=nl.float32, buffer=nl.psum)
        for j in nl.affine_range(n // 128):
            block = nl.copy(nisa.nc_transpose(weights[:, nl.ds(j * 128, 128)]), dtype=nl.float32)
            total += nisa.nc_matmul(block, nl.load(v[nl.ds(j * 128, 128), :]))
        nl.store(out[nl.ds(i * 128, 128), :], nl.copy(nl.multiply(total, 2.0), dtype=out.dtype))
    return out
",
    ),
    (
        "weighed scans",
        "x:f32[64,1024];w:f32[64,4];r:f32[4,1024]",
        "import numpy as np


def solution(x, w, r):
    rows, columns = x.shape
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray((rows, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    total = nl.zeros((64, 1024), dtype=nl.float32, buffer=nl.sbuf)
    few = nl.zeros((64, 256), nl.float32)
    for s in nl.sequential_range(4):
        decay = nisa.activation(op=nl.tanh, data=tile, scale=nl.load(w[:, s:s + 1]))
        state = nisa.tensor_tensor_scan(decay, tile, initial=0, op0=nl.multiply, op1=nl.add)
        total += nl.multiply(state, nl.load(r[s:s + 1, :]).broadcast_to((64, columns)))
        few[...] = nl.add(few, nl.multiply(state[:, 0:256], decay[:, 0:256]))
    nl.store(y, total)
    nl.store(z, few)
    return y, z
",
    ),
];

/// Kernels in the second dialect.
const SECOND: &[(&str, &str, &str)] = &[(
    "second product",
    "x:f32[256,256];y:f32[256,1024]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def solution(x, y):
    k, m = x.shape
    _, n = y.shape
    out = nl.ndarray((m, n), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in range(m // 128):
        for j in range(n // 512):
            acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
            for p in range(k // 128):
                a = nl.ndarray((128, 128), dtype=x.dtype, buffer=nl.sbuf)
                b = nl.ndarray((128, 512), dtype=y.dtype, buffer=nl.sbuf)
                nisa.dma_copy(dst=a, src=x[p * 128:(p + 1) * 128, i * 128:(i + 1) * 128])
                nisa.dma_copy(dst=b, src=y[p * 128:(p + 1) * 128, j * 512:(j + 1) * 512])
                nisa.nc_matmul(dst=acc, stationary=a, moving=b)
            o = nl.ndarray((128, 512), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=o, src=acc)
            nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, j * 512:(j + 1) * 512], src=o)
    return out
",
),
(
    "second causal weights",
    "q:f32[256,128];k:f32[128,256];v:f32[256,64]",
    "import nki
import nki.isa as nisa
import nki.language as nl


def weigh(scores, n):
    \"\"\"Exponentials of `scores`, and their sums.\"\"\"
    powers = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=powers, op=nl.exp, data=scores)
    total = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_reduce(dst=total, op=nl.add, data=powers, axis=1)
    return powers, total


def turned(data, rows, columns):
    accumulator = nl.ndarray((columns, rows), dtype=data.dtype, buffer=nl.psum)
    nisa.nc_transpose(dst=accumulator, data=data)
    result = nl.ndarray((columns, rows), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=result, src=accumulator)
    return result


def solution(q, k, v):
    n, d = q.shape
    out = nl.ndarray((n, 64), dtype=q.dtype, buffer=nl.shared_hbm)
    for i in range(n // 128):
        rows = nl.ndarray((128, d), dtype=q.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=rows, src=q[i * 128:(i + 1) * 128, :])
        nisa.tensor_scalar(dst=rows, data=rows, op0=nl.multiply, operand0=0.125)
        left = turned(rows, 128, d)
        scores = nl.ndarray((128, n), dtype=nl.float32, buffer=nl.sbuf)
        for j in range(n // 128):
            piece = slice(j * 128, (j + 1) * 128)
            right = nl.ndarray((d, 128), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=right, src=k[:, piece])
            product = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
            nisa.nc_matmul(dst=product, stationary=left, moving=right)
            block = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
            nisa.tensor_copy(dst=block, src=product)
            nisa.affine_select(dst=scores[:, piece], pattern=[[-1, 128]], offset=i * 128 - j * 128, channel_multiplier=1, on_true_tile=block, on_false_value=-9984.0, cmp_op=nl.greater_equal)
        powers, total = weigh(scores, n)
        result = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)
        for j in range(n // 128):
            piece = slice(j * 128, (j + 1) * 128)
            values = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
            nisa.dma_copy(dst=values, src=v[piece, :])
            nisa.nc_matmul(dst=result, stationary=turned(powers[:, piece], 128, 128), moving=values)
        inverse = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=inverse, data=total)
        o = nl.ndarray((128, 64), dtype=out.dtype, buffer=nl.sbuf)
        nisa.tensor_scalar(dst=o, data=result, op0=nl.multiply, operand0=inverse)
        wide = nl.ndarray((128, 64), dtype=out.dtype, buffer=nl.sbuf)
        nisa.tensor_tensor(dst=wide, data1=o, data2=result, op=nl.add)
        nisa.dma_copy(dst=out[i * 128:(i + 1) * 128, :], src=wide)
    return out
",
)];

fn rewriter(inputs: &str) -> NkiRewriter {
    with_tolerance(inputs, 0.02)
}

fn with_tolerance(inputs: &str, tolerance: f64) -> NkiRewriter {
    let shapes = parse_inputs(inputs, None).unwrap().into_iter();
    let shapes = shapes.filter_map(|(name, input)| match input {
        Input::Array(it) => Some(InputShape {
            name,
            dtype: it.dtype,
            shape: it.shape,
        }),
        _ => None,
    });
    let machine = Machine::built_in("trn1").unwrap();
    NkiRewriter::new("solution", shapes.collect(), machine, tolerance)
}

fn outputs(source: &str, inputs: &str) -> Result<Vec<Array>, String> {
    let inputs = parse_inputs(inputs, Some(7)).unwrap();
    let found = evaluate(source, "solution", &inputs, &Options::default());
    found.map(|it| it.outputs).map_err(|it| it.to_string())
}

/// Largest difference of two results by the largest value; infinite for other shapes and for
/// what is not a number.
fn difference(found: &[Array], right: &[Array]) -> f32 {
    if found.len() != right.len() {
        return f32::INFINITY;
    }
    let mut worst = 0.0f32;
    for (found, right) in found.iter().zip(right) {
        if found.shape != right.shape {
            return f32::INFINITY;
        }
        let top = right.data.iter().fold(1e-6f32, |top, it| top.max(it.abs()));
        for (f, r) in found.data.iter().zip(&right.data) {
            let off = (f - r).abs() / top;
            worst = if off.is_nan() {
                f32::INFINITY
            } else {
                worst.max(off)
            };
        }
    }
    worst
}

fn tolerance(transformations: &str) -> f32 {
    if transformations.contains("narrow") {
        2e-2
    } else {
        1e-4
    }
}

#[test]
fn every_change_that_the_device_takes_keeps_the_result() {
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let first = KERNELS
        .iter()
        .map(|(name, inputs, body)| (*name, *inputs, format!("{HEAD}{body}")));
    let second = SECOND
        .iter()
        .map(|(name, inputs, text)| (*name, *inputs, (*text).to_owned()));
    for (name, inputs, source) in first.chain(second) {
        let right = outputs(&source, inputs).unwrap();
        for (kind, sentence, text) in rewriter(inputs).single_changes(&source).unwrap() {
            let found = outputs(&text, inputs).unwrap_or_default();
            *taken.entry(kind.clone()).or_default() += 1;
            let off = difference(&found, &right);
            if tolerance(&kind) < off {
                wrong.push(format!("{name}, {kind}: {sentence} (off by {off})\n{text}"));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    let kinds: Vec<&str> = taken.keys().map(String::as_str).collect();
    let all = [
        "accumulate-in-psum",
        "affine-range",
        "choose-engine",
        "defer-scale",
        "drop-copies",
        "fuse-operations",
        "gather-stores",
        "hoist",
        "interchange",
        "keep-resident",
        "keep-tiles",
        "known-function",
        "load-shared-rows-once",
        "narrow-tiles",
        "narrow-types",
        "own-buffer",
        "pieces",
        "precompute",
        "reduce-on-the-way",
        "resize-tiles",
        "skip-masked",
        "split-loop",
        "spread-in-pieces",
        "stay-in-psum",
        "sum-by-identity",
        "take-windows-apart",
        "through-psum",
        "tile-for-each-result",
        "turn-on-chip",
        "write-out-calls",
    ];
    assert_eq!(kinds, all, "{taken:?}");
}

fn menu() -> Vec<MenuItem> {
    let item = r#"{ "id": "fuse-operations", "text": "Merge operations." }"#;
    vec![serde_json::from_str(item).unwrap()]
}

#[test]
fn plans_are_repeatable_and_drafts_right() {
    let menu = menu();
    for (name, inputs, body) in KERNELS {
        let source = format!("{HEAD}{body}");
        let right = outputs(&source, inputs).unwrap();
        let mut seen = BTreeSet::new();
        let (one, other) = (rewriter(inputs), rewriter(inputs));
        for plan in 0..8 {
            let choice = PlanChoice {
                menu: &menu,
                iteration: 1,
                place: 0,
                plan,
            };
            let found = match one.plan(&source, choice) {
                Ok(found) => found,
                Err(RewriteError::Nothing) if 0 < plan => break,
                Err(error) => panic!("{name}: {error}"),
            };
            let again = other.plan(&source, choice).unwrap();
            assert_eq!(found, again);
            assert!(["fuse-operations", "other"].contains(&found.menu_item.as_str()));
            let draft = one.implement(&source, &found.payload, 0).unwrap();
            assert!(
                seen.insert(draft.clone()),
                "{name}: plan {plan} repeats another: {}",
                found.text
            );
            let off = difference(&outputs(&draft, inputs).unwrap(), &right);
            assert!(
                off <= tolerance(&found.payload),
                "{name}: {}: off by {off}\n{draft}",
                found.text
            );
        }
    }
}

#[test]
fn types_are_narrowed_only_where_the_tolerance_allows_it() {
    let (_, inputs, body) = KERNELS[0];
    let source = format!("{HEAD}{body}");
    let narrowed = |tolerance| {
        let found = with_tolerance(inputs, tolerance).single_changes(&source);
        let mut found = found.unwrap().into_iter();
        found.any(|(kind, _, text)| kind == "narrow-types" && text.contains("nl.bfloat16"))
    };
    assert!(narrowed(0.01) && !narrowed(0.001));
}

#[test]
fn rows_move_to_other_partitions_only_where_nothing_else_depends_on_the_partition() {
    let (_, _, body) = KERNELS.iter().find(|it| it.0 == "windows").unwrap();
    let inputs = "x:f32[256,130];c:f32[128,1]";
    let body = body.replace("solution(x)", "solution(x, c)");
    let offered = |body: &str| {
        let source = format!("{HEAD}{body}");
        outputs(&source, inputs).unwrap();
        let mut found = rewriter(inputs)
            .single_changes(&source)
            .unwrap()
            .into_iter();
        found.any(|it| it.0 == "load-shared-rows-once")
    };
    assert!(offered(&body));
    // A column that is the same for all iterations, but not for all partitions.
    let outside = body
        .replace("    for i in", "    column = nl.load(c)\n    for i in")
        .replace(", best, mask", ", nl.multiply(best, column), mask");
    assert!(!offered(&outside));
    let inside = body.replace(", best, mask", ", nl.multiply(best, nl.load(c)), mask");
    assert!(!offered(&inside));
}

#[test]
fn what_is_not_touched_stays() {
    for (_, inputs, body) in KERNELS {
        let source = format!("{HEAD}{body}");
        for (kind, sentence, text) in rewriter(inputs).single_changes(&source).unwrap() {
            assert!(text.starts_with(HEAD), "{kind}: {sentence}\n{text}");
            assert!(text.ends_with("\n") && !text.contains("\n\n\n\n"));
            if kind == "choose-engine" {
                let same = source
                    .lines()
                    .zip(text.lines())
                    .filter(|(a, b)| a == b)
                    .count();
                assert!(source.lines().count() <= same + 2, "{sentence}\n{text}");
            }
        }
    }
}

#[test]
fn what_is_not_understood_is_named() {
    let inputs = "x:f32[128,512]";
    let source = format!(
        "{HEAD}def solution(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    strange = [print(i) for i in range(2)]
    nl.store(y, nl.exp(tile))
    return y
"
    );
    let named = |source: &str| {
        let found = rewriter(inputs).not_understood(source).into_iter();
        let found = found.map(|it| format!("line {}: {}", it.line, it.reason));
        found.collect::<Vec<String>>()
    };
    let strange = "line 9: what `[print(i) for i in range(2)]` makes is not known";
    assert_eq!(named(&source), [strange]);
    let missing = source.replace("def solution", "def other");
    assert_eq!(named(&missing), ["line 1: there is no function `solution`"]);
    let broken = source.replace("return y", "return (y");
    assert_eq!(named(&broken).len(), 1);
    let payload = rewriter(inputs).implement(&source, "{}", 0);
    assert!(matches!(payload, Err(RewriteError::Payload(_))));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn no_text_makes_it_panic(which in 0..KERNELS.len(), from in 0usize..900, length in 0usize..40, new in "[a-z0-9*+.,:()\\[\\] \n]{0,12}") {
        let (_, inputs, body) = KERNELS[which];
        let mut source = format!("{HEAD}{body}");
        let from = from.min(source.len());
        let to = (from + length).min(source.len());
        source.replace_range(from..to, &new);
        let _ = rewriter(inputs).single_changes(&source);
    }
}
