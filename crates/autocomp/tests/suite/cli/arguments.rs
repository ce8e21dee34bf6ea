//! Values that kernels get beside their buffers, in every family: they reach kernel and
//! reference, each as text on the way to a process of its own.

use super::program::Place;
use std::fs;
use std::path::Path;

const BUFFERS: &str = r#"entry = "solution"
tolerance = { kind = "close", relative = 1e-5, absolute = 1e-5 }

[arguments]
alpha = -0.25
shift = 3
upwards = true
taps = [2, -7, 5]

[[buffer]]
name = "x"
dtype = "float32"
shape = [64]
role = "input"

[[buffer]]
name = "y"
dtype = "float32"
shape = [64]
role = "output"

[[input_set]]
name = "fresh"
fresh = true
fill.x = { kind = "real", low = -1.0, high = 1.0 }
"#;

const IN_C: &str = "void solution(float alpha, const float x[64], const int32_t taps[3], bool upwards, float y[64], int32_t shift)";

/// What each element of the result is, of the names of arguments or of their values.
const ELEMENT: &str = "ALPHA * x[(i + SHIFT) % 64] + (UPWARDS ? TAPS[i % 3] : 0)";

fn element(values: [&str; 4], prefix: &str) -> String {
    let names = ["ALPHA", "SHIFT", "UPWARDS", "TAPS"];
    let named = names.iter().zip(values);
    named.fold(ELEMENT.to_owned(), |text, (name, value)| {
        text.replace(name, &format!("{prefix}{value}"))
    })
}

fn in_c(values: [&str; 4]) -> String {
    let element = element(values, "");
    format!(
        "{IN_C} {{\n  const int own[3] = {{2, -7, 5}};\n  (void)own;\n  for (int i = 0; i < 64; i++) y[i] = {element};\n}}\n"
    )
}

fn in_cuda(values: [&str; 4]) -> String {
    let element =
        element(values, "").replace("taps[i % 3]", "(i % 3 == 0 ? a : i % 3 == 1 ? b : c)");
    format!(
        "__global__ void step(const float *x, float *y, float alpha, int shift, bool upwards, int a, int b, int c) {{\n  const int own[3] = {{2, -7, 5}};\n  int i = threadIdx.x;\n  y[i] = {element};\n}}\n{IN_C} {{\n  step<<<1, 64>>>(x, y, alpha, shift, upwards, taps[0], taps[1], taps[2]);\n}}\n"
    )
}

/// Returns the target of this computer.
fn host() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "host-aarch64-neon",
        _ => "host-x86-64-avx2",
    }
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    fs::create_dir_all(folder).unwrap();
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
}

#[test]
fn kernels_and_references_in_c_get_arguments_in_every_family() {
    let place = Place::new();
    let given = ["alpha", "shift", "upwards", "taps"];
    let right = ["-0.25f", "3", "true", "own"];
    for target in ["gemmini-int8-16", "rvv-saturn", host(), "cuda-sm80"] {
        let (ending, of): (_, fn([&str; 4]) -> String) = match target {
            "cuda-sm80" => ("cu", in_cuda),
            _ => ("c", in_c),
        };
        let description = format!(
            "target = \"{target}\"\ndescription = \"d\"\nsignature = \"{IN_C}\"\nwork = {{ macs = 64, bytes = 512 }}\n{BUFFERS}"
        );
        write(
            &place.path().join("sums"),
            &[
                ("problem.toml", &description),
                ("reference.c", &in_c(given)),
                (&format!("baseline.{ending}"), &of(given)),
                (&format!("constants.{ending}"), &of(right)),
            ],
        );
        let shown = place.call(&["problems", "sums"]).stdout;
        let wanted = "\narguments: alpha = -0.25, shift = 3, taps = (2, -7, 5), upwards = true\n";
        assert!(shown.contains(wanted), "{shown}");
        for kernel in ["baseline", "constants"] {
            let ended = place.call(&["eval", "sums", "--kernel", kernel]);
            assert_eq!(
                ended.code,
                Some(0),
                "{target} {kernel}\n{}",
                ended.transcript()
            );
        }
        // Each of the values is looked at.
        for (at, value) in [(0, "0.25f"), (1, "4"), (2, "false")] {
            let mut values = given;
            values[at] = value;
            let wrong = place.file(&format!("wrong.{ending}"), of(values));
            let (code, report) = place.json(&["eval", "sums", "--kernel", &wrong]);
            assert_eq!(
                (code, &report["outcome"]),
                (Some(1), &"wrong".into()),
                "{report}"
            );
        }
        let less = of(["alpha", "3", "upwards", "taps"]).replace(", int32_t shift", "");
        let less = less.replace("alpha, shift,", "alpha, 3,");
        let less = place.file(&format!("less.{ending}"), less);
        let (code, report) = place.json(&["eval", "sums", "--kernel", &less]);
        assert_eq!(code, Some(1), "{report}");
        assert!(
            report.to_string().contains("entry-signature")
                || report.to_string().contains("define `"),
            "{report}"
        );
        fs::remove_dir_all(place.path().join("sums")).unwrap();
    }
}

#[test]
fn definitions_reach_references_of_every_family() {
    let place = Place::new();
    let (before, after) = BUFFERS.split_once("[arguments]").unwrap();
    let after = &after[after.find("[[buffer]]").unwrap()..];
    let signature = "void solution(const float x[64], float y[64])";
    let in_c = |scale: &str| {
        // A default that stands in where a definition is lost.
        format!(
            "#ifndef SCALE\n#define SCALE 1\n#endif\n{signature} {{\n  for (int i = 0; i < 64; i++) y[i] = {scale} * x[i];\n}}\n"
        )
    };
    let in_cuda = |scale: &str| {
        format!(
            "__global__ void step(const float *x, float *y) {{ y[threadIdx.x] = {scale} * x[threadIdx.x]; }}\n{signature} {{ step<<<1, 64>>>(x, y); }}\n"
        )
    };
    let in_python = |scale: &str| {
        format!(
            "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n\n@nki.jit\ndef solution(x):\n    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n    a = nl.ndarray((1, 64), dtype=x.dtype, buffer=nl.sbuf)\n    nisa.dma_copy(dst=a, src=x.reshape((1, 64)))\n    nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0={scale})\n    nisa.dma_copy(dst=y.reshape((1, 64)), src=a)\n    return y\n"
        )
    };
    for target in [
        "gemmini-int8-16",
        "rvv-saturn",
        host(),
        "cuda-sm80",
        "trainium-trn2",
    ] {
        let (ending, of): (_, &dyn Fn(&str) -> String) = match target {
            "cuda-sm80" => ("cu", &in_cuda),
            "trainium-trn2" => ("py", &in_python),
            _ => ("c", &in_c),
        };
        let defined = if ending == "py" { "3.0" } else { "SCALE" };
        let description = format!(
            "target = \"{target}\"\ndescription = \"d\"\nsignature = \"{signature}\"\nwork = {{ macs = 64, bytes = 512 }}\n{before}[macros]\nSCALE = \"3\"\n\n{after}"
        );
        write(
            &place.path().join("scaled"),
            &[
                ("problem.toml", &description),
                ("reference.c", &in_c("SCALE")),
                (&format!("baseline.{ending}"), &of(defined)),
                (&format!("constant.{ending}"), &of("3.0")),
                (&format!("ignores.{ending}"), &of("1.0")),
            ],
        );
        for (kernel, code) in [("baseline", 0), ("constant", 0), ("ignores", 1)] {
            let ended = place.call(&["eval", "scaled", "--kernel", kernel]);
            assert_eq!(
                ended.code,
                Some(code),
                "{target} {kernel} {}",
                ended.transcript()
            );
        }
        fs::remove_dir_all(place.path().join("scaled")).unwrap();
    }
}

#[test]
fn kernels_in_python_get_tuples_of_buffers() {
    let place = Place::new();
    let folder = place.path().join("sum");
    let buffer = |name: &str, role: &str| {
        format!(
            "[[buffer]]\nname = \"{name}\"\ndtype = \"float32\"\nshape = [128, 64]\nrole = \"{role}\"\n\n"
        )
    };
    let description = format!(
        "target = \"trainium-trn2\"\ndescription = \"d\"\nentry = \"solution\"\n\
         signature = \"void solution(float a[128][64], float b[128][64], float x[128][64], float y[128][64], float scale)\"\n\
         tolerance = {{ kind = \"close\", relative = 1e-5, absolute = 1e-5 }}\nwork = {{ macs = 8192, bytes = 131072 }}\n\n\
         [arguments]\nscale = 0.5\nodd = [1, [2]]\npast = [{{ buffer = \"a\" }}, {{ buffer = \"b\" }}]\n\n{}{}{}{}\
         [[input_set]]\nname = \"fresh\"\nfresh = true\n\
         fill.a = {{ kind = \"real\", low = -1.0, high = 1.0 }}\nfill.b = {{ kind = \"real\", low = -1.0, high = 1.0 }}\nfill.x = {{ kind = \"real\", low = -1.0, high = 1.0 }}\n",
        buffer("a", "input"),
        buffer("b", "input"),
        buffer("x", "input"),
        buffer("y", "output"),
    );
    let reference = "void solution(float a[128][64], float b[128][64], float x[128][64], float y[128][64], float scale) {\n\
        for (int i = 0; i < 128; i++) for (int j = 0; j < 64; j++) y[i][j] = scale * (a[i][j] - b[i][j]) + x[i][j];\n}\n";
    let kernel = |first: &str, second: &str| {
        format!(
            "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n\n@nki.jit\n\
             def solution(x, past, scale, odd):\n    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n    \
             first, second = past\n    \
             a = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)\n    \
             b = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)\n    \
             c = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)\n    \
             nisa.dma_copy(dst=a, src={first})\n    nisa.dma_copy(dst=b, src={second})\n    nisa.dma_copy(dst=c, src=x)\n    \
             nisa.tensor_tensor(dst=a, data1=a, data2=b, op=nl.subtract)\n    \
             nisa.tensor_scalar(dst=a, data=a, op0=nl.multiply, operand0=scale)\n    \
             nisa.tensor_tensor(dst=a, data1=a, data2=c, op=nl.add)\n    \
             nisa.dma_copy(dst=y, src=a)\n    return y\n"
        )
    };
    write(
        &folder,
        &[
            ("problem.toml", &description),
            ("reference.c", reference),
            ("baseline.py", &kernel("first", "second")),
            ("swapped.py", &kernel("second", "first")),
        ],
    );
    let ended = place.call(&["eval", "sum"]);
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    let (code, report) = place.json(&["eval", "sum", "--kernel", "swapped"]);
    assert_eq!(
        (code, &report["outcome"]),
        (Some(1), &"wrong".into()),
        "{report}"
    );
    // Rewriters run kernels with the same tuples.
    let (code, report) = place.json(&["propose", "sum"]);
    assert_eq!(code, Some(0), "{report}");

    // A reference in Python gets the buffers and the plain values.
    fs::remove_file(folder.join("reference.c")).unwrap();
    fs::write(
        folder.join("reference.py"),
        "def reference(a, b, x, scale, odd):\n    assert odd == (1, (2,))\n    rows = zip(a, b, x)\n    return [[scale * (p - q) + r for p, q, r in zip(*row)] for row in rows]\n",
    )
    .unwrap();
    let ended = place.call(&["eval", "sum"]);
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
}

/// What a reference in Python imports from the user's own folders is found, and decides answers
/// and verdicts in every family: after a change nothing is served that was known before.
#[test]
fn modules_of_a_reference_decide_verdicts_in_every_family() {
    let place = Place::new();
    let (before, after) = BUFFERS.split_once("[arguments]").unwrap();
    let after = &after[after.find("[[buffer]]").unwrap()..];
    let signature = "void solution(const float x[64], float y[64])";
    let in_c = format!("{signature} {{ for (int i = 0; i < 64; i++) y[i] = 2.0f * x[i]; }}\n");
    let in_cuda = format!(
        "__global__ void step(const float *x, float *y) {{ y[threadIdx.x] = 2.0f * x[threadIdx.x]; }}\n{signature} {{ step<<<1, 64>>>(x, y); }}\n"
    );
    let outcome = |factor: f32| {
        place.file("own_module.py", format!("FACTOR = {factor:?}\n"));
        let output = place
            .command()
            .env("PYTHONPATH", place.path())
            .args(["eval", "twice", "--json"])
            .output()
            .unwrap();
        let report = String::from_utf8(output.stdout).unwrap();
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        report["outcome"].as_str().unwrap_or_default().to_owned()
    };
    for target in ["gemmini-int8-16", "rvv-saturn", host(), "cuda-sm80"] {
        let (kernel, text) = match target {
            "cuda-sm80" => ("baseline.cu", &in_cuda),
            _ => ("baseline.c", &in_c),
        };
        let description = format!(
            "target = \"{target}\"\ndescription = \"d\"\nsignature = \"{signature}\"\nwork = {{ macs = 64, bytes = 512 }}\n{before}{after}"
        );
        write(
            &place.path().join("twice"),
            &[
                ("problem.toml", &description),
                (
                    "reference.py",
                    "import own_module\ndef reference(x): return [own_module.FACTOR * it for it in x]\n",
                ),
                (kernel, text),
            ],
        );
        assert_eq!(
            [2.0, 3.0, 2.0].map(outcome),
            ["ok", "wrong", "ok"],
            "{target}"
        );
        fs::remove_dir_all(place.path().join("twice")).unwrap();
    }
}
