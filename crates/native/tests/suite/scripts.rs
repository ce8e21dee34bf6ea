//! References in Python: what they get, what counts as an answer, and what is said of the rest.

use autocomp_catalog::{Catalog, Problem};
use autocomp_core::Seed;
use autocomp_eval::EvalError;
use autocomp_eval::inputs::Case;
use autocomp_native::Script;
use std::path::Path;
use std::process::Command;

/// `x` and `mask` are read, `y` and `n` are written.
const PROBLEM: &str = r#"
description = "Scaled numbers, and how many are kept"
entry = "solution"
signature = "void solution(uint16_t x[2][3], uint8_t mask[3], float y[2][3], int8_t n[1])"
tolerance = { kind = "close", relative = 1e-6, absolute = 0.0 }
work = { macs = 6, bytes = 40 }
arguments = { scale = 0.5, kind = { dtype = "bfloat16" } }
buffer = [
  { name = "x", dtype = "bfloat16", shape = [2, 3], role = "input" },
  { name = "mask", dtype = "bool", shape = [3], role = "input" },
  { name = "y", dtype = "float32", shape = [2, 3], role = "output" },
  { name = "n", dtype = "int8", shape = [1], role = "output" },
]
[[input_set]]
name = "real"
fill.x = { kind = "choice", values = [-1.5, 0.25, 3.0] }
fill.mask = { kind = "identity" }
"#;

pub const HONEST: &str = "
def reference(x, mask, scale):
    y = [[scale * it if kept else 0 for it, kept in zip(row, mask)] for row in x]
    return y, [sum(mask)]
";

pub fn problem(reference: &str) -> Problem {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("problems/own/small");
    std::fs::create_dir_all(&own).expect("a folder");
    let mut catalog = Catalog::built_in().expect("built-in data");
    // Any will do: nothing is built for it.
    let target = catalog.target_names().next().expect("a target");
    let text = format!("target = \"{target}\"\n{PROBLEM}");
    std::fs::write(own.join("problem.toml"), text).expect("a file");
    std::fs::write(own.join("reference.py"), reference).expect("a file");
    catalog.add_folder(folder.path()).expect("the problem");
    catalog.problem("own/small").expect("the problem")
}

fn case(problem: &Problem) -> Case {
    Case::draw(problem, &problem.input_sets[0], Seed(3))
}

pub fn script(problem: &Problem, cache: &Path) -> Script {
    let path = std::env::var_os("PATH");
    Script::new(problem, path.as_deref(), cache).expect("Python, which tests need")
}

/// Returns what the outputs hold, or what is said instead.
fn answer(reference: &str) -> Result<Vec<f64>, String> {
    answer_within(reference, 1)
}

/// Does the same with a processor time for each call, in seconds.
fn answer_within(reference: &str, seconds: u64) -> Result<Vec<f64>, String> {
    let cache = tempfile::tempdir().expect("a folder");
    let problem = problem(reference);
    let mut case = case(&problem);
    let path = std::env::var_os("PATH");
    Script::within(&problem, path.as_deref(), cache.path(), seconds)
        .and_then(|script| script.answer(&problem, &mut [&mut case]))
        .map_err(|error| match error {
            EvalError::Input { message, remedies }
            | EvalError::Environment { message, remedies } => {
                format!("{message}; {}", remedies.join("; "))
            }
            EvalError::Fault(message) => message,
            other => other.to_string(),
        })?;
    Ok(numbers(&problem, &case.after))
}

pub fn numbers(problem: &Problem, contents: &[Option<Vec<u8>>]) -> Vec<f64> {
    let buffers = problem.buffers.iter().zip(contents);
    let values = buffers.filter_map(|(buffer, content)| {
        let elements = content.as_ref()?.chunks(buffer.dtype.bytes());
        Some(elements.map(|it| buffer.dtype.value(it)))
    });
    values.flatten().collect()
}

/// Returns what is right.
fn right() -> Vec<f64> {
    let problem = problem(HONEST);
    let given = numbers(&problem, &case(&problem).before);
    let (x, mask) = given.split_at(6);
    let product = |(at, x): (usize, &f64)| 0.5 * x * mask[at % 3];
    let mut wanted: Vec<f64> = x.iter().enumerate().map(product).collect();
    wanted.push(mask.iter().sum());
    wanted
}

#[test]
fn a_reference_gets_inputs_and_arguments_and_returns_outputs() {
    assert_eq!(answer(HONEST), Ok(right()));
    // What it prints and leaves changed is no answer.
    let noisy = HONEST
        .replace(
            "    return",
            "    print('\\0' * 99)\n    mask = x = 1\n    return",
        )
        .replace("[sum(mask)]", "[int(n)]")
        .replace("    y =", "    n = sum(mask)\n    y =");
    assert_eq!(answer(&noisy), Ok(right()));
}

#[test]
fn numpy_is_used_where_it_is_and_else_asked_for() {
    let with_numpy = "
import numpy as np
def reference(x, mask, *, scale):
    assert x.dtype == np.float32 and mask.dtype == bool and x.shape == (2, 3)
    return (x * np.float64(scale)) * mask, mask.sum(keepdims=True)
";
    let has = Command::new("python3")
        .args(["-c", "import numpy"])
        .output();
    if has.is_ok_and(|it| it.status.success()) {
        assert_eq!(answer(with_numpy), Ok(right()));
        for (result, wanted) in [
            ("x, x", "`n` has the shape [2, 3] instead of [1]"),
            (
                "x, np.zeros(1)",
                "`n` has elements of type float64 instead of int8",
            ),
            (
                "x, np.full(1, 200)",
                "`n` holds 200, which int8 does not have",
            ),
            (
                "x / 0 * 0, mask.sum(keepdims=True)",
                "gives no number for y[0][0]",
            ),
            (
                "np.ma.masked_less(x, 0), mask.sum(keepdims=True)",
                "`y` is a masked array, whose masked elements hold nothing that is told; say what stands in their place",
            ),
            (
                "None, mask.sum(keepdims=True)",
                "`y` is NoneType, which is no array",
            ),
        ] {
            let text = format!("import numpy as np\ndef reference(x, mask): return {result}");
            let said = answer(&text).expect_err(result);
            assert!(said.contains(wanted), "{said}");
        }
    } else {
        let said = answer(with_numpy).expect_err("no NumPy here");
        assert!(said.contains("imports `numpy`, which Python 3."), "{said}");
        assert!(said.contains("-m pip install numpy"), "{said}");
    }
}

/// PyTorch is not there where tests usually run: what is said then is tried there, and the rest
/// where it is.
#[test]
fn tensors_are_given_and_taken_where_pytorch_is() {
    let of = |body: &str| format!("import torch\ndef reference(x, mask, scale):\n{body}\n");
    let honest = of(
        "  assert x.dtype == torch.bfloat16 and mask.dtype == torch.bool
  y = torch.where(mask, scale * x.float(), 0)
  return y.requires_grad_(), mask.sum(dim=0, keepdim=True)",
    );
    let has = Command::new("python3")
        .args(["-c", "import torch"])
        .output();
    if has.is_ok_and(|it| it.status.success()) {
        assert_eq!(answer_within(&honest, 30), Ok(right()));
        // It works where NumPy is not installed, too.
        let alone = format!("import sys\nsys.modules['numpy'] = None\n{honest}");
        assert_eq!(answer_within(&alone, 30), Ok(right()));
        for (result, wanted) in [
            ("x, x", "`n` has the shape [2, 3] instead of [1]"),
            (
                "x, torch.ones(1)",
                "`n` has elements of type torch.float32 instead of int8; convert it, as in",
            ),
            (
                "x, torch.tensor([200])",
                "`n` holds 200, which int8 does not have",
            ),
            (
                "torch.nn.Linear(3, 3), mask.sum()",
                "`y` is Linear, which is no array",
            ),
        ] {
            let said = answer_within(&of(&format!("  return {result}")), 30);
            let said = said.expect_err(result);
            assert!(said.contains(wanted), "{said}");
        }
    } else {
        let said = answer_within(&honest, 30).expect_err("no PyTorch here");
        for wanted in [
            "imports `torch`, which Python 3.",
            "python3 -m venv FOLDER && FOLDER/bin/pip install torch, then PATH=FOLDER/bin:$PATH",
        ] {
            assert!(said.contains(wanted), "{said}");
        }
    }
}

#[test]
fn what_is_no_answer_is_told_with_the_line_and_a_remedy() {
    let returns = |what: &str| format!("def reference(x, mask): return {what}");
    let cases = [
        (
            "x = 1",
            "has no function `reference`; define `def reference(…)`",
        ),
        (
            "def reference(x, mask):\n  return x y",
            "line 2: SyntaxError: invalid syntax",
        ),
        (
            "def reference(x, mask):\n  y = x[0]\n  return y[3] / 0",
            "line 3: IndexError",
        ),
        ("import nobody_has_it.part", "imports `nobody_has_it`"),
        ("def reference(x): return x", "TypeError"),
        (&returns("x"), "results: 1 instead of 2 (y, n)"),
        (&returns("x, [1], [2]"), "results: 3 instead of 2 (y, n)"),
        (
            &returns("x[:1], [1]"),
            "`y` has 1 elements in dimension 0 instead of 2",
        ),
        (&returns("x, [[1]]"), "`n` has more than 1 dimensions"),
        (
            &returns("x, [1.5]"),
            "`n` has elements of type float instead of int8",
        ),
        (
            &returns("x, [128]"),
            "`n` holds 128, which int8 does not have; clamp it",
        ),
        (&returns("[[1e39] * 3] * 2, [1]"), "`y`: float too large"),
        (
            &returns("x, None"),
            "`n` is NoneType, which is no array; return an array of NumPy",
        ),
        (&returns("{'y': x}, [1]"), "`y` is dict, which is no array"),
        (
            &returns("[[float('nan')] * 3] * 2, [1]"),
            "gives no number for y[0][0] on input set `real`",
        ),
        (
            &returns("x, [open('/etc/passwd')]"),
            "PermissionError: [Errno 13]",
        ),
        (
            "import socket\ndef reference(x, mask): socket.socket()",
            "line 2: PermissionError: [Errno 1] Operation not permitted; a reference sees no files",
        ),
        (
            "import subprocess\ndef reference(x, mask): subprocess.run(['/bin/true'])",
            "line 2: PermissionError",
        ),
        (
            "import os\ndef reference(x, mask): os._exit(0)",
            "ended without an answer",
        ),
        (
            "def reference(x, mask):\n  raise SystemExit(0)",
            "line 2: SystemExit: 0",
        ),
        (
            "def reference(x, mask):\n  while True: pass",
            "does not end within 2 s of processor time, 1 for each call and the start",
        ),
        (
            "n = 0\ndef reference(x, mask):\n  global n\n  n += 1\n  return x, [n]",
            "contradicts itself: called again on input set `real`",
        ),
        (
            "def reference(x, mask): return reference(x, mask)",
            "RecursionError",
        ),
        (
            "def reference(x, mask): return bytearray(1 << 40)",
            "MemoryError; make the problem smaller",
        ),
    ];
    for (reference, wanted) in cases {
        let said = answer(reference).expect_err(reference);
        assert!(said.contains(wanted), "{reference}\n{said}");
        assert!(!said.contains("/tmp"), "{said}");
    }
}

#[test]
fn answers_are_kept_by_the_inputs_and_the_reference() {
    let cache = tempfile::tempdir().expect("a folder");
    let honest = problem(HONEST);
    let mut first = case(&honest);
    let computed = script(&honest, cache.path()).answer(&honest, &mut [&mut first]);
    computed.expect("an answer");
    // Whoever asks again, with another name for the set, does not run it.
    let path = std::env::var_os("PATH");
    let idle = Script::within(&honest, path.as_deref(), cache.path(), 0).expect("Python");
    let mut again = Case {
        name: "another".into(),
        ..case(&honest)
    };
    idle.answer(&honest, &mut [&mut again])
        .expect("the kept answer");
    assert_eq!(again.after, first.after);
    let mut other = Case::draw(&honest, &honest.input_sets[0], Seed(4));
    assert!(idle.answer(&honest, &mut [&mut other]).is_err());
    let changed = problem(&HONEST.replace("else 0", "else 1"));
    let mut case = case(&changed);
    script(&changed, cache.path())
        .answer(&changed, &mut [&mut case])
        .expect("an answer");
    assert_ne!(case.after, first.after);
}

#[test]
fn what_a_reference_says_is_told_in_one_short_line() {
    for raising in [
        "raise ValueError('x' * 1000000 + 'end')",
        "raise ValueError('first\\x1b[31m\\r\\nsecond')",
        "import os, sys; sys.stderr.write('x' * 100000 + '\\x1b[31m'); os._exit(7)",
    ] {
        let said = answer(&format!("def reference(x, mask): {raising}")).expect_err(raising);
        assert!(said.len() < 1000, "{} bytes", said.len());
        assert!(!said.contains(char::is_control), "{said:?}");
    }
}

/// Returns a Python that looks for packages in `folder`.
fn starter(folder: &Path) {
    let starter = folder.join("python3");
    let text = format!(
        "#!/bin/sh\nPYTHONPATH='{}' PATH='{}' exec python3 \"$@\"\n",
        folder.display(),
        std::env::var("PATH").expect("a search path"),
    );
    std::fs::write(&starter, text).expect("a file");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&starter, mode).expect("a program");
}

/// Packages lie where the user's Python looks for them, which its environment decides.
/// Answers are kept as long as none that decided them has changed, nor a file that it read,
/// whether it was read at the start or by a call.
#[test]
fn packages_are_those_that_python_finds_outside() {
    let bodies = [
        ("import own_package", "own_package.HALF"),
        ("", "__import__('own_package').HALF"),
        ("import own_package", "own_package.table()"),
    ];
    for (import, half) in bodies {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("a file");
        };
        let package = "import pathlib
HALF = 0.5
def table(): return float(pathlib.Path(__file__).with_name('table.txt').read_text())
";
        file("own_package.py", package);
        file("table.txt", "0.5");
        starter(folder.path());
        let cache = tempfile::tempdir().expect("a folder");
        let text = format!(
            "{import}\n{}",
            HONEST.replace("scale *", &format!("{half} *"))
        );
        let problem = problem(&text);
        let answered = |seconds| {
            let mut case = case(&problem);
            let path = Some(folder.path().as_os_str());
            let script = Script::within(&problem, path, cache.path(), seconds);
            let script = script.expect("the starter");
            let answered = script.answer(&problem, &mut [&mut case]);
            (
                answered.is_ok(),
                numbers(&problem, &case.after),
                script.key(),
            )
        };
        let (is_answered, first, key) = answered(30);
        assert!(is_answered);
        assert_eq!(first, right(), "{half}");
        assert_eq!(
            answered(0),
            (true, right(), key.clone()),
            "{half}: it is kept"
        );
        file("own_package.py", &package.replace("0.5", "1.5"));
        file("table.txt", "1.5");
        let (is_answered, other, changed) = answered(30);
        assert!(is_answered);
        let times_three = |at| match at {
            0..6 => 3.0 * first[at],
            _ => first[at],
        };
        let wanted: Vec<f64> = (0..first.len()).map(times_three).collect();
        assert_eq!(other, wanted, "{half}: it is computed anew");
        assert_ne!(changed, key, "{half}: verdicts on kernels are others");
    }
}

/// What counts calls is found wherever it begins to answer otherwise, and in whichever rhythm; so
/// is what keeps something of the first.
#[test]
fn what_counts_its_calls_contradicts_itself() {
    for is_other in ["n % 2", "n % 3 == 2", "n > 1", "n == 0", "n == 3", "first"] {
        let text = format!(
            "n = -1\nfirst = None\n{}",
            HONEST.replace(
                "    y =",
                &format!(
                    "    global n, first; n += 1\n    if first is None: first = sum(map(sum, x))\n    scale += {is_other}\n    y ="
                )
            )
        );
        let problem = problem(&text);
        let cache = tempfile::tempdir().expect("a folder");
        for cases in [2, 3] {
            let mut cases: Vec<Case> = (0..cases)
                .map(|seed| Case::draw(&problem, &problem.input_sets[0], Seed(seed)))
                .collect();
            // What begins behind the last call is not there yet.
            if is_other == "n == 3" && cases.len() == 2 {
                continue;
            }
            let answered = script(&problem, cache.path())
                .answer(&problem, &mut cases.iter_mut().collect::<Vec<_>>());
            let said = format!("{:?}", answered.expect_err(is_other));
            assert!(said.contains("contradicts itself"), "{is_other}: {said}");
        }
    }
}
