//! Kernels that the rewriter makes compute what the plain ones do.

use crate::support;

use autocomp_core::{MenuItem, Outcome, PlanChoice, RewriteError, Rewriter, Seed};
use autocomp_host::rewriter::HostRewriter;

const MATRICES: &str = r#"
target = "host-x86-64-avx2"
description = "A product whose sizes fit no tile"
entry = "solution"
signature = "void solution(float A[37][29], float B[29][83], float C[37][83])"
tolerance = { kind = "close", relative = 0.0, absolute = 1e-4 }
work = { macs = 89059, bytes = 26196 }
buffer = [
  { name = "A", dtype = "float32", shape = [37, 29], role = "input" },
  { name = "B", dtype = "float32", shape = [29, 83], role = "input" },
  { name = "C", dtype = "float32", shape = [37, 83], role = "output" },
]
[[input_set]]
name = "real"
fill.A = { kind = "real", low = -1.0, high = 1.0 }
fill.B = { kind = "real", low = -1.0, high = 1.0 }
"#;

const PLAIN_MATRICES: &str = "void solution(float A[37][29], float B[29][83], float C[37][83]) {
  for (int i = 0; i < 37; i++) {
    for (int j = 0; j < 83; j++) {
      float sum = 0.0f;
      for (int k = 0; k < 29; k++) {
        sum += A[i][k] * B[k][j];
      }
      C[i][j] = sum;
    }
  }
}
";

const PICTURES: &str = r#"
target = "host-x86-64-avx2"
description = "A small convolution of bytes"
entry = "solution"
signature = "void solution(int8_t X[9][12][5], int8_t F[3][3][5][35], int32_t Y[7][10][35])"
tolerance = { kind = "exact" }
work = { macs = 110250, bytes = 11915 }
buffer = [
  { name = "X", dtype = "int8", shape = [9, 12, 5], role = "input" },
  { name = "F", dtype = "int8", shape = [3, 3, 5, 35], role = "input" },
  { name = "Y", dtype = "int32", shape = [7, 10, 35], role = "output" },
]
[[input_set]]
name = "whole"
fill.X = { kind = "uniform", low = -128, high = 127 }
fill.F = { kind = "uniform", low = -128, high = 127 }
"#;

const PLAIN_PICTURES: &str =
    "void solution(int8_t X[9][12][5], int8_t F[3][3][5][35], int32_t Y[7][10][35]) {
  for (int y = 0; y < 7; y++) {
    for (int x = 0; x < 10; x++) {
      for (int o = 0; o < 35; o++) {
        int32_t total = 0;
        for (int v = 0; v < 3; v++) {
          for (int u = 0; u < 3; u++) {
            for (int c = 0; c < 5; c++) {
              total += X[y + v][x + u][c] * F[v][u][c][o];
            }
          }
        }
        Y[y][x][o] = total;
      }
    }
  }
}
";

fn menu() -> Vec<MenuItem> {
    [
        "vectorize",
        "register-tiling",
        "packing",
        "loop-interchange",
        "unroll",
        "other",
    ]
    .map(|id| MenuItem {
        id: id.into(),
        ..MenuItem::default()
    })
    .to_vec()
}

fn choice(menu: &[MenuItem], iteration: u32, plan: u32) -> PlanChoice<'_> {
    PlanChoice {
        menu,
        iteration,
        place: 0,
        plan,
    }
}

/// Makes `steps` kernels of one another, each by another plan, and evaluates them.
fn walk(problem: &str, plain: &str, steps: u32) {
    let Some(bench) = support::bench_of(problem, plain) else {
        return;
    };
    let rewriter = HostRewriter::new(8, 16);
    let menu = menu();
    let mut seed = Seed(11);
    let mut source = plain.to_owned();
    for step in 0..steps {
        let plan = seed.below(40) as u32;
        let planned = rewriter
            .plan(&source, choice(&menu, step, plan))
            .expect("a plan");
        source = rewriter
            .implement(&source, &planned.payload, 0)
            .expect("a kernel");
        let (outcome, found) = support::outcome(&bench, &source);
        assert_eq!(
            outcome,
            Outcome::Ok,
            "{}\n{source}\n{found:#?}",
            planned.text
        );
    }
}

#[test]
fn products_of_any_size_stay_right() {
    walk(MATRICES, PLAIN_MATRICES, 8);
}

#[test]
fn convolutions_of_bytes_stay_right() {
    walk(PICTURES, PLAIN_PICTURES, 6);
}

#[test]
fn equal_requests_have_equal_replies_and_plans_differ() {
    let rewriter = HostRewriter::new(8, 16);
    let menu = menu();
    let plans: Vec<_> = (0..6)
        .map(|plan| {
            rewriter
                .plan(PLAIN_MATRICES, choice(&menu, 0, plan))
                .expect("a plan")
        })
        .collect();
    for (idx, plan) in plans.iter().enumerate() {
        let again = rewriter.plan(PLAIN_MATRICES, choice(&menu, 0, idx as u32));
        assert_eq!(again.as_ref(), Ok(plan));
        assert!(
            plans[..idx]
                .iter()
                .all(|other| other.payload != plan.payload)
        );
        assert!(menu.iter().any(|item| item.id == plan.menu_item));
    }
}

#[test]
fn what_is_no_sum_of_products_is_left_alone_with_a_reason() {
    let rewriter = HostRewriter::new(8, 16);
    let menu = menu();
    let reason = |source: &str| match rewriter.plan(source, choice(&menu, 0, 0)) {
        Err(RewriteError::NotUnderstood(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let copy = "void solution(float X[8], float Y[8]) {\n  for (int i = 0; i < 8; i++) {\n    Y[i] = X[i];\n  }\n}\n";
    assert!(reason(copy).contains("line 3"), "{}", reason(copy));
    assert!(reason("int x = ;").contains("parse"));
    let planned = rewriter
        .plan(PLAIN_MATRICES, choice(&menu, 0, 0))
        .expect("a plan");
    let made = rewriter
        .implement(PLAIN_MATRICES, &planned.payload, 0)
        .expect("a kernel");
    let changed = made.replace("for (int i = 0", "for (int i  = 0");
    assert!(reason(&changed).contains("changed"));
}
