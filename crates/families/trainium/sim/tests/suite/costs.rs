//! Work costs what it takes: kernels that would have some of it for nothing, each against the
//! same work written so that nothing can be saved.

use autocomp_trainium_sim::feedback::report;
use autocomp_trainium_sim::timing::{Machine, Passes, Timeline, time};
use autocomp_trainium_sim::trace::Engine;
use autocomp_trainium_sim::{Evaluation, Failure, Options, engines_of, evaluate, parse_inputs};

const FIRST: &str =
    "import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n";
const SECOND: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\n";

/// A kernel of the first or the second dialect on `a` of 128 x 512 numbers: `body` between the load of
/// a tile `t` and the store of a tile `o`.
pub(crate) fn kernel(first: bool, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    if first {
        format!(
            "{FIRST}def solution(a):
  y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
  t = nl.load(a)
  o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
{body}  nl.store(y, o)
  return y
"
        )
    } else {
        format!(
            "{SECOND}def solution(a):
  y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
  t = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
  nisa.dma_copy(dst=t, src=a)
  o = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
  nisa.memset(dst=o, value=0.0)
{body}  nisa.dma_copy(dst=y, src=o)
  return y
"
        )
    }
}

/// What a kernel does, with data or by shapes alone.
pub(crate) fn run(source: &str, first: bool, functional: bool) -> Result<Evaluation, Box<Failure>> {
    let options = Options {
        functional,
        generation: if first { 2 } else { 3 },
        ..Options::default()
    };
    let inputs = parse_inputs("a:f32[128,512]", functional.then_some(3)).unwrap();
    evaluate(source, "solution", &inputs, &options)
}

pub(crate) fn timed(first: bool, body: &str) -> (Evaluation, Timeline) {
    let source = kernel(first, body);
    let machine = Machine::built_in(if first { "trn1" } else { "trn2" }).unwrap();
    let evaluation = run(&source, first, true).unwrap_or_else(|it| panic!("{it}\n{source}"));
    let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
    (evaluation, timeline)
}

/// Nanoseconds without the launch.
pub(crate) fn cost(first: bool, body: &str) -> f64 {
    let machine = Machine::built_in(if first { "trn1" } else { "trn2" }).unwrap();
    timed(first, body).1.latency_ns - machine.launch_ns
}

#[test]
fn the_smallest_product_takes_the_matrix_engine_as_long_as_64_columns() {
    let product = |rows: usize, columns: usize| {
        let body = format!(
            "p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)\nfor k in range(400):\n  nisa.nc_matmul(dst=p[0:{columns}, 0:{columns}], stationary=t[0:{rows}, 0:{columns}], moving=t[0:{rows}, 0:{columns}], accumulate=False)"
        );
        let (_, timeline) = timed(false, &body);
        let slots = timeline.slots.iter();
        let tensor = slots.filter(|it| it.engine == Engine::Tensor);
        tensor.map(|it| it.released - it.start).sum::<f64>()
    };
    let least = product(128, 56);
    for (rows, columns) in [(128, 1), (2, 2), (32, 32)] {
        let time = product(rows, columns);
        assert!(
            0.99 * least <= time,
            "{rows} x {columns}: {time} of {least}"
        );
    }
}

/// A transfer of the second dialect whose descriptors are not made before takes their time.
#[test]
fn many_small_transfers_take_longer_than_a_large_one() {
    let rows = |rows: usize, mode: &str| {
        let trips = 128 / rows;
        cost(
            false,
            &format!(
                "for k in range({trips}):\n  nisa.dma_copy(dst=o[k * {rows}:(k + 1) * {rows}, :], src=a[k * {rows}:(k + 1) * {rows}, :]{mode})"
            ),
        )
    };
    let [one, many] = [128, 1].map(|it| rows(it, ""));
    assert!(one + 127.0 * 290.0 < many, "{one} {many}");
    let prepared = rows(1, ", dge_mode=nisa.dge_mode.none");
    assert!(prepared < 0.5 * many, "{prepared} {many}");
}

/// A quotient takes as long as a reciprocal, by whatever name.
#[test]
fn a_quotient_is_no_cheaper_than_a_reciprocal() {
    let busy = |body: &str| {
        let (_, timeline) = timed(false, &format!("{body}\nnisa.tensor_copy(dst=o, src=t)"));
        let slots = timeline.scheduled();
        let line = slots.filter(|it| it.line == 10);
        line.map(|it| it.slot.released - it.slot.start).sum::<f64>()
    };
    let reciprocal = busy("nisa.reciprocal(dst=o, data=t)");
    for body in [
        "nisa.tensor_tensor(dst=o, data1=t, data2=t, op=nl.divide)",
        "nisa.tensor_scalar(dst=o, data=t, op0=nl.power, operand0=-1.0)",
        "nisa.tensor_scalar(dst=o, data=t, op0=nl.rsqrt, operand0=0.0, engine=nisa.gpsimd_engine)",
    ] {
        let time = busy(body);
        assert!(0.45 * reciprocal < time, "{body}: {time} of {reciprocal}");
    }
}

/// Code and line, counted in the body, of a refusal.
pub(crate) fn refusal(first: bool, body: &str) -> (String, u32) {
    let head = if first { 7 } else { 9 };
    let failure = run(&kernel(first, body), first, true).err();
    let failure = failure.unwrap_or_else(|| panic!("not refused:\n{body}"));
    (failure.code.clone(), failure.line.saturating_sub(head))
}

/// Bodies of the first dialect that must cost as much as the same work in loops in order, less a
/// tenth: nothing in them can be merged or done once.
const NOT_MERGED: &[(&str, &str)] = &[
    (
        "each iteration reads what the one before wrote",
        "o[:, 0:1] = nl.copy(t[:, 0:1])
for j in RANGE(127):
  o[:, nl.ds(j + 1, 1)] = nl.add(o[:, nl.ds(j, 1)], t[:, nl.ds(j + 1, 1)])",
    ),
    (
        "the same by two operations, the second of which feeds the next iteration",
        "o[:, 0:1] = nl.copy(t[:, 0:1])
for j in RANGE(127):
  s = nl.multiply(o[:, nl.ds(j, 1)], 0.5)
  o[:, nl.ds(j + 1, 1)] = nl.add(s, t[:, nl.ds(j + 1, 1)])",
    ),
    (
        "columns without a pattern",
        "p = [(k * 37) % 128 for k in range(128)]
for k in RANGE(128):
  o[:, nl.ds(p[k], 1)] = nl.multiply(t[:, nl.ds(p[k], 1)], -1.0)",
    ),
    (
        "columns that are read without a pattern",
        "p = [(k * k * 5 + k * 3) % 128 for k in range(128)]
for k in RANGE(128):
  o[:, nl.ds(k, 1)] = nl.multiply(t[:, nl.ds(p[k], 1)], -1.0)",
    ),
    (
        "a number for each column",
        "for k in RANGE(128):
  o[:, nl.ds(k, 1)] = nl.multiply(t[:, nl.ds(k, 1)], 0.5 + k)",
    ),
    (
        "a function for each column",
        "f = [nl.exp, nl.tanh, nl.square, nl.abs]
for k in RANGE(128):
  o[:, nl.ds(k, 1)] = nisa.activation(op=f[k % 4], data=t[:, nl.ds(k, 1)])",
    ),
    (
        "an operator for each column",
        "f = [nl.add, nl.subtract]
for k in RANGE(128):
  o[:, nl.ds(k, 1)] = nisa.tensor_tensor(t[:, nl.ds(k, 1)], t[:, nl.ds(k + 1, 1)], f[k % 2])",
    ),
    (
        "operands that change places",
        "for k in RANGE(128):
  x, z = (t[:, nl.ds(k, 1)], t[:, 511:512]) if k % 2 else (t[:, 511:512], t[:, nl.ds(k, 1)])
  o[:, nl.ds(k, 1)] = nl.subtract(x, z)",
    ),
    (
        "one tile after the other in another order",
        "l = [nl.multiply(t[:, k:k + 1], 2.0) for k in range(64)]
for k in RANGE(64):
  o[:, nl.ds(k, 1)] = nl.multiply(l[(k * 37) % 64], 0.5)",
    ),
    (
        "parts of different partitions",
        "for k in RANGE(4):
  o[nl.ds(k * 32, 32), 0:1] = nl.multiply(t[nl.ds(k * 32, 32), 0:1], 0.5)",
    ),
    (
        "limits that change nothing on this data",
        "for k in RANGE(16):
  low = nl.minimum(t, 1.5 + k)
  if k == 15:
    o[...] = nl.copy(low)",
    ),
    (
        "clamps by an instruction with two numbers",
        "for k in RANGE(16):
  low = nisa.tensor_scalar(t, np.minimum, 2.0 + k, op1=np.maximum, operand1=-2.0 - k)
  if k == 15:
    o[...] = nl.copy(low)",
    ),
    (
        "a scale that only an exponential of zero forgets",
        "z = nl.multiply(t, 0.0)
for k in RANGE(16):
  e = nisa.activation(op=nl.exp, data=z, scale=1.0 + k)
  if k == 15:
    o[...] = nl.copy(e)",
    ),
    (
        "windows of one tile that hold the same",
        "z = nl.zeros((128, 528), dtype=nl.float32, buffer=nl.sbuf)
for k in RANGE(16):
  e = nl.maximum(z[:, nl.ds(k, 512)], 1.0)
  if k == 15:
    o[...] = nl.copy(e)",
    ),
    (
        "sums and extremes of the same rows",
        "f = [nl.sum, nl.max, nl.min, nl.mean]
for k in RANGE(16):
  e = f[k % 4](t[:, nl.ds(32 * k, 32)], axis=[1])
  o[:, nl.ds(k, 1)] = nl.copy(e)",
    ),
    (
        "a column as the scalar of each block",
        "for k in RANGE(64):
  o[:, nl.ds(8 * k, 8)] = nisa.tensor_scalar(t[:, nl.ds(8 * k, 8)], np.multiply, t[:, nl.ds(k, 1)])",
    ),
    (
        "a column as the bias of each block",
        "for k in RANGE(64):
  o[:, nl.ds(8 * k, 8)] = nisa.activation(op=nl.tanh, data=t[:, nl.ds(8 * k, 8)], bias=t[:, nl.ds(k, 1)])",
    ),
    (
        "a column as the bias of each column",
        "for k in RANGE(64):
  o[:, nl.ds(k, 1)] = nisa.activation(op=nl.tanh, data=t[:, nl.ds(k, 1)], bias=t[:, nl.ds(k + 64, 1)])",
    ),
    (
        "a scan of each block",
        "for k in RANGE(64):
  o[:, nl.ds(8 * k, 8)] = nisa.tensor_tensor_scan(t[:, nl.ds(8 * k, 8)], t[:, nl.ds(8 * k, 8)], initial=0.0, op0=np.multiply, op1=np.add)",
    ),
    (
        "the eight largest of each block",
        "for k in RANGE(64):
  o[:, nl.ds(8 * k, 8)] = nisa.max8(src=t[:, nl.ds(8 * k, 8)])",
    ),
    (
        "statistics of each block",
        "for k in RANGE(64):
  o[:, nl.ds(6 * k, 6)] = nisa.bn_stats(t[:, nl.ds(8 * k, 8)])",
    ),
    (
        "elements that are dropped anew each time",
        "for k in RANGE(16):
  e = nl.dropout(t, rate=0.5)
  if k == 15:
    o[...] = nl.copy(e)",
    ),
];

#[test]
fn what_one_instruction_cannot_do_is_not_merged() {
    for (name, body) in NOT_MERGED {
        let affine = body.replace("RANGE", "nl.affine_range");
        let (_, timeline) = timed(true, &affine);
        assert_eq!(timeline.merged, 0, "{name}");
        let ordered = cost(true, &body.replace("RANGE", "nl.sequential_range"));
        let affine = cost(true, &affine);
        assert!(
            0.85 * ordered < affine,
            "{name}: {affine} ns, in order {ordered} ns"
        );
    }
}

/// Bodies that the compiler does merge, and how many instructions are left of the loop.
const MERGED: &[(&str, &str)] = &[
    (
        "neighbouring columns",
        "for k in nl.affine_range(64):
  o[:, nl.ds(k, 1)] = nl.multiply(t[:, nl.ds(k, 1)], -1.0)",
    ),
    (
        "every fourth column, in place",
        "for k in nl.affine_range(64):
  t[:, nl.ds(4 * k, 1)] = nl.multiply(t[:, nl.ds(4 * k, 1)], -1.0)",
    ),
    (
        "columns from behind",
        "for k in nl.affine_range(64):
  o[:, nl.ds(63 - k, 1)] = nl.multiply(t[:, nl.ds(k, 1)], -1.0)",
    ),
    (
        "a tile of each iteration's own between",
        "for k in nl.affine_range(16):
  s = nl.multiply(t[:, nl.ds(4 * k, 4)], 0.5)
  o[:, nl.ds(4 * k, 4)] = nl.add(s, t[:, nl.ds(4 * k, 4)])",
    ),
    (
        "interleaved columns of strided windows",
        "i, j = nl.arange(128)[:, None], nl.arange(32)[None, :]
for k in nl.affine_range(4):
  o[i, 4 * j + k] = nl.multiply(t[i, 4 * j + k], 0.5)",
    ),
];

#[test]
fn what_one_access_pattern_covers_is_merged() {
    for (name, body) in MERGED {
        let (_, timeline) = timed(true, body);
        assert!(0 < timeline.merged, "{name}");
    }
}

#[test]
fn hoisting_is_by_name() {
    // The same operation in every iteration goes, whatever it gives.
    let once = "for k in nl.affine_range(16):
  low = nl.minimum(t, 1.5)
  if k == 15:
    o[...] = nl.copy(low)";
    let each = once.replace("1.5", "1.5 + k");
    assert!(cost(true, once) * 1.5 < cost(true, &each));
    // By shapes alone the same is seen.
    for body in [once, &each] {
        let machine = Machine::built_in("trn1").unwrap();
        let both = [true, false].map(|functional| {
            let evaluation = run(&kernel(true, body), true, functional).unwrap();
            time(&evaluation.trace, &machine, Passes::of(&evaluation)).latency_ns
        });
        assert_eq!(both[0], both[1], "{body}");
    }
}

/// Products whose operand `x` is said to hold ones and zeros only; whether that is true.
const ONE_ZERO: &[(&str, bool)] = &[
    (
        "x = nl.ones((128, 128), dtype=nl.float32, buffer=nl.sbuf)",
        true,
    ),
    (
        "x = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.sbuf)",
        true,
    ),
    (
        "x = nl.load(nl.shared_constant(np.identity(128, dtype=np.float32)))",
        true,
    ),
    ("x = nl.greater(t[:, 0:128], 0.0, dtype=nl.float32)", true),
    (
        "x = nl.copy(t[:, 0:128], dtype=nl.bfloat16)\nt = nl.copy(t, dtype=nl.bfloat16)",
        true,
    ),
    ("x = t[:, 0:128]", false),
    (
        "x = nl.full((128, 128), 2.0, dtype=nl.float32, buffer=nl.sbuf)",
        false,
    ),
    (
        "x = nl.full((128, 128), -1.0, dtype=nl.float32, buffer=nl.sbuf)",
        false,
    ),
    (
        "x = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.sbuf)\nx[:, 127:128] = nl.full((128, 1), 0.5, dtype=nl.float32)",
        false,
    ),
];

#[test]
fn ones_and_zeros_are_a_promise() {
    for (make, holds) in ONE_ZERO {
        let (square, wide) = ("x", "t");
        for (stationary, moving, flag) in [
            (square, wide, "is_stationary_onezero"),
            ("t[:, 0:128]", square, "is_moving_onezero"),
        ] {
            let body = format!(
                "{make}\nr = nisa.nc_matmul({stationary}, {moving}, {flag}=True)\no[...] = nl.copy(t)"
            );
            let result = run(&kernel(true, &body), true, true);
            let line = make.lines().count() as u32 + 8;
            match result {
                Ok(_) => assert!(holds, "{body}"),
                Err(failure) => assert_eq!(
                    (failure.code.as_str(), failure.line, *holds),
                    ("onezero-operand", line, false),
                    "{failure}\n{body}"
                ),
            }
        }
    }
}

#[test]
fn registers_take_time_and_traffic() {
    let plain = "nisa.tensor_copy(dst=o, src=t)";
    let number = "n = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
nisa.memset(dst=n, value=3)
";
    let memory = "h = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.hbm)
nisa.dma_copy(dst=h, src=n)
";
    // What each takes at least, in nanoseconds for each of a thousand.
    let cases: &[(&str, f64)] = &[
        ("for i in range(1000):\n  r = nisa.register_alloc(5)", 50.0),
        (
            "r = nisa.register_alloc()\nfor i in range(1000):\n  nisa.register_move(r, i)",
            50.0,
        ),
        ("for i in range(1000):\n  r = nisa.register_alloc(n)", 150.0),
        (
            "r = nisa.register_alloc()\nfor i in range(1000):\n  nisa.register_load(r, n)",
            150.0,
        ),
        (
            "for i in range(1000):\n  r = nl.scalar_load(h) if False else nisa.scalar_load(h)",
            2000.0,
        ),
        (
            "r = nisa.register_alloc(4)\nfor i in range(1000):\n  nisa.register_store(n, r)",
            150.0,
        ),
        (
            "r = nisa.register_alloc(4)\nfor i in range(1000):\n  nisa.register_store(h, r)",
            2000.0,
        ),
        (
            "s = nisa.scalar_load(n)\nfor i in range(1000):\n  s = s + i",
            50.0,
        ),
        ("def body(i):\n  pass\nnl.fori_loop(0, 1000, body)", 50.0),
        ("for i in nl.dynamic_range(1000):\n  pass", 50.0),
        (
            "r = nisa.register_alloc()\nfor i in range(1000):\n  nisa.register_move(r, 1)\n  nisa.tensor_copy(dst=o[:, nl.ds(r, 1)], src=t[:, 0:1])",
            50.0,
        ),
    ];
    for (body, each) in cases {
        let body = format!("{number}{memory}{body}\n{plain}");
        let found = cost(false, &body);
        // In nanoseconds of the documents.
        let found = found * Machine::built_in("trn2").unwrap().clock;
        assert!(1000.0 * each < found, "{found} ns\n{body}");
    }
    let body = format!(
        "{number}{memory}for i in range(100):\n  r = nisa.scalar_load(h)\nnisa.register_store(h, r)\n{plain}"
    );
    let machine = Machine::built_in("trn2").unwrap();
    let (evaluation, timeline) = timed(false, &body);
    let told = report(&evaluation.trace, &timeline, &machine);
    let tile = 128 * 512 * 4;
    assert_eq!(
        (told.hbm_read_bytes, told.hbm_write_bytes),
        (tile + 400, tile + 8)
    );
    assert!(told.engines.iter().any(|it| it.engine.name() == "sync"));
}

#[test]
fn what_a_register_decides_waits_for_it() {
    // A chain: each round the bound of a loop comes from what the loop before wrote.
    let chain = "n = nl.ndarray((1, 1), dtype=nl.float32, buffer=nl.sbuf)
nisa.memset(dst=n, value=1.0)
def body(i):
  nisa.activation(dst=o[:, 0:1], op=nl.exp, data=t[:, 0:1])
  nisa.tensor_copy(dst=n, src=n)
for k in range(50):
  r = nisa.register_alloc(n)
  nl.fori_loop(0, r, body)";
    let free = chain.replace("nisa.register_alloc(n)", "1");
    assert!(cost(false, &free) * 1.2 < cost(false, chain));
    for body in [chain, &free] {
        let evaluation = run(&kernel(false, body), false, true).unwrap();
        assert_eq!(evaluation.depends_on_data, body == chain);
    }
}

#[test]
fn engines_are_those_of_the_documents() {
    let calls: &[(&str, &str)] = &[
        (
            "tensor_tensor",
            "nisa.tensor_tensor(dst=o, data1=t, data2=t, op=nl.add",
        ),
        (
            "scalar_tensor_tensor",
            "nisa.scalar_tensor_tensor(dst=o, data=t, op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=t",
        ),
        (
            "tensor_scalar",
            "nisa.tensor_scalar(dst=o, data=t, op0=nl.multiply, operand0=2.0",
        ),
        ("tensor_copy", "nisa.tensor_copy(dst=o, src=t"),
        ("memset", "nisa.memset(dst=o, value=1.0"),
        (
            "nc_transpose",
            "nisa.nc_transpose(dst=o[0:32, 0:32], data=t[0:32, 0:32]",
        ),
        ("activation", "nisa.activation(dst=o, op=nl.exp, data=t"),
        ("reciprocal", "nisa.reciprocal(dst=o, data=t"),
        (
            "tensor_reduce",
            "nisa.tensor_reduce(dst=o[:, 0:1], op=nl.add, data=t, axis=1",
        ),
        (
            "nc_matmul",
            "nisa.nc_matmul(dst=nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum), stationary=t[:, 0:128], moving=t",
        ),
        ("rng", "nisa.rng(dst=o"),
        ("bn_stats", "nisa.bn_stats(dst=o[:, 0:6], data=t"),
        ("max8", "nisa.max8(dst=o[:, 0:8], src=t"),
    ];
    for (name, call) in calls {
        for engine in ["tensor", "vector", "scalar", "gpsimd", "sync"] {
            let body = format!("{call}, engine=nisa.{engine}_engine)")
                .replace("sync_engine", "engine.sync");
            let known = engines_of(name).iter().any(|it| it.name() == engine);
            // The documents name restrictions of these two beside the list; one engine is no choice.
            let restricted = (*name == "tensor_scalar" && engine == "gpsimd")
                || (*name == "nc_transpose" && engine == "tensor");
            let chosen = known && !restricted && 1 < engines_of(name).len();
            match run(&kernel(false, &body), false, true) {
                Ok(evaluation) => {
                    assert!(chosen, "{body}");
                    let machine = Machine::built_in("trn2").unwrap();
                    let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
                    let mut ran = timeline.scheduled().filter(|it| it.line == 10);
                    assert!(ran.all(|it| it.slot.engine.name() == engine), "{body}");
                }
                Err(failure) => {
                    assert!(!chosen, "{failure}\n{body}");
                    assert!(
                        matches!(
                            failure.code.as_str(),
                            "unsupported-engine" | "unsupported-memory"
                        ),
                        "{failure}\n{body}"
                    );
                }
            }
        }
    }
}

#[test]
fn the_scalar_engine_has_few_operators_of_tensor_scalar() {
    for (operators, runs) in [
        ("op0=nl.multiply, operand0=2.0", true),
        ("op0=nl.add, operand0=2.0", true),
        (
            "op0=nl.multiply, operand0=2.0, op1=nl.add, operand1=1.0",
            true,
        ),
        (
            "op0=nl.add, operand0=2.0, op1=nl.multiply, operand1=1.0",
            false,
        ),
        ("op0=nl.maximum, operand0=2.0", false),
        ("op0=nl.subtract, operand0=2.0", false),
    ] {
        let body =
            format!("nisa.tensor_scalar(dst=o, data=t, {operators}, engine=nisa.scalar_engine)");
        assert_eq!(
            run(&kernel(false, &body), false, true).is_ok(),
            runs,
            "{body}"
        );
    }
}

#[test]
fn the_gpsimd_engine_does_not_reach_the_accumulators() {
    let psum = "p = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)\n";
    for call in [
        "nisa.tensor_tensor(dst=p, data1=t, data2=t, op=nl.add, engine=nisa.gpsimd_engine)",
        "nisa.tensor_copy(dst=p, src=t, engine=nisa.gpsimd_engine)",
        "nisa.memset(dst=p, value=0.0, engine=nisa.gpsimd_engine)",
        "nisa.tensor_tensor(dst=p, data1=t, data2=t, op=nl.power)",
        "nisa.iota(dst=p, pattern=[[1, 512]], offset=0, channel_multiplier=0)",
        "nisa.rng(dst=p, engine=nisa.gpsimd_engine)",
    ] {
        let (code, line) = refusal(false, &format!("{psum}{call}"));
        assert_eq!((code.as_str(), line), ("unsupported-memory", 2), "{call}");
    }
    // Where there is a choice, the engine that reaches them is taken.
    let body = format!("{psum}nisa.memset(dst=p, value=0.0)\nnisa.tensor_copy(dst=o, src=p)");
    let (_, timeline) = timed(false, &body);
    let mut all = timeline.scheduled();
    assert!(
        all.all(|it| it.name != "memset" || it.line != 11 || it.slot.engine.name() == "vector")
    );
}
