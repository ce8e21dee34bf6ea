//! A family that is in no other build, with a language and a unit of its own,
//! goes through the whole program: nothing outside its folder knows it.

use super::program::{Ended, Place, data};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Returns a call of the program of `examples/toy` in `place`.
pub(super) fn toy_command(place: &Place, arguments: &[&str]) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_autocomp"));
    let program = program.with_file_name("examples").join("toy");
    let mut command = Command::new(program);
    command
        .current_dir(place.path())
        .env("AUTOCOMP_CACHE_DIR", place.path().join("cache"))
        .args(arguments);
    command
}

/// Calls the program of `examples/toy` in `place`.
pub(super) fn toy(place: &Place, arguments: &[&str]) -> Ended {
    let mut command = toy_command(place, arguments);
    // A run knows where its data is.
    if !["show", "report"].contains(&arguments[0]) {
        command.args(["--data", &data("toy")]);
    }
    let output = command.output().expect(
        "`cargo test` builds the example; before `--test cli`, `cargo build --examples` does",
    );
    place.ended(&output)
}

fn json(place: &Place, arguments: &[&str]) -> (Option<i32>, Value) {
    let ended = toy(place, &[arguments, &["--json"]].concat());
    let value = serde_json::from_str(&ended.stdout);
    (
        ended.code,
        value.unwrap_or_else(|error| panic!("{error}: {}", ended.transcript())),
    )
}

#[test]
fn a_search_its_prompts_and_its_reports() {
    let place = Place::new();
    let (code, result) = json(&place, &["optimize", "toy", "--run-dir", "run"]);
    assert_eq!(code, Some(0), "{result}");
    assert_eq!(result["baseline_cost"]["unit"], "ns");
    assert_eq!(result["baseline_cost"]["value"], 150);
    assert_eq!(result["best_cost"]["value"], 110);
    assert_eq!(result["best_cost"]["spread_ppm"], 500);
    assert!(result["best_cycles"].is_null());
    assert!(
        result["best_kernel"]
            .as_str()
            .is_some_and(|path| path.ends_with("best.steps"))
    );

    let shown = toy(&place, &["show", "run"]);
    assert!(shown.stdout.contains(" ns  baseline"), "{}", shown.stdout);
    let (code, evaluation) = json(&place, &["eval", "toy", "--kernel", "run/best.steps"]);
    assert_eq!(code, Some(0));
    assert_eq!(evaluation["ratio_to_baseline"]["low"], 0.4);
    assert_eq!(evaluation["samples"].as_array().map(Vec::len), Some(2));
    assert_eq!(evaluation["feedback"]["lines"][0]["ns"], 110);
    let prompt = toy(&place, &["prompt", "toy"]);
    assert!(
        prompt.stdout.contains("Kernels are written in Steps"),
        "{}",
        prompt.stdout
    );
    assert!(prompt.stdout.contains("takes 150 ns"), "{}", prompt.stdout);
    assert!(!prompt.stdout.contains("cycles"), "{}", prompt.stdout);
    assert!(
        toy(&place, &["profile", "toy"])
            .stdout
            .contains("5 of them")
    );
    let (_, problems) = json(&place, &["problems", "toy"]);
    assert_eq!(
        (&problems["family"], &problems["language"]),
        (&"toy".into(), &"steps".into())
    );
    let ended = toy(
        &place,
        &[
            "eval",
            "toy",
            "--kernel",
            &place.file("a.steps", "define solution\nstep 99\n"),
        ],
    );
    assert_eq!(ended.code, Some(1));
    assert!(
        ended.stdout.contains("the steps add up to 99, not to 100"),
        "{}",
        ended.stdout
    );
}

/// The simulated machine ranks, its measured twin confirms: both stand in one run and one report,
/// each in its unit.
#[test]
fn a_measured_machine_confirms_what_a_simulated_one_ranks() {
    let place = Place::new();
    let words = "optimize toy --machine simulated --run-dir run --set confirm=2 \
                 --set confirm_on=[\"only\"]";
    let (code, result) = json(&place, &words.split_whitespace().collect::<Vec<_>>());
    assert_eq!(code, Some(0), "{result}");
    assert_eq!(result["best_cost"]["unit"], "cycles");
    assert_eq!(result["best_cycles"], 110);
    let (_, shown) = json(&place, &["show", "run"]);
    let found = shown["confirmations"].as_array().unwrap();
    let of = |by: &str, unit: &str| {
        let it = found.iter().filter(|it| it["by"] == by);
        it.filter(|it| it["outcome"] == "ok" && it["cost"]["unit"] == unit)
            .count()
    };
    assert_eq!(of("new inputs", "cycles"), 2, "{shown}");
    assert_eq!(of("new inputs on machine only", "ns"), 2, "{shown}");
    assert_eq!(found.len(), 4, "{shown}");
    let text = toy(&place, &["show", "run"]).stdout;
    let told = "confirmed on new inputs on machine only: right, 110 ns, 0.50 times what the \
                baseline takes there";
    assert!(text.contains(told), "{text}");
    assert!(text.contains("110 cycles"), "{text}");
    let report = toy(&place, &["report", "run", "--format", "md"]);
    assert_eq!(report.code, Some(0), "{}", report.transcript());
    let report = std::fs::read_to_string(place.path().join("run/report.md")).unwrap();
    assert!(report.contains("110 cycles"), "{report}");
    assert!(
        report.contains("on machine only: right, 110 ns"),
        "{report}"
    );
    // Whoever looks at one kernel there sees that unit, too.
    let eval = toy(&place, &["eval", "toy", "--machine", "simulated"]);
    assert!(eval.stdout.contains("cycles  150"), "{}", eval.stdout);
}

#[test]
fn an_interrupted_run_goes_on_where_it_stopped() {
    let place = Place::new();
    let (_, whole) = json(&place, &["optimize", "toy", "--run-dir", "whole"]);
    let stopped = toy(
        &place,
        &[
            "optimize",
            "toy",
            "--run-dir",
            "parts",
            "--max-minutes",
            "1e-9",
        ],
    );
    assert!(stopped.code.is_some(), "{}", stopped.transcript());
    let (code, resumed) = json(
        &place,
        &["optimize", "--resume", "parts", "--max-minutes", "60"],
    );
    assert_eq!(code, Some(0), "{resumed}");
    assert_eq!(resumed["history"], whole["history"]);
    let (code, replayed) = json(
        &place,
        &["optimize", "--replay", "whole", "--run-dir", "again"],
    );
    assert_eq!(code, Some(0), "{replayed}");
    assert_eq!(replayed["best_cost"], whole["best_cost"]);
}

/// A run that ended for want of patience would end again at once with as much of it.
#[test]
fn a_stalled_run_that_goes_on_is_given_patience_again() {
    let place = Place::new();
    // The first step saves less than 8 %, two together more.
    let begin = |run: &str| {
        let words = format!(
            "optimize toy --run-dir {run} --set least_gain=0.08 --patience 1 --max-evaluations 40"
        );
        let (code, begun) = json(&place, &words.split(' ').collect::<Vec<_>>());
        assert_eq!(code, Some(0), "{begun}");
    };
    let state = |run: &str| {
        let (_, shown) = json(&place, &["show", run]);
        let reason = shown["status"]["reason"].as_str().unwrap_or_default();
        (reason.to_owned(), shown["progress"]["iteration"].as_u64())
    };
    let more = |run: &str, patience: &[&str], told: &str| {
        let words = ["optimize", "--resume", run, "--max-evaluations", "41"];
        let ended = toy(&place, &[&words, patience].concat());
        assert_eq!(ended.code, Some(0), "{}", ended.transcript());
        assert!(ended.stderr.contains(told), "{}", ended.transcript());
    };
    begin("given");
    assert_eq!(state("given"), ("stalled".to_owned(), Some(1)));
    let told = "extended to 41 evaluations, 16 iterations and a patience of 2";
    more("given", &[], told);
    assert_eq!(state("given"), ("floor".to_owned(), Some(4)));
    // Patience that is named is taken as it is.
    begin("named");
    more("named", &["--patience", "1"], "and a patience of 1");
    assert_eq!(state("named"), ("stalled".to_owned(), Some(3)));
}

#[test]
fn targets_of_families_that_are_not_built_in_are_refused() {
    let place = Place::new();
    let ended = place.call(&["eval", "toy", "--data", &data("toy")]);
    assert_eq!(ended.code, Some(3), "{}", ended.transcript());
    assert!(
        ended
            .stderr
            .contains("family `toy`, which this program does not know")
    );
    assert!(
        ended.stderr.contains("known families: ") && ended.stderr.contains("gemmini"),
        "{}",
        ended.stderr
    );
    let python = "name = \"mine\"\nfamily = \"gemmini\"\nlanguage = \"python\"\ndescription = \"d\"\n\
        inherits = \"gemmini-int8-16\"\ndefault_machine = \"m\"\nroofline = { peak_macs_per_cycle = 1.0, bytes_per_cycle = 1.0 }\n";
    std::fs::create_dir_all(place.path().join("data/targets/mine/machines")).unwrap();
    place.file("data/targets/mine/target.toml", python);
    place.file("data/targets/mine/architecture.md", "# Mine\n");
    place.file("data/targets/mine/machines/m.toml", "x = 1\n");
    let ended = place.call(&["targets", "mine", "--data", "data"]);
    assert_eq!(ended.code, Some(3), "{}", ended.transcript());
    assert!(
        ended.stderr.contains("known languages: c"),
        "{}",
        ended.stderr
    );
}
