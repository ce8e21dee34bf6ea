//! Holds every transformation to the results of the kernel it started from.

use crate::interpreter::Machine;
use crate::parse;
use autocomp_core::Seed;
use autocomp_gemmini_rewriter::HardwareLimits;
use autocomp_gemmini_rewriter::inside::Kernel;
use autocomp_gemmini_rewriter::inside::TRANSFORMATIONS;
use autocomp_gemmini_rewriter::inside::View;
use autocomp_gemmini_rewriter::inside::outcome;
use autocomp_gemmini_rewriter::inside::print;
use proptest::prelude::*;

/// A tiled product that loads everything when it is needed.
pub(crate) fn product(m: usize, n: usize, k: usize) -> String {
    format!(
        "void solution(int8_t A[{m}][{k}], int8_t B[{k}][{n}], int8_t C[{m}][{n}]) {{
  config_ex(WEIGHT_STATIONARY, NO_ACTIVATION, 1, false, false);
  config_st({n});
  config_ld(0, 1.0f, 16, 0);
  config_ld({k}, 1.0f, 16, 1);
  config_ld({n}, 1.0f, 16, 2);
  for (int i = 0; i < {mi}; i++) {{
    for (int j = 0; j < {nj}; j++) {{
      for (int jj = 0; jj < 4; jj++) {{
        mvin(0, 0x80000000 + jj * 16, 16, 16);
      }}
      for (int ko = 0; ko < {ko}; ko++) {{
        mvin2(&A[i * 16][ko * 64], 0, 64, 16);
        for (int k = 0; k < 4; k++) {{
          mvin3(&B[ko * 64 + k * 16][j * 64], 1024 + k * 64, 64, 16);
        }}
        for (int k = 0; k < 4; k++) {{
          for (int jj = 0; jj < 4; jj++) {{
            preload(1024 + k * 64 + jj * 16, 0xc0000000 + jj * 16, 16, 16, 16, 16);
            compute_preloaded(k * 16, 0xffffffff, 16, 16, 16, 16);
          }}
        }}
      }}
      for (int jj = 0; jj < 4; jj++) {{
        mvout(&C[i * 16][j * 64 + jj * 16], 0x80000000 + jj * 16, 16, 16);
      }}
    }}
  }}
  fence();
}}
",
        mi = m / 16,
        nj = n / 64,
        ko = k / 64,
    )
}

fn result(kernel: &Kernel, limits: &HardwareLimits) -> Option<Vec<i8>> {
    let mut machine = Machine::new(kernel, limits);
    machine.run(&kernel.body)?;
    machine.arrays.remove("C")
}

/// Walks from `source` through `length` random steps; returns the numbers of
/// steps taken and of steps after which the result was wrong. The check of the
/// dataflow must agree with the results every time.
fn walk(source: &str, seed: u64, length: usize) -> (usize, usize) {
    let limits = HardwareLimits::gemmini_int8_16();
    let mut kernel = parse(source).expect("the fixture parses");
    let expected = result(&kernel, &limits).expect("the fixture runs");
    let flow = outcome(&kernel, &limits).expect("the fixture can be followed");
    let mut random = Seed(seed);
    let (mut taken, mut wrong) = (0, 0);
    for _ in 0..length {
        let view = View::of(&kernel, &limits);
        let transformation = TRANSFORMATIONS[random.below(TRANSFORMATIONS.len())];
        let steps = transformation.steps(&view);
        if steps.is_empty() {
            continue;
        }
        let step = &steps[random.below(steps.len())];
        let Some(next) = transformation.apply(&view, step) else {
            continue;
        };
        taken += 1;
        // What is printed is what the compiler sees.
        let text = print(&next.kernel);
        let read = parse(&text).expect("what is printed parses");
        let settled = print(&read);
        let again = parse(&settled).expect("what is printed parses");
        assert_eq!(print(&again), settled, "printing is stable");
        assert!(!next.sentence.is_empty());
        let is_right = result(&read, &limits).as_ref() == Some(&expected);
        let seems_right = outcome(&read, &limits).as_ref() == Some(&flow);
        assert_eq!(seems_right, is_right, "{step:?} on\n{}", print(&kernel));
        if is_right {
            kernel = read;
        } else {
            wrong += 1;
        }
    }
    (taken, wrong)
}

#[test]
fn the_fixture_computes_the_product() {
    let limits = HardwareLimits::gemmini_int8_16();
    let kernel = parse(&product(32, 64, 64)).expect("parses");
    let mut machine = Machine::new(&kernel, &limits);
    let (a, b) = (machine.arrays["A"].clone(), machine.arrays["B"].clone());
    machine.run(&kernel.body).expect("runs");
    for i in 0..32 {
        for j in 0..64 {
            let sum: i32 = (0..64)
                .map(|k| i32::from(a[i * 64 + k]) * i32::from(b[k * 64 + j]))
                .sum();
            assert_eq!(
                i32::from(machine.arrays["C"][i * 64 + j]),
                sum.clamp(-128, 127)
            );
        }
    }
}

#[test]
fn random_chains_keep_the_result() {
    let (mut taken, mut wrong) = (0, 0);
    for seed in 0..24 {
        let shape = [(48, 128, 128), (64, 64, 192), (32, 192, 64)][seed as usize % 3];
        let counts = walk(&product(shape.0, shape.1, shape.2), seed, 10);
        taken += counts.0;
        wrong += counts.1;
    }
    assert!(120 < taken, "only {taken} steps applied");
    // What is wrong is caught before it is proposed, but costs time.
    assert!(4 * wrong <= taken, "{wrong} of {taken} steps are wrong");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_does_not_panic(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }

    #[test]
    fn damaged_kernels_do_not_panic(
        cuts in proptest::collection::vec((0usize..1500, 0usize..12, "[-+*/%&|(){};<0-9a-z ]{0,6}"), 1..5)
    ) {
        let mut text = product(32, 64, 64);
        for (from, length, insert) in cuts {
            let from = from.min(text.len());
            let to = (from + length).min(text.len());
            text.replace_range(from..to, &insert);
        }
        if let Ok(kernel) = parse(&text) {
            let once = print(&kernel);
            if let Ok(again) = parse(&once) {
                prop_assert_eq!(print(&again), once);
            }
            let limits = HardwareLimits::gemmini_int8_16();
            let view = View::of(&kernel, &limits);
            for transformation in TRANSFORMATIONS {
                for step in transformation.steps(&view).iter().take(6) {
                    let _ = transformation.apply(&view, step);
                }
            }
        }
    }
}
