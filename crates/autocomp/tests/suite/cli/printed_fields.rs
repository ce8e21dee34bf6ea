//! `docs/json.md` names exactly the fields that the commands print.
//!
//! Tests begin in the order of their names. This one waits while another process takes
//! times on this computer, as `documents` does for long: it comes behind most others.

use super::program::{Place, data, problem};
use super::workers::nats::Nats;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;

/// Returns the documented fields of each command.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md"))
        .unwrap();
    let sections = text.split("\n## `").skip(1);
    let of_section = |section: &str| {
        let (name, rows) = section.split_once("`\n").unwrap();
        let fields = rows.lines().filter_map(|row| {
            row.strip_prefix("| `")?
                .split('`')
                .next()
                .map(str::to_owned)
        });
        (name.to_owned(), fields.collect())
    };
    sections.map(of_section).collect()
}

/// Returns the fields of `value`, and of those objects and arrays of objects in
/// it that `documented` describes.
fn printed(value: &Value, documented: &BTreeSet<String>) -> BTreeSet<String> {
    let mut fields = BTreeSet::new();
    collect(value, "", documented, &mut fields);
    fields
}

fn collect(
    value: &Value,
    path: &str,
    documented: &BTreeSet<String>,
    fields: &mut BTreeSet<String>,
) {
    // What is null has no fields; another call prints them.
    for (name, inner) in value.as_object().into_iter().flatten() {
        let path = format!("{path}{name}");
        let described = |prefix: &str| documented.iter().any(|field| field.starts_with(prefix));
        let (object, elements) = (format!("{path}."), format!("{path}[]."));
        if described(&object) {
            collect(inner, &object, documented, fields);
        }
        if described(&elements) {
            for element in inner.as_array().unwrap() {
                collect(element, &elements, documented, fields);
            }
        }
        fields.insert(path);
    }
}

/// A kernel of another language, whose latency somebody measured.
const DOUBLE: &str = "\
import neuronxcc.nki.language as nl

def solution(a):
    result = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    tile = nl.load(a)
    nl.store(result, nl.add(tile, tile))
    return result
";

/// What a command prints before it goes on serving.
fn served(place: &Place, command_line: &[&str]) -> Value {
    let mut command = place.std_command();
    command.args(command_line).args(["--port", "0", "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut values =
        serde_json::Deserializer::from_reader(child.stdout.take().unwrap()).into_iter();
    let value = values.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    value
}

/// Returns what `workers` prints of a worker, and what the worker prints when it is ended.
fn worked(place: &Place) -> [Value; 2] {
    let nats = Nats::start();
    let mut worker = place.std_command();
    // Names of workers are locked in the cache folder, which tests share.
    worker.args(["worker", "--name", "of-fields", "--json"]);
    worker.env("AUTOCOMP_QUEUE", nats.address());
    let worker = worker.stdout(Stdio::piped()).spawn().unwrap();
    let address = nats.address();
    let asked = || place.json(&["workers", "--queue", &address]).1;
    let told = (0..60).map(|_| asked());
    let told = told.into_iter().find(|it| it["workers"][0].is_object());
    let id = rustix::process::Pid::from_child(&worker);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let ended = worker.wait_with_output().unwrap();
    [
        told.unwrap(),
        serde_json::from_slice(&ended.stdout).unwrap(),
    ]
}

#[test]
fn the_documented_fields_are_those_printed() {
    let place = Place::new();
    let problem = problem();
    // The problem's baseline is then another kernel to compare with, and one line is
    // not understood, so that nothing better is found.
    let baseline = std::fs::read_to_string(format!("{problem}/baseline.c")).unwrap();
    let odd = "  static int8_t kept[4];\n  kept[0] = A[0][0];\n  config_st";
    place.file(
        "lessons.jsonl",
        "{\"id\":\"1\",\"target\":\"t\",\"problem\":\"p\",\"menu_item\":\"unroll\",\"plan\":\"Unroll.\",\
         \"outcome\":\"ok\",\"factor\":1.5,\"finding\":\"bound by moves\",\"attempts\":2}\n",
    );
    place.file(
        "test1.c",
        include_str!("../../../../imports/tests/suite/harnesses/product.c"),
    );
    place.file("mine.c", baseline.replacen("  config_st", odd, 1));
    place.file("kernel.md", format!("```c\n{baseline}```\n"));
    let wrong = data("kernels/modifies-a.c");
    place.file(
        "s.toml",
        format!(
            "problems = [{problem:?}]\nseeds = [1]\nmax_evaluations = 2\n[[arm]]\nname = \"a\"\n"
        ),
    );
    place.file("confirm.toml", "[search]\nconfirm = 1\n");
    place.file("k.py", DOUBLE);
    let task = place.path().join("bench/KernelBench/level1");
    std::fs::create_dir_all(&task).unwrap();
    let text = "class Model: pass\n\ndef get_inputs():\n    return [torch.rand(4)]\n";
    std::fs::write(task.join("1_A.py"), text).unwrap();
    // One reply is as good as another: nothing is of use, and the other target's menu stands in.
    std::fs::create_dir_all(place.path().join("docs")).unwrap();
    place.file("docs/a.md", "It is so.\n");
    place.file("answer.txt", "{\"routes\": [], \"statements\": []}\n");
    std::fs::create_dir_all(place.path().join("measured/kernels")).unwrap();
    place.file(
        "measured/launches.tsv",
        "id\tfile\tkernel\tgrid\tblock\tshared\tblocks\targuments\n\
         a.one.64\ta\tone\t2\t32\t0\tsome\tx=float:64\n",
    );
    place.file(
        "measured/results.tsv",
        "id\tcold_med_us\twarm_med_us\na.one.64\t30\t20\n",
    );
    place.file(
        "measured/kernels/a.cu",
        "__global__ void one(float *x) { x[blockIdx.x * 32 + threadIdx.x] += 1.0f; }\n",
    );
    place.file(
        "trace.py",
        "CodeCandidate(parent=CodeCandidate(parent=None, plan=None, code='''a''', score=2.0),\n\
         plan='''p''', code='''b''', score=1.0)",
    );
    place.file(
        "latencies.tsv",
        "id\tfile\tentry\tinputs\tmachine\tlatency_us\tgroup\tvector_percent\n\
         d\tk.py\tsolution\ta:f32[128,512]\ttrn1\t10\tdouble\t20\n",
    );
    let elf = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../families/gemmini/sim/calibration/gemmini-rtl/elf/micro_grid.elf"
    );
    let calls: &[(&str, &[&str])] = &[
        (
            "optimize",
            &[
                "optimize",
                &problem,
                "--run-dir",
                "runs/odd",
                "--max-evaluations",
                "2",
                "--baseline",
                "mine.c",
            ],
        ),
        (
            "optimize",
            &[
                "optimize",
                &problem,
                "--run-dir",
                "runs/one",
                "--max-evaluations",
                "3",
                "--config",
                "confirm.toml",
            ],
        ),
        ("eval", &["eval", &problem, "--kernel", &wrong]),
        ("profile", &["profile", &problem]),
        ("propose", &["propose", &problem]),
        ("propose", &["propose", &problem, "--kernel", "mine.c"]),
        (
            "import autocomp",
            &["import", "autocomp", "trace.py", "--unit", "cycles"],
        ),
        ("mcp --write-skill", &["mcp", "--write-skill", "skill"]),
        ("show", &["show", "runs/one"]),
        ("show --kernel", &["show", "runs/one", "--kernel", "best"]),
        ("show --history", &["show", "runs/one", "--history"]),
        ("show --task", &["show", "runs/one", "--task", "i1.b0.p0"]),
        ("show --all", &["show", "runs/one", "--all"]),
        (
            "show --objectives",
            &["show", "runs/one", "--objectives", "instructions"],
        ),
        ("show KERNEL", &["show", "runs/one", "best"]),
        ("diff", &["diff", "runs/one", "baseline", "best"]),
        ("report", &["report", "runs/one"]),
        ("export", &["export", "runs/one"]),
        ("runs", &["runs"]),
        ("study", &["study", "s.toml"]),
        (
            "import kernels",
            &[
                "import",
                "kernels",
                "mine.c",
                "--problem",
                &problem,
                "--out",
                "kernels",
            ],
        ),
        ("import kernelbench", &["import", "kernelbench", "bench"]),
        (
            "import problems",
            &[
                "import",
                "problems",
                "test1.c",
                "--target=gemmini-int8-16",
                "--out",
                "problems",
            ],
        ),
        (
            "target build",
            &[
                "target",
                "build",
                "built",
                "--from",
                "docs",
                "--scope=Kernels",
                "--like=gemmini-int8-16",
                "--out=own",
                "--model=command::sed -e s/x/y/ answer.txt",
            ],
        ),
        (
            "target build",
            &[
                "target",
                "build",
                "refused",
                "--from",
                "docs",
                "--scope=Kernels",
                "--like=gemmini-int8-16",
                "--out=own",
                "--model=command::echo I will not.",
            ],
        ),
        (
            "target export",
            &["target", "export", "gemmini-int8-16", "--skill", "known"],
        ),
        (
            "target import",
            &[
                "target",
                "import",
                "known",
                "--name",
                "mine",
                "--like",
                "gemmini-int8-16",
                "--out",
                "own",
            ],
        ),
        (
            "target diff",
            &["target", "diff", "gemmini-int8-16", "gemmini-fp32-4"],
        ),
        ("targets", &["targets"]),
        ("targets NAME", &["targets", "gemmini-int8-16"]),
        ("problems", &["problems"]),
        ("problems NAME", &["problems", &problem]),
        (
            "problems NAME --kernel",
            &["problems", &problem, "--kernel", "baseline"],
        ),
        ("doctor", &["doctor"]),
        ("cache", &["cache"]),
        ("memory", &["memory", "--file", "lessons.jsonl"]),
        ("prompt", &["prompt", &problem, "--no-eval"]),
        ("bench", &["bench", &problem]),
        ("sim run", &["sim", "run", elf, "--functional"]),
        (
            "sim calibrate` of a folder with `latencies.tsv",
            &["sim", "calibrate", "--suite", ".", "--leave-one-out"],
        ),
        (
            "sim calibrate` of a folder with `launches.tsv",
            &["sim", "calibrate", "--suite", "measured"],
        ),
        (
            "ask",
            &["ask", &problem, "--model", "command::echo The loads wait."],
        ),
        (
            "translate",
            &[
                "translate",
                &problem,
                "--output",
                "translated.c",
                "--model",
                "command::cat kernel.md",
                "--iterations",
                "0",
            ],
        ),
        ("worker init", &["worker", "init", "queue"]),
        ("models list", &["models", "list"]),
        ("models check", &["models", "check", "nobody::model"]),
    ];
    let mut documented = documented();
    // What one call leaves out, another call of the command may print.
    let mut seen = BTreeMap::<_, BTreeSet<_>>::new();
    for (name, arguments) in calls {
        let expected = documented
            .get(*name)
            .unwrap_or_else(|| panic!("{name} is not documented"));
        let (_, value) = place.json(arguments);
        seen.entry(*name)
            .or_default()
            .extend(printed(&value, expected));
    }
    for (name, fields) in seen {
        assert_eq!(fields, documented.remove(name).unwrap(), "{name}");
    }
    for command_line in ["serve", "mcp --http"] {
        let fields = documented.remove(command_line).unwrap();
        let words: Vec<&str> = command_line.split(' ').collect();
        let value = served(&place, &words);
        assert_eq!(printed(&value, &fields), fields, "{command_line}");
    }
    for (command_line, value) in ["workers", "worker"].into_iter().zip(worked(&place)) {
        let fields = documented.remove(command_line).unwrap();
        assert_eq!(printed(&value, &fields), fields, "{command_line}");
    }
    // Takes half a minute; its figures are pinned by tests of the simulator.
    documented.remove("sim calibrate");
    assert!(
        documented.is_empty(),
        "documented, but not compared: {:?}",
        documented.keys()
    );
}
