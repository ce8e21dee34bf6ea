//! The compiler of a run, and the cache that it lies in.

use super::program::{Place, cache, problem};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Makes a folder with compilers that note when they are called, and returns a
/// `PATH` with it and the file for the notes.
fn other_compilers(place: &Place) -> (String, PathBuf) {
    let folder = place.path().join("compilers");
    fs::create_dir(&folder).unwrap();
    let log = place.path().join("calls");
    for name in [
        "riscv64-unknown-elf-gcc",
        "riscv64-linux-gnu-gcc",
        "clang",
        "zig",
    ] {
        let path = place.file(
            &format!("compilers/{name}"),
            format!("#!/bin/sh\necho {name} >> '{}'\nexit 1\n", log.display()),
        );
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = std::env::var("PATH").unwrap();
    (format!("{}:{path}", folder.display()), log)
}

fn json(place: &Place, path: &str, arguments: &[&str]) -> Value {
    let mut command = place.command();
    command.env("PATH", path).args(arguments).arg("--json");
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn a_compiler_on_the_path_changes_nothing() {
    let place = Place::new();
    let problem = problem();
    let arguments = ["eval", &problem, "--no-cache"];
    let (_, alone) = place.json(&arguments);
    let (path, log) = other_compilers(&place);
    let beside = json(&place, &path, &arguments);
    for field in ["compiler", "cycles", "key"] {
        assert_eq!(alone[field], beside[field]);
    }
    assert!(!log.exists(), "{}", fs::read_to_string(log).unwrap());
}

#[test]
fn a_run_says_which_compiler_it_needs() {
    let place = Place::new();
    let problem = problem();
    let run = [
        "optimize",
        &problem,
        "--run-dir",
        "run",
        "--max-evaluations",
        "2",
    ];
    let (code, report) = place.json(&run);
    assert_eq!(code, Some(0), "{report}");
    let (path, log) = other_compilers(&place);
    let resumed = json(&place, &path, &["optimize", "--resume", "run"]);
    assert_eq!(resumed["compiler"], report["compiler"]);
    assert!(!log.exists());
    // Another one, asked for, is refused, since the run was measured with this one.
    let mut command = place.command();
    command.env("PATH", &path);
    command.args(["optimize", "--resume", "run", "--compiler", "clang"]);
    let ended = place.ended(&command.output().unwrap());
    assert_eq!(ended.code, Some(4), "{}", ended.transcript());
    assert!(log.exists());
}

#[test]
fn without_network_it_says_so_first() {
    let place = Place::new();
    let empty = place.path().join("empty");
    let mut command = place.command();
    // Nobody listens there. The machine's own settings of pip are left aside.
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("PIP_")) {
        command.env_remove(name);
    }
    command
        .env("PIP_CONFIG_FILE", "/dev/null")
        .env("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
        .env("AUTOCOMP_CACHE_DIR", &empty)
        .args(["optimize", &problem(), "--run-dir", "run"]);
    let ended = place.ended(&command.output().unwrap());
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(4), ""));
    assert!(
        ended
            .stderr
            .starts_with("error: no network: the C compiler ziglang=="),
        "{}",
        ended.stderr
    );
    for hint in [
        "--toolchain FOLDER",
        "copy a whole cache folder",
        "--compiler",
    ] {
        assert!(ended.stderr.contains(hint), "{hint}: {}", ended.stderr);
    }
    assert!(!place.path().join("run").exists());
}

#[test]
fn a_changed_cache_changes_no_cycles() {
    let place = Place::new();
    let mine = place.path().join("mine");
    // The compiler need not be copied: everything else is made anew.
    fs::create_dir(&mine).unwrap();
    std::os::unix::fs::symlink(cache().join("toolchains"), mine.join("toolchains")).unwrap();
    let (problem, folder) = (problem(), mine.display().to_string());
    let evaluate = |arguments: &[&str]| {
        let fixed = ["eval", &problem, "--cache-dir", &folder];
        let (_, report) = place.json(&[&fixed, arguments].concat());
        (report["outcome"].clone(), report["cycles"].clone())
    };
    let first = evaluate(&[]);
    assert_eq!(first.0, "ok");
    let runtimes = fs::read_dir(mine.join("runtimes")).unwrap();
    let folders: Vec<PathBuf> = runtimes.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(folders.len(), 1);
    let script = folders[0].join("link.ld");
    let text = fs::read_to_string(&script).unwrap();
    for content in [String::new(), text.replace("0x80000000", "0x80100000")] {
        assert_ne!(content, text);
        fs::write(&script, content).unwrap();
        assert_eq!(evaluate(&["--no-cache"]), first);
    }
}

#[test]
fn the_cache_is_looked_at_and_pruned() {
    let place = Place::new();
    let mine = place.path().join("mine");
    for (file, content) in [
        ("toolchains/ziglang-0.1.0/ziglang/zig", "an old one"),
        ("toolchains/ziglang-0.17.0/ziglang/zig", "the pinned one"),
        (
            "builds/00/00000000000000000000000000000000000000000000000000000000000000",
            "an entry",
        ),
        ("builds/photographs/cat", "not ours"),
    ] {
        let path = mine.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
    }
    // Younger than an hour, it could be one that is just being installed.
    let folder = mine.display().to_string();
    let (code, before) = place.json(&["cache", "--cache-dir", &folder]);
    assert_eq!((code, &before["freed_bytes"]), (Some(0), &Value::Null));
    assert_eq!(before["bytes"], 40);
    let (_, after) = place.json(&["cache", "--prune", "--cache-dir", &folder]);
    assert_eq!(after["freed_bytes"], 0, "{after}");
    let old = fs::File::open(mine.join("toolchains/ziglang-0.1.0")).unwrap();
    old.set_modified(std::time::UNIX_EPOCH).unwrap();
    let all = [
        "cache",
        "--prune",
        "--unused-for",
        "0",
        "--cache-dir",
        &folder,
    ];
    let (_, after) = place.json(&all);
    assert_eq!(after["freed_bytes"], 18, "{after}");
    assert!(mine.join("toolchains/ziglang-0.17.0/ziglang/zig").exists());
    assert!(mine.join("builds/photographs/cat").exists());
    let text = place.call(&["cache", "--cache-dir", &folder]).stdout;
    assert!(text.contains("evaluations"), "{text}");
}
