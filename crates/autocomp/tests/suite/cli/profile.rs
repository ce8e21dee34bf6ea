//! `autocomp profile`: tables that fit a terminal, and a trace.

use super::program::{Place, data, problem};
use serde_json::Value;

#[test]
fn a_profile_as_text_fits_a_terminal() {
    let place = Place::new();
    let ended = place.call(&["profile", &problem()]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for line in ended.stdout.lines() {
        assert!(line.chars().count() <= 96, "{line}");
        assert!(!line.contains('\u{1b}'), "colours, but not on a terminal");
    }
    let words: Vec<&str> = ended.stdout.split_whitespace().collect();
    let told = "What limits it most: in ";
    assert!(words.join(" ").contains(told), "{}", ended.stdout);
    for part in [
        "\ncycles by cause\n",
        "\n  tlb ",
        "\n  no cycles: ",
        "\nwhat if (simulated)\n",
        "\ncycles by line\n",
        "\nlongest waits\n",
        "\nunits busy\n",
        "\ncore, by line\n",
        "\nlocal memory in use over time\n",
        "\ntraffic (reuse: multiplications per element moved)\n",
        "\nroofline\n",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    assert_eq!(place.call(&["profile", &problem()]).stdout, ended.stdout);
}

#[test]
fn a_profile_is_of_the_cycles_that_eval_tells() {
    let place = Place::new();
    let (_, verdict) = place.json(&["eval", &problem()]);
    let (code, value) = place.json(&["profile", &problem(), "--trace", "trace.json"]);
    assert_eq!(code, Some(0), "{value}");
    assert_eq!(value["profile"]["cycles"], verdict["cycles"]);
    let trace = std::fs::read_to_string(place.path().join("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let ends = events
        .iter()
        .filter(|event| event["ph"] == "X" && event["tid"] == 100);
    let end = ends.filter_map(|it| Some(it["ts"].as_u64()? + it["dur"].as_u64()?));
    assert_eq!(end.max(), verdict["cycles"].as_u64());
}

#[test]
fn a_wrong_kernel_has_a_verdict_instead() {
    let place = Place::new();
    let wrong = data("kernels/skips-work.c");
    let (code, value) = place.json(&["profile", &problem(), "--kernel", &wrong]);
    assert_eq!(code, Some(1));
    assert_eq!(value["outcome"], "wrong");
    assert_eq!(value["profile"], Value::Null);
    assert!(!value["diagnostics"].as_array().unwrap().is_empty());
}
