//! Kernels that the rewriter makes compute what the plain ones do.

mod loops;
mod random;
mod spellings;

use crate::support;

use autocomp_core::{MenuItem, PlanChoice, RewriteError, Rewriter, Seed};
use autocomp_host::detection::Processor;
use autocomp_host::machine::Machine;
use autocomp_nests::{Dots, NestRewriter, Resources};

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

/// Describes a problem with one row of `buffers`: name, type, sizes, role.
fn problem(
    signature: &str,
    tolerance: &str,
    buffers: &[(&str, &str, &str, &str)],
    fills: &str,
) -> String {
    let rows: String = buffers
        .iter()
        .map(|(name, kind, shape, role)| {
            format!("  {{ name = \"{name}\", dtype = \"{kind}\", shape = [{shape}], role = \"{role}\" }},\n")
        })
        .collect();
    format!(
        "target = \"host-x86-64-avx2\"\ndescription = \"A small problem\"\nentry = \"solution\"\n\
         signature = \"void solution({signature})\"\ntolerance = {{ {tolerance} }}\n\
         work = {{ macs = 0, bytes = 4 }}\nbuffer = [\n{rows}]\n[[input_set]]\nname = \"real\"\n{fills}\n"
    )
}

const CLOSE: &str = "kind = \"close\", relative = 1e-4, absolute = 1e-4";
const REAL: &str = "{ kind = \"real\", low = -2.0, high = 2.0 }";

fn menu() -> Vec<MenuItem> {
    [
        "vectorize",
        "register-tiling",
        "cache-tiling",
        "packing",
        "loop-interchange",
        "unroll",
        "unroll-and-jam",
        "more-sums",
        "int8-dot-products",
        "transpose-in-registers",
        "private-copies",
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
        earlier: &[],
    }
}

/// Returns a rewriter for a processor that every target of this architecture has.
fn rewriter() -> NestRewriter {
    let dots = match std::env::consts::ARCH {
        "x86_64" => vec![Dots::Words],
        _ => Vec::new(),
    };
    NestRewriter::new(Resources {
        lanes: 8,
        registers: 16,
        grouped: false,
        strides: false,
        lengths: false,
        fused: false,
        dots,
        no_divisors: Vec::new(),
    })
}

/// Returns a rewriter for the processor at hand.
fn own_rewriter() -> NestRewriter {
    let features = Processor::detect().features;
    let text = match Processor::detect().target() {
        Some("host-x86-64-avx512") => {
            include_str!("../../../../../targets/host-x86-64-avx512/machines/this.toml")
        }
        Some("host-aarch64-neon") => {
            include_str!("../../../../../targets/host-aarch64-neon/machines/this.toml")
        }
        _ => include_str!("../../../../../targets/host-x86-64-avx2/machines/this.toml"),
    };
    NestRewriter::new(
        Machine::parse(text)
            .expect("a machine")
            .resources(&features),
    )
}

/// Makes `steps` kernels of one another, each by another plan, and evaluates them;
/// every third step begins anew.
fn walk_with(rewriter: &NestRewriter, problem: &str, plain: &str, steps: u32) {
    let Some(bench) = support::bench_of(problem, plain) else {
        return;
    };
    let menu = menu();
    let mut seed = Seed(11);
    let mut source = plain.to_owned();
    for step in 0..steps {
        if step % 3 == 0 {
            source = plain.to_owned();
        }
        let mut planned = Err(RewriteError::Nothing);
        for most in [40, 8, 1] {
            let plan = seed.below(most) as u32;
            planned = rewriter.plan(&source, choice(&menu, step, plan));
            if planned.is_ok() {
                break;
            }
        }
        let planned = planned.expect("a plan");
        source = rewriter
            .implement(&source, &planned.payload, 0)
            .expect("a kernel");
        support::assert_right(&bench, &source, &planned.text);
    }
}

fn walk(problem: &str, plain: &str, steps: u32) {
    walk_with(&rewriter(), problem, plain, steps);
    walk_with(&own_rewriter(), problem, plain, steps);
}

/// Returns a problem of bytes, and its kernel: whole groups of four along the sum, or not.
fn bytes(depth: u32) -> (String, String) {
    let signature = format!("int8_t A[29][{depth}], int8_t B[{depth}][45], int32_t C[29][45]");
    let (a, b) = (format!("29, {depth}"), format!("{depth}, 45"));
    let buffers = [
        ("A", "int8", a.as_str(), "input"),
        ("B", "int8", b.as_str(), "input"),
        ("C", "int32", "29, 45", "output"),
    ];
    let fill = "{ kind = \"uniform\", low = -128, high = 127 }";
    let fills = format!("fill.A = {fill}\nfill.B = {fill}");
    let text = problem(&signature, "kind = \"exact\"", &buffers, &fills);
    let plain = format!(
        "void solution({signature}) {{
  for (int i = 0; i < 29; i++) {{
    for (int j = 0; j < 45; j++) {{
      int32_t sum = 0;
      for (int k = 0; k < {depth}; k++) {{
        sum += A[i][k] * B[k][j];
      }}
      C[i][j] = sum;
    }}
  }}
}}
"
    );
    (text, plain)
}

#[test]
fn products_of_bytes_stay_right() {
    for depth in [52, 35] {
        let (text, plain) = bytes(depth);
        walk(&text, &plain, 6);
    }
}

/// Panels of 16 bits hold bytes; of floats there are none.
#[test]
fn panels_of_halves_stay_right() {
    let (text, plain) = bytes(35);
    let Some(bench) = support::bench_of(&text, &plain) else {
        return;
    };
    let rewriter = rewriter();
    for (lanes, rows, columns, depth, block) in [
        (8, 6, 2, 0, 0),
        (16, 5, 1, 8, 2),
        (4, 1, 3, 16, 0),
        (8, 4, 4, 0, 3),
    ] {
        let payload = format!(
            "{{\"drafts\":[{{\"strip\":0,\"parts\":[{{\"product\":{{\"lanes\":{lanes},\"rows\":{rows},\
             \"columns\":{columns},\"pack_columns\":true,\"pack_rows\":{},\"rows_outside\":false,\
             \"unroll\":1,\"depth\":{depth},\"block\":{block},\"halves\":true}}}}]}}]}}",
            block != 0
        );
        let source = rewriter.implement(&plain, &payload, 0).expect("a kernel");
        assert!(source.contains("static int16_t panels"), "{source}");
        support::assert_right(&bench, &source, &payload);
        assert!(rewriter.implement(PLAIN_MATRICES, &payload, 0).is_err());
    }
}

/// Sums of whole numbers that become bytes, and numbers of another kind.
#[test]
fn results_of_another_type_than_the_sums_stay_right() {
    for (kind, dtype, result) in [
        (
            "int8_t",
            "int8",
            "float scaled = (float)(sum + bias[j]) * 0.01f;
      scaled = scaled > 127.0f ? 127.0f : scaled < -128.0f ? -128.0f : scaled;
      C[i][j] = (int8_t)scaled;",
        ),
        (
            "float",
            "float32",
            "C[i][j] = 0.5f * (float)(sum + bias[j]);",
        ),
    ] {
        let signature =
            format!("int8_t A[29][35], int8_t B[35][45], int32_t bias[45], {kind} C[29][45]");
        let buffers = [
            ("A", "int8", "29, 35", "input"),
            ("B", "int8", "35, 45", "input"),
            ("bias", "int32", "45", "input"),
            ("C", dtype, "29, 45", "output"),
        ];
        let fill = "{ kind = \"uniform\", low = -128, high = 127 }";
        let fills = format!("fill.A = {fill}\nfill.B = {fill}\nfill.bias = {fill}");
        let text = problem(&signature, "kind = \"exact\"", &buffers, &fills);
        let plain = format!(
            "void solution({signature}) {{
  for (int i = 0; i < 29; i++) {{
    for (int j = 0; j < 45; j++) {{
      int32_t sum = 0;
      for (int k = 0; k < 35; k++) {{
        sum += A[i][k] * B[k][j];
      }}
      {result}
    }}
  }}
}}
"
        );
        let parts = autocomp_nests::parts(&plain).expect("it is read");
        assert_eq!(parts, ["product"], "{kind}");
        walk(&text, &plain, 6);
    }
}

#[test]
fn schedules_that_bring_out_every_edge_stay_right() {
    let Some(bench) = support::bench_of(MATRICES, PLAIN_MATRICES) else {
        return;
    };
    let rewriter = rewriter();
    let (flags, sizes) = ([false, true], [(6, 2), (5, 3), (4, 1)]);
    for (idx, (rows, columns)) in sizes.into_iter().enumerate() {
        for (pack_columns, pack_rows) in flags.iter().flat_map(|it| flags.map(|other| (*it, other)))
        {
            let (depth, block) = (if idx == 1 { 0 } else { 8 }, if pack_rows { 2 } else { 0 });
            let payload = format!(
                "{{\"drafts\":[{{\"strip\":0,\"parts\":[{{\"product\":{{\"lanes\":8,\"rows\":{rows},\
                 \"columns\":{columns},\"pack_columns\":{pack_columns},\"pack_rows\":{pack_rows},\
                 \"rows_outside\":{},\"unroll\":4,\"depth\":{depth},\"block\":{block}}}}}]}}]}}",
                idx == 2
            );
            let source = rewriter
                .implement(PLAIN_MATRICES, &payload, 0)
                .expect("a kernel");
            support::assert_right(&bench, &source, &payload);
        }
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
