//! Inputs that are no independent draws: triangles, tables, views of other inputs.

use super::{KERNEL, PROBLEM, load};
use autocomp_catalog::Problem;
use autocomp_core::Seed;
use std::fmt::Write as _;

/// `B` is filled as a case says, `C` is what `A` is plus it.
const TWO: &str = r#"target = "toy-8"
description = "C = A + B"
entry = "solution"
signature = "void solution(int8_t A[2][3], int8_t B[3][2][2], int8_t C[2][3])"
tolerance = { kind = "exact" }
work = { macs = 6, bytes = 24 }
buffer = [
  { name = "A", dtype = "int8", shape = [2, 3], role = "input" },
  { name = "B", dtype = "int8", shape = [3, 2, 2], role = "input" },
  { name = "C", dtype = "int8", shape = [2, 3], role = "output" },
]
[[input_set]]
name = "one"
fill.A = { kind = "uniform", low = -100, high = 100 }
"#;

/// Loads the problem with `fill` for `B` and a table.
fn with(fill: &str, table: &str) -> Result<Problem, String> {
    let description = format!("{TWO}fill.B = {fill}\n");
    let files = [
        ("problem.toml", description.as_str()),
        ("reference.c", KERNEL),
        ("dft.csv", table),
    ];
    load(&files)
}

/// Returns the elements of `A` and `B`.
fn drawn(problem: &Problem) -> [Vec<i8>; 2] {
    [0, 1].map(|at| {
        let buffer = &problem.buffers[at];
        let bytes = problem.input_sets[0].draw(buffer, &problem.buffers, Seed(5));
        let bytes = bytes.expect("it is read");
        assert_eq!(bytes.len(), buffer.bytes());
        bytes.iter().map(|it| it.cast_signed()).collect()
    })
}

/// Evaluators get a problem as text.
#[test]
fn fills_are_the_same_behind_a_process() {
    let fills = [
        "{ kind = \"uniform\", low = -3, high = 3 }",
        "{ kind = \"real\", low = -0.1, high = 0.7 }",
        "{ kind = \"choice\", values = [0.1, 3] }",
        "{ kind = \"sparse\", values = [2], one_in = 3 }",
        "{ kind = \"constant\", value = 7 }",
        "{ kind = \"identity\" }",
        "{ kind = \"triangle\", part = \"lower\", inside = { kind = \"constant\", value = 7 }, outside = 1 }",
        "{ kind = \"table\", file = \"dft.csv\" }",
        "{ kind = \"view\", of = \"A\", axes = [1, -1, 0] }",
    ];
    let table: Vec<String> = (0..12).map(|it| it.to_string()).collect();
    for fill in fills {
        let problem = with(fill, &table.join(",")).unwrap_or_else(|it| panic!("{fill}: {it}"));
        let text = serde_json::to_string(&problem).expect("it is text");
        let there: Problem = serde_json::from_str(&text).expect("it is read");
        assert_eq!(format!("{there:?}"), format!("{problem:?}"));
        assert_eq!(drawn(&there), drawn(&problem), "{fill}");
    }
}

/// The problem with `fill` for `B`, all of whose elements are of a type of floating point.
fn of_floats(dtype: &str, fill: &str, table: &str) -> Result<Problem, String> {
    let c = match dtype {
        "float32" => "float",
        "float16" | "bfloat16" => "uint16_t",
        _ => "uint8_t",
    };
    let floats = TWO
        .replace("\"int8\"", &format!("\"{dtype}\""))
        .replace("int8_t", c);
    let description = format!("{floats}fill.B = {fill}\n");
    load(&[
        ("problem.toml", description.as_str()),
        ("reference.c", KERNEL),
        ("dft.csv", table),
    ])
}

#[test]
fn infinity_stays_infinite_on_its_way_to_the_kernel() {
    let infinite = [f64::INFINITY, f64::NEG_INFINITY];
    let fills = [
        "{ kind = \"choice\", values = [inf, -inf, 1e300, -2] }",
        "{ kind = \"sparse\", values = [inf, -inf], one_in = 2 }",
        "{ kind = \"triangle\", part = \"upper\", inside = { kind = \"constant\", value = +inf }, outside = -inf }",
    ];
    for dtype in [
        "float8_e4m3",
        "float8_e5m2",
        "float16",
        "bfloat16",
        "float32",
    ] {
        for fill in fills {
            let problem = of_floats(dtype, fill, "").unwrap_or_else(|it| panic!("{fill}: {it}"));
            let text = serde_json::to_string(&problem).expect("it is text");
            let there: Problem = serde_json::from_str(&text).expect("it is read");
            let buffer = &there.buffers[1];
            let bytes = there.input_sets[0].draw(buffer, &there.buffers, Seed(5));
            let bytes = bytes.expect("it is read");
            let values = bytes.chunks(buffer.dtype.bytes());
            let values: Vec<f64> = values.map(|it| buffer.dtype.value(it)).collect();
            for wanted in infinite {
                assert!(values.contains(&wanted), "{dtype} {fill}: {values:?}");
            }
            let (least, most) = buffer.dtype.range();
            let others = [-2.0, 0.0, least, most];
            let is_known = |it: &f64| it.is_infinite() || others.contains(it);
            assert!(values.iter().all(is_known), "{dtype} {fill}: {values:?}");
        }
    }
    for dtype in ["int8", "float8_e4m3fn"] {
        let fill = "{ kind = \"constant\", value = -inf }";
        let error = of_floats(dtype, fill, "").expect_err("it has none");
        let said = format!("`B` is filled with infinity, which {dtype} does not have");
        assert!(error.contains(&said), "{error}");
    }
}

#[test]
fn triangles_tables_and_views_give_what_they_say() {
    let constant = |part: &str, outside: &str| {
        let fill = format!(
            "{{ kind = \"triangle\", part = \"{part}\", inside = {{ kind = \"constant\", value = 7 }}{outside} }}"
        );
        drawn(&with(&fill, "").expect("sound"))[1].clone()
    };
    assert_eq!(constant("lower", ""), [7, 0, 7, 7].repeat(3));
    assert_eq!(
        constant("upper", ", outside = -9e9"),
        [7, 7, -128, 7].repeat(3)
    );

    let table = "1,2, 3;4\n-128 127\r\n\t7 8 9 1e1 11 12.0\n";
    let problem = with("{ kind = \"table\", file = \"dft.csv\" }", table).expect("sound");
    assert_eq!(
        drawn(&problem)[1],
        [1, 2, 3, 4, -128, 127, 7, 8, 9, 10, 11, 12]
    );
    assert!(problem.kernels.is_empty(), "a table is no kernel");
    // Spreadsheets put a mark of the order of bytes in front.
    let marked = format!("\u{feff}{table}");
    let marked = with("{ kind = \"table\", file = \"dft.csv\" }", &marked).expect("sound");
    assert_eq!(drawn(&marked), drawn(&problem));
    let other = with(
        "{ kind = \"table\", file = \"dft.csv\" }",
        &table.replace("11", "13"),
    );
    assert_ne!(other.expect("sound").oracle_hash, problem.oracle_hash);

    // B[i][j][k] is A[k][i], whatever j.
    let problem = with("{ kind = \"view\", of = \"A\", axes = [1, -1, 0] }", "");
    let [a, b] = drawn(&problem.expect("sound"));
    let of = |i: usize, k: usize| a[k * 3 + i];
    let wanted = (0..12).map(|at| of(at / 4, at % 2));
    assert_eq!(b, wanted.collect::<Vec<i8>>());
}

#[test]
fn what_is_said_about_broken_fills() {
    let table = "{ kind = \"table\", file = \"dft.csv\" }";
    let twelve = "1 ".repeat(12);
    let cases = [
        (
            "{ kind = \"triangle\", part = \"left\", inside = { kind = \"identity\" } }",
            "",
        ),
        (
            "{ kind = \"triangle\", part = \"lower\", inside = { kind = \"choice\", values = [] } }",
            "",
        ),
        (
            "{ kind = \"triangle\", part = \"lower\", inside = { kind = \"view\", of = \"A\", axes = [] } }",
            "",
        ),
        (
            "{ kind = \"triangle\", part = \"lower\", inside = { kind = \"identity\" }, outside = nan }",
            "",
        ),
        ("{ kind = \"constant\", value = nan }", ""),
        ("{ kind = \"choice\", values = [1, inf] }", ""),
        (
            "{ kind = \"choice\", values = [1, \"inf\", \"infinite\"] }",
            "",
        ),
        ("{ kind = \"real\", low = -inf, high = 1 }", ""),
        ("{ kind = \"table\", file = \"../../secret\" }", ""),
        ("{ kind = \"table\", file = \"problem.toml\" }", ""),
        (table, "1 2 x 4"),
        (table, "1 2 nan"),
        (table, "1 2 300"),
        (table, "1 2 0.5"),
        (table, "1 2 3"),
        (table, "1,2,,4"),
        (table, &format!("{twelve}1")),
        (table, &format!("1 {}", "9".repeat(100_000))),
        (table, &format!("{}\u{1b}[31m", "1 ".repeat(11))),
        ("{ kind = \"view\", of = \"A\", axes = [1, 0] }", ""),
        ("{ kind = \"view\", of = \"A\", axes = [0, -1, 1] }", ""),
        ("{ kind = \"view\", of = \"A\", axes = [1, -1, -1] }", ""),
        ("{ kind = \"view\", of = \"A\", axes = [1, 0, 0] }", ""),
        (
            "{ kind = \"view\", of = \"A\", axes = [-2, 9223372036854775807, 0] }",
            "",
        ),
        ("{ kind = \"view\", of = \"B\", axes = [0, 1, 2] }", ""),
        ("{ kind = \"view\", of = \"C\", axes = [1, -1, 0] }", ""),
    ];
    let mut text = String::new();
    for (fill, table) in cases {
        let error = with(fill, table).expect_err(fill);
        assert!(
            error.len() < 2000,
            "{} bytes are said of {fill}",
            error.len()
        );
        let shown: String = table.chars().take(30).collect();
        let _ = writeln!(text, "== {fill} {:?}\n{error}\n", shown);
    }
    let missing = PROBLEM.replace(
        "{ kind = \"uniform\", low = -60, high = 60 }",
        "{ kind = \"table\", file = \"none.csv\" }",
    );
    let error = load(&[("problem.toml", &missing), ("reference.c", KERNEL)]);
    let _ = writeln!(text, "== no file\n{}", error.expect_err("no file"));
    insta::assert_snapshot!(text);
}

#[test]
fn an_axis_goes_through_views_or_round_them() {
    let view = "{ kind = \"view\", of = \"A\", axes = [1, -1, 0] }";
    let axis = |of: &str| with(&format!("{view}\n[[axis]]\nname = \"m\"\nof = [{of}]"), "");
    assert!(axis("\"A.0\", \"B.2\", \"C.0\"").is_ok());
    assert!(axis("\"B.1\"").is_ok());
    for of in ["\"A.0\", \"C.0\"", "\"B.2\"", "\"A.0\", \"B.1\""] {
        let error = axis(of).expect_err("no symmetry");
        assert!(
            error.contains("the axis `m` permutes one of `B.2` and `A.0`"),
            "{error}"
        );
    }
}

#[test]
fn the_last_set_is_fresh_if_none_is() {
    let second = "{ kind = \"constant\", value = 1 }\n[[input_set]]\nname = \"two\"\nFRESHfill.A = { kind = \"constant\", value = 1 }\nfill.B = { kind = \"constant\", value = 1 }";
    let fresh = |text: &str| -> Vec<bool> {
        let problem = with(text, "").expect("sound");
        problem.input_sets.iter().map(|set| set.fresh).collect()
    };
    assert_eq!(fresh(&second.replace("FRESH", "")), [false, true]);
    let first = format!("{}\n[[input_set]]", second.replace("FRESH", "")).replacen(
        "\n[[input_set]]\n",
        "\nfresh = true\n[[input_set]]\n",
        1,
    );
    let first = first.trim_end_matches("\n[[input_set]]").to_owned();
    assert_eq!(fresh(&first), [true, false]);
}

#[test]
fn tables_hold_what_their_type_holds_rounded() {
    let load = |first: &str| {
        let table = format!("{first}{}", " 0".repeat(11));
        of_floats(
            "float32",
            "{ kind = \"table\", file = \"dft.csv\" }",
            &table,
        )
    };
    // The greatest number, as it is printed, is a little more than the greatest number.
    assert!(load("3.4028235e38").is_ok());
    assert!(load("3.41e38").is_err());
}
