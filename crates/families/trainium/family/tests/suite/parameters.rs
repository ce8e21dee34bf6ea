//! Problems of one's own: buffers of every type, many of them, arguments beside them, and what the
//! device leaves undefined.

use crate::opening;
use crate::problems::cache;
use autocomp_catalog::{Catalog, DataType};
use autocomp_core::{Evaluation, Outcome, Severity};
use autocomp_eval::{Bench, EvalError};
use std::fs;
use std::sync::Arc;

/// Opens the problem of a folder with these files.
pub(crate) fn open(description: &str, reference: &str) -> Result<Arc<dyn Bench>, EvalError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("problem.toml"), description).unwrap();
    fs::write(folder.path().join("reference.c"), reference).unwrap();
    let mut catalog = Catalog::built_in().unwrap();
    let added = catalog.add_folder(folder.path()).unwrap();
    let name = added.problems.first().expect("a problem");
    let problem = catalog.problem(name).unwrap();
    let target = catalog.target(&problem.targets[0]).unwrap();
    opening::open(&problem, &target, cache(), 1, 1)
}

/// A problem in NKI 2 on buffers of 4 by 8 elements.
fn description(buffers: &[(&str, DataType, &str)], more: &str, fill: &str) -> String {
    let parameters: Vec<String> = buffers
        .iter()
        .map(|(name, dtype, _)| format!("{} {name}[4][8]", dtype.c_name()))
        .collect();
    let bytes: usize = buffers.iter().map(|(_, dtype, _)| 32 * dtype.bytes()).sum();
    let mut text = format!(
        "target = \"trainium-trn2\"\ndescription = \"a test\"\nentry = \"solution\"\nsignature = \"void solution({})\"\ntolerance = {{ kind = \"exact\" }}\nwork = {{ macs = 0, bytes = {bytes} }}\n{more}\n",
        parameters.join(", ")
    );
    for (name, dtype, role) in buffers {
        text.push_str(&format!(
            "[[buffer]]\nname = \"{name}\"\ndtype = \"{}\"\nshape = [4, 8]\nrole = \"{role}\"\n",
            dtype.name()
        ));
    }
    text.push_str("[[input_set]]\nname = \"set\"\nfresh = true\n");
    for (name, _, role) in buffers {
        if *role == "input" {
            text.push_str(&format!("fill.{name} = {fill}\n"));
        }
    }
    text
}

pub(crate) fn kernel(parameters: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n\n@nki.jit\ndef solution({parameters}):\n{body}"
    )
}

pub(crate) fn evaluated(bench: &dyn Bench, source: &str) -> Evaluation {
    bench.evaluate(source).unwrap()
}

#[test]
fn buffers_may_have_any_type() {
    for dtype in DataType::ALL {
        let buffers = [("x", dtype, "input"), ("y", dtype, "output")];
        let fill = "{ kind = \"uniform\", low = 0, high = 7 }";
        let reference = format!(
            "void solution({c} x[4][8], {c} y[4][8]) {{ for (int i = 0; i < 4; i++) for (int j = 0; j < 8; j++) y[i][j] = x[i][7 - j]; }}",
            c = dtype.c_name()
        );
        let bench = open(&description(&buffers, "", fill), &reference).unwrap();
        let copy = "y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\nt = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)\nu = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src=x)\nfor j in range(8):\n    nisa.tensor_copy(dst=u[:, j:j + 1], src=t[:, 7 - j:8 - j])\nnisa.dma_copy(dst=y, src=u)\nreturn y";
        let right = evaluated(&*bench, &kernel("x", copy));
        assert_eq!(
            right.outcome,
            Outcome::Ok,
            "{dtype:?} {:?}",
            right.diagnostics
        );
        let wrong = evaluated(
            &*bench,
            &kernel("x", &copy.replace("7 - j:8 - j", "j:j + 1")),
        );
        assert_eq!(wrong.outcome, Outcome::Wrong, "{dtype:?}");
        // Another type is no answer, however right its values.
        let other = match dtype {
            DataType::Float32 => "bfloat16",
            _ => "float32",
        };
        let cast = copy.replace(
            "y = nl.ndarray(x.shape, dtype=x.dtype",
            &format!("y = nl.ndarray(x.shape, dtype=nl.{other}"),
        );
        let cast = evaluated(&*bench, &kernel("x", &cast));
        assert_eq!(cast.outcome, Outcome::Wrong);
        assert_eq!(cast.diagnostics[0].code, "output-shape");
    }
}

#[test]
fn trivial_outputs_are_told_where_all_inputs_are_fresh() {
    let buffers = [
        ("x", DataType::Float32, "input"),
        ("y", DataType::Float32, "output"),
    ];
    let fill = "{ kind = \"uniform\", low = 1, high = 2 }";
    let doubts = |scale: &str| {
        let text = description(&buffers, "", fill);
        let text = text.replace(
            "{ kind = \"exact\" }",
            "{ kind = \"close\", relative = 1e-5, absolute = 1e-2 }",
        );
        let reference = format!(
            "void solution(float x[4][8], float y[4][8]) {{ for (int i = 0; i < 32; i++) y[0][i] = {scale} * x[0][i] * x[0][i]; }}"
        );
        open(&text, &reference).unwrap().doubts().unwrap()
    };
    let found = doubts("1e-4f");
    assert!(
        found.iter().any(|it| it.contains("0 everywhere")),
        "{found:?}"
    );
    assert_eq!(doubts("1.0f"), Vec::<String>::new());
}

#[test]
fn numbers_that_single_precision_does_not_hold_are_refused() {
    let buffers = [
        ("x", DataType::UInt32, "input"),
        ("y", DataType::UInt32, "output"),
    ];
    let fill = "{ kind = \"uniform\", low = 0, high = 16777217 }";
    let reference = "void solution(uint32_t x[4][8], uint32_t y[4][8]) { for (int i = 0; i < 32; i++) y[0][i] = x[0][i]; }";
    let Err(EvalError::Input { message, .. }) = open(&description(&buffers, "", fill), reference)
    else {
        panic!("not refused");
    };
    assert!(
        message.contains("uint32") && message.contains("16777216"),
        "{message}"
    );
}

#[test]
fn nine_buffers_and_more_and_arguments_by_name() {
    let names: Vec<String> = (0..12).map(|at| format!("x{at}")).collect();
    let mut buffers: Vec<(&str, DataType, &str)> = names
        .iter()
        .map(|name| (name.as_str(), DataType::Float32, "input"))
        .collect();
    buffers.push(("y", DataType::Float32, "output"));
    buffers.push(("z", DataType::Float32, "output"));
    let parameters: Vec<String> = buffers
        .iter()
        .map(|(name, ..)| format!("float {name}[4][8]"))
        .collect();
    let sum = names.iter().map(|name| format!("{name}[0][i]"));
    let sum: Vec<String> = sum.collect();
    let reference = format!(
        "void solution({}) {{ for (int i = 0; i < 32; i++) {{ y[0][i] = 3.0f * ({}); z[0][i] = x11[0][i]; }} }}",
        parameters.join(", "),
        sum.join(" + ")
    );
    let more = "[arguments]\nscale = 3.0\nsteps = 2\nflag = true\nmode = \"sum\"\nshape = [4, 8]\nkind = { dtype = \"float32\" }\n";
    let fill = "{ kind = \"uniform\", low = -8, high = 8 }";
    let bench = open(&description(&buffers, more, fill), &reference).unwrap();
    let body = "assert steps == 2 and flag is True and mode == 'sum' and shape == (4, 8)\ny = nl.ndarray(shape, dtype=kind, buffer=nl.shared_hbm)\nz = nl.ndarray(shape, dtype=kind, buffer=nl.shared_hbm)\nt = nl.ndarray(shape, dtype=kind, buffer=nl.sbuf)\nu = nl.ndarray(shape, dtype=kind, buffer=nl.sbuf)\nnisa.memset(dst=t, value=0.0)\nfor x in [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11]:\n    nisa.dma_copy(dst=u, src=x)\n    nisa.tensor_tensor(dst=t, data1=t, data2=u, op=nl.add)\nnisa.tensor_scalar(dst=t, data=t, op0=nl.multiply, operand0=scale)\nnisa.dma_copy(dst=y, src=t)\nnisa.dma_copy(dst=z, src=u)\nreturn y, z";
    let parameters = format!(
        "{}, scale, steps, flag, mode, shape, kind",
        names.join(", ")
    );
    let right = evaluated(&*bench, &kernel(&parameters, body));
    assert_eq!(right.outcome, Outcome::Ok, "{:?}", right.diagnostics);
    // What the kernel has no parameter for is its own mistake.
    let without = parameters.replace(", mode", "");
    let wrong = evaluated(
        &*bench,
        &kernel(&without, &body.replace("and mode == 'sum' ", "")),
    );
    assert_eq!(wrong.outcome, Outcome::Crashed, "{:?}", wrong.diagnostics);
    assert!(
        wrong.diagnostics[0].message.contains("mode"),
        "{:?}",
        wrong.diagnostics
    );
}

#[test]
fn what_documents_leave_open_is_told_with_a_right_kernel_and_with_a_wrong_one() {
    let buffers = [
        ("x", DataType::Float32, "input"),
        ("y", DataType::Float32, "output"),
    ];
    let fill = "{ kind = \"uniform\", low = 0, high = 7 }";
    let reference = "void solution(float x[4][8], float y[4][8]) { for (int i = 0; i < 32; i++) y[0][i] = x[0][i]; }";
    let bench = open(&description(&buffers, "", fill), reference).unwrap();
    let body = "y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\nt = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src=x)\np = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.psum)\nnisa.nc_matmul(dst=p, stationary=nl.shared_identity_matrix(4, dtype=nl.float32), moving=t, accumulate=True)\nnisa.tensor_copy(dst=t, src=p)\nnisa.dma_copy(dst=y, src=t)\nreturn y";
    let wrong = evaluated(&*bench, &kernel("x", body));
    assert_eq!(wrong.outcome, Outcome::Wrong);
    let found = &wrong.diagnostics[0];
    assert_eq!(found.code, "unset-accumulator");
    assert_eq!(found.location.as_ref().map(|it| it.line), Some(12));
    // Once.
    assert!(found.message.contains("made at line 11"), "{found:?}");
    assert!(!found.notes.iter().any(|it| it.starts_with("line 12:")));
    let turned = "y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\nt = nl.ndarray(x.shape, dtype=nl.bfloat16, buffer=nl.sbuf)\nnisa.dma_copy(dst=t, src=x)\np = nl.ndarray((8, 4), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=p, data=t)\nu = nl.ndarray((8, 4), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=u, src=p)\nq = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=q, data=u)\nv = nl.ndarray((4, 8), dtype=nl.float32, buffer=nl.sbuf)\nnisa.tensor_copy(dst=v, src=q)\nnisa.dma_copy(dst=y, src=v)\nreturn y";
    let right = evaluated(&*bench, &kernel("x", turned));
    assert_eq!(right.outcome, Outcome::Ok, "{:?}", right.diagnostics);
    let found = &right.diagnostics[0];
    assert_eq!(
        (found.code.as_str(), found.severity),
        ("transpose-widens", Severity::Warning)
    );
}
