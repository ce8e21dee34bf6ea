//! Bytes to and from main memory, where tensors do not fit the on-chip memory.

use autocomp_trainium_sim::feedback::report;
use autocomp_trainium_sim::timing::{Machine, Passes, time};
use autocomp_trainium_sim::{Options, evaluate, parse_inputs};

const HEAD: &str =
    "import neuronxcc.nki.language as nl\nimport neuronxcc.nki.isa as nisa\nimport numpy as np\n";
/// Bytes of a tile of 128 x 512 numbers.
const TILE: u64 = 128 * 512 * 4;

/// Bytes read and written, in tiles.
fn tiles(source: &str, inputs: &str) -> (f64, f64) {
    let machine = Machine::built_in("trn1").unwrap();
    let options = Options {
        functional: false,
        ..Options::default()
    };
    let inputs = parse_inputs(inputs, None).unwrap();
    let evaluation = evaluate(&format!("{HEAD}{source}"), "solution", &inputs, &options).unwrap();
    let timeline = time(&evaluation.trace, &machine, Passes::of(&evaluation));
    let report = report(&evaluation.trace, &timeline, &machine);
    let tiles = |bytes: u64| bytes as f64 / TILE as f64;
    (tiles(report.hbm_read_bytes), tiles(report.hbm_write_bytes))
}

/// Four products with weights of `count` tiles that are loaded ahead, each 2 KiB in a partition.
fn product(count: u32) -> (f64, f64) {
    let source = format!(
        "def solution(x, w):
  o = nl.ndarray((4, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
  kept = nl.ndarray(({count}, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
  for k in nl.affine_range({count}):
    kept[k] = nl.load(w[k])
  for i in nl.affine_range(4):
    own = nl.load(x[i])
    sums = nl.zeros((nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.psum)
    for k in nl.affine_range({count}):
      sums += nisa.nc_matmul(own, kept[k])
    nl.store(o[i], nl.copy(sums))
  return o
"
    );
    tiles(&source, &format!("x:f32[4,128,128];w:f32[{count},128,512]"))
}

#[test]
fn what_is_loaded_ahead_is_kept_whole_or_not_at_all() {
    // The other operand is a quarter of a tile, four times.
    assert_eq!(product(80), (81.0, 4.0));
    assert_eq!(product(90), (4.0 * 90.0 + 1.0, 4.0));
}

/// Sums in `count` tiles over three iterations.
fn sums(count: u32) -> (f64, f64) {
    let source = format!(
        "def solution(w):
  o = nl.ndarray(({count}, 128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
  kept = nl.zeros(({count}, nl.par_dim(128), 512), dtype=nl.float32, buffer=nl.sbuf)
  for i in nl.sequential_range(3):
    for k in nl.affine_range({count}):
      kept[k] += nl.load(w[i, k])
  for k in nl.affine_range({count}):
    nl.store(o[k], kept[k])
  return o
"
    );
    tiles(&source, &format!("w:f32[3,{count},128,512]"))
}

#[test]
fn sums_that_do_not_fit_go_out_after_each_addition() {
    assert_eq!(sums(80), (3.0 * 80.0, 80.0));
    // Stored three times; loaded for the second and third addition and for the result.
    assert_eq!(sums(90), (6.0 * 90.0, 4.0 * 90.0));
}

#[test]
fn a_reduction_over_a_loop_is_of_the_place_that_it_is_assigned_to() {
    let source = "def solution(a):
  o = nl.ndarray((3, 128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
  t = nl.ndarray((3, nl.par_dim(128), 8), dtype=nl.float32, buffer=nl.sbuf)
  for i in nl.sequential_range(2):
    for j in nl.affine_range(3):
      x = nl.load(a[i, j])
      t[j] = nl.loop_reduce(x, op=np.add, loop_indices=[i], dtype=nl.float32)
  for j in nl.affine_range(3):
    nl.store(o[j], t[j])
  return o
";
    let inputs = parse_inputs("a:f32[2,3,128,8]", Some(3)).unwrap();
    let autocomp_trainium_sim::Input::Array(a) = &inputs[0].1 else {
        panic!("an array");
    };
    let (first, second) = a.data.split_at(a.data.len() / 2);
    let right: Vec<f32> = first.iter().zip(second).map(|(a, b)| a + b).collect();
    let source = format!("{HEAD}{source}");
    let evaluation = evaluate(&source, "solution", &inputs, &Options::default()).unwrap();
    assert_eq!(evaluation.outputs[0].data, right);
}
