//! Kernels of two cores: what they compute, what they may not do, and what they cost.

use autocomp_trainium_sim::timing::{Machine, Passes, time_cores};
use autocomp_trainium_sim::{Evaluation, Failure, FailureKind, Options, evaluate, parse_inputs};

pub(crate) const START: &str = "import nki\nimport nki.language as nl\nimport nki.isa as nisa\n";

pub(crate) fn run(source: &str, inputs: &str) -> Result<Evaluation, Box<Failure>> {
    let inputs = parse_inputs(inputs, Some(7)).unwrap();
    let options = Options {
        generation: 3,
        ..Options::default()
    };
    evaluate(source, "solution", &inputs, &options)
}

/// A kernel of two cores whose body is `body`, with the core in `p`, an output `o` and two tiles.
pub(crate) fn kernel(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "{START}@nki.jit\ndef kernel(a):\n  p = nl.program_id(0)\n  o = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  x = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n  y = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n{body}  return o\n\ndef solution(a):\n  return kernel[2](a)\n"
    )
}

pub(crate) fn outputs(body: &str) -> Vec<f32> {
    let source = kernel(body);
    let mut found = run(&source, "a:f32[8,8]").unwrap_or_else(|it| panic!("{it}\n{source}"));
    found.outputs.remove(0).data
}

pub(crate) fn refused(body: &str) -> String {
    run(&kernel(body), "a:f32[8,8]").unwrap_err().to_string()
}

pub(crate) fn input() -> Vec<f32> {
    match &parse_inputs("a:f32[8,8]", Some(7)).unwrap()[0].1 {
        autocomp_trainium_sim::Input::Array(array) => array.data.clone(),
        other => panic!("{other:?}"),
    }
}

pub(crate) const OWN_HALF: &str = "nisa.dma_copy(dst=x, src=a[nl.ds(4 * p, 4), :])\n";

#[test]
fn each_core_does_its_part() {
    let found = outputs(&format!(
        "{OWN_HALF}nisa.tensor_scalar(dst=y, data=x, op0=nl.multiply, operand0=nl.num_programs(0) + p)\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=y)\n"
    ));
    let wanted: Vec<f32> = (0..)
        .zip(input())
        .map(|(at, x)| x * if at < 32 { 2.0 } else { 3.0 })
        .collect();
    assert_eq!(found, wanted);
}

#[test]
fn a_barrier_shows_what_the_other_core_wrote() {
    let found = outputs(&format!(
        "s = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n{OWN_HALF}nisa.dma_copy(dst=s[nl.ds(4 * p, 4), :], src=x)\nnisa.core_barrier(data=s, cores=(0, 1))\nnisa.dma_copy(dst=y, src=s[nl.ds(4 * (1 - p), 4), :])\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=y)\n"
    ));
    let input = input();
    assert_eq!(found, [&input[32..], &input[..32]].concat());
}

#[test]
fn tiles_are_exchanged() {
    let found = outputs(&format!(
        "{OWN_HALF}nisa.sendrecv(src=x, dst=y, send_to_rank=1 - p, recv_from_rank=1 - p, pipe_id=0)\nnisa.tensor_tensor(dst=y, data1=x, data2=y, op=nl.add)\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=y)\n"
    ));
    let input = input();
    let sums: Vec<f32> = input[..32]
        .iter()
        .zip(&input[32..])
        .map(|(a, b)| a + b)
        .collect();
    assert_eq!(found, [&sums[..], &sums[..]].concat());
}

#[test]
fn tiles_are_exchanged_and_reduced() {
    let body = |made: &str, operator: &str| {
        format!(
            "{OWN_HALF}{made}nisa.sendrecv_compute(src=s, dst=d, send_to_rank=1 - p, recv_from_rank=1 - p, reduce_op=nl.{operator})\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=d)\n"
        )
    };
    let on_chip = "s = x\nd = y\n";
    let in_memory = "s = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.private_hbm)\nd = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.private_hbm)\nnisa.dma_copy(dst=s, src=x)\n";
    type Reduce = fn(f32, f32) -> f32;
    let operators: [(&str, Reduce); 3] = [
        ("add", |a, b| a + b),
        ("maximum", f32::max),
        ("minimum", f32::min),
    ];
    let input = input();
    for (name, reduce) in operators {
        let pairs = input[..32].iter().zip(&input[32..]);
        let wanted: Vec<f32> = pairs.map(|(a, b)| reduce(*a, *b)).collect();
        for made in [on_chip, in_memory] {
            let found = outputs(&body(made, name));
            assert_eq!(found, [&wanted[..], &wanted[..]].concat(), "{name} {made}");
        }
    }
    let in_both = "s = x\nd = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.private_hbm)\n";
    let shared = "s = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\nd = s\n";
    let cases = [
        (body(in_both, "add"), "`dst` is in hbm"),
        (body(shared, "add"), "`src` is in shared_hbm"),
        (body(on_chip, "multiply"), "nisa.sendrecv_compute adds"),
        (body("s = x\nd = x\n", "add"), "that overlaps it"),
        (
            format!(
                "{OWN_HALF}if p == 0:\n  nisa.sendrecv(src=x, dst=y, send_to_rank=1, recv_from_rank=1, pipe_id=0)\nelse:\n  nisa.sendrecv_compute(src=x, dst=y, send_to_rank=0, recv_from_rank=0, reduce_op=nl.add)\n"
            ),
            "core 1 waits at the sendrecv_compute of line 14",
        ),
    ];
    for (body, wanted) in cases {
        let found = refused(&body);
        assert!(found.contains(wanted), "{found}");
    }
}

#[test]
fn races_are_refused_with_both_lines() {
    let both_write = refused(&format!(
        "{OWN_HALF}nisa.dma_copy(dst=o[nl.ds(2 * p, 4), :], src=x)\n"
    ));
    let without_barrier = refused(&format!(
        "s = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\nnisa.memset(dst=y, value=0)\n{OWN_HALF}nisa.dma_copy(dst=s[nl.ds(4 * p, 4), :], src=x)\nif p == 1:\n  nisa.dma_copy(dst=y, src=s[0:4, :])\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=y)\n"
    ));
    let barrier_on_another = refused(&format!(
        "s = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n{OWN_HALF}nisa.dma_copy(dst=s[nl.ds(4 * p, 4), :], src=x)\nnisa.core_barrier(o, (0, 1))\nnisa.dma_copy(dst=y, src=s[nl.ds(4 * (1 - p), 4), :])\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=y)\n"
    ));
    let wanted = [
        "line 11: element [2, 0] of the shared tensor made at line 7: core 0 writes it at line 11, core 1 writes it at line 11,",
        "line 13: element [0, 0] of the shared tensor made at line 10: core 0 writes it at line 13, core 1 reads it at line 15,",
        "line 12: element [0, 0] of the shared tensor made at line 10: core 0 writes it at line 12, core 1 reads it at line 14,",
    ];
    for (found, wanted) in [both_write, without_barrier, barrier_on_another]
        .iter()
        .zip(wanted)
    {
        assert!(
            found.starts_with(wanted) && found.contains("[cores-race]"),
            "{found}"
        );
    }
}

#[test]
fn a_read_after_the_barrier_races_with_a_later_write() {
    let body = |second: &str| {
        format!(
            "s = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n{OWN_HALF}nisa.dma_copy(dst=s[nl.ds(4 * p, 4), :], src=x)\nnisa.core_barrier(s, (0, 1))\nnisa.dma_copy(dst=y, src=s[nl.ds(4 * (1 - p), 4), :])\n{second}nisa.dma_copy(dst=s[nl.ds(4 * p, 4), :], src=y)\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=y)\n"
        )
    };
    assert!(refused(&body("")).contains("[cores-race]"));
    outputs(&body("nisa.core_barrier(s, (0, 1))\n"));
}

#[test]
fn what_two_cores_cannot_do_is_refused() {
    let cases = [
        "if p == 0:\n  nisa.core_barrier(o, (0, 1))\n",
        "if p == 0:\n  s = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n",
        "nisa.sendrecv(src=x, dst=y, send_to_rank=p, recv_from_rank=1 - p, pipe_id=0)\n",
        "nisa.memset(dst=x, value=0)\nnisa.sendrecv(src=x, dst=y, send_to_rank=1 - p, recv_from_rank=1 - p, pipe_id=p)\n",
        "h = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.hbm)\nnisa.core_barrier(h, (0, 1))\n",
        "nisa.core_barrier(o, (0, 1, 2))\n",
        "nisa.core_barrier(o, (0, 1), engine=5)\n",
        "nisa.core_barrier(o, (0, 1), engine=nisa.dma_engine)\n",
        "nisa.sendrecv(src=x, dst=y, send_to_rank=1 - p, recv_from_rank=1 - p, pipe_id=0, dma_engine=7)\n",
        "nisa.sendrecv(src=x, dst=y, send_to_rank=1 - p, recv_from_rank=1 - p, pipe_id=0, dma_engine=nisa.gpsimd_engine)\n",
        "nisa.memset(dst=x, value=0)\nnisa.sendrecv(src=x, dst=x, send_to_rank=1 - p, recv_from_rank=1 - p, pipe_id=0)\n",
        "nisa.memset(dst=x, value=0)\nnisa.sendrecv(src=x[:, 0:5], dst=x[:, 3:8], send_to_rank=1 - p, recv_from_rank=1 - p, pipe_id=0)\n",
    ];
    let mut found: Vec<String> = cases.iter().map(|body| refused(body)).collect();
    let launched = |how: &str, generation: u8| {
        let source = kernel("nisa.memset(dst=x, value=0)\nnisa.core_barrier(o, (0, 1))\n")
            .replace("kernel[2](a)", how);
        let options = Options {
            generation,
            ..Options::default()
        };
        let inputs = parse_inputs("a:f32[8,8]", Some(7)).unwrap();
        evaluate(&source, "solution", &inputs, &options)
            .unwrap_err()
            .to_string()
    };
    found.extend([launched("kernel(a)", 3), launched("kernel[4](a)", 3)]);
    let private = kernel(
        "nisa.memset(dst=x, value=0)\nh = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.hbm)\nnisa.dma_copy(dst=h, src=x)\nreturn h\n",
    );
    found.push(run(&private, "a:f32[8,8]").unwrap_err().to_string());
    let wanted = [
        "line 11: core 0 waits at the barrier of line 11 on shared tensor 1 while core 1 waits at the end of the kernel",
        "line 15: core 0 has made 2 shared tensors, core 1 1",
        "line 10: err_unsupported_mode: nisa.sendrecv: `send_to_rank` is 0 on core 0",
        "line 11: core 0 waits at the sendrecv of line 11 with pipe_id=0, of float32[4, 8] while core 1 waits at the sendrecv of line 11 with pipe_id=1",
        "line 11: err_unsupported_memory: nisa.core_barrier: `data` is in hbm",
        "line 10: nisa.core_barrier: `cores` must be the tuple (0, 1)",
        "line 10: nisa.core_barrier: `engine` must be an engine of nisa, not a int",
        "line 10: nisa.core_barrier: `engine` must be an engine of nisa, not a module",
        "line 10: nisa.sendrecv: `dma_engine` must be nisa.dma_engine.dma or nisa.dma_engine.gpsimd_dma, not a int",
        "line 10: nisa.sendrecv: `dma_engine` must be nisa.dma_engine.dma or nisa.dma_engine.gpsimd_dma, not a engine",
        "line 11: sendrecv reads a part of shape [4, 8] of the tensor made at line 8 and writes another of shape [4, 8] that overlaps it",
        "line 11: sendrecv reads a part of shape [4, 5] of the tensor made at line 8 and writes another of shape [4, 5] that overlaps it",
        "line 11: nisa.core_barrier needs two cores, and this kernel runs on one",
        "line 15: err_unsupported_mode: a kernel is launched on [4] cores",
        "line 11: err_unsupported_memory: a kernel of two cores returns a tensor in hbm",
    ];
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(wanted), "{found}");
    }
}

#[test]
fn shapes_alone_run_on_two_cores_too() {
    let source = kernel(
        "nisa.core_barrier(o, (0, 1))\nif p == 1:\n  nisa.memset(dst=x, value=1)\n  nisa.dma_copy(dst=o[0:4, :], src=x)\n",
    );
    let inputs = parse_inputs("a:f32[8,8]", None).unwrap();
    let options = Options {
        generation: 3,
        functional: false,
        ..Options::default()
    };
    let found = evaluate(&source, "solution", &inputs, &options).unwrap();
    assert_eq!(found.other_cores.len(), 1);
}

#[test]
fn one_cores_failure_is_told_and_not_that_the_other_waits() {
    let found = refused("if p == 1:\n  assert False, \"here\"\nnisa.core_barrier(o, (0, 1))\n");
    assert!(found.contains("here"), "{found}");
}

#[test]
fn a_core_that_waits_for_one_that_is_through_is_out_of_step() {
    let again = "  o, p = kernel[2](a)\n  if p == 0:\n    kernel[2](a)\n  return o\n";
    let source = kernel(&format!(
        "{OWN_HALF}nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\nreturn o, p\n"
    ))
    .replace("  return kernel[2](a)\n", again);
    let found = run(&source, "a:f32[8,8]").unwrap_err();
    assert_eq!(found.kind, FailureKind::Rejected, "{found}");
    assert!(
        found.to_string().starts_with("line 18: core 0 waits at the end of the kernel while core 1 has come to the end of its program [cores-out-of-step]"),
        "{found}"
    );
}

/// Launches stand side by side, never within each other, on however many cores.
#[test]
fn a_launch_within_a_launch_is_refused() {
    let inner = "@nki.jit\ndef inner(x):\n  return 0\n";
    for (outer, own) in [(2, 1), (2, 2), (1, 1), (1, 2)] {
        let source = kernel(&format!("inner[{own}](a)\n"))
            .replace(START, &format!("{START}{inner}"))
            .replace("kernel[2](a)", &format!("kernel[{outer}](a)"));
        let found = run(&source, "a:f32[8,8]").unwrap_err().to_string();
        assert!(
            found.starts_with("line 13: err_unsupported_mode: a kernel is launched within another"),
            "{found}"
        );
    }
    let beside = kernel(&format!(
        "{OWN_HALF}nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\n"
    ))
    .replace(START, &format!("{START}{inner}"))
    .replace(
        "  return kernel",
        "  inner[1](a)\n  inner[2](a)\n  return kernel",
    );
    assert_eq!(run(&beside, "a:f32[8,8]").unwrap().outputs[0].data, input());
}

/// A chain of `one` activations on the first core, a barrier, `two` on the second.
fn in_turn(one: usize, two: usize) -> f64 {
    let chain = |count: usize| {
        format!("  for i in range({count}):\n    nisa.activation(dst=x, data=x, op=nl.tanh)\n")
    };
    let source = kernel(&format!(
        "nisa.memset(dst=x, value=0)\ns = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.shared_hbm)\nif p == 0:\n{}  nisa.dma_copy(dst=s, src=x)\nnisa.core_barrier(s, (0, 1))\nnisa.dma_copy(dst=x, src=s)\nif p == 1:\n{}nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\n",
        chain(one),
        chain(two)
    ));
    let found = run(&source, "a:f32[8,8]").unwrap();
    let machine = Machine::built_in("trn2").unwrap();
    let cores = time_cores(&found, &machine, Passes::of(&found));
    cores.timelines[cores.slowest].latency_ns
}

#[test]
fn a_core_that_waits_pays_for_the_work_of_the_other() {
    let (none, first, second, both) = (
        in_turn(1, 1),
        in_turn(201, 1),
        in_turn(1, 201),
        in_turn(201, 201),
    );
    assert!(none < first && none < second);
    // What the cores do one after the other adds up.
    let apart = (first - none) + (second - none);
    assert!(
        (both - none - apart).abs() < 0.01 * apart,
        "{none} {first} {second} {both}"
    );
}

/// The engine that stands at a barrier does nothing else; the others go on.
#[test]
fn the_engine_of_a_barrier_waits_there() {
    let source = kernel(
        "z = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.memset(dst=x, value=0)\nnisa.memset(dst=z, value=0)\nif p == 1:\n  for i in range(200):\n    nisa.activation(dst=x, data=x, op=nl.tanh)\nnisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\nnisa.core_barrier(o, (0, 1))\nfor i in range(50):\n  nisa.activation(dst=z, data=z, op=nl.tanh)\nnisa.tensor_copy(dst=y, src=z, engine=nisa.gpsimd_engine)\n",
    );
    let found = run(&source, "a:f32[8,8]").unwrap();
    let machine = Machine::built_in("trn2").unwrap();
    let cores = time_cores(&found, &machine, Passes::of(&found));
    let starts = |core: usize, line: u32| -> Vec<f64> {
        let scheduled = cores.timelines[core].scheduled();
        let of_line = scheduled.filter(|it| it.line == line);
        of_line.map(|it| it.slot.start).collect()
    };
    let (barrier, stored) = (starts(0, 17)[0], [starts(0, 16)[0], starts(1, 16)[0]]);
    assert!(
        stored[0] < stored[1] && stored[1] < barrier,
        "{stored:?} {barrier}"
    );
    assert_eq!(starts(1, 17), [barrier]);
    // The copy waits for the barrier although it could have begun.
    let (chain, copy) = (starts(0, 19), starts(0, 20)[0]);
    assert!(chain[49] < stored[1] && barrier < copy, "{chain:?} {copy}");
    // What the other core's transfers take is what is not known.
    let unknown = cores.most_of_waiting_ns();
    let other = &cores.timelines[1 - cores.slowest];
    assert!(0.0 < unknown && unknown < other.latency_ns, "{unknown}");
}

/// The time of two cores that take turns is that of one after the other, however often they meet.
#[test]
fn turns_add_up_however_many_there_are() {
    let latency = |turns: usize| {
        let source = kernel(&format!(
            "nisa.memset(dst=x, value=0)\nfor i in range({turns}):\n  if i % 2 == p:\n    nisa.activation(dst=x, data=x, op=nl.tanh)\n    nisa.dma_copy(dst=o[0:4, :], src=x)\n  nisa.core_barrier(o, (0, 1))\n"
        ));
        let found = run(&source, "a:f32[8,8]").unwrap_or_else(|it| panic!("{it}\n{source}"));
        let machine = Machine::built_in("trn2").unwrap();
        let cores = time_cores(&found, &machine, Passes::of(&found));
        cores.into_slowest().latency_ns
    };
    let (some, twice, many) = (latency(100), latency(200), latency(10_000));
    let each = (twice - some) / 100.0;
    let wanted = some + 9_900.0 * each;
    assert!(
        (many - wanted).abs() < 0.001 * wanted,
        "{some} {twice} {many}"
    );
}

/// Both wait until the slower one has its tile, and each transfer begins as if it were alone.
#[test]
fn an_exchange_costs_what_the_slower_core_and_a_transfer_take() {
    let latency = |count: usize, exchange: &str| {
        let source = kernel(&format!(
            "{OWN_HALF}if p == 1:\n  for i in range({count}):\n    nisa.activation(dst=x, data=x, op=nl.tanh)\n{exchange}nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=y)\n"
        ));
        let found = run(&source, "a:f32[8,8]").unwrap_or_else(|it| panic!("{it}\n{source}"));
        let machine = Machine::built_in("trn2").unwrap();
        let cores = time_cores(&found, &machine, Passes::of(&found));
        let of = |core: usize| cores.timelines[core].latency_ns;
        [of(0), of(1)]
    };
    let exchange =
        "nisa.sendrecv(src=x, dst=y, send_to_rank=1 - p, recv_from_rank=1 - p, pipe_id=0)\n";
    let (short, long) = (latency(1, exchange), latency(201, exchange));
    let alone = latency(201, "nisa.tensor_copy(dst=y, src=x)\n");
    assert!((long[0] - long[1]).abs() < 0.05 * long[1], "{long:?}");
    assert!(
        short[0] < long[0] && alone[1] < long[1],
        "{short:?} {alone:?} {long:?}"
    );
}

#[test]
fn a_second_kernel_waits_for_both_cores_of_the_first() {
    let chain = "    for i in range(200):\n      nisa.activation(dst=x, data=x, op=nl.tanh)\n";
    let kernel = |name: &str, busy: u8| {
        format!(
            "@nki.jit\ndef {name}(a):\n  p = nl.program_id(0)\n  o = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.shared_hbm)\n  x = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\n  {OWN_HALF}  if p == {busy}:\n{chain}  nisa.dma_copy(dst=o[nl.ds(4 * p, 4), :], src=x)\n  return o\n"
        )
    };
    let latency = |first: u8, second: u8| {
        let source = format!(
            "{START}{}{}def solution(a):\n  return second[2](first[2](a))\n",
            kernel("first", first),
            kernel("second", second)
        );
        let found = run(&source, "a:f32[8,8]").unwrap_or_else(|it| panic!("{it}\n{source}"));
        let machine = Machine::built_in("trn2").unwrap();
        let cores = time_cores(&found, &machine, Passes::of(&found));
        cores.into_slowest().latency_ns
    };
    let (none, one, other) = (latency(2, 2), latency(0, 2), latency(0, 1));
    assert!(
        (other - none - 2.0 * (one - none)).abs() < 0.02 * (other - none),
        "{none} {one} {other}"
    );
}
