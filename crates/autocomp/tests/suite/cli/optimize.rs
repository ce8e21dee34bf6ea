//! `autocomp optimize` with the rewriter: results, determinism, interruptions.

use super::program::{Place, problem};
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// Enough for two iterations and a better kernel, and few enough that all are used, in a few seconds.
const EFFORT: &[&str] = &[
    "--beam",
    "2",
    "--plans",
    "3",
    "--max-evaluations",
    "6",
    "--seed",
    "7",
    "--patience",
    "0",
];

fn arguments<'a>(problem: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["optimize", problem], EFFORT, more].concat()
}

fn undisturbed(place: &Place, folder: &str) -> Value {
    let problem = problem();
    let (code, value) = place.json(&arguments(&problem, &["--run-dir", folder]));
    assert_eq!(code, Some(0), "{value}");
    value
}

#[test]
fn the_result_is_what_was_measured() {
    let place = Place::new();
    let value = undisturbed(&place, "runs/one");
    let figure = |name: &str| {
        value[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name} in {value}"))
    };
    assert_eq!(
        (value["status"].as_str(), value["reason"].as_str()),
        (Some("finished"), Some("evaluations"))
    );
    assert_eq!(value["reason_text"], "budget: all 6 evaluations are done");
    assert_eq!((figure("evaluations"), figure("seed")), (6.0, 7.0));
    assert!(figure("best_cycles") < figure("baseline_cycles"), "{value}");
    assert!((figure("speedup") - figure("baseline_cycles") / figure("best_cycles")).abs() < 1e-9);
    assert!(0.0 < figure("wall_s"));

    // The baseline and the best kernel measure the same when evaluated anew.
    let (_, baseline) = place.json(&["eval", &problem(), "--no-cache"]);
    assert_eq!(baseline["cycles"], value["baseline_cycles"]);
    let best = value["best_kernel"].as_str().unwrap();
    let (code, again) = place.json(&["eval", &problem(), "--kernel", best, "--no-cache"]);
    assert_eq!(
        (code, &again["cycles"]),
        (Some(0), &value["best_cycles"]),
        "{again}"
    );
    assert_eq!(again["percent_of_peak"], value["percent_of_peak"]);

    // The run can be looked at.
    let kernel = place.call(&["show", "runs/one", "--kernel", "best"]);
    assert_eq!(kernel.stdout, fs::read_to_string(best).unwrap());
    let (_, shown) = place.json(&["show", "runs/one"]);
    assert_eq!(shown["history"], value["history"]);
    assert_eq!(
        shown["lineage"].as_array().unwrap().len(),
        value["plans"].as_array().unwrap().len()
    );
    let (_, history) = place.json(&["show", "runs/one", "--history"]);
    assert_eq!(history["history"], value["history"]);
    let lines = place.call(&["show", "runs/one", "--history"]).stdout;
    assert_eq!(
        lines.lines().count(),
        history["events"].as_array().unwrap().len()
    );
    let (_, runs) = place.json(&["runs"]);
    assert_eq!(
        runs["runs"][0]["status"],
        serde_json::json!({
            "state": "finished",
            "reason": "evaluations",
            "message": "budget: all 6 evaluations are done",
        })
    );
    let listed = place.call(&["runs"]).stdout;
    let row = listed.lines().nth(1).unwrap_or_default();
    assert!(
        row.starts_with("runs/one  finished (evaluations)  gemm-64"),
        "{listed}"
    );
}

#[test]
fn standard_output_has_the_result_only() {
    let place = Place::new();
    let problem = problem();
    let ended = place.call(&arguments(&problem, &[]));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.starts_with("\nbaseline "), "{}", ended.stdout);
    let end = ended.stdout.lines().find(|it| it.starts_with("finished "));
    assert!(
        end.is_some_and(|it| it.ends_with("  budget: all 6 evaluations are done")),
        "{}",
        ended.stdout
    );
    let shown = place.call(&["show", "runs/gemm-64-s7"]).stdout;
    assert!(
        shown.contains(": finished: budget: all 6 evaluations are done\n"),
        "{shown}"
    );
    assert!(
        ended.stdout.contains("how it got there:\n")
            && ended.stdout.contains("best kernel  runs/gemm-64-s7/best.c")
    );
    assert!(
        ended.stderr.contains("run folder runs/gemm-64-s7\n[0:"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("/6 evaluated"), "{}", ended.stderr);
    // The advice can be followed as it stands.
    let advice = ended
        .stdout
        .lines()
        .last()
        .unwrap()
        .trim()
        .replace("[DATA]", &super::program::data(""));
    let words: Vec<&str> = advice.split_whitespace().skip(1).collect();
    assert_eq!(place.call(&words).code, Some(0), "{advice}");
}

#[test]
fn the_number_of_workers_changes_nothing() {
    let place = Place::new();
    let problem = problem();
    let run = |workers, folder| {
        let (code, value) = place.json(&arguments(
            &problem,
            &["--run-dir", folder, "--workers", workers],
        ));
        assert_eq!(code, Some(0), "{value}");
        (
            value["history"].clone(),
            fs::read(value["best_kernel"].as_str().unwrap()).unwrap(),
        )
    };
    assert_eq!(run("1", "one"), run("2", "two"));
}

#[test]
fn a_replay_takes_the_same_course() {
    let place = Place::new();
    let value = undisturbed(&place, "one");
    let (code, again) = place.json(&["optimize", "--replay", "one", "--run-dir", "two"]);
    assert_eq!(
        (code, &again["history"]),
        (Some(0), &value["history"]),
        "{again}"
    );
    assert_eq!(again["best_cycles"], value["best_cycles"]);
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_been() {
    let place = Place::new();
    let expected = undisturbed(&place, "undisturbed");
    let problem = problem();
    for (idx, delay) in [0, 150, 400, 900].into_iter().enumerate() {
        let folder = format!("killed-{idx}");
        let mut child = place
            .std_command()
            .args(arguments(&problem, &["--run-dir", &folder]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From when the run exists, so that every moment is one of the run's.
        while !place.path().join(&folder).join("run.sqlite").exists()
            && child.try_wait().unwrap().is_none()
        {
            thread::sleep(Duration::from_millis(2));
        }
        thread::sleep(Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();

        // A run that was killed before its first event is started again.
        let shown = place.call(&["show", &folder]);
        let (code, value) = if shown.code == Some(0) {
            // From another folder: what the run needs is found all the same.
            let path = place.path().join(&folder).display().to_string();
            if idx % 2 == 0 {
                Place::new().json(&["optimize", "--resume", &path])
            } else {
                // So is the command line that started it, repeated.
                Place::new().json(&arguments(&problem, &["--resume", &path]))
            }
        } else {
            assert!(shown.stderr.contains("hint: "), "{}", shown.stderr);
            place.json(&arguments(&problem, &["--run-dir", &folder]))
        };
        assert_eq!(code, Some(0), "{delay} ms: {value}");
        assert_eq!(value["history"], expected["history"], "{delay} ms");
        assert_eq!(value["best_cycles"], expected["best_cycles"]);
    }
}

/// How the command line of a process that evaluates begins.
const EVALUATOR: &[u8] = b"autocomp\0evaluator\0";

/// Returns the processes that evaluate for another one.
fn evaluators_of(parent: u32) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let names = processes.map(|process| process.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| {
            let stat = fs::read_to_string(format!("/proc/{name}/stat")).unwrap_or_default();
            let after_name = stat.rsplit(") ").next().unwrap_or_default();
            let fields: Vec<&str> = after_name.split(' ').collect();
            let line = fs::read(format!("/proc/{name}/cmdline")).unwrap_or_default();
            fields.get(1) == Some(&parent.to_string().as_str()) && line.starts_with(EVALUATOR)
        })
        .collect()
}

#[test]
fn evaluators_that_die_change_nothing_and_live_no_longer_than_the_run() {
    let place = Place::new();
    let expected = undisturbed(&place, "undisturbed");
    let problem = problem();
    for n_evaluations in [0, 4] {
        let folder = format!("run-{n_evaluations}");
        let mut run = place
            .std_command()
            .args(arguments(&problem, &["--run-dir", &folder]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut killed = None;
        while killed.is_none() && run.try_wait().unwrap().is_none() {
            let (_, shown) = place.json(&["show", &folder]);
            if n_evaluations <= shown["progress"]["evaluations"].as_u64().unwrap_or(0) {
                killed = evaluators_of(run.id()).pop();
            }
        }
        if let Some(pid) = &killed {
            let kill = ["-c", "kill -KILL \"$0\"", pid];
            let mut shell = std::process::Command::new("sh");
            shell.args(kill).status().unwrap();
        }
        assert!(run.wait().unwrap().success(), "after {n_evaluations}");
        let (_, shown) = place.json(&["show", &folder]);
        assert_eq!(shown["history"], expected["history"]);
    }

    let mut run = place
        .std_command()
        .args(arguments(&problem, &["--run-dir", "other"]))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut evaluators = Vec::new();
    while evaluators.is_empty() && run.try_wait().unwrap().is_none() {
        evaluators = evaluators_of(run.id());
    }
    assert!(!evaluators.is_empty());
    run.kill().unwrap();
    run.wait().unwrap();
    for pid in evaluators {
        let line = || fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        while line().starts_with(EVALUATOR) {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

#[test]
fn a_kernel_that_nothing_is_found_for() {
    let place = Place::new();
    // Nothing for the accelerator, since what is added hangs on an operand, and no loop that is
    // counted.
    let kernel = place.file(
        "plain.c",
        "static int8_t saturated(int32_t sum) {
    return sum < -128 ? -128 : sum > 127 ? 127 : sum;
}
void solution(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {
    int i = 0;
    while (i < 64 * 64) {
        int32_t sum = 0;
        int k = 0;
        while (k < 64) {
            int8_t a = A[i / 64][k];
            if (a != 0) {
                sum += a * B[k][i % 64];
            }
            k++;
        }
        C[i / 64][i % 64] = saturated(sum);
        i++;
    }
}
",
    );
    let ended = place.call(&arguments(&problem(), &["--baseline", &kernel]));
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    assert!(
        ended.stdout.contains("nothing faster was found") && !ended.stdout.contains("1.00x"),
        "{}",
        ended.stdout
    );
    assert!(
        ended.stderr.contains("nothing applied: ")
            && ended.stderr.contains("--model MODEL")
            && ended.stderr.contains("the rewriter does not change line "),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stdout.contains("nothing applied: "),
        "{}",
        ended.stdout
    );
}

#[test]
fn a_run_is_not_resumed_on_another_course() {
    let place = Place::new();
    let history = undisturbed(&place, "run")["history"].clone();
    for (name, flags) in [
        ("seed", &["--seed", "8"][..]),
        ("evaluations", &["--max-evaluations", "5"]),
        ("problem", &["gemmini/gemm-512x512x512"]),
        ("model", &["--model", "command::cat"]),
    ] {
        let arguments = [&["optimize", "--resume", "run"], flags].concat();
        let ended = place.call(&arguments);
        insta::assert_snapshot!(format!("resume-with-other-{name}"), ended.transcript());
    }
    let (_, shown) = place.json(&["show", "run"]);
    assert_eq!(shown["history"], history);
}

#[test]
fn a_finished_run_is_extended_and_another_starts_from_it() {
    let place = Place::new();
    let first = undisturbed(&place, "run");
    assert_eq!(first["reason"], "evaluations");
    assert_eq!(first["reason_text"], "budget: all 6 evaluations are done");
    let more = ["optimize", "--resume", "run", "--max-evaluations", "8"];
    let (code, extended) = place.json(&more);
    assert_eq!(code, Some(0), "{extended}");
    assert_eq!(extended["evaluations"], 8);
    assert!(extended["best_cycles"].as_u64() <= first["best_cycles"].as_u64());
    let (_, shown) = place.json(&["show", "run"]);
    assert_eq!(
        shown["status"]["message"],
        "budget: all 8 evaluations are done"
    );
    let (_, again) = place.json(&more);
    assert_eq!(
        again["history"], extended["history"],
        "there is nothing left to do"
    );
    let (code, replayed) = place.json(&["optimize", "--replay", "run", "--run-dir", "again"]);
    assert_eq!(
        (code, &replayed["history"]),
        (Some(0), &extended["history"])
    );

    // By the name of its task, as kernels of an open iteration are called.
    let (_, all) = place.json(&["show", "run", "--all"]);
    // However the list is sorted and cut, parents are named as for a kernel on its own.
    for kernel in all["kernels"].as_array().unwrap() {
        let name = kernel["name"].as_str().unwrap();
        let (_, one) = place.json(&["show", "run", name]);
        assert_eq!(kernel["parent"], one["parent"], "{kernel}");
    }
    let mut kernels = all["kernels"].as_array().unwrap().iter();
    let best = kernels.find(|it| it["cost"]["value"] == extended["best_cycles"]);
    let best = best.unwrap();
    let from = format!("run:{}", best["task"].as_str().unwrap());
    let fork = [
        "optimize",
        "--from",
        &from,
        "--run-dir",
        "fork",
        "--strategy",
        "best-of-n",
    ];
    let (code, fork) =
        place.json(&[&fork[..], &["--max-evaluations", "5", "--seed", "8"]].concat());
    assert_eq!(code, Some(0), "{fork}");
    assert_eq!(fork["baseline_cycles"], first["baseline_cycles"]);
    assert_eq!(fork["plans"][1]["cycles"], extended["best_cycles"]);
    let story = fork["plans"][1]["plan"].as_str().unwrap();
    assert!(
        story.contains("earlier run") && story.contains("the steps to it were"),
        "{story}"
    );
    let (_, shown) = place.json(&["optimize", "--resume", "fork"]);
    assert_eq!(shown["history"], fork["history"]);

    for (name, from) in [("kernel", "run:c9999"), ("run", "nowhere:best")] {
        let ended = place.call(&["optimize", "--from", from]);
        insta::assert_snapshot!(format!("from-no-such-{name}"), ended.transcript());
    }
    let ended = place.call(&arguments(&problem(), &["--strategy", "annealing"]));
    insta::assert_snapshot!("no-such-strategy", ended.transcript());
}

/// Makes the small problem anew with twice the rows and returns its folder.
fn taller_problem(place: &Place) -> String {
    let folder = place.path().join("gemm-128");
    fs::create_dir(&folder).unwrap();
    for name in ["baseline.c", "reference.c", "problem.toml"] {
        let text = fs::read_to_string(format!("{}/{name}", problem())).unwrap();
        let mut text = text
            .replace("macs = 262144", "macs = 524288")
            .replace("bytes = 12288", "bytes = 20480")
            .replace("A[64]", "A[128]")
            .replace("C[64]", "C[128]")
            .replace("i = 0; i < 64", "i = 0; i < 128")
            .replace("i = 0; i < 4", "i = 0; i < 8");
        for buffer in ["A", "C"] {
            let shape =
                |rows| format!("name = \"{buffer}\"\ndtype = \"int8\"\nshape = [{rows}, 64]");
            text = text.replace(&shape(64), &shape(128));
        }
        fs::write(folder.join(name), text).unwrap();
    }
    folder.display().to_string()
}

#[test]
fn the_schedule_of_a_run_is_reused_on_another_shape() {
    let place = Place::new();
    let first = undisturbed(&place, "runs/one");
    let steps: Vec<&Value> = first["plans"].as_array().unwrap().iter().skip(1).collect();
    let other = taller_problem(&place);
    let effort = |folder, reuse| {
        let more = ["--run-dir", folder, "--reuse", reuse];
        [&["optimize", &other], EFFORT, &more[..]].concat()
    };
    let (code, reused) = place.json(&effort("runs/two", "runs/one"));
    assert_eq!(code, Some(0), "{reused}");
    assert!(
        reused["best_cycles"].as_u64() < reused["baseline_cycles"].as_u64(),
        "{reused}"
    );
    // The first iterations replay what the other run found, beside others.
    let (_, history) = place.json(&["show", "runs/two", "--history"]);
    let events = history["events"].as_array().unwrap();
    let opened = |event: &&Value| event["event"] == "iteration_opened";
    let first_opened = events.iter().find(opened).unwrap();
    assert_eq!(
        first_opened["kinds"],
        serde_json::json!([["step"], [{ "reused": { "step": 0 } }]])
    );
    assert_eq!(events[0]["reused"].as_array().unwrap().len(), steps.len());
    assert_eq!(events[0]["reused"][0]["menu_item"], steps[0]["menu_item"]);
    let (_, shown) = place.json(&["show", "runs/two"]);
    assert_eq!(shown["history"], reused["history"]);

    // The run is resumed, extended and replayed like any other.
    let few = ["--iterations", "1"];
    let (code, _) = place.json(&[&effort("runs/four", "runs/one")[..], &few].concat());
    assert_eq!(code, Some(0));
    let more = ["optimize", "--resume", "runs/four", "--iterations", "3"];
    let (code, resumed) = place.json(&more);
    assert_eq!(code, Some(0), "{resumed}");
    let (code, replayed) = place.json(&["optimize", "--replay", "runs/four", "--run-dir", "again"]);
    assert_eq!((code, &replayed["history"]), (Some(0), &resumed["history"]));

    // The run of the same shape is nearer than the one that it came from.
    let ended = place.call(&effort("runs/five", "auto"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let line = ended
        .stderr
        .lines()
        .find(|it| it.contains("reusing the schedule of"));
    assert!(
        line.is_some_and(|it| !it.contains("runs/one")),
        "{}",
        ended.stderr
    );
}

#[test]
fn schedules_that_cannot_be_reused_are_refused() {
    let place = Place::new();
    let problem = problem();
    let refused = |name: &str, more: &[&str]| {
        let ended = place.call(&arguments(&problem, more));
        insta::assert_snapshot!(format!("reuse-{name}"), ended.transcript());
    };
    // The baseline alone is evaluated, so there is no gain.
    let (code, _) = place.json(&[
        "optimize",
        &problem,
        "--max-evaluations",
        "1",
        "--run-dir",
        "idle",
    ]);
    assert_eq!(code, Some(0));
    refused("no-gain", &["--reuse", "idle"]);
    refused("nowhere", &["--reuse", "nowhere"]);
    refused("nothing-near", &["--reuse", "auto", "--run-dir", "new"]);
    let limit = ["--max-minutes", "0.0001", "--run-dir", "stopped"];
    place.call(&arguments(&problem, &limit));
    let (_, stopped) = place.json(&["show", "stopped"]);
    assert_eq!(stopped["status"]["state"], "stopped", "{stopped}");
    refused("not-finished", &["--reuse", "stopped"]);
    let both = format!("problem = {problem:?}\nfrom = \"idle\"\nreuse = \"idle\"\n");
    place.file("both.toml", both);
    let ended = place.call(&["optimize", "--config", "both.toml"]);
    insta::assert_snapshot!("reuse-and-from", ended.transcript());
    let ended = place.call(&["optimize", "trainium/attention", "--reuse", "idle"]);
    insta::assert_snapshot!("reuse-other-family", ended.transcript());
}

#[test]
fn an_interrupted_run_says_how_to_go_on() {
    for signal in ["INT", "TERM", "HUP"] {
        interrupted_by(signal);
    }
}

fn interrupted_by(signal: &str) {
    // The run may be over before the signal comes.
    while !is_interrupted_by(signal) {}
}

/// Returns whether the signal came in time.
fn is_interrupted_by(signal: &str) -> bool {
    let place = Place::new();
    let expected = undisturbed(&place, "undisturbed");
    let problem = problem();
    let child = place
        .std_command()
        .args(arguments(
            &problem,
            &["--run-dir", "run", "--workers", "1", "--json"],
        ))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while place.call(&["show", "run"]).code != Some(0) {
        thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    // There may be nobody left.
    let _ = std::process::Command::new("sh")
        .args(["-c", &format!("kill -{signal} \"$0\""), &pid])
        .status();
    let output = child.wait_with_output().unwrap();
    let ended = place.ended(&output);
    if ended.code == Some(0) {
        return false;
    }
    assert_eq!(ended.code, Some(130), "{signal}: {}", ended.transcript());
    assert!(
        ended
            .stderr
            .contains("continue with `autocomp optimize --resume run`"),
        "{}",
        ended.stderr
    );
    let printed: Value = serde_json::from_slice(&output.stdout).expect("one object");
    assert!(
        printed["status"] == "stopped" || printed["error"]["kind"] == "interrupted",
        "{printed}"
    );

    let (_, stopped) = place.json(&["show", "run"]);
    assert_eq!(stopped["status"]["state"], "stopped", "{stopped}");
    let (code, value) = place.json(&["optimize", "--resume", "run", "--workers", "2"]);
    assert_eq!(
        (code, &value["history"]),
        (Some(0), &expected["history"]),
        "{value}"
    );
    true
}

#[test]
fn settings_come_from_a_file_and_flags_win() {
    let place = Place::new();
    let text = format!(
        "problem = {:?}\nseed = 3\n[search]\nbeam = 2\nplans = 3\npatience = 0\nmax_evaluations = 50\n",
        problem()
    );
    let config = place.file("s.toml", text);
    let (code, value) = place.json(&[
        "optimize",
        "--config",
        &config,
        "--seed",
        "7",
        "--max-evaluations",
        "6",
        "--run-dir",
        "run",
    ]);
    assert_eq!(code, Some(0), "{value}");
    assert_eq!(
        (&value["seed"], &value["evaluations"]),
        (&7.into(), &6.into())
    );
    assert_eq!(
        value["history"],
        undisturbed(&place, "flags")["history"],
        "the same settings, the same course"
    );
}

#[test]
fn a_time_limit_stops_a_run_that_can_go_on() {
    let place = Place::new();
    let problem = problem();
    let (code, value) = place.json(&arguments(
        &problem,
        &[
            "--run-dir",
            "run",
            "--max-minutes",
            "0.0001",
            "--workers",
            "1",
        ],
    ));
    let is_stopped =
        value["status"] == "stopped" && value["reason"] == "wall_time" && code == Some(0);
    let is_too_early = value["error"]["kind"] == "environment" && code == Some(4);
    assert!(is_stopped || is_too_early, "{code:?} {value}");
    let (code, value) = place.json(&["optimize", "--resume", "run", "--max-minutes", "10"]);
    assert_eq!(
        (code, &value["history"]),
        (Some(0), &undisturbed(&place, "undisturbed")["history"]),
        "{value}"
    );
}

#[test]
fn other_kernels_of_the_problem_stand_beside_the_best() {
    let place = Place::new();
    let problem = problem();
    let baseline = fs::read_to_string(format!("{problem}/baseline.c")).unwrap();
    let mine = place.file("mine.c", format!("{baseline}\n// mine\n"));
    let run = [
        "optimize",
        &problem,
        "--baseline",
        &mine,
        "--max-evaluations",
        "4",
    ];
    let (_, report) = place.json(&run);
    let [other] = report["others"].as_array().unwrap().as_slice() else {
        panic!("{report}");
    };
    let (_, evaluation) = place.json(&["eval", &problem]);
    assert_eq!(other["kernel"], "baseline");
    assert_eq!(other["cycles"], evaluation["cycles"]);
    let ratio = other["cycles"].as_f64().unwrap() / report["best_cycles"].as_f64().unwrap();
    assert_eq!(other["ratio"].as_f64(), Some(ratio));
    let text = place.call(&run).stdout;
    assert!(
        text.contains("\nto compare, other kernels of the problem:\nbaseline  "),
        "{text}"
    );
    // What the run began with is shown already.
    let (_, report) = place.json(&["optimize", &problem, "--max-evaluations", "2"]);
    assert_eq!(report["others"].as_array().map(Vec::len), Some(0));
}
