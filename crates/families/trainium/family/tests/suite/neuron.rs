//! The backend for real devices, against scripts that imitate the vendor's tools: what they are
//! called with, what they write, and how they fail.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::opening;
use autocomp_catalog::Catalog;
use autocomp_core::{Evaluation, Outcome};
use autocomp_eval::profile::Profiled;
use autocomp_eval::{Bench, EvalError, Family, Surroundings};
use autocomp_trainium_family::Trainium;

/// Stands for Python with the vendor's packages. A compiled kernel is its text; running it copies
/// the input to the output. Comments in the kernel choose how that fails.
const PYTHON: &str = r#"#!/bin/sh
set -e
here=$(dirname "$0")
case "$2" in
compile)
    grep -q '"file":""' "$3/inputs.json"
    if grep -q REFUSED "$3/kernel.py"; then
        echo "Traceback (most recent call last):" >&2
        echo "neuronxcc.driver.Exceptions: [GCA046] infinite-cost nodes" >&2
        exit 70
    fi
    if grep -q ENDLESS "$3/kernel.py"; then sleep 30; fi
    if grep -q CURIOUS "$3/kernel.py"; then cat "$here/../secret"; fi
    test "$4 $5" = "solution nki1"
    cp "$3/kernel.py" "$6"
    ;;
run)
    test -f "$4" && test -f "$3/input0.bin" && test "$5" = "/opt/library.so"
    test -n "$NEURON_RT_VISIBLE_CORES"
    if grep -q CRASHES "$4"; then echo "nrt_execute failed with code 5" >&2; exit 1; fi
    if grep -q SILENT "$4"; then exit 0; fi
    if grep -q WRONG "$4"; then tr '\000-\377' '\100' < "$3/input0.bin" > "$3/output0.bin"; exit 0; fi
    cp "$3/input0.bin" "$3/output0.bin"
    ;;
*) exit 2 ;;
esac
"#;

const PROFILER: &str = r#"#!/bin/sh
here=$(dirname "$0")
case "$1" in
capture)
    if [ -f "$here/busy" ]; then echo "NRT_RESOURCE: no core" >&2; exit 4; fi
    test "$2 $4 $6 $8" = "-n -s --num-exec --profile-nth-exec" || exit 3
    : > "${5%.ntff}_exec_$7.ntff"
    ;;
view)
    test -f "$5" || exit 5
    echo "reading profile"
    cat "$here/summary.json"
    ;;
esac
"#;

/// Runs the line that is meant for the instance here, with another folder as its home.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != "--" ]; do shift; done
test "$2" = "user@instance" || { echo "ssh: Could not resolve hostname $2" >&2; exit 255; }
echo "$3" >> "$(dirname "$0")/ssh.log"
exec sh -c "$3"
"#;

const SUMMARY: &str = r#"{"n0": {"total_time": 0.000125, "hbm_read_bytes": 65536, "vector_engine_active_time_percent": 0.61, "event": "x"}}"#;

fn kernel(comment: &str) -> String {
    format!(
        "import neuronxcc.nki as nki\nimport neuronxcc.nki.language as nl\n# {comment}\n@nki.jit\ndef solution(x):\n  y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n  nl.store(y, nl.load(x))\n  return y\n"
    )
}

struct Tools {
    folder: tempfile::TempDir,
}

impl Tools {
    fn new(name: &str) -> Self {
        // Of its own, since the tests may run twice at a time.
        let folder = tempfile::Builder::new()
            .prefix(&format!("neuron-{name}-"))
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .expect("folder");
        std::fs::create_dir(folder.path().join("bin")).expect("folder");
        let tools = Self { folder };
        for (name, text) in [
            ("python", PYTHON),
            ("neuron-profile", PROFILER),
            ("ssh", SSH),
        ] {
            tools.write(&format!("bin/{name}"), text);
        }
        tools.write("bin/summary.json", SUMMARY);
        tools
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::write(&path, text).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))
            .expect("executable");
    }

    fn machine(&self, more: &str) -> String {
        let place = |name: &str| self.path(name).display().to_string();
        format!(
            "backend = \"neuron\"\ndescription = \"imitated\"\nsimulated = \"trn1\"\npython = \"{}\"\nprofiler = \"{}\"\nlibrary = \"/opt/library.so\"\nfolder = \"{}\"\ncompile_seconds = 240\nrun_seconds = 240\nexecutions = 20\n{more}\n",
            place("bin/python"),
            place("bin/neuron-profile"),
            place("work"),
        )
    }

    /// A problem that copies, on a machine with these settings.
    fn open(&self, machine: &str) -> Result<Arc<dyn Bench>, EvalError> {
        let catalog = Catalog::built_in().expect("catalog");
        let mut problem = catalog.problem("trainium/silu").expect("problem");
        let mut target = catalog.target("trainium-trn1").expect("target");
        target.machines.insert("device".into(), machine.into());
        for buffer in &mut problem.buffers {
            buffer.shape = vec![128, 64];
        }
        problem.work.bytes = 65536;
        problem.signature = "void solution(float x[128][64], float y[128][64])".into();
        problem.reference = "void solution(float x[128][64], float y[128][64]) {\n    for (int i = 0; i < 128 * 64; i++) y[0][i] = x[0][i];\n}\n".into();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", self.path("bin").display());
        let surroundings = Surroundings::installing(crate::problems::cache(), Some(path.into()));
        Trainium.check_target(&target)?;
        opening::open_in(&problem, (&target, "device"), &surroundings, 1, 2)
    }
}

fn evaluated(bench: &Arc<dyn Bench>, comment: &str) -> Evaluation {
    bench.evaluate(&kernel(comment)).expect("evaluated")
}

fn left_behind(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("work folder");
    entries
        .filter(|entry| entry.as_ref().expect("entry").path().is_dir())
        .count()
}

#[test]
fn a_kernel_is_compiled_run_and_profiled() {
    let tools = Tools::new("right");
    let bench = tools.open(&tools.machine("")).expect("bench");
    let evaluation = evaluated(&bench, "right");
    assert_eq!(
        evaluation.outcome,
        Outcome::Ok,
        "{:?}",
        evaluation.diagnostics
    );
    assert_eq!(evaluation.cost().expect("cost").value, 125_000);
    let measurement = evaluation.measurement.as_ref().expect("measurement");
    assert!(
        measurement
            .engine
            .starts_with("neuron trainium-trn1 machine=device"),
        "{}",
        measurement.engine
    );
    let feedback = evaluation.feedback.expect("feedback");
    assert_eq!(feedback.counters.get("hbm_read_bytes"), Some(&65536.0));
    assert!(
        feedback
            .bottleneck
            .contains("vector engine is busiest, 61 %"),
        "{}",
        feedback.bottleneck
    );
    let Profiled::Right(profile) = bench.profile(&kernel("right")).expect("profiled") else {
        panic!("not right")
    };
    assert_eq!(profile.data["total_ns"], 125_000);
    assert_eq!(left_behind(&tools.path("work")), 0);
}

#[test]
fn every_failure_is_told_for_what_it_is() {
    let tools = Tools::new("failures");
    tools.write("secret", "a key");
    let bench = tools.open(&tools.machine("")).expect("bench");
    let cases = [
        ("REFUSED", Outcome::BuildFailed, "neuron-compile", "GCA046"),
        (
            "CRASHES",
            Outcome::Crashed,
            "neuron-run",
            "nrt_execute failed with code 5",
        ),
        ("SILENT", Outcome::Wrong, "output-shape", "returns no y"),
        ("WRONG", Outcome::Wrong, "", ""),
    ];
    for (comment, outcome, code, words) in cases {
        let evaluation = evaluated(&bench, comment);
        assert_eq!(
            evaluation.outcome, outcome,
            "{comment}: {:?}",
            evaluation.diagnostics
        );
        let found = &evaluation.diagnostics[0];
        let text = format!("{} {}", found.message, found.notes.join(" "));
        assert!(
            code.is_empty() || found.code == code,
            "{comment}: {}",
            found.code
        );
        assert!(text.contains(words), "{comment}: {text}");
    }
    // A limit that ordinary compilations would miss, too, on a machine that does much else.
    let short = tools
        .machine("")
        .replace("compile_seconds = 240", "compile_seconds = 1");
    let bench = tools.open(&short).expect("bench");
    let evaluation = evaluated(&bench, "ENDLESS");
    assert_eq!(evaluation.outcome, Outcome::BuildFailed);
    let found = &evaluation.diagnostics[0];
    assert_eq!(found.code, "neuron-compile");
    assert!(
        found.message.contains("not done after 1 seconds"),
        "{found:?}"
    );
    assert_eq!(left_behind(&tools.path("work")), 0);
}

#[test]
fn only_kernels_that_the_simulator_accepts_reach_the_device() {
    let tools = Tools::new("gate");
    // Any use of these tools would fail.
    tools.write("bin/python", "#!/bin/sh\nexit 99\n");
    let bench = tools.open(&tools.machine("")).expect("bench");
    let wrong = kernel("").replace("nl.load(x)", "nl.load(x) + 1.0");
    assert_eq!(
        bench.evaluate(&wrong).expect("evaluated").outcome,
        Outcome::Wrong
    );
    for beside in [
        "import os\nos.system('true')\n",
        "if True:\n  pass\n",
        "def other(x):\n  import os\n",
    ] {
        let evaluation = bench
            .evaluate(&format!("{}{beside}", kernel("")))
            .expect("evaluated");
        assert_eq!(evaluation.outcome, Outcome::BuildFailed, "{beside}");
        assert_eq!(evaluation.diagnostics[0].code, "not-plain", "{beside}");
        assert!(
            evaluation.diagnostics[0]
                .location
                .as_ref()
                .expect("line")
                .line
                >= 9,
            "{beside}"
        );
    }
}

#[test]
fn what_is_wrong_with_the_instance_is_no_fault_of_the_kernel() {
    let tools = Tools::new("instance");
    let environment = |machine: &str| {
        let bench = tools.open(machine).expect("bench");
        match bench.evaluate(&kernel("")) {
            Err(EvalError::Environment { message, remedies }) => {
                assert!(!remedies.is_empty());
                message
            }
            other => panic!("{other:?}"),
        }
    };
    tools.write("bin/busy", "");
    assert!(environment(&tools.machine("")).contains("NRT_RESOURCE"));
    std::fs::remove_file(tools.path("bin/busy")).expect("removed");
    tools.write("bin/summary.json", "{}");
    assert!(environment(&tools.machine("")).contains("summary"));
    assert!(environment(&tools.machine("host = \"user@nowhere\"")).contains("Could not resolve"));
    for (settings, words) in [
        ("executions = 0", "duplicate"),
        ("speed = 3", "unknown field"),
        ("host = \"-oProxyCommand=x\"", "no name of a host"),
    ] {
        let Err(error) = tools.open(&tools.machine(settings)) else {
            panic!("{settings}")
        };
        assert!(error.to_string().contains(words), "{settings}: {error}");
    }
}

#[test]
fn the_instance_can_be_elsewhere() {
    let tools = Tools::new("elsewhere");
    let bench = tools
        .open(&tools.machine("host = \"user@instance\""))
        .expect("bench");
    let evaluation = evaluated(&bench, "right");
    assert_eq!(
        evaluation.outcome,
        Outcome::Ok,
        "{:?}",
        evaluation.diagnostics
    );
    let refused = evaluated(&bench, "REFUSED 'quoted' $HOME");
    assert_eq!(refused.outcome, Outcome::BuildFailed);
    let log = std::fs::read_to_string(tools.path("bin/ssh.log")).expect("log");
    assert!(
        log.lines().filter(|line| line.contains("flock")).count() >= 2,
        "{log}"
    );
    assert_eq!(left_behind(&tools.path("work")), 0);
}

#[test]
fn the_sandbox_hides_files_from_the_compiler() {
    let tools = Tools::new("sandbox");
    let other = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("folder");
    let elsewhere = other.path().join("secret");
    std::fs::write(&elsewhere, "a key").expect("written");
    tools.write(
        "bin/python",
        &PYTHON.replace("$here/../secret", &elsewhere.display().to_string()),
    );
    let bench = tools.open(&tools.machine("")).expect("bench");
    let evaluation = evaluated(&bench, "CURIOUS");
    // Where the kernel of the operating system cannot confine files, nothing is promised.
    if Path::new("/sys/kernel/security/landlock").exists() {
        assert_eq!(
            evaluation.outcome,
            Outcome::BuildFailed,
            "{:?}",
            evaluation.diagnostics
        );
    }
    let said = format!("{:?}", evaluation.diagnostics);
    assert!(!said.contains("a key"), "{said}");
}
