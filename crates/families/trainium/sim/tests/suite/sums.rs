//! What sums, accumulators and wide modes of the matrix engine take.

use crate::costs::{cost, kernel, refusal, run, timed};
use autocomp_trainium_sim::feedback::report;
use autocomp_trainium_sim::timing::{Machine, Passes, time};

/// How long the instructions of a line of the body keep their engines busy, and how many there are.
fn busy(first: bool, body: &str, line: u32) -> (f64, usize) {
    let (_, timeline) = timed(first, body);
    let head = if first { 7 } else { 9 };
    let own = timeline.scheduled().filter(|it| it.line == head + line);
    let each: Vec<f64> = own.map(|it| it.slot.released - it.slot.start).collect();
    (each.iter().sum(), each.len())
}

#[test]
fn only_a_sum_into_zeros_is_its_first_term() {
    let body = "s = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
for k in nl.affine_range(4):
  x = nisa.activation(op=nl.exp, data=t, bias=t[:, nl.ds(k, 1)])
  s OPERATOR x
o[...] = nl.copy(s)";
    let left = |operator: &str| busy(true, &body.replace("OPERATOR", operator), 4).1;
    assert_eq!(left("+="), 3);
    for operator in ["-=", "*="] {
        assert_eq!(left(operator), 4, "{operator}");
    }
    let costs = ["+=", "-=", "*="].map(|it| cost(true, &body.replace("OPERATOR", it)));
    assert!(costs[0] < costs[1] && costs[0] < costs[2], "{costs:?}");
}

#[test]
fn a_transfer_that_adds_reads_its_target() {
    let machine = Machine::built_in("trn2").unwrap();
    let tile = 128 * 512 * 4;
    let memory = "h = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)\nnisa.dma_copy(dst=h, src=t)\n";
    for (target, read) in [("h", tile), ("o", 0)] {
        let body = format!("{memory}nisa.dma_copy(dst={target}, src=t");
        let told = [")", ", dst_rmw_op=nl.add)"].map(|end| {
            let (evaluation, timeline) = timed(false, &format!("{body}{end}"));
            let told = report(&evaluation.trace, &timeline, &machine);
            (told.hbm_read_bytes, told.hbm_write_bytes)
        });
        assert_eq!(told[1].0 - told[0].0, read, "{target}");
        assert_eq!(told[1].1, told[0].1, "{target}");
    }
}

#[test]
fn transfers_that_add_take_longer_than_others() {
    let body = "h = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.hbm)
nisa.dma_copy(dst=h, src=t)
for k in range(16):
  nisa.dma_copy(TRANSFERMODE)
nisa.dma_copy(dst=o, src=h)";
    for transfer in ["dst=h, src=t", "dst=t, src=h"] {
        let body = body.replace("TRANSFER", transfer);
        let plain = cost(false, &body.replace("MODE", ""));
        let sum = cost(false, &body.replace("MODE", ", dst_rmw_op=nl.add"));
        // Each waits for the one before, whose latency is the same.
        assert!(plain * 1.15 < sum, "{transfer}: {plain} ns, {sum} ns");
    }
}

#[test]
fn double_rows_take_two_operands_of_eight_bits() {
    let body = "x = nl.ndarray((128, 2, 128), dtype=nl.STATIONARY, buffer=nl.sbuf)
w = nl.ndarray((128, 2, 128), dtype=nl.MOVING, buffer=nl.sbuf)
nisa.memset(dst=x, value=1.0)
nisa.memset(dst=w, value=1.0)
p = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
nisa.nc_matmul(dst=p, stationary=x, moving=w, perf_mode=nisa.matmul_perf_mode.double_row)";
    let wide = ["bfloat16", "float16"];
    let narrow = ["float8_e4m3", "float8_e5m2"];
    for stationary in wide.iter().chain(&narrow) {
        for moving in wide.iter().chain(&narrow) {
            let body = body
                .replace("STATIONARY", stationary)
                .replace("MOVING", moving);
            if narrow.contains(stationary) && narrow.contains(moving) {
                timed(false, &body);
            } else {
                let (code, line) = refusal(false, &body);
                assert_eq!((code.as_str(), line), ("unsupported-dtype", 6), "{body}");
            }
        }
    }
    let with = |mode: &str| {
        let body = body.replace("STATIONARY", narrow[0]);
        let body = body.replace("MOVING", narrow[0]);
        body.replace("nisa.matmul_perf_mode.double_row", mode)
    };
    timed(false, &with("'double_row'"));
    for (mode, said) in [
        ("nisa.matmul_perf_mode.double_column", "not-simulated"),
        ("'whatever'", "argument-type"),
        ("7", "argument-type"),
    ] {
        let (code, line) = refusal(false, &with(mode));
        assert_eq!((code.as_str(), line), (said, 6), "{mode}");
    }
    // The first generation has no such mode.
    let source = kernel(
        false,
        &body
            .replace("STATIONARY", narrow[0])
            .replace("MOVING", narrow[0]),
    );
    let inputs = autocomp_trainium_sim::parse_inputs("a:f32[128,512]", Some(3)).unwrap();
    let options = autocomp_trainium_sim::Options::default();
    let failure = autocomp_trainium_sim::evaluate(&source, "solution", &inputs, &options);
    assert_eq!(failure.unwrap_err().code, "unsupported-mode");
}

#[test]
fn partitions_are_reduced_by_what_documents_name() {
    let body = |op: &str, dtype: &str| {
        format!(
            "x = nl.ndarray((128, 64), dtype={dtype}, buffer=nl.sbuf)
r = nl.ndarray((1, 64), dtype={dtype}, buffer=nl.sbuf)
nisa.memset(dst=x, value=1)
nisa.tensor_partition_reduce(dst=r, op={op}, data=x)"
        )
    };
    for op in ["nl.add", "nl.maximum"] {
        timed(false, &body(op, "nl.float32"));
    }
    timed(false, &body("nl.bitwise_xor", "nl.int32"));
    for op in ["nl.multiply", "nl.subtract", "nl.minimum"] {
        let (code, line) = refusal(false, &body(op, "nl.float32"));
        assert_eq!((code.as_str(), line), ("unsupported-operation", 4), "{op}");
    }
}

#[test]
fn operands_are_placed_in_accumulators_where_there_is_room() {
    // Sums under way in `banks` banks around an operation of two tiles, one of which could be there.
    let body = |banks: usize| {
        format!(
            "x = nl.copy(t, dtype=nl.bfloat16)
l = [nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum) for k in range({banks})]
for k in range({banks}):
  l[k] += nisa.nc_matmul(x[:, 0:128], x)
e = nl.exp(t)
o[...] = nl.multiply(e, t)
for k in range({banks}):
  l[k] += nisa.nc_matmul(x[:, 0:128], x)
for k in range({banks}):
  nl.store(y, nl.copy(l[k]))"
        )
    };
    let machine = Machine::built_in("trn1").unwrap();
    let of = |banks| busy(true, &body(banks), 6).0;
    let (room, full) = (of(7), of(8));
    assert_eq!(of(1), room);
    // One operand from each memory, or both from one in turn.
    let columns = 512.0 / machine.vector.ghz;
    assert!(0.8 * columns < full - room, "{room} ns, {full} ns");
    let evaluation = run(&kernel(true, &body(8)), true, false).unwrap();
    assert!(0.0 < time(&evaluation.trace, &machine, Passes::of(&evaluation)).latency_ns);
}
