//! What the third generation and its compiler are imitated in, each against the same work that is
//! free of it.

use autocomp_trainium_sim::calibrate::{calibrate, parse_cases};
use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Options, evaluate, parse_inputs};

const HEAD: &str = "import numpy as np\nimport neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\n";

/// Nanoseconds of a kernel of the first dialect, `change` made to the text of the machine.
fn cost(body: &str, inputs: &str, change: (&str, &str)) -> f64 {
    let text = include_str!("../../../../../../targets/trainium-trn2/machines/trn2.toml");
    let own = text.replace(change.0, change.1);
    assert!(change.0.is_empty() || own != text, "{change:?}");
    let machine = Machine::parse(&own).unwrap();
    let options = Options {
        functional: false,
        generation: 3,
        ..Options::default()
    };
    let source = format!("{HEAD}{body}");
    let inputs = parse_inputs(inputs, None).unwrap();
    let evaluation = evaluate(&source, "solution", &inputs, &options);
    let evaluation = evaluation.unwrap_or_else(|it| panic!("{it}\n{source}"));
    let passes = Passes::of(&evaluation);
    time(&evaluation.trace, &machine, passes).latency_ns
}

/// Loads, applies a function to and stores `trips` pieces of `rows` times `width` numbers.
fn stream(trips: usize, rows: usize, width: usize) -> (String, String) {
    let body = format!(
        "def solution(a):
  o = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
  p = nl.arange({rows})[:, None]
  f = nl.arange({width})[None, :]
  for i in nl.affine_range({trips}):
    x = nl.load(a[p, i * {width} + f])
    nl.store(o[p, i * {width} + f], nisa.activation(op=nl.exp, data=x))
  return o
"
    );
    (body, format!("a:f32[{rows},{}]", trips * width))
}

const AS_IT_IS: (&str, &str) = ("", "");

#[test]
fn half_of_the_partitions_have_half_of_the_queues() {
    let (half, inputs) = stream(64, 64, 2048);
    let half = cost(&half, &inputs, AS_IT_IS);
    let (all, inputs) = stream(64, 128, 2048);
    let all = cost(&all, &inputs, AS_IT_IS);
    assert!(0.95 * all < half && half < 1.05 * all, "{half} {all}");
    let spread = ("queue_partitions = 8", "queue_partitions = 0");
    let (half, inputs) = stream(64, 64, 2048);
    assert!(cost(&half, &inputs, spread) < 0.7 * all);
}

/// Two tiles of which only one pair fits take turns; smaller ones overlap.
#[test]
fn a_tile_waits_for_the_place_of_another() {
    let (wide, inputs) = stream(16, 128, 24 * 1024);
    let wide = cost(&wide, &inputs, AS_IT_IS);
    let (narrow, inputs) = stream(96, 128, 4 * 1024);
    let narrow = cost(&narrow, &inputs, AS_IT_IS);
    assert!(1.2 * narrow < wide, "{narrow} {wide}");
}

#[test]
fn loops_of_a_multiple_of_sixteen_trips_do_not_rest() {
    let each = |trips: usize| {
        let (body, inputs) = stream(trips, 128, 2048);
        cost(&body, &inputs, AS_IT_IS) / trips as f64
    };
    assert!(each(64) + 500.0 < each(65), "{} {}", each(64), each(65));
    assert!(each(80) + 500.0 < each(82), "{} {}", each(80), each(82));
}

#[test]
fn iterations_of_loops_in_order_overlap() {
    let (body, inputs) = stream(32, 128, 2048);
    let ordered = body.replace("affine_range", "sequential_range");
    let affine = cost(&body, &inputs, AS_IT_IS);
    let rolled = ("overlapping_loops = true", "overlapping_loops = false");
    assert!(cost(&ordered, &inputs, AS_IT_IS) < 1.05 * affine);
    assert!(1.05 * affine < cost(&ordered, &inputs, rolled));
}

/// Runs that begin at no multiple of 64 bytes take another descriptor.
#[test]
fn crooked_runs_take_longer() {
    let (even, inputs) = stream(64, 128, 128);
    let (odd, _) = stream(64, 128, 124);
    let crooked = odd.replace("{124}", "124");
    let apart = ("joined_elements = 512", "joined_elements = 0");
    let even = cost(&even, &inputs, apart);
    let crooked = cost(&crooked, "a:f32[128,7936]", apart);
    assert!(even < crooked, "{even} {crooked}");
}

#[test]
fn small_pieces_that_go_on_are_joined() {
    let (small, inputs) = stream(256, 128, 128);
    let (large, _) = stream(64, 128, 512);
    let apart = ("joined_elements = 512", "joined_elements = 0");
    let joined = cost(&small, &inputs, AS_IT_IS);
    let alike = cost(&large, &inputs, AS_IT_IS);
    assert!((joined / alike - 1.0).abs() < 1e-9, "{joined} {alike}");
    assert!(1.2 * joined < cost(&small, &inputs, apart));
    // What does not lie side by side in main memory stays apart.
    let body = small.replace("i * 128 + f", "(255 - i) * 128 + f");
    let turned = cost(&body, &inputs, AS_IT_IS);
    assert!((turned / cost(&body, &inputs, apart) - 1.0).abs() < 1e-9);
}

/// Items of arrays of the host, those that were reshaped included.
#[test]
fn arrays_of_the_host_have_items() {
    let source = format!(
        "{HEAD}def solution(a):
  m = np.zeros((4, 2), dtype=np.float32)
  n = m.reshape((2, 4))
  for i in range(4):
    m[i, -1] = i + 1
  assert n[0, 1] == 1.0 and n[1, 3] == 4.0
  o = nl.ndarray((2, 4), dtype=nl.float32, buffer=nl.shared_hbm)
  c = nl.shared_constant(n)
  nl.store(o, nl.load(c))
  return o
"
    );
    let run = |source: &str| {
        let inputs = parse_inputs("a:f32[2,4]", Some(1)).unwrap();
        evaluate(source, "solution", &inputs, &Options::default())
    };
    let outputs = run(&source).unwrap_or_else(|it| panic!("{it}")).outputs;
    assert_eq!(outputs[0].data, [0.0, 1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0]);
    for wrong in ["m[0] = 1", "m[4, 0] = 1", "m[0, 0] = 'x'", "m[0:2, 0] = 1"] {
        let source = source.replace("m[i, -1] = i + 1", wrong);
        assert!(run(&source).is_err(), "{wrong}");
    }
}

/// What a suite tells beside ratios: pairs, regret and busy shares.
#[test]
fn a_suite_tells_pairs_regret_and_busy_shares() {
    let (fast, inputs) = stream(16, 128, 2048);
    let (slow, _) = stream(16, 128, 2048);
    let slow = slow.replace(
        "nl.exp, data=x",
        "nl.exp, data=nisa.activation(op=nl.exp, data=x)",
    );
    let table = format!(
        "id\tfile\tentry\tinputs\tmachine\tlatency_us\tgroup\tscalar_percent\tdma_percent\n\
         a\tfast\tsolution\t{inputs}\ttrn2\t60\tg\t30\t\n\
         b\tslow\tsolution\t{inputs}\ttrn2\t40\tg\t\t1\n\
         c\tfast\tsolution\t{inputs}\ttrn2\t30\th\t\t\n"
    );
    let cases = parse_cases(&table).unwrap();
    let source = |file: &str| {
        let body = if file == "fast" { &fast } else { &slow };
        Ok(format!("{HEAD}{body}"))
    };
    let report = calibrate(&cases, source, Machine::built_in, |_| {});
    let [first, second] = &report.groups[..] else {
        panic!("{report:?}");
    };
    assert_eq!((first.pairs, second.pairs), ((1, 0), (0, 0)));
    assert_eq!((first.regret, second.regret), (1.5, 1.0));
    assert_eq!(report.pair_order, Some(0.0));
    let shares: Vec<usize> = report.rows.iter().map(|row| row.busy.len()).collect();
    assert_eq!(shares, [1, 1, 0]);
    assert!(report.rows[1].busy[0].simulated > 50.0, "{report:?}");
    assert!(report.busy_within_ten.unwrap() <= 0.5);
}

#[test]
fn the_clock_divides_every_duration() {
    let (body, inputs) = stream(16, 128, 1024);
    let published = cost(&body, &inputs, AS_IT_IS);
    let documented = cost(&body, &inputs, ("clock = 2.0", "clock = 1.0"));
    assert!((documented / published - 2.0).abs() < 1e-9);
}

/// Two-byte elements are turned as blocks of 128 partitions by 16, at nine tenths of the rate of a
/// copy; others one by one.
#[test]
fn transfers_turn_blocks_nearly_as_fast_as_they_copy() {
    let turned = |dtype: &str, columns: usize| {
        let body = format!(
            "
@nki.jit
def solution(a):
  o = nl.ndarray((256, 128, {columns}), dtype=a.dtype, buffer=nl.shared_hbm)
  for i in nl.affine_range(256):
    t = nisa.dma_transpose(a[i * {columns}:(i + 1) * {columns}, :])
    nl.store(o[i], t)
  return o
"
        );
        cost(
            &body,
            &format!("a:{dtype}[{},128]", 256 * columns),
            AS_IT_IS,
        )
    };
    let (blocks, wide) = (turned("bf16", 128), turned("f32", 128));
    let odd = turned("bf16", 120);
    assert!(3.0 * blocks < wide, "{blocks} {wide}");
    assert!(2.0 * blocks < odd, "{blocks} {odd}");
}
