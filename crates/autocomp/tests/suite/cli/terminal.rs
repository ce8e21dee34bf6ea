//! What the terminal tells: names that were meant, lists in order, kernels from standard input,
//! runs that found nothing.

use super::program::{Place, problem};
use std::fs;

#[test]
fn names_that_were_meant_are_proposed() {
    let place = Place::new();
    for (given, meant) in [
        ("beem=3", "beam"),
        ("search.beem=3", "search.beam"),
        ("asking.temprature=1", "asking.temperature"),
        ("max_usdd=1", "max_usd"),
        ("itertions=4", "iterations"),
    ] {
        let ended = place.call(&["optimize", &problem(), "--set", given]);
        assert_eq!(ended.code, Some(2), "{}", ended.transcript());
        assert!(
            ended.stderr.contains(&format!("did you mean `{meant}`?")),
            "{}",
            ended.stderr
        );
    }
    for (text, meant) in [
        ("[serch]\nbeam = 3\n", "search"),
        ("[search]\nbeem = 3\n", "beam"),
        ("[askng]\n", "asking"),
        ("problm = \"x\"\n", "problem"),
        ("[budget]\nmax_usdd = 1\n", "max_usd"),
    ] {
        let file = place.file("run.toml", text);
        let ended = place.call(&["optimize", "--config", &file]);
        assert_eq!(ended.code, Some(3), "{}", ended.transcript());
        assert!(
            ended.stderr.contains(&format!("did you mean `{meant}`?")),
            "{}",
            ended.stderr
        );
    }
    // Nothing is like this.
    let ended = place.call(&["optimize", &problem(), "--set", "qqqqqqqqq=3"]);
    assert!(!ended.stderr.contains("did you mean"), "{}", ended.stderr);
}

#[test]
fn a_kernel_is_read_from_standard_input() {
    let place = Place::new();
    let kernel = fs::read_to_string(format!("{}/baseline.c", problem())).unwrap();
    let ended = place
        .command()
        .args(["eval", &problem(), "--kernel", "-", "--json"])
        .write_stdin(kernel)
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let ended = place
        .command()
        .args(["eval", &problem(), "--kernel", "-"])
        .write_stdin(vec![0xff, 0xfe])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
}

/// What the command line names and is not there is a mistake of the command line, whatever it is.
#[test]
fn what_is_not_there_is_a_usage_error_whatever_it_is() {
    let place = Place::new();
    for words in [
        vec!["show", "nothing-here"],
        vec!["report", "nothing-here"],
        vec!["export", "nothing-here"],
        vec!["eval", "nothing-here"],
        vec!["optimize", "--config", "nothing-here.toml"],
        vec!["models", "list", "--prices", "nothing-here.toml"],
        vec!["models", "check", "openai::m", "--keys", "nothing-here"],
        vec!["runs", "nothing-here"],
    ] {
        let ended = place.call(&words);
        assert_eq!(ended.code, Some(2), "{words:?}: {}", ended.transcript());
    }
    let ended = place.call(&["eval", &problem(), "--kernel", "nothing-here.c"]);
    assert_eq!(ended.code, Some(2), "{}", ended.transcript());
}

#[test]
fn a_run_that_found_nothing_says_so() {
    let place = Place::new();
    let words = [
        "optimize",
        &problem(),
        "--max-evaluations",
        "1",
        "--run-dir",
        "run-9",
    ];
    let ended = place.call(&words);
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    assert!(
        ended.stdout.contains("nothing faster was found"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("what next:"), "{}", ended.stdout);
    assert!(
        !ended.stdout.contains("1.00x") && !ended.stdout.contains("speedup"),
        "{}",
        ended.stdout
    );
    let (_, shown) = place.json(&["show", "run-9"]);
    assert!(shown["nothing_faster"]["reasons"][0].is_string(), "{shown}");
    // Lists: numbers in names by their size, and no more than asked for.
    let words = [
        "optimize",
        &problem(),
        "--max-evaluations",
        "1",
        "--run-dir",
        "run-10",
    ];
    place.call(&words);
    let (_, listed) = place.json(&["runs", "."]);
    let names: Vec<&str> = listed["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["run"].as_str().unwrap())
        .collect();
    assert!(
        names[0].ends_with("run-9") && names[1].ends_with("run-10"),
        "{names:?}"
    );
    let (_, listed) = place.json(&["runs", ".", "--limit", "1"]);
    assert_eq!(
        (
            listed["runs"].as_array().unwrap().len(),
            &listed["left_out"]
        ),
        (1, &1.into())
    );
    let text = place.call(&["runs", "."]).stdout;
    assert!(
        text.contains("no gain") && !text.contains("1.00x"),
        "{text}"
    );
    let page = place.call(&["report", "run-9", "--out", "-"]).stdout;
    assert!(
        page.contains("Nothing faster than the kernel to start from was found"),
        "{page}"
    );
}
