//! Kernels on a device that is not there: a driver that runs one kernel, with faults.

use crate::benches::{open_machine, problem};
use autocomp_catalog::{Catalog, Problem, Target};
use autocomp_core::{Outcome, Stage};
use autocomp_cuda::Cuda;
use autocomp_eval::{Bench, EvalError, Family};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Elements of the vectors.
const N: u64 = 4096;

/// Builds the driver for an architecture (`8`, `9`) into `folder`.
fn driver(folder: &Path, (major, minor): (u32, u32)) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake-driver.c");
    let built = Command::new("cc")
        .args(["-O1", "-w", "-shared", "-fPIC", "-pthread", "-o"])
        .arg(folder.join("libfake.so"))
        .arg(format!("-DFAKE_N={N}"))
        .arg(format!("-DFAKE_SETS={}", sum().input_sets.len()))
        .arg(format!("-DFAKE_MAJOR={major}"))
        .arg(format!("-DFAKE_MINOR={minor}"))
        .arg(source)
        .status();
    assert!(built.is_ok_and(|it| it.success()), "cc builds no library");
}

/// Returns the target with a machine whose driver is in `folder`.
fn target(folder: &Path, seconds: u32) -> Target {
    let catalog = Catalog::built_in().unwrap_or_else(|error| panic!("{error}"));
    let mut target = catalog
        .target("cuda-sm89")
        .unwrap_or_else(|error| panic!("{error}"));
    let text = target.machines["device"].replace("seconds = 120", &format!("seconds = {seconds}"))
        + &format!("library = {:?}\n", folder.join("libfake.so"));
    target.machines.insert("device".into(), text);
    target
}

/// Returns the sum of two short vectors.
fn sum() -> Problem {
    let mut problem = problem("cuda/vector-add-f32-1048576");
    let short = |text: &str| text.replace("1048576", &N.to_string());
    problem.reference = short(&problem.reference);
    for text in problem.kernels.values_mut() {
        *text = short(text);
    }
    for buffer in &mut problem.buffers {
        buffer.shape = vec![N];
    }
    problem.work.macs = N;
    problem.work.bytes = 12 * N;
    problem
}

fn kernel(name: &str) -> String {
    // The variable of the module, what the kernel does with it, and what the host function puts
    // there.
    let (variable, counts, put) = match name {
        "add_counted" => ("__device__ int turns;", "if (i == 0) turns = 1;", ""),
        "add_put" => (
            "__device__ int turns;",
            "if (turns != 7) return;",
            "int seven = 7; cudaMemcpyToSymbol(turns, &seven, 4);",
        ),
        _ => ("", "", ""),
    };
    format!(
        "{variable}
__global__ void {name}(const float* x, const float* y, float* z) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  {counts}
  if (i < {N}) z[i] = x[i] + y[i];
}}
void solution(const float* X, const float* Y, float* Z) {{ {put} {name}<<<{N} / 256, 256>>>(X, Y, Z); }}
"
    )
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new(architecture: (u32, u32)) -> Self {
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        driver(folder.path(), architecture);
        Self { folder }
    }

    fn open(&self, seconds: u32) -> Result<Arc<dyn Bench>, EvalError> {
        open_machine(&sum(), &target(self.folder.path(), seconds), "device")
    }
}

fn ended(bench: &dyn Bench, name: &str) -> (Outcome, String, String) {
    let evaluation = bench
        .evaluate(&kernel(name))
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let found = evaluation.diagnostics.first();
    (
        evaluation.outcome,
        found.map(|it| it.code.clone()).unwrap_or_default(),
        found.map(|it| format!("{it:?}")).unwrap_or_default(),
    )
}

/// Each fault is told by its name, and the next kernel runs as if nothing had been.
#[test]
fn faults_end_the_worker_and_nothing_else() {
    let place = Place::new((8, 9));
    let bench = place.open(60).unwrap();
    let faults = [
        ("add_wrong", Outcome::Wrong, "output-mismatch"),
        ("add_beyond", Outcome::Illegal, "device-out-of-bounds"),
        ("add_before", Outcome::Illegal, "device-out-of-bounds"),
        ("add_input", Outcome::Wrong, "input-changed"),
        ("add_sticky", Outcome::Illegal, "device-illegal-address"),
        ("add_crooked", Outcome::Illegal, "device-misaligned"),
        ("add_unloadable", Outcome::BuildFailed, "device-build"),
    ];
    for (name, outcome, code) in faults {
        let (got, found, words) = ended(&*bench, name);
        assert_eq!((got, found.as_str()), (outcome, code), "{name}: {words}");
        if name == "add_unloadable" {
            assert!(words.contains("ptxas fake: no such instruction"), "{words}");
        }
    }
    // What is not the kernel's fault is an error.
    for (name, told) in [
        ("add_starved", "CUDA_ERROR_OUT_OF_MEMORY"),
        ("add_liar", "the clocks of device and computer differ"),
        ("add_deadly", "ended without an answer (signal 6)"),
    ] {
        let error = bench.evaluate(&kernel(name)).unwrap_err();
        assert!(error.to_string().contains(told), "{name}: {error}");
    }
    assert_eq!(ended(&*bench, "add").0, Outcome::Ok);
}

/// What kernels are known to try on a device; what `cheats` has on the simulator. The simulator
/// finds each of these right: the driver runs something else.
#[test]
fn cheats_on_a_device_are_seen() {
    let place = Place::new((8, 9));
    let bench = place.open(60).unwrap();
    for (name, outcome, code) in [
        // Nothing is written, or the same for all inputs.
        ("add_idle", Outcome::Wrong, "output-not-written"),
        ("add_constant", Outcome::Wrong, "output-mismatch"),
        // Right only where the output held zeros before.
        ("add_stale", Outcome::Wrong, "output-mismatch"),
        // An answer that was kept from tests is given where time is taken.
        ("add_tired", Outcome::Wrong, "output-mismatch"),
        // Ten bits instead of 23.
        ("add_rough", Outcome::Wrong, "output-mismatch"),
        // An answer of its own where programs print.
        ("add_wrong_chatty", Outcome::Wrong, "output-mismatch"),
        // Less time than the work takes on any device.
        ("add_instant", Outcome::Wrong, "device-too-fast"),
        // Threads that never end go with the worker.
        ("add_threads", Outcome::Ok, ""),
    ] {
        let (got, found, words) = ended(&*bench, name);
        assert_eq!((got, found.as_str()), (outcome, code), "{name}: {words}");
    }
}

#[test]
fn a_kernel_that_never_ends_is_killed() {
    let place = Place::new((8, 9));
    let bench = place.open(2).unwrap();
    let (outcome, code, _) = ended(&*bench, "add_hang");
    assert_eq!((outcome, code.as_str()), (Outcome::TimedOut, "device-hang"));
    let (outcome, _, words) = ended(&*place.open(60).unwrap(), "add");
    assert_eq!(outcome, Outcome::Ok, "{words}");
}

#[test]
fn what_is_measured_is_told_beside_what_is_simulated() {
    let place = Place::new((8, 9));
    let bench = place.open(60).unwrap();
    // Slower than the problem's own kernel, which takes 100 us here.
    let evaluation = bench.evaluate(&kernel("add_slow")).unwrap();
    assert_eq!(
        evaluation.outcome,
        Outcome::Ok,
        "{:?}",
        evaluation.diagnostics
    );
    let measurement = evaluation.measurement.unwrap();
    assert_eq!(measurement.cost.value, 200_000);
    let ratio = measurement.ratio_to_baseline.unwrap();
    assert_eq!((ratio.low, ratio.value, ratio.high), (2.0, 2.0, 2.0));
    assert!(measurement.engine.contains("Fake GPU"));
    assert_eq!(measurement.figures["registers"], 24);
    let mhz = measurement.figures["sm_mhz"];
    assert!((1499..=1501).contains(&mhz), "{mhz}");
    let simulated = open_machine(&sum(), &target(place.folder.path(), 60), "l40s").unwrap();
    let simulated = simulated.evaluate(&kernel("add_slow")).unwrap();
    assert_eq!(
        Some(measurement.figures["simulated_ns"]),
        simulated.cost().map(|it| it.value)
    );
    // Variables of the module begin each call with what they hold at first.
    assert_eq!(ended(&*bench, "add_counted").0, Outcome::Ok);
    // Bytes of the host function are there in each call.
    assert_eq!(ended(&*bench, "add_put").0, Outcome::Ok);
    // What the simulator refuses does not run.
    let wrong = kernel("add").replace("x[i] + y[i]", "x[i] - y[i]");
    let evaluation = bench.evaluate(&wrong).unwrap();
    assert_eq!(evaluation.outcome, Outcome::Wrong);
    let found = &evaluation.diagnostics[0];
    assert!(found.stage == Stage::Test && !found.notes[0].contains("device"));
}

#[test]
fn the_machine_with_the_name_of_the_gpu_stands_for_it() {
    let place = Place::new((8, 9));
    let mut target = target(place.folder.path(), 60);
    let l4 = target.machines["l4"].replace("\"NVIDIA L4\"", "\"Fake GPU\"");
    target.machines.insert("l4".into(), l4);
    let simulated = |machine: &str, figure: &str| {
        let bench = open_machine(&sum(), &target, machine).unwrap();
        let evaluation = bench.evaluate(&kernel("add_slow")).unwrap();
        let cost = evaluation.cost().map(|it| it.value);
        let measurement = evaluation.measurement.unwrap();
        measurement.figures.get(figure).copied().or(cost)
    };
    let stands = simulated("device", "simulated_ns");
    assert_eq!(stands, simulated("l4", "none"));
    assert_ne!(stands, simulated("l40s", "none"));
}

#[test]
fn a_missing_or_other_gpu_is_told_with_what_to_do() {
    let place = Place::new((9, 0));
    let error = place.open(60).err().unwrap().to_string();
    assert!(
        error.contains(
            "target cuda-sm89 is for sm_89, and the GPU of this computer, Fake GPU, is sm_90"
        ),
        "{error}"
    );
    std::fs::remove_file(place.folder.path().join("libfake.so")).unwrap();
    let error = place.open(60).err().unwrap();
    let told = format!("{error:?}");
    assert!(told.contains("there is none that can be used"), "{told}");
    assert!(told.contains("--machine l40s"), "{told}");
    // What is no driver is none.
    std::fs::write(place.folder.path().join("libfake.so"), "text").unwrap();
    assert!(matches!(place.open(60), Err(EvalError::Environment { .. })));
    let surroundings = autocomp_eval::Surroundings::installing(place.folder.path(), None);
    let findings = Cuda.examine(&surroundings);
    assert!(findings.iter().all(|it| it.ok), "{findings:?}");
}

#[test]
fn machine_files_of_devices_are_checked() {
    let place = Place::new((8, 9));
    let mut target = target(place.folder.path(), 60);
    let right = target.machines["device"].clone();
    for (from, to, told) in [
        ("\"driver\"", "\"magic\"", "there is \"driver\""),
        ("seconds = 60", "seconds = 0", "`seconds` is at least 1"),
        ("seconds = 60", "", "missing field `seconds`"),
        ("\"l40s\"", "\"l41\"", "l41"),
    ] {
        target
            .machines
            .insert("device".into(), right.replace(from, to));
        let error = Cuda.check_target(&target).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
