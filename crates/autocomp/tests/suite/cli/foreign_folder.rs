//! Run folders that somebody else has made: nothing that they name is started, asked or written
//! unless the user says so, and nothing is written through their links.

use super::program::{Place, copy, problem};
use std::fs;
use std::os::unix::fs::symlink;

/// A program that leaves a trace whenever it is asked, and never answers well.
const MODEL: &str = "command::sh -c 'cat >/dev/null; echo ran >> trace; echo nothing'";

/// Makes a run that asks a program, and returns how often it was asked.
fn run_with_program(place: &Place) -> usize {
    let place_of_run = [
        "optimize",
        &problem(),
        "--model",
        MODEL,
        "--polish",
        "0",
        "--iterations",
        "1",
        "--plans",
        "1",
        "--beam",
        "1",
        "--run-dir",
        "run",
    ]
    .map(str::to_owned);
    let words: Vec<&str> = place_of_run.iter().map(String::as_str).collect();
    place.call(&words);
    n_asked(place)
}

fn n_asked(place: &Place) -> usize {
    let trace = fs::read_to_string(place.path().join("trace"));
    trace.unwrap_or_default().lines().count()
}

#[test]
fn a_program_that_a_foreign_folder_names_is_started_only_if_it_is_named_again() {
    let place = Place::new();
    let before = run_with_program(&place);
    assert!(0 < before);
    copy(&place.path().join("run"), &place.path().join("given"));
    let more = ["--iterations", "4"];
    for start in ["--resume", "--from"] {
        let ended = place.call(&[&["optimize", start, "given"], &more[..]].concat());
        assert_eq!(ended.code, Some(2), "{}", ended.transcript());
        assert!(
            ended.stderr.contains("was not made here by you"),
            "{}",
            ended.stderr
        );
        assert!(
            ended.stderr.contains("the model `command::sh -c"),
            "{}",
            ended.stderr
        );
        assert!(ended.stderr.contains("--trust"), "{}", ended.stderr);
        assert_eq!(n_asked(&place), before, "{start}");
    }
    // A forged seal is none: neither one of another folder, nor one that is made up.
    for forged in [
        fs::read(place.path().join("run/seal")).unwrap(),
        vec![b'0'; 64],
        vec![0xff; 99],
    ] {
        fs::write(place.path().join("given/seal"), forged).unwrap();
        let ended = place.call(&[&["optimize", "--resume", "given"], &more[..]].concat());
        assert_eq!(ended.code, Some(2), "{}", ended.transcript());
    }
    assert_eq!(n_asked(&place), before);
    // Looking is free.
    for words in [["show", "given"], ["report", "given"], ["runs", "."]] {
        assert_eq!(place.call(&words).code, Some(0));
    }
    // The folder that was made here needs no word.
    place.call(&[&["optimize", "--resume", "run"], &more[..]].concat());
    let after = n_asked(&place);
    assert!(before < after);
    // Named again, the program is asked; from then on the folder counts as the user's own.
    place.call(
        &[
            &["optimize", "--resume", "given", "--model", MODEL],
            &more[..],
        ]
        .concat(),
    );
    let named = n_asked(&place);
    assert!(after < named);
    let even_more = ["--iterations", "8"];
    place.call(&[&["optimize", "--resume", "given"], &even_more[..]].concat());
    assert!(named < n_asked(&place));
}

#[test]
fn what_else_a_foreign_folder_names_is_told() {
    let place = Place::new();
    let keys = place.file(
        "keys",
        "[keys]\nopenai = \"sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"\n",
    );
    #[cfg(unix)]
    fs::set_permissions(&keys, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let settings = place.file(
        "run.toml",
        format!(
            "problem = {:?}\nmemory = \"lessons.jsonl\"\nmodels = [\"compatible@http://127.0.0.1:9/v1::m\"]\n\
             [asking]\nallow_unknown_prices = true\nattempts = 1\npatience_s = 0\nkeys = \"keys\"\n\
             [search]\niterations = 1\nplans = 1\nbeam = 1\npolish = 0\n",
            problem()
        ),
    );
    let made = place.call(&["optimize", "--config", &settings, "--run-dir", "run"]);
    assert!(place.path().join("run").exists(), "{}", made.transcript());
    copy(&place.path().join("run"), &place.path().join("given"));
    let ended = place.call(&["optimize", "--resume", "given"]);
    assert_eq!(ended.code, Some(2), "{}", ended.transcript());
    for named in [
        "compatible@http://127.0.0.1:9/v1::m",
        "the key file",
        "the memory",
    ] {
        assert!(ended.stderr.contains(named), "{named}: {}", ended.stderr);
    }
    let ended = place.call(&["optimize", "--resume", "given", "--trust"]);
    assert_ne!(ended.code, Some(2), "{}", ended.transcript());
}

#[test]
fn a_link_in_place_of_the_best_kernel_is_refused_before_anything_is_evaluated() {
    let place = Place::new();
    let problem = problem();
    let begin = ["optimize", &problem, "--max-evaluations", "2", "--run-dir"];
    let ended = place.call(&[&begin[..], &["run"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    let best = place.path().join("run/best.c");
    fs::rename(&best, place.path().join("victim")).unwrap();
    symlink(place.path().join("victim"), &best).unwrap();
    let ended = place.call(&["optimize", "--resume", "run", "--max-evaluations", "4"]);
    assert!(
        ended.stderr.contains("is a symbolic link"),
        "{}",
        ended.transcript()
    );
    let (_, shown) = place.json(&["show", "run"]);
    assert_eq!(shown["progress"]["evaluations"], 2, "{shown}");
}

#[test]
fn nothing_is_written_through_a_link_in_a_run_folder() {
    let place = Place::new();
    let ended = place.call(&[
        "optimize",
        &problem(),
        "--max-evaluations",
        "3",
        "--run-dir",
        "run",
    ]);
    assert_eq!(ended.code, Some(0), "{}", ended.transcript());
    for (name, words) in [
        ("best.c", &["optimize", "--resume", "given"][..]),
        ("lock", &["optimize", "--resume", "given"]),
        (
            "blobs/pack",
            &["optimize", "--resume", "given", "--max-evaluations", "9"],
        ),
        ("run.sqlite-wal", &["optimize", "--resume", "given"]),
        ("report.html", &["report", "given"]),
        (
            "report.md",
            &["report", "given", "--out", "given/report.md"],
        ),
        (
            "table.csv",
            &["export", "given", "--out", "given/table.csv"],
        ),
    ] {
        let given = place.path().join("given");
        let _ = fs::remove_dir_all(&given);
        copy(&place.path().join("run"), &given);
        let victim = place.path().join("victim");
        let link = given.join(name);
        match fs::rename(&link, &victim) {
            Ok(()) => {}
            Err(_) => fs::write(&victim, "precious").unwrap(),
        }
        symlink(&victim, &link).unwrap();
        let before = fs::read(&victim).unwrap();
        let ended = place.call(words);
        assert_ne!(ended.code, Some(0), "{name}: {}", ended.transcript());
        assert!(
            ended.stderr.contains("is a symbolic link"),
            "{name}: {}",
            ended.stderr
        );
        assert_eq!(fs::read(&victim).unwrap(), before, "{name}");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
    }
}
