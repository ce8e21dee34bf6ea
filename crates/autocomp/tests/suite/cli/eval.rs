//! `autocomp eval`: verdicts on right and wrong kernels.

use super::program::{Place, data, problem, without_numbers};

#[test]
fn a_right_kernel_as_text() {
    let place = Place::new();
    let ended = place.call(&["eval", &problem()]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let text = without_numbers(&ended.stdout);
    assert!(text.starts_with("outcome: ok\ncycles "), "{text}");
    for part in [
        "% of peak\nfloor ",
        "no kernel can be faster\ncode bytes ",
        "\ncold cycles ",
        "compiled by ",
        "\nbottleneck:\n",
        "kernel.c:#",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(
        ended.stderr.is_empty() || ended.stderr.contains("install"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_right_kernel_as_json() {
    let (code, value) = Place::new().json(&["eval", &problem(), "--no-cache"]);
    assert_eq!(code, Some(0), "{value}");
    assert_eq!(
        (&value["outcome"], &value["problem"]),
        (&"ok".into(), &"gemm-64".into())
    );
    let figure = |name: &str| {
        value[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name} in {value}"))
    };
    // 64 x 64 x 64 products, 256 in a cycle at most.
    assert_eq!(figure("ideal_cycles"), 1024.0);
    assert!(
        figure("ideal_cycles") <= figure("cycles") && figure("cycles") <= figure("cold_cycles")
    );
    assert!((figure("percent_of_peak") - 102_400.0 / figure("cycles")).abs() < 1e-6);
    assert_eq!(value["diagnostics"], serde_json::json!([]));
    let tiers: Vec<&str> = value["tiers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["tier"].as_str().unwrap())
        .collect();
    assert!(
        tiers.contains(&"test") && tiers.contains(&"time"),
        "{tiers:?}"
    );
}

#[test]
fn a_verdict_from_the_cache_is_the_same() {
    let place = Place::new();
    let (_, fresh) = place.json(&["eval", &problem(), "--no-cache"]);
    let (_, cached) = place.json(&["eval", &problem()]);
    for name in [
        "outcome",
        "cycles",
        "cold_cycles",
        "instructions",
        "feedback",
        "key",
    ] {
        assert_eq!(fresh[name], cached[name], "{name}");
    }
    assert_eq!(cached["tiers"][0]["tier"], "cache");
}

/// Calls `eval` with a kernel that is not ok and returns what it prints.
fn refused(kernel: &str, outcome: &str) -> String {
    let place = Place::new();
    let path = data(&format!("kernels/{kernel}.c"));
    let ended = place.call(&["eval", &problem(), "--kernel", &path]);
    assert_eq!(ended.code, Some(1), "{kernel}: {}", ended.transcript());
    let (code, value) = place.json(&["eval", &problem(), "--kernel", &path]);
    assert_eq!(
        (code, value["outcome"].as_str()),
        (Some(1), Some(outcome)),
        "{kernel}: {value}"
    );
    assert!(value["cycles"].is_null(), "{value}");
    assert!(
        !value["diagnostics"].as_array().unwrap().is_empty(),
        "{value}"
    );
    ended.stdout
}

#[test]
fn skipped_work() {
    insta::assert_snapshot!(refused("skips-work", "wrong"));
}

#[test]
fn a_write_past_the_output() {
    insta::assert_snapshot!(refused("writes-past-c", "illegal"));
}

#[test]
fn an_endless_loop() {
    let text = refused("loops-forever", "timed_out");
    // How many instructions are allowed follows from the reference's, and so
    // from the compiler.
    insta::assert_snapshot!(without_numbers(&text));
    assert!(text.contains("loops-forever.c:5"), "{text}");
}

#[test]
fn a_misspelt_name() {
    // The words are the compiler's.
    let text = refused("does-not-compile", "build_failed");
    assert!(
        text.contains("does-not-compile.c:13:") && text.contains("preloda"),
        "{text}"
    );
}

#[test]
fn uninitialized_scratchpad() {
    insta::assert_snapshot!(refused("reads-uninitialized", "illegal"));
}

#[test]
fn a_claim_to_be_correct() {
    insta::assert_snapshot!(refused("prints-correct", "wrong"));
}

#[test]
fn a_changed_input() {
    insta::assert_snapshot!(refused("modifies-a", "wrong"));
}

#[test]
fn a_kernel_without_the_expected_function() {
    let place = Place::new();
    let kernel = place.file(
        "k.c",
        "void solve(int8_t A[64][64], int8_t B[64][64], int8_t C[64][64]) {\n}\n",
    );
    let ended = place.call(&["eval", &problem(), "--kernel", &kernel]);
    insta::assert_snapshot!(ended.transcript());
}

#[test]
fn a_file_that_lies_here_does_not_take_the_place_of_the_problems_kernel() {
    let place = Place::new();
    place.file("baseline", "no kernel");
    let ended = place.call(&["eval", &problem()]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let ended = place.call(&["eval", &problem(), "--kernel", "./baseline"]);
    assert_eq!(ended.code, Some(1), "{}", ended.stdout);
}
